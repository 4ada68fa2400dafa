//! Tables that a kernel refuses (docs/rules/sched-ext.md#errors).
//!
//! What must stay: a refused table ends before any callback has run; texts are the kernel's. Free:
//! further tables that a kernel refuses.
//! Tests by part (in crates/sched-ext/src): class/validate.rs (`refusal`), a check each:
//! `a_name_is_needed`, `flags_are_known`, `numbers_have_an_end`,
//! `the_last_one_is_enqueued_by_a_callback`, `idle_masks_per_node_are_the_kernels`.
//! Helpers, and who fails with them: `refused` (all tests, `a_name_is_needed` among them).

use crate::kernel::{ask, asking, eight_cpus};
use wakeplace_sched_ext::consts::{
    SCX_OPS_BUILTIN_IDLE_PER_NODE, SCX_OPS_ENQ_LAST, SCX_OPS_KEEP_BUILTIN_IDLE,
};
use wakeplace_sched_ext::{Callback, Callbacks, ExitKind, OpsInfo};

/// How a scheduler with this table ended; no callback of it may have run then.
fn refused(info: OpsInfo) -> Option<String> {
    let mut called = false;
    let exit = ask(eight_cpus(), info, 0xff, |_, _| called = true);
    assert_eq!(called, exit.is_none());
    exit.map(|exit| {
        assert_eq!(exit.kind, ExitKind::Error);
        exit.message
    })
}

#[test]
fn a_name_is_needed() {
    assert_eq!(refused(asking()), None);
    let text = refused(OpsInfo {
        name: String::new(),
        ..asking()
    });
    let expected = "the table has no name (-EINVAL); expected one";
    assert_eq!(text.as_deref(), Some(expected));
}

#[test]
fn flags_are_known() {
    let with = |flags| refused(OpsInfo { flags, ..asking() });
    assert_eq!(with(1 << 2), None);
    assert_eq!(with(1 << 16), None, "old ones are taken");
    let text = with(1 << 40 | 1 << 2);
    let expected = "unknown flags 0x10000000000 (-EINVAL)";
    assert_eq!(text.as_deref(), Some(expected));
}

#[test]
fn numbers_have_an_end() {
    let timeout = |timeout_ms| {
        refused(OpsInfo {
            timeout_ms,
            ..asking()
        })
    };
    assert_eq!(timeout(30_000), None);
    let expected = "timeout_ms is 30001 (-E2BIG); expected 30000 at most";
    assert_eq!(timeout(30_001).as_deref(), Some(expected));
    let text = refused(OpsInfo {
        dispatch_max_batch: 1 << 31,
        ..asking()
    });
    let expected = "dispatch_max_batch is 2147483648 (-E2BIG); expected 2147483647 at most";
    assert_eq!(text.as_deref(), Some(expected));
}

/// `scx_sub_enable()` is for tables whose `sub_cgroup_id` is above 1 (7.3.4, kernel/sched/ext).
#[test]
fn a_scheduler_of_a_cgroup_is_refused() {
    let of = |sub_cgroup_id| {
        refused(OpsInfo {
            sub_cgroup_id,
            ..asking()
        })
    };
    assert_eq!([of(0), of(1)], [None, None]);
    let expected = "sub_cgroup_id is 7: sub-schedulers are not modelled; expected 0, a scheduler \
                    of all tasks";
    assert_eq!(of(7).as_deref(), Some(expected));
}

#[test]
fn the_last_one_is_enqueued_by_a_callback() {
    let with = |callbacks| {
        refused(OpsInfo {
            flags: SCX_OPS_ENQ_LAST,
            callbacks,
            ..asking()
        })
    };
    assert_eq!(with(Callbacks::NONE.with(Callback::Enqueue)), None);
    let expected = "SCX_OPS_ENQ_LAST requires ops.enqueue() to be implemented";
    assert_eq!(with(Callbacks::NONE).as_deref(), Some(expected));
}

#[test]
fn idle_masks_per_node_are_the_kernels() {
    let with = |flags| {
        refused(OpsInfo {
            flags: flags | SCX_OPS_BUILTIN_IDLE_PER_NODE,
            callbacks: Callbacks::NONE.with(Callback::UpdateIdle),
            ..asking()
        })
    };
    assert_eq!(with(SCX_OPS_KEEP_BUILTIN_IDLE), None);
    let expected = "SCX_OPS_BUILTIN_IDLE_PER_NODE requires CPU idle selection enabled";
    assert_eq!(with(0).as_deref(), Some(expected));
}
