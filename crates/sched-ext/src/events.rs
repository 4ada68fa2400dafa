//! What the kernel counts about a scheduler (docs/rules/sched-ext.md#kfuncs).
//!
//! What must stay: names follow `struct scx_event_stats`; crates/foreign/src/kfuncs/ends.rs
//! (`events`) writes them where a program expects them, by name. Free: further events of later
//! kernels.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

/// `struct scx_event_stats`, as far as what it counts can happen here. The comments are in words of
/// kernel/sched/ext/internal.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// A task was woken on another CPU than the one that `select_cpu` answered.
    pub select_cpu_fallback: u64,
    /// A task meant for the local queue of a CPU that is offline went to the global queue.
    pub dispatch_local_dsq_offline: u64,
    /// A task went on, since nothing else was there (no `SCX_OPS_ENQ_LAST`).
    pub dispatch_keep_last: u64,
    /// A task that exits was not given to the scheduler (no `SCX_OPS_ENQ_EXITING`).
    pub enq_skip_exiting: u64,
    /// The same of a task that must not migrate (no `SCX_OPS_ENQ_MIGRATION_DISABLED`).
    pub enq_skip_migration_disabled: u64,
    /// The kernel gave a slice of its own.
    pub refill_slice_dfl: u64,
    /// A task that was to run at once could not, and was enqueued again (7.1).
    pub reenq_immed: u64,
    /// ... of a local queue that had been looked at just before.
    pub reenq_repeat: u64,
}
