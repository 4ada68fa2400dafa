//! `load`: runs the tasks of a [`Job`] and measures what each got in the window
//! (docs/guide/lab.md).
//!
//! What must stay: warm-up, then the window; what lies outside counts nothing. Free: how threads
//! are waited for.
//!
//! Tests by part: load/tests.rs::`a_periodic_task_has_a_job_in_every_period` (`run`,
//! `wait_for_window`, `plan`), load/tests.rs::`a_cpu_that_is_not_there_is_the_machines_fault`
//! (`run`: the error), crates/guest/tests/programs.rs::`load_runs_a_job_file_and_reports_each_task`
//! (the report; no trace). `forget_own_load` and `switch_trace` have no test of their own:
//! crates/lab/tests/boot.rs boots guests that use them. `call` has no test of its own.
//!
//! Callers: crates/guest/src/lib.rs (`load_file`), until_placed.rs (`small`).
//!
//! Tests: crates/guest/src/load/tests.rs

use std::path::Path;
use std::sync::Arc;

use crate::cpus::{Cpus, SYSFS_CPUS};
use crate::error::GuestError;
use crate::job::Job;
use crate::steady::{END_WITHIN_NS, lock};
use crate::sys;

mod meter;
mod result;
mod shared;
mod sync;
mod task;

pub use result::{LoadResult, TaskResult};
use shared::{Shared, Stage, Times};

/// The common start is at a multiple of this, and at least two of them ahead, ns.
const START_GRID_NS: u64 = 100_000_000;
/// Tasks go on this long after the window, so that it has no special last job, ns.
const RUN_OUT_NS: u64 = 50_000_000;
/// The frequencies are read this long before the window, ns.
const LOOK_AHEAD_NS: u64 = 2_000_000;
/// A warm-up this long has time for [`forget_own_load`], ns.
const FORGET_WARM_UP_MIN_NS: u64 = 4_000_000_000;
/// Switches recording on and off.
const TRACING_ON: &str = "/sys/kernel/tracing/tracing_on";

/// Runs a job. The list says what failed: a task that did not end, a call that was refused.
///
/// # Errors
/// [`GuestError::Environment`] where a task cannot be set up or the trace not be switched.
pub fn run(job: Job) -> Result<(LoadResult, Vec<String>), GuestError> {
    let cpus = Cpus::read(Path::new(SYSFS_CPUS), job.frequency_invariant)?.at(&job.speeds);
    let traced = job.trace && Path::new(TRACING_ON).exists();
    let shared = Arc::new(Shared::new(
        job,
        cpus,
        sys::affinity().map_err(call("affinity"))?,
    ));
    sys::set_timer_slack_min();
    for index in 0..shared.job.tasks.len() {
        if !shared.job.tasks[index].forked {
            task::start(&shared, index)?;
        }
    }
    shared.gate.all_ready(shared.roll.len())?;
    let times = Times::plan(&shared.job, sys::now_ns());
    shared.gate.open(times);
    let facts = wait_for_window(&shared, times);
    if traced {
        switch_trace(true)?;
    }
    shared.stage.set(Stage::Window);
    let window_begin_ns = sys::now_ns();
    sys::sleep_until_ns(times.window_end_ns);
    shared.stage.set(Stage::RunOut);
    let window_end_ns = sys::now_ns();
    if traced {
        switch_trace(false)?;
    }
    sys::sleep_until_ns(times.stop_ns);
    shared.stage.set(Stage::Stop);
    let mut failures = shared.roll.finish(END_WITHIN_NS);
    failures.append(&mut lock(&shared.failures));
    let mut tasks = std::mem::take(&mut *lock(&shared.results));
    tasks.sort_by_key(|task| task.tid);
    for task in &mut tasks {
        let window_ns = window_end_ns - window_begin_ns;
        task.scaled_duty = task.scaled_ns_window as f64 / window_ns as f64;
    }
    let result = LoadResult {
        start_ns: times.start_ns,
        window_begin_ns,
        window_end_ns,
        frequency_invariant: shared.job.frequency_invariant,
        traced,
        cpus: facts,
        tasks,
    };
    Ok((result, failures))
}

/// Sleeps to the beginning of the window; the answer has the frequencies just before it.
fn wait_for_window(shared: &Shared, times: Times) -> Vec<crate::cpus::CpuFacts> {
    if shared.job.warm_up_ns >= FORGET_WARM_UP_MIN_NS {
        forget_own_load(times.start_ns);
    }
    sys::sleep_until_ns(times.window_begin_ns.saturating_sub(LOOK_AHEAD_NS));
    let facts = shared.cpus.facts();
    sys::sleep_until_ns(times.window_begin_ns);
    facts
}

/// This thread was busy with starting the others, and its estimated utilisation fades only as it
/// wakes up: without these short wake-ups the one at the window's beginning would raise a
/// frequency.
fn forget_own_load(start_ns: u64) {
    for wake_up in 0..60 {
        sys::sleep_until_ns(start_ns + 1_000_000_000 + wake_up * 20_000_000);
    }
}

/// Only where the guest has a tracer and the job wants it.
fn switch_trace(on: bool) -> Result<(), GuestError> {
    let text = if on { "1" } else { "0" };
    std::fs::write(TRACING_ON, text).map_err(|error| GuestError::environment(TRACING_ON, &error))
}

/// For `map_err`: which call failed.
fn call(name: &'static str) -> impl Fn(std::io::Error) -> GuestError {
    move |error| GuestError::environment(name, &error)
}

impl Times {
    /// The next start on the grid, and what follows from it.
    fn plan(job: &Job, now_ns: u64) -> Self {
        let grid_ns = (now_ns / START_GRID_NS + 3) * START_GRID_NS;
        let start_ns = grid_ns + job.start_offset_ns;
        let window_begin_ns = start_ns + job.warm_up_ns;
        let window_end_ns = window_begin_ns + job.window_ns;
        Self {
            start_ns,
            window_begin_ns,
            window_end_ns,
            stop_ns: window_end_ns + RUN_OUT_NS,
        }
    }
}

#[cfg(test)]
mod tests;
