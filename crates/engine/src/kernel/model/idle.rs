//! CPUs without a task: which idle state they enter, and what is done as they leave it.

use super::Model;
use super::cpu::Message;
use super::home::Home;
use super::menu::IdleChoice;
use crate::ids::CpuId;
use crate::mechanics::{Leaving, Mechanics, Mode};
use crate::observe::Observer;
use crate::options::CpuIdle;

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
        match choice.stop_tick {
            true if !self.home.nohz() || !online => {}
            true => self.core.nohz_enter(cpu.0),
            false => self.arm_tick(m, cpu),
        }
    }

    /// The idle governor's choice.
    #[inline]
    fn choose_idle(&mut self, cpu: CpuId, now: u64, online: bool) -> IdleChoice {
        let tick = self.machine.tick_ns;
        let has_idle_timer = self.home.has_idle_timer() && cpu == self.idle_timer.cpu;
        let to_idle_timer = self.idle_timer.at_ns.saturating_sub(now);
        let c = &mut self.cpus[cpu];
        let mut to_timer = c.next_timer_ns(now).map_or(NO_TIMER_NS, |at| at - now);
        if has_idle_timer {
            to_timer = to_timer.min(to_idle_timer);
        }
        let got_tick = std::mem::take(&mut c.got_tick);
        let to_tick = (!c.tick_stopped).then_some(tick - now % tick);
        let states = &self.machine.idle[cpu.index()];
        let mut choice = match self.ticks.cpuidle {
            CpuIdle::Menu => c.menu.select(states, to_timer, to_tick, tick),
            CpuIdle::None => IdleChoice {
                state: 0,
                stop_tick: got_tick || !self.ticks.keeps_first,
            },
        };
        choice.stop_tick |= c.tick_stopped; // once stopped it stays so until work comes
        if !online {
            choice.state = states.len() - 1; // switched off
            choice.stop_tick = true;
        }
        choice
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

    /// An idle CPU leaves its state.
    #[inline]
    pub(super) fn leaves_idle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        leaving: Leaving,
    ) {
        let c = &mut self.cpus[cpu];
        if self.ticks.cpuidle == CpuIdle::Menu {
            let by_tick = (c.inbox == [Message::Tick]).then_some(self.machine.tick_ns);
            c.menu
                .reflect(leaving.idle_ns, leaving.wake_latency_ns, by_tick);
        }
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
