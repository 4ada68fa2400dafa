//! A tree's decisions beside the core's answers to the same questions.

use crate::TreeDecision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `kernel diff` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelDiff {
    /// Version of the form of this object.
    #[schemars(extend("const" = crate::SCHEMA_VERSION))]
    pub schema_version: u64,
    /// The policy of the core that was asked.
    pub policy: String,
    /// The tree that decided.
    pub tree: String,
    /// Runs of the tree.
    pub runs: u64,
    /// Runs that ended early by the tree's own doing: its words.
    pub failed: Vec<String>,
    /// Decisions of `select_task_rq_fair()`.
    pub decisions: u64,
    /// Decisions in which both chose the same CPU.
    pub agree: u64,
    /// How the others differ, the most frequent kind first.
    pub kinds: Vec<DiffKind>,
}

/// Decisions that differ in the same step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffKind {
    /// `wake`, `fork` or `exec`.
    pub asked: String,
    /// The core's rule that decided.
    pub rule: String,
    /// Why it chose its CPU.
    pub reason: String,
    /// Why it did not choose the tree's CPU.
    pub dropped: String,
    /// How many decisions.
    pub count: u64,
    /// Of all decisions, percent.
    pub share_pct: f64,
    /// The one on the fewest CPUs, with the fewest queued tasks, and the first of these.
    pub example: TreeDecision,
}
