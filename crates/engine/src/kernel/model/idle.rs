//! CPUs without a task: which idle state they enter, and what is done as they leave it. Which state
//! it enters is the governor's (`cpuidle`). See docs/guide/model.md, "Idle".
//!
//! What must stay: the governor is asked once per idle time and told once how it ended. Times are
//! ns. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `exit_latency_shows_in_wake_latency`, `a_wakeup_during_entry_waits_for_its_end`
//! (leaving), `a_polling_cpu_chooses_again` (polling), `no_driver_does_not_poll` (no governor),
//! `other_interrupts_neither_stop_nor_start_it` (tick). By function:
//! `exit_latency_shows_in_wake_latency` (`after_work`, `finished`, `go_idle`, `leave_idle_state`,
//! `leave_idle`), `a_wakeup_during_entry_waits_for_its_end` (`leaves_idle`),
//! `a_polling_cpu_chooses_again` (`arm_poll_end`, `poll_end`), `no_driver_does_not_poll` and
//! `without_a_tick_a_wrong_prediction_is_dropped` (`choose_idle`), `no_governor_foresees_a_device`
//! (`left_idle`). `utilized` has no test of its own.
//!
//! Callers: interface.rs (`go_idle`, `poll_end`), run.rs (`after_work`, `leave_idle`), hotplug.rs
//! (`after_work`), wake.rs (`after_work`).
//!
//! Tests: crates/engine/tests/behaviour/idle.rs

use super::Model;
use super::cpu::Message;
use super::cpuidle::{IdleChoice, Sleep, Slept, UTIL_THRESHOLD_SHIFT, poll_limit_ns};
use super::event::Event;
use super::home::Home;
use crate::ids::CpuId;
use crate::machine::CpuIdleState;
use crate::mechanics::{Leaving, Mechanics, Mode};
use crate::observe::Observer;

/// "No timer": far enough for every residency, near enough for sums (an hour).
const NO_TIMER_NS: u64 = 3_600_000_000_000;

