//! What becomes of a study's conclusions with assumed costs halved and doubled
//! (`study run --sensitivity`; docs/guide/report.md, "In the JSON").
//!
//! Made by `crates/study/src/sensitivity`, read by pages and tables of studies.
//!
//! What must stay: keys and words of conclusions; a change of a type also changes
//! docs/result.schema.json. `flips` is judged beside the plain run of the same seeds. Tests by
//! part: crates/cli/tests/all/results.rs::`assumed_costs_are_tried_on_demand` (`Tried`),
//! crates/study/src/sensitivity/judge/tests.rs::`a_cost_that_no_run_uses_is_told` (`Assumed`,
//! `Cost`), judge/tests.rs::`a_conclusion_that_one_assumed_time_makes_is_not_robust` (`flips`),
//! judge/tests.rs::`what_is_excepted_is_not_tried_and_workloads_are` (`Except`),
//! judge/tests.rs::`one_seed_tells_nothing` (`Conclusion`).
//!
//! Tests: crates/cli/tests/all/results.rs::assumed_costs_are_tried_on_demand,
//! crates/study/src/sensitivity/judge/tests.rs

use crate::forms::{Interval, interval, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// What the comparison of a column with the base says about a metric.
    Conclusion {
        /// Better than the base.
        Gain = "gain",
        /// Worse.
        Loss = "loss",
        /// More, of what is neither good nor bad.
        More = "more",
        /// Less of it.
        Less = "less",
        /// The interval spans 0.
        NoDifference = "no difference",
        /// One seed, or nothing to compare.
        Unknown = "unknown",
    }
}

/// One conclusion with one cost changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Case.
    pub case: String,
    /// Metric.
    pub metric: String,
    /// Policy that is compared with the base.
    pub policy: String,
    /// What was changed.
    pub cost: String,
    /// By what.
    pub factor: f64,
    /// Change from the base, percent; null: nothing to compare with.
    pub delta_pct: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// What it says.
    pub conclusion: Conclusion,
    /// Change from the base with nothing changed, same seeds.
    #[serde(default)]
    pub plain_delta_pct: Option<f64>,
    /// What that says.
    pub plain_conclusion: Conclusion,
    /// They differ.
    pub flips: bool,
}

/// What was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Assumed {
    /// Seeds of these runs, plain ones included.
    pub seeds: Vec<u64>,
    /// Cases that were tried.
    pub cases: Vec<String>,
    /// What was changed, over all cases; each once.
    pub costs: Vec<Cost>,
    /// What is assumed and was left out.
    pub except: Vec<Except>,
}

/// An assumed cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Its name.
    pub cost: String,
    /// Its value.
    #[serde(default)]
    pub value: String,
    /// It changed nothing at all: no run uses it.
    #[serde(default)]
    pub unused: bool,
}

/// What was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Except {
    /// Its name.
    pub cost: String,
    /// The reason.
    #[serde(default)]
    pub why: String,
}
