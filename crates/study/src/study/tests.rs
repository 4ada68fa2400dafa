//! Studies run and read (studies/README.md; docs/rules/energy-numbers.md#energy-published).
//!
//! What must stay: published figures are those of the mail; sizes are counted by hand.
//! Tests by part (in crates/study/src): file/mod.rs: `published_figures_are_those_of_the_mail`
//! (`published`, `figure`), `the_cell_the_platform_names_is_marked` (`is_calibrated`, `cell_name`),
//! `sizes_leave_out_the_columns_that_cases_do` (`columns`),
//! `a_change_published_without_means_stands_as_a_change` (`published_change`); study.rs:
//! `joules_without_a_board_are_absent_and_explained` (`absence`),
//! `variants_have_no_published_figures` (`notes`), `wrong_settings_are_refused` (errors),
//! `full_sizes_are_what_the_readme_says` (`info`, `runs`),
//! `several_studies_count_their_runs_together` (`run_studies`); plan.rs:
//! `threads_change_nothing_and_base_rows_have_no_change` (`runs`), `sizes_count_the_seeds_of_cases`
//! (`plan`, `seeds`), `columns_and_cases_have_their_own_conditions` (`add`),
//! `an_experiment_has_its_own_duration` (`column`),
//! `cpus_that_leave_in_one_column_leave_in_no_other` (hotplug); file/variations.rs:
//! `experiments_stand_beside_the_published_figures` (experiments); calibration.rs:
//! `a_board_power_is_recomputed_from_its_cell` (`calibration`),
//! `the_platform_file_agrees_with_the_recomputation` (platforms/hikey960.toml); study.rs
//! (`absence`): `what_is_absent_is_so_on_platforms_that_ran`.
//! Helpers, and who fails with them: `hikey` (8 tests); `short` (9 tests); `run` (most tests).

use super::{Study, StudyOptions};
use crate::file::Cell;
use crate::{StudyInfo, run_studies, studies};
use std::sync::Arc;
use wakeplace_outcome::{Figure, Param, Row as StudyRow, Study as StudyResult};
use wakeplace_platform::{Board, Source, Standing};

const HIKEY: &str = "energy-aware/energy-hikey960";

fn hikey(board: Option<(u64, Option<&str>)>) -> Study {
    let mut study = Study::load(HIKEY).unwrap();
    Arc::make_mut(&mut study.file.platforms[0]).board = board.map(|(power_uw, on)| Board {
        power_uw,
        source: Source {
            standing: Standing::Calibrated,
            text: "a test".to_owned(),
        },
        calibrated_on: on.map(str::to_owned),
    });
    study
}

/// A run that takes no time to speak of.
fn short(experiments: bool) -> StudyOptions {
    StudyOptions {
        quick: true,
        duration_ns: Some(50_000_000),
        experiments,
        ..StudyOptions::default()
    }
}

fn run(study: &Study, how: &StudyOptions) -> StudyResult {
    study.run(how, 2, &|_| {}).unwrap()
}

#[test]
fn published_figures_are_those_of_the_mail() {
    let study = hikey(None);
    // Means and printed changes, docs/rules/energy-numbers.md#energy-published.
    let table = [
        ("10", 33.45, 28.97, -13.39),
        ("20", 45.45, 42.76, -5.92),
        ("30", 65.06, 64.85, -0.32),
        ("40", 85.67, 77.98, -8.98),
        ("50", 110.14, 99.34, -9.81),
    ];
    let result = run(&hikey(Some((1_000_000, None))), &short(false));
    for (case, (token, base, other, change)) in table.into_iter().enumerate() {
        let cell = |policy: usize| Cell {
            case,
            policy,
            metric: "energy_j".to_owned(),
        };
        let mean = |policy: usize| study.file.published(&cell(policy)).unwrap().mean;
        assert_eq!((mean(0), mean(1)), (base, other));
        let ours = |row: &&StudyRow| row.case == token && row.policy.ends_with("energy-aware");
        let row = result.rows.iter().find(ours).unwrap();
        let delta = row.published_delta_pct.unwrap();
        assert!((delta - change).abs() < 0.01, "{token}: {delta}");
    }
}

