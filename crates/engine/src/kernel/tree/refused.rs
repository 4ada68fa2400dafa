//! What a run can be asked for that a tree's own kernel does not have. What can be asked for and is
//! not carried out by a tree must be here: nothing is passed over (docs/guide/kernel.md, "In a
//! run").
//!
//! What must stay: the first reason found is the answer, as a sentence for the user. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `what_it_does_not_take_is_refused` (`--policy-at`, `model.em_scale`; where a tree is built).
//! Wake-up cases and WF_CURRENT_CPU have no test of their own. That is `tree_refuses`.
//!
//! Callers: crates/study/src/tree.rs (`tree_refuses`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::what_it_does_not_take_is_refused

use crate::options::Options;
use wakeplace_workload::Workload;

/// Why such a run cannot be had under a tree's own kernel; None: it can.
#[must_use]
pub fn tree_refuses(workload: &Workload, options: &Options) -> Option<String> {
    let asked = [
        (
            !options.em_scale.is_empty(),
            "`model.em_scale`: its energy model is that of the platform",
        ),
        (
            !options.policy_at.is_empty(),
            "`--policy-at`: its parameters stay as they are in its name",
        ),
        (
            options.wakeup_cases,
            "`--export-wakeup-cases`: it does not say how big a task is against its CPUs",
        ),
        (
            workload.tasks.iter().any(|task| task.attributes.wake_here),
            "wake-ups of recordings that ask for the waker's CPU (WF_CURRENT_CPU)",
        ),
    ];
    let found = asked.into_iter().find_map(|(is, what)| is.then_some(what));
    found.map(|what| format!("not offered for a kernel's own code: {what}"))
}
