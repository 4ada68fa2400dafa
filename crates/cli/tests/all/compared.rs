//! `compare` of several machines and loads, settings of one policy, and what seeds vary.
//! Pages: docs/guide/results.md; docs/decisions/023.
//!
//! What must stay: what is said once is said once; equal seeds are one run. Words of notes are
//! compared in part only.
//! Tests by part (in crates/cli/src): crates/study/src/comparison/ignored.rs:
//! `what_an_era_ignores_is_said` (`ignored`, `hints`, `slices`); crates/study/src/comparison.rs:
//! `seeds_that_vary_nothing_are_one_run` (`seeds_vary_nothing`); crates/study/src/request.rs:
//! `seeds_that_vary_nothing_are_one_run` (`varied`); commands/simulate.rs:
//! `what_is_of_one_load_names_it` (`warnings`), `several_machines_and_loads_are_a_matrix`
//! (`matrix`); crates/study/src/matrix.rs: `several_machines_and_loads_are_a_matrix` (by the
//! command); runs_export.rs: `what_cannot_be_is_refused` (`prepare`);
//! crates/trace/src/replay/mod.rs: `a_recording_of_another_machine_is_scaled_aloud`
//! (`other_platform`).
//! Helpers, and who fails with them: `compare` (`seeds_that_vary_nothing_are_one_run`,
//! `several_machines_and_loads_are_a_matrix`, `a_recording_of_another_machine_is_scaled_aloud`).

use crate::common;

use common::{assert_code, file, folder, run_in, stderr, stdout};
use serde_json::Value;
use std::path::Path;

/// Two threads by timers: nothing is drawn.
const FILE: &str = r#"{
    "tasks": {"a": {"instance": 2, "loop": -1, "phases": {"p": {
        "loop": -1, "run": 1000, "timer": {"ref": "unique", "period": 10000}}}}},
    "global": {"duration": 1}
}"#;

const POLICIES: [&str; 4] = [
    "compare",
    "--policy=linux-4.17",
    "--policy=linux-7.3",
    "--duration=200ms",
];

