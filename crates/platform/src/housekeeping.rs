//! What a kernel does beside the tasks: threads of its own, and the governor's.

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
