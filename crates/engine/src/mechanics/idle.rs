//! Idle states entered and left, and those of clusters. Which state a CPU enters is a kernel's
//! choice. Latencies are docs/decisions/006.
//!
//! What must stay: a wake-up within an entry waits for its end; a cluster goes no deeper than its
//! shallowest CPU. Times are ns. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `a_wakeup_during_entry_waits_for_its_end`,
//! `a_cluster_goes_no_deeper_than_its_shallowest_cpu`, `only_the_last_pays_for_the_cluster`,
//! `exit_latency_shows_in_wake_latency`. By function: `exit_latency_shows_in_wake_latency`
//! (`enter_idle`, `leave_idle_state`, `awake`, `way_out`),
//! `a_wakeup_during_entry_waits_for_its_end` (`idle_entered`, `entry_over`),
//! `a_cluster_goes_no_deeper_than_its_shallowest_cpu` (`shallowest_idle`),
//! `only_the_last_pays_for_the_cluster` (`way_in`, `way_of`),
//! `a_cluster_stays_up_for_its_busy_cpus` (`leave_cluster`),
//! ondemand.rs::`light_load_goes_down_step_by_step` (`idle_ns`). `idle_state` by every run.
//!
//! Callers: kernel/model/idle.rs (`enter_idle`), kernel/tree/entries.rs (`enter_idle`),
//! kernel/tree/interface.rs (`enter_idle`), thermal.rs (`shallowest_idle`), sim.rs (`entry_over`).
//!
//! Tests: crates/engine/tests/behaviour/idle.rs

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
        self.cpus[cpu].idle_state = position;
        let index = self.idle_state(cpu).index;
        let entry_ns = self.way_in(cpu).entry_ns;
        let c = &mut self.cpus[cpu];
        c.mode = Mode::Idle;
        c.idle_since_ns = now;
        c.entered_ns = now + entry_ns;
        c.generation += 1;
        let generation = c.generation;
        self.share_core(k, cpu);
        if entry_ns == 0 {
            self.idle_entered(cpu);
        } else {
            self.power(cpu, CpuPower::Transition { state: index });
            self.clock
                .push(now + entry_ns, Event::IdleEntered { cpu, generation });
        }
    }

    /// The CPU asks for its idle state. Returns the one whose entry it goes through: only the last
    /// of a cluster takes the cluster down, the others just their own CPU.
    ///
    /// Rule: docs/guide/model.md, Idle. Test: `only_the_last_pays_for_the_cluster`.
    #[inline]
    fn way_in(&mut self, cpu: CpuId) -> CpuIdleState {
        let state = self.idle_state(cpu);
        if !state.cluster {
            return state;
        }
        self.cpus[cpu].votes_cluster = true;
        let cluster = self.machine.cluster_of[cpu.index()];
        let cpus = &self.machine.cluster_cpus[cluster as usize];
        let asking = &mut self.hardware.clusters[cluster as usize].asking;
        *asking += 1;
        let down = ((*asking as usize) == cpus.len()).then(|| {
            let asked = cpus.iter().map(|cpu| self.idle_state(*cpu).index);
            asked.min().unwrap_or(state.index)
        });
        self.way_of(cpu, down).unwrap_or(state)
    }

    /// The state whose entry and exit a CPU in a cluster state has: the one that the cluster is in,
    /// or, while the cluster is up, the CPU's own deepest.
    fn way_of(&self, cpu: CpuId, cluster: Option<u16>) -> Option<CpuIdleState> {
        let own = &self.machine.idle[cpu.index()];
        let found = match cluster {
            Some(down) => own.iter().find(|state| state.index == down),
            None => own.iter().rev().find(|state| !state.cluster),
        };
        found.copied()
    }

    /// The event of an entry that may have been given up.
    pub(crate) fn entry_over(&mut self, cpu: CpuId, generation: u32) {
        if self.cpus[cpu].generation == generation {
            self.idle_entered(cpu);
        } else {
            self.clock.idle_event();
        }
    }

    /// Entry is complete: the CPU draws the state's power. When the last of a cluster is there, the
    /// cluster goes down, into the shallowest state that one of its CPUs has asked for.
    fn idle_entered(&mut self, cpu: CpuId) {
        let state = self.idle_state(cpu);
        self.power(cpu, CpuPower::Idle { state: state.index });
        let cluster = self.machine.cluster_of[cpu.index()];
        let cpus = &self.machine.cluster_cpus[cluster as usize];
        let asking = self.hardware.clusters[cluster as usize].asking as usize;
        if !state.cluster || asking < cpus.len() {
            return;
        }
        // None: one of them is still on its way in.
        let Some(shallowest) = self.shallowest_idle(cpus) else {
            return;
        };
        self.hardware.clusters[cluster as usize].state = Some(shallowest);
        self.tell(Happening::ClusterPower {
            cluster,
            state: Some(shallowest),
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
        let way = self.way_out(cpu, state);
        let c = &mut self.cpus[cpu];
        let ready_ns = at.max(c.entered_ns) + way.exit_ns;
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

    /// The state whose exit a CPU goes through.
    fn way_out(&self, cpu: CpuId, state: CpuIdleState) -> CpuIdleState {
        if !state.cluster {
            return state;
        }
        let cluster = self.machine.cluster_of[cpu.index()];
        let down = self.hardware.clusters[cluster as usize].state;
        self.way_of(cpu, down).unwrap_or(state)
    }

    /// The first CPU that wakes takes its cluster out of its state.
    fn leave_cluster(&mut self, cpu: CpuId) {
        if !std::mem::take(&mut self.cpus[cpu].votes_cluster) {
            return;
        }
        let cluster = self.machine.cluster_of[cpu.index()];
        let c = &mut self.hardware.clusters[cluster as usize];
        c.asking -= 1;
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
