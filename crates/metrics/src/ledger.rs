//! The first book of the energy meter: how long each CPU and cluster did what.
//!
//! It knows times only. Energies follow at the end, as the sum of time x power over its entries
//! (docs/guide/model.md, "Energy").
//!
//! Called by `meter.rs` only. Times are ns; indices are those of the platform.
//!
//! What must stay: every nanosecond of every CPU and cluster stands under exactly one entry. The
//! order of parts is cluster, then what, CPUs before the cluster itself: JSON keeps it. Energy is
//! exact in integers. No code is shared with `running.rs` that could be wrong in both. Free: what
//! leaves every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `energy_by_hand` (`parts`, `cpus`, `PartTable`), `transitions_are_drawn_and_named` (`cpu_kind`),
//! `a_ledger_entry_under_the_wrong_state_is_found` (`settle`), `an_unannounced_cpu_is_found` and
//! `an_unannounced_cluster_is_found` (`check_times`), `work_is_drawn_by_busy_cpus_alone` (`work`),
//! `threads_of_a_core_share_power` (`PartKind::BusyBeside`), all (`new`, `cpu`, `cluster`,
//! `frequency`, `cpu_power`, `cluster_kind`, `add`, `entries`, `of_cluster`); `corrupt` is for the
//! tests of the check.
//!
//! Tests: crates/metrics/src/meter/tests.rs

use crate::energy::{CpuEnergy, EnergyPart, PartKind};
use crate::meter::PowerSource;
use crate::occupancy::ClusterUse;
use crate::wiring::{Wiring, elapsed};
use wakeplace_engine::observe::CpuPower;
use wakeplace_platform::Platform;

/// Times of one CPU or cluster, by what it does and at which operating point.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// 0 = busy or powered, 1 + s = idle state s, 1 + states + s = into or out of s (CPUs), quiet
    /// in s (clusters), 2 * states + n = busy beside n threads of its core; None until announced.
    what: Option<usize>,
    /// Point of its domain (`wakeplace_power`); None until announced.
    opp: Option<usize>,
    /// Up to when `times` is complete, ns.
    since: u64,
    /// Number of points.
    opps: usize,
    /// ns, at `what * opps + opp`.
    times: Vec<u64>,
}

impl Track {
    /// Nothing is known yet: time counts only once both what it does and the clock are known.
    fn new(states: usize, others: usize, opps: usize) -> Track {
        Track {
            what: None,
            opp: None,
            since: 0,
            opps,
            times: vec![0; (1 + 2 * states + others) * opps],
        }
    }

    /// Books the time since the last change under what was done then. Called before each change.
    fn settle(&mut self, time_ns: u64) {
        let dt = elapsed(self.since, time_ns);
        if let (Some(what), Some(opp)) = (self.what, self.opp) {
            self.times[what * self.opps + opp] += dt;
        }
        self.since = time_ns;
    }

    /// Non-zero entries as (what, operating point, ns).
    fn entries(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let entry = |(i, &ns): (usize, &u64)| (i / self.opps, i % self.opps, ns);
        self.times
            .iter()
            .enumerate()
            .map(entry)
            .filter(|&(_, _, ns)| ns > 0)
    }
}

/// The book.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    cpus: Vec<Track>,
    clusters: Vec<Track>,
    /// Number of idle states.
    states: usize,
}

impl Ledger {
    /// Books of a platform, every entry 0.
    pub(crate) fn new(platform: &Platform, wiring: &Wiring) -> Ledger {
        let states = platform.idle_states.len();
        let opps = |d: usize| platform.freq_domains[d].nr_points();
        let cpu =
            |(cpu, &d): (usize, &usize)| Track::new(states, wiring.siblings[cpu].len(), opps(d));
        let cluster = |&d: &usize| Track::new(states, 0, opps(d));
        Ledger {
            cpus: wiring.cpu_domain.iter().enumerate().map(cpu).collect(),
            clusters: wiring.cluster_domain.iter().map(cluster).collect(),
            states,
        }
    }

