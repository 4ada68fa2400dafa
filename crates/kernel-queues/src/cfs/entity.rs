//! What the queue keeps of a task, and the era's constants (docs/rules/queues.md#cfs-constants).
//!
//! What must stay: constants are the era's parameters, scaled by the number of CPUs
//! (`scaling_factor`); times are ns. Free: what else is kept of a task.
//!
//! Tests by part: cfs/tests.rs: `three_equal_tasks_share_a_period` (constants: `new`),
//! `a_turn_of_later_kernels_is_at_most_the_latency` (`turn_ns`),
//! `an_idle_sleeper_is_credited_less_in_later_kernels` (`is_idle`); grouped/cfs/tests.rs:
//! `the_group_of_a_buddy_is_one_too` (`of_group`, `on_behalf_of`). `set_load_weight` has no test of
//! its own here.
//!
//! Callers: cfs.rs, cfs/class.rs, grouped/cfs.rs.
//!
//! Tests: crates/kernel-queues/src/cfs/tests.rs

use crate::weight::{Weight, scaling_factor};
use wakeplace_policy_sys::sys::wp_params;
use wakeplace_workload::FairPolicy;

/// The era's fair-class constants, scaled for a machine.
#[derive(Clone, Copy, Debug)]
pub struct CfsParams {
    pub(crate) latency_ns: u64,
    pub(crate) min_granularity_ns: u64,
    pub(crate) wakeup_granularity_ns: u64,
    /// Tasks up to which the period is `latency_ns`.
    pub(crate) nr_latency: usize,
    pub(crate) gentle_sleepers: bool,
    pub(crate) start_debit: bool,
    /// A slice is at least the minimal granularity.
    pub(crate) base_slice: bool,
    /// A turn is at most `latency_ns` long.
    pub(crate) slice_limit: bool,
    /// A woken SCHED_IDLE task is credited by the minimal granularity.
    pub(crate) idle_credit: bool,
    pub(crate) wakeup_preemption: bool,
    pub(crate) last_buddy: bool,
}

impl CfsParams {
    /// Of an era on a machine with so many CPUs.
    #[must_use]
    pub fn new(params: &wp_params, nr_cpus: usize) -> Self {
        let factor = scaling_factor(params, nr_cpus);
        let latency = u64::from(params.sched_latency_ns);
        let granularity = u64::from(params.min_granularity_ns);
        Self {
            latency_ns: latency * factor,
            min_granularity_ns: granularity * factor,
            wakeup_granularity_ns: u64::from(params.wakeup_granularity_ns) * factor,
            nr_latency: latency.div_ceil(granularity) as usize,
            gentle_sleepers: params.gentle_fair_sleepers != 0,
            start_debit: params.start_debit != 0,
            base_slice: params.cfs_base_slice != 0,
            slice_limit: params.cfs_slice_limit != 0,
            idle_credit: params.cfs_idle_credit != 0,
            wakeup_preemption: params.wakeup_preemption != 0,
            last_buddy: params.last_buddy != 0,
        }
    }

    /// How long the turn of a task with this slice is, ns. Many light tasks make the period, and
    /// with it the slice of a heavier one, far longer than the latency.
    pub(crate) fn turn_ns(&self, slice_ns: u64) -> u64 {
        if self.slice_limit {
            slice_ns.min(self.latency_ns)
        } else {
            slice_ns
        }
    }
}

/// What the queue keeps of each task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity {
    pub(crate) vruntime: i64,
    pub(crate) weight: Weight,
    pub(super) policy: FairPolicy,
    /// Run time since it was picked, for the slice.
    pub(crate) slice_used_ns: u64,
}

impl Entity {
    /// A task off the queue; its place comes with its first enqueue.
    pub(crate) fn new(nice: i8, policy: FairPolicy) -> Self {
        Self {
            vruntime: 0,
            weight: Weight::of_task(nice, policy),
            policy,
            slice_used_ns: 0,
        }
    }

    /// Changes the weight of an entity that is off the queue.
    pub(crate) fn set_load_weight(&mut self, nice: i8, policy: FairPolicy) {
        self.policy = policy;
        self.weight = Weight::of_task(nice, policy);
    }

    /// SCHED_IDLE, or a group with `cpu.idle`.
    pub(super) fn is_idle(&self) -> bool {
        self.policy == FairPolicy::Idle
    }

    /// The entity of a task group.
    pub(crate) fn of_group(weight: u64, idle: bool) -> Self {
        Self {
            weight: Weight::of_sum(weight),
            ..Self::new(0, FairPolicy::of_group(idle))
        }
    }

    /// A group's entity where it is compared on behalf of one of its tasks. An idle group is idle,
    /// whatever its task is.
    pub(crate) fn on_behalf_of(&self, task: &Self) -> Self {
        let policy = if self.is_idle() {
            self.policy
        } else {
            task.policy
        };
        Self { policy, ..*self }
    }
}
