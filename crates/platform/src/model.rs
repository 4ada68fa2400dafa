//! What a machine is: the validated model that every other crate reads.
//!
//! Units are in the field names. Capacities are on the kernel's scale, 1024 = the biggest CPU at
//! its highest frequency. Vectors indexed by CPU are in CPU number order and have one entry per
//! CPU. A value that another crate reads was validated by `read`; who makes one otherwise keeps the
//! same rules (docs/guide/platforms.md, "What the words mean"). Times are ns, clocks kHz.
//!
//! What must stay: order of clusters, domains, states and levels is the file's, as all crates use
//! their indices. A changed or new field changes the platform's hash in results. Tests by part:
//! `wake_latency_is_what_cpuidle_sees` (`idle_states_of`,
//! `wake_latency_ns`), `last_level_caches_are_shared_as_the_machines_have_them`
//! (`last_level_cache`), transfer.rs::`clusters_are_below_the_cache` (`cache_cluster`),
//! `power_follows_from_coefficient_voltage_and_clock` (`power_in_model`, `freq_domain_of`),
//! shared.rs::`costs_of_an_artificial_model` (`em_costs_in`), clocks.rs::`what_is_read`
//! (`nominal_khz_in`), bad_files.rs::`speeds` (`capacities`, `speeds`), bad_files.rs::`work_power`
//! (`has_work_power`), bad_files.rs::`idle_states_have_names` (`is_name`).
//!
//! Callers: crates/engine/src/machine.rs (`power_in_model`, `em_costs_in`),
//! crates/engine/src/explain/on_tree.rs (`wake_latency_ns`), crates/engine/src/mechanics/turbo.rs
//! (`nominal_khz_in`), crates/engine/src/nearness.rs (`cache_cluster`),
//! crates/foreign/src/load/machine_files.rs (`power_in_model`), crates/lab/src/devicetree.rs
//! (`power_in_model`), crates/metrics/src/ledger.rs (`nr_points`), assumed.rs (`wake_latency_ns`).
//!
//! Tests: crates/platform/tests/all

use crate::coherence::{Coherence, Transfer};
use crate::housekeeping::Housekeeping;
use crate::measured::MeasuredPower;
use serde::Serialize;
use std::fmt;

/// Number of a CPU, as the kernel numbers it; dense from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CpuId(pub u32);

impl CpuId {
    /// The number as an index into per-CPU vectors.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CpuId {
    /// The number, as lists and messages have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How a figure is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// A document or a kernel source states it.
    Published,
    /// Computed from published figures by a published formula.
    Derived,
    /// Nobody published it; the platform file says why this value was taken.
    Assumed,
    /// Set so that one named cell of a published table is met; that cell is then no check.
    Calibrated,
}

/// Where a figure comes from. Every table of a platform file carries one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// How the figure is known.
    pub standing: Standing,
    /// Document, kernel file or reasoning.
    pub text: String,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Core type, as `cortex-a53`.
    pub kind: String,
    /// Capacity at the highest frequency, 1..=1024: what a kernel is told.
    pub capacity: u32,
    /// What the hardware gets done at the highest frequency, 1..=1024, 1024 = the fastest CPU.
    /// Where a file states none it is the capacity.
    pub speed: u32,
    /// Physical core; CPUs of one core are SMT siblings.
    pub core: u32,
    /// Cluster that shares power and (usually) a cache.
    pub cluster: u32,
    /// Package.
    pub package: u32,
    /// NUMA node.
    pub node: u32,
    /// Where CPUs are better than others by the hardware's word: the higher the better; else 0.
    pub priority: u32,
}

/// CPUs that share power: the unit of cluster idle states and cluster power.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// Short name, as `little`; usable in CPU lists.
    pub name: String,
    /// Members, ascending.
    pub cpus: Vec<CpuId>,
}

