//! Runs whose traces another thread makes meanwhile.
//! Page: docs/guide/traces.md, "What it costs".
//!
//! What must stay: a run that ends badly leaves neither files nor threads.
//! Tests by part (in crates/trace/src): export/record.rs: `a_full_disk_ends_the_run` (`is_done`);
//! export/scribe.rs: `a_full_disk_ends_the_run` (`has_failed`),
//! `traces_dropped_in_the_midst_leave_nothing` (`last`, `end`),
//! `a_panic_of_the_writing_thread_is_the_runs` (`end`, `hand_over`); export/mod.rs:
//! `traces_dropped_in_the_midst_leave_nothing` (`drop`).
//! Helpers, and who fails with them: `machine` (all tests); `simulate`
//! (`a_full_disk_ends_the_run`); `names` (`traces_dropped_in_the_midst_leave_nothing`,
//! `a_panic_of_the_writing_thread_is_the_runs`).

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use tempfile::TempDir;
use wakeplace_engine::happen;
use wakeplace_engine::observe::Observer;
use wakeplace_engine::{Options, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_trace::Traces;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

const SECOND: u64 = 1_000_000_000;

fn machine() -> (Platform, Workload) {
    let spec = Spec::parse("periodic:n=50,period=16ms,duty=5%", &LoadOptions::default());
    let workload = spec.expect("valid").expand(1, MachineFacts::alike(8));
    let platform = Platform::load("hikey960").expect("built in");
    (platform, workload.expect("valid"))
}

/// When the run ended, ns.
fn simulate(
    (platform, workload): &(Platform, Workload),
    duration_ns: u64,
    traces: &mut Traces,
) -> u64 {
    let policy = Policy::parse("linux-4.17").expect("known");
    let options = Options {
        duration_ns,
        ..Options::default()
    };
    run(platform, &policy, workload, &options, traces).end_ns
}

/// Goal: a disk that is full ends the run, and is said.
#[test]
fn a_full_disk_ends_the_run() {
    let machine = machine();
    let mut traces = Traces::new(&machine.0, &machine.1, None);
    traces.ftrace(Path::new("/dev/full")).expect("a device");
    let end_ns = simulate(&machine, 60 * SECOND, &mut traces);
    assert!(end_ns < 60 * SECOND, "{end_ns}");
    let error = traces.publish().expect_err("no space").to_string();
    assert!(error.contains("/dev/full: cannot be written"), "{error}");
}

/// Goal: a run that is given up leaves nothing, nor a thread that still writes.
#[test]
fn traces_dropped_in_the_midst_leave_nothing() {
    let machine = machine();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let mut traces = Traces::new(&machine.0, &machine.1, None);
    traces.ftrace(&path("t.txt")).expect("a file");
    traces
        .perfetto(&path("t.pftrace"), &machine.0, &machine.1)
        .expect("a file");
    traces.parquet(&path("tables")).expect("a folder");
    // As many calls as several batches, and no end.
    for time_ns in 0..20_000 {
        happen!(traces, time_ns =>
            RunStart { cpu: 0, task: (time_ns % 50) as u32, wake_latency_ns: None });
    }
    drop(traces);
    assert_eq!(names(&folder), Vec::<String>::new());
}

/// Goal: a panic of the other thread ends the run, is the run's, and leaves nothing.
#[test]
fn a_panic_of_the_writing_thread_is_the_runs() {
    let machine = machine();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.txt");
    let mut traces = Traces::new(&machine.0, &machine.1, None);
    traces.ftrace(&path).expect("a file");
    // A task that is not there, in more batches than may wait.
    for time_ns in 0..100_000 {
        happen!(traces, time_ns => RunStart { cpu: 0, task: 50_000, wake_latency_ns: None });
    }
    assert!(traces.is_done());
    let end = panic::catch_unwind(AssertUnwindSafe(|| happen!(traces, 100_000 => Finish)));
    assert!(end.is_err());
    drop(traces);
    assert_eq!(names(&folder), Vec::<String>::new());
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let names = entries.map(|entry| entry.expect("one").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}