fn compare(folder: &Path, more: &[&str]) -> Value {
    let output = run_in(folder, &[&POLICIES[..], &["--format=json"], more].concat());
    assert_code(&output, 0);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// Goal: what a policy's kernel does not have is said, once for each policy that lacks it
/// (docs/decisions/023-rt-app-events.md): slices are 6.12's, hints 5.3's.
#[test]
fn what_an_era_ignores_is_said() {
    let folder = folder();
    for (asks, lacking) in [("slice=1ms", "linux-6.2"), ("uclamp_min=90%", "linux-5.0")] {
        let load = format!("--workload=periodic:n=2,duty=10%,{asks}");
        let lacks = format!("--policy={lacking}");
        let args = [
            "compare",
            "--platform=hikey960",
            &load,
            "--duration=100ms",
            "--format=json",
            "--policy=linux-6.12",
            &lacks,
        ];
        let output = run_in(folder.path(), &args);
        assert_code(&output, 0);
        let result: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let warnings = result["warnings"].as_array().expect("a list");
        let said = |w: &&Value| w.as_str().is_some_and(|w| w.contains("change nothing"));
        let said: Vec<_> = warnings.iter().filter(said).collect();
        let [only] = said[..] else {
            panic!("{asks}: {warnings:?}")
        };
        assert!(
            only.as_str().is_some_and(|w| w.starts_with(lacking)),
            "{only}"
        );
    }
}

/// Goal: seeds that give the same run are one run, without interval and verdict of chance, and a
/// hint says how to vary it; with jitter they are several.
#[test]
fn seeds_that_vary_nothing_are_one_run() {
    let folder = folder();
    file(&folder, "app.json", FILE);
    let place = ["--platform=hikey960", "--workload=app.json", "--seeds=3"];
    let plain = compare(folder.path(), &place);
    let run = &plain["runs"][0];
    assert_eq!(run["independent_runs"], 1);
    assert_eq!(run["event_hashes"][0], run["event_hashes"][2]);
    assert!(run["metrics"]["energy_j"]["ci95"].is_null());
    let deltas = plain["deltas"].as_array().expect("a list");
    let one_run = |delta: &Value| delta["method"] == "same-runs" || delta["method"].is_null();
    assert!(deltas.iter().all(one_run), "{deltas:?}");
    let told = |d: &Value| d["ci95"].is_null() && d["significant"] != true;
    assert!(deltas.iter().all(told), "{deltas:?}");
    assert!(
        plain["warnings"].to_string().contains("--jitter"),
        "{}",
        plain["warnings"]
    );
    let more = [&place[..], &["--jitter=start=5ms,run=10%"]].concat();
    let varied = compare(folder.path(), &more);
    let run = &varied["runs"][0];
    assert_eq!(run["independent_runs"], 3);
    assert_ne!(run["event_hashes"][0], run["event_hashes"][2]);
    assert_eq!(varied["jitter"], "start=5ms,run=10%");
    assert!(!varied["warnings"].to_string().contains("--jitter"));
    assert_eq!(varied, compare(folder.path(), &more), "drawn from the seed");
}

/// Goal: of several loads each heading, entry of the contents and warning says which it is of.
#[test]
fn what_is_of_one_load_names_it() {
    let folder = folder();
    file(&folder, "app.json", FILE);
    let places = [
        "--platform=hikey960",
        "--workload=app.json",
        "--workload=periodic:n=2",
        "--seeds=3",
        "--export-html=page.html",
    ];
    let output = run_in(folder.path(), &[&POLICIES[..], &places].concat());
    assert_code(&output, 0);
    let said = stderr(&output);
    assert!(
        said.contains("warning: app.json: the 3 seeds give"),
        "{said}"
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    for (at, load) in (1..).zip(["app.json", "periodic:n=2"]) {
        let heading = format!("<h2>{load}: linux-7.3 against linux-4.17 on hikey960</h2>");
        assert_eq!(page.matches(&heading).count(), 1, "{load}");
        let entry = format!("<li><a href=\"#r{at}\">{load}</a>");
        assert_eq!(page.matches(&entry).count(), 1, "{load}");
    }
    let one = [&places[..2], &places[3..]].concat();
    let output = run_in(folder.path(), &[&POLICIES[..], &one].concat());
    let said = stderr(&output);
    assert!(said.contains("warning: the 3 seeds give"), "{said}");
}

#[test]
fn several_machines_and_loads_are_a_matrix() {
    let folder = folder();
    file(&folder, "app.json", FILE);
    let places = [
        "--platform=hikey960",
        "--platform=juno-r0",
        "--workload=app.json",
    ];
    let all = compare(
        folder.path(),
        &[&places[..], &["--workload=periodic:n=2"]].concat(),
    );
    let of = |c: &Value| format!("{} {}", c["runs"][0]["platform"], c["runs"][0]["workload"]);
    let found: Vec<String> = all["comparisons"]
        .as_array()
        .expect("a list")
        .iter()
        .map(of)
        .collect();
    assert_eq!(found.len(), 4);
    assert_eq!(found[1], r#""hikey960" "periodic:n=2""#);
    assert_eq!(found[2], r#""juno-r0" "app.json""#);
    // A page of them is made, and the same comparison alone says the same.
    let alone = compare(
        folder.path(),
        &["--platform=juno-r0", "--workload=app.json"],
    );
    assert_eq!(alone["runs"], all["comparisons"][2]["runs"]);
    file(&folder, "all.json", &all.to_string());
    let page = run_in(folder.path(), &["report", "all.json", "-o", "all.html"]);
    assert_code(&page, 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = folder();
    file(&folder, "app.json", FILE);
    let valid = ["--platform=hikey960", "--workload=app.json"];
    let two = ["--platform=juno-r0"];
    for (command, more, said) in [
        (
            "compare",
            &["--jitter=run=-5%"][..],
            "expected a percentage from 0% to 90%",
        ),
        ("compare", &["--jitter=start=-1ms"], "expected a time"),
        (
            "compare",
            &["--margin=-1"],
            "expected a percentage of 0 or more",
        ),
        (
            "compare",
            &["--workload=periodic", "--jitter=recorded"],
            "by its own keys",
        ),
        (
            "compare",
            &["--policy=linux-7.3:busy_facter=2"],
            "did you mean `busy_factor`",
        ),
        (
            "compare",
            &["--export-runs=x.txt"],
            "ends in .csv or .parquet",
        ),
        ("sim", &two, "sim takes one platform"),
    ] {
        let policies: &[&str] = match command {
            "sim" => &["--policy=linux-7.3"],
            _ => &POLICIES[1..3],
        };
        let args = [&[command][..], policies, &valid, more].concat();
        let output = run_in(folder.path(), &args);
        assert_code(&output, 2);
        assert!(
            stderr(&output).contains(said),
            "{more:?}: {}",
            stderr(&output)
        );
    }
}

/// Goal: a recording of another machine is scaled, and that is said.
#[test]
fn a_recording_of_another_machine_is_scaled_aloud() {
    let folder = folder();
    let record = [
        "sim",
        "--platform=juno-r0",
        "--workload=periodic:n=2",
        "--policy=linux-7.3",
        "--duration=100ms",
        "--export-perfetto=run.pftrace",
    ];
    assert_code(&run_in(folder.path(), &record), 0);
    let warned = |workload: &str, platform: &str| {
        let places = [
            format!("--workload={workload}"),
            format!("--platform={platform}"),
        ];
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        compare(folder.path(), &places)["warnings"].to_string()
    };
    let of_juno = "trace:run.pftrace,platform=juno-r0";
    let said = warned(of_juno, "hikey960");
    assert!(
        said.contains("recorded on juno-r0 and run on hikey960"),
        "{said}"
    );
    assert!(!warned(of_juno, "juno-r0").contains("recorded on"));
}
