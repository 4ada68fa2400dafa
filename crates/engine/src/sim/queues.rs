//! The run queues as the rest of the machine uses them. Which discipline rules is asked here and,
//! where the kernels differ around it (ticks, balancing), by `Sim::live`.

use super::Sim;
use crate::fair::Weight;
use crate::observe::Observer;
use crate::run_queue::RunQueue;
use wakeplace_policy_sys::nice_weight;
use wakeplace_workload::FairPolicy;

impl<O: Observer> Sim<'_, O> {
    /// A woken task gets its place in the order of the queue of `cpu`.
    pub(super) fn place_woken(&mut self, task: u32, cpu: u32) {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => {
                let entity = &mut self.threads[task as usize].entity;
                entity.vruntime = queue.place_woken(&self.fair, entity.vruntime);
            }
            RunQueue::Eevdf(_) => {} // as it joins
            RunQueue::Vtime(_) => self.core.vq_place(&mut self.tasks[task as usize], cpu),
        }
    }

    /// So does a new task, the child of one that runs on `here`.
    pub(super) fn place_new(&mut self, child: u32, parent: u32, here: u32, cpu: u32) {
        match &self.cpus[here as usize].queue {
            RunQueue::Fair(queue) => {
                let weight = self.threads[child as usize].entity.weight;
                let start = self.threads[parent as usize].entity.vruntime;
                let vruntime = queue.place_new(&self.fair, weight, start) - queue.min_vruntime;
                self.threads[child as usize].entity.vruntime = vruntime + self.floor(cpu);
            }
            RunQueue::Eevdf(_) => {}
            RunQueue::Vtime(_) => self.core.vq_place(&mut self.tasks[child as usize], cpu),
        }
    }

    fn floor(&self, cpu: u32) -> i64 {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.min_vruntime,
            RunQueue::Eevdf(_) | RunQueue::Vtime(_) => 0,
        }
    }

    /// A task that goes from one CPU's queue to another's keeps its distance to the queue's time.
    pub(super) fn shift(&mut self, task: u32, from: u32, to: u32) {
        if self.live {
            self.core.vq_place(&mut self.tasks[task as usize], to);
        } else {
            self.threads[task as usize].entity.vruntime += self.floor(to) - self.floor(from);
        }
    }

    /// A task that has its place waits on `cpu`; `front`: before all others, if there is such a
    /// front.
    pub(super) fn insert(&mut self, task: u32, cpu: u32, front: bool) {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.enqueue(task, &self.threads[task as usize].entity),
            RunQueue::Eevdf(queue) => {
                queue.enqueue(&self.eevdf, task, self.threads[task as usize].request);
            }
            RunQueue::Vtime(queue) if front => queue.insert_local(task),
            RunQueue::Vtime(queue) => queue.insert(task, self.tasks[task as usize].vtime_ns()),
        }
    }

    /// The running task leaves its queue to sleep or (`ends`) for good.
    pub(super) fn leave(&mut self, task: u32, cpu: u32, ends: bool) {
        if let RunQueue::Eevdf(queue) = &mut self.cpus[cpu as usize].queue
            && !ends
        {
            if let Some(request) = queue.sleep(&self.eevdf) {
                self.threads[task as usize].request = request;
            }
            return;
        }
        self.remove(task, cpu, false);
        if let RunQueue::Fair(queue) = &mut self.cpus[cpu as usize].queue {
            queue.update_min(None);
        }
    }

    /// The task sleeps, but its CPU's queue has not let it go yet.
    pub(super) fn is_delayed(&self, task: u32, cpu: u32) -> bool {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Eevdf(queue) => queue.is_delayed(task),
            RunQueue::Fair(_) | RunQueue::Vtime(_) => false,
        }
    }

    /// The CPU begins to look at its queue: sleepers whose turn it is leave it.
    pub(super) fn begin_pick(&mut self, cpu: u32) {
        if let RunQueue::Eevdf(queue) = &mut self.cpus[cpu as usize].queue {
            queue.begin_pick(&self.eevdf);
            while let Some((task, request)) = queue.drop_sleeper(&self.eevdf) {
                self.threads[task as usize].request = request;
            }
        }
    }

    /// A task leaves the queue of `cpu`; `waiting`: it was in it, not running.
    pub(super) fn remove(&mut self, task: u32, cpu: u32, waiting: bool) {
        let thread = &mut self.threads[task as usize];
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.dequeue(task, &thread.entity, waiting),
            RunQueue::Eevdf(queue) if waiting => {
                thread.request = queue.dequeue(&self.eevdf, task);
            }
            RunQueue::Eevdf(queue) => thread.request = queue.dequeue_current(&self.eevdf),
            RunQueue::Vtime(queue) if waiting => queue.remove(task),
            RunQueue::Vtime(_) => {}
        }
    }

    /// The core hears how many tasks a CPU has.
    pub(super) fn count_running(&mut self, cpu: u32) {
        self.core.cpu_mut(cpu).nr_running = self.cpus[cpu as usize].queue.nr() as u32;
    }

    /// The running task, just stopped, waits again.
    pub(super) fn requeue(&mut self, task: u32, cpu: u32) {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => {
                queue.insert(task, self.threads[task as usize].entity.vruntime);
            }
            RunQueue::Eevdf(queue) => queue.put_back(),
            RunQueue::Vtime(_) => {
                self.place_woken(task, cpu);
                self.insert(task, cpu, false);
            }
        }
    }

    /// Does the running task go on, now that the CPU looks at its queue?
    pub(super) fn keeps(&mut self, task: u32, cpu: u32) -> bool {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.keeps(self.threads[task as usize].entity.vruntime),
            RunQueue::Eevdf(queue) => queue.keeps(&self.eevdf),
            RunQueue::Vtime(_) => self.dispatch(cpu, true),
        }
    }

    /// Takes the next task out of the queue of `cpu`.
    pub(super) fn pick(&mut self, cpu: u32) -> Option<u32> {
        let threads = &self.threads;
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.pick(&self.fair, |task| &threads[task as usize].entity),
            RunQueue::Eevdf(queue) => queue.pick(&self.eevdf),
            RunQueue::Vtime(queue) => queue.pick(),
        }
    }

    /// `task` begins to execute: a slice of its own.
    pub(super) fn begin_slice(&mut self, task: u32, cpu: u32) {
        if self.live {
            let record = &mut self.tasks[task as usize];
            self.core.vq_start(record, cpu, self.now);
            self.refill(cpu);
        } else {
            self.threads[task as usize].entity.slice_used_ns = 0;
        }
    }

    /// The running task stops.
    pub(super) fn end_slice(&mut self, task: u32, cpu: u32) {
        if let RunQueue::Vtime(queue) = &mut self.cpus[cpu as usize].queue {
            queue.stop();
            self.core.vq_stop(&mut self.tasks[task as usize], self.now);
        }
    }

    /// Does `task`, just queued on `cpu`, displace the one that runs there?
    pub(super) fn preempts(&mut self, task: u32, running: u32, cpu: u32) -> bool {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => {
                let woken = &self.threads[task as usize].entity;
                let current = (running, &self.threads[running as usize].entity);
                queue.wakeup_preempts(&self.fair, current, woken)
            }
            RunQueue::Eevdf(queue) => queue.preempts(&self.eevdf, task),
            RunQueue::Vtime(_) => {
                let record = &self.tasks[task as usize];
                self.core.vq_preempts(record, cpu, self.now)
            }
        }
    }

    /// The running task of `cpu` was displaced: it gives way when the CPU next looks.
    pub(super) fn end_turn(&mut self, cpu: u32) {
        let c = &mut self.cpus[cpu as usize];
        c.reschedule = true;
        if let RunQueue::Vtime(queue) = &mut c.queue {
            queue.slice_over = true;
        }
    }

    /// At the tick: is the running task's time over?
    pub(super) fn tick_preempts(&mut self, task: u32, cpu: u32) -> bool {
        let running = &self.threads[task as usize].entity;
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.tick_preempts(&self.fair, running),
            RunQueue::Eevdf(queue) => queue.tick(&self.eevdf),
            RunQueue::Vtime(queue) => {
                let waiting = queue.in_order().count() as u32;
                let expired = self.core.vq_expired(cpu, waiting, self.now);
                queue.slice_over |= expired || queue.slice_end_ns <= self.now;
                queue.slice_over
            }
        }
    }

    /// The nice value of the running task of `cpu` changes.
    pub(super) fn set_nice(&mut self, cpu: u32, task: u32, nice: i8) {
        let thread = &mut self.threads[task as usize];
        if thread.nice == nice {
            return;
        }
        thread.nice = nice;
        if thread.policy == FairPolicy::Idle {
            return; // its weight is the policy's
        }
        let old = thread.entity.weight;
        let weight = Weight::of_nice(nice);
        thread.entity.weight = weight;
        let record = &mut self.tasks[task as usize];
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.reweight(old, weight),
            RunQueue::Eevdf(queue) => queue.reweight(&self.eevdf, weight),
            // As the kernel does it: stopped, changed, started anew.
            RunQueue::Vtime(_) => self.core.vq_stop(record, self.now),
        }
        self.core
            .task_set_weight(record, nice_weight(nice.into()), self.now);
        if self.live {
            self.core.vq_start(record, cpu, self.now);
        }
    }

    /// The tasks of `cpu` that balancing may take, in the order in which it looks at them: least
    /// recently run first, and the live queues in their own order, without what is at the front.
    pub(super) fn offered(&self, cpu: u32) -> Vec<u32> {
        let c = &self.cpus[cpu as usize];
        let mut tasks: Vec<u32> = match &c.queue {
            RunQueue::Fair(queue) => queue.waiting().chain(c.current).collect(),
            RunQueue::Eevdf(queue) => queue.waiting().chain(c.current).collect(),
            RunQueue::Vtime(queue) => return queue.in_order().collect(),
        };
        tasks.sort_unstable_by_key(|task| self.threads[*task as usize].recency);
        tasks
    }

    /// The task of `cpu` that active balancing pushes to `to`. The kernel's stopper displaces the
    /// running task first and takes the least recently run one; the live scheduler redirects the
    /// running one.
    pub(super) fn pushed(&self, cpu: u32, to: u32) -> Option<u32> {
        let c = &self.cpus[cpu as usize];
        let allowed = |task: &u32| self.tasks[*task as usize].may_use(to);
        let recency = |task: &u32| self.threads[*task as usize].recency;
        let current = c.current.filter(allowed);
        match &c.queue {
            RunQueue::Fair(queue) => (queue.waiting().filter(allowed))
                .chain(current)
                .min_by_key(recency),
            RunQueue::Eevdf(queue) => (queue.waiting().filter(allowed))
                .chain(current)
                .min_by_key(recency),
            RunQueue::Vtime(_) => current,
        }
    }
}
