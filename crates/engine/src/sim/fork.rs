//! Creation of the threads: a parent (on CPU 0 unless told otherwise) forks them one after the
//! other; each goes to the start line and sleeps there until all are created, then until its own
//! delay is over. Threads that fork others pay for it; their children do not wait for anybody.

use super::Sim;
use super::classes::ClassState;
use super::steps::Flow;
use crate::fair::Weight;
use crate::observe::{Observer, PlacementKind};
use crate::thread::{Action, Pending, Thread};
use wakeplace_policy_sys::{PlaceKind, Request, Task, Waker};
use wakeplace_workload::{FairPolicy, Workload};

/// Threads that one run can have.
const MOST_THREADS: usize = 1_000_000;

/// One per script, then the parent.
pub(super) fn threads(workload: &Workload) -> Vec<Thread> {
    let scripts = (0..).zip(&workload.tasks);
    let mut threads: Vec<_> = scripts
        .map(|(index, script)| Thread::of_script(script, index))
        .chain([Thread::new(0, FairPolicy::Other, None)])
        .collect();
    for (number, group) in (0..).zip(&workload.groups) {
        for member in &group.tasks {
            threads[*member as usize].group = Some(number);
        }
    }
    threads
}

/// The core's record of the thread at this index. Ids count from 1.
fn core_task(thread: &Thread, index: u32, cpu: u32, cpus: Option<&[u32]>, nr_cpus: u32) -> Task {
    let weight = Weight::of_task(thread.nice, thread.policy).weight as u32;
    let mut task = Task::new(index + 1, weight, cpu, cpus, nr_cpus);
    task.raw_mut().idle_policy = u32::from(thread.policy == FairPolicy::Idle);
    if thread.realtime.is_none() {
        task.set_group(thread.group.map(|group| group as usize)); // other classes have no groups
    }
    task
}