    /// The CPU does `now` from now on, if it is busy beside so many threads of its core.
    pub(crate) fn cpu(&mut self, time_ns: u64, cpu: usize, now: CpuPower, others: usize) {
        let what = match now {
            CpuPower::Busy if others > 0 => 2 * self.states + others,
            CpuPower::Busy => 0,
            CpuPower::Idle { state } => 1 + usize::from(state),
            CpuPower::Transition { state } => 1 + self.states + usize::from(state),
        };
        self.cpus[cpu].settle(time_ns);
        self.cpus[cpu].what = Some(what);
    }

    /// The cluster does `now` from now on.
    pub(crate) fn cluster(&mut self, time_ns: u64, cluster: usize, now: ClusterUse) {
        let what = match now {
            ClusterUse::On => 0,
            ClusterUse::Idle(state) => 1 + state,
            ClusterUse::Quiet(state) => 1 + self.states + state,
        };
        self.clusters[cluster].settle(time_ns);
        self.clusters[cluster].what = Some(what);
    }

    /// The domain's CPUs and clusters are at `opp` from now on.
    pub(crate) fn frequency(&mut self, time_ns: u64, domain: usize, opp: usize, wiring: &Wiring) {
        for &cpu in &wiring.domain_cpus[domain] {
            self.cpus[cpu].settle(time_ns);
            self.cpus[cpu].opp = Some(opp);
        }
        for &cluster in &wiring.domain_clusters[domain] {
            self.clusters[cluster].settle(time_ns);
            self.clusters[cluster].opp = Some(opp);
        }
    }

    /// Brings all times up to now.
    pub(crate) fn settle(&mut self, time_ns: u64) {
        self.cpus
            .iter_mut()
            .chain(&mut self.clusters)
            .for_each(|t| t.settle(time_ns));
    }

    /// Checks that every CPU and cluster is accounted for over the whole run.
    pub(crate) fn check_times(&self, run_ns: u64) {
        let all = |kind, tracks: &[Track]| {
            for (i, track) in tracks.iter().enumerate() {
                let sum: u64 = track.times.iter().sum();
                assert!(
                    sum == run_ns,
                    "energy ledger: {kind} {i} has {sum} ns on record of a run of {run_ns} ns"
                );
            }
        };
        all("CPU", &self.cpus);
        all("cluster", &self.clusters);
    }

    /// Energies in power unit x ns, by cluster, then what, CPUs of a cluster summed.
    pub(crate) fn parts(&self, wiring: &Wiring, power: &impl PowerSource) -> Vec<EnergyPart> {
        let mut cpus = PartTable::new(self.clusters.len());
        for (cpu, track) in self.cpus.iter().enumerate() {
            for (what, opp, ns) in track.entries() {
                let power = self.cpu_power(power, cpu, what, opp);
                cpus.add(wiring.cpu_cluster[cpu], what, ns, power);
            }
        }
        let mut clusters = PartTable::new(self.clusters.len());
        for (cluster, track) in self.clusters.iter().enumerate() {
            for (what, opp, ns) in track.entries() {
                let power = match self.cluster_kind(what) {
                    PartKind::ClusterQuiet(state) => power.cluster_all_idle(cluster, state, opp),
                    PartKind::ClusterIdle(state) => power.cluster_idle(cluster, state, opp),
                    _ => power.cluster_on(cluster, opp),
                };
                clusters.add(cluster, what, ns, power);
            }
        }
        let mut parts = Vec::new();
        for cluster in 0..self.clusters.len() {
            parts.extend(cpus.of_cluster(cluster, |what| self.cpu_kind(what)));
            parts.extend(clusters.of_cluster(cluster, |what| self.cluster_kind(what)));
        }
        parts
    }

