//! Creation of the threads: a shell on the first CPU starts the program, and its parent thread
//! forks the others one after the other, where the policy has put it (at its fork and its exec).
//! Each goes to the start line and waits there for what the workload says (`StartLine`), then
//! until its own delay is over. Threads that fork others pay for it; their children do not wait
//! for anybody.

use super::Sim;
use super::class_state::ClassState;
use super::kthreads::Kthreads;
use super::steps::Flow;
use crate::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::machine::FULL_SPEED;
use crate::observe::{Observer, PlacementKind};
use crate::options::Options;
use crate::outcome::Ended;
use crate::thread::{Action, Pending, State, Then, Thread};
use wakeplace_kernel_queues::task_weight;
use wakeplace_policy_sys::{PlaceKind, Request, Task, Waker};
use wakeplace_workload::{FairPolicy, Start, StartLine, Workload};

/// How far the creation of the threads is.
#[derive(Debug)]
pub(super) struct Creation {
    /// How the program's threads begin.
    pub(super) start: Start,
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
    pub(super) fn new(workload: &Workload, options: &Options) -> Self {
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
pub(super) fn starters(workload: &Workload) -> usize {
    let there = workload.tasks.iter().filter(|task| task.forks.is_none());
    there.count()
}

/// Threads that one run can have.
const MOST_THREADS: usize = 1_000_000;

/// One per script, then the parent, the shell that starts it and the kernel's.
pub(super) fn threads(workload: &Workload, kthreads: &Kthreads) -> Vec<Thread> {
    let scripts = (0..).zip(&workload.tasks);
    let mut threads: Vec<_> = scripts
        .map(|(index, script)| Thread::of_script(script, index))
        .chain([(); 2].map(|()| Thread::new(0, FairPolicy::Other)))
        .chain(kthreads.threads())
        .collect();
    for (number, group) in (0..).zip(&workload.groups) {
        for member in &group.tasks {
            threads[*member as usize].group = Some(number);
        }
    }
    threads
}

/// The core's record of the thread at this index. Ids count from 1.
fn core_task(thread: &Thread, index: u32, cpu: CpuId, cpus: Option<&[u32]>, nr_cpus: u32) -> Task {
    let weight = task_weight(thread.nice, thread.policy);
    let mut task = Task::new(index + 1, weight, cpu.0, cpus, nr_cpus);
    task.raw_mut().idle_policy = u32::from(thread.policy == FairPolicy::Idle);
    if thread.realtime.is_none() {
        task.set_group(thread.group.map(|group| group as usize)); // other classes have no groups
    }
    task
}

/// The core's records of `threads`.
pub(super) fn core_tasks(
    workload: &Workload,
    threads: &[Thread],
    kthreads: &Kthreads,
    nr_cpus: u32,
) -> Vec<Task> {
    let first_kthread = workload.tasks.len() + 2;
    let cpus = |index: usize| match workload.tasks.get(index) {
        Some(script) => script.cpus.as_deref(),
        None => kthreads.cpus(index.checked_sub(first_kthread)?),
    };
    (0..)
        .zip(threads)
        .map(|(index, thread)| core_task(thread, index, CpuId(0), cpus(index as usize), nr_cpus))
        .collect()
}

impl<O: Observer> Sim<'_, O> {
    /// The parent begins to run.
    pub(super) fn start_parent(&mut self) {
        for task in (0..=self.threads.shell().0).map(TaskId) {
            self.core.task_init(&mut self.tasks[task]);
        }
        for task in (0..self.threads.parent().0).map(TaskId) {
            self.hint(task);
        }
        let (first, cpu) = match self.creation.parent_cpu {
            Some(cpu) => (self.threads.parent(), cpu),
            None => (self.threads.shell(), CpuId(0)),
        };
        let cpu = self.start_cpu(first, cpu);
        self.core
            .task_new(&mut self.tasks[first], cpu.0, self.clock.now);
        self.start_ext(first);
        self.threads[first].action = Some(self.making_one());
        self.activate_task(first, cpu, true);
        self.kick(cpu, cpu);
    }

    /// The shell has done the work of a fork: the parent exists, and the shell waits for its end.
    pub(super) fn shell_goes_on(&mut self, cpu: CpuId) {
        let (shell, parent) = (self.threads.shell(), self.threads.parent());
        self.account(cpu);
        self.creation.execs = true;
        self.fork(parent, shell);
        self.block(cpu, shell, None);
    }

    /// What it takes to make a thread.
    fn making_one(&self) -> Action {
        match self.machine.wall_times {
            true => Action::Stall(self.machine.costs.fork / FULL_SPEED),
            false => Action::Work(self.machine.costs.fork),
        }
    }

    /// The parent has done what it was at: it runs its program, forks the next thread, lets them
    /// all begin, if that is its part, or sleeps.
    pub(super) fn parent_goes_on(&mut self, cpu: CpuId) {
        let parent = self.threads.parent();
        if std::mem::take(&mut self.creation.execs) {
            let moved = self.exec(cpu, parent) == Flow::Held;
            self.threads[parent].action = Some(self.making_one());
            if !moved {
                self.resume(cpu);
            }
            return;
        }
        if self.go_on(cpu, parent) == Flow::Held {
            return;
        }
        if self.fork_next() {
            return self.resume(cpu);
        }
        if let StartLine::Creator { sync } = self.creation.start.line
            && self.program.t_zero_ns.is_none()
            && self.creation.at_line.len() == self.creation.starters
            && self.let_begin(cpu, parent, sync, Then::Step) == Flow::Held
        {
            return;
        }
        self.block(cpu, parent, None);
    }

    /// Forks one more, if there is one. The work of it has been done.
    fn fork_next(&mut self) -> bool {
        while (self.threads.scripts.get(self.creation.forked))
            .is_some_and(|script| script.forks.is_some())
        {
            self.creation.forked += 1;
        }
        let child = self.creation.forked;
        if child == self.threads.scripts.len() {
            if self.creation.start.line == StartLine::Timers && self.program.t_zero_ns.is_none() {
                self.arm_starts();
            }
            return false;
        }
        self.creation.forked += 1;
        let parent = self.threads.parent();
        self.fork(TaskId(child as u32), parent);
        self.threads[parent].action = Some(self.making_one());
        true
    }

    /// The thread exists from now on, made by the running task `parent`.
    fn fork(&mut self, child: TaskId, parent: TaskId) {
        let here = self.cpu_of(parent);
        let [of_child, of_parent] = (self.tasks)
            .get_disjoint_mut([child.index(), parent.index()])
            .expect("nobody forks itself");
        of_child.forked_by(of_parent);
        let ask = Request {
            now_ns: self.clock.now,
            kind: PlaceKind::Fork,
            this_cpu: here.0,
            prev_cpu: here.0,
            sync: false,
            waker: Waker::Task(parent.index()),
            waker_load: self.waker_load(parent),
        };
        self.fork_ext(child, parent);
        self.show_situation(child, &ask);
        let choice = self.answer(child, &ask);
        let cpu = CpuId(choice.cpu);
        self.task_fork(child, parent, here, cpu);
        if self.classes.is_class(child) {
            self.home.detach_task(child, cpu);
        }
        self.note_choice(child, Some(parent), &ask, choice, PlacementKind::Fork);
        self.core
            .task_new(&mut self.tasks[child], cpu.0, self.clock.now);
        self.threads[child].action = Some(Action::Work(0));
        self.threads[child].born_ns = self.clock.now;
        self.activate_task(child, cpu, true);
        self.wait_for_line(cpu, here, child);
        self.wakeup_preempt(child, cpu, here);
    }

    /// The running task forks: that is its work.
    pub(super) fn begin_fork(&mut self, cpu: CpuId, task: TaskId, script: u32) -> Flow {
        match self.machine.costs.fork {
            0 => self.fork_thread(cpu, task, script),
            cost => {
                self.charge(cpu, cost);
                self.go_on_later(cpu, task, Pending::Fork { script })
            }
        }
    }

    /// That work is done.
    pub(super) fn fork_thread(&mut self, cpu: CpuId, task: TaskId, script: u32) -> Flow {
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
        self.account(cpu);
        let child = self.make_thread(cpu, script, made);
        let number = self.threads.shown(child);
        self.told.observer.forked(self.clock.now, number, script);
        self.fork(child, task);
        if self.cpus[cpu].reschedule || self.threads[task].has_kernel_work() {
            return self.go_on_later(cpu, task, Pending::Nothing);
        }
        Flow::Go
    }

    /// A thread as it is before the kernel knows of it.
    fn make_thread(&mut self, cpu: CpuId, script: u32, number: u64) -> TaskId {
        let child = TaskId(self.threads.all.len() as u32);
        let template = &self.threads[TaskId(script)];
        let task = &self.threads.scripts[script as usize];
        let mut thread = Thread::of_script(task, script);
        thread.group = template.group;
        thread.number = Some(number);
        thread.timer_base = Some(self.program.timers.len() as u32);
        for timer in self.program.private.of(script) {
            // Nobody uses the template's own.
            let fresh = self.program.timers[*timer as usize].clone();
            self.program.timers.push(fresh);
        }
        let cpus = task.cpus.as_deref();
        let mut record = core_task(&thread, child.0, cpu, cpus, self.machine.nr_cpus);
        self.core.task_init(&mut record);
        if self.classes.has_classes() {
            let class = |kind| ClassState::new(kind, &self.classes.params);
            self.classes.states.push(thread.realtime.map(class));
        }
        self.home.add_task(&thread, task.slice_ns, record.group());
        if let Some(ext) = self.home.sched_ext() {
            let name = thread.name(self.threads.scripts);
            let leader = Some(TaskId(self.threads.scripts.len() as u32));
            ext.add_thread(&thread, &name, false, leader, &record);
        }
        self.threads.all.push(thread);
        self.tasks.0.push(record);
        self.hint(child);
        child
    }

    /// All threads exist: time zero of the workload. Those that wait already get their timers.
    fn arm_starts(&mut self) {
        self.program.t_zero_ns = Some(self.clock.now);
        for task in std::mem::take(&mut self.creation.at_line) {
            let due = self.begins_at(task);
            let thread = &mut self.threads[task];
            thread.started = true;
            thread.stamp_ns = due;
            self.sleep_until(task, due);
        }
    }

    /// When the task is to begin, once time zero is known.
    fn begins_at(&self, task: TaskId) -> u64 {
        let script = self.threads[task].script;
        let zero = self.zero_ns(task).unwrap_or(self.clock.now);
        zero + self.threads.scripts[script as usize].delay_ns
    }

    /// A new thread has run for the first time.
    pub(super) fn start_line(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        self.threads[task].started = true; // unless it waits at the line
        if self.threads[task].number.is_some() {
            return self.begin(cpu, task); // forked by another thread: it waits for nobody
        }
        match self.creation.start.line {
            StartLine::Each => {
                self.program.t_zero_ns.get_or_insert(self.clock.now);
                let script = self.threads[task].script;
                let due = self.clock.now + self.threads.scripts[script as usize].delay_ns;
                self.begin_at(cpu, task, due)
            }
            StartLine::Timers if self.program.t_zero_ns.is_some() => self.begin(cpu, task),
            StartLine::Timers => self.wait_at_line(cpu, task),
            StartLine::Barrier => {
                if task == self.threads.first_thread() {
                    self.program.t_zero_ns = Some(self.clock.now);
                }
                match self.creation.at_line.len() + 1 < self.creation.starters {
                    true => self.wait_at_line(cpu, task),
                    false => self.let_begin(cpu, task, false, Then::Begin),
                }
            }
            StartLine::Creator { .. } => {
                if self.creation.at_line.len() + 1 == self.creation.starters {
                    self.tell_parent(cpu);
                }
                self.wait_at_line(cpu, task)
            }
        }
    }

    /// The running task is the last one to be ready: the parent may sleep until then.
    fn tell_parent(&mut self, cpu: CpuId) {
        let parent = self.threads.parent();
        if self.threads[parent].state == State::Sleeping {
            self.charge(cpu, self.machine.costs.wakeup);
            self.threads[parent].due_ns = self.clock.now;
            self.wake_by_task(parent, cpu, true);
        }
    }

    fn wait_at_line(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        self.threads[task].started = false;
        self.creation.at_line.push(task);
        self.block(cpu, task, None);
        Flow::Held
    }

    /// The running task wakes all who wait at the start line, the first one first.
    fn let_begin(&mut self, cpu: CpuId, task: TaskId, sync: bool, then: Then) -> Flow {
        self.program.t_zero_ns.get_or_insert(self.clock.now);
        let now = self.clock.now;
        while let Some(waiting) = self.creation.at_line.pop() {
            let thread = &mut self.threads[waiting];
            thread.started = true;
            thread.stamp_ns = now;
            thread.pending = Pending::Begin;
            self.threads[task].to_wake.push((waiting, sync));
        }
        self.wake_all_listed(cpu, task, then)
    }

    /// The thread goes on, after its delay.
    pub(super) fn begin(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        let due = self.begins_at(task);
        self.begin_at(cpu, task, due)
    }

    fn begin_at(&mut self, cpu: CpuId, task: TaskId, due: u64) -> Flow {
        self.threads[task].stamp_ns = due;
        if due <= self.clock.now {
            return Flow::Go;
        }
        self.block(cpu, task, Some(due));
        Flow::Held
    }
}
