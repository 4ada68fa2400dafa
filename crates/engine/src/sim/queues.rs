//! The run queues as the rest of the machine uses them. Which discipline rules is asked here and,
//! where the kernels differ around it (ticks, balancing), by `Sim::live`.

use super::Sim;
use crate::eevdf;
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
            RunQueue::Live(_) => {
                self.core
                    .live_queue_place(&mut self.tasks[task as usize], cpu, self.now);
            }
            RunQueue::Grouped(queue) => {
                let group = self.tasks[task as usize].group();
                queue.place_woken((task, &mut self.threads[task as usize], group));
            }
        }
    }

    /// So does a new task, the child of one that runs on `here`.
    pub(super) fn place_new(&mut self, child: u32, parent: u32, here: u32, cpu: u32) {
        let above = self.is_class(parent); // it has no place in a fair queue
        match &self.cpus[here as usize].queue {
            RunQueue::Fair(queue) => {
                let weight = self.threads[child as usize].entity.weight;
                let start = match above {
                    true => queue.min_vruntime,
                    false => self.threads[parent as usize].entity.vruntime,
                };
                let vruntime = queue.place_new(&self.fair, weight, start) - queue.min_vruntime;
                self.threads[child as usize].entity.vruntime = vruntime + self.floor(child, cpu);
            }
            RunQueue::Eevdf(_) => {}
            RunQueue::Live(_) => {
                self.core
                    .live_queue_place(&mut self.tasks[child as usize], cpu, self.now);
            }
            RunQueue::Grouped(queue) => {
                let [of_child, of_parent] = [child, parent].map(|t| &self.threads[t as usize]);
                let group = self.tasks[child as usize].group();
                let same = !above && group == self.tasks[parent as usize].group();
                let behind = queue.place_new(of_child, group, same.then_some(of_parent));
                self.threads[child as usize].entity.vruntime = behind + self.floor(child, cpu);
            }
        }
    }

    /// The time of the queue that the task is in on `cpu`.
    pub(super) fn floor(&self, task: u32, cpu: u32) -> i64 {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.min_vruntime,
            RunQueue::Eevdf(_) | RunQueue::Live(_) => 0,
            RunQueue::Grouped(queue) => queue.floor(self.tasks[task as usize].group()),
        }
    }

    /// A task that goes from one CPU's queue to another's keeps its distance to the queue's time.
    pub(super) fn renormalize_vruntime(&mut self, task: u32, from: u32, to: u32) {
        if self.live {
            self.core
                .live_queue_place(&mut self.tasks[task as usize], to, self.now);
        } else if !self.is_class(task) {
            let floors = self.floor(task, to) - self.floor(task, from);
            self.threads[task as usize].entity.vruntime += floors;
        }
    }

    /// A task that has its place waits on `cpu`; `front`: before all others, if there is such a
    /// front.
    pub(super) fn insert(&mut self, task: u32, cpu: u32, front: bool) {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.enqueue(task, &self.threads[task as usize].entity),
            RunQueue::Eevdf(queue) => {
                queue.enqueue(&self.eevdf, task, self.threads[task as usize].eevdf_entity);
            }
            RunQueue::Live(queue) if front => queue.insert_local(task),
            RunQueue::Live(queue) => queue.insert(task, self.tasks[task as usize].deadline_ns()),
            RunQueue::Grouped(queue) => {
                let group = self.tasks[task as usize].group();
                queue.insert((task, &mut self.threads[task as usize], group));
            }
        }
        self.arm_slice_end(cpu);
    }

    /// The running task leaves its queue to sleep or (`ends`) for good. Returns true if the queue
    /// keeps it and the core is to know; in a queue with groups a sleeper counts no more.
    pub(super) fn leave(&mut self, task: u32, cpu: u32, ends: bool) -> bool {
        if let Some((queue, queued)) = self.grouped(task, cpu) {
            queue.leave(queued, ends);
            return false;
        }
        if let RunQueue::Eevdf(queue) = &mut self.cpus[cpu as usize].queue
            && !ends
        {
            let left = queue.sleep(&self.eevdf);
            left.iter()
                .for_each(|request| self.threads[task as usize].eevdf_entity = *request);
            return left.is_none();
        }
        if self.live {
            let record = &mut self.tasks[task as usize];
            self.core.live_queue_leave(record, !ends, self.now);
            return false;
        }
        self.remove(task, cpu, false);
        if let RunQueue::Fair(queue) = &mut self.cpus[cpu as usize].queue {
            queue.update_min(None);
        }
        false
    }

    /// The task sleeps, but its CPU's queue has not let it go yet.
    pub(super) fn is_delayed(&self, task: u32, cpu: u32) -> bool {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Eevdf(queue) => queue.is_delayed(task),
            RunQueue::Fair(_) | RunQueue::Live(_) => false,
            RunQueue::Grouped(queue) => queue.is_delayed(task, self.tasks[task as usize].group()),
        }
    }

    /// The CPU begins to look at its queue: sleepers whose turn it is leave it.
    pub(super) fn begin_pick(&mut self, cpu: u32) {
        if let RunQueue::Grouped(queue) = &mut self.cpus[cpu as usize].queue {
            for (task, request) in queue.begin_pick() {
                self.threads[task as usize].eevdf_entity = request;
            }
        }
        let RunQueue::Eevdf(queue) = &mut self.cpus[cpu as usize].queue else {
            return;
        };
        queue.begin_pick(&self.eevdf);
        while let Some((task, request)) = self.drop_sleeper(cpu) {
            self.let_sleeper_go(task, request, cpu);
        }
    }

    /// A sleeper that the queue of `cpu` had kept has left it.
    pub(super) fn let_sleeper_go(&mut self, task: u32, request: eevdf::Entity, cpu: u32) {
        self.threads[task as usize].eevdf_entity = request;
        let record = &mut self.tasks[task as usize];
        let result = self.core.dequeue_delayed(record, self.now);
        self.count_running(cpu);
        self.after_core(cpu, result);
    }

    fn drop_sleeper(&mut self, cpu: u32) -> Option<(u32, eevdf::Entity)> {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Eevdf(queue) => queue.drop_sleeper(&self.eevdf),
            RunQueue::Fair(_) | RunQueue::Live(_) | RunQueue::Grouped(_) => None,
        }
    }

    /// A task of a higher class displaces the running fair one, without a look at the fair queue.
    pub(super) fn begin_put(&mut self, cpu: u32) {
        if let RunQueue::Grouped(queue) = &mut self.cpus[cpu as usize].queue {
            queue.begin_put();
        }
        if let RunQueue::Eevdf(queue) = &mut self.cpus[cpu as usize].queue {
            queue.begin_pick(&self.eevdf);
        }
    }

    /// A task leaves the queue of `cpu`; `waiting`: it was in it, not running.
    pub(super) fn remove(&mut self, task: u32, cpu: u32, waiting: bool) {
        let thread = &mut self.threads[task as usize];
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.dequeue(task, &thread.entity, waiting),
            RunQueue::Eevdf(queue) if waiting => {
                thread.eevdf_entity = queue.dequeue(&self.eevdf, task);
            }
            RunQueue::Eevdf(queue) => thread.eevdf_entity = queue.dequeue_current(&self.eevdf),
            RunQueue::Live(queue) => {
                if waiting {
                    queue.remove(task);
                }
                let record = &mut self.tasks[task as usize];
                self.core.live_queue_leave(record, false, self.now);
            }
            RunQueue::Grouped(queue) => {
                queue.remove((task, thread, self.tasks[task as usize].group()), waiting);
            }
        }
    }

    /// The core hears how many tasks a CPU has.
    pub(super) fn count_running(&mut self, cpu: u32) {
        self.core.cpu_mut(cpu).nr_running = self.nr_running(cpu) as u32;
        self.weigh_touched(cpu);
    }

    /// The running task, just stopped, waits again.
    pub(super) fn requeue(&mut self, task: u32, cpu: u32) {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => {
                queue.insert(task, self.threads[task as usize].entity.vruntime);
            }
            RunQueue::Eevdf(queue) => queue.put_back(),
            RunQueue::Live(_) => {
                self.place_woken(task, cpu);
                self.insert(task, cpu, false);
            }
            RunQueue::Grouped(queue) => {
                let group = self.tasks[task as usize].group();
                queue.requeue((task, &mut self.threads[task as usize], group));
            }
        }
    }

    /// Does the running task go on, now that the CPU looks at its queue?
    pub(super) fn keeps(&mut self, task: u32, cpu: u32) -> bool {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.keeps(self.threads[task as usize].entity.vruntime),
            RunQueue::Eevdf(queue) => queue.keeps(&self.eevdf),
            RunQueue::Live(_) => self.dispatch(cpu, true),
            RunQueue::Grouped(queue) => {
                let group = self.tasks[task as usize].group();
                queue.keeps(&self.threads[task as usize], group)
            }
        }
    }

    /// Takes the next task out of the queue of `cpu`.
    pub(super) fn pick(&mut self, cpu: u32) -> Option<u32> {
        let threads = &self.threads;
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.pick(&self.fair, |task| &threads[task as usize].entity),
            RunQueue::Eevdf(queue) => queue.pick(&self.eevdf),
            RunQueue::Live(queue) => queue.pick(),
            RunQueue::Grouped(queue) => queue.pick(threads),
        }
    }

    /// `task` begins to execute: a slice of its own.
    pub(super) fn begin_slice(&mut self, task: u32, cpu: u32) {
        if self.live {
            let record = &mut self.tasks[task as usize];
            self.core.live_queue_start(record, cpu, self.now);
            self.refill(cpu);
        } else {
            self.threads[task as usize].entity.slice_used_ns = 0;
        }
    }

    /// The running task stops.
    pub(super) fn end_slice(&mut self, task: u32, cpu: u32) {
        if let RunQueue::Live(queue) = &mut self.cpus[cpu as usize].queue {
            queue.stop();
            self.core
                .live_queue_stop(&mut self.tasks[task as usize], self.now);
        }
    }

    /// Does `task`, just queued on `cpu`, displace the one that runs there?
    pub(super) fn preempts(&mut self, task: u32, running: u32, cpu: u32) -> bool {
        if let Some(preempts) = self.class_preempts(task, running, cpu) {
            return preempts;
        }
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => {
                let woken = &self.threads[task as usize].entity;
                let current = (running, &self.threads[running as usize].entity);
                queue.wakeup_preempts(&self.fair, current, woken)
            }
            RunQueue::Eevdf(queue) => queue.preempts(&self.eevdf, task),
            RunQueue::Live(_) => self.preempts_live(task, cpu),
            RunQueue::Grouped(_) => self.preempts_grouped(task, running, cpu),
        }
    }

    /// The running task of `cpu` was displaced: it gives way when the CPU next looks.
    pub(super) fn end_turn(&mut self, cpu: u32) {
        let c = &mut self.cpus[cpu as usize];
        c.reschedule = true;
        if let RunQueue::Live(queue) = &mut c.queue {
            queue.slice_over = true;
        }
    }

    /// At the tick: is the running task's time over?
    pub(super) fn tick_preempts(&mut self, task: u32, cpu: u32) -> bool {
        if self.is_class(task) {
            return self.class_tick_preempts(task, cpu);
        }
        let group = self.tasks[task as usize].group();
        self.weigh_group(cpu, group);
        let running = &self.threads[task as usize].entity;
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.tick_preempts(&self.fair, running),
            RunQueue::Eevdf(queue) => queue.tick(&self.eevdf),
            RunQueue::Live(queue) => {
                let waiting = queue.in_order().count() as u32;
                let expired = self.core.live_queue_expired(cpu, waiting, self.now);
                queue.slice_over |= expired || queue.slice_end_ns <= self.now;
                queue.slice_over
            }
            RunQueue::Grouped(queue) => queue.tick(&self.threads[task as usize], group),
        }
    }

    /// What is left of the running task's slice while others wait, ns.
    pub(super) fn rest_of_slice_ns(&self, cpu: u32) -> Option<u64> {
        match &self.cpus[cpu as usize].queue {
            RunQueue::Eevdf(queue) => queue.rest_of_slice_ns(),
            RunQueue::Grouped(queue) => queue.rest_of_slice_ns(),
            RunQueue::Live(queue) => {
                let waits = queue.in_order().next();
                waits.map(|_| self.core.slice_left_ns(cpu, self.now))
            }
            RunQueue::Fair(_) => None, // its slices end at ticks
        }
    }

    /// The running task lets others go first. Returns false if there is nobody.
    pub(super) fn yield_to_others(&mut self, task: u32, cpu: u32) -> bool {
        if self.is_class(task) {
            return self.class_yields(task, cpu);
        }
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Fair(queue) => queue.skip(task),
            RunQueue::Eevdf(queue) => queue.yields(&self.eevdf),
            RunQueue::Grouped(queue) => queue.yields(task, self.tasks[task as usize].group()),
            RunQueue::Live(queue) => {
                let waiting = queue.nr_waiting() as u32;
                let others = self.core.yield_task(cpu, waiting, self.now);
                queue.slice_over |= others;
                others
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
        if self.is_class(task) {
            return; // counts in the fair class only
        }
        let thread = &mut self.threads[task as usize];
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
            RunQueue::Live(_) => self.core.live_queue_stop(record, self.now),
            RunQueue::Grouped(queue) => queue.reweight(record.group(), old, weight),
        }
        self.core
            .task_set_weight(record, nice_weight(nice.into()), self.now);
        let group = record.group();
        self.weigh_group(cpu, group);
        if self.live {
            let record = &mut self.tasks[task as usize];
            self.core.live_queue_start(record, cpu, self.now);
        }
    }

    /// The tasks of `cpu` that balancing may take, in the order in which it looks at them: least
    /// recently run first, and the live queues in their own order, without what is at the front.
    pub(super) fn offered(&self, cpu: u32) -> Vec<u32> {
        let c = &self.cpus[cpu as usize];
        let current = c.current.filter(|task| !self.is_class(*task));
        let mut tasks: Vec<u32> = match &c.queue {
            RunQueue::Fair(queue) => queue.waiting().chain(current).collect(),
            RunQueue::Eevdf(queue) => queue.waiting().chain(current).collect(),
            RunQueue::Live(queue) => return queue.in_order().collect(),
            RunQueue::Grouped(queue) => queue.waiting().into_iter().chain(current).collect(),
        };
        tasks.sort_unstable_by_key(|task| self.threads[*task as usize].recency);
        tasks
    }

    /// The task of `cpu` that active balancing pushes to `to`. The kernel's stopper displaces the
    /// running task first and takes the least recently run one; the live scheduler redirects the
    /// running one.
    pub(super) fn pushed(&self, cpu: u32, to: u32) -> Option<u32> {
        let c = &self.cpus[cpu as usize];
        let allowed = |t: &u32| self.tasks[*t as usize].may_use(to) && !self.is_class(*t);
        let recency = |task: &u32| self.threads[*task as usize].recency;
        let current = c.current.filter(allowed);
        match &c.queue {
            RunQueue::Fair(queue) => (queue.waiting().filter(allowed))
                .chain(current)
                .min_by_key(recency),
            RunQueue::Eevdf(queue) => (queue.waiting().filter(allowed))
                .chain(current)
                .min_by_key(recency),
            RunQueue::Live(_) => current,
            RunQueue::Grouped(queue) => (queue.waiting().into_iter().filter(allowed))
                .chain(current)
                .min_by_key(recency),
        }
    }
}
