//! Pages of results.
//! Page: docs/guide/report.md.
//!
//! What must stay: a page is made of the JSON alone and is the same bytes from it; a window changes
//! no run.
//! Tests by part (in crates/cli/src): commands/report.rs:
//! `a_page_of_a_run_and_one_of_its_json_are_the_same_bytes` (`report`),
//! `what_is_no_result_is_refused_and_leaves_the_page` (`read`); crates/metrics/src/profile.rs:
//! `what_the_page_is_made_of_is_in_the_json` (`reasons`, `accounted`);
//! crates/study/src/experiment.rs: `a_window_changes_no_run` (`timeline`);
//! crates/report/src/html/repeat.rs: `a_study_has_its_page` (`of_study`); html.rs:
//! `wrong_windows_and_places_are_refused_before_anything_runs` (`prepare`);
//! crates/outcome/src/details.rs: `kinds_of_cpu_within_a_cluster_add_up` (`kinds`, `name`);
//! expect.rs: `kinds_of_cpu_within_a_cluster_are_told_apart` (`one`, `names`).
//! Helpers, and who fails with them: `compare`
//! (`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`,
//! `what_the_page_is_made_of_is_in_the_json`); `read`
//! (`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`, `a_study_has_its_page`,
//! `what_is_no_result_is_refused_and_leaves_the_page`); `on_one_cluster`
//! (`kinds_of_cpu_within_a_cluster_add_up`, `kinds_of_cpu_within_a_cluster_are_told_apart`).

use crate::common;

