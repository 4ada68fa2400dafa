//! CPUs without a task: choice of an idle state, entry, exit, clusters.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::Home;
use crate::ids::CpuId;
use crate::machine::CpuIdleState;
use crate::menu::IdleChoice;
use crate::observe::{CpuPower, Observer};
use crate::options::CpuIdle;
use crate::queue::Event;

/// "No timer": far enough for every residency, near enough for sums (an hour).
const NO_TIMER_NS: u64 = 3_600_000_000_000;

impl<O: Observer> Sim<'_, O> {
    pub(super) fn idle_state(&self, cpu: CpuId) -> CpuIdleState {
        self.machine.idle[cpu.index()][self.cpus[cpu].idle_state]
    }

    /// A CPU has nothing to run: it finishes its kernel work, then goes idle.
    pub(super) fn after_work(&mut self, cpu: CpuId) {
        if self.cpus[cpu].mode == Mode::Running {
            self.ext_idle(cpu, true);
        }
        let now = self.clock.now;
        let c = &mut self.cpus[cpu];
        let was_running = c.mode == Mode::Running;
        c.mode = Mode::Interrupted;
        c.generation += 1;
        let work = std::mem::take(&mut c.kernel_work);
        c.kernel_until_ns = c.kernel_until_ns.max(now).max(c.irq_until_ns);
        c.kernel_until_ns += work.div_ceil(c.speed) + std::mem::take(&mut c.kernel_wait_ns);
        let (until, generation) = (c.kernel_until_ns, c.generation);
        if was_running {
            self.core.enter_idle(cpu.0, now);
        }
        if until == now {
            self.go_idle(cpu);
        } else {
            self.clock.push(until, Event::IdleAgain { cpu, generation });
        }
    }

    /// The kernel work is done. A task that was queued meanwhile does not wait for its interrupt.
    pub(super) fn work_done(&mut self, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // once it has its line
        }
        if self.has_work(cpu) {
            self.schedule(cpu);
        } else {
            self.go_idle(cpu);
        }
    }

    /// Chooses an idle state and begins to enter it.
    pub(super) fn go_idle(&mut self, cpu: CpuId) {
        let tick = self.machine.tick_ns;
        let now = self.clock.now;
        let online = self.changes.is_online(cpu);
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
            choice.state = self.machine.idle[cpu.index()].len() - 1; // switched off
            choice.stop_tick = true;
        }
        let state = self.machine.idle[cpu.index()][choice.state];
        c.mode = Mode::Idle;
        c.idle_state = choice.state;
        c.idle_since_ns = now;
        c.entered_ns = now + state.entry_ns;
        c.generation += 1;
        let generation = c.generation;
        let latency_us = (state.wake_latency_ns / 1000) as u32;
        self.core.set_exit_latency_us(cpu.0, Some(latency_us));
        c.tick_stopped = choice.stop_tick;
        self.share_core(cpu);
        match choice.stop_tick {
            true if !self.home.nohz() || !online => {}
            true => self.core.nohz_enter(cpu.0),
            false => self.arm_tick(cpu),
        }
        if state.entry_ns == 0 {
            self.idle_entered(cpu);
        } else {
            self.power(cpu, CpuPower::Transition { state: state.index });
            self.clock
                .push(now + state.entry_ns, Event::IdleEntered { cpu, generation });
        }
    }

    /// Entry is complete: the CPU draws the state's power; the last of a cluster takes it down,
    /// into the shallowest state that one of its CPUs has asked for.
    pub(super) fn idle_entered(&mut self, cpu: CpuId) {
        let state = self.idle_state(cpu);
        self.power(cpu, CpuPower::Idle { state: state.index });
        if !state.cluster {
            return;
        }
        self.cpus[cpu].votes_cluster = true;
        let cluster = self.machine.cluster_of[cpu.index()];
        let cpus = &self.machine.cluster_cpus[cluster as usize];
        let asleep = &mut self.hardware.clusters[cluster as usize].asleep;
        *asleep += 1;
        if (*asleep as usize) < cpus.len() {
            return;
        }
        let shallowest = self.shallowest_idle(cpus);
        self.hardware.clusters[cluster as usize].state = shallowest;
        self.told
            .observer
            .cluster_power(self.clock.now, cluster, shallowest);
    }

    /// The shallowest of the idle states that these CPUs are in, by the platform's order; None: one
    /// of them is in none.
    pub(super) fn shallowest_idle(&self, cpus: &[CpuId]) -> Option<u16> {
        let states = cpus.iter().map(|cpu| match self.cpus[*cpu].power {
            Some(CpuPower::Idle { state }) => Some(state),
            _ => None,
        });
        states.reduce(|a, b| Some(a?.min(b?))).flatten()
    }

    /// An interrupt reaches an idle CPU at `at`: it leaves its state once it is fully in it.
    pub(super) fn leave_idle_state(&mut self, cpu: CpuId, at: u64) {
        let state = self.idle_state(cpu);
        let exit = self.exit_latency(cpu, state);
        let c = &mut self.cpus[cpu];
        let by_tick = (c.inbox == [Message::Tick]).then_some(self.machine.tick_ns);
        let ready = at.max(c.entered_ns) + exit;
        c.mode = Mode::Waking;

        c.generation += 1;
        if self.ticks.cpuidle == CpuIdle::Menu {
            (c.menu).reflect(ready - c.idle_since_ns, state.wake_latency_ns, by_tick);
        }
        self.leave_cluster(cpu);
        self.core.set_exit_latency_us(cpu.0, None);
        if ready == self.clock.now {
            self.awake(cpu);
        } else {
            // A caught entry goes on to its end: the CPU stays in transition until it is out.
            self.power(cpu, CpuPower::Transition { state: state.index });
            self.clock.push(ready, Event::Awake { cpu });
        }
    }

    /// Way out of a state. A cluster state is left as the state that the cluster is in; if the
    /// cluster stayed up, like the CPU's own deepest.
    fn exit_latency(&self, cpu: CpuId, state: CpuIdleState) -> u64 {
        if !state.cluster {
            return state.exit_ns;
        }
        let cluster = self.machine.cluster_of[cpu.index()];
        let own = &self.machine.idle[cpu.index()];
        let found = match self.hardware.clusters[cluster as usize].state {
            Some(down) => own.iter().find(|s| s.index == down),
            None => own.iter().rev().find(|s| !s.cluster),
        };
        found.map_or(state.exit_ns, |s| s.exit_ns)
    }

    fn leave_cluster(&mut self, cpu: CpuId) {
        if !std::mem::take(&mut self.cpus[cpu].votes_cluster) {
            return;
        }
        let cluster = self.machine.cluster_of[cpu.index()];
        let c = &mut self.hardware.clusters[cluster as usize];
        c.asleep -= 1;
        if c.state.take().is_some() {
            self.told
                .observer
                .cluster_power(self.clock.now, cluster, None);
        }
    }

    /// A task takes over from the idle task.
    pub(super) fn leave_idle(&mut self, cpu: CpuId) {
        if self.cpus[cpu].mode == Mode::Running {
            return;
        }
        self.cpus[cpu].mode = Mode::Running;
        self.cpus[cpu].generation += 1;
        self.ext_idle(cpu, false);
        self.core.exit_idle(cpu.0, self.clock.now);
        self.cpus[cpu].tick_stopped = false;
        self.cpus[cpu].got_tick = false;
        if self.home.nohz() {
            self.core.nohz_exit(cpu.0);
        }
        self.arm_tick(cpu);
    }
}
