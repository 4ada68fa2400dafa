//! Verdicts over several starts (docs/results/fidelity.md, "How it is measured").
//!
//! What must stay: limits (points and shares of wake-ups) are the page's; figures are worked in the
//! tests.
//! Tests by part (in crates/fidelity/src): placement/starts.rs:
//! `a_task_is_within_up_to_both_limits`, `a_task_is_not_within_beyond_either_limit`
//! (`repeats_agree`), `a_task_that_never_sleeps_is_judged_by_its_share` (`uncertainty`,
//! `repeats_agree`); placement/agree.rs: `a_pattern_is_the_cluster_with_most_of_the_run_time`
//! (`of_cpu`); placement/starts/page.rs (`markdown`, `object`): `tables_say_how_many_starts_agree`,
//! `the_object_has_all_starts`.
//! Helpers, and who fails with them: `ran`, `result` (all tests); `fifty`, `agreeing`
//! (`a_task_is_within_up_to_both_limits`, `a_task_is_not_within_beyond_either_limit`,
//! `tables_say_how_many_starts_agree`); `row` (`a_task_is_within_up_to_both_limits`,
//! `a_task_is_not_within_beyond_either_limit`, `a_task_that_never_sleeps_is_judged_by_its_share`,
//! `a_pattern_is_the_cluster_with_most_of_the_run_time`); `disagreeing`
//! (`a_pattern_is_the_cluster_with_most_of_the_run_time`, `tables_say_how_many_starts_agree`,
//! `the_object_has_all_starts`).

use super::super::agree::Clusters;
use super::super::sets;
use super::*;
use serde_json::json;
use std::collections::BTreeMap;
use wakeplace_platform::Platform;

/// One run of a task on Juno, whose CPUs 1 and 2 are big: percent of its run time on big, and on
/// which CPU each release's job began.
fn ran(big_pct: u64, cpus: &[u32]) -> TaskRun {
    TaskRun {
        wakeups: (0..).zip(cpus.iter().copied()).collect(),
        run_ns: BTreeMap::from([(0, 100 - big_pct), (1, big_pct)]),
        job_ns: Some(800_000),
        ..TaskRun::default()
    }
}

/// Set D of Juno, one task: kernel and simulator by start.
fn result(runs: &[(TaskRun, TaskRun)]) -> MachineResult {
    let platform = Platform::load("juno-r0").expect("built in");
    let all = sets::all(&platform);
    let set = all.into_iter().find(|set| set.name == "D").expect("there");
    let run = |task: &TaskRun| SetRun {
        tasks: vec![task.clone()],
        ..SetRun::default()
    };
    let energy_aware = (0..).zip(runs).map(|(start, (kernel, simulated))| Start {
        offset_ns: sets::start_offset_ns(start),
        kernel: run(kernel),
        simulated: run(simulated),
    });
    let first = run(&runs[0].0);
    let set = SetResult {
        set,
        runs: [(); 5].map(|()| first.clone()),
        energy_aware: energy_aware.collect(),
        capacity_aware: Vec::new(),
    };
    MachineResult {
        clusters: Clusters::of(&platform),
        platform,
        kernel: "7.3.4".to_owned(),
        sets: vec![set],
    }
}

fn row(runs: &[(TaskRun, TaskRun)]) -> Row {
    rows(&result(runs), Rules::EnergyAware).remove(0)
}

/// Fifty jobs, of which some began on a big CPU.
fn fifty(big: usize) -> Vec<u32> {
    (0..50).map(|at| if at < big { 2 } else { 3 }).collect()
}

/// Three starts that agree: 2, 3 and 4 % on big, all jobs beginning on little CPUs. The simulator
/// has 4, 5 and 6 %, and one of fifty jobs of each start on another cluster.
fn agreeing() -> [(TaskRun, TaskRun); 3] {
    [2, 3, 4].map(|pct| (ran(pct, &fifty(0)), ran(pct + 2, &fifty(1))))
}

/// Kernel with 0, 0 and 100 % on big, simulator with 100, 0 and 0.
fn disagreeing() -> [(TaskRun, TaskRun); 3] {
    [(0, 100), (0, 0), (100, 0)].map(|(a, b)| (ran(a, &[0, 0]), ran(b, &[1, 0])))
}

