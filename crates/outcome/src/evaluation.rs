//! What `evaluate` gives: one score of a candidate beside a base, and what it is made of
//! (docs/guide/evaluate.md).
//!
//! Made by `crates/study/src/evaluate`, read by programs that search.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. A score is how many times as good as the base: 1 is like
//! it, more is better. An evaluation that is not valid has no score, and says why in `failures`.
//! Tests by part: crates/cli/tests/all/evaluate.rs::`an_evaluation_is_what_the_schema_says` (all
//! keys), evaluate.rs::`a_scheduler_that_fails_has_no_score` (`Failed`).
//!
//! Tests: crates/cli/tests/all/evaluate.rs

use crate::forms::{Interval, interval, words};
use crate::{Difference, Pairs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `evaluate` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Version of the form of results.
    #[schemars(extend("const" = crate::RESULT_SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Version of the program.
    pub version: String,
    /// Commit of the program, if it is known.
    pub commit: Option<String>,
    /// A command that gives the evaluation again, if it is known.
    pub command: Option<String>,
    /// The loads that were run: the name of a battery, or its file.
    pub battery: String,
    /// What the candidate is measured against.
    pub base: Contender,
    /// What is evaluated.
    pub candidate: Contender,
    /// Switches of the machine's model that were changed.
    pub settings: Pairs,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// False: the candidate failed in some cell.
    pub valid: bool,
    /// Geometric mean of the cells' scores: 1 is like the base, more is better; null: not valid.
    pub score: Option<f64>,
    /// Its 95 % interval over the seeds; null: there is none.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub score_ci95: Option<(f64, f64)>,
    /// What the score means by its interval and the margin; null: not valid, or an evaluation of
    /// before.
    #[serde(default)]
    pub difference: Option<Difference>,
    /// The same of each goal alone; none where the evaluation is not valid.
    pub parts: Vec<GoalPart>,
    /// Mean over the cells of Jain's index of tasks' shares, percent; it is no part of the score.
    pub fairness_pct: Option<Both>,
    /// The cell in which a task of the candidate's waited longest for a CPU.
    pub longest_wait: Option<WaitOfCell>,
    /// How the candidate failed, one for each cell in which it did.
    pub failures: Vec<Failed>,
    /// Each load on each board.
    pub cells: Vec<EvaluatedCell>,
    /// What a reader should know before believing the figures.
    pub warnings: Vec<String>,
}

/// One of the two that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// As it was typed.
    pub name: String,
    /// What was changed from what the name's rules give.
    pub set: Pairs,
    /// Of a scheduler or a kernel's own code: what it is and how it was loaded.
    pub facts: Pairs,
}

/// The score of one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalPart {
    /// The goal.
    pub goal: String,
    /// Geometric mean over the cells that have it: how many times as good as the base.
    pub score: f64,
    /// Its 95 % interval over the seeds; null: there is none.
    #[serde(default, with = "interval")]
    #[schemars(with = "Interval")]
    pub ci95: Option<(f64, f64)>,
    /// So many cells have it.
    pub cells: usize,
}

/// A figure of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Both {
    /// The base's.
    pub base: f64,
    /// The candidate's.
    pub candidate: f64,
}

/// How long a task waited for a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitOfCell {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load in the battery.
    pub load: String,
    /// The longest of all seeds, under both, us.
    pub us: Both,
}

words! {
    /// How a candidate failed.
    FailureKind {
        /// The run could not go on.
        Crash = "crash",
        /// A task that could run did not for half of the run or longer.
        Stall = "stall",
        /// What the base got done it did not.
        Unfinished = "unfinished",
    }
}

/// A failure of the candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load in the battery.
    pub load: String,
    /// The first seed with which it failed.
    pub seed: u64,
    /// How.
    pub kind: FailureKind,
    /// Why, in the run's own words.
    pub reason: String,
    /// When the run was over, ns.
    pub end_ns: u64,
    /// The wake-up with which it began, if there is one to name.
    pub wakeup: Option<BadWakeup>,
}

/// The wake-up after which nothing was right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BadWakeup {
    /// The task.
    pub task: String,
    /// Where it was put; null: nowhere.
    pub cpu: Option<u32>,
    /// When, ns.
    pub time_ns: u64,
    /// How long it waited from then on, ns; null: its wait is not what was wrong.
    pub waits_ns: Option<u64>,
}

/// One load on one board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluatedCell {
    /// Name of the platform.
    pub platform: String,
    /// Name of the load in the battery.
    pub load: String,
    /// The workload, sized to the board.
    pub workload: String,
    /// Simulated time asked for.
    pub duration_ns: u64,
    /// Geometric mean of its goals' scores; null: the candidate failed, or nothing could be
    /// compared.
    pub score: Option<f64>,
    /// What was measured: its goals, then the fairness and the longest wait.
    pub figures: Vec<EvaluatedFigure>,
}

/// A metric of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluatedFigure {
    /// The goal that it is; null: it is no part of the score.
    pub goal: Option<String>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Mean of the base.
    pub base: Option<f64>,
    /// Mean of the candidate.
    pub candidate: Option<f64>,
    /// How many times as good as the base; null: it is no goal, or it cannot be told.
    pub score: Option<f64>,
}
