//! The four kinds of fair queues as one type. A run asks its queues at every event: an enum costs a
//! predictable branch, and the compiler can inline what is behind it. No rule is here
//! (docs/guide/model.md, "Run queues").
//!
//! What must stay: one line below per method of `FairClass`, with the same arguments; fair_class.rs
//! says what each means. Free: a line per method.
//!
//! Tests by part: each method is one line; a wrong one fails the test that fair_class.rs names for
//! it: `nice_0_and_nice_5_share_1024_to_335` in fair.rs (`new`, `add_task`, `enqueue_task`,
//! `pick_next_task`, `put_prev_task`, `update_curr`, `task_tick`),
//! `wakeups_preempt_beyond_the_granularity_only` (`wakeup_preempt`, `place_woken`,
//! `dequeue_sleep`), the others by that head. fair.rs, eevdf.rs and groups.rs of the engine: each
//! runs one kind or two; crates/cli/tests/all/kernel_diff.rs: `a_broken_signal_is_found`
//! (`protects_vruntime`, which crates/engine/src/explain/turns.rs asks).
//!
//! Callers: crates/engine/src/kernel/model/home/kernel.rs.
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/eevdf.rs,
//! crates/engine/tests/behaviour/groups.rs

use crate::cfs::{Cfs, CfsParams};
use crate::eevdf::{Eevdf, EevdfParams, Form};
use crate::fair_class::FairClass;
use crate::grouped::{GroupShape, GroupedCfs, GroupedEevdf};
use crate::{CpuId, TaskId};
use wakeplace_policy_sys::sys::{WP_QUEUE_CFS, wp_params};
use wakeplace_workload::FairPolicy;

/// The fair queues of a run.
#[derive(Debug)]
pub struct FairQueues(Kind);

#[derive(Debug)]
enum Kind {
    /// Of the kernels before 6.6.
    Cfs(Cfs),
    GroupedCfs(GroupedCfs),
    /// Of the kernels from 6.6 on.
    Eevdf(Eevdf),
    GroupedEevdf(GroupedEevdf),
}

impl FairQueues {
    /// Empty queues. `groups`: none: without groups.
    #[must_use]
    pub fn new(params: FairParams, nr_cpus: usize, groups: &[GroupShape]) -> Self {
        Self(match (params, groups) {
            (FairParams::Cfs(params), []) => Kind::Cfs(Cfs::new(params, nr_cpus)),
            (FairParams::Cfs(params), _) => {
                Kind::GroupedCfs(GroupedCfs::new(params, nr_cpus, groups))
            }
            (FairParams::Eevdf(params), []) => Kind::Eevdf(Eevdf::new(params, nr_cpus)),
            (FairParams::Eevdf(params), _) => {
                Kind::GroupedEevdf(GroupedEevdf::new(params, nr_cpus, groups))
            }
        })
    }
}

/// How a kernel was built, as far as its fair class shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelKind {
    /// It preempts lazily.
    pub lazy: bool,
    /// It counts in words of 32 bits.
    pub is_32bit: bool,
}

/// The era's fair class with its constants on a machine.
#[derive(Clone, Copy, Debug)]
pub enum FairParams {
    /// Of the kernels before 6.6.
    Cfs(CfsParams),
    /// Of the kernels from 6.6 on.
    Eevdf(EevdfParams),
}

impl FairParams {
    /// On a machine with so many CPUs and this tick.
    #[must_use]
    pub fn new(params: &wp_params, nr_cpus: usize, tick_ns: u64, kernel: KernelKind) -> Self {
        if params.queue == WP_QUEUE_CFS {
            Self::Cfs(CfsParams::new(params, nr_cpus))
        } else {
            Self::Eevdf(EevdfParams::new(params, nr_cpus, tick_ns, kernel))
        }
    }

    /// Is a picked task protected up to a vruntime (`vprot`, from 6.18 on) or to its deadline?
    #[must_use]
    pub fn protects_vruntime(&self) -> bool {
        matches!(self, Self::Eevdf(params) if params.form >= Form::Linux618)
    }
}

/// Methods of a trait for an enum whose variants all have it: each asks what the variant holds.
/// `$of` is the macro that makes the match.
#[macro_export]
macro_rules! forward {
    ($of:ident:) => {};
    (
        $of:ident: fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)*) $(-> $result:ty)?;
        $($rest:tt)*
    ) => {
        #[inline]
        fn $name(&$this $(, $arg: $type)*) $(-> $result)? {
            $of!($this, held => held.$name($($arg),*))
        }
        $crate::forward!($of: $($rest)*);
    };
    (
        $of:ident: fn $name:ident(&mut $this:ident $(, $arg:ident: $type:ty)*) $(-> $result:ty)?;
        $($rest:tt)*
    ) => {
        #[inline]
        fn $name(&mut $this $(, $arg: $type)*) $(-> $result)? {
            $of!($this, held => held.$name($($arg),*))
        }
        $crate::forward!($of: $($rest)*);
    };
}

/// The same expression for each kind.
macro_rules! of_kind {
    ($all:expr, $queues:ident => $result:expr) => {
        match $all {
            FairQueues(Kind::Cfs($queues)) => $result,
            FairQueues(Kind::GroupedCfs($queues)) => $result,
            FairQueues(Kind::Eevdf($queues)) => $result,
            FairQueues(Kind::GroupedEevdf($queues)) => $result,
        }
    };
}

impl FairClass for FairQueues {
    forward! { of_kind:
        fn add_task(&mut self, nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> TaskId;
        fn set_task_group(&mut self, task: TaskId, group: Option<usize>);
        fn nr_running(&self, cpu: CpuId) -> usize;
        fn nr_queued(&self, cpu: CpuId) -> usize;
        fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));
        fn place_woken(&mut self, task: TaskId, cpu: CpuId);
        fn task_fork(&mut self, child: TaskId, parent: Option<TaskId>, here: CpuId, cpu: CpuId);
        fn migrate_task_rq(&mut self, task: TaskId, from: CpuId, to: CpuId);
        fn detach_task(&mut self, task: TaskId, cpu: CpuId);
        fn attach_task(&mut self, task: TaskId, cpu: CpuId);
        fn enqueue_task(&mut self, task: TaskId, cpu: CpuId);
        fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool);
        fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, ends: bool) -> bool;
        fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool;
        fn begin_pick(&mut self, cpu: CpuId);
        fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId>;
        fn drop_delayed(&mut self, task: TaskId, cpu: CpuId) -> bool;
        fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId>;
        fn begin_put(&mut self, cpu: CpuId);
        fn put_prev_task(&mut self, task: TaskId, cpu: CpuId);
        fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool;
        fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId>;
        fn set_next_task(&mut self, task: TaskId);
        fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64);
        fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId, sync: bool) -> bool;
        fn take_let_go(&mut self, cpu: CpuId) -> Vec<TaskId>;
        fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool;
        fn is_eligible(&self, task: TaskId, cpu: CpuId) -> bool;
        fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool;
        fn slice_left_ns(&self, cpu: CpuId) -> Option<u64>;
        fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool;
        fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8);
        fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy);
        fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>);
        fn has_groups(&self) -> bool;
        fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32);
        fn throttle_group(&mut self, group: usize, cpu: CpuId) -> usize;
        fn unthrottle_group(&mut self, group: usize, cpu: CpuId) -> usize;
        fn dequeue_throttled(&mut self, task: TaskId, cpu: CpuId);
        fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize>;
        fn check(&self, cpu: CpuId);
    }
}