/// An operating point of a frequency domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opp {
    /// Frequency, kHz; strictly rising within a domain.
    pub khz: u32,
    /// Supply, mV, where known.
    pub mv: Option<u32>,
    /// Power of ONE busy CPU at this point in the platform's power unit (microwatts, or bogo
    /// units).
    pub power: Option<u64>,
    /// Power of the domain's cluster while it is powered (at least one CPU not in a cluster sleep).
    pub cluster_power: Option<u64>,
    /// What the rest of the machine draws more while ONE CPU is busy at this point, microwatts:
    /// memory, interconnect, regulators. No part of CPU energy. All points of a domain have one, or
    /// none.
    pub work_power: Option<u64>,
    /// What the kernel's energy model takes for that power, microwatts, where it is not what the
    /// hardware draws. All points of a domain have one, or none.
    pub em_power: Option<u64>,
}

impl Opp {
    /// The power that the kernel's energy model has of this point, in the platform's power unit.
    #[must_use]
    pub fn power_in_model(&self) -> Option<u64> {
        self.em_power.or(self.power)
    }
}

/// CPUs that share one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreqDomain {
    /// Members, ascending; all have the same capacity and the same speed.
    pub cpus: Vec<CpuId>,
    /// The kernel has a cpufreq policy for each CPU, and hardware runs the domain at the highest
    /// request of a CPU that does not sleep; else there is one policy for all.
    pub policy_per_cpu: bool,
    /// Time from the request to the new frequency, ns.
    pub transition_latency_ns: u64,
    /// Operating points, ascending frequency, at least one.
    pub opps: Vec<Opp>,
    /// What its CPUs and its cluster draw, where that was measured. Then `Opp::power` is the busy
    /// power beside the other clock's lowest state.
    pub measured: Option<MeasuredPower>,
    /// The kernel's energy model where a driver makes one that knows no watts; it stands in the
    /// place of one by powers.
    pub em_costs: Option<EmCosts>,
}

/// An artificial energy model: what a driver's `get_cost` says of the states that it registers,
/// which need not be operating points (docs/decisions/039).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmCosts {
    /// The kernel whose driver is the first to make it, major and minor number; kernels before
    /// have no energy model of these CPUs.
    pub since: (u16, u16),
    /// Rising by performance, at least one; the last one is the CPU's capacity.
    pub states: Vec<EmCost>,
}

/// A state of such a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmCost {
    /// The frequency that the driver gives the state, in a unit of its own: performance is its
    /// ratio to the last state's.
    pub level: u32,
    /// What the kernel multiplies with busy time.
    pub cost: u32,
}

impl FreqDomain {
    /// Number of different powers that a CPU can draw while busy: operating points, each beside
    /// each state of the other clock that powers depend on.
    #[must_use]
    pub fn nr_points(&self) -> usize {
        let measured = self.measured.as_ref();
        measured.map_or(self.opps.len(), |measured| measured.points.len())
    }

    /// The artificial model that a kernel of this release has of the domain.
    #[must_use]
    pub fn em_costs_in(&self, release: (u16, u16)) -> Option<&EmCosts> {
        self.em_costs
            .as_ref()
            .filter(|costs| release >= costs.since)
    }
}

/// A cpufreq driver under which hardware chooses the clock (docs/decisions/059).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpufreq {
    /// The kernel's name of it.
    pub driver: String,
    /// The hint that `governor=powersave` begins with, of 255: 0 performance, 255 energy.
    pub preference: u8,
}

/// The highest clock by the number of awake cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turbo {
    /// Of `Platform::idle_states`, by position: a core in this one still counts as awake.
    pub awake: Vec<bool>,
    /// Cores that are counted together.
    pub bins: Vec<TurboBins>,
    /// A driver offers all clocks above this one as one.
    pub nominal: Option<Nominal>,
}

/// The clock above which a driver offers one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nominal {
    /// An operating point of each CPU that is counted, not the last one.
    pub khz: u32,
    /// The first kernel whose driver asks for each clock, major and minor number.
    pub each_since: Option<(u16, u16)>,
}

impl Turbo {
    /// The clock above which a kernel of this release asks for the highest or for none.
    #[must_use]
    pub fn nominal_khz_in(&self, release: (u16, u16)) -> Option<u32> {
        let nominal = self.nominal.as_ref()?;
        let one = nominal.each_since.is_none_or(|since| release < since);
        one.then_some(nominal.khz)
    }
}

/// The clocks of cores that are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurboBins {
    /// Their CPUs, ascending.
    pub cpus: Vec<CpuId>,
    /// With 1, 2, ... awake cores, kHz, operating points of each of the CPUs, falling; of more
    /// cores the last one.
    pub khz: Vec<u32>,
}

