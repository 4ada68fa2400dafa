//! Which task made frames late, and which one was busy when frames were dropped: whole runs whose
//! stages are known by arithmetic.
//! Page: docs/guide/workloads.md#deadlines.
//!
//! What must stay: keys of JSON are a contract; text, Markdown and page have the JSON's figures.
//! Tests by part: crates/report/src/late_frames.rs: `late_frames_say_which_task_took_the_time`
//! (`lines`, `of_runs`), `dropped_frames_say_who_was_busy` (`dropped`), and all that is between a
//! run and these.

use crate::common;

use common::{assert_code, folder, run_in, stdout};
use serde_json::Value;

/// All on one CPU at its highest clock: `ui` works 1 ms and hands on to `raster`, which works 2 ms.
/// `hog`, of SCHED_FIFO, works 30 ms at every second begin. So every second frame takes 33 ms
/// instead of 3.
const LOAD: &str = r#"{"global": {"duration": 2, "calibration": "CPU0"},
    "tasks": {
        "ui": {"cpus": [0], "run": 1000, "resume": "raster",
            "timer": {"ref": "unique", "period": 100000}},
        "raster": {"cpus": [0], "phases": {"a": {"loop": -1, "suspend": "raster", "run": 2000}}},
        "hog": {"cpus": [0], "policy": "SCHED_FIFO", "priority": 50, "run": 30000,
            "timer": {"ref": "unique", "period": 200000}}},
    "_deadlines": {"screen": {"from": "ui", "to": "raster", "deadline": 20000}}}"#;