use common::{assert_code, file, folder, run_in, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// `compare` with a window of 10 ms, and more arguments.
fn compare(folder: &Path, more: &[&str]) -> std::process::Output {
    let args = [
        "compare",
        "--platform=hikey960",
        "--workload",
        common::PERIODIC,
        "--policy=linux-4.17",
        "--policy=linux-4.17+energy-aware",
        "--duration=100ms",
        "--seeds=2",
        "--timeline=30ms..50ms",
    ];
    run_in(folder, &[&args[..], more].concat())
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

#[test]
fn a_page_of_a_run_and_one_of_its_json_are_the_same_bytes() {
    let folder = folder();
    let files = [
        "--export-html=run.html",
        "--format=json",
        "--output=result.json",
    ];
    assert_code(
        &compare(folder.path(), &[&files[..], &["--jobs=2"]].concat()),
        0,
    );
    assert_code(
        &run_in(folder.path(), &["report", "result.json", "-o", "file.html"]),
        0,
    );
    let page = read(folder.path(), "run.html");
    assert!(page == read(folder.path(), "file.html"), "the pages differ");
    assert_code(&compare(folder.path(), &[&files[..], &["-j1"]].concat()), 0);
    assert!(
        page == read(folder.path(), "run.html"),
        "threads change the page"
    );
    assert_eq!(
        page,
        stdout(&run_in(folder.path(), &["report", "result.json"]))
    );
    for part in [
        "<h1>linux-4.17+energy-aware against linux-4.17 on hikey960</h1>",
        "What ran where",
        "wakeplace compare --platform=hikey960 --workload periodic:n=4,period=16ms,duty=5%",
        "idle WFI",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn what_the_page_is_made_of_is_in_the_json() {
    let folder = folder();
    let output = compare(folder.path(), &["--format=json"]);
    assert_code(&output, 0);
    let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let figure = |value: &Value| value.as_f64().expect("a figure");
    let whole = |value: &Value| value.as_u64().expect("a number");
    for run in value["runs"].as_array().unwrap() {
        let details = &run["details"];
        let energy = &details["energy"];
        let parts = energy["cluster_state_energy_s"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| figure(&part[2])).sum();
        let meter = figure(&run["metrics"]["cpu_energy_j"]["mean"]);
        assert!(
            (sum - meter).abs() < meter * 1e-9,
            "{sum} J in parts, {meter} J by the meter"
        );
        let all = figure(&run["metrics"]["energy_j"]["mean"]);
        let work = figure(&run["metrics"]["work_energy_j"]["mean"]);
        assert!(work > 0.0 && (figure(&energy["work"]) - work).abs() < work * 1e-9);
        assert!((sum + work + figure(&energy["board"]) - all).abs() < all * 1e-9);
        for cluster in details["residency"].as_array().unwrap() {
            let idle = cluster["idle_pct"]
                .as_object()
                .unwrap()
                .values()
                .map(figure);
            let rest = figure(&cluster["busy_pct"]) + figure(&cluster["transition_pct"]);
            assert!((idle.sum::<f64>() + rest - 100.0).abs() < 1e-9, "{cluster}");
        }
        for domain in details["frequencies"].as_array().unwrap() {
            let opps = domain["khz_time_busy_pct"].as_array().unwrap();
            let time: f64 = opps.iter().map(|opp| figure(&opp[1])).sum();
            assert!((time - 100.0).abs() < 1e-9, "{domain}");
        }
        let placed = details["placements_per_run"]
            .as_object()
            .unwrap()
            .values()
            .map(figure);
        let metric = |name: &str| figure(&run["metrics"][name]["mean"]);
        assert_eq!(
            placed.sum::<f64>(),
            metric("wakeups_total") + metric("forks_total")
        );
        let line = &run["timeline"];
        assert_eq!(whole(&line["until_ns"]), 50_000_000);
        for key in ["cpu_task_from_to_ns", "cpu_idle_state_from_to_ns"] {
            let spans = line[key].as_array().unwrap();
            assert!(!spans.is_empty(), "{key}");
            for span in spans {
                let (from, to) = (whole(&span[2]), whole(&span[3]));
                assert!(
                    30_000_000 <= from && from < to && to <= 50_000_000,
                    "{span}"
                );
            }
        }
    }
    assert_eq!(value["verdicts"][0]["policy"], "linux-4.17+energy-aware");
}

#[test]
fn a_window_changes_no_run() {
    let folder = folder();
    let hashes = |more: &[&str]| {
        let args = [
            "sim",
            "--platform=tc2",
            "--workload",
            common::PERIODIC,
            "--policy=linux-4.17",
        ];
        let args = [&args[..], &["--duration=100ms", "--format=json"], more].concat();
        let output = run_in(folder.path(), &args);
        let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        (
            [
                value["runs"][0]["event_hashes"].clone(),
                value["runs"][0]["behaviour_hashes"].clone(),
            ],
            value["runs"][0]["timeline"].is_object(),
        )
    };
    let (plain, none) = hashes(&[]);
    let (watched, some) = hashes(&["--timeline=0s..100ms"]);
    assert!(plain.iter().all(|hashes| hashes[0].is_string()));
    assert_eq!((plain, none, some), (watched, false, true));
}

#[test]
fn a_study_has_its_page() {
    let folder = folder();
    let args = [
        "study",
        "run",
        "energy-aware/energy-hikey960",
        "--quick",
        "--duration=50ms",
    ];
    let more = [
        "--seeds=1",
        "--export-html=study.html",
        "--format=json",
        "-o",
        "study.json",
    ];
    assert_code(&run_in(folder.path(), &[&args[..], &more].concat()), 0);
    let page = read(folder.path(), "study.html");
    for part in [
        "Published against simulated",
        "Energy by CPU and state",
        "Repeat it",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_code(
        &run_in(folder.path(), &["report", "study.json", "-o", "file.html"]),
        0,
    );
    assert!(page == read(folder.path(), "file.html"), "the pages differ");
}

#[test]
fn what_is_no_result_is_refused_and_leaves_the_page() {
    let folder = folder();
    file(&folder, "page.html", "as it was");
    file(
        &folder,
        "text.json",
        "{\"schema_version\": 1,\n \"runs\": [}",
    );
    file(
        &folder,
        "other.json",
        "{\"schema_version\": 1, \"wakeup\": {}}",
    );
    fs::write(folder.path().join("bytes.json"), [0xff, 0xfe, 0]).unwrap();
    for (result, part) in [
        ("text.json", "text.json:2:11: expected value"),
        ("other.json", "other.json: is the result of `explain`"),
        ("bytes.json", "bytes.json: is no text in UTF-8 (byte 0)"),
        ("none.json", "none.json: cannot be read"),
        (".", "cannot be read"),
    ] {
        let output = run_in(folder.path(), &["report", result, "--output", "page.html"]);
        assert_code(&output, 2);
        let said = stderr(&output);
        assert!(said.contains(part), "{said}");
        assert!(
            said.contains("expected the JSON of `compare`, `sim`, `review` or `study run`"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(read(folder.path(), "page.html"), "as it was");
    }
}

#[test]
fn wrong_windows_and_places_are_refused_before_anything_runs() {
    let folder = folder();
    for (more, part) in [
        (&["--timeline=1ms"][..], "expected FROM..TO"),
        (&["--timeline=40ms..200ms"], "the run takes 100 ms"),
        (&["--export-html=-"], "expected a file"),
        (&["--export-html=x", "--output=x"], "name the same file"),
        (&["--export-html=none/x.html"], "its folder does not exist"),
    ] {
        let args: Vec<&str> = more.to_vec();
        let base = [
            "sim",
            "--platform=tc2",
            "--workload",
            common::PERIODIC,
            "--policy=linux-4.17",
        ];
        let output = run_in(
            folder.path(),
            &[&base[..], &["--duration=100ms"], &args].concat(),
        );
        assert_code(&output, 2);
        assert!(
            stderr(&output).contains(part),
            "{more:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// CPUs of one cluster that are not alike, by kind.
const KINDS: [(&str, f64); 3] = [
    ("kryo485-261", 4.0),
    ("kryo485-801", 3.0),
    ("kryo485-1024", 1.0),
];

/// A command on a machine with such a cluster.
fn on_one_cluster(folder: &Path, command: &str, more: &[&str]) -> std::process::Output {
    let load = "periodic:n=8,period=16ms,duty=3%,start=spread";
    let words = [
        command,
        "--platform=sm8250",
        "--policy=linux-6.12",
        "--duration=200ms",
        "--workload",
        load,
    ];
    run_in(folder, &[&words, more].concat())
}

/// Goal: CPUs that are not alike have figures of their own although they share a cluster. A
/// cluster's figures are the sum of its kinds': 4, 3 and 1 of 8 CPUs.
#[test]
fn kinds_of_cpu_within_a_cluster_add_up() {
    let folder = folder();
    let output = on_one_cluster(folder.path(), "sim", &["--format=json"]);
    assert_code(&output, 0);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let found = &value["runs"][0];
    let metric = |name: String| found["metrics"][&name]["mean"].as_f64().expect(&name);
    let busy: f64 = KINDS
        .iter()
        .map(|(kind, cpus)| cpus * metric(format!("busy_{kind}_pct")))
        .sum();
    let all = metric("busy_cluster0_pct".to_owned()) * 8.0;
    assert!(all > 1.0 && (busy - all).abs() < 1e-9 * all, "{busy} {all}");
    let wakeups: f64 = KINDS
        .iter()
        .map(|(kind, _)| metric(format!("wakeups_{kind}_total")))
        .sum();
    assert_eq!(wakeups, metric("wakeups_total".to_owned()));
    let kinds = found["details"]["kinds"].as_array().expect("kinds");
    for (kind, (name, cpus)) in kinds.iter().zip(KINDS) {
        assert_eq!(
            (kind["kind"].as_str(), kind["cpus"].as_f64()),
            (Some(name), Some(cpus))
        );
        let busy = kind["busy_pct"].as_f64().expect("a share");
        assert!((busy - metric(format!("busy_{name}_pct"))).abs() < 1e-9);
    }
}

/// Goal: they have one name in every place.
#[test]
fn kinds_of_cpu_within_a_cluster_are_told_apart() {
    let folder = folder();
    let run = |command: &str, more: &[&str]| {
        let output = on_one_cluster(folder.path(), command, more);
        assert_code(&output, 0);
        stdout(&output)
    };
    run(
        "sim",
        &["--export-html=page.html", "--export-runs=runs.csv"],
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    let runs = std::fs::read_to_string(folder.path().join("runs.csv")).expect("a table");
    let shown = run_in(folder.path(), &["platform", "show", "sm8250"]);
    let swept = run(
        "sweep",
        &[
            "--vary=util_est=off,single",
            "--seeds=2",
            "--export=swept.csv",
        ],
    );
    assert!(!swept.is_empty());
    let swept = std::fs::read_to_string(folder.path().join("swept.csv")).expect("a table");
    for (kind, _) in KINDS {
        assert!(page.contains(&format!("CPUs of {kind}")), "{kind}");
        assert!(runs.contains(&format!("busy_{kind}_pct")), "{runs}");
        assert!(runs.contains(&format!("wakeups_{kind}_total")), "{runs}");
        assert!(swept.contains(&format!("busy_{kind}_pct")), "{swept}");
        assert!(stdout(&shown).contains(kind));
    }
    run("sim", &["--expect", "busy_kryo485-1024_pct<=100"]);
    let wrong = ["--expect", "busy_kryo485-260_pct<1"];
    let output = on_one_cluster(folder.path(), "sim", &wrong);
    assert_code(&output, 2);
    let said = stderr(&output);
    assert!(
        said.contains("did you mean `busy_kryo485-261_pct`"),
        "{said}"
    );
}
