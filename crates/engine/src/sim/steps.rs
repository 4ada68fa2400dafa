//! What the running task does next: the steps of its script, carried out until one takes time.

use super::Sim;
use crate::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::observe::{MigrateCause, Observer, PlacementKind, Stop};
use crate::outcome::Ended;
use crate::progress::Next;
use crate::thread::{Action, Pending};
use wakeplace_policy_sys::{PlaceKind, Request, Waker};
use wakeplace_workload::Event;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// No time passes: the next step follows.
    Go,
    /// The CPU knows what it does next; the task goes on another time.
    Held,
}

impl<O: Observer> Sim<'_, O> {
    /// Takes script steps until one needs time.
    pub(super) fn continue_script(&mut self, cpu: CpuId, task: TaskId) {
        if self.threads.is_parent(task) {
            return self.parent_goes_on(cpu);
        }
        if self.threads.is_shell(task) {
            return self.shell_goes_on(cpu);
        }
        if let Some(index) = self.threads.kthread_index(task) {
            return self.kthread_goes_on(cpu, task, index);
        }
        if !self.threads[task].started && self.start_line(cpu, task) == Flow::Held {
            return;
        }
        if self.go_on(cpu, task) == Flow::Held {
            return;
        }
        if self.threads[task].ends {
            return self.exit(cpu, task);
        }
        loop {
            if self.threads[task].progress.take_last() {
                let number = self.threads.shown(task);
                let pass = &self.threads[task].pass;
                self.told.observer.iteration(self.clock.now, number, pass);
            }
            let next = self.threads.step(task, self.clock.now);
            let flow = match next {
                Next::Step(event) => self.carry_out(cpu, task, event),
                Next::Enter => self.enter_phase(cpu, task),
                Next::Exit => return self.exit(cpu, task),
                Next::Stuck => {
                    let task = self.threads.shown(task);
                    self.ended = Some(Ended::ZeroTimeLoop { task });
                    return;
                }
            };
            if flow == Flow::Held {
                return;
            }
        }
    }

    /// What was under way when the task's action or sleep began.
    pub(super) fn go_on(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        let now = self.clock.now;
        let thread = &mut self.threads[task];
        match std::mem::take(&mut thread.pending) {
            Pending::Nothing => {}
            Pending::Ran { since_ns } => thread.pass.run_ns += now - since_ns,
            Pending::Expired {
                timer,
                due_ns,
                period_ns,
            } => {
                thread.pass.wake_latency_ns += now - due_ns;
                self.program.timers[timer as usize].taken(now, period_ns);
            }
            Pending::Post(post) => return self.post(cpu, task, post),
            Pending::Retry(post) => return self.begin_post(cpu, task, post),
            Pending::Taken { channel } => return self.let_givers_go_on(cpu, task, channel),
            Pending::Wake { then, paid } => return self.go_on_waking(cpu, task, then, paid),
            Pending::Lock { mutex } => return self.lock_again(cpu, task, mutex),
            Pending::Signalled { mutex } => return self.relock(cpu, task, mutex),
            Pending::Fork { script } => return self.fork_thread(cpu, task, script),
            Pending::Begin => return self.begin(cpu, task),
        }
        Flow::Go
    }

    fn carry_out(&mut self, cpu: CpuId, task: TaskId, event: Event) -> Flow {
        match event {
            Event::Run { work_ns } => {
                self.threads[task].pass.work_ns += work_ns;
                match work_ns.saturating_mul(self.program.work_per_ns) {
                    0 => Flow::Go,
                    work => self.run_for(cpu, task, Action::Work(work)),
                }
            }
            Event::Runtime { wall_ns } => {
                let until = self.clock.now.saturating_add(wall_ns);
                self.run_for(cpu, task, Action::Until(until))
            }
            Event::Stall { cpu_ns } => match self.stall_ns(cpu, task, cpu_ns) {
                0 => Flow::Go,
                ns => self.run_for(cpu, task, Action::Stall(ns)),
            },
            Event::Sleep { duration_ns } => self.sleep_for(cpu, task, duration_ns, false),
            Event::Io { duration_ns } => self.sleep_for(cpu, task, duration_ns, true),
            Event::Timer { timer, period_ns } => self.await_timer(cpu, task, timer, period_ns),
            Event::Yield => {
                if !self.yield_to_others(task, cpu) {
                    return Flow::Go;
                }
                self.threads[task].action = Some(Action::Work(0));
                self.cpus[cpu].leaves_as = Some(Stop::Yields);
                self.schedule(cpu);
                self.cpus[cpu].leaves_as = None;
                Flow::Held
            }
            Event::Fork { task: script } => self.begin_fork(cpu, task, script),
            Event::Exec => self.exec(cpu, task),
            Event::Post { .. }
            | Event::Wait { .. }
            | Event::Lock { .. }
            | Event::Unlock { .. }
            | Event::Signal { .. }
            | Event::Await { .. }
            | Event::Barrier { .. } => self.share(cpu, task, event),
            Event::Claim { .. }
            | Event::ExitAfter { .. }
            | Event::Mark
            | Event::Sample { .. }
            | Event::Count { .. } => self.measure(cpu, task, event),
        }
    }

    /// A step that has to do with other tasks.
    fn share(&mut self, cpu: CpuId, task: TaskId, event: Event) -> Flow {
        match event {
            Event::Post { channel, sync } => {
                self.begin_post(cpu, task, crate::thread::Post { channel, sync })
            }
            Event::Wait { channel } => self.take_unit(cpu, task, channel),
            Event::Lock { mutex, pick } => {
                let mutex = self.picked(cpu, task, mutex, pick, true);
                self.lock(cpu, task, mutex)
            }
            Event::Unlock { mutex, pick } => {
                let mutex = self.picked(cpu, task, mutex, pick, false);
                self.unlock(cpu, task, mutex, crate::thread::Then::Step)
            }
            Event::Signal { condition, all } => self.signal(cpu, task, condition, all),
            Event::Await { condition, mutex } => self.begin_await(cpu, task, condition, mutex),
            Event::Barrier { barrier } => self.meet(cpu, task, barrier),
            _ => unreachable!("`carry_out` hands over no other"),
        }
    }

    fn run_for(&mut self, cpu: CpuId, task: TaskId, action: Action) -> Flow {
        let thread = &mut self.threads[task];
        thread.pending = Pending::Ran {
            since_ns: self.clock.now,
        };
        thread.action = Some(action);
        self.resume(cpu);
        Flow::Held
    }

    /// How long a wait for memory takes on `cpu`: by the distance to the nearest of the nodes that
    /// have it (10 = local).
    fn stall_ns(&self, cpu: CpuId, task: TaskId, cpu_ns: u64) -> u64 {
        let thread = &self.threads[task];
        let script = &self.threads.scripts[thread.script as usize];
        let phase = &script.phases[thread.pass.phase as usize];
        let Some(nodes) = &phase.memory_nodes else {
            return cpu_ns;
        };
        let here = self.machine.node_of[cpu.index()] as usize;
        let Some(distances) = self.machine.distance.get(here) else {
            return cpu_ns;
        };
        let nearest = nodes.iter().map(|node| distances[*node as usize]).min();
        nearest.map_or(cpu_ns, |distance| cpu_ns.saturating_mul(distance) / 10)
    }

    fn sleep_for(&mut self, cpu: CpuId, task: TaskId, duration_ns: u64, io: bool) -> Flow {
        let due = self.clock.now.saturating_add(duration_ns);
        let thread = &mut self.threads[task];
        thread.stamp_ns = due;
        if duration_ns == 0 {
            return Flow::Go;
        }
        thread.in_io = io;
        self.block(cpu, task, Some(due));
        Flow::Held
    }

    fn await_timer(&mut self, cpu: CpuId, task: TaskId, timer: u32, period_ns: u64) -> Flow {
        let zero = self.program.t_zero_ns.unwrap_or(0);
        let thread = &mut self.threads[task];
        let timer = (self.program.private).resolve(timer, thread.script, thread.timer_base);
        let used = self.program.timers[timer as usize].advance(self.clock.now, zero, period_ns);
        let due_ns = used.due_ns;
        let slack = due_ns.cast_signed() - self.clock.now.cast_signed();
        thread.stamp_ns = due_ns;
        thread.pass.slack_ns = slack;
        thread.pass.slack_sum_ns += slack;
        let number = self.threads.shown(task);
        self.told
            .observer
            .timer_slack(self.clock.now, number, slack);
        if !used.ahead {
            return Flow::Go;
        }
        self.threads[task].pending = Pending::Expired {
            timer,
            due_ns,
            period_ns,
        };
        self.block(cpu, task, Some(due_ns));
        Flow::Held
    }

    /// The task goes on running, unless its last step made somebody else due.
    pub(super) fn resume(&mut self, cpu: CpuId) {
        if self.cpus[cpu].reschedule {
            self.schedule(cpu);
        } else {
            self.program(cpu);
        }
    }

    /// A repetition of a phase begins: what it changes, and the affinity.
    fn enter_phase(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        if !self.threads.begin_pass(task, self.clock.now) {
            return Flow::Go;
        }
        let scripts = self.threads.scripts;
        let thread = &self.threads[task];
        let script = &scripts[thread.script as usize];
        let phase = thread.progress.phase(script);
        let mut off = self.change_attributes(cpu, task, &phase.change);
        if script.phases.iter().any(|p| p.cpus.is_some()) {
            let allowed = phase.cpus.as_deref().or(script.cpus.as_deref());
            let record = &mut self.tasks[task];
            record.set_allowed(allowed, self.machine.nr_cpus);
            self.allow_ext(task);
            let here = self.cpu_of(task);
            if !self.tasks[task].may_use(here.0) {
                let to = CpuId(self.core.first_allowed(&self.tasks[task], cpu.0));
                self.threads[task].action = Some(Action::Work(0));
                self.move_task(task, to, MigrateCause::Affinity);
                self.wakeup_preempt(task, to, cpu);
                off = true;
            }
        }
        if !off {
            return Flow::Go;
        }
        self.threads[task].action = Some(Action::Work(0));
        self.schedule_changed(cpu, task);
        Flow::Held
    }

    /// The kernel places a task that runs another program anew. It asks no class but the fair one,
    /// and no sched_ext scheduler.
    pub(super) fn exec(&mut self, cpu: CpuId, task: TaskId) -> Flow {
        if !self.home.places_on_exec() || self.classes.is_class(task) {
            return Flow::Go;
        }
        self.account(cpu);
        let ask = Request {
            now_ns: self.clock.now,
            kind: PlaceKind::Exec,
            this_cpu: cpu.0,
            prev_cpu: cpu.0,
            sync: false,
            waker: Waker::Idle, // nobody wakes it
            waker_load: self.waker_load(task),
        };
        let choice = self.answer(task, &ask);
        self.note_choice(task, Some(task), &ask, choice, PlacementKind::Exec);
        if choice.cpu == cpu.0 {
            return Flow::Go;
        }
        self.threads[task].action = Some(Action::Work(0));
        self.move_task(task, CpuId(choice.cpu), MigrateCause::Exec);
        self.wakeup_preempt(task, CpuId(choice.cpu), cpu);
        self.schedule(cpu);
        Flow::Held
    }
}
