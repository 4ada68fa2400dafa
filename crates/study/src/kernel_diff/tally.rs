//! What is counted, and the examples that are kept (docs/guide/kernel.md, "Beside the policy
//! core").
//!
//! What must stay: keys of the JSON; kinds stand by frequency, and of each the smallest machine and
//! state is kept, so that it can be followed by hand; counts are decisions, shares percent. Tests
//! by part: `a_broken_rule_is_found` (`take`, `kinds`, `size`, where a tree is built),
//! `the_core_decides_as_the_kernel` (`ended`, `agree`, `differ_pct`, `outcome`),
//! kernel_diff.rs::`what_cannot_be_compared_is_refused` (`new`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs

use super::SignalTally;
use crate::explain::{CoreAnswer, TreeAnswer};
use crate::{Experiment, StudyError};
use std::collections::BTreeMap;
use wakeplace_engine::TreeExplanation;
use wakeplace_outcome as outcome;
use wakeplace_policy_sys::{Explained, Policy};

/// Differs in the same step: what was asked, the core's rule and reason, and why it did not choose
/// the tree's CPU.
type Kind = (&'static str, &'static str, &'static str, &'static str);

/// How small an example is: CPUs, queued tasks, CPUs that are not idle.
type Size = (usize, u32, usize);

/// Decisions of one kind.
#[derive(Debug)]
pub struct DiffFound {
    /// What was asked: `wake`, `fork` or `exec`.
    pub asked: &'static str,
    /// The core's rule that decided.
    pub rule: &'static str,
    /// Why it chose its CPU.
    pub reason: &'static str,
    /// Why it did not choose the tree's CPU.
    pub dropped: &'static str,
    /// How many.
    pub count: u64,
    /// The smallest.
    pub example: TreeAnswer,
    size: Size,
}

/// A tree beside a policy of the core.
#[derive(Debug)]
pub struct KernelDiff {
    policy: Policy,
    tree: String,
    runs: u64,
    failed: Vec<String>,
    decisions: u64,
    differ: u64,
    kinds: BTreeMap<Kind, DiffFound>,
    pub(super) signals: SignalTally,
}

impl KernelDiff {
    /// Nothing is compared yet. `policy` is the core's, `tree` the name of the tree.
    ///
    /// # Errors
    /// The policy is a tree.
    pub fn new(policy: Policy, tree: &Policy) -> Result<Self, StudyError> {
        if policy.tree().is_some() {
            return Err(StudyError::Explain(format!(
                "`{}` is a kernel's own code; expected a policy of the core, as `linux-7.3`",
                policy.name()
            )));
        }
        Ok(Self {
            policy,
            tree: tree.name().to_owned(),
            runs: 0,
            failed: Vec::new(),
            decisions: 0,
            differ: 0,
            kinds: BTreeMap::new(),
            signals: SignalTally::default(),
        })
    }

    /// The core's policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The tree's name.
    #[must_use]
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Decisions so far.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Those in which both chose the same CPU.
    #[must_use]
    pub fn agree(&self) -> u64 {
        self.decisions - self.differ
    }

    /// Runs that the tree ended early: its words.
    #[must_use]
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Signals.
    #[must_use]
    pub fn signals(&self) -> &SignalTally {
        &self.signals
    }

    /// Kinds of differences, the most frequent first.
    #[must_use]
    pub fn kinds(&self) -> Vec<&DiffFound> {
        let mut kinds: Vec<&DiffFound> = self.kinds.values().collect();
        kinds.sort_by_key(|found| std::cmp::Reverse(found.count));
        kinds
    }

    /// Of all decisions those that differ, percent.
    #[must_use]
    pub fn differ_pct(&self) -> f64 {
        self.share_pct(self.differ)
    }

    /// A share of all decisions, percent.
    #[must_use]
    pub fn share_pct(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.decisions.max(1) as f64
    }

    /// A decision in which the core's answer is another CPU.
    pub(super) fn take(
        &mut self,
        experiment: &Experiment,
        told: TreeExplanation,
        explained: Explained,
    ) {
        self.differ += 1;
        let chosen = told.placement.cpu;
        let seen = explained.candidates.get(chosen as usize);
        let kind = (
            told.placement.kind.name(),
            explained.choice.rule.name(),
            explained.choice.reason.name(),
            seen.map_or("none", |seen| seen.dropped.name()),
        );
        let size = size(&told);
        if let Some(found) = self.kinds.get_mut(&kind) {
            found.count += 1;
            if found.size <= size {
                return;
            }
        }
        let count = self.kinds.get(&kind).map_or(1, |found| found.count);
        let example = TreeAnswer {
            idle: told.idle(&experiment.platform),
            told,
            experiment: experiment.clone(),
            wakeup_of_run: None,
            core: vec![CoreAnswer {
                policy: self.policy.name().to_owned(),
                explained,
            }],
            why_not: None,
        };
        let (asked, rule, reason, dropped) = kind;
        let found = DiffFound {
            asked,
            rule,
            reason,
            dropped,
            count,
            example,
            size,
        };
        self.kinds.insert(kind, found);
    }

    /// A run is over.
    pub(super) fn ended(&mut self, of: &Experiment, decisions: u64, failed: Option<String>) {
        self.runs += 1;
        self.decisions += decisions;
        if let Some(said) = failed {
            let (platform, seed) = (&of.platform.name, of.seeds[0]);
            self.failed.push(format!("{platform}, seed {seed}: {said}"));
        }
    }

    /// As results have it.
    #[must_use]
    pub fn outcome(&self) -> outcome::KernelDiff {
        let kind = |found: &DiffFound| outcome::DiffKind {
            asked: found.asked.to_owned(),
            rule: found.rule.to_owned(),
            reason: found.reason.to_owned(),
            dropped: found.dropped.to_owned(),
            count: found.count,
            share_pct: self.share_pct(found.count),
            example: found.example.outcome(),
        };
        let (signals, signal_differences) = self.signals.outcome();
        outcome::KernelDiff {
            signals,
            signal_differences,
            schema_version: crate::SCHEMA_VERSION,
            policy: self.policy.name().to_owned(),
            tree: self.tree.clone(),
            runs: self.runs,
            failed: self.failed.clone(),
            decisions: self.decisions,
            agree: self.agree(),
            kinds: self.kinds().into_iter().map(kind).collect(),
        }
    }

    /// The same as one JSON object, with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        crate::explain::json_text(&self.outcome())
    }
}

/// How hard a case is to follow: CPUs, tasks on them, CPUs that are not idle. Less is simpler.
fn size(told: &TreeExplanation) -> Size {
    let choices = &told.decided.choices;
    let queued = choices.iter().map(|choice| choice.nr_running).sum();
    let awake = choices.iter().filter(|choice| choice.idle == 0).count();
    (choices.len(), queued, awake)
}
