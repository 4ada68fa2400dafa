//! What `study run` gives. A key that is there stays; a new one is optional for readers of older
//! results (docs/guide/report.md, "In the JSON").
//!
//! Made by `crates/study`, read by pages, `diff` and other programs. Means are in the metric's
//! unit, changes percent.
//!
//! What must stay: keys, their order (that of the fields) and their meaning. A key that older
//! results lack has `serde(default)`. A change of a type also changes docs/result.schema.json.
//! `Row::case` of an experiment ends in `,NAME`: `token` counts on it. Tests by part:
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (all keys, read back),
//! crates/report/src/study/tests.rs::`json_has_the_shape_of_the_contract` (`Row`, `Figure`),
//! study/tests.rs::`runs_of_another_length_have_no_distance` (`as_written`),
//! study/tests.rs::`calibrated_cells_are_marked_and_explained` (`kind`, `distance_pct`),
//! study/tests.rs::`promises_are_a_table` (`Promise`, `Worth`),
//! study/tests.rs::`tradeoffs_are_a_table` (`Tradeoff`),
//! crates/report/src/html/tests.rs::`results_of_version_1_are_read` (keys that older results lack).
//!
//! Tests: crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/report/src/study/tests.rs, crates/report/src/html/tests.rs::results_of_version_1_are_read

use crate::forms::{Difference, Interval, interval, is_false, number, words, yes};
use crate::{Assumed, Check, Details, Multiplicity, Pairs, Param, SeedRun, Tried};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of one study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Study {
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
    /// Name, `FAMILY/NAME`.
    pub study: String,
    /// One line about it.
    #[serde(default)]
    pub title: String,
    /// Name of the study's platform; a case may have its own, see `cases`.
    pub platform: String,
    /// The policy that all others are compared with.
    pub base_policy: String,
    /// A difference of less does not matter, percent.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub margin_pct: Option<f64>,
    /// Simulated time per run; a case may have its own.
    pub duration_ns: u64,
    /// Seeds of the plain cases; variants and experiments take the first of them.
    pub seeds: Vec<u64>,
    /// The reduced size was run.
    #[serde(default)]
    pub quick: bool,
    /// With the study's own length and settings: else nothing published was measured under them.
    #[serde(default = "yes")]
    pub as_written: bool,
    /// Settings that the study or the caller made.
    #[serde(default)]
    pub settings: Pairs,
    /// All switches of the machine's model in the plain cases.
    #[serde(default)]
    pub options: Pairs,
    /// Workload argument per case token.
    #[serde(default)]
    pub workloads: BTreeMap<String, String>,
    /// The plain cases and the variants that were run, in order.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// What was compared, the base first.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// One row per metric, case and policy that was measured.
    pub rows: Vec<Row>,
    /// What the runs of the plain cases and variants did, in order.
    #[serde(default)]
    pub profiles: Vec<CaseProfile>,
    /// How many of the rows' intervals miss the true change by chance.
    #[serde(default)]
    #[schemars(with = "Multiplicity")]
    pub multiplicity: Option<Multiplicity>,
    /// What it means, one line per metric.
    #[serde(default)]
    pub verdict: String,
    /// What a reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The conditions, judged on each case; absent: there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Where the published figures come from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The conclusions with one assumed cost changed each; null: that was not tried.
    #[serde(default)]
    pub sensitivity: Option<Vec<Tried>>,
    /// What was changed for them.
    #[serde(default)]
    pub assumed: Option<Assumed>,
    /// What was kept and lost, if the study promises something.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// Energy against latency over all cases, if the study asks for it.
    #[serde(default)]
    pub tradeoff: Option<Tradeoff>,
    /// Metrics in the order of importance; of a result that is read nothing.
    #[serde(skip)]
    pub metrics: Vec<String>,
    /// A run got stuck, be it an experiment's; of a result that is read nothing.
    #[serde(skip)]
    pub stuck: bool,
}

impl Study {
    /// Whether a run got stuck: what it measured is no ground for a judgement. Of a result that is
    /// read only plain cases and variants tell.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.stuck || self.profiles.iter().any(|profile| !profile.complete)
    }
}

/// `study run` of several studies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Studies {
    /// Version of the form of results.
    #[schemars(extend("const" = crate::RESULT_SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// Each study.
    pub studies: Vec<Study>,
}

