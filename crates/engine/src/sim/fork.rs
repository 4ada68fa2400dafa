//! Creation of the threads: a parent (on CPU 0 unless told otherwise) forks them one after the
//! other; each goes to the start line and sleeps there until all are created, then until its own
//! delay is over.

use super::Sim;
use crate::fair::Weight;
use crate::observe::{Observer, Placement, PlacementKind};
use crate::thread::Action;
use wakeplace_policy_sys::{PlaceKind, Request, Task, Waker};
use wakeplace_workload::{FairPolicy, Workload};

/// The core's records: one per thread, then the parent. Ids count from 1.
pub(super) fn core_tasks(workload: &Workload, nr_cpus: u32) -> Vec<Task> {
    let task = |index: usize, nice: i8, policy: FairPolicy, cpus: Option<&[u32]>| {
        let weight = Weight::of_task(nice, policy).weight as u32;
        let mut task = Task::new(index as u32 + 1, weight, 0, cpus, nr_cpus);
        task.raw_mut().idle_policy = u32::from(policy == FairPolicy::Idle);
        task
    };
    let threads = workload.tasks.iter().enumerate();
    let mut tasks: Vec<_> = threads
        .map(|(index, t)| task(index, t.nice, t.policy, t.cpus.as_deref()))
        .collect();
    for (number, group) in workload.groups.iter().enumerate() {
        let fair = |member: &u32| {
            let script = &workload.tasks[*member as usize];
            script.attributes.realtime.is_none() // else its class has no groups
        };
        for member in group.tasks.iter().filter(|m| fair(m)) {
            tasks[*member as usize].set_group(Some(number));
        }
    }
    tasks.push(task(workload.tasks.len(), 0, FairPolicy::Other, None));
    tasks
}

impl<O: Observer> Sim<'_, O> {
    fn parent(&self) -> u32 {
        self.scripts.len() as u32
    }

    pub(super) fn is_parent(&self, task: u32) -> bool {
        task == self.parent()
    }

    /// The parent begins to run.
    pub(super) fn start_parent(&mut self, cpu: u32) {
        for task in &mut self.tasks {
            self.core.task_init(task);
        }
        self.hint_rt_tasks();
        let parent = self.parent();
        let cpu = self.start_cpu(parent, cpu);
        self.core.task_new(&mut self.tasks[parent as usize], cpu, 0);
        self.threads[parent as usize].action = Some(Action::Work(self.machine.costs.fork));
        self.join_queue(parent, cpu, true);
        self.kick(cpu, cpu);
    }

    /// The parent has done one fork's work. Returns false when there is nothing left to fork.
    pub(super) fn fork_next(&mut self) -> bool {
        let child = self.forked;
        if child == self.scripts.len() {
            self.open_start_line();
            return false;
        }
        self.forked += 1;
        self.fork(child as u32);
        self.threads[self.scripts.len()].action = Some(Action::Work(self.machine.costs.fork));
        true
    }

    fn fork(&mut self, child: u32) {
        let parent = self.parent() as usize;
        let here = self.tasks[parent].cpu();
        let ask = Request {
            now_ns: self.now,
            kind: PlaceKind::Fork,
            this_cpu: here,
            prev_cpu: here,
            sync: false,
            waker: Waker::Task(parent),
            waker_load: self.tasks[parent].load_avg(), // it is in no group
        };
        let choice = self.answer(child, &ask);
        self.place_new(child, parent as u32, here, choice.cpu);
        self.reasons[choice.reason.index()] += 1;
        self.mix(u64::from(choice.cpu) << 8 | choice.reason.index() as u64);
        let placement = Placement {
            kind: PlacementKind::Fork,
            task: child,
            waker: None,
            waker_cpu: here,
            prev_cpu: here,
            cpu: choice.cpu,
            reason: choice.reason,
        };
        self.observer.placement(self.now, &placement);
        self.core
            .task_new(&mut self.tasks[child as usize], choice.cpu, self.now);
        self.threads[child as usize].action = Some(Action::Work(0));
        self.join_queue(child, choice.cpu, true);
        self.preempt_or_kick(child, choice.cpu, here);
    }

    /// All threads exist: time zero of the workload. Those that wait already get their timers.
    fn open_start_line(&mut self) {
        self.t_zero_ns = Some(self.now);
        for task in 0..self.scripts.len() as u32 {
            if self.threads[task as usize].at_start_line {
                self.threads[task as usize].started = true;
                self.sleep_until(task, self.now + self.scripts[task as usize].delay_ns);
            }
        }
    }

    /// A new thread has run for the first time. Returns until when it sleeps now: for ever if the
    /// others are not all there yet.
    pub(super) fn start_line(&mut self, task: u32) -> Option<u64> {
        let thread = &mut self.threads[task as usize];
        thread.started = self.t_zero_ns.is_some();
        thread.at_start_line = !thread.started;
        self.t_zero_ns
            .map(|zero| zero + self.scripts[task as usize].delay_ns)
    }
}
