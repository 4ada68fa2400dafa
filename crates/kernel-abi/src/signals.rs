//! What a kernel made of its averages and frequency requests, and what they were before, as
//! `crates/kernel-shim/shim/wakeplace.h` has it.
//!
//! What must stay: fields, their order and their units are the header's. May change: comments; a
//! field only together with the header, the shim's signals.c and the number of the interface.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `structs_are_laid_out_as_in_the_header`
//! (all structs); crates/cli/tests/all/kernel_diff.rs: `the_cores_signals_are_the_kernels`,
//! `a_broken_signal_is_found` (what the fields mean).
//!
//! Callers: crates/kernel-tree fills them; crates/engine/src/explain/on_signals.rs reads.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header

use crate::balances::Balance;
use crate::turns::Turn;
use serde::{Deserialize, Serialize};

/// No average of the task was written since its estimate.
pub const UNCHANGED: u32 = 1 << 31;

/// Bits of [`Signal::flags`].
pub mod flags {
    /// A sleeper joins.
    pub const WAKEUP: u32 = 1;
    /// The task leaves to sleep.
    pub const SLEEP: u32 = 2;
    /// Its queue keeps it.
    pub const DELAY: u32 = 4;
    /// Its averages leave the queue, too.
    pub const DETACH: u32 = 8;
}

/// `struct sched_avg`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the kernel's own words")]
pub struct Avg {
    pub last_update_ns: u64,
    pub load_sum: u64,
    pub runnable_sum: u64,
    pub util_sum: u64,
    pub load_avg: u32,
    pub runnable_avg: u32,
    pub util_avg: u32,
    pub period_contrib: u32,
    /// With [`UNCHANGED`].
    pub util_est: u32,
    /// Of a task, to 6.7.
    pub util_est_ewma: u32,
}

/// A fair queue of a CPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Its averages.
    pub avg: Avg,
    /// Of what is queued.
    pub weight: u32,
    /// What of it can run.
    pub nr_fair: u32,
    /// A fair task runs.
    pub curr_fair: u32,
    /// Tasks that left asleep, whose averages are still in `avg`.
    pub nr_removed: u32,
    /// Their averages.
    pub removed_load: u64,
    /// Their averages.
    pub removed_util: u64,
    /// Their averages.
    pub removed_runnable: u64,
}

/// What was updated.
pub mod kind {
    /// `__update_load_avg_se()`.
    pub const TASK: u32 = 0;
    /// `__update_load_avg_blocked_se()`.
    pub const BLOCKED: u32 = 1;
    /// `__update_load_avg_cfs_rq()`.
    pub const QUEUE: u32 = 2;
    /// `enqueue_task_fair()`.
    pub const ENQUEUE: u32 = 3;
    /// `dequeue_task_fair()`.
    pub const DEQUEUE: u32 = 4;
}

/// A task or the queue of a CPU, before and after.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// What was updated: [`kind`].
    pub kind: u32,
    /// Of which CPU.
    pub cpu: u32,
    /// Or [`crate::abi::NONE`].
    pub task: u32,
    /// Of what is queued and dequeued: [`flags`].
    pub flags: u32,
    /// Up to when, by the PELT clock of the queue.
    pub now_ns: u64,
    /// Clocks of the CPU.
    pub clock_ns: u64,
    /// Clocks of the CPU.
    pub clock_task_ns: u64,
    /// Clocks of the CPU.
    pub clock_pelt_ns: u64,
    /// Clocks of the CPU.
    pub lost_idle_ns: u64,
    /// Of the CPU.
    pub capacity_orig: u32,
    /// The task is queued.
    pub on_rq: u32,
    /// It sleeps, and its queue keeps it.
    pub delayed: u32,
    /// It runs.
    pub running: u32,
    /// Of its nice value.
    pub weight: u32,
    #[doc(hidden)]
    pub unused: u32,
    /// The task's.
    pub before: Avg,
    /// The queue, before.
    pub queue: Queue,
    /// The task's.
    pub after: Avg,
    /// The queue's.
    pub queue_after: Avg,
}

/// A CPU of a frequency domain, as schedutil finds it, and its own note of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in `Choice`, and the kernel's own words")]
pub struct Demand {
    pub cpu: u32,
    pub util: u32,
    pub util_est: u32,
    pub runnable: u32,
    pub nr_fair: u32,
    pub capacity_orig: u32,
    pub util_rt: u32,
    pub util_dl: u32,
    pub util_irq: u32,
    pub bw_dl: u32,
    pub rt_runnable: u32,
    pub uclamp_min: u32,
    pub uclamp_max: u32,
    pub uclamp_idle: u32,
    pub iowait_boost: u32,
    pub iowait_pending: u32,
    pub last_update_ns: u64,
    pub idle_calls: u32,
    pub saved_idle_calls: u32,
    pub iowait_boost_after: u32,
    pub iowait_pending_after: u32,
}

/// A frequency domain: `struct sugov_policy`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Governor {
    /// Of its last request.
    pub last_update_ns: u64,
    /// Its last request.
    pub next_khz: u32,
    /// Of which that was made.
    pub raw_khz: u32,
    /// Limits have changed.
    pub forced: u32,
    /// Its thread is at work.
    pub in_progress: u32,
}

/// What is known of a call of schedutil beside its CPUs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// For which CPU.
    pub cpu: u32,
    /// A task joins that has waited for a device.
    pub iowait: u32,
    /// When, by the clock of the CPU's queue.
    pub now_ns: u64,
    /// Smallest time between two requests.
    pub rate_limit_ns: u64,
    /// The kernel's.
    pub tick_ns: u64,
    /// That the domain has now.
    pub khz: u32,
    /// That it may have.
    pub max_khz: u32,
    /// The domain.
    pub before: Governor,
    /// The domain.
    pub after: Governor,
}

#[repr(C)]
#[allow(missing_docs, reason = "wakeplace.h says what each field is")]
pub struct RawRequest {
    pub asked: Asked,
    pub nr_cpus: u32,
    pub unused: u32,
    pub cpus: *const Demand,
}

/// The scheduler has called schedutil.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreqAsked {
    /// When, for whom, and what came of it.
    pub asked: Asked,
    /// All CPUs of the domain.
    pub cpus: Vec<Demand>,
}

/// The kernel has brought one of its signals up to date, looked whose turn it is, or balances.
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, and most are the large one"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Updated {
    /// An average, or what joined or left a queue.
    Signal(Signal),
    /// A frequency.
    Freq(FreqAsked),
    /// Whether a task displaces another one, or who is next.
    Turn(Turn),
    /// A step of balancing.
    Balance(Balance),
}
