//! What became of the conditions of `--expect` (docs/guide/results.md, "Gates").
//!
//! Made by `crates/cli/src/expect.rs` for `compare`, `sim`, `diff`, `review`, `sweep` and `study
//! run`, and kept in their JSON. Changes are percent of the base.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of the type
//! also changes docs/result.schema.json. Tests by part:
//! crates/cli/tests/all/gates.rs::`checks_are_in_the_json` (all keys, read back);
//! crates/report/src/review/gates.rs::`a_mail_has_its_gates` (`verdict`).
//!
//! Tests: crates/cli/tests/all/gates.rs::checks_are_in_the_json

use crate::forms::{Interval, interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition, judged on the runs of a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The case of a study, or the point of a sweep; absent in a comparison, which is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The condition.
    pub expected: String,
    /// The policy whose runs are judged.
    pub policy: String,
    /// Mean of the runs, in the metric's unit; null: it was not measured, or nothing was judged.
    pub mean: Option<f64>,
    /// The metric's unit.
    pub unit: String,
    /// Change from the base, percent; null: the condition is about a value, or the base is 0.
    pub delta_pct: Option<f64>,
    /// Its 95 % confidence interval; null: there is none.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// The condition holds; null: that is not told. What is not told fails with `--strict`.
    pub holds: Option<bool>,
    /// What was found, in words.
    pub said: String,
}

/// Whether a condition holds, in a word; None: that is not told.
#[must_use]
pub const fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "pass",
        Some(false) => "FAIL",
        None => "not told",
    }
}
