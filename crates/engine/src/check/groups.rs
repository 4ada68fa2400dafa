//! What must hold of a workload's task groups before a run.
//!
//! What must stay: the queues and the core can carry out whatever is allowed here. The page
//! docs/rules/group-bandwidth.md says which file came with which kernel.
//!
//! Tests: crates/engine/tests/behaviour/groups.rs::what_cannot_have_groups_is_refused,
//! crates/engine/tests/behaviour/groups.rs::no_scheduler_keeps_a_budget

use super::RunError;
use crate::options::Options;
use wakeplace_policy_sys::Policy;
use wakeplace_policy_sys::sys::{WP_PELT_CLOCK, WP_QUEUE_LIVE};
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

/// The files of groups that not all kernels have: their names, since when, the parameter that says
/// so, and whether a group uses one.
type GroupFile = (
    &'static str,
    &'static str,
    &'static str,
    fn(&GroupLimits) -> bool,
);
const GROUP_FILES: [GroupFile; 3] = [
    ("cpu.max.burst", "5.14", "group_burst", |limits| {
        limits.bandwidth.is_some_and(|max| max.burst_ns > 0)
    }),
    ("cpu.idle", "5.15", "group_idle", |limits| limits.idle),
    ("cpu.uclamp.min and .max", "5.4", "uclamp", |limits| {
        limits.uclamp_min.is_some() || limits.uclamp_max.is_some()
    }),
];

/// A file of a group that the policy's kernel does not have yet is an error that names the kernel
/// which brought it; nothing is ignored. Test: `files_that_a_kernel_lacks_are_refused`
/// (bandwidth.rs).
fn check_group_files(policy: &Policy, workload: &Workload) -> Result<(), RunError> {
    let params = policy.core_params();
    let has = [params.group_burst, params.group_idle, params.uclamp];
    for ((file, since, key, uses), has) in GROUP_FILES.into_iter().zip(has) {
        let group = workload.groups.iter().find(|group| uses(&group.limits));
        if let Some(group) = group.filter(|_| has == 0) {
            return Err(RunError::NoGroupFile {
                policy: policy.name().to_owned(),
                workload: workload.name.clone(),
                group: group.name.as_str().into(),
                file,
                since,
                key,
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
