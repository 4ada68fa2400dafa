//! Tasks and cgroups (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: answers are mirrors that are up to date; 0 stands for NULL. Free: how arguments
//! are read; further calls as rows.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`task_cpu`, `cgroup_from_id`, `current`),
//! schedulers.rs::`what_a_scheduler_does_wrong_is_named` and
//! callbacks.rs::`of_a_ping_pong_whose_tasks_are_current_to_the_end` (`task_running`),
//! schedulers.rs::`cids_leave_and_come_back` (`from_tid`). `task_cgroup`, `set_slice`, `set_vtime`,
//! `now`, `from_pid`, `under_cgroup` and `cgroup_ancestor` have no test of their own: schedulers of
//! the kernel's tree run some of them (xtask/src/tries/kernel_schedulers.rs).
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; kfuncs/cids.rs (`task_cpu`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

use super::{Named, int, nothing, same};
use crate::kernel::{Running, get};
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::CgroupId;

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_task_running", task_running),
    ("scx_bpf_task_cpu", task_cpu),
    ("scx_bpf_task_cgroup", task_cgroup),
    ("scx_bpf_task_set_slice", set_slice),
    ("scx_bpf_task_set_dsq_vtime", set_vtime),
    ("scx_bpf_now", now),
    ("scx_bpf_tid_to_task", from_tid),
    ("bpf_task_acquire", same),
    ("bpf_task_release", nothing),
    ("bpf_task_from_pid", from_pid),
    ("bpf_task_from_vpid", from_pid),
    ("bpf_task_get_cgroup1", nothing),
    ("bpf_task_under_cgroup", under_cgroup),
    ("bpf_cgroup_acquire", same),
    ("bpf_cgroup_release", nothing),
    ("bpf_cgroup_from_id", cgroup_from_id),
    ("bpf_cgroup_ancestor", cgroup_ancestor),
    ("bpf_get_current_task_btf", current),
];

type Result = std::result::Result<u64, Fault>;

/// scx_bpf_task_running(): is it the current task of its CPU?
fn task_running(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    if let Some(task) = running.state.task_of(vm, args[0]) {
        return Ok(running.kernel()?.task_running(task).into());
    }
    // An idle task runs where nothing else does.
    let idle = running.state.idle.iter().position(|idle| *idle == args[0]);
    match idle {
        Some(cpu) => Ok(running.kernel()?.cpu_curr(cpu as u32).is_none().into()),
        None => running.task_of(vm, args[0]).map(|_| 0),
    }
}

/// The task's CPU; of what is no task of ours the field, as the kernel reads it.
pub(super) fn task_cpu(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    match (running.state.task_of(vm, args[0]), &running.kernel) {
        (Some(task), Some(kernel)) => Ok(super::signed(kernel.task_cpu(task))),
        _ => Ok(get(vm, args[0], running.state.layout.task.cpu)),
    }
}

/// The mirror of the task's cgroup; of the idle task the root's.
fn task_cgroup(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let cgroup = match running.state.task_of(vm, args[0]) {
        Some(task) => running.kernel()?.task(task).cgroup,
        None => CgroupId(0),
    };
    running.cgroup(vm, cgroup)
}

/// `scx_bpf_task_set_slice(task, ns)`: always 1 (true).
fn set_slice(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let task = running.task_of(vm, args[0])?;
    running.write_back(vm)?;
    running.kernel()?.set_slice_ns(task, args[1]);
    running.changed(vm, task);
    Ok(1)
}

/// `scx_bpf_task_set_dsq_vtime(task, vtime)`: always 1 (true).
fn set_vtime(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let task = running.task_of(vm, args[0])?;
    running.write_back(vm)?;
    running.kernel()?.set_dsq_vtime(task, args[1]);
    running.changed(vm, task);
    Ok(1)
}

/// ns of virtual time.
fn now(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(running.clock_ns())
}

/// The task's mirror; 0: no task of this pid lives.
fn from_pid(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    match running.kernel()?.task_from_pid(int(args[0])) {
        Some(task) => running.task(vm, task),
        None => Ok(0),
    }
}

/// `scx.tid` is the pid here: both name a task for as long as it lives.
fn from_tid(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let found = match i32::try_from(args[0]) {
        Ok(tid) => running.kernel()?.task_from_tid(tid),
        Err(_) => None,
    };
    match found {
        Some(task) => running.task(vm, task),
        None => Ok(0),
    }
}

/// bpf_task_under_cgroup(): is the task in the group, or in one in it?
fn under_cgroup(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let (Some(task), Some(above)) = (
        running.state.task_of(vm, args[0]),
        running.state.cgroup_of(vm, args[1]),
    ) else {
        return Ok(0);
    };
    let cgroup = running.kernel()?.task(task).cgroup;
    Ok((cgroup == above || above == CgroupId(0)).into())
}

/// Numbers begin at 1, as `kernfs_node::id` of the mirror says.
fn cgroup_from_id(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let known = running
        .kernel
        .as_ref()
        .map_or(1, |kernel| kernel.nr_cgroups());
    match args[0].checked_sub(1).filter(|at| *at < u64::from(known)) {
        Some(at) => running.cgroup(vm, CgroupId(at as u32)),
        None => Ok(0),
    }
}

/// bpf_cgroup_ancestor(): the group at a level above this one, 0: there is none.
fn cgroup_ancestor(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let Some(cgroup) = running.state.cgroup_of(vm, args[0]) else {
        return Ok(0);
    };
    let mut line = vec![cgroup];
    while let Some(parent) = running
        .kernel
        .as_ref()
        .and_then(|kernel| kernel.cgroup_parent(line[line.len() - 1]))
    {
        line.push(parent);
    }
    line.reverse();
    match line.get(int(args[1]).cast_unsigned() as usize) {
        Some(found) => running.cgroup(vm, *found),
        None => Ok(0),
    }
}

/// The mirror of the task on whose behalf the program runs; an idle CPU has its idle task.
fn current(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    running.current(vm)
}
