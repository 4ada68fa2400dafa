//! The file as written: one struct per table, every value with its place in the text.
//!
//! Units are in the key names. Each table with figures has `source` and `standing`. A new key
//! stands here, in the reader of its table, in `import/write.rs`, and in
//! docs/guide/platform-keys.md; one that must be there stands in `missing.rs`, too.
//!
//! No rule is checked here but the shape.
//!
//! What must stay: names of keys and words, which are the file format; unknown keys are refused;
//! every value that a rule looks at has its place. Free: what leaves each file's machine as it is
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `keys_and_words` (unknown keys and words), round_trip.rs::`every_platform_comes_back`
//! (the keys that `import/write.rs` writes), builtin.rs::`every_builtin_loads_under_its_own_name`
//! (all keys of the built-in files). The three `from`:
//! builtin.rs::`every_builtin_loads_under_its_own_name`, too.
//!
//! Tests: crates/platform/tests/all/bad_files.rs, crates/platform/tests/all/builtin.rs,
//! crates/platform/tests/all/import/round_trip.rs, crates/platform/src/read/missing.rs

use serde::Deserialize;
use toml::Spanned;

use crate::arch::Arch;
use crate::{IdleScope, PowerUnit, Standing};

pub(super) type Int = Spanned<u64>;
pub(super) type Text = Spanned<String>;

/// Where a column's figures come from. Tables repeat the two keys: serde's flatten loses spans.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSource {
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawStanding {
    Published,
    Derived,
    Assumed,
    Calibrated,
}

