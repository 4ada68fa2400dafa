//! `trace:FILE` wherever a workload is taken.
//! Page: docs/guide/traces-in.md.
//!
//! What must stay: `trace:FILE` stands wherever a workload may; a latency that nobody knows is not
//! in a result.
//! Tests by part (in crates/cli/src): `given_deadlines_judge_marked_frames`
//! (crates/study/src/comparison/frames.rs: `given_deadlines`); commands/workload_recording.rs:
//! `recordings_are_workloads_everywhere` (`check`, `answer`, `Does`), `a_check_takes_deadlines`
//! (`beside`),
//! `what_is_wrong_with_a_recording_is_said_everywhere` (`refused_somewhere`);
//! crates/workload/src/spec.rs: `recordings_are_workloads_everywhere` (`recorded`);
//! crates/workload/src/rtapp/hints.rs: `recorded_tasks_take_hints` (`hint_recorded`);
//! crates/trace/src/replay: `switches_alone_give_no_latencies`; replay/deadlines.rs:
//! `a_recording_of_android_says_its_deadlines` (whole runs).
//! Helpers, and who fails with them: `in_folder` (all tests); `recorded`
//! (`recordings_are_workloads_everywhere`, `what_is_wrong_with_a_recording_is_said_everywhere`,
//! `recorded_tasks_take_hints`);
//! `android` (`a_recording_of_android_says_its_deadlines`, `a_check_takes_deadlines`).

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

/// Goal: a hint reaches recorded tasks by their name, alone and as an axis: with the most that
/// there is, work of 20 % on a little CPU takes more energy, whatever it was recorded at. A name
/// that nobody has is told with the nearest.
#[test]
fn recorded_tasks_take_hints() {
    let folder = recorded();
    let run = ["--platform", "hikey960", "--policy", "linux-7.3"];
    let load = ["--workload", "trace:run.txt,platform=hikey960"];
    let vary = ["--vary", "task.periodic.util_min=0,1024", "--seeds", "1"];
    let json = ["--format", "json"];
    let output = in_folder(&folder, &[&["sweep"], &run, &load, &vary, &json]);
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let energy = |at: usize| {
        value["points"][at]["cpu_energy_j"]
            .as_f64()
            .expect("joules")
    };
    assert!(energy(0) < energy(1), "{value}");
    let sim = |set: &str| in_folder(&folder, &[&["sim"], &run, &load, &["--set", set], &json]);
    let one = sim("task.periodic-1.util_max=100");
    assert_code(&one, 0);
    assert!(stdout(&one).contains("task.periodic-1.util_max"));
    let wrong = sim("task.periodik.util_min=9");
    common::assert_refused(
        &wrong,
        &["it has no task `periodik`; did you mean `periodic`?"],
    );
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

/// A recording of Android: a vsync every 16 ms, of which the thread `app` tells the UI thread. That
/// works for 1 ms and has RenderThread draw. Each of the three has a CPU of its own, 0 to 2.
fn android() -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    let mut add = |us: u64, cpu: usize, who: &str, what: &str| {
        let time = format!("100.{us:06}");
        lines.push((us, format!(" {who} [{cpu:03}] d..2. {time}: {what}\n")));
    };
    const TASKS: [(&str, u32); 3] = [("app", 41), ("ui", 100), ("RenderThread", 101)];
    let name = |cpu: usize| format!("{}-{}", TASKS[cpu].0, TASKS[cpu].1);
    let task = |lead: &str, cpu: usize| {
        let (comm, pid) = TASKS[cpu];
        format!("{lead}comm={comm} {lead}pid={pid} {lead}prio=120")
    };
    let idle = |lead: &str| format!("{lead}comm=swapper {lead}pid=0 {lead}prio=120");
    let mut does = |us: u64, cpu: usize, what: &str| match what.split_once(' ') {
        Some(("wakes", by)) => {
            let by: usize = by.parse().expect("a CPU");
            let who = if by == cpu {
                "<idle>-0".to_owned()
            } else {
                name(by)
            };
            let (comm, pid) = TASKS[cpu];
            let woken = format!("comm={comm} pid={pid} prio=120 target_cpu=000");
            add(us, by, &who, &format!("sched_waking: {woken}"));
            let next = task("next_", cpu);
            let what = format!("sched_switch: {} prev_state=R ==> {next}", idle("prev_"));
            add(us, cpu, "<idle>-0", &what);
        }
        Some(("sleeps", _)) => {
            let prev = task("prev_", cpu);
            let what = format!("sched_switch: {prev} prev_state=S ==> {}", idle("next_"));
            add(us, cpu, &name(cpu), &what);
        }
        _ => add(us, cpu, &name(cpu), &format!("tracing_mark_write: {what}")),
    };
    let frames = [0, 16, 32, 200, 216, 232];
    for (value, ms) in frames.into_iter().chain([260]).enumerate() {
        let us = ms * 1000;
        does(us, 0, "wakes 0");
        does(us + 100, 0, &format!("C|40|VSYNC-app|{}", value % 2));
        does(us + 200, 0, "sleeps .");
        if ms == 260 {
            break;
        }
        does(us + 150, 1, "wakes 0");
        does(us + 160, 1, "B|100|Choreographer#doFrame 7");
        does(us + 1150, 2, "wakes 1");
        does(us + 1160, 2, "B|100|DrawFrames 7");
        does(us + 1200, 1, "E|100");
        does(us + 1210, 1, "sleeps .");
        // The third one takes five periods.
        let end = us + if ms == 32 { 80_000 } else { 3_000 };
        does(end, 2, "E|100");
        does(end + 10, 2, "sleeps .");
    }
    lines.sort_by_key(|(us, _)| *us);
    let head = "cpus=8\n".to_owned();
    head + &lines.into_iter().map(|(_, line)| line).collect::<String>()
}

