//! What the running task does next: the steps of its script, carried out until one takes time
//! (docs/decisions/022).
//!
//! What must stay: what a step means is docs/guide/rt-app.md. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part: arithmetic.rs
//! (`timers_keep_or_rebase_their_grid`, `sleeps_and_delays_end_on_time`, `runtime_is_wall_time`,
//! `nice_of_a_phase_changes_the_share`), measures.rs::`stalls_take_time_not_work`,
//! forking.rs::`exec_moves_the_running_task`, outcomes.rs::`zero_time_loops_name_the_task`. By
//! function: every run (`continue_script`, `carry_out`, `run_for`, `go_on`, `resume`),
//! `sleeps_and_delays_end_on_time` (`sleep_for`, `block`), `timers_keep_or_rebase_their_grid`
//! (`await_timer`), `nice_of_a_phase_changes_the_share` (`enter_phase`),
//! `stalls_take_time_not_work` (`stall_ns`), `exec_moves_the_running_task` (`exec`),
//! programs.rs::`an_end_is_told_and_time_counts_from_the_own_start` (`exit`),
//! kthreads.rs::`a_periodic_thread_takes_its_time` (`hidden_goes_on`),
//! storm.rs::`random_steps_obey_the_rules` (`share`).
//!
//! Callers: mechanics/work.rs (`continue_script`), start.rs, kernel/model/kthreads.rs and 2 more
//! (`resume`).
//!
//! Tests: crates/engine/tests/behaviour/storm.rs, crates/engine/tests/behaviour/arithmetic.rs,
//! crates/engine/tests/behaviour/outcomes.rs

use super::progress::Next;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::mechanics::thread::{Action, Pending, Post, Then};
use crate::observe::{Happening, Observer, Stop};
use crate::outcome::Ended;
use wakeplace_workload::Event;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// No time passes: the next step follows.
    Go,
    /// The CPU knows what it does next; the task goes on another time.
    Held,
}

