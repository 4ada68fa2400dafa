//! A simulated run, exported as a trace and read back as a workload, runs the same again.

mod common;

use common::{assert_code, folder, run_in, stdout};
use std::path::Path;

/// The metrics of a `sim --format json`.
fn metrics(folder: &Path, workload: &str, more: &[&str]) -> serde_json::Value {
    let mut words = vec!["sim", "--platform", "hikey960", "--workload", workload];
    words.extend(["--policy", "linux-5.0", "--duration", "2s"]);
    words.extend(["--format", "json"]);
    words.extend(more);
    let output = run_in(folder, &words);
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    value["runs"][0]["metrics"].clone()
}

/// A run, and what comes back of it, by each form.
fn both(workload: &str, check: impl Fn(&str, &dyn Fn(&str) -> (f64, f64))) {
    let folder = folder();
    for (option, file) in [
        ("--export-ftrace", "run.txt"),
        ("--export-perfetto", "run.pftrace"),
    ] {
        let first = metrics(folder.path(), workload, &[option, file]);
        let again = metrics(folder.path(), &format!("trace:{file}"), &[]);
        let mean = |m: &serde_json::Value, name: &str| m[name]["mean"].as_f64().expect("a number");
        check(option, &|name| (mean(&first, name), mean(&again, name)));
    }
}

/// One task: who waits for whom cannot change, and busy time is that task's.
#[test]
fn a_task_alone_comes_back() {
    both("periodic:n=1,period=100ms,duty=40%", |option, of| {
        let (one, other) = of("busy_cpus_mean");
        assert!(
            (one - other).abs() <= one / 1000.0,
            "{option}: {one} and {other} busy CPUs"
        );
        let (one, other) = of("wakeups_total");
        assert!(one == other, "{option}: {one} and {other} wake-ups");
    });
}

#[test]
fn several_tasks_wake_as_often() {
    both("periodic:n=6,period=16ms,duty=20%", |option, of| {
        let (one, other) = of("wakeups_total");
        assert!(one == other, "{option}: {one} and {other} wake-ups");
    });
}
