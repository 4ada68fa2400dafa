//! A tree's decisions, each beside what a policy of the core answers to the same question on the
//! tree's state at that moment. Trajectories are not compared: they part within milliseconds
//! (docs/guide/kernel.md, "Beside the policy core").
//!
//! The tree decides; the core only answers, and its answer changes nothing of the run. Called by
//! `kernel diff`. Decisions count in the order of the run.
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs::the_core_decides_as_the_kernel,
//! crates/cli/tests/all/kernel_diff.rs::what_cannot_be_compared_is_refused

mod draw;
mod tally;

pub use draw::{Drawn, draw};
pub use tally::{DiffFound, KernelDiff};

use crate::tree::{check, runs_of};
use crate::{Experiment, StudyError};
use wakeplace_engine::{OnTree, watch_tree};
use wakeplace_policy_sys::{MachineError, Policy};

impl KernelDiff {
    /// Runs the tree of an experiment's first policy with its first seed, and asks the core at
    /// each of its decisions until `most` are reached, all runs together. A tree that fails in the
    /// run is taken down.
    ///
    /// # Errors
    /// There can be no such run, or the core refuses the machine.
    pub fn add(&mut self, experiment: &Experiment, most: u64) -> Result<(), StudyError> {
        let workload = experiment.first_workload()?;
        let (platform, options) = (&experiment.platform, &experiment.options);
        let tree = &experiment.policies[0];
        check(tree, &workload, options)?;
        wakeplace_engine::check(platform, self.policy(), &workload, options)?;
        let runs = runs_of(tree).ok_or_else(|| not_a_tree(tree))??;
        let refused = |error: MachineError| {
            let name = self.policy().name();
            StudyError::Explain(format!("{name} on {}: {error}", platform.name))
        };
        let mut core = OnTree::new(platform, self.policy()).map_err(refused)?;
        let run = |observer: &mut dyn wakeplace_engine::Observer| {
            runs.run(platform, &workload, options, observer)
        };
        let left = most.saturating_sub(self.decisions());
        let ended = watch_tree(&workload, left, run, |told| {
            let explained = core.explain(told.time_ns, &told.decided);
            let differs = explained.choice.cpu != told.placement.cpu;
            if differs {
                self.take(experiment, told, explained);
            }
            differs
        });
        let (decisions, failed) = ended.map_err(|reason| StudyError::Tree {
            name: tree.name().to_owned(),
            reason,
        })?;
        self.ended(experiment, decisions, failed);
        Ok(())
    }
}

/// The refusal of a first policy that is the core's own.
fn not_a_tree(policy: &Policy) -> StudyError {
    StudyError::Explain(format!(
        "`{}` is no kernel's own code; expected kernel:VERSION or kernel:PATH",
        policy.name()
    ))
}