/// What each package may draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// In the long run, microwatts.
    pub long_uw: u64,
    /// What the long run is: time constant of the mean, ns.
    pub tau_ns: u64,
    /// At any time, microwatts.
    pub short_uw: u64,
    /// What the package draws beside its CPUs and clusters, microwatts.
    pub beside_uw: u64,
}

/// What an idle state switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleScope {
    /// One CPU.
    Cpu,
    /// The cluster: entered when all its CPUs have asked for it (last one down).
    Cluster,
}

/// An idle state. The states of one CPU are ordered from shallow to deep in
/// `Platform::idle_states`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdleState {
    /// Name, as `cpu-sleep-0`.
    pub name: String,
    /// CPU or cluster.
    pub scope: IdleScope,
    /// CPUs that have it, ascending.
    pub cpus: Vec<CpuId>,
    /// Time to enter, ns; a wake-up during entry waits for its end.
    pub entry_latency_ns: u64,
    /// Time from the wake-up to the first instruction, ns.
    pub exit_latency_ns: u64,
    /// Residency from which it pays, ns (what the idle governor compares with).
    pub min_residency_ns: u64,
    /// A CPU in it watches for work: to wake it takes no interrupt.
    pub polling: bool,
    /// Power of one CPU that is in this state, platform unit. A polling state without it draws
    /// what a busy CPU draws.
    pub cpu_power: Option<u64>,
    /// Cluster states: power of the whole cluster in it, platform unit. CPU states: power of the
    /// powered cluster while all its CPUs are idle and this is the shallowest state among them;
    /// absent = what the cluster draws at the domain's OPP.
    pub cluster_power: Option<u64>,
}

impl IdleState {
    /// Whether a text can name a state: metrics have the name in theirs (`residency_WFI_pct`), and
    /// people must see it.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        text.contains(char::is_alphanumeric)
    }

    /// What the kernel's cpuidle calls the exit latency: the longest time from a wake-up to the
    /// first instruction, ns. The wake-up may come at the start of the entry.
    #[must_use]
    pub fn wake_latency_ns(&self) -> u64 {
        self.entry_latency_ns + self.exit_latency_ns
    }
}

/// One level of the scheduler's topology table, bottom first (SMT, MC, PKG, ...), NUMA levels left
/// out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologyLevel {
    /// Kernel name of the level.
    pub name: String,
    /// CPUs share a last-level (or closer) cache at this level.
    pub shares_cache: bool,
    /// CPUs share the capacity of one core (SMT).
    pub shares_capacity: bool,
    /// CPUs share a cache below the last-level one.
    pub cluster: bool,
    /// Balancing at this level fills CPUs of higher priority first.
    pub asym_packing: bool,
    /// Partition of all CPUs.
    pub groups: Vec<Vec<CpuId>>,
}

/// Kernel and hardware costs that no table gives; each is time of a capacity-1024 CPU at its
/// highest frequency unless the name says otherwise, ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Switching from one task (or idle) to another.
    pub context_switch_ns: u64,
    /// A wake-up on the waking CPU: interrupt, CPU choice, enqueue.
    pub wakeup_ns: u64,
    /// Wall time until an inter-processor interrupt is taken by a running CPU, ns (not scaled).
    pub ipi_ns: u64,
    /// A scheduler tick.
    pub tick_ns: u64,
    /// Creating a thread.
    pub fork_ns: u64,
    /// Refilling caches after a move within a shared cache.
    pub migrate_shared_cache_ns: u64,
    /// Refilling caches after a move to another cache.
    pub migrate_other_cache_ns: u64,
    /// The same where memory stays on another NUMA node; machines of several nodes have it.
    pub migrate_other_node_ns: Option<u64>,
    /// Looking at one CPU while searching for an idle one (charged into the search's average cost).
    pub scan_cpu_ns: u64,
    /// Wall time from the choice of a CPU for a waking task until others see it, ns.
    pub publish_ns: u64,
    /// Wall time a run queue's lock is held, ns.
    pub lock_hold_ns: u64,
    /// Wall time to fetch the lock from a CPU of the same cache that had it last, ns.
    pub lock_shared_cache_ns: u64,
    /// The same from a CPU of another cache.
    pub lock_other_cache_ns: u64,
    /// Wall time a task that went to sleep is still on its CPU, ns.
    pub switch_out_ns: u64,
    /// Source of the figures.
    pub source: Source,
}

