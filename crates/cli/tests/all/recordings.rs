//! `trace:FILE` wherever a workload is taken.
//! Page: docs/guide/traces-in.md.
//!
//! What must stay: `trace:FILE` stands wherever a workload may; a latency that nobody knows is not
//! in a result.
//! Tests by part (in crates/cli/src): commands/workload_recording.rs:
//! `recordings_are_workloads_everywhere` (`check`, `answer`, `Does`),
//! `what_is_wrong_with_a_recording_is_said_everywhere` (`refused_somewhere`);
//! crates/workload/src/spec.rs: `recordings_are_workloads_everywhere` (`recorded`);
//! crates/trace/src/replay: `switches_alone_give_no_latencies`.
//! Helpers, and who fails with them: `in_folder` (all tests); `recorded`
//! (`recordings_are_workloads_everywhere`, `what_is_wrong_with_a_recording_is_said_everywhere`).

use crate::common;

use common::{assert_code, folder, run_in, stderr, stdout};
use std::process::Output;
use tempfile::TempDir;

const RUN: [&str; 4] = ["--platform", "hikey960", "--policy", "linux-5.0"];

/// A folder with a recording of a run, `run.txt`.
fn recorded() -> TempDir {
    let folder = folder();
    let words = [
        &["sim"][..],
        &RUN,
        &["--workload", "periodic:n=3,period=16ms,duty=20%"],
        &["--duration", "200ms", "--export-ftrace", "run.txt"],
    ]
    .concat();
    assert_code(&run_in(folder.path(), &words), 0);
    folder
}

fn in_folder(folder: &TempDir, words: &[&[&str]]) -> Output {
    run_in(folder.path(), &words.concat())
}

/// Everything that takes a workload, with the words before and behind it.
const TAKERS: [(&[&str], &[&str]); 5] = [
    (&["sim", "--workload"], &RUN),
    (&["compare", "--policy", "wakeplace", "--workload"], &RUN),
    (&["explain", "--task", "periodic-0", "--workload"], &RUN),
    (&["workload", "check"], &[]),
    (&["workload", "check", "--format", "json"], &[]),
];

#[test]
fn recordings_are_workloads_everywhere() {
    let folder = recorded();
    for (before, behind) in TAKERS {
        let output = in_folder(&folder, &[before, &["trace:run.txt"], behind]);
        assert_code(&output, 0);
        assert!(!stdout(&output).is_empty());
    }
    let words: &[&str] = &["workload", "check", "--format", "json"];
    let argument = "trace:run.txt,platform=hikey960";
    let output = in_folder(&folder, &[words, &[argument]]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let tasks = value["tasks"].as_array().expect("tasks");
    let names: Vec<_> = tasks.iter().filter_map(|t| t["name"].as_str()).collect();
    assert_eq!(names, ["periodic-0", "periodic-1", "periodic-2"]);
    // 20 % of 16 ms at a time, 200 ms long: 12 or 13 times, the last one perhaps not to its end.
    for task in tasks {
        let work_ns = task["work_ns"].as_u64().expect("a number");
        assert!(
            (11 * 3_200_000..=14 * 3_200_000).contains(&work_ns),
            "{task}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_recording_is_said_everywhere() {
    let folder = recorded();
    // Nothing but idle CPUs.
    let idle = "cpus=2\n\
                <idle>-0 [000] 0.000000000: cpu_idle: state=0 cpu_id=0\n\
                <idle>-0 [001] 0.001000000: cpu_idle: state=0 cpu_id=1\n";
    common::file(&folder, "idle.txt", idle);
    // A run that costs of the platform are all of.
    let head = "cpus=8\n<idle>-0 [000] d..2. 1.000000000: sched_switch: prev_comm=swapper/0 \
                prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n";
    let tail = "a-10 [000] d..2. 1.000000500: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 \
                prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
    common::file(&folder, "short.txt", &format!("{head}{tail}"));
    for (before, behind) in TAKERS {
        for (argument, part) in [
            ("trace:run.txt,platfrom=tc2", "did you mean `platform`"),
            ("trace:run.txt,platform=hikey961", "hikey960"),
            ("trace:gone.txt", "gone.txt: cannot be read"),
            ("trace:", "no file is named"),
            (
                "trace:run.txt,platform=juno-r0",
                "the recording has 8 CPUs, and juno-r0 has 6; expected a platform with at least 8",
            ),
            ("trace:idle.txt", "no task runs or wakes in it"),
            ("trace:short.txt", "no task runs or wakes in it"),
        ] {
            let output = in_folder(&folder, &[before, &[argument], behind]);
            assert_code(&output, 2);
            let said = stderr(&output);
            assert!(said.contains(part), "{before:?} {argument}: {said}");
        }
    }
}

/// Goal: a recording of `sched_switch` alone, as scx's own ftrace script makes it, says once that
/// nobody knows when tasks were due, and no result has a latency. `prod` runs 4 ms of each 16.
#[test]
fn switches_alone_give_no_latencies() {
    let folder = folder();
    let switch = |us: u64, prev: &str, state: &str, next: &str| {
        let time = format!("100.{us:06}");
        format!(
            "x-1 [000] d..2. {time}: sched_switch: prev_comm={prev} prev_prio=120 \
             prev_state={state} ==> next_comm={next} next_prio=120\n"
        )
    };
    let (prod, idle) = ("prod prev_pid=300", "swapper/0 prev_pid=0");
    let mut text = "cpus=8\n".to_owned();
    for at in (0..160_000).step_by(16_000) {
        text += &switch(at, idle, "R", "prod next_pid=300");
        text += &switch(at + 4000, prod, "S", "swapper/0 next_pid=0");
    }
    common::file(&folder, "switches.txt", &text);
    let page = ["--export-html", "page.html"];
    for (before, behind) in &TAKERS[..2] {
        let output = in_folder(&folder, &[before, &["trace:switches.txt"], behind, &page]);
        assert_code(&output, 0);
        let said = stderr(&output);
        assert_eq!(
            said.matches("no sched_waking and no sched_wakeup").count(),
            1,
            "{said}"
        );
        assert!(!said.contains("nobody had woken"), "{said}");
        let shown = stdout(&output);
        assert!(
            !shown.contains("latency") && !shown.contains("missed"),
            "{shown}"
        );
        let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
        assert!(!page.contains("Wake-up latency,") && !page.contains("wake_latency_us"));
        let json = ["--format", "json"];
        let output = in_folder(&folder, &[before, &["trace:switches.txt"], behind, &json]);
        let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let runs = value["runs"].as_array().expect("runs");
        for run in runs {
            let metrics = run["metrics"].as_object().expect("metrics");
            assert!(metrics.contains_key("wakeups_total"), "{metrics:?}");
            let heads = ["wake_latency", "slack", "missed", "periods"];
            let due = |name: &&String| heads.iter().any(|head| name.starts_with(head));
            assert_eq!(metrics.keys().find(due), None);
            let buckets = &run["details"]["wake_latency_up_to_ns_count"];
            assert_eq!(buckets.as_array().map(Vec::len), Some(0), "{buckets}");
        }
    }
}
