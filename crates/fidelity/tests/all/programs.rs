//! Real programs: what is refused before anything is booted, and what is said of recorded runs.
//! Page: docs/results/fidelity.md; docs/rules/workloads.md#messaging.
//!
//! What must stay: recorded figures are never edited; the page says what the program says.
//! Tests by part (in crates/fidelity/src): programs.rs, programs/structure.rs and programs/page.rs
//! by the program: all others.
//! Helpers, and who fails with them: `object`
//! (`recorded_runs_have_the_structure_that_the_sources_give`,
//! `models_have_the_programs_tasks_and_wakeups`).

use super::{assert_code, assert_refused, part, run_in, said};
use serde_json::Value;

const RECORDED: [&str; 2] = ["programs", "--recorded"];

#[test]
fn wrong_options_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |more: &[&str]| run_in(folder.path(), &[&["programs"], more].concat());
    assert_refused(
        &run(&["--programs", "cyclictst"]),
        &["`cyclictst`", "did you mean `cyclictest`"],
    );
    for question in ["placement", "programs"] {
        let kept = run_in(folder.path(), &[question, "--keep", "not/there"]);
        assert_refused(&kept, &["--keep: not is no folder"]);
    }
    for wrong in [
        &["--repeats", "0"][..],
        &["--repeats", "6"],
        &["--timeout", "x"],
        &["--record", "x.json", "--programs", "rt-app"],
        &["--recorded", "--kernel", "7.3.4"],
        &["--recorded", "--record", "x.json"],
    ] {
        assert_code(&run(wrong), 2);
    }
}

#[test]
fn a_right_request_gets_as_far_as_the_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    // Where the cache is to be is a file.
    std::fs::write(folder.path().join("cache"), "").expect("a file");
    let output = run_in(folder.path(), &["programs", "--programs", "cyclictest"]);
    assert_code(&output, 3);
}

fn object() -> Value {
    let text = said(&[&RECORDED[..], &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("JSON")
}

/// What the programs' own sources and options fix is what was recorded: 20 receivers and senders of
/// a group, a process for each; sysbench's threads; a child of perf's pipe; timers that interrupt.
#[test]
fn recorded_runs_have_the_structure_that_the_sources_give() {
    let object = object();
    let programs = object["programs"].as_array().expect("programs");
    assert_eq!(programs.len(), 8);
    for program in programs {
        let key = program["program"].as_str().expect("a key");
        let forks = match key {
            "hackbench-socket" | "hackbench-pipe" | "perf-messaging" => 40,
            "perf-pipe" => 1,
            "sysbench-cpu" | "cyclictest" => 2,
            "sysbench-threads" => 12,
            "rt-app" => 3,
            other => panic!("{other} is not on the list"),
        };
        for run in program["runs"].as_array().expect("runs") {
            assert_eq!(run["structure"]["forks"], forks, "{key}");
            let wakes = &run["structure"]["wakes"];
            let sync = |pair: &str| wakes[pair]["sync"].as_u64().expect(pair);
            let count = |pair: &str| wakes[pair]["count"].as_u64().expect(pair);
            match key {
                // Writers of sockets and pipes say that they will sleep.
                "hackbench-socket" | "hackbench-pipe" | "perf-messaging" => {
                    assert!(sync("sender -> receiver") * 100 >= count("sender -> receiver") * 95);
                }
                "perf-pipe" => assert!(count("parent -> child") <= 1000 + 2),
                "cyclictest" => assert!(count("interrupt -> cyclictest") > 0),
                _ => {}
            }
        }
    }
}

/// The models beside the recorded programs: the same tasks but the first process, and the wake-ups
/// that events make within a factor of two, the spread of runs on an emulated machine. Mutexes of
/// sysbench: the model's yields take the time of a yield on a real CPU, those of the guest include
/// its stand-stills, in which nobody waits anew; a factor of four.
#[test]
fn models_have_the_programs_tasks_and_wakeups() {
    let object = object();
    for program in object["programs"].as_array().expect("programs") {
        let key = program["program"].as_str().expect("a key");
        let model = &program["model"];
        let runs = program["runs"].as_array().expect("runs");
        for run in runs {
            let mut tasks = run["structure"]["tasks"].clone();
            tasks.as_object_mut().expect("tasks").remove("main");
            assert_eq!(model["structure"]["tasks"], tasks, "{key}");
        }
        let main_pair = match key {
            "hackbench-socket" | "hackbench-pipe" | "perf-messaging" => "sender -> receiver",
            "perf-pipe" => "parent -> child",
            "sysbench-threads" => "sysbench -> sysbench",
            "cyclictest" => "interrupt -> cyclictest",
            "rt-app" => "ticker -> worker",
            "sysbench-cpu" => continue, // events wake nobody
            other => panic!("{other} is not on the list"),
        };
        let per_event = |run: &Value| {
            let count = run["structure"]["wakes"][main_pair]["count"].as_f64();
            count.expect(key) / run["events"].as_f64().expect(key)
        };
        let real: f64 = runs.iter().map(per_event).sum::<f64>() / runs.len() as f64;
        let factor = match key {
            "sysbench-threads" => 4.0,
            // How many receivers sleep when a message comes depends on how soon an idle CPU wakes:
            // 0.02 to 0.08 of the model's messages, without idle states and with those of the
            // board; 0.11 to 0.19 of the guests'.
            "hackbench-pipe" => 3.0,
            _ => 2.0,
        };
        let ratio = per_event(model) / real;
        assert!((1.0 / factor..factor).contains(&ratio), "{key}: {ratio}");
    }
}

#[test]
fn the_page_says_what_the_program_says() {
    let page = part(
        "docs/guide/workloads.md",
        "cargo xtask real-programs --page",
    );
    let renew = "renew it with `cargo xtask real-programs --recorded --page`";
    assert_eq!(page, said(&RECORDED).trim(), "{renew}");
}
