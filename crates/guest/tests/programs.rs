//! The program itself, for about a second each: output and exit codes.
//! Page: docs/guide/lab.md.
//!
//! What must stay: exit codes and keys of the report are what the lab reads. Free: how long a
//! program runs, within the bounds that are asserted.
//! Tests by part (in crates/guest/src): ping_pong.rs: `ping_pong_counts_two_wakeups_a_round`
//! (`run`); fork_storm.rs: `fork_storm_counts_every_process_of_every_chain` (`run`),
//! `a_chain_whose_link_fails_fails_whole` (`link`); affinity_storm.rs:
//! `affinity_storm_changes_and_all_get_on` (`run`); inside_storm.rs:
//! `inside_storm_says_how_long_an_outsider_waits` (`run`); load/mod.rs:
//! `load_runs_a_job_file_and_reports_each_task`; lib.rs:
//! `what_is_wrong_is_exit_code_2_and_nothing_on_stdout` (`run`); until_placed.rs:
//! `a_machine_without_little_cpus_cannot_place` (`big_and_little`).
//! Helpers, and who fails with them: `run` (all tests, `a_chain_whose_link_fails_fails_whole` among
//! them); `report`, `number` (`ping_pong_counts_two_wakeups_a_round`,
//! `fork_storm_counts_every_process_of_every_chain`, `affinity_storm_changes_and_all_get_on`,
//! `load_runs_a_job_file_and_reports_each_task`).

use std::io::Write;
use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wakeplace-guest"))
        .args(args)
        .output()
        .expect("the program starts")
}

/// The report of a run in which all held.
fn report(args: &[&str]) -> Value {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stdout}{stderr}");
    assert_eq!(stderr, "");
    let report: Value = serde_json::from_str(&stdout).expect("one JSON object");
    assert_eq!(report["held"], true, "{report}");
    assert_eq!(report["failures"], serde_json::json!([]));
    report
}

fn number(report: &Value, field: &str) -> u64 {
    report[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field}: {report}"))
}

/// Without a group nobody is held back for long. That a kernel waits for RCU readers may be refused
/// (nohz_full), and is tried in guests.
#[test]
fn inside_storm_says_how_long_an_outsider_waits() {
    for kind in ["files", "mutex", "pi"] {
        let report = report(&["inside-storm", kind, "--seconds=1", "--holders", "2"]);
        assert_eq!(report["kind"], kind);
        assert_eq!(number(&report, "holders"), 2);
        assert!(number(&report, "turns") > 0, "{report}");
        let waited_us = number(&report, "wait_us_max");
        assert!(waited_us > 0 && waited_us < 60_000_000, "{report}");
    }
    for (args, said) in [
        (&["inside-storm", "mutx"][..], "did you mean `mutex`?"),
        (
            &["inside-storm", "pi", "/no/group"][..],
            "/no/group is no control group",
        ),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(said), "{stderr}");
    }
}

#[test]
fn ping_pong_counts_two_wakeups_a_round() {
    let report = report(&["ping-pong", "--rounds", "200", "--pairs=2"]);
    assert_eq!(number(&report, "wakeups"), 2 * 200 * 2);
    assert_eq!(number(&report, "warm_up_rounds"), 20);
    let elapsed_ns = number(&report, "elapsed_ns");
    assert!(elapsed_ns > 0);
    let by_wakeup = report["ns_per_wakeup"].as_f64().expect("a number");
    assert!((by_wakeup * 800.0 - elapsed_ns as f64).abs() < 1.0);
}

#[test]
fn fork_storm_counts_every_process_of_every_chain() {
    let report = report(&["fork-storm", "--processes=5", "--depth=3", "--seconds=1"]);
    let batches = number(&report, "batches");
    assert!(batches >= 1);
    assert_eq!(number(&report, "forked"), batches * 5 * 3);
    assert_eq!(
        number(&report, "executed"),
        batches * 5 * 2,
        "depths 3 and 1"
    );
}

#[test]
fn a_chain_whose_link_fails_fails_whole() {
    let output = run(&["fork-storm-link", "no number"]);
    assert_eq!(output.status.code(), Some(2));
    let output = run(&["fork-storm-link", "4"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn affinity_storm_changes_and_all_get_on() {
    let report = report(&["affinity-storm", "--seconds=1", "--tasks=6"]);
    let changes = &report["changes"];
    assert!(number(changes, "affinity") > 6, "more than the last calm");
    assert!(number(changes, "policy") > 6);
    let tried = |kind: &str| number(changes, kind) + number(&report["refused"], kind);
    assert!(tried("nice") > 6 && tried("fifo") > 0, "{report}");
    assert!(number(&report, "rounds_min") > 0);
}

#[test]
fn load_runs_a_job_file_and_reports_each_task() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let job = r#"{"warm_up_ns": 20000000, "window_ns": 280000000, "frequency_invariant": true,
        "timers": [{"mode": "absolute"}],
        "tasks": [
          {"name": "beat", "loops": "forever", "phases": [{"loops": "forever", "ops": [
            {"run": {"work_ns": 500000}}, {"timer": {"timer": 0, "period_ns": 10000000}}]}]},
          {"name": "hog", "policy": "idle", "nice": 5, "loops": "forever",
           "phases": [{"loops": "forever", "ops": ["busy"]}]}]}"#;
    file.write_all(job.as_bytes()).expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let report = report(&["load", path]);
    let tasks = report["tasks"].as_array().expect("tasks");
    let beat = tasks.iter().find(|t| t["name"] == "beat").expect("beat");
    assert_eq!(number(beat, "jobs"), 28);
    assert!(number(beat, "job_scaled_ns_min") >= 500_000);
    assert_eq!(report["traced"], false);
    assert!(tasks.iter().any(|t| t["name"] == "hog"));
}

#[test]
fn what_is_wrong_is_exit_code_2_and_nothing_on_stdout() {
    let mut broken = tempfile::NamedTempFile::new().expect("a file");
    broken.write_all(b"{\"tasks\": []}").expect("written");
    let broken = broken.path().to_str().expect("UTF-8").to_owned();
    for (args, what) in [
        (&["ping-pnog"][..], "did you mean `ping-pong`?"),
        (&[][..], "no subcommand"),
        (&["ping-pong", "--rounds=0"][..], "expected a number 1 to"),
        (&["load"][..], "expected one argument"),
        (&["load", "none.json"][..], "none.json: "),
        (&["load", &broken][..], "missing field"),
        (
            &["until-placed", "medium"][..],
            "expected `heavy` or `small`",
        ),
    ] {
        let output = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr.contains(what) && output.stdout.is_empty(),
            "{stderr}"
        );
    }
}

#[test]
fn a_machine_without_little_cpus_cannot_place() {
    let capacities = |cpu: u32| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity");
        std::fs::read_to_string(path).ok()
    };
    if capacities(0).is_some() {
        return; // This machine knows capacities: it may well be able to.
    }
    let output = run(&["until-placed", "heavy"]);
    assert_eq!(output.status.code(), Some(3));
}
