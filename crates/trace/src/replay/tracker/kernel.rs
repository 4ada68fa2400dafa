//! What CPUs do besides tasks: timers, interrupts' work, idle states, frequencies, moves. What is
//! the kernel's time must not become a task's work: the simulator adds its own
//! (docs/guide/traces-in.md, "What becomes of it").
//!
//! What must stay: the kernel's time is no task's work, and what is taken off is what the simulator
//! adds again by the run's platform, so that the sum is what was recorded. Times are ns. Free: what
//! leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon` (`timer_start`,
//! `timer_expire`, `due`), `moves_cost_also_without_a_run_between` (`moved`),
//! `work_is_scaled_by_capacity_and_frequency` (`frequency`), `tasks_by_timers_come_back`
//! (`softirq`, `kernel_charge`, `kernel_work`, `late_by`, `idle`, `is_down`), the first also
//! `timer`.
//!
//! Callers: replay/tracker.rs (`timer_expire`, `softirq`, `kernel_charge`, `due`).
//!
//! Tests: crates/trace/tests/all/replay/exported.rs, crates/trace/tests/all/replay/mod.rs

use super::{Current, JUST_LEFT_NS, Tracker};
use crate::event::{IDLE_EXIT, SOFTIRQ_HRTIMER, SOFTIRQ_SCHED, SOFTIRQ_TIMER, Who};

/// Timers that are remembered; those that were cancelled are among them.
const MAX_TIMERS: usize = 1 << 16;
/// A timer's interrupt takes no longer, ns: its end was lost, or is not recorded.
const TIMER_RUNS_NS: u64 = 100_000;

impl Tracker {
    /// A timer is armed in a task's context.
    pub(super) fn timer_start(&mut self, now: u64, by: i32, timer: u64, expires_ns: u64) {
        if self.timers.len() >= MAX_TIMERS {
            self.timers.clear();
        }
        self.timers.insert(timer, expires_ns);
        // Who made tasks without ever being seen to run, and now starts them.
        if self.maker == Some(by) && !self.by_pid.contains_key(&by) {
            self.all_made_ns = Some(now);
            self.maker = None;
        }
    }

    /// A timer's interrupt has come.
    pub(super) fn timer_expire(&mut self, now: u64, cpu: usize, timer: u64, now_ns: u64) {
        let due = self.timers.remove(&timer);
        let late = due.map(|due| now_ns.saturating_sub(due));
        self.cpus[cpu].timer = Some((now, late));
    }

    /// A task goes to another CPU; it may go on to a third one before it runs. Recordings without
    /// this event show only where it runs.
    pub(super) fn moved(&mut self, who: &Who<'_>, from: u32, to: u32) -> Result<(), String> {
        let (from, to) = (self.cpu(from)?, self.cpu(to)?);
        let cost = self.machine.move_cost(from, to);
        if let Some(task) = self.by_pid.get(&who.pid) {
            let own = &mut self.tasks[*task as usize];
            own.overhead += cost;
            own.last_cpu = Some(to as u32);
        }
        Ok(())
    }

    /// What of a wake-up's work on an idle CPU the task that runs now still pays for.
    pub(super) fn kernel_work(&mut self, cpu: usize, now: u64) -> u64 {
        let speed = self.speed(cpu);
        let (work, since) = std::mem::take(&mut self.cpus[cpu].kernel);
        work.saturating_sub((now - since).saturating_mul(speed))
    }

    /// Kernel work that belongs to no task: the simulator adds it again. A busy CPU's ticks are
    /// counted by their period, with the balancing that follows them.
    pub(super) fn softirq(&mut self, now: u64, cpu: usize, vec: u32) {
        let busy = matches!(self.cpus[cpu].current, Current::Task(_));
        let of_tick = self.cpus[cpu].ticked_ns;
        let of_tick = of_tick.is_some_and(|ticked| now - ticked <= JUST_LEFT_NS);
        match vec {
            SOFTIRQ_TIMER => self.cpus[cpu].ticked_ns = Some(now),
            SOFTIRQ_SCHED | SOFTIRQ_HRTIMER => {}
            _ => return,
        }
        if !(vec == SOFTIRQ_TIMER && busy || vec == SOFTIRQ_SCHED && of_tick) {
            self.kernel_charge(now, cpu, self.costs().tick);
        }
    }

