//! Why a policy's runs drew more or less than the base's (docs/guide/results.md, "Why a
//! difference").
//!
//! Made by `crates/report/src/why.rs` of the details of both, shown there as text, tables and on
//! pages. All figures are means of a run.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. The three parts of an energy add up to its change. Tests
//! by part: crates/report/src/why/tests.rs::`the_three_parts_add_up` (`Why`, `EnergySplit`,
//! `GroupChange`), why/tests.rs::`who_moved_is_named` (`TaskMove`).
//!
//! Tests: crates/report/src/why/tests.rs, crates/cli/tests/all/schema.rs

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the change from the base to a policy is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The policy.
    pub policy: String,
    /// Of CPUs and clusters; null: no powers are known.
    pub energy: Option<EnergySplit>,
    /// Clusters, or kinds of CPU where a cluster holds several.
    pub groups: Vec<GroupChange>,
    /// The tasks that moved most between these, the most first; three at most.
    pub moved: Vec<TaskMove>,
    /// The largest of it in a sentence; empty: what changed is less than the margin.
    pub text: String,
}

/// A change of energy in three parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergySplit {
    /// `J` or `bogo·s`.
    pub unit: String,
    /// Energy of the base.
    pub base: f64,
    /// Energy of the policy.
    pub change: f64,
    /// What busy time drew that was longer, shorter, or elsewhere.
    pub busy_time: f64,
    /// What busy time drew more in each second.
    pub busy_power: f64,
    /// All else: idle states, ways into and out of them, and clusters themselves.
    pub rest: f64,
}

/// A cluster or kind of CPU: of the base, then of the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupChange {
    /// Its name.
    pub group: String,
    /// Busy time, summed over its CPUs.
    pub busy_s: (f64, f64),
    /// Mean clock of that; null: there is none.
    pub busy_khz: (Option<f64>, Option<f64>),
    /// Share of the CPUs' time in idle states.
    pub idle_pct: (f64, f64),
    /// Its part of `busy_time` and of `busy_power`; null: no powers are known.
    pub energy_by_time_by_power: Option<(f64, f64)>,
}

/// A task that ran less on some clusters or kinds and more on others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMove {
    /// Its name; threads of one name are together.
    pub task: String,
    /// What it ran less and what it ran more: the lesser of the two.
    pub moved_s: f64,
    /// By cluster or kind how much longer it ran there.
    pub group_s: Vec<(String, f64)>,
}