#[test]
fn joules_without_a_board_are_absent_and_explained() {
    let result = run(&hikey(None), &short(false));
    assert!(result.rows.iter().all(|row| row.metric != "energy_j"));
    let note = |note: &String| note.starts_with("energy_j is absent: platform hikey960 has no");
    assert!(result.notes.iter().any(note), "{:?}", result.notes);
}

/// Goal: only platforms that ran are named as those where a metric was not measured.
#[test]
fn what_is_absent_is_so_on_platforms_that_ran() {
    let text = r#"
        title = "A study"
        source = "a test"
        platform = "tc2"
        duration = "20ms"
        seeds = 1
        policies = ["linux-3.1", "linux-3.8"]
        [quick]
        seeds = 1
        cases = ["a"]
        [[metric]]
        name = "throughput_per_s"
        [[metric]]
        name = "wakeups_total"
        [[case]]
        token = "a"
        workload = "periodic:n=2"
        [[case]]
        token = "b"
        workload = "periodic:n=2"
        platform = "hikey960"
    "#;
    let study = Study::from_toml(text, "s.toml").unwrap();
    let note = |quick: bool| {
        let how = StudyOptions {
            quick,
            ..StudyOptions::default()
        };
        run(&study, &how).notes[0].clone()
    };
    let absent = "throughput_per_s is absent: no run on";
    assert_eq!(note(true), format!("{absent} tc2 gave it"));
    assert_eq!(note(false), format!("{absent} tc2, hikey960 gave it"));
}

#[test]
fn the_cell_the_platform_names_is_marked() {
    let on = format!("{HIKEY}/10/linux-4.17");
    let as_written = StudyOptions {
        quick: true,
        seeds: Some(vec![1]),
        ..StudyOptions::default()
    };
    let result = run(&hikey(Some((1_000_000, Some(&on)))), &as_written);
    let marked: Vec<_> = result.rows.iter().filter(|row| row.calibrated).collect();
    assert!(!marked.is_empty());
    for row in marked {
        let cell = (row.metric.as_str(), row.case.as_str(), row.policy.as_str());
        assert_eq!(cell, ("energy_j", "10", "linux-4.17"));
    }
    assert!(
        result.verdict.contains("The 9 published joules"),
        "{}",
        result.verdict
    );
    // Of another length, or with one thing changed, it is a cell like any other.
    let other = run(&hikey(Some((1_000_000, Some(&on)))), &short(true));
    assert!(other.rows.iter().all(|row| !row.calibrated));
    assert!(result.as_written && !other.as_written);
    assert!(!other.verdict.contains("published joules"));
    let result = run(&hikey(Some((1_000_000, None))), &as_written);
    assert!(result.rows.iter().all(|row| !row.calibrated));
    assert!(
        result.verdict.contains("The 10 published joules"),
        "{}",
        result.verdict
    );
}

#[test]
fn threads_change_nothing_and_base_rows_have_no_change() {
    let study = hikey(Some((1_000_000, None)));
    let how = short(true);
    let one = study.run(&how, 1, &|_| {}).unwrap();
    assert_eq!(one, run(&study, &how));
    for row in one.rows.iter().filter(|row| row.policy == one.base_policy) {
        assert_eq!(
            (row.published_delta_pct, row.simulated_delta_pct),
            (None, None)
        );
    }
}

#[test]
fn experiments_stand_beside_the_published_figures() {
    let study = hikey(Some((1_000_000, None)));
    let plain = run(&study, &short(false));
    assert!(plain.rows.iter().all(|row| row.experiment().is_none()));
    let result = run(&study, &short(true));
    let names: Vec<_> = study.experiments().iter().map(|e| e.0.to_owned()).collect();
    assert!(!names.is_empty());
    for name in &names {
        let ours = |row: &&StudyRow| row.experiment() == Some(name) && row.metric == "energy_j";
        let rows: Vec<_> = result.rows.iter().filter(ours).collect();
        assert_eq!(rows.len(), 3 * 2, "{name}");
        assert!(rows.iter().all(|row| row.published.is_some()), "{name}");
    }
    let later = |row: &StudyRow| row.policy == "linux-4.17+energy-aware=5.0";
    assert!(result.rows.iter().any(later));
    let own = |result: &StudyResult| -> Vec<StudyRow> {
        let own = result.rows.iter().filter(|row| row.experiment().is_none());
        own.cloned().collect()
    };
    assert_eq!(own(&plain), own(&result));
    assert_eq!(plain.verdict, result.verdict);
}

