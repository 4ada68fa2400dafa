//! The second book of the energy meter: the power of each cluster with its CPUs, integrated as it
//! changes.
//!
//! It keeps no times and shares no entry with the ledger; both must come to the same energy
//! (docs/guide/model.md, "Energy").
//!
//! Called by `meter.rs` only. Powers are in the platform's unit, times ns.
//!
//! What must stay: no code is shared with `ledger.rs` that could be wrong in both. Energy is exact
//! in integers, and time is added before each change of power. A CPU or cluster draws nothing until
//! its state and its clock are known. Free: what leaves every figure as it is (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `energy_by_hand` (`clusters`, `frequency`),
//! `a_wrong_running_total_is_found` (`energy`), `equals_the_power_summed_nanosecond_by_nanosecond`
//! (`redraw_cpu`, `redraw_cluster`, `Sum`), `work_is_drawn_by_busy_cpus_alone` (`work`),
//! `threads_of_a_core_share_power` (`cpu_busy_beside`), all (`new`, `advance`, `change`, `cpu`,
//! `cluster`); `corrupt` is for the tests of the check.
//!
//! Tests: crates/metrics/src/meter/tests.rs

use crate::meter::PowerSource;
use crate::occupancy::ClusterUse;
use crate::wiring::{Wiring, elapsed};
use wakeplace_engine::observe::CpuPower;

/// A CPU as this book sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    cluster: usize,
    state: Option<CpuPower>,
    /// Threads of its core that are busy as well.
    others: usize,
    opp: Option<usize>,
    /// Power now, part of its cluster's.
    draw: u64,
    /// What the board draws more for its work now.
    work: u64,
}

/// A cluster as this book sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    state: Option<ClusterUse>,
    opp: Option<usize>,
    /// Power of its own now.
    draw: u64,
    sum: Sum,
}

/// Power of a cluster with its CPUs, integrated.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// Now.
    power: u64,
    /// Up to when `energy` is complete, ns.
    since: u64,
    /// Power unit x ns.
    energy: u128,
}

impl Sum {
    /// Adds what was drawn since the last change. Called before each change of power.
    fn advance(&mut self, time_ns: u64) {
        let dt = elapsed(self.since, time_ns);
        self.energy += u128::from(self.power) * u128::from(dt);
        self.since = time_ns;
    }

    /// One part of the power is another from now on.
    fn change(&mut self, time_ns: u64, part: &mut u64, now: u64) {
        self.advance(time_ns);
        self.power = self.power - *part + now;
        *part = now;
    }
}

/// The book.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    cpus: Vec<Cpu>,
    clusters: Vec<Cluster>,
    /// What is drawn all the time, beside CPUs and clusters.
    constant: Sum,
    /// What the board draws more for the work of all CPUs.
    work: Sum,
}

impl Running {
    /// `constant` is drawn all the time, beside CPUs and clusters.
    pub(crate) fn new(wiring: &Wiring, constant: u64) -> Running {
        let cpu = |&cluster: &usize| Cpu {
            cluster,
            ..Cpu::default()
        };
        Running {
            cpus: wiring.cpu_cluster.iter().map(cpu).collect(),
            clusters: vec![Cluster::default(); wiring.cluster_domain.len()],
            constant: Sum {
                power: constant,
                ..Sum::default()
            },
            work: Sum::default(),
        }
    }

    /// Integrates up to now.
    pub(crate) fn advance(&mut self, time_ns: u64) {
        let clusters = self.clusters.iter_mut().map(|cluster| &mut cluster.sum);
        for sum in clusters.chain([&mut self.constant, &mut self.work]) {
            sum.advance(time_ns);
        }
    }

    /// Power unit x ns up to the last `advance`.
    pub(crate) fn energy(&self) -> u128 {
        self.constant.energy + self.work.energy + self.clusters().sum::<u128>()
    }

    /// The part of it that is the board's for the work of CPUs.
    pub(crate) fn work(&self) -> u128 {
        self.work.energy
    }

    /// The same of each cluster with its CPUs.
    pub(crate) fn clusters(&self) -> impl Iterator<Item = u128> {
        self.clusters.iter().map(|cluster| cluster.sum.energy)
    }

    /// A CPU draws for something else from now on.
    pub(crate) fn cpu(
        &mut self,
        time_ns: u64,
        cpu: usize,
        (state, others): (CpuPower, usize),
        p: &impl PowerSource,
    ) {
        self.cpus[cpu].state = Some(state);
        self.cpus[cpu].others = others;
        self.redraw_cpu(time_ns, cpu, p);
    }

    /// A cluster draws for something else from now on.
    pub(crate) fn cluster(
        &mut self,
        time_ns: u64,
        cluster: usize,
        state: ClusterUse,
        p: &impl PowerSource,
    ) {
        self.clusters[cluster].state = Some(state);
        self.redraw_cluster(time_ns, cluster, p);
    }

    /// A clock changes: its CPUs and clusters draw otherwise from now on.
    pub(crate) fn frequency(
        &mut self,
        time_ns: u64,
        (domain, opp): (usize, usize),
        wiring: &Wiring,
        p: &impl PowerSource,
    ) {
        for &cpu in &wiring.domain_cpus[domain] {
            self.cpus[cpu].opp = Some(opp);
            self.redraw_cpu(time_ns, cpu, p);
        }
        for &cluster in &wiring.domain_clusters[domain] {
            self.clusters[cluster].opp = Some(opp);
            self.redraw_cluster(time_ns, cluster, p);
        }
    }

    /// A CPU draws nothing until both its state and its operating point are announced.
    fn redraw_cpu(&mut self, time_ns: u64, index: usize, p: &impl PowerSource) {
        let cpu = &mut self.cpus[index];
        let (Some(state), Some(opp)) = (cpu.state, cpu.opp) else {
            return;
        };
        let draw = match state {
            CpuPower::Busy if cpu.others > 0 => p.cpu_busy_beside(index, cpu.others, opp),
            CpuPower::Busy => p.cpu_busy(index, opp),
            CpuPower::Idle { state } => p.cpu_idle(index, state.into(), opp),
            CpuPower::Transition { state } => p.cpu_transition(index, state.into(), opp),
        };
        let work = match state {
            CpuPower::Busy => p.work(index, cpu.others, opp),
            CpuPower::Idle { .. } | CpuPower::Transition { .. } => 0,
        };
        let sum = &mut self.clusters[cpu.cluster].sum;
        sum.change(time_ns, &mut cpu.draw, draw);
        self.work.change(time_ns, &mut cpu.work, work);
    }

    /// The power of a cluster as it is now.
    fn redraw_cluster(&mut self, time_ns: u64, index: usize, p: &impl PowerSource) {
        let cluster = &mut self.clusters[index];
        let (Some(state), Some(opp)) = (cluster.state, cluster.opp) else {
            return;
        };
        let draw = match state {
            ClusterUse::On => p.cluster_on(index, opp),
            ClusterUse::Quiet(state) => p.cluster_all_idle(index, state, opp),
            ClusterUse::Idle(state) => p.cluster_idle(index, state, opp),
        };
        cluster.sum.change(time_ns, &mut cluster.draw, draw);
    }

    /// Adds energy that nothing drew, for the tests of the check.
    #[cfg(test)]
    pub(crate) fn corrupt(&mut self) {
        self.constant.energy += 1;
    }
}