/// Goal: a check lists the chains of a recording with what became of their frames there, and those
/// of an rt-app file. By hand: a frame begins with its vsync, 100 us after its first line, is due
/// 16 ms later, and is drawn 3 ms after its first line, the third one 80 ms.
#[test]
fn a_check_lists_chains() {
    let folder = folder();
    common::file(&folder, "phone.txt", &android());
    let check = |file: &str, format: &str| {
        let output = in_folder(&folder, &[&["workload", "check", file, "--format", format]]);
        assert_code(&output, 0);
        stdout(&output)
    };
    let text = check("trace:phone.txt,platform=hikey960", "json");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!({
        "name": "ui",
        "deadline_ns": 16_000_000,
        "known": "median distance of VSYNC-app",
        "recorded": {
            "frames": 6,
            "missed": 1,
            "dropped": 0,
            "streak_max": 1,
            "lateness_ns_p50": -13_100_000,
            "lateness_ns_p95": 63_900_000,
            "lateness_ns_p99": 63_900_000,
        },
    });
    assert_eq!(value["chains"], serde_json::json!([expected]));
    let text = check("trace:phone.txt,platform=hikey960", "human");
    for part in ["ui", "16000.0", "-13100.0", "63900.0"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let file = r#"{"tasks": {"ui": {"run": 1000, "timer": {"ref": "t", "period": 16000}}},
        "_deadlines": {"screen": {"from": "ui", "deadline": 8000}}}"#;
    common::file(&folder, "app.json", file);
    let value: serde_json::Value = serde_json::from_str(&check("app.json", "json")).expect("JSON");
    assert_eq!(value["chains"][0]["name"], "screen");
    assert_eq!(value["chains"][0]["deadline_ns"], 8_000_000);
    assert!(value["chains"][0]["recorded"].is_null());
    let text = check("app.json", "human");
    assert!(text.contains("screen") && text.contains("8000.0"), "{text}");
}

