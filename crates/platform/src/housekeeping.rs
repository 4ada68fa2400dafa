//! What a kernel does beside the tasks: threads of its own, and the governor's.
//!
//! What must stay: run times are of a CPU of capacity 1024 at its highest frequency, unless `wall`
//! is set, which no file can do; a name is unique in its platform. Read and checked by
//! `read/housekeeping.rs`, run by `kthreads.rs` of the engine (docs/guide/model.md, "Kernel
//! threads"). Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part:
//! `a_governors_thread_runs_for_each_change` (`governor_ns`), `a_periodic_thread_takes_its_time`
//! (`threads`).
//!
//! Tests: crates/engine/tests/behaviour/kthreads.rs

use crate::model::{CpuId, Source};
use serde::Serialize;

/// A kernel thread that runs now and then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HousekeepingThread {
    /// Name, unique in the platform.
    pub name: String,
    /// CPUs it may use; None: all.
    pub cpus: Option<Vec<CpuId>>,
    /// From one wake-up by its timer to the next, ns, > 0.
    pub period_ns: u64,
    /// What it runs each time, on a CPU of capacity 1024 at its highest frequency, ns.
    pub run_ns: u64,
}

/// What the kernel itself runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Housekeeping {
    /// What schedutil's thread runs for a change of frequency, ns; None: the hardware is told at
    /// once (fast switch).
    pub governor_ns: Option<u64>,
    /// The others.
    pub threads: Vec<HousekeepingThread>,
    /// Run times, and those to create threads, are wall time on whatever CPU, as in an emulated
    /// machine.
    #[serde(skip)]
    pub wall: bool,
    /// Where the figures come from.
    pub source: Source,
}