impl From<RawStanding> for Standing {
    /// The word of a file as the model has it.
    fn from(raw: RawStanding) -> Self {
        match raw {
            RawStanding::Published => Self::Published,
            RawStanding::Derived => Self::Derived,
            RawStanding::Assumed => Self::Assumed,
            RawStanding::Calibrated => Self::Calibrated,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawUnit {
    Microwatt,
    Bogo,
    None,
}

impl From<RawUnit> for PowerUnit {
    /// The unit of powers that a word of the file means.
    fn from(raw: RawUnit) -> Self {
        match raw {
            RawUnit::Microwatt => Self::Microwatt,
            RawUnit::Bogo => Self::Bogo,
            RawUnit::None => Self::None,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawScope {
    Cpu,
    Cluster,
}

impl From<RawScope> for IdleScope {
    /// What a word of the file says of what an idle state switches off.
    fn from(raw: RawScope) -> Self {
        match raw {
            RawScope::Cpu => Self::Cpu,
            RawScope::Cluster => Self::Cluster,
        }
    }
}

/// A partition by what the clusters say of each CPU.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawPart {
    Cpu,
    Core,
    Cluster,
    Package,
    Node,
    Machine,
}

/// How Linux numbers the threads of SMT cores.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawNumbering {
    /// 0-1 are one core, 2-3 the next.
    Adjacent,
    /// First all first threads, then all second ones.
    Block,
}

/// What a kernel makes of the powers.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawEnergyModel {
    /// Nothing: it knows none of them.
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlatform {
    pub(super) name: Text,
    pub(super) title: String,
    #[serde(default)]
    pub(super) also_known_as: Vec<Text>,
    pub(super) arch: Arch,
    pub(super) power_unit: Spanned<RawUnit>,
    pub(super) energy_model: Option<Spanned<RawEnergyModel>>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) kernel: Spanned<RawKernel>,
    pub(super) cluster: Spanned<Vec<Spanned<RawCluster>>>,
    pub(super) speed: Option<Spanned<RawSource>>,
    pub(super) topology: Spanned<RawTopology>,
    pub(super) numa: Option<Spanned<RawNuma>>,
    pub(super) smt: Option<Spanned<RawSmt>>,
    pub(super) priority: Option<Spanned<RawPriority>>,
    pub(super) sched_mc: Option<Spanned<RawSchedMc>>,
    pub(super) frequency_domain: Spanned<Vec<Spanned<RawDomain>>>,
    pub(super) measured_power: Option<Spanned<RawMeasured>>,
    pub(super) idle_state: Spanned<Vec<Spanned<RawIdle>>>,
    pub(super) cpufreq: Option<Spanned<RawCpufreq>>,
    pub(super) turbo: Option<Spanned<RawTurbo>>,
    pub(super) power_limit: Option<Spanned<RawPowerLimit>>,
    pub(super) costs: Spanned<RawCosts>,
    pub(super) transfer: Option<Spanned<RawTransfer>>,
    pub(super) coherence: Option<Spanned<RawCoherence>>,
    pub(super) cache: Option<Spanned<RawCache>>,
    pub(super) board: Option<Spanned<RawBoard>>,
    #[serde(default)]
    pub(super) thermal: Vec<Spanned<RawThermal>>,
    pub(super) housekeeping: Option<Spanned<RawHousekeeping>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHousekeeping {
    pub(super) governor_ns: Option<Int>,
    #[serde(default)]
    pub(super) threads: Vec<Spanned<RawThread>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCpufreq {
    pub(super) driver: Text,
    pub(super) preference: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTurbo {
    pub(super) awake: Vec<Text>,
    pub(super) bins: Spanned<Vec<Spanned<RawBins>>>,
    pub(super) nominal_khz: Option<Int>,
    pub(super) each_since: Option<Text>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBins {
    pub(super) cpus: Text,
    pub(super) khz: Spanned<Vec<Int>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPowerLimit {
    pub(super) long_uw: Int,
    pub(super) tau_ms: Int,
    pub(super) short_uw: Int,
    pub(super) beside_uw: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

/// A kernel thread.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawThread {
    pub(super) name: Text,
    pub(super) cpus: Option<Text>,
    pub(super) period_us: Int,
    pub(super) run_us: Int,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKernel {
    pub(super) tick_hz: Int,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCluster {
    pub(super) name: Text,
    pub(super) cores: Vec<RawCores>,
    #[serde(default)]
    pub(super) package: u32,
    #[serde(default)]
    pub(super) node: u32,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

/// Cores of one type in a cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCores {
    pub(super) cpus: Text,
    pub(super) kind: String,
    pub(super) capacity: Int,
    pub(super) speed: Option<Int>,
    pub(super) threads_per_core: Option<Int>,
    pub(super) thread_numbering: Option<RawNumbering>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTopology {
    pub(super) levels: Spanned<Vec<Spanned<RawLevel>>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLevel {
    pub(super) name: String,
    pub(super) one_per: Option<RawPart>,
    pub(super) groups: Option<Vec<Text>>,
    #[serde(default)]
    pub(super) shares_cache: bool,
    #[serde(default)]
    pub(super) shares_capacity: bool,
    #[serde(default)]
    pub(super) cluster: bool,
    #[serde(default)]
    pub(super) asym_packing: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNuma {
    pub(super) distances: Spanned<Vec<Spanned<Vec<Int>>>>,
    pub(super) reclaim_distance: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSmt {
    pub(super) core_capacity: Spanned<Vec<Int>>,
    pub(super) core_power: Option<Spanned<Vec<Int>>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPriority {
    pub(super) ranks: Vec<RawRank>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRank {
    pub(super) cpus: Text,
    pub(super) value: Int,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchedMc {
    pub(super) core_kind: Text,
    pub(super) step_khz: Int,
    pub(super) tasks: Spanned<Vec<Int>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDomain {
    pub(super) cpus: Text,
    pub(super) one_per: Option<RawPart>,
    #[serde(default)]
    pub(super) policy_per_cpu: bool,
    pub(super) opps: Spanned<Vec<Spanned<RawOpp>>>,
    pub(super) transition: Spanned<RawTransition>,
    pub(super) cpu_power: Option<Spanned<RawSource>>,
    pub(super) cluster_power: Option<Spanned<RawSource>>,
    pub(super) work_power: Option<Spanned<RawSource>>,
    pub(super) em_power: Option<Spanned<RawSource>>,
    pub(super) em_costs: Option<Spanned<RawEmCosts>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEmCosts {
    pub(super) since: Text,
    pub(super) states: Spanned<Vec<Spanned<RawEmCost>>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEmCost {
    pub(super) level: Int,
    pub(super) cost: Int,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTransition {
    pub(super) latency_us: Int,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOpp {
    pub(super) khz: Int,
    pub(super) mv: Option<Int>,
    pub(super) cpu_uw: Option<Int>,
    pub(super) cpu_bogo: Option<Int>,
    pub(super) cluster_uw: Option<Int>,
    pub(super) cluster_bogo: Option<Int>,
    pub(super) work_uw: Option<Int>,
    pub(super) em_uw: Option<Int>,
}

/// Tables of measured powers, in the form of Wattson's files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMeasured {
    pub(super) cpu_1d: Option<Text>,
    pub(super) cpu_2d: Option<Text>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawIdle {
    pub(super) name: Text,
    pub(super) scope: RawScope,
    pub(super) cpus: Text,
    pub(super) entry_latency_us: Int,
    pub(super) exit_latency_us: Int,
    pub(super) min_residency_us: Int,
    #[serde(default)]
    pub(super) polling: bool,
    pub(super) power: Option<Spanned<RawIdlePower>>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawIdlePower {
    pub(super) cpu_uw: Option<Int>,
    pub(super) cpu_bogo: Option<Int>,
    pub(super) cluster_uw: Option<Int>,
    pub(super) cluster_bogo: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCosts {
    pub(super) context_switch_ns: Int,
    pub(super) wakeup_ns: Int,
    pub(super) ipi_ns: Int,
    pub(super) tick_ns: Int,
    pub(super) fork_ns: Int,
    pub(super) migrate_shared_cache_ns: Int,
    pub(super) migrate_other_cache_ns: Int,
    pub(super) migrate_other_node_ns: Option<Int>,
    pub(super) scan_cpu_ns: Int,
    pub(super) publish_ns: Option<Int>,
    pub(super) lock_hold_ns: Option<Int>,
    pub(super) lock_shared_cache_ns: Option<Int>,
    pub(super) lock_other_cache_ns: Option<Int>,
    pub(super) switch_out_ns: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTransfer {
    pub(super) smt_ns: Option<Int>,
    pub(super) cluster_ns: Option<Int>,
    pub(super) cache_ns: Option<Int>,
    pub(super) node_ns: Option<Int>,
    pub(super) other_node_ns: Option<Int>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCoherence {
    pub(super) hit_ps: Int,
    pub(super) near_ns: Int,
    pub(super) near_range_ns: Spanned<[Int; 2]>,
    pub(super) far_ns: Int,
    pub(super) far_range_ns: Spanned<[Int; 2]>,
    pub(super) clean_ns: Int,
    pub(super) clean_range_ns: Spanned<[Int; 2]>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCache {
    pub(super) last_level_kib: Int,
    pub(super) hit_ns: Int,
    pub(super) memory_ns: Int,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBoard {
    pub(super) power_uw: Int,
    pub(super) calibrated_on: Option<Text>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawThermal {
    pub(super) cluster: Text,
    pub(super) trip_millic: Int,
    pub(super) hysteresis_millic: Int,
    pub(super) polling_ms: Int,
    pub(super) passive_ms: Int,
    pub(super) rc: Spanned<RawRc>,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRc {
    pub(super) ambient_millic: Int,
    pub(super) resistance_mk_per_w: Int,
    pub(super) capacity_mj_per_k: Int,
    pub(super) source: Text,
    pub(super) standing: RawStanding,
}