    /// The kernel works on a CPU: in the time of the task there, or in its own.
    pub(super) fn kernel_charge(&mut self, now: u64, cpu: usize, work: u64) {
        self.account(cpu, now);
        match self.cpus[cpu].current {
            Current::Task(running) => self.tasks[running as usize].overhead += work,
            _ => {
                let left = self.kernel_work(cpu, now);
                self.cpus[cpu].kernel = (left + work, now);
            }
        }
    }

    /// The timer whose interrupt the CPU takes now.
    pub(super) fn timer(&self, now: u64, cpu: usize) -> Option<(u64, Option<u64>)> {
        self.cpus[cpu]
            .timer
            .filter(|(came, _)| now - came <= TIMER_RUNS_NS)
    }

    /// For when a wake-up that came from outside was meant.
    pub(super) fn due(&mut self, now: u64, cpu: usize) -> u64 {
        if let Some((came, Some(late))) = self.timer(now, cpu) {
            return came.saturating_sub(late);
        }
        let mut due = now.saturating_sub(self.late_by(now, cpu));
        // Those of one instant keep their order.
        if let Some((_, last)) = self.cpus[cpu].outside.filter(|(at, _)| *at == now) {
            due = due.max(last + 1);
        }
        self.cpus[cpu].outside = Some((now, due));
        due
    }

    /// How long after its cause a wake-up came, because its CPU left an idle state for it.
    pub(super) fn late_by(&self, now: u64, cpu: usize) -> u64 {
        // Of one instant the way out of the state may stand behind what it was left for.
        if let Some(state) = self.cpus[cpu].idle_state {
            return self
                .machine
                .exit_ns(cpu, state, self.is_down(now, cpu, state));
        }
        match self.cpus[cpu].left_idle {
            Some((left_ns, took_ns)) if now - left_ns <= JUST_LEFT_NS => took_ns,
            _ => 0,
        }
    }

    /// A CPU enters or leaves an idle state.
    pub(super) fn idle(&mut self, now: u64, cpu: u32, state: u32) -> Result<(), String> {
        let cpu = self.cpu(cpu)?;
        if state == IDLE_EXIT
            && let Some(left) = self.cpus[cpu].idle_state
        {
            let took_ns = self
                .machine
                .exit_ns(cpu, left, self.is_down(now, cpu, left));
            self.cpus[cpu].left_idle = Some((now, took_ns));
        }
        self.account(cpu, now);
        let own = &mut self.cpus[cpu];
        own.idle_shown = true;
        own.idle_state = Some(state).filter(|state| *state != IDLE_EXIT);
        own.idle_since_ns = now;
        if own.current == Current::Unknown {
            own.current = Current::Idle;
        }
        Ok(())
    }

    /// All CPUs of the cluster were in a state of it when this one began to leave its own, at the
    /// latest: so long ago as that takes while the cluster is up.
    pub(super) fn is_down(&self, now: u64, cpu: usize, state: u32) -> bool {
        let began = now.saturating_sub(self.machine.exit_ns(cpu, state, false));
        let asleep = |other: usize| {
            let own = &self.cpus[other];
            let of_cluster = |state| self.machine.is_of_cluster(other, state);
            own.idle_state.is_some_and(of_cluster) && own.idle_since_ns <= began
        };
        let mut others = 0..self.cpus.len();
        others.all(|other| !self.machine.same_cluster(cpu, other) || asleep(other))
    }

    /// The CPU's clock from now on, kHz; 0: it is not known.
    pub(super) fn frequency(&mut self, now: u64, cpu: u32, khz: u32) -> Result<(), String> {
        let cpu = self.cpu(cpu)?;
        self.account(cpu, now);
        self.cpus[cpu].khz = Some(u64::from(khz)).filter(|khz| *khz > 0);
        Ok(())
    }
}