/// The last-level caches, which tasks with a working set compete for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// Size of each, KiB, > 0.
    pub last_level_kib: u64,
    /// What a core waits for a line that is in it, ns, > 0.
    pub hit_ns: u64,
    /// What it waits for a line of its node's memory, ns, >= `hit_ns`.
    pub memory_ns: u64,
    /// Source of the figures.
    #[serde(skip)]
    pub source: Source,
}

/// An empty list is written as `null`.
fn none_if_empty<S: serde::Serializer>(all: &Vec<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    (!all.is_empty()).then_some(all).serialize(serializer)
}

/// NUMA nodes: how far they are from each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Numa {
    /// Per node the distance to each node, as firmware states it: 10 is its own memory. Symmetric.
    pub distances: Vec<Vec<u32>>,
    /// Farther nodes are far: the kernel's `node_reclaim_distance`.
    pub reclaim_distance: u32,
    /// Source of the figures.
    #[serde(skip)]
    pub source: Source,
}

/// What the threads of a core get done while several of them are busy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Smt {
    /// Work of the whole core with 1, 2, ... busy threads; 1024 = one thread alone. Never falls.
    pub core_capacity: Vec<u32>,
    /// Power of the whole core with 1, 2, ... busy threads; 1024 = one thread alone. Empty: each
    /// busy thread draws its CPU's power.
    #[serde(serialize_with = "none_if_empty")]
    pub core_power: Vec<u32>,
    /// Source of the figures.
    #[serde(skip)]
    pub source: Source,
}

/// What kernels of 2011 knew of a kind of core: how many tasks to pack on one while its clock is
/// slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchedMc {
    /// The kind of core (`Cpu::kind`) it holds for.
    pub core_kind: String,
    /// Width of an entry, kHz; > 0.
    pub step_khz: u32,
    /// Tasks per entry from 0 kHz on, the last one for all above; at least 1 each, never rising.
    pub tasks: Vec<u32>,
    /// Source of the figures.
    #[serde(skip)]
    pub source: Source,
}

/// The unit of every power figure of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerUnit {
    /// Microwatts: joules can be reported.
    Microwatt,
    /// Consistent within the platform only: no joules.
    Bogo,
    /// No power figures.
    None,
}

/// Power of everything that is not CPU or cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Board {
    /// Constant power, microwatts.
    pub power_uw: u64,
    /// What it stands for and how it was set.
    pub source: Source,
    /// For `Standing::Calibrated`: `STUDY/CASE/POLICY` of the cell that was used.
    pub calibrated_on: Option<String>,
}

