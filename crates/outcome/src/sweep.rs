//! What `sweep` gives, and `study run` of a file that varies something (docs/guide/results.md,
//! "Sweeps").
//!
//! Made by `crates/report/src/points`, read by pages, `diff` and other programs. Older results have
//! the points alone. What all points share stands once: a sweep may have a million of them.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. `points` and `point_runs` stand in the order of the
//! points, an entry of each for every point; `point_runs` may be empty. Keys of `points` are the
//! columns of the CSV table, and `power` behind them. Tests by part:
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (all keys, read back),
//! crates/report/src/html/sweep/tests.rs::`a_sweep_has_its_pictures` (older results),
//! crates/report/src/points/tests.rs::`a_sweep_is_its_points_and_their_runs` (`PointRuns`),
//! points/tests.rs::`the_chosen_point_comes_with_its_figures` (`ChosenFigure`).
//!
//! Tests: crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/report/src/html/sweep/tests.rs, crates/report/src/points/tests.rs

use crate::forms::{Interval, interval, is_false, yes};
use crate::{Check, Difference, Pairs, SeedRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Version of the form of this object.
    #[serde(default)]
    #[schemars(extend("const" = crate::SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// Commit of the program, if it is known.
    #[serde(default)]
    pub commit: Option<String>,
    /// Keys that are varied.
    #[serde(default)]
    pub varied: Vec<String>,
    /// What each point is compared with has these values, and else the point's own; null: no point
    /// has a base.
    #[serde(default)]
    pub base: Option<Pairs>,
    /// Below this a difference does not matter, percent.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub margin_pct: Option<f64>,
    /// Metrics that the workloads are measured by.
    #[serde(default)]
    pub measured_by: Vec<String>,
    /// Parameters of the policies and switches of the machine's model of the first point.
    #[serde(default)]
    pub settings: Pairs,
    /// A row for each point: what it is, means over its seeds with half of the width of their 95 %
    /// intervals, and changes from its base.
    pub points: Vec<Map<String, Value>>,
    /// The runs of each point.
    #[serde(default)]
    pub point_runs: Vec<PointRuns>,
    /// Which points were chosen, if somebody asked or set conditions.
    #[serde(default)]
    pub choice: Option<SweepChoice>,
    /// The conditions, judged on each point; absent: there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What is true of platforms and policies that take part.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What a reader should know before believing the figures, each with how many points it is of.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The runs of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointRuns {
    /// Name of the platform.
    pub platform: String,
    /// Hash of all that the platform consists of; empty: the point could not be made.
    pub platform_hash: String,
    /// The workload as typed.
    pub workload: String,
    /// Hash of all that the workload consists of, before a seed and a machine are known.
    pub workload_hash: String,
    /// The policy as typed.
    pub policy: String,
    /// Values of what is varied.
    pub values: Pairs,
    /// Simulated time asked for.
    pub duration_ns: u64,
    /// What was drawn beside what the workload draws.
    pub jitter: Option<String>,
    /// Settings that are not those of the first point; null: absent here.
    pub settings: Pairs<Option<String>>,
    /// Nobody measured the power that joules are made of.
    #[serde(default, skip_serializing_if = "is_false")]
    pub modelled_power: bool,
    /// False: a run has no result.
    #[serde(default = "yes")]
    pub complete: bool,
    /// Each run that has a result, with the metrics of the table.
    pub seed_runs: Vec<SeedRun>,
}

/// Which points were chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepChoice {
    /// The metric or the varied key of which the chosen points have the best value.
    pub by: String,
    /// What is best of it: `least` or `most`.
    pub best: String,
    /// The conditions that chosen points hold.
    pub conditions: Vec<String>,
    /// Points of each machine and load are chosen among by themselves.
    pub groups: Vec<ChosenPoint>,
}

/// The point that was chosen of a machine and load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChosenPoint {
    /// The machine and load, as far as they are varied.
    pub group: String,
    /// Points of it.
    pub points: usize,
    /// Those of them that hold all conditions.
    pub hold: usize,
    /// The chosen one, counted from 0; null: none holds, or none has a value.
    pub chosen: Option<usize>,
    /// What it leaves open, or which point is nearest where none holds; absent: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Metrics of the chosen point, those first that it was chosen by; absent: none was chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ChosenFigure>,
}

/// A metric of a chosen point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChosenFigure {
    /// The metric.
    pub metric: String,
    /// Mean over the seeds, in the metric's unit.
    pub mean: f64,
    /// Change from the base, percent; null: there is none, or the base is 0.
    pub delta_pct: Option<f64>,
    /// Its 95 % confidence interval; null: there is none.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// What the change means; null: there is none.
    pub difference: Option<Difference>,
}
