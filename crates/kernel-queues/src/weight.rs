//! Weights of tasks, and virtual time by them, in the kernel's fixed point. The core has the same
//! arithmetic in C (`load_tracking/weights.c`): both must agree
//! (docs/rules/queues.md#nice-weights).
//!
//! What must stay: the products' shifts are the kernel's, to the last bit. Free: nothing of
//! the arithmetic without weights.c.
//!
//! Tests by part: `virtual_time_matches_the_kernels_fixed_point` (`virtual_time`, `calc_delta`,
//! `of_nice`), cfs/tests.rs: `slices_follow_weights` (`of_sum`), `three_equal_tasks_share_a_period`
//! (`scaling_factor`), cfs/buddies/tests.rs: `policies_decide_before_times_do` and eevdf/tests.rs:
//! `policies_decide_before_deadlines_do` (`preempts_by_policy`), engine's eevdf.rs:
//! `an_idle_policy_hog_gets_3_of_1027` (`of_task`, `task_weight`).
//!
//! Callers: all queues of this crate; the engine asks `task_weight` for the core.
//!
//! Tests: crates/kernel-queues/src/cfs/tests.rs::virtual_time_matches_the_kernels_fixed_point,
//! crates/engine/tests/behaviour/fair.rs::nice_0_and_nice_5_share_1024_to_335

use wakeplace_policy_sys::sys::{WP_WEIGHT_IDLE_POLICY, wp_params};
use wakeplace_policy_sys::{nice_inv_weight, nice_weight};
use wakeplace_workload::FairPolicy;

pub(crate) const NICE_0_WEIGHT: u64 = 1024;

/// What a task of a fair policy weighs.
#[must_use]
pub fn task_weight(nice: i8, policy: FairPolicy) -> u32 {
    Weight::of_task(nice, policy).weight as u32
}

/// By how much the era's times are longer on this machine.
pub(crate) fn scaling_factor(params: &wp_params, nr_cpus: usize) -> u64 {
    let factor = wakeplace_policy_sys::scaling_factor(params.tunable_scaling, nr_cpus as u32);
    u64::from(factor)
}

/// Weight with its fixed-point inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) weight: u64,
    inverse: u64,
}

impl Weight {
    /// `nice` -20..=19, from the kernel's tables.
    pub(crate) fn of_nice(nice: i8) -> Self {
        Self {
            weight: u64::from(nice_weight(nice.into())),
            inverse: u64::from(nice_inv_weight(nice.into())),
        }
    }

    /// The weight of a fair task; SCHED_IDLE has the least.
    pub(crate) fn of_task(nice: i8, policy: FairPolicy) -> Self {
        match policy {
            FairPolicy::Other | FairPolicy::Batch => Self::of_nice(nice),
            FairPolicy::Idle => Self {
                weight: u64::from(WP_WEIGHT_IDLE_POLICY),
                inverse: (1 << 32) / u64::from(WP_WEIGHT_IDLE_POLICY),
            },
        }
    }

    /// Of a sum of weights or a group's: the inverse is computed, as the kernel does; 0 has inverse
    /// 0.
    pub(crate) fn of_sum(weight: u64) -> Self {
        Self {
            weight,
            inverse: u64::from(u32::MAX).checked_div(weight).unwrap_or(0),
        }
    }
}

/// `delta * weight / per` in the kernel's fixed point: the product with the inverse is shortened
/// to 32 bits before the last multiplication.
pub(crate) fn calc_delta(delta_ns: u64, weight: u64, per: Weight) -> u64 {
    let mut factor = weight * per.inverse;
    let mut shift = 32;
    while factor >> 32 != 0 {
        factor >>= 1;
        shift -= 1;
    }
    ((u128::from(delta_ns) * u128::from(factor)) >> shift) as u64
}

/// Virtual time of `delta_ns` for a weight.
#[inline]
pub(crate) fn virtual_time(delta_ns: u64, per: Weight) -> i64 {
    if per.weight == NICE_0_WEIGHT {
        return delta_ns.cast_signed();
    }
    calc_delta(delta_ns, NICE_0_WEIGHT, per).cast_signed()
}

/// Does a woken task preempt by policy alone? None: their times decide.
pub(crate) fn preempts_by_policy(running: FairPolicy, woken: FairPolicy) -> Option<bool> {
    match (running, woken) {
        (FairPolicy::Idle, FairPolicy::Other | FairPolicy::Batch) => Some(true),
        (_, FairPolicy::Batch | FairPolicy::Idle) => Some(false),
        (_, FairPolicy::Other) => None,
    }
}