/// How a case was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Token, as in the rows.
    pub case: String,
    /// Name of the platform.
    pub platform: String,
    /// Workload argument.
    pub workload: String,
    /// Simulated time per run.
    pub duration_ns: u64,
    /// Settings for this case only.
    #[serde(default)]
    pub settings: Pairs,
    /// Nobody measured the power that its joules are made of.
    #[serde(default, skip_serializing_if = "is_false")]
    pub modelled_power: bool,
}

/// What stands in a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// What it is shown as: `policy` of the rows.
    pub name: String,
    /// The policy's name.
    pub policy: String,
    /// Settings for this column only.
    #[serde(default)]
    pub settings: Pairs,
    /// CPUs that come and go in this column only.
    #[serde(default)]
    pub hotplug: Option<String>,
}

/// One metric of one case under one policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Token, the same for all policies; of an experiment's rows with its name, as `10,NAME`.
    pub case: String,
    /// What distinguishes the case; `experiment` and `variant` name what a row belongs to.
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// Metric.
    pub metric: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Policy.
    pub policy: String,
    /// What was published.
    #[serde(default)]
    pub published: Option<Figure>,
    /// What was simulated.
    pub simulated: Figure,
    /// Spreads of a change that was published without the means.
    #[serde(default)]
    pub published_change_rsd_pct: Option<PublishedSpread>,
    /// Published change from the base policy, percent; null on the base policy's rows.
    #[serde(default)]
    pub published_delta_pct: Option<f64>,
    /// Simulated change from the base policy, percent; null on the base policy's rows.
    #[serde(default)]
    pub simulated_delta_pct: Option<f64>,
    /// Its 95 % confidence interval; the change itself where every seed gives the same run.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub simulated_delta_ci95: Option<(f64, f64)>,
    /// What it means; null: there is no change, as in a row of the base.
    #[serde(default)]
    #[schemars(with = "Option<Difference>")]
    pub difference: Option<String>,
    /// The platform or the workload was calibrated on the published figure: the row is no check.
    #[serde(default)]
    pub calibrated: bool,
    /// The conclusion holds at half and double of every assumed cost; null: not tried.
    #[serde(default)]
    pub robust: Option<bool>,
    /// `modelled` where it is made of a power that nobody measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<String>,
}

impl Row {
    /// Key of [`Row::params`] where a case has another platform than the study.
    pub const PLATFORM: &str = "platform";
    /// Key of [`Row::params`] for experiments.
    pub const EXPERIMENT: &str = "experiment";
    /// Key of [`Row::params`] for variants.
    pub const VARIANT: &str = "variant";

    /// A parameter of the row as a word; `None` if it is a number or not there.
    fn word(&self, key: &str) -> Option<&str> {
        self.params.get(key).and_then(Param::word)
    }

    /// Name of the experiment the row belongs to; None for cases of the study itself.
    #[must_use]
    pub fn experiment(&self) -> Option<&str> {
        self.word(Self::EXPERIMENT)
    }

    /// Name of the variant of a case the row belongs to.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.word(Self::VARIANT)
    }

    /// Platform of the row, if it is not the study's.
    #[must_use]
    pub fn platform(&self) -> Option<&str> {
        self.word(Self::PLATFORM)
    }

    /// The case's token without the experiment's name.
    #[must_use]
    pub fn token(&self) -> &str {
        let own = self
            .experiment()
            .and_then(|name| self.case.strip_suffix(name)?.strip_suffix(','));
        own.unwrap_or(&self.case)
    }

    /// `variants`, `experiments`, or nothing for the study's own cases.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        let has = |key| self.params.contains_key(key);
        match (has(Self::EXPERIMENT), has(Self::VARIANT)) {
            (true, _) => "experiments",
            (false, true) => "variants",
            (false, false) => "",
        }
    }

    /// Distance of the simulated from the published mean, percent of the published.
    #[must_use]
    pub fn distance_pct(&self) -> Option<f64> {
        let published = self.published?.mean;
        let distance = (self.simulated.mean - published) / published.abs() * 100.0;
        (published != 0.0).then_some(distance)
    }
}

/// A figure that was published or simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Mean; of runs over the seeds.
    #[serde(with = "number")]
    #[schemars(with = "Option<f64>")]
    pub mean: f64,
    /// Relative standard deviation, percent; null of one run, or where none was published.
    #[serde(default)]
    pub rsd_pct: Option<f64>,
    /// Number of seeds, if it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

/// Relative standard deviations of the figures of a published change, percent; null: not published.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSpread {
    /// Of the base's.
    pub base: Option<f64>,
    /// Of the policy's.
    pub policy: Option<f64>,
}

