//! The page of recorded runs beside a tree (docs/results/truth.md).
//!
//! What must stay: three columns and the summary's counts; words of the page may change, figures
//! follow from the runs made here.
//! Tests by part (in crates/fidelity/src): placement/truth/page.rs (`markdown`, `verdict`):
//! `three_columns_say_who_is_as_the_guest`, `one_start_has_no_repeats_to_agree`; the same
//! (`object`): `the_object_has_the_same`.
//! Helpers, and who fails with them: `ran`, `starts`, `machine` (all tests).

use super::super::{Simulated, Start};
use super::*;
use crate::placement::agree::Clusters;
use crate::placement::recorded::data::Rules;
use crate::placement::{TaskRun, sets};
use std::collections::BTreeMap;
use wakeplace_platform::Platform;

/// One run of a task on Juno, whose CPUs 1 and 2 are big, all of it on one CPU.
fn ran(cpu: u32, mhz: f64) -> SetRun {
    let task = TaskRun {
        wakeups: (0..50).map(|release| (release, cpu)).collect(),
        run_ns: BTreeMap::from([(cpu, 1)]),
        ..TaskRun::default()
    };
    let mut run = SetRun {
        tasks: vec![task],
        ..SetRun::default()
    };
    run.inside.mean_khz = vec![Some(mhz * 1e3)];
    run.inside.counts.passes = Some(mhz);
    run
}

/// Starts of a guest that ran on CPU 0, and of a simulation on `cpu`.
fn starts(cpu: u32, count: u64) -> Vec<Start> {
    let start = |at: u64| Start {
        offset_ns: at,
        kernel: ran(0, 500.0),
        simulated: ran(cpu, 600.0 + at as f64),
    };
    (0..count).map(start).collect()
}

/// Set D of Juno: the tree as the guest, the model on a big CPU, but where the guest's first ran.
fn machine(count: u64) -> MachineTruth {
    let platform = Platform::load("juno-r0").expect("built in");
    let all = sets::all(&platform);
    let set = all.into_iter().find(|set| set.name == "D").expect("there");
    let runs = |model| Simulated {
        tree: starts(3, count),
        model: starts(model, count),
    };
    MachineTruth {
        clusters: Clusters::of(&platform),
        platform,
        rules: Rules::Cas,
        kernel: "7.3.4".to_owned(),
        tree: "t|ree".to_owned(),
        model: "model".to_owned(),
        sets: vec![SetTruth {
            set,
            own: runs(1),
            other_starts: runs(1),
            tried: vec![Tried {
                beginning: Beginning::Recorded,
                runs: runs(5),
            }],
        }],
    }
}

/// Goal: the columns are told apart, and so is each count of the summary.
#[test]
fn three_columns_say_who_is_as_the_guest() {
    let text = markdown(&[machine(2)]);
    for expected in [
        "- **juno-r0 under cas** (2 starts): 1 of 1 tasks have repeats that agree.",
        "of wake-ups: 1 in the same source (`t|ree`, kernel 7.3.4), 0 in our model (`model`)",
        "of the others 0 and 0 have not",
        "Start by start, agreeing or not: 1 and 0 of all 1",
        "where the guest's first ran: 1 and 1.",
        "| D | t0 | 0.0, 0.0 | 0.0, 0.0 | 100.0, 100.0 | 100.0 % | 0.0 % | 100.0 % | yes \
         | **no** |\n",
        "| D | t0 | each task where the guest's first ran | 0.0, 0.0 | 0.0, 0.0 | 100.0 %, yes \
         | 0.0, 0.0 | 100.0 %, yes |\n",
        "MHz | 500.0, 500.0 | 600.0, 601.0 | 600.0, 601.0 |\n",
        "MHz, over a tick | - | 600.0 to 601.0 | 600.0 to 601.0 |\n",
        "| D | balancing passes, a second | 500.0, 500.0 |",
    ] {
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
    // No run has an energy.
    assert!(!text.contains("CPU energy"), "{text}");
}

/// Goal: a single start is no repeat, so it has no verdict.
#[test]
fn one_start_has_no_repeats_to_agree() {
    let text = markdown(&[machine(1)]);
    assert!(text.contains("(1 start): 0 of 1 tasks"), "{text}");
    assert!(text.contains("| - | - | - |\n"), "{text}");
}

#[test]
fn the_object_has_the_same() {
    let object = object(&[machine(2)]);
    let set = &object["machines"][0]["sets"][0];
    assert_eq!(set["tasks"][0]["tree"]["within"], json!(true));
    assert_eq!(set["tasks"][0]["model"]["within"], json!(false));
    assert_eq!(set["tried"][0]["tasks"][0]["model"]["follows"], json!(true));
}
