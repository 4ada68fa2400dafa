//! Creation of the threads: a shell on the first CPU starts the program, and its parent thread
//! forks the others one after the other, where the policy has put it (at its fork and its exec).
//! Each goes to the start line and waits there for what the workload says (`StartLine`), then until
//! its own delay is over. Threads that fork others pay for it; their children do not wait for
//! anybody (docs/decisions/005).
//!
//! What must stay: threads are made in the order of the workload, which is the order of their
//! numbers. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `threads_are_made_one_after_the_other`, `the_last_one_opens_the_barrier`
//! and `the_creator_releases_those_who_are_ready` (start line), `delays_count_from_time_zero`,
//! `the_parent_is_placed`, programs.rs (several programs). By function:
//! `threads_are_made_one_after_the_other` (`parent_goes_on`, `making_one`, `fork_next`, `fork`,
//! `make_thread`, `threads`), `the_last_one_opens_the_barrier` (`start_line`, `wait_at_line`,
//! `let_begin`), `the_creator_releases_those_who_are_ready` (`tell_parent`),
//! `delays_count_from_time_zero` (`arm_starts`, `begins_at`, `begin`, `begin_at`),
//! `the_parent_is_placed` (`start_parent`, `shell_goes_on`),
//! creation.rs::`a_program_begins_when_it_is_to` (`begin_program`),
//! forking.rs::`threads_are_made_named_and_counted` (`begin_fork`, `fork_thread`). `new` and
//! `starters`: every run.
//!
//! Callers: steps.rs (`shell_goes_on`, `parent_goes_on`, `begin_fork`, `fork_thread`,
//! `start_line`), sim.rs (`begin_program`, `start_parent`), mechanics/mod.rs (`starters`).
//!
//! Tests: crates/engine/tests/behaviour/creation.rs, crates/engine/tests/behaviour/programs.rs

use super::steps::Flow;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::machine::FULL_SPEED;
use crate::mechanics::Mechanics;
use crate::mechanics::queue::Event;
use crate::mechanics::thread::{Action, Pending, State, Then, Thread};
use crate::observe::{Happening, Observer};
use crate::options::Options;
use crate::outcome::Ended;
use wakeplace_workload::{Start, StartLine, Workload};

/// How far the creation of the threads is.
#[derive(Debug)]
pub(in crate::mechanics) struct Creation {
    /// How the program's threads begin.
    start: Start,
    /// Where the parent begins; None: where the policy puts it.
    parent_cpu: Option<CpuId>,
    /// The parent, just forked, has yet to run its program.
    execs: bool,
    /// Threads that the parent creates.
    starters: usize,
    /// Scripts that it has seen to.
    forked: usize,
    /// Threads that sleep at the start line, in the order in which they came.
    at_line: Vec<TaskId>,
}

impl Creation {
    /// How this workload's threads begin.
    pub(in crate::mechanics) fn new(workload: &Workload, options: &Options) -> Self {
        Self {
            start: workload.start,
            parent_cpu: options.parent_cpu.map(CpuId),
            execs: false,
            starters: starters(workload),
            forked: 0,
            at_line: Vec::new(),
        }
    }
}

/// Threads that are there at the start.
pub(in crate::mechanics) fn starters(workload: &Workload) -> usize {
    let there = workload.tasks.iter().filter(|task| task.forks.is_none());
    there.count()
}

/// Threads that one run can have.
const MOST_THREADS: usize = 1_000_000;

/// One per script, then the parent, the shell that starts it, and the kernel's, which are given
/// what they do.
pub(in crate::mechanics) fn threads(workload: &Workload, of_kernel: Vec<Action>) -> Vec<Thread> {
    let scripts = (0..).zip(&workload.tasks);
    let of_kernel = of_kernel.into_iter().map(|action| Thread {
        started: true,
        action: Some(action),
        ..Thread::new()
    });
    scripts
        .map(|(index, script)| Thread::of_script(script, index))
        .chain([(); 2].map(|()| Thread::new()))
        .chain(of_kernel)
        .collect()
}

