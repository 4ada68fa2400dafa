//! `wakeplace evaluate`: the score, how a candidate fails, and what is refused
//! (docs/guide/evaluate.md).

use crate::common::{assert_code, assert_refused, file, folder, run, stderr, stdout};
use crate::schedulers::{evaluating, loader, made};
use crate::schema::problems;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use wakeplace_outcome::Evaluation;

/// Two loads on a small board, one of which comes to an end.
const BATTERY: &str = r#"
title = "two loads"
seeds = 2
duration = "100ms"
boards = ["hikey960"]

[[load]]
name = "light"
workload = "periodic:n={cpus},period=16ms,duty=10%,start=spread"

[[load]]
name = "messages"
workload = "messaging:groups=1,loops=2"
duration = "1s"
"#;

/// A battery's file in a folder.
fn battery(folder: &tempfile::TempDir) -> String {
    let path = file(folder, "two.toml", BATTERY);
    path.to_str().expect("UTF-8").to_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("JSON")
}

/// A number of an evaluation.
fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

fn geometric(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    (logs / values.len() as f64).exp()
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

/// Goal: with one seed every score follows from the values beside it: less is better of all that
/// these loads measure, and 1 is added to counts and us.
#[test]
fn a_policy_has_a_score_and_its_parts() {
    let folder = folder();
    let battery = battery(&folder);
    let args = [
        "evaluate",
        "wakeplace",
        "--battery",
        &battery,
        "--seeds",
        "1",
        "-q",
    ];
    let output = run(&[&args[..], &["--json"]].concat());
    assert_code(&output, 0);
    let found = json(&output);
    let mut scores = Vec::new();
    for cell in found["cells"].as_array().expect("cells") {
        let mut own = Vec::new();
        for figure in cell["figures"].as_array().expect("figures") {
            if figure["goal"].is_null() {
                assert!(figure["score"].is_null(), "{figure}");
                continue;
            }
            let plus = match figure["unit"].as_str() {
                Some("us" | "count") => 1.0,
                _ => 0.0,
            };
            let of = |who: &str| number(&figure[who]) + plus;
            let score = number(&figure["score"]);
            assert!(near(score, of("base") / of("candidate")), "{figure}");
            own.push(score);
        }
        let score = number(&cell["score"]);
        assert!(near(score, geometric(&own)), "{cell}");
        scores.push(score);
    }
    assert_eq!(scores.len(), 2);
    assert!(near(number(&found["score"]), geometric(&scores)), "{found}");
    let goals: Vec<&str> = { found["parts"].as_array().expect("parts").iter() }
        .filter_map(|part| part["goal"].as_str())
        .collect();
    assert_eq!(goals, ["energy", "benchmark", "latency", "misses"]);
    assert!(found["score_ci95"].is_null(), "one seed has no interval");
    assert_eq!(found["difference"], "one run");
    // The same bytes, by another name of the form and with another number of threads.
    for more in [["--format=json", "-j1"], ["--json", "-j3"]] {
        assert_eq!(stdout(&run(&[&args[..], &more].concat())), stdout(&output));
    }
    let human = stdout(&run(&args));
    let line = human.replace('\n', " ");
    assert!(
        line.contains(": one run, nothing is told from chance."),
        "{human}"
    );
    let score = format!("Score {:.4}", number(&found["score"]));
    assert!(
        human.contains(&score) && human.contains("messages"),
        "{human}"
    );
}

/// Goal: the values of a cell are those of the same comparison.
#[test]
fn a_cells_values_are_those_of_a_comparison() {
    let folder = folder();
    let battery = battery(&folder);
    let more = [
        "--goal=wake_latency_us_p50",
        "--goal=energy",
        "--json",
        "-q",
    ];
    let args = [
        "evaluate",
        "wakeplace",
        "--base=linux-6.12",
        "--battery",
        &battery,
    ];
    let found = json(&run(&[&args[..], &more].concat()));
    let compared = json(&run(&[
        "compare",
        "--platform=hikey960",
        "--workload=periodic:n=8,period=16ms,duty=10%,start=spread",
        "--policy=linux-6.12",
        "--policy=wakeplace",
        "--seeds=2",
        "--duration=100ms",
        "--format=json",
        "-q",
    ]));
    let cell = &found["cells"][0];
    assert_eq!(cell["workload"], compared["runs"][0]["workload"]);
    let figures = cell["figures"].as_array().expect("figures");
    let goals: Vec<&Value> = figures.iter().map(|figure| &figure["goal"]).collect();
    assert_eq!(goals[..2], ["wake_latency_us_p50", "energy"]);
    for figure in figures {
        for (who, at) in [("base", 0), ("candidate", 1)] {
            let metric = figure["metric"].as_str().expect("a name");
            let mean = &compared["runs"][at]["metrics"][metric]["mean"];
            assert_eq!(&figure[who], mean, "{metric}");
        }
    }
    // Two seeds have an interval.
    let ends = found["score_ci95"].as_array().expect("an interval");
    let score = number(&found["score"]);
    assert!(
        number(&ends[0]) < score && score < number(&ends[1]),
        "{found}"
    );
}

/// Goal: what decides as the base does is as good, and said to do so. Nothing is packed in
/// `linux-7.3`, so that it does not matter when a CPU is full.
#[test]
fn what_changes_nothing_scores_one() {
    let folder = folder();
    let battery = battery(&folder);
    let same = "linux-7.3:power_full_util=60";
    let found = json(&run(&[
        "evaluate",
        same,
        "--battery",
        &battery,
        "--json",
        "-q",
    ]));
    assert_eq!(found["score"], 1.0, "{found}");
    assert!(found["score_ci95"].is_null());
    let warnings = found["warnings"].to_string();
    assert!(
        warnings.contains("made the same decisions as linux-7.3"),
        "{warnings}"
    );
}

#[test]
fn an_evaluation_is_what_the_schema_says() {
    let folder = folder();
    let battery = battery(&folder);
    let output = run(&["evaluate", "wakeplace", "--battery", &battery, "--json"]);
    assert_code(&output, 0);
    let found = json(&output);
    let all = problems(&found);
    assert!(all.is_empty(), "{}", all.join("\n"));
    let read: Evaluation = serde_json::from_str(&stdout(&output)).expect("an evaluation");
    assert_eq!(serde_json::to_value(read).expect("JSON"), found);
    let command = found["command"].as_str().expect("a command");
    assert_eq!(
        command,
        format!("wakeplace evaluate wakeplace --battery {battery}")
    );
}

/// Goal: a scheduler of others is a candidate, twice alike, and the result says which it was.
#[test]
fn a_scheduler_is_scored() {
    let folder = folder();
    let battery = battery(&folder);
    let fifo = made().object("fifo.bpf.o");
    let of = |jobs: &str| {
        let output = evaluating(&fifo, &["--battery", &battery, "--json", jobs]).output();
        let output = output.expect("the program starts");
        assert_code(&output, 0);
        json(&output)
    };
    let found = of("-j1");
    assert_eq!(found, of("-j2"));
    assert_eq!(found["valid"], true);
    assert!(number(&found["score"]) > 0.0);
    assert_eq!(found["candidate"]["facts"]["scheduler"], "fifo");
    let folder = crate::common::shared_folder("evaluated");
    let result = folder.join("result.json");
    let place = result.to_str().expect("UTF-8");
    let output = evaluating(&fifo, &["--battery", &battery, "--json", "-o", place]).output();
    assert_code(&output.expect("the program starts"), 0);
    let written = std::fs::read_to_string(Path::new(place)).expect("a file");
    assert!(written.contains("\"valid\": true"), "{written}");
}

/// Goal: a candidate that ends with an error, never ends, or lets tasks wait has no score; the
/// evaluation says how it failed and with which wake-up, and the exit code is 1.
#[test]
fn a_scheduler_that_fails_has_no_score() {
    let folder = folder();
    let battery = battery(&folder);
    for (bad, kind, words) in [
        ("ERROR", "crash", "scx_bpf_error (no place for "),
        ("LOOP", "crash", "it loops for ever"),
        (
            "LOST",
            "stall",
            "a task that could run did not for 100 ms of 100 ms (held by the scheduler",
        ),
    ] {
        let object = made().object(&format!("bad_{bad}.bpf.o"));
        let args = ["--battery", &battery, "--json", "-q"];
        let output = evaluating(&object, &args)
            .output()
            .expect("the program starts");
        assert_code(&output, 1);
        let found = json(&output);
        assert!(problems(&found).is_empty(), "{bad}");
        assert_eq!(found["valid"], false, "{bad}");
        assert!(found["score"].is_null() && found["parts"] == serde_json::json!([]));
        assert!(found["difference"].is_null());
        let failed = &found["failures"][0];
        assert_eq!(failed["kind"], kind, "{bad}: {failed}");
        assert_eq!(
            (&failed["load"], &failed["seed"]),
            (&Value::from("light"), &Value::from(1))
        );
        let reason = failed["reason"].as_str().expect("a reason");
        assert!(reason.contains(words), "{bad}: {reason}");
        let human = evaluating(&object, &["--battery", &battery, "-q"]).output();
        let human = stdout(&human.expect("the program starts"));
        let said = human.contains("No score") && human.contains(&format!("- {kind} in light"));
        assert!(said, "{human}");
    }
}

/// Goal: the wake-up with which it went wrong is named. The loader ends its scheduler after 111 ms
/// (`a_loader_runs_in_virtual_time`), so the last wake-up is before, and its task is the load's.
#[test]
fn the_last_wakeup_before_a_crash_is_named() {
    let folder = folder();
    let battery = battery(&folder);
    let args = ["--battery", &battery, "--duration=300ms", "--json", "-q"];
    let output = evaluating(&loader("watch"), &args).output();
    let output = output.expect("the program starts");
    assert_code(&output, 1);
    let found = json(&output);
    let failed = &found["failures"][0];
    assert_eq!(failed["kind"], "crash", "{failed}");
    let end_ns = failed["end_ns"].as_u64().expect("a time");
    assert!((111_000_000..300_000_000).contains(&end_ns), "{failed}");
    let wakeup = &failed["wakeup"];
    let task = wakeup["task"].as_str().expect("a task");
    assert!(task.starts_with("periodic-"), "{failed}");
    assert!(
        wakeup["cpu"].as_u64().is_some_and(|cpu| cpu < 8),
        "{failed}"
    );
    // Eight tasks wake every 16 ms, so the last wake-up is not long ago.
    let time_ns = wakeup["time_ns"].as_u64().expect("a time");
    assert!(
        time_ns <= end_ns && end_ns - time_ns <= 16_000_000,
        "{failed}"
    );
}

/// Goal: a loader that never attaches is refused, and one that goes on for ever ends with its runs.
#[test]
fn a_loader_without_end_is_bounded() {
    let folder = folder();
    let battery = battery(&folder);
    let args = ["--battery", &battery, "--json", "-q"];
    let output = evaluating("/bin/sleep 98765431", &args)
        .output()
        .expect("the program starts");
    assert_refused(&output, &["waits for something that does not come"]);
    let output = evaluating(&loader("for-ever"), &args)
        .output()
        .expect("the program starts");
    assert_code(&output, 0);
    assert_eq!(json(&output)["valid"], true);
}

#[test]
fn wrong_evaluations_are_refused() {
    let of = |args: &[&str]| run(&[&["evaluate"], args].concat());
    for (args, words) in [
        (
            &["linux-7.3"][..],
            "the candidate `linux-7.3` is the base; expected another candidate",
        ),
        // Other words for the same rules.
        (
            &["linux-7.3:busy_factor=16"],
            "the candidate `linux-7.3:busy_factor=16` is the base; expected another candidate",
        ),
        (
            &["wakeplace", "--battery=smal"],
            "unknown battery `smal`; expected one of small",
        ),
        (&["wakeplace", "--battery=none.toml"], "none.toml"),
        (&["wakeplce"], "did you mean `wakeplace`?"),
        (&["wakeplace", "--base=linux-7.4"], "linux-7.4"),
        (&["wakeplace", "--goal=enrgy"], "did you mean `energy`?"),
        (
            &["wakeplace", "--goal=wakeups_total"],
            "neither good nor bad",
        ),
        (
            &["wakeplace", "--platform=hikey961"],
            "did you mean `hikey960`?",
        ),
        (&["wakeplace:busy_facter=8"], "did you mean `busy_factor`?"),
        (&["wakeplace", "--seeds=0"], "seeds"),
        (&["./none.bpf.o"], "there is no such file"),
        (&["wakeplace", "--interpret"], "`wakeplace` is a policy"),
        (
            &["wakeplace", "--kernel-config=x"],
            "--kernel-config is for a kernel's own code",
        ),
        (&["--base=linux-6.12"], "CANDIDATE"),
        (&["wakeplace", "linux-6.12"], "unexpected argument"),
    ] {
        assert_refused(&of(args), &[words]);
    }
    let folder = folder();
    let battery = battery(&folder);
    let of = |goal: &str| of(&["wakeplace", "--battery", &battery, "--goal", goal, "-q"]);
    let none = of("frame_lateness_us_p99");
    assert_refused(&none, &["measures the goal `frame_lateness_us_p99`"]);
    let own = run(&[
        "evaluate",
        "wakeplace",
        "--battery",
        &battery,
        "-o",
        &battery,
    ]);
    assert_refused(&own, &["two.toml"]);
    assert!(stderr(&own).contains("--battery"));
}
