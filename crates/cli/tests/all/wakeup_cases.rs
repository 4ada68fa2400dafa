//! `--export-wakeup-cases`: the table of the capacity-aware series, and what of it must hold in any
//! run (docs/rules/capacity-aware.md#wakeup-cases, invariants).
//!
//! What must stay: invariants 1 to 6 are the published tables' and hold in any run.
//! Tests by part (in crates/cli/src): wakeup_cases.rs: `invariants_of_the_published_tables`
//! (`write`), `refused` (`prepare`); crates/metrics/src/wakeup_cases.rs:
//! `invariants_of_the_published_tables` (`count`), `csv_and_the_run_itself` (`NAMES`, `report`,
//! `told`); crates/report/src/wakeup_cases.rs: `csv_and_the_run_itself` (`csv`);
//! crates/report/src/case_table.rs: `the_tables_of_a_study_have_a_legend` (`tables`, `holds`);
//! policy/src/placement/select.c (`wp_wake_cap`): `without_wake_cap_the_fast_path_takes_big_tasks`.
//! Helpers, and who fails with them: `simulate` (`invariants_of_the_published_tables`,
//! `without_wake_cap_the_fast_path_takes_big_tasks`, `csv_and_the_run_itself`); `cases`
//! (`invariants_of_the_published_tables`, `without_wake_cap_the_fast_path_takes_big_tasks`);
//! `share` (`invariants_of_the_published_tables`); `stdout_has_cases` (`csv_and_the_run_itself`).

use crate::common;

use common::{assert_code, assert_refused, folder, repository, run_in, stdout};
use serde_json::Value;
use std::path::Path;

const COUNTERS: [&str; 7] = ["little", "big", "sis", "figc", "ww", "bw", "other"];

