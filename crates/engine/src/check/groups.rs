//! What must hold of a workload's task groups before a run.
//!
//! What must stay: the queues and the core can carry out whatever is allowed here. The page
//! docs/rules/group-bandwidth.md says which file came with which kernel. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `what_cannot_have_groups_is_refused` (`check_groups`),
//! bandwidth.rs::`files_that_a_kernel_lacks_are_refused` (`check_group_files`, `GROUP_FILES`),
//! `no_scheduler_keeps_a_budget` (`check_sched_ext`).
//!
//! Callers: check.rs (`check_groups`).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs::what_cannot_have_groups_is_refused,
//! crates/engine/tests/behaviour/groups.rs::no_scheduler_keeps_a_budget,
//! crates/engine/tests/behaviour/bandwidth.rs::files_that_a_kernel_lacks_are_refused

use super::RunError;
use crate::options::Options;
use wakeplace_policy_sys::Policy;
use wakeplace_policy_sys::sys::{WP_PELT_CLOCK, WP_QUEUE_LIVE, wp_params};
use wakeplace_workload::{GroupLimits, Workload};

/// Can a sched_ext scheduler have the workload's tasks? The kernel keeps `cpu.max` for tasks of the
/// fair class alone (docs/rules/group-bandwidth.md#sched-ext).
///
/// # Errors
/// A group has a quota.
pub fn check_sched_ext(workload: &Workload) -> Result<(), RunError> {
    let mut groups = workload.groups.iter();
    match groups.find(|group| group.limits.bandwidth.is_some()) {
        Some(group) => Err(RunError::NoBandwidth {
            workload: workload.name.clone(),
            group: group.name.clone(),
        }),
        None => Ok(()),
    }
}

/// A file of groups that not all kernels have.
struct GroupFile {
    name: &'static str,
    since: &'static str,
    /// The parameter that says whether the policy's kernel has it.
    key: &'static str,
    has: fn(&wp_params) -> u32,
    /// Does a group use it?
    uses: fn(&GroupLimits) -> bool,
}

const GROUP_FILES: [GroupFile; 3] = [
    GroupFile {
        name: "cpu.max.burst",
        since: "5.14",
        key: "group_burst",
        has: |params| params.group_burst,
        uses: |limits| limits.bandwidth.is_some_and(|max| max.burst_ns > 0),
    },
    GroupFile {
        name: "cpu.idle",
        since: "5.15",
        key: "group_idle",
        has: |params| params.group_idle,
        uses: |limits| limits.idle,
    },
    GroupFile {
        name: "cpu.uclamp.min and .max",
        since: "5.4",
        key: "uclamp",
        has: |params| params.uclamp,
        uses: |limits| limits.uclamp_min.is_some() || limits.uclamp_max.is_some(),
    },
];

/// A file of a group that the policy's kernel does not have yet is an error that names the kernel
/// which brought it; nothing is ignored. Test: `files_that_a_kernel_lacks_are_refused`
/// (bandwidth.rs).
fn check_group_files(policy: &Policy, workload: &Workload) -> Result<(), RunError> {
    for file in GROUP_FILES {
        let has = (file.has)(policy.core_params()) != 0;
        let mut groups = workload.groups.iter();
        if let Some(group) = groups.find(|group| !has && (file.uses)(&group.limits)) {
            return Err(RunError::NoGroupFile {
                policy: policy.name().to_owned(),
                workload: workload.name.clone(),
                group: group.name.as_str().into(),
                file: file.name,
                since: file.since,
                key: file.key,
            });
        }
    }
    Ok(())
}

/// Groups that the settings name exist, and the kernel of the policy has what the workload asks.
pub(super) fn check_groups(
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> Result<(), RunError> {
    let names = || workload.groups.iter().map(|group| group.name.as_str());
    for (group, _) in &options.shares {
        if names().any(|name| name == group) {
            continue;
        }
        let known = match names().collect::<Vec<_>>().as_slice() {
            [] => "it has none".to_owned(),
            names => format!("expected one of {}", names.join(", ")),
        };
        return Err(RunError::NoSuchGroup {
            workload: workload.name.clone(),
            group: group.clone(),
            known,
        });
    }
    if workload.groups.is_empty() {
        return Ok(());
    }
    let (name, groups) = (workload.name.clone(), workload.groups.len());
    let params = policy.core_params();
    if params.queue == WP_QUEUE_LIVE {
        return Err(RunError::NoGroups {
            policy: policy.name().to_owned(),
            workload: name,
            groups,
        });
    }
    if params.pelt_scale > WP_PELT_CLOCK || params.weight_is_load != 0 {
        let params = policy.params();
        let value = |key| {
            params
                .iter()
                .find(|p| p.key == key)
                .map(|p| p.value.clone())
        };
        return Err(RunError::NoGroupSignals {
            policy: policy.name().to_owned(),
            pelt_scale: value("pelt_scale").unwrap_or_default(),
            weight_is_load: value("weight_is_load").unwrap_or_default(),
            workload: name,
            groups,
        });
    }
    check_group_files(policy, workload)
}