/// Goal: a check judges given deadlines as a run does, and shows the recording's own frames beside.
/// By hand: the recording has six frames of its own and misses one (`a_check_lists_chains`). A file
/// of an rt-app takes them, too.
#[test]
fn a_check_takes_deadlines() {
    let folder = folder();
    common::file(&folder, "phone.txt", &android());
    let own = r#"{"screen": {"from": "app", "to": "RenderThread", "deadline": 8000}}"#;
    common::file(&folder, "own.json", own);
    common::file(
        &folder,
        "wrong.json",
        r#"{"screen": {"from": "RenderThread", "deadline": 16000}}"#,
    );
    let load = r#"{"tasks": {"ui": {"run": 1000, "timer": {"ref": "t", "period": 16000}}}}"#;
    common::file(&folder, "app.json", load);
    let check = |file: &str, deadlines: &str, format: &str| {
        let more = ["--deadlines", deadlines, "--format", format];
        in_folder(&folder, &[&["workload", "check", file], &more])
    };
    let phone = "trace:phone.txt,platform=hikey960";
    let output = check(phone, "own.json", "json");
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let chain = |chain: &serde_json::Value| {
        let deadline_ns = chain["deadline_ns"].as_u64();
        (
            chain["name"].clone(),
            deadline_ns,
            chain["recorded"]["missed"].as_u64(),
        )
    };
    assert_eq!(
        chain(&value["chains"][0]),
        ("screen".into(), Some(8_000_000), None)
    );
    assert_eq!(
        chain(&value["own_chains"][0]),
        ("ui".into(), Some(16_000_000), Some(1))
    );
    let text = stdout(&check(phone, "own.json", "human"));
    for part in [
        "screen",
        "8000.0",
        "does not count beside --deadlines",
        "63900.0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let wrong = check(phone, "wrong.json", "human");
    common::assert_refused(
        &wrong,
        &["wrong.json:1:21: task `RenderThread` has no timer and no sleep"],
    );
    // Of an rt-app file there is a timer; a task that is not there is refused.
    common::file(
        &folder,
        "right.json",
        r#"{"screen": {"from": "ui", "deadline": 16000}}"#,
    );
    let output = check("app.json", "right.json", "json");
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(value["chains"][0]["deadline_ns"], 16_000_000);
    let wrong = check("app.json", "own.json", "human");
    common::assert_refused(&wrong, &["there is no task `app`"]);
}

/// Goal: a recording of Android says its deadlines itself. Of six frames of 16 ms the third, which
/// takes 80 ms on a little CPU, at least 36 ms on a big one, is late by construction; the rest that
/// follows it is no miss. A file of deadlines wins, with the thread that tells of vsyncs as first:
/// that wakes by a timer but for its first time, which is the start.
#[test]
fn a_recording_of_android_says_its_deadlines() {
    let folder = folder();
    common::file(&folder, "phone.txt", &android());
    let own = r#"{"screen": {"from": "app", "to": "RenderThread", "deadline": 16000}}"#;
    common::file(&folder, "own.json", own);
    // Recorded were frames that take 3 ms, late by 3000 - 100 - 16000 us, and one of 80 ms.
    let said = "ui 16000.0 us (median distance of VSYNC-app) with 6 frames recorded, 1 missed, \
                lateness p50, p95, p99 -13100.0, 63900.0, 63900.0 us";
    let own: &[&str] = &["--deadlines", "own.json"];
    for (more, says, frames) in [(&[][..], true, 6.0), (own, false, 5.0)] {
        let words: [&[&str]; 4] = [
            &["sim", "--workload", "trace:phone.txt,platform=hikey960"],
            &RUN,
            &["--format", "json", "--output", "out.json"],
            more,
        ];
        assert_code(&in_folder(&folder, &words), 0);
        let text = std::fs::read_to_string(folder.path().join("out.json")).expect("a result");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["notes"].to_string().contains(said), says, "{text}");
        let metrics = &value["runs"][0]["seed_runs"][0]["metrics"];
        let metric = |name: &str| metrics[name].as_f64().expect(name);
        let counts = [
            "frames_total",
            "missed_frames_total",
            "dropped_frames_total",
        ];
        assert_eq!(counts.map(metric), [frames, 1.0, 0.0], "{metrics}");
        assert_eq!(metric("missed_frames_streak_total"), 1.0);
        assert!(metric("frame_lateness_us_p50") < 0.0, "{metrics}");
        assert!(metric("frame_lateness_us_p99") > 20_000.0, "{metrics}");
        // The chain's own figures, and the share: 1 of 6, or of 5.
        let chain = if says { "ui" } else { "screen" };
        assert_eq!(metric(&format!("frames_of_{chain}_total")), frames);
        assert_eq!(metric(&format!("missed_frames_of_{chain}_total")), 1.0);
        assert!((metric("missed_frames_pct") - 100.0 / frames).abs() < 1e-9);
    }
    // From a thread that marks none, and which no timer wakes, no frame could begin.
    let wrong = r#"{"screen": {"from": "RenderThread", "deadline": 16000}}"#;
    common::file(&folder, "wrong.json", wrong);
    let words: [&[&str]; 3] = [
        &["sim", "--workload", "trace:phone.txt,platform=hikey960"],
        &RUN,
        &["--deadlines", "wrong.json"],
    ];
    let output = in_folder(&folder, &words);
    assert_code(&output, 2);
    let error = stderr(&output);
    assert!(
        error.contains("wrong.json:1:21: task `RenderThread` has no timer and no sleep"),
        "{error}"
    );
}