/// The core's records of `threads`.
pub(super) fn core_tasks(workload: &Workload, threads: &[Thread], nr_cpus: u32) -> Vec<Task> {
    let cpus = |thread: &Thread| {
        let script = workload.tasks.get(thread.script as usize);
        script.and_then(|script| script.cpus.as_deref())
    };
    (0..)
        .zip(threads)
        .map(|(index, thread)| core_task(thread, index, 0, cpus(thread), nr_cpus))
        .collect()
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
        for task in 0..self.parent() {
            self.hint(task);
        }
        let parent = self.parent();
        let cpu = self.start_cpu(parent, cpu);
        self.core.task_new(&mut self.tasks[parent as usize], cpu, 0);
        self.threads[parent as usize].action = Some(Action::Work(self.machine.costs.fork));
        self.join_queue(parent, cpu, true);
        self.kick(cpu, cpu);
    }

    /// The parent has done one fork's work. Returns false when there is nothing left to fork.
    pub(super) fn fork_next(&mut self) -> bool {
        while (self.scripts.get(self.forked)).is_some_and(|script| script.forks.is_some()) {
            self.forked += 1;
        }
        let child = self.forked;
        if child == self.scripts.len() {
            self.open_start_line();
            return false;
        }
        self.forked += 1;
        self.fork(child as u32, self.parent());
        self.threads[self.scripts.len()].action = Some(Action::Work(self.machine.costs.fork));
        true
    }

    /// The thread exists from now on, made by the running task `parent`.
    fn fork(&mut self, child: u32, parent: u32) {
        let here = self.tasks[parent as usize].cpu();
        let [of_child, of_parent] = (self.tasks)
            .get_disjoint_mut([child as usize, parent as usize])
            .expect("nobody forks itself");
        of_child.forked_by(of_parent);
        let ask = Request {
            now_ns: self.now,
            kind: PlaceKind::Fork,
            this_cpu: here,
            prev_cpu: here,
            sync: false,
            waker: Waker::Task(parent as usize),
            waker_load: self.waker_load(parent),
        };
        self.show_situation(child, &ask);
        let choice = self.answer(child, &ask);
        self.place_new(child, parent, here, choice.cpu);
        if self.is_class(child) {
            self.keep_distance(child, choice.cpu);
        }
        self.note_choice(child, Some(parent), &ask, choice, PlacementKind::Fork);
        self.core
            .task_new(&mut self.tasks[child as usize], choice.cpu, self.now);
        self.threads[child as usize].action = Some(Action::Work(0));
        self.threads[child as usize].born_ns = self.now;
        self.join_queue(child, choice.cpu, true);
        let wait = self.line_wait(here, child);
        self.keep_lock(choice.cpu, here, wait);
        self.hold(here, wait);
        self.preempt_or_kick(child, choice.cpu, here);
    }

    /// The running task forks: that is its work.
    pub(super) fn begin_fork(&mut self, cpu: u32, task: u32, script: u32) -> Flow {
        match self.machine.costs.fork {
            0 => self.fork_thread(cpu, task, script),
            cost => {
                self.charge(cpu, cost);
                self.go_on_later(cpu, task, Pending::Fork { script })
            }
        }
    }

    /// That work is done.
    pub(super) fn fork_thread(&mut self, cpu: u32, task: u32, script: u32) -> Flow {
        let made = self.made[script as usize];
        let most = self.scripts[script as usize].forks.unwrap_or(0);
        let limit = if self.threads.len() > MOST_THREADS {
            Some(MOST_THREADS as u64)
        } else {
            (made >= most).then_some(most)
        };
        if let Some(limit) = limit {
            self.too_many = Some((task, script, limit));
            return Flow::Held;
        }
        self.made[script as usize] += 1;
        self.alive += 1;
        self.account(cpu);
        let child = self.make_thread(cpu, script, made);
        let number = self.shown(child);
        self.observer.forked(self.now, number, script);
        self.fork(child, task);
        if self.cpus[cpu as usize].reschedule || self.threads[task as usize].has_kernel_work() {
            return self.go_on_later(cpu, task, Pending::Nothing);
        }
        Flow::Go
    }

    /// A thread as it is before the kernel knows of it.
    fn make_thread(&mut self, cpu: u32, script: u32, number: u64) -> u32 {
        let child = self.threads.len() as u32;
        let template = &self.threads[script as usize];
        let task = &self.scripts[script as usize];
        let mut thread = Thread::of_script(task, script);
        thread.group = template.group;
        thread.number = Some(number);
        thread.timer_base = Some(self.timers.len() as u32);
        for timer in self.private.of(script) {
            let fresh = self.timers[*timer as usize].clone(); // nobody uses the template's own
            self.timers.push(fresh);
        }
        let cpus = task.cpus.as_deref();
        let mut record = core_task(&thread, child, cpu, cpus, self.machine.nr_cpus);
        self.core.task_init(&mut record);
        if self.has_classes() {
            let class = |kind| ClassState::new(kind, &self.class_params);
            self.class.push(thread.realtime.map(class));
        }
        self.threads.push(thread);
        self.tasks.push(record);
        self.hint(child);
        child
    }

    /// All threads exist: time zero of the workload. Those that wait already get their timers.
    fn open_start_line(&mut self) {
        self.t_zero_ns = Some(self.now);
        for task in 0..self.scripts.len() as u32 {
            if self.threads[task as usize].at_start_line {
                self.threads[task as usize].started = true;
                let due = self.now + self.scripts[task as usize].delay_ns;
                self.threads[task as usize].stamp_ns = due;
                self.sleep_until(task, due);
            }
        }
    }

    /// A new thread has run for the first time. Returns until when it sleeps now: for ever if the
    /// others are not all there yet.
    pub(super) fn start_line(&mut self, task: u32) -> Option<u64> {
        let thread = &mut self.threads[task as usize];
        thread.started = self.t_zero_ns.is_some();
        thread.at_start_line = !thread.started;
        let script = thread.script as usize;
        let due = self.zero_ns(task)? + self.scripts[script].delay_ns;
        let thread = &mut self.threads[task as usize];
        thread.stamp_ns = due;
        Some(due)
    }
}