#[test]
fn variants_have_no_published_figures() {
    let how = StudyOptions {
        seeds: Some(vec![1]),
        duration_ns: Some(50_000_000),
        ..StudyOptions::default()
    };
    let result = run(&hikey(Some((1_000_000, None))), &how);
    let variants: Vec<_> = result
        .rows
        .iter()
        .filter(|r| r.variant().is_some())
        .collect();
    assert_eq!(variants.len(), 5 * 2 * 3);
    assert_eq!(variants[0].case, "10,cal=cpu0");
    assert!(variants.iter().all(|row| row.published.is_none()));
    assert!(
        result
            .notes
            .iter()
            .any(|note| note.contains("one seed (1)"))
    );
}

#[test]
fn wrong_settings_are_refused() {
    let how = StudyOptions {
        set: vec![("pelt_scael".to_owned(), "clock".to_owned())],
        ..short(false)
    };
    let error = hikey(None).run(&how, 1, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("did you mean `pelt_scale`?"), "{error}");
}

#[test]
fn a_board_power_is_recomputed_from_its_cell() {
    let on = format!("{HIKEY}/10/linux-4.17");
    let mut study = hikey(Some((900_000, Some(&on))));
    let mut result = run(&study, &short(false));
    assert_eq!(study.calibration(&result), None, "another duration");
    result.cases[0].duration_ns = 30_000_000_000;
    let row = |metric: &str, mean: f64| StudyRow {
        case: "10".to_owned(),
        metric: metric.to_owned(),
        policy: "linux-4.17".to_owned(),
        simulated: Figure {
            mean,
            ..Figure::default()
        },
        ..StudyRow::default()
    };
    result.rows = vec![row("cpu_energy_j", 2.25)];
    assert_eq!(study.calibration(&result), None, "nothing on work");
    result.rows.push(row("work_energy_j", 1.2));
    let found = study.calibration(&result).unwrap();
    // 30 J of 33.45 J over 30 s; 27 J of them with the platform's 0.9 W.
    assert_eq!((found.cell, found.board_power_uw), (on, 1_000_000));
    assert!((found.residual_j.unwrap() - 3.0).abs() < 1e-9);
    // On a platform that states no work power there is none.
    for domain in &mut Arc::make_mut(&mut study.file.platforms[0]).freq_domains {
        domain.opps.iter_mut().for_each(|opp| opp.work_power = None);
    }
    result.rows = vec![row("cpu_energy_j", 3.45)];
    let found = study.calibration(&result).unwrap();
    assert_eq!(found.board_power_uw, 1_000_000);
}

/// The figure in the platform file is the one this program computes. Until the file has one there
/// is nothing to compare.
#[test]
fn the_platform_file_agrees_with_the_recomputation() {
    let mut study = Study::load(HIKEY).unwrap();
    let board = study.file.platforms[0].board.clone();
    let Some(board) = board.filter(|board| board.calibrated_on.is_some()) else {
        return;
    };
    study.file.quick_cases = vec![0];
    let how = StudyOptions {
        quick: true,
        seeds: Some(study.file.seeds.clone()),
        ..StudyOptions::default()
    };
    let result = run(&study, &how);
    let found = study.calibration(&result).expect("a cell and its energy");
    assert_eq!(board.calibrated_on, Some(found.cell));
    // A milliwatt: what a change of the third digit of the cell's CPU energy would make.
    let off = found.board_power_uw.abs_diff(board.power_uw);
    assert!(
        off <= 1_000,
        "recomputed {} uW, in the file {}",
        found.board_power_uw,
        board.power_uw
    );
}

