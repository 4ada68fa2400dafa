//! A simulated run, exported as a trace and read back as a workload, runs the same again.
//! Page: docs/guide/traces-in.md, "Round trip".
//!
//! What must stay: busy times within 0.1 %, numbers of wake-ups exactly but where a test says why
//! not.
//! Tests by part (in crates/cli/src): crates/trace/src/export and crates/trace/src/replay: all
//! tests.
//! Helpers, and who fails with them: `tasks`, `field`, `read`, `comes_back_within` (all tests);
//! `comes_back` (`periodic_tasks_come_back`, `messages_come_back`); `frames` (`frames_come_back`).

use crate::common;

use common::{assert_code, folder, run_in};
use std::collections::BTreeMap;
use std::path::Path;

/// What a trace says of each task: time on CPUs in ns, and wake-ups.
type Tasks = BTreeMap<String, (u64, u64)>;

/// Runs a workload, exported as text and Perfetto, and reads the text by its lines.
fn tasks(folder: &Path, case: &Case, workload: &str, name: &str) -> Tasks {
    let (text, perfetto) = (format!("{name}.txt"), format!("{name}.pftrace"));
    let words = [
        "sim",
        "--platform",
        case.platform,
        "--workload",
        workload,
        "--policy",
        case.policy,
        "--duration",
        case.duration,
        "--set=model.housekeeping=off", // a recording does not show what they take of a task
        "--export-ftrace",
        &text,
        "--export-perfetto",
        &perfetto,
    ];
    let output = run_in(folder, &words);
    assert_code(&output, 0);
    read(&std::fs::read_to_string(folder.join(text)).expect("written"))
}

/// What stands behind ` KEY=`, up to the next blank.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let (_, behind) = line.split_once(&format!(" {key}=")).expect("a field");
    behind.split(' ').next().unwrap_or_default()
}

fn read(text: &str) -> Tasks {
    let mut tasks = Tasks::new();
    let mut since: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (head, event) = line.split_once(": ").expect("an event");
        let (_, place) = head.split_once(" [").expect("a CPU");
        let (cpu, time) = place.split_once("] ").expect("a time");
        let now: u64 = time.trim().replace('.', "").parse().expect("ns");
        if event.starts_with("sched_switch:") {
            if let Some((name, from)) = since.insert(cpu, (field(event, "next_comm"), now)) {
                tasks.entry(name.to_owned()).or_default().0 += now - from;
            }
        } else if event.starts_with("sched_waking:") {
            let name = field(event, "comm");
            tasks.entry(name.to_owned()).or_default().1 += 1;
        }
    }
    tasks.retain(|name, _| !name.starts_with("swapper/"));
    tasks
}

struct Case {
    platform: &'static str,
    policy: &'static str,
    workload: &'static str,
    duration: &'static str,
}

/// Busy time of each task within 0.1 %, and as many wake-ups of each, by both forms.
fn comes_back(case: &Case) {
    comes_back_within(case, 1, 0);
}

/// Busy time of each task within so many thousandths, and so many wake-ups more or fewer.
fn comes_back_within(case: &Case, thousandths: u64, wakeups: u64) {
    let folder = folder();
    // Files of the repository are named from its root.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join(case.workload);
    let workload = match file.is_file() {
        true => file.display().to_string(),
        false => case.workload.to_owned(),
    };
    let first = tasks(folder.path(), case, &workload, "first");
    assert!(!first.is_empty());
    for file in ["first.txt", "first.pftrace"] {
        let again = tasks(folder.path(), case, &format!("trace:{file}"), "again");
        for (name, (ran, woken)) in &first {
            let what = format!("{} {} {file}: {name}", case.platform, case.workload);
            let (ran_again, woken_again) = again.get(name).expect("the same name");
            assert!(
                ran.abs_diff(*ran_again) * 1000 <= *ran * thousandths,
                "{what} ran {ran} and {ran_again} ns"
            );
            let apart = woken.abs_diff(*woken_again);
            assert!(
                apart <= wakeups,
                "{what}: {woken} and {woken_again} wake-ups"
            );
        }
        assert_eq!(first.len(), again.len());
    }
}

#[test]
fn periodic_tasks_come_back() {
    for workload in [
        "periodic:n=1,period=100ms,duty=40%,start=spread",
        "periodic:n=3,period=100ms,duty=30%,start=spread",
        "periodic:n=6,period=16ms,duty=20%,start=spread",
    ] {
        for (platform, policy) in [("hikey960", "linux-5.0"), ("zen4-7950x", "linux-6.12")] {
            comes_back(&Case {
                platform,
                policy,
                workload,
                duration: "2s",
            });
        }
    }
}

/// Mutexes, signals and timers of an rt-app file, nearly: its threads meet at a barrier, which a
/// recording knows as wake-ups among others, and the parent is placed anew.
#[test]
fn an_rt_app_file_comes_back() {
    for (platform, policy) in [("hikey960", "linux-5.0"), ("zen4-7950x", "linux-6.12")] {
        let case = Case {
            platform,
            policy,
            workload: "workloads/locks-and-signals.json",
            duration: "1s",
        };
        comes_back_within(&case, 50, 3);
    }
}

/// Tasks that wake each other every few microseconds, on machines that say nothing of what lines of
/// caches take: that is not subtracted (docs/guide/traces-in.md).
#[test]
fn messages_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let zen4 = std::fs::read_to_string(root.join("platforms/zen4-7950x.toml")).expect("a file");
    let (without, _) = zen4.split_once("[transfer]").expect("it says so");
    let folder = folder();
    let file = folder.path().join("zen4.toml");
    std::fs::write(&file, without).expect("written");
    let zen4: &'static str = file.display().to_string().leak();
    for (platform, policy) in [("hikey960", "linux-5.0"), (zen4, "linux-6.12")] {
        comes_back(&Case {
            platform,
            policy,
            workload: "context-switch:start=ready",
            duration: "500ms",
        });
    }
}

