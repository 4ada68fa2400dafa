//! A small platform with made-up powers, for the tests of this crate (docs/guide/model.md,
//! "Energy").
//!
//! What must stay: CPUs 0 and 1 are `little`, CPU 2 is `big`; three idle states for all, no latency
//! and no cost, so that times and energies can be counted by hand. Digits of a power tell what it
//! is of (`Digits`): expected figures in all tests of the crate are made of them. `Random` gives
//! the same numbers everywhere. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `two_clusters`, `one_cluster`, `opp`, `idle`, `costs`,
//! `source` and `Digits` (`cpu_busy`, `cpu_idle`, `cpu_transition`, `cluster_on`, `cluster_idle`,
//! `cluster_all_idle`, `board`, `work`, `has_work`, `unit`) are used by all tests of this crate;
//! `below` by meter/tests.rs::`equals_the_power_summed_nanosecond_by_nanosecond`.
//!
//! Tests: none; it is part of the tests.

use crate::meter::PowerSource;
use wakeplace_platform::{
    Cluster, Costs, Cpu, CpuId, FreqDomain, IdleScope, IdleState, Opp, Platform, PowerUnit, Source,
    Standing,
};

/// Where made-up figures come from: they are assumed.
fn source() -> Source {
    Source {
        standing: Standing::Assumed,
        text: "test".to_owned(),
    }
}

/// An operating point whose power is its MHz.
fn opp(mhz: u32) -> Opp {
    Opp {
        khz: mhz * 1000,
        mv: None,
        power: Some(u64::from(mhz)),
        cluster_power: Some(10),
        work_power: None,
        em_power: None,
    }
}

/// An idle state without latencies that draws 1.
fn idle(name: &str, scope: IdleScope, cpus: &[u32]) -> IdleState {
    IdleState {
        name: name.to_owned(),
        scope,
        cpus: cpus.iter().map(|&c| CpuId(c)).collect(),
        entry_latency_ns: 0,
        exit_latency_ns: 0,
        min_residency_ns: 0,
        polling: false,
        cpu_power: Some(1),
        cluster_power: Some(1),
    }
}

/// CPUs 0, 1 in `little` (OPPs 0 to 2), CPU 2 in `big` (OPPs 0 and 1); a frequency domain each;
/// idle states `wfi`, `off`, `cluster-off` for all.
pub(crate) fn two_clusters() -> Platform {
    let cpu = |cluster: u32| Cpu {
        kind: "test".to_owned(),
        capacity: 512 + 512 * cluster,
        speed: 512 + 512 * cluster,
        core: 0,
        cluster,
        package: 0,
        node: 0,
        priority: 0,
    };
    let cluster = |name: &str, cpus: &[u32]| Cluster {
        name: name.to_owned(),
        cpus: cpus.iter().map(|&c| CpuId(c)).collect(),
    };
    let domain = |cpus: &[u32], mhz: &[u32]| FreqDomain {
        policy_per_cpu: false,
        measured: None,
        cpus: cpus.iter().map(|&c| CpuId(c)).collect(),
        transition_latency_ns: 0,
        opps: mhz.iter().map(|&m| opp(m)).collect(),
        em_costs: None,
    };
    Platform {
        name: "test".to_owned(),
        title: "test".to_owned(),
        arch: "arm64".to_owned(),
        tick_hz: 250,
        cpus: vec![cpu(0), cpu(0), cpu(1)],
        clusters: vec![cluster("little", &[0, 1]), cluster("big", &[2])],
        freq_domains: vec![
            domain(&[0, 1], &[500, 1000, 1500]),
            domain(&[2], &[1000, 2000]),
        ],
        idle_states: vec![
            idle("wfi", IdleScope::Cpu, &[0, 1, 2]),
            idle("off", IdleScope::Cpu, &[0, 1, 2]),
            idle("cluster-off", IdleScope::Cluster, &[0, 1, 2]),
        ],
        topology: Vec::new(),
        numa: None,
        smt: None,
        costs: costs(),
        power_unit: PowerUnit::Microwatt,
        has_energy_model: true,
        board: None,
        transfer: None,
        coherence: None,
        cache: None,
        housekeeping: None,
        thermal: Vec::new(),
        sched_mc: None,
        cpufreq: None,
        turbo: None,
        power_limit: None,
        provenance: Vec::new(),
        notes: Vec::new(),
    }
}

/// The same CPUs in one cluster, `all`.
pub(crate) fn one_cluster() -> Platform {
    let mut platform = two_clusters();
    let big = platform.clusters.pop().expect("two");
    platform.clusters[0].name = "all".to_owned();
    platform.clusters[0].cpus.extend(big.cpus);
    platform.cpus.iter_mut().for_each(|cpu| cpu.cluster = 0);
    platform
}

/// No kernel work takes time, so that times can be counted by hand.
fn costs() -> Costs {
    Costs {
        context_switch_ns: 0,
        wakeup_ns: 0,
        ipi_ns: 0,
        tick_ns: 0,
        fork_ns: 0,
        migrate_shared_cache_ns: 0,
        migrate_other_cache_ns: 0,
        migrate_other_node_ns: None,
        scan_cpu_ns: 0,
        publish_ns: 0,
        lock_hold_ns: 0,
        lock_shared_cache_ns: 0,
        lock_other_cache_ns: 0,
        switch_out_ns: 0,
        source: source(),
    }
}

/// Powers whose digits tell where they come from, with c = CPU or cluster, s = state, p = operating
/// point: busy `1c0p`, idle `2csp`, cluster on `3c0p`, in a cluster state `4csp`, on with all CPUs
/// idle `5csp`, into or out of a state `6csp`, work beside n threads `7cnp`, if there is `work`.
/// The board draws `board`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    pub(crate) board: Option<u64>,
    pub(crate) unit: PowerUnit,
    pub(crate) work: bool,
}

impl Digits {
    pub(crate) const NO_BOARD: Digits = Digits {
        board: None,
        unit: PowerUnit::Microwatt,
        work: false,
    };
}

impl PowerSource for Digits {
    fn cpu_busy(&self, cpu: usize, opp: usize) -> u64 {
        (1000 + 100 * cpu + opp) as u64
    }
    fn cpu_idle(&self, cpu: usize, state: usize, opp: usize) -> u64 {
        (2000 + 100 * cpu + 10 * state + opp) as u64
    }
    fn cpu_transition(&self, cpu: usize, state: usize, opp: usize) -> u64 {
        (6000 + 100 * cpu + 10 * state + opp) as u64
    }
    fn cluster_on(&self, cluster: usize, opp: usize) -> u64 {
        (3000 + 100 * cluster + opp) as u64
    }
    fn cluster_all_idle(&self, cluster: usize, shallowest: usize, opp: usize) -> u64 {
        (5000 + 100 * cluster + 10 * shallowest + opp) as u64
    }
    fn cluster_idle(&self, cluster: usize, state: usize, opp: usize) -> u64 {
        (4000 + 100 * cluster + 10 * state + opp) as u64
    }
    fn board(&self) -> Option<u64> {
        self.board
    }
    fn has_work(&self) -> bool {
        self.work
    }
    fn work(&self, cpu: usize, others: usize, opp: usize) -> u64 {
        let figure = (7000 + 100 * cpu + 10 * others + opp) as u64;
        figure * u64::from(self.work)
    }
    fn unit(&self) -> PowerUnit {
        self.unit
    }
}

/// SplitMix64: a small generator for random tests, the same numbers everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}