/// What the runs of one case under one policy did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseProfile {
    /// Token, as in the rows.
    pub case: String,
    /// Name of the column, as `policy` of the rows.
    pub policy: String,
    /// False: a run got stuck.
    #[serde(default = "yes")]
    pub complete: bool,
    /// When each run was over.
    #[serde(default)]
    pub end_ns: Vec<u64>,
    /// What the runs spent time and energy on.
    pub details: Details,
    /// All parameters of the policy in force.
    #[serde(default)]
    pub settings: Pairs,
    /// Hash of all that the platform consists of.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub platform_hash: String,
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
}

words! {
    /// Is a promise kept?
    Worth {
        /// It is.
        Ok = "ok",
        /// It is not, but energy was saved in exchange.
        Traded = "for energy",
        /// The means say no, but chance could have made the difference.
        Unclear = "unclear",
        /// It is not.
        Misses = "misses",
    }
}

/// What became of a study's promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Promise {
    /// Of the best feature's gain this much is to be kept, percent.
    pub keep_pct: f64,
    /// Against the base no more than this may be lost, percent.
    pub lose_pct: f64,
    /// One row per case and goal.
    pub rows: Vec<PromiseRow>,
}

/// One goal of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromiseRow {
    /// Token of the case.
    pub case: String,
    /// Name of the platform.
    pub platform: String,
    /// What is to be gained.
    pub metric: String,
    /// The best single feature and what is kept of it; null: no feature gains.
    pub kept: Option<Kept>,
    /// What the bounded columns lost: of each the worst metric.
    pub losses: Vec<Loss>,
}

/// What is kept of a gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Column of the feature.
    pub feature: String,
    /// Its gain, percent.
    pub gain_pct: f64,
    /// The column that is to keep it.
    pub by: String,
    /// That column's gain, percent; negative: a loss.
    pub by_pct: f64,
    /// 95 % interval of it.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub by_ci95: Option<(f64, f64)>,
    /// Share of the gain that is kept, percent.
    pub kept_pct: f64,
    /// What that is worth.
    pub verdict: Worth,
}

/// What a bounded column lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// The column.
    pub column: String,
    /// Where it lost most; empty: nothing of what counts was measured.
    pub metric: String,
    /// Loss, percent; negative: a gain.
    pub loss_pct: f64,
    /// 95 % interval of it.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// Energy that it saved, percent, if there are joules.
    pub saved_energy_pct: Option<f64>,
    /// What that is worth.
    pub verdict: Worth,
}

/// What became of a study's tradeoff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tradeoff {
    /// The column that ratios are of: the study's first.
    pub base: String,
    /// The column that is to be beaten nowhere.
    pub ours: String,
    /// Metric of energy.
    pub energy: String,
    /// Metric of latency.
    pub latency: String,
    /// Metrics whose sum is the time that tasks took.
    pub time: Vec<String>,
    /// More energy than this is a loss, percent.
    pub energy_pct: f64,
    /// A longer latency than this is a loss, percent.
    pub latency_pct: f64,
    /// Cases times rivals that were compared.
    pub compared: usize,
    /// One row for each group of cases and each column; the base has one where distances are known.
    pub means: Vec<Mean>,
    /// Cells in which a rival beats ours, in the order of cases.
    pub beaten: Vec<Beaten>,
}

/// Geometric means of a column over the cases of a group, as ratios to the base's; null: there are
/// none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mean {
    /// Value of the cases' parameter; `all`: every case.
    pub group: String,
    /// Name of the column.
    pub column: String,
    /// Cases.
    pub cases: usize,
    /// Of the energy.
    pub energy_ratio: Option<f64>,
    /// Of the latency. Cases in which it is 0 are left out.
    pub latency_ratio: Option<f64>,
    /// Of the time.
    pub time_ratio: Option<f64>,
    /// How far the energy is above that of the best static placement, percent: the arithmetic mean
    /// over runs and cases. Null: the study does not ask, or it is not known of some case.
    #[serde(default)]
    pub over_optimal_pct: Option<f64>,
    /// The case with the highest ratio of energy.
    pub worst_case: String,
    /// Its ratio.
    pub worst_energy_ratio: f64,
}

/// A cell in which a rival is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beaten {
    /// Token of the case.
    pub case: String,
    /// Name of the platform.
    pub platform: String,
    /// The column that is better.
    pub rival: String,
    /// Its energy from ours, percent.
    pub energy_pct: f64,
    /// Its latency from ours, percent.
    pub latency_pct: f64,
}