/// Goal: tasks that run longer than in their recording are said, with by how much; the same run
/// says nothing, nor does a part of it. At the highest clock work takes least time, so schedutil,
/// which follows the utilisation, runs it longer. Busy times are those of the traces.
#[test]
fn what_does_not_come_back_is_said() {
    let folder = folder();
    let run = |workload: &str, policy: &str, more: &[&str]| {
        let words = [
            "sim",
            "--platform=hikey960",
            "--workload",
            workload,
            "--policy",
            policy,
            "--set=model.housekeeping=off",
            "--format=json",
        ];
        let output = run_in(folder.path(), &[&words[..], more].concat());
        assert_code(&output, 0);
        let value: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("JSON on standard output");
        let warnings = value["warnings"].as_array().expect("warnings").clone();
        let said = { warnings.iter() }
            .filter_map(serde_json::Value::as_str)
            .find(|warning| warning.contains("the tasks of the recording run"));
        let ran = value["runs"][0]["seed_runs"][0]["metrics"]["task_run_s"].as_f64();
        (said.map(str::to_owned), ran.expect("a time"))
    };
    let fast = "linux-7.3:governor=performance";
    let load = "periodic:n=3,period=100ms,duty=20%,start=spread";
    let recorded = run(load, fast, &["--export-ftrace=fast.txt", "--duration=1s"]);
    assert_eq!(recorded.0, None);
    assert_eq!(run("trace:fast.txt", fast, &[]).0, None);
    let (said, ran) = run("trace:fast.txt", "linux-7.3", &[]);
    let said = said.expect("it runs longer");
    let pct = (ran / recorded.1 - 1.0) * 100.0;
    assert!(pct > 5.0, "{pct}");
    let (_, told) = said.split_once(", ").expect("a figure");
    let (told, _) = told.split_once(" % longer than the ").expect("a figure");
    let told: f64 = told.parse().expect("a number");
    assert!((told - pct).abs() < 0.2, "{told} for {pct}: {said}");
    assert_eq!(
        run("trace:fast.txt", "linux-7.3", &["--duration=500ms"]).0,
        None
    );
}

/// A load whose frames are all late or dropped, `screen` of which is due after 12 ms.
const FRAMES: &str = r#"{"global": {"duration": 2, "calibration": "CPU0"},
    "tasks": {
        "ui": {"run": 1000, "resume": "raster", "timer": {"ref": "unique", "period": 10000}},
        "raster": {"delay": 55000,
            "phases": {"a": {"loop": -1, "suspend": "raster", "run": 15000}}}}"#;

/// Frames, late and dropped ones of a run, and how late the latest is, us.
fn frames(folder: &Path, workload: &str, platform: &str, more: &[&str]) -> [f64; 4] {
    let words = [
        "sim",
        "--platform",
        platform,
        "--workload",
        workload,
        "--policy=linux-7.3",
        "--set=model.housekeeping=off",
        "--format=json",
    ];
    let output = run_in(folder, &[&words[..], more].concat());
    assert_code(&output, 0);
    let result: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("JSON on standard output");
    let metrics = &result["runs"][0]["seed_runs"][0]["metrics"];
    let names = [
        "frames_total",
        "late_frames_total",
        "dropped_frames_total",
        "frame_lateness_us_max",
    ];
    names.map(|name| metrics[name].as_f64().expect(name))
}

/// Goal: a recording that is given back with the deadlines of its load has as many frames, late and
/// dropped ones. By hand, of `FRAMES` in 1985 ms: `raster` begins at 55 ms, so the frames of 10 to
/// 50 do not exist, and 192 from 60 to 1970 are due. It works 15 ms of each 20: every second frame,
/// from the first on, is done 16 ms after its begin and the way out of an idle state, late by 4 to
/// 6, and the 96 others are dropped. A recording does not show the signals that were lost: the
/// frames that these were of may not take the ends of later ones. Of `scroll.json` all frames are
/// in time on rk3588, through starts at other times and rests. Both ends lie milliseconds from any
/// deadline.
#[test]
fn frames_come_back() {
    let folder = folder();
    let due = |deadline: u32| {
        format!(r#"{{"screen": {{"from": "ui", "to": "raster", "deadline": {deadline}}}}}"#)
    };
    common::file(&folder, "due.json", &due(12_000));
    let load = format!("{FRAMES}, \"_deadlines\": {}}}", due(12_000));
    common::file(&folder, "load.json", &load);
    let exported = ["--export-ftrace=run.txt", "--duration=1985ms"];
    let given = ["--deadlines=due.json"];
    let first = frames(folder.path(), "load.json", "zen4-7950x", &exported);
    let again = frames(folder.path(), "trace:run.txt", "zen4-7950x", &given);
    assert_eq!(first[..3], [192.0, 96.0, 96.0]);
    assert_eq!(first[..3], again[..3]);
    for latest_us in [first[3], again[3]] {
        assert!((4_000.0..6_000.0).contains(&latest_us), "{latest_us}");
    }
    common::file(&folder, "due.json", &due(33_333));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scroll = root.join("workloads/scroll.json").display().to_string();
    let exported = ["--export-ftrace=run.txt", "--duration=4990ms"];
    let first = frames(folder.path(), &scroll, "rk3588", &exported);
    let again = frames(folder.path(), "trace:run.txt", "rk3588", &given);
    assert_eq!(first[..3], again[..3]);
    assert_eq!(first[1..3], [0.0, 0.0]);
}