    /// Energies in power unit x ns, by CPU.
    pub(crate) fn cpus(&self, power: &impl PowerSource) -> Vec<CpuEnergy> {
        let one = |(cpu, track): (usize, &Track)| {
            let mut sum = CpuEnergy::default();
            for (what, opp, ns) in track.entries() {
                let energy = u128::from(ns) * u128::from(self.cpu_power(power, cpu, what, opp));
                match self.cpu_kind(what) {
                    PartKind::CpuIdle(_) => sum.idle += energy,
                    PartKind::CpuTransition(_) => sum.transition += energy,
                    _ => sum.busy += energy,
                }
            }
            sum
        };
        self.cpus.iter().enumerate().map(one).collect()
    }

    /// What the board drew more for the work of all CPUs, power unit x ns.
    pub(crate) fn work(&self, power: &impl PowerSource) -> u128 {
        let mut sum = 0;
        for (cpu, track) in self.cpus.iter().enumerate() {
            for (what, opp, ns) in track.entries() {
                let others = match self.cpu_kind(what) {
                    PartKind::Busy => 0,
                    PartKind::BusyBeside(others) => others,
                    _ => continue,
                };
                sum += u128::from(ns) * u128::from(power.work(cpu, others, opp));
            }
        }
        sum
    }

    /// What a CPU draws while it does `what` at `opp`.
    fn cpu_power(&self, power: &impl PowerSource, cpu: usize, what: usize, opp: usize) -> u64 {
        match self.cpu_kind(what) {
            PartKind::CpuIdle(state) => power.cpu_idle(cpu, state, opp),
            PartKind::CpuTransition(state) => power.cpu_transition(cpu, state, opp),
            PartKind::BusyBeside(others) => power.cpu_busy_beside(cpu, others, opp),
            _ => power.cpu_busy(cpu, opp),
        }
    }

    /// What an index of a CPU's books means; the order is that of `Track`'s entries.
    fn cpu_kind(&self, what: usize) -> PartKind {
        match what {
            0 => PartKind::Busy,
            what if what <= self.states => PartKind::CpuIdle(what - 1),
            what if what <= 2 * self.states => PartKind::CpuTransition(what - 1 - self.states),
            what => PartKind::BusyBeside(what - 2 * self.states),
        }
    }

    /// The same of a cluster's books.
    fn cluster_kind(&self, what: usize) -> PartKind {
        match what {
            0 => PartKind::ClusterOn,
            what if what <= self.states => PartKind::ClusterIdle(what - 1),
            what => PartKind::ClusterQuiet(what - 1 - self.states),
        }
    }

    /// Moves a ns from one entry to another, for the tests of the check.
    #[cfg(test)]
    pub(crate) fn corrupt(&mut self, cpu: usize, from: usize, to: usize) {
        let times = &mut self.cpus[cpu].times;
        times[from] -= 1;
        times[to] += 1;
    }
}

/// (ns, power unit x ns) by cluster and what.
struct PartTable(Vec<Vec<(u64, u128)>>);

impl PartTable {
    /// No entry in any cluster.
    fn new(clusters: usize) -> PartTable {
        PartTable(vec![Vec::new(); clusters])
    }

    /// Adds time and its energy to an entry of a cluster; the entry is made if it is not there.
    fn add(&mut self, cluster: usize, what: usize, ns: u64, power: u64) {
        let row = &mut self.0[cluster];
        if row.len() <= what {
            row.resize(what + 1, (0, 0));
        }
        row[what].0 += ns;
        row[what].1 += u128::from(ns) * u128::from(power);
    }

    /// The entries of a cluster that have time.
    fn of_cluster(
        &self,
        cluster: usize,
        kind: impl Fn(usize) -> PartKind,
    ) -> impl Iterator<Item = EnergyPart> {
        let entries = self.0[cluster]
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.0 > 0);
        entries.map(move |(what, &(time_ns, energy))| EnergyPart {
            cluster,
            kind: kind(what),
            time_ns,
            energy,
        })
    }
}
