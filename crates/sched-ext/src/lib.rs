//! The boundary between the simulated kernel and a sched_ext scheduler.
//!
//! A scheduler is a `SchedExtOps`: the table of callbacks. Each callback gets a `Kernel`: what the
//! kfuncs of sched_ext do, and the facts that a program reads of tasks and CPUs. The engine
//! implements `Kernel`; a scheduler is either native Rust (tests) or BPF that somebody else runs.
//!
//! Rules and texts are those of kernel/sched/ext.c (docs/rules/sched-ext.md).
//!
//! **Masks** of CPUs are slices of 64-bit words, bit 0 of word 0 is CPU 0, as the kernel's bitmaps
//! are on 64-bit machines. A mask that is shorter than the machine has no bits beyond its end.
//!
//! **Times** are nanoseconds. **Errors** of kfuncs are what the kernel returns: negative errno
//! values, false, or an exit of the scheduler, which is recorded; the callback goes on.
//!
//! What must stay: texts and numbers are the kernel's, since users and programs compare them. Free:
//! what is re-exported, as long as its users build.
//!
//! Tests: crates/sched-ext/tests/all, beside its modules

pub mod class;
pub mod consts;
mod events;
mod exit;
mod facts;
mod kernel;
mod mask;
mod ops;

pub use events::Events;
pub use exit::{Exit, ExitKind};
pub use facts::{Class, CpuFacts, RqClock, TaskFacts};
pub use kernel::{DsqIter, Kernel};
pub use mask::{mask_words, test_cpu};
pub use ops::{Callback, Callbacks, OpsInfo, ReleaseReason, SchedExtOps, Started};

/// Loads a scheduler: each run has one of its own, in the state that loading leaves it in.
pub trait Loader: std::fmt::Debug + Send + Sync {
    /// One more. Err: why it cannot be loaded.
    ///
    /// # Errors
    /// In the words of who loads it.
    fn load(&self) -> Result<Box<dyn SchedExtOps>, String>;
}

/// A task, by its position among all threads of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

impl TaskId {
    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A cgroup: 0 is the root, the task groups of the workload follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CgroupId(pub u32);

/// A timer of the scheduler's (`bpf_timer`); the scheduler numbers its own, small numbers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u32);
