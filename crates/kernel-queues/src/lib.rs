//! The kernels' run queues: which tasks wait on a CPU, in what order, and for how long each runs.
//!
//! A run has one discipline for its fair tasks on all CPUs: CFS or EEVDF, each with or without task
//! groups (`FairQueues`, used through the trait `FairClass`). It owns what the queues keep of a
//! task: vruntime, deadline, lag, weight. RT and deadline tasks have a queue per CPU of their own
//! (`ClassQueue`). Mechanics only: which CPU a task is on is decided elsewhere, and so is what a
//! group weighs on a CPU (docs/guide/model.md, "Run queues").
//!
//! What must stay: `FairClass` is all that the engine uses of a fair queue; equals keep the order
//! of arrival in each. Free: what is re-exported.
//!
//! Callers: crates/engine (kernel/model, explain/on_signals.rs).
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/eevdf.rs, beside its
//! modules

mod cfs;
mod eevdf;
mod fair_class;
mod fair_queues;
mod grouped;
pub mod on_state;
mod rt_dl;
mod weight;

pub use fair_class::FairClass;
pub use fair_queues::{FairParams, FairQueues, KernelKind};
pub use grouped::GroupShape;
pub use rt_dl::{ClassQueue, RT_MOST, is_rt};
pub use wakeplace_platform::CpuId;
pub use weight::task_weight;

/// Index of a task in the tables of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The number as an index into per-task vectors.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