/// Goal: a deadline that is given for the thread that marks frames judges these, as recorded and as
/// simulated. By hand: five were drawn within 2,900 us of a little CPU and one within 79,900. A big
/// CPU of hikey960 needs 0.45 of that, 1,300 us. So with 1,000 us all six are late, in the run,
/// too. With 1 s none is due when the recording ends.
#[test]
fn given_deadlines_judge_marked_frames() {
    let folder = folder();
    common::file(&folder, "phone.txt", &android());
    let sim = |deadline_us: u32, to: &str| {
        let text = format!(r#"{{"screen": {{"from": "ui", {to} "deadline": {deadline_us}}}}}"#);
        common::file(&folder, "due.json", &text);
        let words: [&[&str]; 3] = [
            &["sim", "--workload", "trace:phone.txt,platform=hikey960"],
            &RUN,
            &["--deadlines", "due.json", "--format", "json"],
        ];
        let output = in_folder(&folder, &words);
        assert_code(&output, 0);
        serde_json::from_str::<serde_json::Value>(&stdout(&output)).expect("JSON")
    };
    let head = "frames of the recording, by the given deadlines: screen";
    for to in ["", r#""to": "RenderThread","#] {
        let value = sim(1000, to);
        let said = format!("{head} 1000.0 us with 6 frames recorded, 6 missed");
        let notes = value["notes"].to_string();
        assert!(notes.contains(&said), "{notes}");
        let metrics = &value["runs"][0]["seed_runs"][0]["metrics"];
        let counts = ["frames_total", "late_frames_total", "dropped_frames_total"];
        let counts = counts.map(|name| metrics[name].as_f64());
        assert_eq!(counts, [Some(6.0), Some(6.0), Some(0.0)], "{metrics}");
    }
    let value = sim(1_000_000, "");
    let notes = value["notes"].to_string();
    let said = format!("{head} 1000000.0 us with 0 frames recorded, 0 missed");
    assert!(notes.contains(&said), "{notes}");
    assert!(value["runs"][0]["seed_runs"][0]["metrics"]["frames_total"].is_null());
    let check = ["workload", "check", "trace:phone.txt"];
    let output = in_folder(&folder, &[&check, &["--deadlines", "due.json"]]);
    assert!(stdout(&output).contains("1000000.0"), "{output:?}");
}
