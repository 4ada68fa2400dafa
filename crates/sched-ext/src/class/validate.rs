//! What a kernel refuses of a table before it calls anything (`bpf_scx_init_member`,
//! `validate_ops`; docs/rules/sched-ext.md#errors).
//!
//! What must stay: the order of checks and their texts, which are the kernel's: the first that
//! fails is the answer. Free: how a table is looked at, in the kernel's order.
//!
//! Tests by part: `a_name_is_needed`, `flags_are_known`, `numbers_have_an_end`,
//! `the_last_one_is_enqueued_by_a_callback`, `idle_masks_per_node_are_the_kernels` (each a check of
//! `refusal`), errors.rs::`what_is_not_modelled_is_refused` (the last of them).
//!
//! Callers: class/life.rs (`load`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/errors.rs, crates/sched-ext/tests/all/table.rs

use crate::consts::{
    SCX_OPS_ALL_FLAGS, SCX_OPS_BUILTIN_IDLE_PER_NODE, SCX_OPS_ENQ_LAST, SCX_OPS_KEEP_BUILTIN_IDLE,
    SCX_OPS_SWITCH_PARTIAL, SCX_WATCHDOG_MAX_TIMEOUT_MS,
};
use crate::{Callback, OpsInfo};

/// Why the table is refused. The texts of `validate_ops` are the kernel's; of a member it says only
/// a number, which is in the text.
pub(super) fn refusal(info: &OpsInfo) -> Option<String> {
    let has = |flag: u64| info.flags & flag != 0;
    let unknown = info.flags & !SCX_OPS_ALL_FLAGS;
    if info.name.is_empty() {
        return Some("the table has no name (-EINVAL); expected one".to_owned());
    }
    if unknown != 0 {
        return Some(format!("unknown flags {unknown:#x} (-EINVAL)"));
    }
    if info.timeout_ms > SCX_WATCHDOG_MAX_TIMEOUT_MS {
        let (ms, most) = (info.timeout_ms, SCX_WATCHDOG_MAX_TIMEOUT_MS);
        return Some(format!(
            "timeout_ms is {ms} (-E2BIG); expected {most} at most"
        ));
    }
    if info.dispatch_max_batch > i32::MAX.cast_unsigned() {
        let (batch, most) = (info.dispatch_max_batch, i32::MAX);
        return Some(format!(
            "dispatch_max_batch is {batch} (-E2BIG); expected {most} at most"
        ));
    }
    if has(SCX_OPS_ENQ_LAST) && !info.callbacks.has(Callback::Enqueue) {
        return Some("SCX_OPS_ENQ_LAST requires ops.enqueue() to be implemented".to_owned());
    }
    let own_idle = info.callbacks.has(Callback::UpdateIdle) && !has(SCX_OPS_KEEP_BUILTIN_IDLE);
    if has(SCX_OPS_BUILTIN_IDLE_PER_NODE) && own_idle {
        let text = "SCX_OPS_BUILTIN_IDLE_PER_NODE requires CPU idle selection enabled";
        return Some(text.to_owned());
    }
    if has(SCX_OPS_SWITCH_PARTIAL) {
        let text = "SCX_OPS_SWITCH_PARTIAL: a fair class beside the scheduler is not modelled";
        return Some(text.to_owned());
    }
    // Up to 1 it is the root's (docs/rules/sched-ext.md#sub-schedulers).
    (info.sub_cgroup_id > 1).then(|| {
        format!(
            "sub_cgroup_id is {}: sub-schedulers are not modelled; expected 0, a scheduler of all \
             tasks",
            info.sub_cgroup_id
        )
    })
}
