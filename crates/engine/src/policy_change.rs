//! Parameters of the policy that change while a run goes on. A change moves no task: it counts from
//! the next decision on (docs/guide/policy.md).
//!
//! What must stay: changes of one instant happen in the order given; a text that is shown is read
//! again. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `a_change_in_mid_run_moves_tasks_in_time` (`schedule`, `in_order`),
//! `what_is_built_cannot_change` (`check`), power.rs::`a_thousand_random_changes_lose_no_task`
//! (many changes). `fmt` and changes of one instant have no test of their own here.
//!
//! Callers: check.rs (`check`), kernel/model/mod.rs (`schedule`).
//!
//! Tests: crates/engine/tests/behaviour/power.rs

use crate::hotplug::Time;
use std::fmt;
use thiserror::Error;
use wakeplace_policy_sys::{Policy, PolicyError};
use wakeplace_workload::shorten;

/// One parameter changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    /// When, ns.
    pub at_ns: u64,
    /// A parameter, or a feature that has versions.
    pub key: String,
    /// Its value from then on.
    pub value: String,
}

impl fmt::Display for PolicyChange {
    /// As it is typed: `10s=power-policy=powersaving`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}={}", Time(self.at_ns), self.key, self.value)
    }
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("policy-at `{change}`: {problem}")]
pub struct PolicyChangeError {
    /// The change.
    pub change: String,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// The changes in the order of time, of one instant as given, each with the whole policy then.
fn in_order<'a>(
    policy: &Policy,
    changes: &'a [PolicyChange],
) -> impl Iterator<Item = (&'a PolicyChange, Result<Policy, PolicyError>)> {
    let mut order: Vec<&PolicyChange> = changes.iter().collect();
    order.sort_by_key(|change| change.at_ns);
    let mut now = policy.clone();
    order.into_iter().map(move |change| {
        let made = now.change(&change.key, &change.value);
        (change, made.map(|()| now.clone()))
    })
}

/// Can a run of `duration_ns` under this policy make these changes?
pub(crate) fn check(
    changes: &[PolicyChange],
    policy: &Policy,
    duration_ns: u64,
) -> Result<(), PolicyChangeError> {
    for (change, made) in in_order(policy, changes) {
        let error = |problem: String| PolicyChangeError {
            change: shorten(&change.to_string()),
            problem,
        };
        made.map_err(|e| error(e.to_string()))?;
        if change.at_ns >= duration_ns {
            let end = Time(duration_ns);
            return Err(error(format!(
                "the run is over at {end}; expected a time before that, or a longer `--duration`"
            )));
        }
    }
    Ok(())
}

/// When the core gets which policy. The changes have passed `check`.
pub(crate) fn schedule(policy: &Policy, changes: &[PolicyChange]) -> Vec<(u64, Policy)> {
    let made = in_order(policy, changes);
    made.map(|(change, policy)| (change.at_ns, policy.expect("checked before the run")))
        .collect()
}