/// `sim` or `compare` of the mixed load on TC2 with the cases in `file`; the result as JSON.
fn simulate(folder: &Path, file: &str, more: &[&str]) -> Value {
    let load = repository("workloads/mixed-sizes.json");
    let mut args = vec![
        "sim",
        "--platform",
        "tc2",
        "--duration",
        "12s",
        "--format",
        "json",
    ];
    args.extend(["--workload", load.to_str().expect("UTF-8")]);
    args.extend(["--policy", "linux-4.7+asym-capacity"]);
    args.extend(["--export-wakeup-cases", file]);
    args.extend(more);
    let output = run_in(folder, &args);
    assert_code(&output, 0);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// Counters of cases 1 to 8 of the only run.
fn cases(folder: &Path, more: &[&str]) -> (Vec<[u64; 7]>, u64) {
    let result = simulate(folder, "cases.json", more);
    let forks = &result["runs"][0]["metrics"]["forks_total"]["mean"];
    let text = std::fs::read_to_string(folder.join("cases.json")).expect("written");
    let table: Value = serde_json::from_str(&text).expect("JSON");
    let rows = table["runs"][0]["cases"].as_array().expect("cases").clone();
    assert_eq!(rows.len(), 8);
    let counters = |row: &Value| COUNTERS.map(|name| row[name].as_u64().expect("a count"));
    let all: Vec<_> = rows.iter().map(counters).collect();
    let sum = counters(&table["runs"][0]["sum"]);
    for at in 0..7 {
        assert_eq!(sum[at], all.iter().map(|row| row[at]).sum::<u64>());
    }
    (all, forks.as_f64().expect("a number") as u64)
}

/// Share of the first in all, of sums over these cases.
fn share(rows: &[[u64; 7]], cases: std::ops::Range<usize>, first: usize, second: usize) -> f64 {
    let sum = |at: usize| rows[cases.clone()].iter().map(|row| row[at]).sum::<u64>() as f64;
    sum(first) / (sum(first) + sum(second))
}

/// Goal: invariants 1 to 6 of the published tables in a simulated run: 1 no fast path in cases 5 to
/// 7; 2 little + big = sis + figc; 3 what the slow path chose but wake-ups are forks (no task execs
/// here); 4 the fast path's share rises with the flips fix; 5 it lets no more big tasks end on
/// little CPUs; 6 and keeps more little tasks on little CPUs. And some wake-up is in each of cases
/// 1, 4, 5 and 8. Source: docs/rules/capacity-aware.md#wakeup-cases.
#[test]
fn invariants_of_the_published_tables() {
    let folder = folder();
    let (series, forks) = cases(folder.path(), &[]);
    let (flips, _) = cases(folder.path(), &["--set", "wakee_flips_fix=on"]);
    for (rows, name) in [(&series, "series"), (&flips, "with the flips fix")] {
        for (at, [little, big, sis, figc, ww, bw, other]) in rows.iter().enumerate() {
            let case = format!("{name}, case {}", at + 1);
            assert!(!(4..7).contains(&at) || *sis == 0, "{case}");
            assert_eq!(little + big, sis + figc, "{case}");
            assert!(bw <= figc && ww <= figc, "{case}");
            assert_eq!(*other, 0, "{case}: nobody is pinned");
        }
        let not_wakes: u64 = rows.iter().map(|row| row[3] - row[5]).sum();
        assert_eq!(not_wakes, forks, "{name}");
        assert!(
            [0, 3, 4, 7]
                .iter()
                .all(|at| rows[*at][0] + rows[*at][1] > 0),
            "{name}"
        );
    }
    let fast = |rows: &[[u64; 7]]| share(rows, 0..8, 2, 3);
    assert!(fast(&flips) > fast(&series), "4");
    let big_on_little = |rows: &[[u64; 7]]| share(rows, 4..8, 0, 1);
    assert!(big_on_little(&flips) <= big_on_little(&series), "5");
    let little_on_little = |rows: &[[u64; 7]]| share(rows, 0..4, 0, 1);
    assert!(little_on_little(&flips) > little_on_little(&series), "6");
}

/// Goal: what diverts big tasks is wake_cap: without it the fast path takes some in cases 5 to 7.
/// Source: docs/rules/capacity-aware.md#wake-cap.
#[test]
fn without_wake_cap_the_fast_path_takes_big_tasks() {
    let folder = folder();
    let (rows, _) = cases(folder.path(), &["--set", "wake_cap=off"]);
    assert!(rows[4..7].iter().any(|row| row[2] > 0), "{rows:?}");
}

/// Goal: a row per policy, seed and case in CSV; the run itself is the same, and its own tables do
/// not change.
#[test]
fn csv_and_the_run_itself() {
    let folder = folder();
    let with = simulate(folder.path(), "cases.csv", &["--seeds", "2"]);
    let text = std::fs::read_to_string(folder.path().join("cases.csv")).expect("written");
    let mut lines = text.lines();
    let header = format!("policy,seed,case,task,prev,waker,{}", COUNTERS.join(","));
    assert_eq!(lines.next(), Some(header.as_str()));
    assert_eq!(lines.clone().count(), 16);
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("linux-4.7+asym-capacity,1,1,little,little,little,")
    );
    let load = repository("workloads/mixed-sizes.json");
    let plain = run_in(
        folder.path(),
        &[
            "sim",
            "--platform",
            "tc2",
            "--duration",
            "12s",
            "--format",
            "json",
            "--workload",
            load.to_str().expect("UTF-8"),
            "--policy",
            "linux-4.7+asym-capacity",
            "--seeds",
            "2",
        ],
    );
    let plain: Value = serde_json::from_str(&stdout(&plain)).expect("JSON");
    let hashes = |result: &Value| result["runs"][0]["event_hashes"].clone();
    assert_eq!(hashes(&with), hashes(&plain));
    assert!(!stdout_has_cases(&plain));
    assert!(stdout_has_cases(&with));
}

fn stdout_has_cases(result: &Value) -> bool {
    !result["runs"][0]["metrics"]["wakeup_case1_little_total"].is_null()
}

/// Goal: a cell with two figures says which is which, for people and in Markdown.
#[test]
fn the_tables_of_a_study_have_a_legend() {
    let study = [
        "study",
        "run",
        "asym-capacity/wakeup-cases-tc2",
        "--quick",
        "--duration=100ms",
    ];
    for format in ["--format=human", "--format=md"] {
        let output = run_in(Path::new("."), &[&study[..], &[format]].concat());
        assert_code(&output, 0);
        let text = stdout(&output);
        let title = "wake-up cases: mixed, series (published > simulated)\n";
        assert!(text.contains(title), "{text}");
    }
}

/// Goal: a machine without little and big CPUs and a file of no known form are refused before
/// anything runs.
#[test]
fn refused() {
    let folder = folder();
    for (platform, file, words) in [
        ("ivb-ep-2s", "cases.csv", ["same capacity", "tc2"]),
        ("tc2", "cases.txt", ["cases.txt", ".csv or .json"]),
        (
            "tc2",
            "none/cases.csv",
            ["none/cases.csv", "folder does not exist"],
        ),
    ] {
        let output = run_in(
            folder.path(),
            &[
                "sim",
                "--platform",
                platform,
                "--workload",
                "periodic:n=2",
                "--policy",
                "linux-4.7",
                "--export-wakeup-cases",
                file,
            ],
        );
        assert_refused(&output, &words);
        assert!(!folder.path().join(file).exists());
    }
}