#[test]
fn a_task_is_within_up_to_both_limits() {
    let row = row(&agreeing());
    // 4 - 2 points apart; mean 3 beside 5; 147 of 150 wake-ups.
    assert!(row.repeats_agree());
    assert_eq!(row.difference(), 2.0);
    assert_eq!(
        (row.wakeups.both, row.wakeups.same, row.wakeups.pct()),
        (150, 147, Some(98.0))
    );
    // The first start with the second, the second with the third.
    assert_eq!((row.own_wakeups.both, row.own_wakeups.same), (100, 100));
    assert!(row.within());
}

#[test]
fn a_task_is_not_within_beyond_either_limit() {
    let mut share = agreeing();
    share[1].1 = ran(6, &fifty(1));
    // Mean 16 / 3 instead of 5: 2.33 points away.
    assert!(!row(&share).within());
    let mut wakeups = agreeing();
    wakeups[2].1 = ran(6, &fifty(2));
    // 146 of 150.
    assert!(!row(&wakeups).within());
    let mut apart = agreeing();
    apart[0].0 = ran(1, &fifty(0));
    // 1, 3 and 4 %.
    assert!(!row(&apart).repeats_agree());
}

#[test]
fn a_task_that_never_sleeps_is_judged_by_its_share() {
    let row = row(&[(ran(100, &[]), ran(100, &[]))]);
    assert_eq!(row.wakeups.pct(), None);
    assert!(row.repeats_agree() && row.within());
    assert_eq!(row.uncertainty(), None);
}

#[test]
fn a_pattern_is_the_cluster_with_most_of_the_run_time() {
    let row = row(&disagreeing());
    let clusters = Clusters::of(&Platform::load("juno-r0").expect("built in"));
    let little = clusters.of_cpu(0).expect("there");
    // Each is on little in two of three starts, although in other ones.
    for runs in [&row.kernel, &row.simulated] {
        assert_eq!((runs.mainly[little], runs.mainly[1 - little]), (2, 1));
    }
    assert_eq!(row.difference(), 0.0);
    assert!(row.mean_in_range());
    // Differences 100, 0 and -100: deviation 100, Student's t for three values 4.303; 4.303 x 100 /
    // sqrt(3) = 248.4.
    let width = row.uncertainty().expect("three starts");
    assert!((width - 248.4).abs() < 0.1, "{width}");
}

#[test]
fn tables_say_how_many_starts_agree() {
    let text = markdown(&[result(&agreeing()), result(&disagreeing())]);
    let line = "Under `eas` (`linux-7.3+energy-aware`) 1 of 1 of the tasks whose kernel repeats \
                agree are within 2 points of the kernel's share and have 98 % of their wake-ups on \
                the same cluster (juno-r0 1 of 1 in 3 starts, juno-r0 0 of 0 in 3 starts). Of the \
                others (1) the simulator's mean share lies in the kernel's range for 1.\n";
    assert!(text.contains(line), "{text}");
    let row = "| D | t0 | 2.0, 3.0, 4.0 | 4.0, 5.0, 6.0 | +2.0 | 98.0 % | 100.0 % | yes |\n";
    assert!(text.contains(row), "{text}");
    // Of two wake-ups in each of three starts the first is on another cluster.
    let row = "| D | t0 | 2 / 1 | 2 / 1 | 0.0, 33.3, 100.0 | 0.0, 33.3, 100.0 | +0.0 ± 248.4 \
               | yes | 50.0 % | 100.0 % |\n";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("cas"), "{text}");
}

#[test]
fn the_object_has_all_starts() {
    let object = object(&result(&disagreeing()));
    let eas = &object["eas"];
    assert_eq!(eas["tasks"], json!(1));
    assert_eq!(eas["repeats_agree"], json!(0));
    let starts = &eas["sets"][0]["starts"];
    assert_eq!(starts.as_array().map(Vec::len), Some(3));
    assert_eq!(starts[1]["offset_ns"], json!(3_842_000));
    assert_eq!(
        starts[2]["tasks"][0]["simulator"]["wakeups"],
        json!([[0, 1], [1, 0]])
    );
    assert_eq!(object["cas"]["rows"], json!([]));
}