impl<O: Observer> Mechanics<'_, O> {
    /// Takes script steps until one needs time.
    pub(in crate::mechanics) fn continue_script<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
    ) {
        if !self.threads.visible(task) {
            return self.hidden_goes_on(k, cpu, task);
        }
        let thread = &self.threads[task];
        let (started, ends) = (thread.started, thread.ends);
        if !started && self.start_line(k, cpu, task) == Flow::Held {
            return;
        }
        if self.go_on(k, cpu, task) == Flow::Held {
            return;
        }
        if ends {
            return self.exit(k, cpu, task);
        }
        loop {
            if self.threads[task].progress.take_last() {
                self.tell(Happening::Iteration {
                    task: self.threads.shown(task),
                    iteration: self.threads[task].pass,
                });
            }
            let next = self.threads.step(task, self.clock.now);
            let flow = match next {
                Next::Step(event) => self.carry_out(k, cpu, task, event),
                Next::Enter => self.enter_phase(k, cpu, task),
                Next::Exit => return self.exit(k, cpu, task),
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

    /// A thread that has no script has done what it had to do.
    fn hidden_goes_on<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) {
        match self.threads.kthread_index(task) {
            Some(index) => k.thread_goes_on(self, cpu, task, index),
            None if self.threads.is_shell(task) => self.shell_goes_on(k, cpu),
            None => self.parent_goes_on(k, cpu),
        }
    }

    /// Goes on with what was under way when the task's action or sleep began.
    pub(super) fn go_on<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
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
            Pending::Give(post) => return self.give_unit(k, cpu, task, post),
            Pending::Take { channel } => return self.take_fetched(k, cpu, task, channel),
            Pending::Post(post) => return self.post(k, cpu, task, post),
            Pending::Retry(post) => return self.begin_post(k, cpu, task, post),
            Pending::Taken { channel } => return self.let_givers_go_on(k, cpu, task, channel),
            Pending::Wake { then, paid } => return self.go_on_waking(k, cpu, task, then, paid),
            Pending::Lock { mutex } => return self.lock_again(k, cpu, task, mutex),
            Pending::Signalled { mutex } => return self.relock(k, cpu, task, mutex),
            Pending::Fork { script } => return self.fork_thread(k, cpu, task, script),
            Pending::Begin => return self.begin(k, cpu, task),
        }
        Flow::Go
    }

    /// Does one step; `Flow` says whether the task goes on at once, runs, sleeps or is gone.
    fn carry_out<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, event: Event) -> Flow {
        match event {
            Event::Run { work_ns } => {
                self.threads[task].pass.work_ns += work_ns;
                match work_ns.saturating_mul(self.program.work_per_ns) {
                    0 => Flow::Go,
                    work => self.run_for(k, cpu, task, Action::Work(work)),
                }
            }
            Event::Runtime { wall_ns } => {
                let until = self.clock.now.saturating_add(wall_ns);
                self.run_for(k, cpu, task, Action::Until(until))
            }
            Event::Stall { cpu_ns } => {
                let found_ns = self.access_ns(cpu, task, cpu_ns);
                match self.stall_ns(cpu, task, found_ns) {
                    0 => Flow::Go,
                    ns => self.run_for(k, cpu, task, Action::Stall(ns)),
                }
            }
            Event::Sleep { duration_ns } => self.sleep_for(k, cpu, task, duration_ns, false),
            Event::Io { duration_ns } => self.sleep_for(k, cpu, task, duration_ns, true),
            Event::Timer { timer, period_ns } => self.await_timer(k, cpu, task, timer, period_ns),
            Event::Yield => {
                if !k.yields(self, cpu, task) {
                    return Flow::Go;
                }
                self.threads[task].action = Some(Action::Work(0));
                self.cpus[cpu].leaves_as = Some(Stop::Yields);
                k.schedule(self, cpu, None);
                self.cpus[cpu].leaves_as = None;
                Flow::Held
            }
            Event::Fork { task: script } => self.begin_fork(k, cpu, task, script),
            Event::Exec => self.exec(k, cpu, task),
            Event::Post { .. }
            | Event::Wait { .. }
            | Event::Lock { .. }
            | Event::Unlock { .. }
            | Event::Signal { .. }
            | Event::Await { .. }
            | Event::Barrier { .. } => self.share(k, cpu, task, event),
            Event::Claim { .. }
            | Event::ExitAfter { .. }
            | Event::Mark
            | Event::Sample { .. }
            | Event::FrameBegin { .. }
            | Event::FrameEnd { .. }
            | Event::Count { .. } => self.measure(k, cpu, task, event),
        }
    }

    /// A step that has to do with other tasks.
    fn share<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, event: Event) -> Flow {
        match event {
            Event::Post { channel, sync } => self.begin_post(k, cpu, task, Post { channel, sync }),
            Event::Wait { channel } => self.take_unit(k, cpu, task, channel),
            Event::Lock { mutex, pick } => {
                let mutex = self.picked(cpu, task, mutex, pick, true);
                self.lock(k, cpu, task, mutex)
            }
            Event::Unlock { mutex, pick } => {
                let mutex = self.picked(cpu, task, mutex, pick, false);
                self.unlock(k, cpu, task, mutex, Then::Step)
            }
            Event::Signal { condition, all } => self.signal(k, cpu, task, condition, all),
            Event::Await { condition, mutex } => self.begin_await(k, cpu, task, condition, mutex),
            Event::Barrier { barrier } => self.meet(k, cpu, task, barrier),
            _ => unreachable!("`carry_out` hands over no other"),
        }
    }

    /// Lets the task execute until this is done.
    fn run_for<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, action: Action) -> Flow {
        let thread = &mut self.threads[task];
        thread.worked_for = u64::MAX;
        thread.pending = Pending::Ran {
            since_ns: self.clock.now,
        };
        thread.action = Some(action);
        self.resume(k, cpu);
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

    /// Puts the task to sleep for a time; `io`: it waits for a device.
    fn sleep_for<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        duration_ns: u64,
        io: bool,
    ) -> Flow {
        let due = self.clock.now.saturating_add(duration_ns);
        let thread = &mut self.threads[task];
        thread.stamp_ns = due;
        if !io {
            thread.frame_due_ns = Some(due);
            thread.rested_ns = thread.rested_ns.saturating_add(duration_ns);
            (thread.rest_ns, thread.rest_end_ns) = (duration_ns, due);
        }
        if duration_ns == 0 {
            return Flow::Go;
        }
        thread.in_io = io;
        self.block(k, cpu, task, Some(due));
        Flow::Held
    }

    /// Lets the task wait for the next expiry of a timer, or is late and goes on.
    fn await_timer<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        timer: u32,
        period_ns: u64,
    ) -> Flow {
        let zero = self.program.t_zero_ns.unwrap_or(0);
        let thread = &mut self.threads[task];
        let timer = (self.program.private).resolve(timer, thread.script, thread.timer_base);
        let used = self.program.timers[timer as usize].advance(self.clock.now, zero, period_ns);
        let due_ns = used.due_ns;
        let slack = due_ns.cast_signed() - self.clock.now.cast_signed();
        thread.stamp_ns = due_ns;
        thread.pass.slack_ns = slack;
        thread.pass.slack_sum_ns += slack;
        let rested_ns = std::mem::take(&mut thread.rested_ns);
        if !used.ahead && rested_ns >= period_ns {
            // Late since it has slept for a whole period: a rest, and no period. The frame after it
            // was due when the rest ended, and that was due once. A timer that catches up comes to
            // one event for each period of the rest.
            thread.rested_ns = u64::from(used.catches_up) * (rested_ns - period_ns);
        } else {
            thread.frame_due_ns = Some(due_ns);
            self.tell(Happening::TimerSlack {
                task: self.threads.shown(task),
                slack_ns: slack,
            });
        }
        if !used.ahead {
            return Flow::Go;
        }
        self.sleeps_by_timer(task, due_ns);
        self.threads[task].pending = Pending::Expired {
            timer,
            due_ns,
            period_ns,
        };
        self.block(k, cpu, task, Some(due_ns));
        Flow::Held
    }

    /// Lets the task go on running, unless its last step made somebody else due.
    pub(crate) fn resume<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        if k.wants_cpu(cpu) {
            k.schedule(self, cpu, None);
        } else {
            self.program(k, cpu);
        }
    }

    /// Begins a repetition of a phase: what it changes, and the affinity.
    fn enter_phase<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
        if !self.threads.begin_pass(task, self.clock.now) {
            return Flow::Go;
        }
        let scripts = self.threads.scripts;
        let thread = &self.threads[task];
        let script = &scripts[thread.script as usize];
        let phase = thread.progress.phase(script);
        let pins = script.phases.iter().any(|p| p.cpus.is_some());
        let allowed = pins.then(|| phase.cpus.as_deref().or(script.cpus.as_deref()));
        if !k.change(self, cpu, task, &phase.change, allowed) {
            return Flow::Go;
        }
        self.threads[task].action = Some(Action::Work(0));
        k.schedule(self, cpu, Some(task));
        Flow::Held
    }

    /// Lets the kernel place a task anew that runs another program.
    pub(super) fn exec<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> Flow {
        if !k.exec(self, cpu, task) {
            return Flow::Go;
        }
        self.threads[task].action = Some(Action::Work(0));
        k.schedule(self, cpu, None);
        Flow::Held
    }

    /// Puts the running task to sleep; `due`: until then, else until somebody else wakes it.
    pub(in crate::mechanics) fn block<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        due: Option<u64>,
    ) {
        self.threads[task].totals.activations += 1;
        k.sleep(self, cpu, task, due);
    }

    /// Ends the running task; before that it tells whoever waits for its end.
    pub(super) fn exit<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) {
        let thread = &mut self.threads[task];
        let told = std::mem::replace(&mut thread.ends, true);
        let script = &self.threads.scripts[thread.script as usize];
        if let (false, Some(channel)) = (told, script.ended) {
            let end = Post {
                channel,
                sync: true,
            };
            if self.begin_post(k, cpu, task, end) == Flow::Held {
                return;
            }
        }
        self.cpus[cpu].leaves_as = Some(Stop::Exits);
        k.exit(self, cpu, task);
    }
}
