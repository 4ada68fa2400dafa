//! Those who watch, and what they can be shown. Observers hear of everything here, in the order in
//! which it happens (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: each thing is told once, when it happens; what observers hear goes into
//! `BehaviourHash` and traces. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `random_runs_obey_the_rules_1` (`tell`, `tell_migrate`),
//! `looking_changes_nothing` (`look`, `state_shown`), states.rs::`a_cpu_that_left_is_seen`
//! (`Seen`), explain.rs::`an_interrupt_is_told_from_a_waker` (`tell_woken`),
//! energy.rs::`the_flag_follows_an_always_running_task` (`tell_overutilized`),
//! crates/trace/tests/all/replay/exported.rs::`tasks_by_timers_come_back` (`tell_timer_armed`).
//! `power`, `opp`, `idle_name` and `next_state_ns` by states.rs; the short ones (`observer`,
//! `visible`, `shown`, `seen`) by every run. `new` and `current` by every run.
//!
//! Callers: kernel/tree/tasks.rs (`tell_woken`, `tell_timer_armed`), sim.rs (`state_shown`,
//! `tell_overutilized`), kernel/model/run.rs (`tell_timer_armed`), kernel/model/state.rs
//! (`idle_name`), kernel/model/wake.rs (`tell_woken`), kernel/tree/interrupts.rs (`tell_woken`),
//! kernel/tree/state.rs (`idle_name`), many files (`observer`, `tell_migrate`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/states.rs,
//! crates/engine/tests/behaviour/explain.rs, crates/engine/tests/behaviour/energy.rs,
//! crates/trace/tests/all/replay/exported.rs

use super::Mechanics;
use super::cpu::Cpu;
use super::threads::Threads;
use crate::ids::{CpuId, PerCpu, TaskId};
use crate::observe::{CpuPower, Happening, MigrateCause, Observer, Waking};
use wakeplace_platform::Platform;

/// The observer of a run.
pub(super) struct Told<'a, O> {
    pub(super) observer: &'a mut O,
    /// Names of the idle states, as the platform numbers them.
    idle_names: Vec<String>,
    /// When the observer wants the next view of the state, ns; `u64::MAX`: no more.
    next_state_ns: u64,
    overutilized: bool,
}

impl<'a, O: Observer> Told<'a, O> {
    /// Names of idle states are kept for those who are shown a state.
    pub(super) fn new(platform: &Platform, observer: &'a mut O) -> Self {
        let states = platform.idle_states.iter();
        Self {
            idle_names: states.map(|state| state.name.clone()).collect(),
            next_state_ns: observer.next_state_ns().unwrap_or(u64::MAX),
            overutilized: false,
            observer,
        }
    }
}

/// What there is to see of the mechanics, beside the observer that looks.
pub(crate) struct Seen<'s> {
    cpus: &'s PerCpu<Cpu>,
    opp: &'s [u16],
    pub(crate) threads: &'s Threads<'s>,
    idle_names: &'s [String],
    /// Whether some CPU is used beyond what it is good for, as last told.
    pub(crate) overutilized: bool,
}

impl Seen<'_> {
    /// What the CPU draws power for; None: it has left the machine.
    pub(crate) fn power(&self, cpu: CpuId) -> Option<CpuPower> {
        self.cpus[cpu].power
    }

    /// The task that it executes. None: it executes none.
    pub(crate) fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus[cpu].current
    }

    /// The operating point that a frequency domain is at.
    pub(crate) fn opp(&self, domain: usize) -> usize {
        self.opp[domain].into()
    }

    /// By the platform's number of the state.
    pub(crate) fn idle_name(&self, state: u16) -> String {
        self.idle_names[usize::from(state)].clone()
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// When the observer wants to see the state next, ns.
    #[inline]
    pub(crate) fn next_state_ns(&self) -> u64 {
        self.told.next_state_ns
    }

    /// It has been shown that state.
    pub(crate) fn state_shown(&mut self) {
        self.told.next_state_ns = self.told.observer.next_state_ns().unwrap_or(u64::MAX);
    }

    /// The observer, and what it can be shown.
    pub(crate) fn look(&mut self) -> (&mut O, Seen<'_>) {
        let seen = Seen {
            cpus: &self.cpus,
            opp: &self.hardware.opp,
            threads: &self.threads,
            idle_names: &self.told.idle_names,
            overutilized: self.told.overutilized,
        };
        (self.told.observer, seen)
    }

    /// Who watches.
    #[inline]
    pub(crate) fn observer(&mut self) -> &mut O {
        self.told.observer
    }

    /// Is this a thread of the workload, which observers know?
    #[inline]
    pub(crate) fn visible(&self, task: TaskId) -> bool {
        self.threads.visible(task)
    }

    /// The number by which they know it.
    #[inline]
    pub(crate) fn shown(&self, task: TaskId) -> u32 {
        self.threads.shown(task)
    }

    /// The number by which they know it, if they do.
    #[inline]
    pub(crate) fn seen(&self, task: TaskId) -> Option<u32> {
        self.visible(task).then(|| self.shown(task))
    }

    /// Something happens now. Observers' `happened` are inlined: of each match one arm is left.
    #[inline(always)]
    pub(crate) fn tell(&mut self, what: Happening) {
        self.told.observer.happened(self.clock.now, &what);
    }

    /// What runs on `cpu`, or an interrupt that it takes, wakes a task.
    #[inline]
    pub(crate) fn tell_woken(
        &mut self,
        task: TaskId,
        waker: Option<TaskId>,
        cpu: CpuId,
        sync: bool,
    ) {
        if let Some(task) = self.seen(task) {
            let waking = Waking {
                task,
                waker: waker.and_then(|waker| self.seen(waker)),
                cpu: cpu.0,
                sync,
            };
            self.tell(Happening::Woken(waking));
        }
    }

    /// A timer of `cpu` ends a task's sleep then.
    #[inline]
    pub(crate) fn tell_timer_armed(&mut self, task: TaskId, cpu: CpuId, due_ns: u64) {
        if let Some(task) = self.seen(task) {
            let cpu = cpu.0;
            self.tell(Happening::TimerArmed { task, cpu, due_ns });
        }
    }

    /// A task went from one CPU to another.
    #[inline]
    pub(crate) fn tell_migrate(&mut self, task: TaskId, from: CpuId, to: CpuId, why: MigrateCause) {
        if let Some(task) = self.seen(task) {
            self.tell(Happening::Migrate {
                task,
                from_cpu: from.0,
                to_cpu: to.0,
                cause: why,
            });
        }
    }

    /// Whether by now some CPU is used beyond what it is good for.
    #[inline]
    pub(crate) fn tell_overutilized(&mut self, on: bool) {
        if on != self.told.overutilized {
            self.told.overutilized = on;
            self.tell(Happening::Overutilized { on });
        }
    }
}