impl Model<'_> {
    /// A CPU has nothing to run: it finishes its kernel work, then goes idle.
    pub(super) fn after_work<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let was_running = m.mode(cpu) == Mode::Running;
        if was_running {
            self.ext_idle(m, cpu, true);
        }
        let done = m.finish_work(cpu);
        if was_running {
            self.core.enter_idle(cpu.0, m.now());
        }
        if done {
            self.go_idle(m, cpu);
        }
    }

    /// The kernel work is done. A task that was queued meanwhile does not wait for its interrupt.
    pub(super) fn finished<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // once it has its line
        }
        if self.has_work(cpu) {
            self.schedule_cpu(m, cpu);
        } else {
            self.go_idle(m, cpu);
        }
    }

    /// Chooses an idle state and has the CPU enter it.
    pub(super) fn go_idle<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let online = m.is_online(cpu);
        let choice = self.choose_idle(cpu, m.now(), online);
        let state = self.machine.idle[cpu.index()][choice.state];
        let latency_us = (state.wake_latency_ns / 1000) as u32;
        self.core.set_exit_latency_us(cpu.0, Some(latency_us));
        self.cpus[cpu].tick_stopped = choice.stop_tick;
        m.enter_idle(self, cpu, choice.state);
        if state.polling {
            self.arm_poll_end(m, cpu);
        }
        match choice.stop_tick {
            true if !self.home.nohz() || !online => {}
            true => self.core.nohz_enter(cpu.0),
            false => self.arm_tick(m, cpu),
        }
    }

    /// The governor's choice for an idle time that begins; without one the first state.
    #[inline]
    fn choose_idle(&mut self, cpu: CpuId, now: u64, online: bool) -> IdleChoice {
        let tick = self.machine.tick_ns;
        let has_idle_timer = self.home.has_idle_timer() && cpu == self.idle_timer.cpu;
        let to_idle_timer = self.idle_timer.at_ns.saturating_sub(now);
        let utilized = self.ticks.cpuidle.asks_utilization() && self.utilized(cpu);
        let c = &mut self.cpus[cpu];
        let mut to_timer = c.next_timer_ns(now).map_or(NO_TIMER_NS, |at| at - now);
        if has_idle_timer {
            to_timer = to_timer.min(to_idle_timer);
        }
        let got_tick = std::mem::take(&mut c.got_tick);
        let to_tick = (!c.tick_stopped).then_some(tick - now % tick);
        let states = &self.machine.idle[cpu.index()];
        let sleep = Sleep {
            states,
            to_timer_ns: to_timer,
            to_tick_ns: to_tick,
            tick_ns: tick,
            utilized,
        };
        let chosen = c.governor.select(&sleep);
        let mut choice = chosen.unwrap_or_else(|| IdleChoice {
            // What a kernel without a driver knows to do: its polling is the driver's.
            state: CpuIdleState::first_halt(states),
            stop_tick: got_tick || !self.ticks.keeps_first,
        });
        choice.stop_tick |= c.tick_stopped; // once stopped it stays so until work comes
        if !online {
            choice.state = states.len() - 1; // switched off
            choice.stop_tick = true;
        }
        choice
    }

    /// Is more in use of the CPU than teo of 6.10 calls noise?
    fn utilized(&self, cpu: CpuId) -> bool {
        let capacity = self.core.cpu(cpu.0).load.capacity_orig;
        self.core.sched_cpu_util(cpu.0) > capacity >> UTIL_THRESHOLD_SHIFT
    }

    /// An interrupt reaches an idle CPU at `at`.
    #[inline]
    pub(super) fn leave_idle_state<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        at: u64,
    ) {
        let leaving = m.leave_idle_state(cpu, at);
        self.leaves_idle(m, cpu, leaving);
    }

    /// A polling CPU asks its governor again after a while.
    fn arm_poll_end<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let limit = poll_limit_ns(&self.machine.idle[cpu.index()], self.machine.tick_ns);
        let c = &mut self.cpus[cpu];
        c.polls = c.polls.wrapping_add(1);
        let poll = c.polls;
        m.push(m.now() + limit, Event::PollEnd { cpu, poll });
    }

    /// It has polled for that long, unless something ended it.
    pub(super) fn poll_end<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        poll: u32,
    ) {
        let same = self.cpus[cpu].polls == poll;
        if !same || m.mode(cpu) != Mode::Idle || !m.idle_state(cpu).polling {
            return m.idle_event();
        }
        let leaving = m.leave_idle_state(cpu, m.now());
        self.left_idle(m, cpu, leaving, true);
    }

    /// An idle CPU leaves its state.
    #[inline]
    pub(super) fn leaves_idle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        leaving: Leaving,
    ) {
        self.left_idle(m, cpu, leaving, false);
    }

    /// Tells the governor how long the CPU was idle and what ended it.
    fn left_idle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        leaving: Leaving,
        by_poll_limit: bool,
    ) {
        let c = &mut self.cpus[cpu];
        let slept = Slept {
            idle_ns: leaving.idle_ns,
            wake_latency_ns: leaving.wake_latency_ns,
            by_tick: c.inbox == [Message::Tick],
            by_poll_limit,
            tick_ns: self.machine.tick_ns,
        };
        c.governor.reflect(&self.machine.idle[cpu.index()], &slept);
        self.core.set_exit_latency_us(cpu.0, None);
        if leaving.ready_ns == m.now() {
            m.awake(self, cpu);
            self.take_inbox(m, cpu);
        }
    }

    /// A task takes over from the idle task.
    pub(super) fn leave_idle<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if !m.take_cpu(cpu) {
            return;
        }
        self.ext_idle(m, cpu, false);
        self.core.exit_idle(cpu.0, m.now());
        self.cpus[cpu].tick_stopped = false;
        self.cpus[cpu].got_tick = false;
        if self.home.nohz() {
            self.core.nohz_exit(cpu.0);
        }
        self.arm_tick(m, cpu);
    }
}
