//! What two CPUs share, and what a cache line takes between them (docs/decisions/060).
//!
//! What must stay: times are ns, and the closest level that two CPUs share counts. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_round_trip_moves_lines_by_the_closest_level` (`level`, `line_ns`),
//! `a_move_refills_from_the_closest_level` (`part_within_cache`), `sets_compete_for_their_cache`
//! (`Cache`), `a_round_trip_moves_lines_by_the_closest_level` and the others (`new`, `is_stated`,
//! `at`), wake_latency.rs::`the_wake_list_spares_the_waker_the_lock` (`share_cache`),
//! cache_rent.rs::`a_pair_meets_in_one_cache` (`prices`).
//!
//! Callers: mechanics/handover.rs (`is_stated`, `line_ns`, `part_within_cache`),
//! mechanics/memory.rs (`line_ns`), machine.rs (`prices`).
//!
//! Tests: crates/engine/tests/behaviour/handover.rs, crates/engine/tests/behaviour/memory.rs,
//! crates/engine/tests/behaviour/cache_rent.rs

use crate::ids::CpuId;
use wakeplace_platform::{CpuId as PlatformCpu, Platform, Transfer};
use wakeplace_policy_sys::PriceFacts;

/// The closest that two CPUs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// They are one CPU.
    Same,
    Core,
    Cluster,
    Cache,
    Node,
    /// Nothing.
    Machine,
}

/// Where a CPU is: of each level the first CPU of its kind.
#[derive(Clone, Copy, Debug)]
struct Place {
    core: u32,
    cluster: Option<u32>,
    cache: u32,
    node: u32,
}

/// How near CPUs are to each other.
#[derive(Debug)]
pub(crate) struct Nearness {
    places: Vec<Place>,
    /// By level; None: the machine does not say, or lines cost nothing.
    line_ns: Option<[u64; 6]>,
    /// The kernel's own lines are priced elsewhere.
    of_workload: bool,
}

impl Nearness {
    /// `costs`: lines take their time.
    pub(crate) fn new(platform: &Platform, costs: bool) -> Self {
        let first = |cpus: Option<&[PlatformCpu]>| cpus.map(|cpus| cpus[0].0);
        let place = |(index, cpu): (u32, &wakeplace_platform::Cpu)| {
            let id = PlatformCpu(index);
            Place {
                core: cpu.core,
                cluster: first(platform.cache_cluster(id)),
                cache: first(platform.last_level_cache(id)).unwrap_or(index),
                node: cpu.node,
            }
        };
        let stated = platform.transfer.as_ref().filter(|_| costs);
        Self {
            places: (0..).zip(&platform.cpus).map(place).collect(),
            line_ns: stated.map(line_ns),
            of_workload: false,
        }
    }

    /// Where a tree's kernel pays for each of its accesses: lines of the workload take as long.
    pub(crate) fn of_coherence(platform: &Platform, near_ns: u64, far_ns: u64) -> Self {
        Self {
            line_ns: Some([0, 0, near_ns, near_ns, far_ns, far_ns]),
            of_workload: true,
            ..Self::new(platform, false)
        }
    }

    /// Lines of the kernel's records are counted by the engine, as no kernel of a tree's is.
    #[inline]
    pub(crate) fn has_records(&self) -> bool {
        self.line_ns.is_some() && !self.of_workload
    }

    /// Lines take time on this machine.
    #[inline]
    pub(crate) fn is_stated(&self) -> bool {
        self.line_ns.is_some()
    }

    /// The closest that two CPUs share.
    pub(crate) fn level(&self, a: CpuId, b: CpuId) -> Level {
        let (one, other) = (self.places[a.index()], self.places[b.index()]);
        match () {
            () if a == b => Level::Same,
            () if one.core == other.core => Level::Core,
            () if one.cluster.is_some() && one.cluster == other.cluster => Level::Cluster,
            () if one.cache == other.cache => Level::Cache,
            () if one.node == other.node => Level::Node,
            () => Level::Machine,
        }
    }

    /// They have one last-level cache.
    pub(crate) fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.places[a.index()].cache == self.places[b.index()].cache
    }

    /// What a line takes that another CPU has written, ns.
    #[inline]
    pub(crate) fn line_ns(&self, from: CpuId, to: CpuId) -> u64 {
        self.at(self.level(from, to))
    }

    /// `whole` is what a refill from the last-level cache takes: as much of it as a line of that
    /// level takes of one from another CPU of the cache, and never more.
    pub(crate) fn part_within_cache(&self, level: Level, whole: u64) -> u64 {
        match (self.line_ns.is_some(), self.at(Level::Cache)) {
            (false, _) => whole,
            _ if level == Level::Core => 0,
            (true, 0) => whole,
            (true, cache_ns) => (whole.saturating_mul(self.at(level)) / cache_ns).min(whole),
        }
    }

    /// 0 where lines take no time.
    fn at(&self, level: Level) -> u64 {
        self.line_ns.map_or(0, |all| all[level as usize])
    }
}

/// A level that the machine lacks is never asked for.
fn line_ns(transfer: &Transfer) -> [u64; 6] {
    let levels = [
        Some(0),
        transfer.smt_ns,
        transfer.cluster_ns,
        transfer.cache_ns,
        transfer.node_ns,
        transfer.other_node_ns,
    ];
    levels.map(|ns| ns.unwrap_or(0))
}

/// What caches take, as the core is told of it: what a run charges. Nothing is known where the
/// file does not say what lines take.
pub(crate) fn prices(platform: &Platform) -> PriceFacts {
    let Some(stated) = platform.lines_and_moves_ns() else {
        return PriceFacts::default();
    };
    let known = PriceFacts::new(stated.lines_ns, stated.moves_ns);
    match &platform.cache {
        Some(cache) => known.with_accesses(cache.hit_ns, cache.memory_ns),
        None => known,
    }
}

/// The last-level caches, all alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cache {
    pub(crate) bytes: u64,
    pub(crate) hit_ns: u64,
    pub(crate) memory_ns: u64,
}

impl Cache {
    /// Of the last-level cache: size in bytes, times of a hit and of memory in ns; None: not
    /// stated, or costs are off.
    pub(crate) fn new(platform: &Platform, costs: bool) -> Option<Self> {
        let stated = platform.cache.as_ref().filter(|_| costs)?;
        Some(Self {
            bytes: stated.last_level_kib * 1024,
            hit_ns: stated.hit_ns,
            memory_ns: stated.memory_ns,
        })
    }
}