/// Goal: of 33 ms `ui` waits 30 behind `hog` (90.9 %) and runs 1 (3.0 %), `raster` runs 2 (6.1 %).
/// What switches and clocks on their way up take is below a point and a half. CPUs have no idle
/// states: a way out of one would be time in which `ui` sleeps. Without late frames there is
/// nothing.
#[test]
fn late_frames_say_which_task_took_the_time() {
    let folder = folder();
    common::file(&folder, "load.json", LOAD);
    let in_time = LOAD.replace("\"deadline\": 20000", "\"deadline\": 50000");
    common::file(&folder, "in-time.json", &in_time);
    let run = |command: &str, load: &str, more: &[&str]| {
        let workload = format!("--workload={load}");
        let asked = [
            command,
            "--platform=hikey960",
            workload.as_str(),
            "--policy=linux-7.3",
            "--set=model.idle_states=off",
        ];
        let output = run_in(folder.path(), &[&asked[..], more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    let json = ["--format=json", "--export-html=page.html"];
    let result = run("sim", "load.json", &json);
    let result: Value = serde_json::from_str(&result).expect("JSON");
    let own = &result["runs"][0];
    let late = own["details"]["late_frames"].clone();
    assert_eq!(late.as_array().map(Vec::len), Some(1), "{late}");
    let late = &late[0];
    assert_eq!(late["chain"], "screen");
    for (metric, found) in [
        ("late_frames_total", &late["late_per_run"]),
        ("dropped_frames_total", &late["dropped_per_run"]),
    ] {
        assert_eq!(&own["metrics"][metric]["mean"], found, "{metric}: {late}");
    }
    assert_eq!(late["dropped_per_run"], 0.0, "{late}");
    let near = |value: &Value, pct: f64| {
        let value = value.as_f64().expect("a share");
        assert!((value - pct).abs() < 1.5, "{value} for {pct}: {late}");
    };
    let (ui, raster) = (&late["tasks"][0], &late["tasks"][1]);
    assert_eq!(ui["task"], "ui");
    assert_eq!(raster["task"], "raster");
    near(&ui["waiting_pct"], 90.9);
    near(&ui["running_pct"], 3.0);
    near(&raster["running_pct"], 6.1);
    near(&raster["waiting_pct"], 0.0);
    assert_eq!(ui["waiting_behind"], "hog");
    assert_eq!(raster["running_on"], "little");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("the page");
    assert!(page.contains("Late and dropped frames"));

    let text = run("sim", "load.json", &[]);
    let line = text.lines().find(|line| line.starts_with("late frames of"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("screen (9 of 19): ui "), "{line}");
    assert!(line.contains("(waiting, behind hog), raster "), "{line}");
    let text = run("compare", "load.json", &["--policy=linux-6.12"]);
    for policy in ["linux-7.3", "linux-6.12"] {
        let line = format!("{policy}: late frames of screen (");
        assert!(text.contains(&line), "{line}: {text}");
    }
    let text = run("sim", "in-time.json", &[]);
    assert!(!text.contains("late frames"), "{text}");
    let json = run("sim", "in-time.json", &["--format=json"]);
    assert!(!json.contains("\"late_frames\""), "{json}");
}

/// `ui` works 1 ms at each begin, every 10 ms, and hands on to `raster`, which works 15 ms on a CPU
/// of its own. Both are at the highest clock from the start.
const BUSY: &str = r#"{"global": {"duration": 2, "calibration": "CPU0"},
    "tasks": {
        "ui": {"cpus": [0], "util_min": 1024, "run": 1000, "resume": "raster",
            "timer": {"ref": "unique", "period": 10000}},
        "raster": {"cpus": [1], "util_min": 1024,
            "phases": {"a": {"loop": -1, "suspend": "raster", "run": 15000}}}},
    "_deadlines": {"screen": {"from": "ui", "to": "raster", "deadline": 30000}}}"#;

/// Goal: the frame of each second begin is done some 16 ms later, in time. That of the others meets
/// `raster` at work on the one before: it is dropped, not late. So half of all are missed. JSON,
/// text, the table of two policies and a condition on the metric tell the same.
#[test]
fn dropped_frames_say_who_was_busy() {
    let folder = folder();
    common::file(&folder, "busy.json", BUSY);
    let run = |command: &str, more: &[&str]| {
        let asked = [
            command,
            "--platform=hikey960",
            "--workload=busy.json",
            "--policy=linux-7.3",
            "--set=model.idle_states=off",
        ];
        let output = run_in(folder.path(), &[&asked[..], more].concat());
        (output.status.code(), stdout(&output))
    };
    let (code, json) = run("sim", &["--format=json"]);
    assert_eq!(code, Some(0));
    let result: Value = serde_json::from_str(&json).expect("JSON");
    let own = &result["runs"][0];
    let metric = |name: &str| own["metrics"][name]["mean"].as_f64().expect(name);
    let (frames, dropped) = (metric("frames_total"), metric("dropped_frames_total"));
    assert!(
        (dropped * 2.0 - frames).abs() <= 4.0,
        "{dropped} of {frames}"
    );
    assert_eq!(metric("late_frames_total"), 0.0);
    assert_eq!(metric("missed_frames_total"), dropped);
    assert_eq!(metric("dropped_frames_of_screen_total"), dropped);
    assert!(metric("frame_lateness_us_max") < 0.0);
    let late = &own["details"]["late_frames"][0];
    assert_eq!(late["dropped_per_run"].as_f64(), Some(dropped), "{late}");
    let behind = &late["dropped_behind"][0];
    assert_eq!(behind["task"], "raster", "{late}");
    assert_eq!(behind["frames_before"], 1, "{late}");
    // What `ui` hands on before its first timer is no frame, and holds up the first one.
    let behind = behind["dropped_per_run"].as_f64().expect("a number");
    assert_eq!(behind, dropped - 1.0, "{late}");
    let measured = result["measured_by"].as_array().expect("a list");
    assert_eq!(measured[1], "dropped_frames_total", "{measured:?}");
    let (_, text) = run("sim", &[]);
    let said = "raster was still at work on the frame before (";
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("dropped frames of screen (") && text.contains(said),
        "{text}"
    );
    assert!(!text.contains("late frames of"), "{text}");
    let both = ["--policy=linux-6.12", "--expect=dropped_frames_total<=base"];
    let (_, text) = run("compare", &both);
    assert!(text.contains("dropped_frames_total"), "{text}");
    let (code, _) = run("sim", &["--expect=dropped_frames_total<=5"]);
    assert_eq!(code, Some(1));
}
