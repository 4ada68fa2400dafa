//! A tree's decisions, each beside what a policy of the core answers to the same question on the
//! tree's state at that moment, and what it makes of its signals, beside what the core makes of
//! them. Trajectories are not compared: they part within milliseconds (docs/guide/kernel.md,
//! "Beside the policy core").
//!
//! What must stay: the tree decides; the core only answers, and its answer changes nothing of the
//! run; decisions count in the order of the run, over all runs together. Tests by part:
//! `the_core_decides_as_the_kernel` (`add`, `decision`, where a tree is built),
//! `the_cores_signals_are_the_kernels` (`updated`), `what_cannot_be_compared_is_refused`
//! (`not_a_tree`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs

mod draw;
mod signals;
mod tally;

pub use draw::{Drawn, draw};
pub use signals::{SignalFound, SignalTally};
pub use tally::{DiffFound, KernelDiff};

use crate::tree::{check, runs_of};
use crate::{Experiment, StudyError};
use wakeplace_engine::{
    Looks, OnSignals, OnTree, SignalKind, TreeExplanation, Updated, watch_tree,
};
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
        let core = OnTree::new(platform, self.policy()).map_err(refused)?;
        let signals = OnSignals::new(platform, self.policy()).map_err(refused)?;
        let run = |observer: &mut dyn wakeplace_engine::Observer| {
            runs.run(platform, &workload, options, observer)
        };
        let left = most.saturating_sub(self.decisions());
        let mut asks = Asks {
            diff: self,
            experiment,
            core,
            signals,
            counts: vec![0; SignalKind::ALL.len()],
        };
        let ended = watch_tree(&workload, left, run, &mut asks);
        let counts = asks.counts;
        let (decisions, failed) = ended.map_err(|reason| StudyError::Tree {
            name: tree.name().to_owned(),
            reason,
        })?;
        self.ended(experiment, decisions, failed);
        self.signals.ended(&counts);
        Ok(())
    }
}

/// The core is asked of one run.
struct Asks<'a> {
    diff: &'a mut KernelDiff,
    experiment: &'a Experiment,
    core: OnTree,
    signals: OnSignals,
    counts: Vec<u64>,
}

impl Looks for Asks<'_> {
    fn decision(&mut self, told: TreeExplanation) -> bool {
        let explained = self.core.explain(told.time_ns, &told.decided);
        let differs = explained.choice.cpu != told.placement.cpu;
        if differs {
            self.diff.take(self.experiment, told, explained);
        }
        differs
    }

    fn updated(&mut self, time_ns: u64, updated: &Updated) -> bool {
        let step;
        let compared = match updated {
            Updated::Balance(told) => {
                step = self.core.balance(time_ns, told);
                step.as_slice()
            }
            _ => self.signals.compare(updated),
        };
        let mut differs = false;
        for compared in compared {
            self.counts[compared.kind as usize] += 1;
            if !compared.differ.is_empty() {
                differs = true;
                let tally = &mut self.diff.signals;
                tally.take(self.experiment, time_ns, updated, compared);
            }
        }
        differs
    }

    fn counts(&mut self) -> &mut Vec<u64> {
        &mut self.counts
    }
}

/// The refusal of a first policy that is the core's own.
fn not_a_tree(policy: &Policy) -> StudyError {
    StudyError::Explain(format!(
        "`{}` is no kernel's own code; expected kernel:VERSION or kernel:PATH",
        policy.name()
    ))
}