impl<O: Observer> Mechanics<'_, O> {
    /// The program begins now or later.
    pub(crate) fn begin_program<K: Kernel>(&mut self, k: &mut K) {
        match self.creation.start.at_ns {
            0 => self.start_parent(k),
            at => self.clock.push(at, Event::Begin),
        }
    }

    /// The first thread begins to run: the parent where it is put, or else the shell.
    pub(crate) fn start_parent<K: Kernel>(&mut self, k: &mut K) {
        let (first, cpu) = match self.creation.parent_cpu {
            Some(cpu) => (self.threads.parent(), cpu),
            None => (self.threads.shell(), CpuId(0)),
        };
        self.threads[first].action = Some(self.making_one());
        k.spawn(self, first, cpu);
    }

    /// The shell has done the work of a fork: the parent exists, and the shell waits for its end.
    pub(super) fn shell_goes_on<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let (shell, parent) = (self.threads.shell(), self.threads.parent());
        self.account(k, cpu);
        self.creation.execs = true;
        self.fork(k, parent, shell);
        self.block(k, cpu, shell, None);
    }

    /// What it takes to make a thread.
    fn making_one(&self) -> Action {
        match self.machine.wall_times {
            true => Action::Stall(self.machine.costs.fork / FULL_SPEED),
            false => Action::Work(self.machine.costs.fork),
        }
    }

    /// Lets the parent go on, which has done what it was at: it runs its program, forks the next
    /// thread, lets them all begin, if that is its part, or sleeps.
    pub(super) fn parent_goes_on<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let parent = self.threads.parent();
        if std::mem::take(&mut self.creation.execs) {
            let moved = self.exec(k, cpu, parent) == Flow::Held;
            self.threads[parent].action = Some(self.making_one());
            if !moved {
                self.resume(k, cpu);
            }
            return;
        }
        if self.go_on(k, cpu, parent) == Flow::Held {
            return;
        }
        if self.fork_next(k) {
            return self.resume(k, cpu);
        }
        if let StartLine::Creator { sync } = self.creation.start.line
            && self.program.t_zero_ns.is_none()
            && self.creation.at_line.len() == self.creation.starters
            && self.let_begin(k, cpu, parent, sync, Then::Step) == Flow::Held
        {
            return;
        }
        self.block(k, cpu, parent, None);
    }

    /// Forks one more, if there is one. The work of it has been done.
    fn fork_next<K: Kernel>(&mut self, k: &mut K) -> bool {
        while (self.threads.scripts.get(self.creation.forked))
            .is_some_and(|script| script.forks.is_some())
        {
            self.creation.forked += 1;
        }
        let child = self.creation.forked;
        if child == self.threads.scripts.len() {
            if self.creation.start.line == StartLine::Timers && self.program.t_zero_ns.is_none() {
                self.arm_starts(k);
            }
            return false;
        }
        self.creation.forked += 1;
        let parent = self.threads.parent();
        self.fork(k, TaskId(child as u32), parent);
        self.threads[parent].action = Some(self.making_one());
        true
    }

    /// The thread exists from now on, made by the running task `parent`.
    fn fork<K: Kernel>(&mut self, k: &mut K, child: TaskId, parent: TaskId) {
        self.threads[child].action = Some(Action::Work(0));
        self.threads[child].born_ns = self.clock.now;
        k.fork(self, child, parent);
    }

    /// The running task forks: that is its work.
    pub(super) fn begin_fork<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        script: u32,
    ) -> Flow {
        match self.machine.costs.fork {
            0 => self.fork_thread(k, cpu, task, script),
            cost => {
                self.charge(k, cpu, cost);
                self.go_on_later(k, cpu, task, Pending::Fork { script })
            }
        }
    }

    /// Makes the thread, once the work of the fork (`begin_fork`) is done.
    pub(super) fn fork_thread<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        script: u32,
    ) -> Flow {
        let made = self.threads.made[script as usize];
        let most = self.threads.scripts[script as usize].forks.unwrap_or(0);
        let limit = if self.threads.all.len() > MOST_THREADS {
            Some(MOST_THREADS as u64)
        } else {
            (made >= most).then_some(most)
        };
        if let Some(limit) = limit {
            let task = self.threads.shown(task);
            self.ended = Some(Ended::ForkLimit {
                task,
                script,
                limit,
            });
            return Flow::Held;
        }
        self.threads.made[script as usize] += 1;
        self.threads.alive += 1;
        self.account(k, cpu);
        let child = self.make_thread(k, cpu, script, made);
        let task_number = self.threads.shown(child);
        self.tell(Happening::Forked {
            task: task_number,
            script,
        });
        self.fork(k, child, task);
        if k.wants_cpu(cpu) || self.threads[task].has_kernel_work() {
            return self.go_on_later(k, cpu, task, Pending::Nothing);
        }
        Flow::Go
    }

    /// A thread as it is before the kernel knows of it.
    fn make_thread<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        script: u32,
        number: u64,
    ) -> TaskId {
        let child = TaskId(self.threads.all.len() as u32);
        let mut thread = Thread::of_script(&self.threads.scripts[script as usize], script);
        thread.number = Some(number);
        thread.timer_base = Some(self.program.timers.len() as u32);
        for timer in self.program.private.of(script) {
            // Nobody uses the template's own.
            let fresh = self.program.timers[*timer as usize].clone();
            self.program.timers.push(fresh);
        }
        self.threads.all.push(thread);
        k.add_task(self, child, script, cpu);
        child
    }

    /// All threads exist: time zero of the workload. Those that wait already get their timers.
    fn arm_starts<K: Kernel>(&mut self, k: &mut K) {
        let now = self.clock.now;
        self.program.t_zero_ns = Some(now);
        for task in std::mem::take(&mut self.creation.at_line) {
            let due = self.begins_at(task);
            let thread = &mut self.threads[task];
            thread.started = true;
            thread.stamp_ns = due;
            thread.begins_at(now, due);
            k.set_timer(self, task, due);
        }
    }

    /// The time at which the task is to begin, once time zero is known.
    fn begins_at(&self, task: TaskId) -> u64 {
        let script = self.threads[task].script;
        let zero = self.zero_ns(task).unwrap_or(self.clock.now);
        zero + self.threads.scripts[script as usize].delay_ns
    }

    /// Brings a new thread, which has run for the first time, to the start line.
    pub(super) fn start_line<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
        self.threads[task].started = true; // unless it waits at the line
        if self.threads[task].number.is_some() {
            return self.begin(k, cpu, task); // forked by another thread: it waits for nobody
        }
        match self.creation.start.line {
            StartLine::Each => {
                self.program.t_zero_ns.get_or_insert(self.clock.now);
                let script = self.threads[task].script;
                let due = self.clock.now + self.threads.scripts[script as usize].delay_ns;
                self.begin_at(k, cpu, task, due)
            }
            StartLine::Timers if self.program.t_zero_ns.is_some() => self.begin(k, cpu, task),
            StartLine::Timers => self.wait_at_line(k, cpu, task),
            StartLine::Barrier => {
                if task == self.threads.first_thread() {
                    self.program.t_zero_ns = Some(self.clock.now);
                }
                match self.creation.at_line.len() + 1 < self.creation.starters {
                    true => self.wait_at_line(k, cpu, task),
                    false => self.let_begin(k, cpu, task, false, Then::Begin),
                }
            }
            StartLine::Creator { .. } => {
                if self.creation.at_line.len() + 1 == self.creation.starters {
                    self.tell_parent(k, cpu);
                }
                self.wait_at_line(k, cpu, task)
            }
        }
    }

    /// Wakes the parent if it sleeps: the running task is the last one to be ready.
    fn tell_parent<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let parent = self.threads.parent();
        if self.threads[parent].state == State::Sleeping {
            self.charge(k, cpu, self.machine.costs.wakeup);
            self.threads[parent].due_ns = self.clock.now;
            k.wake(self, parent, cpu, true);
        }
    }

    /// Lets the thread sleep until it is let go; its parent may be told first.
    fn wait_at_line<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
        self.threads[task].started = false;
        self.creation.at_line.push(task);
        self.block(k, cpu, task, None);
        Flow::Held
    }

    /// Wakes, by the running task, all who wait at the start line, the first one first.
    fn let_begin<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        sync: bool,
        then: Then,
    ) -> Flow {
        self.program.t_zero_ns.get_or_insert(self.clock.now);
        let now = self.clock.now;
        while let Some(waiting) = self.creation.at_line.pop() {
            let thread = &mut self.threads[waiting];
            thread.started = true;
            thread.stamp_ns = now;
            thread.pending = Pending::Begin;
            self.threads[task].to_wake.push((waiting, sync));
        }
        self.wake_all_listed(k, cpu, task, then)
    }

    /// Lets the thread go on, after its delay.
    pub(super) fn begin<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
        let due = self.begins_at(task);
        self.begin_at(k, cpu, task, due)
    }

    /// Lets the thread sleep until `due`, ns, which may be over: then it goes on at once.
    fn begin_at<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, due: u64) -> Flow {
        let now = self.clock.now;
        let thread = &mut self.threads[task];
        thread.stamp_ns = due;
        thread.begins_at(now, due);
        if due <= now {
            return Flow::Go;
        }
        self.block(k, cpu, task, Some(due));
        Flow::Held
    }
}