/// 16 loads under two policies, two of them with 5 seeds and the rest with 2; in the quick size two
/// of them with 2.
#[test]
fn sizes_count_the_seeds_of_cases() {
    let study = Study::load("sis-short/netperf-spr").unwrap();
    let info = study.info();
    assert_eq!((info.full_runs, info.quick_runs), (76, 8));
    let full = StudyOptions::default();
    assert_eq!(study.runs(&full).unwrap(), info.full_runs);
    assert_eq!(study.runs(&short(false)).unwrap(), info.quick_runs);
}

/// Goal: a column that a case leaves out (`without`) has no runs.
#[test]
fn sizes_leave_out_the_columns_that_cases_do() {
    let study = Study::load("wakeplace/all").unwrap();
    let info = study.info();
    let full = StudyOptions::default();
    assert_eq!(study.runs(&full).unwrap(), info.full_runs);
    assert_eq!(study.runs(&short(false)).unwrap(), info.quick_runs);
    // its README's first lines
    assert_eq!((info.full_runs, info.quick_runs), (3365, 242));
}

#[test]
fn full_sizes_are_what_the_readme_says() {
    let ours = |info: &StudyInfo| info.name.starts_with("energy-aware/energy-");
    for info in studies().into_iter().filter(ours) {
        // 5 cases x 2 policies x 10 seeds, plain and with `cal=cpu0`; quick: plain, 3 seeds.
        assert_eq!(
            (info.full_runs, info.quick_runs),
            (200, 30),
            "{}",
            info.name
        );
    }
}

/// Columns of one policy, cases on two machines.
const MIXED: &str = r#"
title = "Mixed"
source = "a test"
platform = "tc2"
duration = "40ms"
seeds = 2
set = ["model.parent_cpu=1"]
[quick]
seeds = 1
[[column]]
policy = "linux-3.1"
[[column]]
name = "without CPU 1"
policy = "linux-3.1"
set = ["model.parent_cpu=0"]
hotplug = "0s:1=off"
[[metric]]
name = "runtime_s"
[[metric]]
name = "wake_latency_us_p50"
verdict = "{policy} {change}, published {published_change}"
[[case]]
token = "all"
workload = "periodic:n=6,period=4ms,duty=50%"
[[case]]
token = "u8500"
workload = "periodic:n=6,period=4ms,duty=50%"
platform = "u8500"
duration = "20ms"
set = ["model.idle_states=off"]
[[experiment]]
name = "4.17"
why = "another kernel"
cases = ["u8500"]
platform = "hikey960"
seeds = 1
columns = [
  { policy = "linux-4.17" },
  { name = "less", policy = "linux-4.17", hotplug = "0s:2=off" },
]
[[published]]
case = "all"
policy = "without CPU 1"
metric = "wake_latency_us_p50"
delta_pct = 687.45
rsd_pct = 1.5
base_rsd_pct = 2.5
"#;

#[test]
fn columns_and_cases_have_their_own_conditions() {
    let study = Study::from_toml(MIXED, "family/mixed/study.toml").unwrap();
    let how = StudyOptions {
        experiments: true,
        ..StudyOptions::default()
    };
    let result = run(&study, &how);
    assert_eq!(result.base_policy, "linux-3.1");
    let (all, u8500) = (&result.cases[0], &result.cases[1]);
    assert_eq!(
        (all.platform.as_str(), all.duration_ns),
        ("tc2", 40_000_000)
    );
    assert_eq!(
        (u8500.platform.as_str(), u8500.duration_ns),
        ("u8500", 20_000_000)
    );
    let column = &result.columns[1];
    assert_eq!(
        (column.name.as_str(), column.policy.as_str()),
        ("without CPU 1", "linux-3.1")
    );
    assert_eq!(column.hotplug.as_deref(), Some("0s:1=off"));
    let platforms = |case: &str| -> Vec<Option<&Param>> {
        let rows = result.rows.iter().filter(|row| row.case == case);
        rows.filter(|row| row.experiment().is_none())
            .map(|row| row.params.get("platform"))
            .collect()
    };
    assert!(platforms("all").iter().all(Option::is_none));
    let on = Param::Word("u8500".to_owned());
    assert!(
        platforms("u8500")
            .iter()
            .all(|platform| *platform == Some(&on))
    );
    let experiment = result
        .rows
        .iter()
        .find(|row| row.experiment() == Some("4.17"))
        .unwrap();
    assert_eq!(experiment.platform(), Some("hikey960"));
    assert!(result.rows.iter().any(|row| row.policy == "less"));
}