/// How warm a cluster gets, and from when on it is slowed down: one resistance and one capacity of
/// heat against the air around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThermalZone {
    /// Index into `Platform::clusters`.
    pub cluster: usize,
    /// From here on the frequency is capped, thousandths of a degree Celsius.
    pub trip_millic: u32,
    /// So far below the trip point the cap is lifted again.
    pub hysteresis_millic: u32,
    /// Time between two looks, ms.
    pub polling_ms: u32,
    /// The same while the cap is in force.
    pub passive_ms: u32,
    /// The air around, and the temperature at the start.
    pub ambient_millic: u32,
    /// Thousandths of a kelvin per watt.
    pub resistance_mk_per_w: u32,
    /// Millijoules per kelvin.
    pub capacity_mj_per_k: u32,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Name users type.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// `arm64`, `arm`, `x86_64`.
    pub arch: String,
    /// Scheduler tick frequency of the kernel it is used with, Hz.
    pub tick_hz: u32,
    /// CPUs, by number.
    pub cpus: Vec<Cpu>,
    /// Clusters; `Cpu::cluster` indexes it.
    pub clusters: Vec<Cluster>,
    /// Frequency domains; a partition of the CPUs.
    pub freq_domains: Vec<FreqDomain>,
    /// Idle states, shallow to deep. Every CPU has at least one of scope `Cpu`.
    pub idle_states: Vec<IdleState>,
    /// Scheduler topology, bottom first; the top level spans all CPUs (of a node).
    pub topology: Vec<TopologyLevel>,
    /// Distances of the NUMA nodes, where there are several.
    pub numa: Option<Numa>,
    /// What threads of a core share, where cores have several.
    pub smt: Option<Smt>,
    /// Tasks that a core is to hold at each frequency, where a kernel knew it.
    pub sched_mc: Option<SchedMc>,
    /// The driver of the clocks, where its governors are the hardware's own.
    pub cpufreq: Option<Cpufreq>,
    /// Clocks by the number of awake cores, where they are stated.
    pub turbo: Option<Turbo>,
    /// What a package may draw, where it is stated.
    pub power_limit: Option<PowerLimit>,
    /// Kernel and hardware costs.
    pub costs: Costs,
    /// What a cache line takes from one CPU to another, where it is stated.
    pub transfer: Option<Transfer>,
    /// What a kernel's own accesses to memory take, where it is stated.
    pub coherence: Option<Coherence>,
    /// The last-level caches, where they are stated.
    pub cache: Option<Cache>,
    /// Unit of the power figures.
    pub power_unit: PowerUnit,
    /// The kernel knows the powers, as its energy model. False: they are the hardware's alone.
    pub has_energy_model: bool,
    /// The rest of the board, where energy figures include it.
    pub board: Option<Board>,
    /// Kernel threads, where they are stated.
    pub housekeeping: Option<Housekeeping>,
    /// Zones of heat; empty: nothing is known of them.
    pub thermal: Vec<ThermalZone>,
    /// `(what, source)` for each group of figures, in file order.
    pub provenance: Vec<(String, Source)>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl Platform {
    /// Per CPU: its capacity, 1024 for the biggest.
    #[must_use]
    pub fn capacities(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.capacity).collect()
    }

    /// Per CPU: its speed, 1024 for the fastest.
    #[must_use]
    pub fn speeds(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.speed).collect()
    }

    /// Whether it says what its board draws more while CPUs work (`Opp::work_power`).
    #[must_use]
    pub fn has_work_power(&self) -> bool {
        let mut domains = self.freq_domains.iter();
        domains.any(|domain| domain.opps[0].work_power.is_some())
    }

    /// The CPUs that share the last-level cache of a CPU: those of the highest level of a shared
    /// cache on which it is with others. None: it has its own.
    #[must_use]
    pub fn last_level_cache(&self, cpu: CpuId) -> Option<&[CpuId]> {
        let levels = self.topology.iter().filter(|level| level.shares_cache);
        let mut groups = levels.rev().flat_map(|level| &level.groups);
        let found = groups.find(|group| group.len() > 1 && group.contains(&cpu));
        found.map(Vec::as_slice)
    }

    /// The CPUs with which a CPU shares something below its last-level cache, itself among them.
    /// None: nothing, or nothing but its core.
    #[must_use]
    pub fn cache_cluster(&self, cpu: CpuId) -> Option<&[CpuId]> {
        let levels = self.topology.iter().filter(|level| level.cluster);
        let mut groups = levels.flat_map(|level| &level.groups);
        let found = groups.find(|group| group.contains(&cpu))?;
        let core = self.cpus[cpu.index()].core;
        let cores = found.iter().any(|c| self.cpus[c.index()].core != core);
        cores.then_some(found.as_slice())
    }

    /// Index of the frequency domain of a CPU.
    ///
    /// # Panics
    /// If the CPU is not of this platform; a validated platform covers all its CPUs.
    #[must_use]
    pub fn freq_domain_of(&self, cpu: CpuId) -> usize {
        self.freq_domains
            .iter()
            .position(|d| d.cpus.contains(&cpu))
            .expect("a validated platform covers every CPU")
    }

    /// The idle states of one CPU, shallow to deep, each with its index in `idle_states`.
    pub fn idle_states_of(&self, cpu: CpuId) -> impl Iterator<Item = (usize, &IdleState)> {
        self.idle_states
            .iter()
            .enumerate()
            .filter(move |(_, state)| state.cpus.contains(&cpu))
    }
}
