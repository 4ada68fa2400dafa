//! What a load run reports (docs/guide/lab.md).
//!
//! What must stay: keys: crates/fidelity, crates/price and scripts/live read them. Times are ns.
//! Free: further keys.
//!
//! Tests: crates/guest/src/load/tests.rs,
//! crates/guest/tests/programs.rs::load_runs_a_job_file_and_reports_each_task

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpus::CpuFacts;

/// Figures of a run. Times are CLOCK_MONOTONIC.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct LoadResult {
    /// Common start of the tasks, ns.
    pub start_ns: u64,
    /// When the window in fact began, ns.
    pub window_begin_ns: u64,
    /// When it in fact ended, ns.
    pub window_end_ns: u64,
    /// Work went slower at a lower frequency.
    pub frequency_invariant: bool,
    /// The trace was switched on for the window: asked for, and tracefs is there.
    pub traced: bool,
    /// The CPUs as the work saw them.
    pub cpus: Vec<CpuFacts>,
    /// Every thread that ended, by thread id.
    pub tasks: Vec<TaskResult>,
}

/// One thread. A job is what runs from one pause to the next; it is late if it ends after the
/// expiry of the timer that it then waits for. What is counted is counted in the window.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct TaskResult {
    /// Task's name.
    pub name: String,
    /// Its index in the job.
    pub task: u32,
    /// Thread id, as in a trace.
    pub tid: i32,
    /// Jobs that were due in the window (before a timer) or ended in it.
    pub jobs: u64,
    /// Of these, how many ended after the next expiry.
    pub late_jobs: u64,
    /// By how much at most, ns.
    pub lateness_ns_max: u64,
    /// CPU time from its creation to its end, ns.
    pub cpu_ns: u64,
    /// CPU time in the window, ns.
    pub cpu_ns_window: u64,
    /// The same by CPU, seen at every slice of work, ns.
    pub cpu_run_ns: BTreeMap<u32, u64>,
    /// The same by CPU, as share of its own run time.
    pub run_share: BTreeMap<u32, f64>,
    /// Scaled CPU time in the window (CPU time x capacity x frequency), ns.
    pub scaled_ns_window: u64,
    /// The same as share of the window: times a task's period this is its job size.
    pub scaled_duty: f64,
    /// Scaled CPU time of the smallest job, with what the kernel did in its name, ns.
    pub job_scaled_ns_min: u64,
    /// Of the mean job, ns.
    pub job_scaled_ns_mean: u64,
    /// Of the largest, ns.
    pub job_scaled_ns_max: u64,
    /// Pauses that it woke up from.
    pub wakeups: u64,
    /// Times it was found on another CPU than before.
    pub cpu_changes: u64,
}
