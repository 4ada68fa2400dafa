//! What `review` gives: a change beside its base on the loads of a battery (docs/guide/review.md).
//!
//! Made by `crates/report/src/review` from comparisons, shown there as text and as a page.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. Rows come the worst first. All that a row says is in the
//! comparison of its platform and load. Tests by part:
//! crates/cli/tests/all/review.rs::`a_review_says_what_got_worse_first` (`ReviewRow`, `Parting`),
//! review.rs::`a_change_has_its_clusters` (`ClusterEnergies`),
//! review.rs::`claims_are_judged` (`Claim`).
//!
//! Tests: crates/cli/tests/all/review.rs

use crate::forms::{Interval, interval, words};
use crate::{Comparison, Multiplicity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `review` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// Version of the form of results.
    #[schemars(extend("const" = crate::RESULT_SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    pub version: String,
    /// Commit of the program, if it is known.
    pub commit: Option<String>,
    /// A command that gives the review again, if it is known.
    pub command: Option<String>,
    /// The loads that were run: the name of a battery, or its file.
    pub battery: String,
    /// What the battery is, in one line.
    pub title: String,
    /// What the change is compared with.
    pub base: String,
    /// What is reviewed.
    pub change: String,
    /// Below this a difference does not matter, percent.
    pub margin_pct: f64,
    /// What the figures hold for, a sentence each: kernels, program, machines, loads, seeds.
    pub conditions: Vec<String>,
    /// Runs that got stuck or that a scheduler or kernel ended, a sentence each; none of their
    /// figures is judged.
    pub failures: Vec<String>,
    /// Every figure that is good or bad, the worst first.
    pub rows: Vec<ReviewRow>,
    /// How many of their intervals miss the true change by chance.
    pub multiplicity: Multiplicity,
    /// What the author expects, and whether it holds.
    pub claims: Vec<Claim>,
    /// Of the largest changes: where the runs first part.
    pub partings: Vec<Parting>,
    /// The load of each of the comparisons.
    pub loads: Vec<String>,
    /// What a reader should know before believing the figures, each with its boards and loads.
    pub warnings: Vec<String>,
    /// All that was measured: one for each platform and load.
    pub comparisons: Vec<Comparison>,
}

/// One figure of one load on one platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRow {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load in the battery.
    pub load: String,
    /// Name of the metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Mean of the base.
    pub base: Option<f64>,
    /// Mean of the change.
    pub change: Option<f64>,
    /// The change in percent of the base, seed by seed (the geometric mean of the ratios).
    pub delta_pct: Option<f64>,
    /// Its 95 % interval, percent.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub delta_ci95: Option<(f64, f64)>,
    /// What it means.
    pub difference: String,
}

words! {
    /// Whether a claim holds.
    Holds {
        /// In all places that it names: a change by its interval, a value by its mean.
        Yes = "holds",
        /// Not in some place.
        No = "does not hold",
        /// An interval reaches over the limit: more seeds may tell.
        NotTold = "not told",
    }
}

/// What the author of a change expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// In the words of `--expect`.
    pub expect: String,
    /// The platforms that it is about; none: all.
    pub boards: Vec<String>,
    /// The loads that it is about; none: all.
    pub loads: Vec<String>,
    /// Whether it holds.
    pub holds: Holds,
    /// Each place where it was looked at.
    pub places: Vec<ClaimPlace>,
}

/// A claim on one platform with one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimPlace {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load.
    pub load: String,
    /// Whether it holds here.
    pub holds: Holds,
    /// Mean of the change, of a condition on a value.
    pub mean: Option<f64>,
    /// The 95 % interval of the change in percent, of a condition on a change.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub delta_ci95: Option<(f64, f64)>,
}

/// Where the two runs of a load's first seed part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parting {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load.
    pub load: String,
    /// The metric whose change made it one of the largest.
    pub metric: String,
    /// Its change, percent.
    pub delta_pct: Option<f64>,
    /// The seed of both runs.
    pub seed: u64,
    /// What else changed most on this platform with this load, told from chance.
    pub beside: Vec<ReviewRow>,
    /// The wake-up that went elsewhere; null: all of them went alike.
    pub wakeup: Option<PartedWakeup>,
    /// Where the energy went; null: no powers are known.
    #[serde(default)]
    pub energy: Option<ClusterEnergies>,
}

/// A task's wake-up that went to one CPU under the base and to another under the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartedWakeup {
    /// The task.
    pub task: String,
    /// Its wake-up of this number, from 1; 0: where it began.
    pub number: u64,
    /// Under the base.
    pub base: PartedSide,
    /// Under the change.
    pub change: PartedSide,
    /// Which inputs of the two CPUs differed; null: a side tells none, as a sched_ext scheduler.
    #[serde(default)]
    pub differs: Option<String>,
}

/// Mean energy of a run by cluster, of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterEnergies {
    /// `J` or `bogo·s`.
    pub unit: String,
    /// Nobody measured the power.
    pub modelled_power: bool,
    /// Cluster, kind of state, energy under the base and under the change.
    pub cluster_state_base_change: Vec<(String, String, f64, f64)>,
}

/// What one side did with a wake-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartedSide {
    /// When it was, ns.
    pub time_ns: u64,
    /// The CPU that was chosen.
    pub cpu: u32,
    /// The command that explains it.
    pub command: String,
    /// What that command says.
    pub explained: String,
}
