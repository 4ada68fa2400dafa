//! Idle states entered and left, and those of clusters. Which state a CPU enters is a kernel's
//! choice.

use super::Mechanics;
use super::cpu::Mode;
use super::queue::Event;
use crate::ids::CpuId;
use crate::kernel::Kernel;
use crate::machine::CpuIdleState;
use crate::observe::{CpuPower, Happening, Observer};

/// An idle CPU leaves its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    /// When it is out.
    pub(crate) ready_ns: u64,
    /// How long it will have idled by then, its ways in and out included.
    pub(crate) idle_ns: u64,
    /// What the state takes to be entered and left.
    pub(crate) wake_latency_ns: u64,
}

impl<O: Observer> Mechanics<'_, O> {
    /// The idle state that the CPU is in, enters or leaves.
    #[inline]
    pub(crate) fn idle_state(&self, cpu: CpuId) -> CpuIdleState {
        self.machine.idle[cpu.index()][self.cpus[cpu].idle_state]
    }

    /// How long it has idled in the whole run.
    pub(crate) fn idle_ns(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu].idle_ns(self.clock.now)
    }

    /// A CPU waits from now on, in this one of its idle states.
    #[inline]
    pub(crate) fn enter_idle<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, position: usize) {
        let now = self.clock.now;
        let state = self.machine.idle[cpu.index()][position];
        let c = &mut self.cpus[cpu];
        c.mode = Mode::Idle;
        c.idle_state = position;
        c.idle_since_ns = now;
        c.entered_ns = now + state.entry_ns;
        c.generation += 1;
        let generation = c.generation;
        self.share_core(k, cpu);
        if state.entry_ns == 0 {
            self.idle_entered(cpu);
        } else {
            self.power(cpu, CpuPower::Transition { state: state.index });
            self.clock
                .push(now + state.entry_ns, Event::IdleEntered { cpu, generation });
        }
    }

    /// The event of an entry that may have been given up.
    pub(crate) fn entry_over(&mut self, cpu: CpuId, generation: u32) {
        if self.cpus[cpu].generation == generation {
            self.idle_entered(cpu);
        } else {
            self.clock.idle_event();
        }
    }

    /// Entry is complete: the CPU draws the state's power; the last of a cluster takes it down,
    /// into the shallowest state that one of its CPUs has asked for.
    fn idle_entered(&mut self, cpu: CpuId) {
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
        self.tell(Happening::ClusterPower {
            cluster,
            state: shallowest,
        });
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
    /// If that is not now an event follows (`Event::Awake`), else the caller goes on (`awake`).
    #[inline]
    pub(crate) fn leave_idle_state(&mut self, cpu: CpuId, at: u64) -> Leaving {
        let state = self.idle_state(cpu);
        let exit = self.exit_latency(cpu, state);
        let c = &mut self.cpus[cpu];
        let ready_ns = at.max(c.entered_ns) + exit;
        let idle_ns = ready_ns - c.idle_since_ns;
        c.mode = Mode::Waking;
        c.generation += 1;
        self.leave_cluster(cpu);
        if ready_ns != self.clock.now {
            // A caught entry goes on to its end: the CPU stays in transition until it is out.
            self.power(cpu, CpuPower::Transition { state: state.index });
            self.clock.push(ready_ns, Event::Awake { cpu });
        }
        Leaving {
            ready_ns,
            idle_ns,
            wake_latency_ns: state.wake_latency_ns,
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
            self.tell(Happening::ClusterPower {
                cluster,
                state: None,
            });
        }
    }

    /// The CPU has left its idle state.
    pub(crate) fn awake<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        c.mode = Mode::Interrupted;
        c.idle_total_ns += self.clock.now - c.idle_since_ns;
        self.power(cpu, CpuPower::Busy);
        self.share_core(k, cpu);
    }
}
