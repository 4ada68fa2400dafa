//! What `sim` and `compare` give. A key that is there stays; a new one is optional for readers of
//! older results (docs/guide/report.md, "In the JSON").
//!
//! Made by `crates/report/src/json.rs`, read by pages, `diff` and other programs.
//!
//! What must stay: keys, their order (that of the fields) and their meaning. A key that older
//! results lack has `serde(default)`. A change of a type also changes docs/result.schema.json. The
//! base is the first run, and only a comparison has `deltas`. Tests by part:
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (all keys, read back),
//! crates/report/src/comparison/tests.rs::`compare_has_the_shape_of_the_contract` (`Run`, `Metric`,
//! `Delta`), comparison/tests.rs::`sim_has_runs_and_no_deltas` (`deltas`),
//! crates/report/src/html/tests.rs::`results_of_version_1_are_read` (keys that older results lack).
//!
//! Tests: crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/report/src/comparison/tests.rs,
//! crates/report/src/html/tests.rs::results_of_version_1_are_read

use crate::forms::{Difference, Interval, interval, yes};
use crate::{Check, Details, Method, Multiplicity, Pairs, State, Timeline, Why};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `sim` (one policy) or `compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Version of the form of results.
    #[serde(default)]
    #[schemars(extend("const" = crate::RESULT_SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// Commit of the program, if it is known.
    #[serde(default)]
    pub commit: Option<String>,
    /// A command that gives the result again, if it is known.
    #[serde(default)]
    pub command: Option<String>,
    /// Simulated time asked for.
    pub duration_ns: u64,
    /// Switches of the machine's model that were changed.
    #[serde(default)]
    pub settings: Pairs,
    /// All switches in force.
    #[serde(default)]
    pub options: Pairs,
    /// What was drawn beside what the workload draws.
    #[serde(default)]
    pub jitter: Option<String>,
    /// Below this a difference does not matter, percent.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub margin_pct: Option<f64>,
    /// Per policy, the base first.
    pub runs: Vec<Run>,
    /// Changes from the base of every metric that both policies have; of one policy there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deltas: Option<Vec<Delta>>,
    /// How many of their intervals miss the true change by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplicity: Option<Multiplicity>,
    /// What the differences mean, a sentence for each policy that can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
    /// Why the policies drew more or less, of each that can be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Why>,
    /// Metrics that the workload is measured by, the one it is read by first.
    #[serde(default)]
    pub measured_by: Vec<String>,
    /// Nobody measured the power that joules and watts are made of: they are a model's.
    #[serde(default)]
    pub modelled_power: bool,
    /// What everything was at the times asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// How runs ended that did not simply fill their time.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What a reader should know before believing the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The conditions, judged; absent: there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

impl Comparison {
    /// Its changes from the base.
    #[must_use]
    pub fn deltas(&self) -> &[Delta] {
        self.deltas.as_deref().unwrap_or_default()
    }

    /// What the differences mean.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        self.verdicts.as_deref().unwrap_or_default()
    }
}

/// `compare` of several platforms or workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparisons {
    /// Version of the form of results.
    #[schemars(extend("const" = crate::RESULT_SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// One for each platform and workload.
    pub comparisons: Vec<Comparison>,
}

/// The runs of one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Name of the platform.
    pub platform: String,
    /// Hash of all that the platform consists of.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub platform_hash: String,
    /// The workload as typed.
    pub workload: String,
    /// Hash of all that the workload consists of, before a seed and a machine are known.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub workload_hash: String,
    /// The policy as typed.
    pub policy: String,
    /// What was changed from what the name's rules give.
    #[serde(default)]
    pub set: Pairs,
    /// All parameters in force.
    #[serde(default)]
    pub settings: Pairs,
    /// The runs' seeds.
    pub seeds: Vec<u64>,
    /// False: a run got stuck.
    #[serde(default = "yes")]
    pub complete: bool,
    /// When each run was over.
    #[serde(default)]
    pub end_ns: Vec<u64>,
    /// What was measured.
    pub metrics: Pairs<Metric>,
    /// Runs that the means are over; 1 where every seed gave the same run.
    #[serde(default)]
    pub independent_runs: usize,
    /// Each run.
    #[serde(default)]
    pub seed_runs: Vec<SeedRun>,
    /// Hash over all events of each run.
    #[serde(default)]
    #[schemars(inner(regex(pattern = "^[0-9a-f]{16}$")))]
    pub event_hashes: Vec<String>,
    /// Hash of what happened in each run.
    #[serde(default)]
    #[schemars(inner(regex(pattern = "^[0-9a-f]{16}$")))]
    pub behaviour_hashes: Vec<String>,
    /// What the runs spent time and energy on.
    #[serde(default)]
    #[schemars(with = "Details")]
    pub details: Option<Details>,
    /// What ran where in a part of the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The cache lines that cost a kernel's own code most, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// What sched_ext schedulers did, run by run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sched_ext: Option<Vec<SchedExt>>,
}

/// A metric over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Mean.
    pub mean: Option<f64>,
    /// Relative standard deviation, percent; null of one run.
    #[serde(default)]
    pub rsd_pct: Option<f64>,
    /// Half the width of the 95 % confidence interval of the mean.
    #[serde(default)]
    pub ci95: Option<f64>,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
}

/// One run: what it was drawn by, what happened, what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedRun {
    /// Its seed.
    pub seed: u64,
    /// Hash of its workload, as the machine has it; in studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub workload_hash: Option<String>,
    /// Hash over all its events.
    #[schemars(regex(pattern = "^[0-9a-f]{16}$"))]
    pub event_hash: String,
    /// Hash of what happened.
    #[schemars(regex(pattern = "^[0-9a-f]{16}$"))]
    pub behaviour_hash: String,
    /// Values by name; the name ends in the unit.
    pub metrics: Pairs<Option<f64>>,
}

/// The change of a metric from the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// The metric.
    pub metric: String,
    /// The base policy.
    #[serde(default)]
    pub base: String,
    /// The policy that is compared with it.
    pub other: String,
    /// Change, percent; null from a base of 0.
    pub delta_pct: Option<f64>,
    /// Its 95 % confidence interval; null: there is none.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// The interval excludes 0.
    #[serde(default)]
    pub significant: Option<bool>,
    /// What it means; null in results of version 1, and between runs of unlike length of what
    /// grows with the length.
    #[serde(default)]
    #[schemars(with = "Option<Difference>")]
    pub difference: Option<String>,
    /// How the interval was made.
    #[serde(default)]
    #[schemars(with = "Option<Method>")]
    pub method: Option<String>,
    /// Pairs of runs.
    #[serde(default)]
    pub n: Option<usize>,
}

/// What the comparison of a policy with the base comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The policy.
    pub policy: String,
    /// The metric that it is about.
    pub metric: String,
    /// What the difference means.
    #[schemars(with = "Difference")]
    pub difference: String,
    /// Other metrics that the result is read by and that got worse.
    #[serde(default)]
    pub worse: Vec<String>,
    /// One sentence.
    pub text: String,
}

/// What cache lines cost, in all runs of a policy together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    /// What CPUs have waited for all lines and for locks, ns.
    pub total_ns: u64,
    /// The most expensive ones, the most expensive first.
    pub lines: Vec<Line>,
}

/// A cache line, or lines of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The variable or struct that is in it.
    pub object: String,
    /// Which 64 bytes of it: the first one's offset.
    pub offset: u64,
    /// There are several: each CPU has one, or each of several objects.
    pub several: bool,
    /// Transfers.
    pub transfers: u64,
    /// Those that write.
    pub writes: u64,
    /// Those from another last-level cache.
    pub far: u64,
    /// What transfers took, ns.
    pub transfer_ns: u64,
    /// Waits for others' transfers of the line, ns.
    pub wait_ns: u64,
    /// Waits for a lock that lies there, ns.
    pub lock_ns: u64,
    /// Who has paid, the most first.
    pub uses: Vec<LineUse>,
}

/// A field of a line, accessed by a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineUse {
    /// The field.
    pub field: String,
    /// The function.
    pub function: String,
    /// What that cost: transfers, waits and locks, ns.
    pub cost_ns: u64,
}

/// What a sched_ext scheduler did in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedExt {
    /// Its name.
    pub name: String,
    /// Assumed cost of a callback, ns on the biggest CPU.
    pub callback_ns: u64,
    /// Assumed cost of a kfunc.
    pub kfunc_ns: u64,
    /// Of each callback that ran: calls, kfuncs that it called, and what that cost, ns on the
    /// biggest CPU at its highest clock.
    pub callbacks_calls_kfuncs_ns: Pairs<(u64, u64, u64)>,
    /// The task that has waited longest at the end of the run.
    pub longest_wait: Option<LongestWait>,
    /// Why it ended before the run; absent: it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
}

/// A task that can run and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LongestWait {
    /// Its number; null: a thread that observers do not see.
    pub task: Option<u32>,
    /// For how long.
    pub waits_ns: u64,
    /// Where it is.
    pub place: String,
}

/// How a scheduler ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// The kernel's word for it.
    pub kind: String,
    /// The scheduler's exit code.
    pub code: i64,
    /// What it said.
    pub message: String,
}
