//! A kernel tree's own code in the place of a policy (docs/guide/kernel.md, "In a run"). What a
//! tree decides, the core has no part in.
//!
//! What must stay: each run has a process of its own (`crates/kernel-run`), and a tree that fails
//! ends one run (`Ended::Kernel`); what is not modelled with a tree is refused before the run.
//! `pool.rs` and `explain` call it. Tests by part: `a_comparison_does_not_depend_on_threads`
//! (`runs_of`, where a tree is built), `what_it_does_not_take_is_refused` (`check`),
//! kernel_runs.rs::`energy_aware_placement_is_the_kernels_own` (`TreeRuns`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs

use crate::StudyError;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use wakeplace_engine::{Observer, Options, RunReport, tree_refuses};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Policy, Tree};
use wakeplace_workload::Workload;

/// Runs a tree's code.
pub trait TreeRuns: fmt::Debug + Send + Sync {
    /// One run, from nothing to its end. A tree that fails is an outcome of the run
    /// (`Ended::Kernel`).
    ///
    /// # Errors
    /// One sentence if there can be no run.
    fn run(
        &self,
        platform: &Platform,
        workload: &Workload,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, String>;
}

/// A tree that is built, as policies have it.
#[derive(Clone, Debug)]
pub struct BuiltTree {
    /// As results name it.
    pub label: String,
    /// The name of the policy whose era is nearest.
    pub era: String,
    /// Major and minor number of its version.
    pub release: (u16, u16),
    /// What it is and how it was built, key and value.
    pub facts: Vec<(String, String)>,
    /// What a reader must know before believing the figures: a sentence each.
    pub notes: Vec<String>,
    /// How it runs.
    pub runs: Arc<dyn TreeRuns>,
}

impl Tree for BuiltTree {
    /// As it was typed; the name of the policy in results.
    fn label(&self) -> &str {
        &self.label
    }

    /// The core's era that is nearest, for settings and for answers beside the tree's.
    fn era(&self) -> &str {
        &self.era
    }

    /// Version and patch level, as 7 and 3.
    fn release(&self) -> (u16, u16) {
        self.release
    }

    /// What the tree was built from, as key and value; results hold it.
    fn facts(&self) -> Vec<(String, String)> {
        self.facts.clone()
    }

    /// What a reader should know of the tree, one sentence each.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// For who runs it: the crate that built the tree knows the type behind.
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Whether a policy that is a tree's own code takes all that a run asks for.
pub(crate) fn check(
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> Result<(), StudyError> {
    let refused = policy.tree().and_then(|_| tree_refuses(workload, options));
    refused.map_or(Ok(()), |reason| {
        let name = policy.name().to_owned();
        Err(StudyError::Tree { name, reason })
    })
}

/// How a policy's tree runs; None: the core decides.
///
/// # Errors
/// The policy is a tree that nobody has built.
#[must_use]
pub fn runs_of(policy: &Policy) -> Option<Result<&dyn TreeRuns, StudyError>> {
    let tree = policy.tree()?;
    let built = tree.as_any().downcast_ref::<BuiltTree>();
    Some(
        built
            .map(|built| &*built.runs)
            .ok_or_else(|| StudyError::Tree {
                name: tree.label().to_owned(),
                reason: "it is not built".to_owned(),
            }),
    )
}