/// An experiment may take longer than its cases: what only sets in late is seen by it.
#[test]
fn an_experiment_has_its_own_duration() {
    let short = MIXED.replace("runtime_s", "busy_cpus_mean");
    let long = short.replace("another kernel\"", "longer\"\nduration = \"60ms\"");
    assert_ne!(short, long);
    let durations_ns = |text: &str| -> Vec<u64> {
        let study = Study::from_toml(text, "family/mixed/study.toml").unwrap();
        let how = StudyOptions {
            experiments: true,
            ..StudyOptions::default()
        };
        let planned = crate::plan::plan(&study.file, &how).unwrap();
        let column = |case: &crate::plan::Planned| case.columns[0].options.duration_ns;
        planned.iter().map(column).collect()
    };
    assert_eq!(durations_ns(&short), [40_000_000, 20_000_000, 20_000_000]);
    assert_eq!(durations_ns(&long), [40_000_000, 20_000_000, 60_000_000]);
}

#[test]
fn cpus_that_leave_in_one_column_leave_in_no_other() {
    // Two tasks of 80 % keep more than one of the two CPUs of u8500 busy; a single CPU is at most
    // one busy CPU.
    let text = MIXED
        .replace("n=6,period=4ms,duty=50%", "n=2,period=4ms,duty=80%")
        .replace("runtime_s", "busy_cpus_mean");
    let study = Study::from_toml(&text, "family/mixed/study.toml").unwrap();
    let result = run(&study, &StudyOptions::default());
    let mean = |policy: &str| {
        let ours = |row: &&StudyRow| {
            row.case == "u8500" && row.policy == policy && row.metric == "busy_cpus_mean"
        };
        result.rows.iter().find(ours).unwrap().simulated.mean
    };
    let (base, other) = (mean("linux-3.1"), mean("without CPU 1"));
    assert!(base > 1.2 && other <= 1.0, "{base} {other}");
}

#[test]
fn a_change_published_without_means_stands_as_a_change() {
    let study = Study::from_toml(MIXED, "family/mixed/study.toml").unwrap();
    let result = run(&study, &StudyOptions::default());
    let rows = || {
        result
            .rows
            .iter()
            .filter(|row| row.metric == "wake_latency_us_p50")
    };
    let row = rows()
        .find(|row| row.case == "all" && row.policy == "without CPU 1")
        .unwrap();
    assert_eq!(
        (row.published, row.published_delta_pct),
        (None, Some(687.45))
    );
    let change = row.published_change_rsd_pct.unwrap();
    assert_eq!((change.policy, change.base), (Some(1.5), Some(2.5)));
    assert_eq!(
        rows()
            .filter(|row| row.published_delta_pct.is_some())
            .count(),
        1
    );
    assert!(
        result.verdict.contains("published 687.4 % more") || result.verdict.contains("687.5 %")
    );
}

#[test]
fn several_studies_count_their_runs_together() {
    let study = Study::from_toml(MIXED, "family/mixed/study.toml").unwrap();
    let how = StudyOptions {
        quick: true,
        ..StudyOptions::default()
    };
    let seen = std::sync::Mutex::new(Vec::new());
    let progress = |p: crate::Progress| seen.lock().unwrap().push((p.done, p.total));
    let results = run_studies(&[study.clone(), study], &how, 2, &progress).unwrap();
    assert_eq!(results[0], results[1]);
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    // 2 cases x 2 columns x 1 seed, twice.
    assert_eq!(seen, (0..=8).map(|done| (done, 8)).collect::<Vec<_>>());
}
