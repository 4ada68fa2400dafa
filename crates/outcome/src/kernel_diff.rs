//! What `kernel diff` gives: a tree's decisions and signals beside the core's answers to the same
//! questions (docs/rules/README.md#decision-by-decision, docs/rules/README.md#signal-by-signal).
//!
//! Made by `crates/study/src/kernel_diff/tally.rs`, shown by
//! `crates/cli/src/commands/kernel_diff.rs`.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. Kinds come the most frequent first, each with its smallest
//! example. Tests by part: crates/cli/tests/all/kernel_diff.rs::`the_core_decides_as_the_kernel`
//! (`decisions`, `agree`), kernel_diff.rs::`a_broken_rule_is_found` (`DiffKind`),
//! kernel_diff.rs::`the_cores_signals_are_the_kernels` (`SignalKind`),
//! kernel_diff.rs::`a_broken_signal_is_found` (`SignalDiff`, `SignalFigure`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs

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
    /// Updates of signals up to the last decision of each run, by kind.
    pub signals: Vec<SignalKind>,
    /// How they differ, the most frequent difference first.
    pub signal_differences: Vec<SignalDiff>,
}

/// Updates of one kind of signal, which the core made of the tree's own state before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalKind {
    /// What was compared (docs/rules/README.md#signal-by-signal).
    pub kind: String,
    /// How many.
    pub compared: u64,
    /// In how many of them a figure differs.
    pub differ: u64,
    /// Of those compared, percent.
    pub share_pct: f64,
}

/// Updates of a signal that differ in the same figures, with the smallest example: on the fewest
/// CPUs, with the fewest queued tasks, and the first of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalDiff {
    /// What was compared.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The example's machine.
    pub platform: String,
    /// Its load.
    pub workload: String,
    /// Its seed.
    pub seed: u64,
    /// When, ns.
    pub time_ns: u64,
    /// Of which CPU.
    pub cpu: u32,
    /// Figures that differ.
    pub figures: Vec<SignalFigure>,
    /// All that the tree told.
    pub told: String,
}

/// A figure of which tree and core made something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalFigure {
    /// Its name in the kernel.
    pub name: String,
    /// Before.
    pub before: u64,
    /// What the tree made of it.
    pub tree: u64,
    /// What the core made of it.
    pub core: u64,
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
