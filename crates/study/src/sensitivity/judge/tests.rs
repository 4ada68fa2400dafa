//! Conclusions under half and double of assumed costs (docs/guide/results.md;
//! docs/guide/platforms.md, "What is assumed everywhere, and how").
//!
//! What must stay: which conclusion is robust follows from the times given; numbers of runs are
//! counted by hand.
//! Tests by part (in crates/study/src): crates/outcome/src/sensitivity.rs:
//! `a_conclusion_that_one_assumed_time_makes_is_not_robust` (`flips`),
//! `a_cost_that_no_run_uses_is_told` (`Assumed`, `Cost`), `one_seed_tells_nothing` (`Conclusion`),
//! `what_is_excepted_is_not_tried_and_workloads_are` (`Except`); sensitivity/costs.rs:
//! `a_conclusion_that_one_assumed_time_makes_is_not_robust` (`change`),
//! `a_conclusion_that_stands_at_half_and_double_is_robust` (how many); sensitivity/judge.rs:
//! `a_conclusion_that_stands_at_half_and_double_is_robust` (`verdict`, `kinds`),
//! `a_cost_that_no_run_uses_is_told` (`same`), `one_seed_tells_nothing` (`verdict`),
//! `the_interval_and_the_metric_decide` (`conclusion`); sensitivity/mod.rs:
//! `it_is_run_where_the_study_says_so_or_on_demand` (`plan`); sensitivity/plan.rs:
//! `it_is_run_where_the_study_says_so_or_on_demand` (`tried`, `wanted`), `on_request_only_is_said`
//! (`on_request`), `a_case_may_have_seeds_of_its_own_in_the_full_size` (seeds);
//! file/sensitivity.rs: `what_is_excepted_is_not_tried_and_workloads_are` (`except`).
//! Helpers, and who fails with them: `study`, `run` (most tests).

use super::{Conclusion, conclusion};
use crate::{Study, StudyOptions};
use wakeplace_outcome::Study as StudyResult;

/// Two columns that differ in one time only: until an interrupt of another CPU is taken. Two tasks
/// that wake each other sleep and are woken across CPUs, so their latency is that time and a rest
/// that is the same in both. The platform's time is 1000 ns and assumed (platforms/tc2.toml).
fn study(base_ns: u32, more: &str) -> Study {
    let text = format!(
        r#"
title = "Which interrupt is faster"
source = "arithmetic"
platform = "tc2"
duration = "50ms"
seeds = 3
set = ["model.parent_cpu=0"]
[quick]
seeds = 3
[[column]]
name = "slow"
policy = "linux-4.17"
set = ["model.ipi_ns={base_ns}"]
[[column]]
name = "own"
policy = "linux-4.17"
[[metric]]
name = "wake_latency_us_p50"
verdict = "{{policy}}: {{change}}"
[[case]]
token = "2"
workload = "context-switch"
{more}
"#
    );
    Study::from_toml(&text, "family/which/study.toml").unwrap()
}

const TABLE: &str = "[sensitivity]\ncases = [\"2\"]";

fn run(study: &Study, quick: bool, sensitivity: bool) -> StudyResult {
    let how = StudyOptions {
        quick,
        sensitivity,
        ..StudyOptions::default()
    };
    study.run(&how, 2, &|_| {}).unwrap()
}

#[test]
fn a_conclusion_that_one_assumed_time_makes_is_not_robust() {
    // 1500 against 1000 ns: a gain. 750 against 1000, and 1500 against 2000: a loss.
    let result = run(&study(1500, TABLE), false, false);
    let found = result.sensitivity.as_ref().unwrap();
    let flips: Vec<_> = found.iter().filter(|row| row.flips).collect();
    let named: Vec<_> = flips
        .iter()
        .map(|row| (row.cost.as_str(), row.factor))
        .collect();
    assert_eq!(named, [("ipi_ns", 2.0), ("model.ipi_ns", 0.5)]);
    for row in flips {
        assert_eq!(row.plain_conclusion, Conclusion::Gain);
        assert_eq!(row.conclusion, Conclusion::Loss);
    }
    let robust: Vec<_> = result.rows.iter().map(|row| row.robust).collect();
    assert_eq!(robust, [None, Some(false)]);
    let line = "Not robust: wake_latency_us_p50 of own in case 2: gain becomes loss with ipi_ns \
                doubled, loss with model.ipi_ns halved.";
    assert!(result.verdict.contains(line), "{}", result.verdict);
}

#[test]
fn a_conclusion_that_stands_at_half_and_double_is_robust() {
    // 9000 against 1000 ns: 4500 against 1000 and 9000 against 2000 say the same.
    let result = run(&study(9000, TABLE), false, false);
    let found = result.sensitivity.as_ref().unwrap();
    assert!(found.iter().all(|row| !row.flips));
    assert_eq!(result.rows[1].robust, Some(true));
    // Eight of [costs] and the model's own; two rows each.
    let costs = &result.assumed.as_ref().unwrap().costs;
    assert_eq!((costs.len(), found.len()), (9, 18));
    let line = "Robust: the conclusion (gain) holds in case 2 at half and double of each of the 9 \
                assumed costs.";
    assert!(result.verdict.contains(line), "{}", result.verdict);
    // Nobody forks after the start, and nothing is searched on a machine where each task has its
    // CPU: at least one of them is told as without effect.
    assert!(costs.iter().any(|own| own.cost == "ipi_ns" && !own.unused));
}

#[test]
fn a_cost_that_no_run_uses_is_told() {
    // Without costs the kernel's are not used at all; the interrupt's time still is.
    let text = format!("set = [\"model.kernel_costs=off\"]\n{TABLE}");
    let result = run(&study(9000, &text), false, false);
    let found = result.assumed.as_ref().unwrap();
    for cost in ["context_switch_ns", "wakeup_ns", "tick_ns", "fork_ns"] {
        assert!(
            found.costs.iter().any(|own| own.cost == cost && own.unused),
            "{cost}: {:?}",
            found.costs
        );
    }
}

#[test]
fn it_is_run_where_the_study_says_so_or_on_demand() {
    let with = study(9000, TABLE);
    let without = study(9000, "");
    assert!(run(&with, true, false).sensitivity.is_none());
    assert!(run(&with, true, true).sensitivity.is_some());
    assert!(run(&without, false, false).sensitivity.is_none());
    let asked = run(&without, false, true).assumed.unwrap();
    assert_eq!(
        (asked.cases, asked.seeds),
        (vec!["2".to_owned()], vec![1, 2, 3])
    );
    // 2 columns x 3 seeds, plain; the same again and 18 times with something changed.
    assert_eq!(with.runs(&StudyOptions::default()).unwrap(), 6 + 6 + 18 * 6);
}

#[test]
fn one_seed_tells_nothing() {
    let how = StudyOptions {
        seeds: Some(vec![1]),
        sensitivity: true,
        ..StudyOptions::default()
    };
    let result = study(1500, TABLE).run(&how, 2, &|_| {}).unwrap();
    assert_eq!(result.rows[1].robust, None);
    assert!(result.verdict.contains("one seed"), "{}", result.verdict);
}

#[test]
fn what_is_excepted_is_not_tried_and_workloads_are() {
    let except = format!("{TABLE}\nexcept = [{{ cost = \"ipi_ns\", why = \"measured since\" }}]");
    let result = run(&study(1500, &except), false, false);
    let found = result.assumed.unwrap();
    assert!(!found.costs.iter().any(|own| own.cost == "ipi_ns"));
    let [except] = found.except.as_slice() else {
        panic!("one is excepted: {found:?}");
    };
    assert_eq!((&*except.cost, &*except.why), ("ipi_ns", "measured since"));
}

#[test]
fn the_interval_and_the_metric_decide() {
    let of = |metric, delta, low, high| conclusion(metric, Some((delta, Some((low, high)))));
    assert_eq!(of("energy_j", -5.0, -6.0, -4.0), Conclusion::Gain);
    assert_eq!(of("energy_j", 5.0, 4.0, 6.0), Conclusion::Loss);
    assert_eq!(of("idle_residency_pct", 5.0, 4.0, 6.0), Conclusion::Gain);
    assert_eq!(of("wakeups_total", -5.0, -6.0, -4.0), Conclusion::Less);
    assert_eq!(of("energy_j", -5.0, -11.0, 1.0), Conclusion::NoDifference);
    assert_eq!(
        conclusion("energy_j", Some((-5.0, None))),
        Conclusion::Unknown
    );
    assert_eq!(conclusion("energy_j", None), Conclusion::Unknown);
}

#[test]
fn on_request_only_is_said() {
    let rare = study(9000, &format!("{TABLE}\non_request = true"));
    let plain = run(&rare, false, false);
    assert!(plain.sensitivity.is_none());
    let said = |result: &StudyResult| {
        result
            .notes
            .iter()
            .any(|n| n.contains("--sensitivity does"))
    };
    assert!(said(&plain), "{:?}", plain.notes);
    let asked = run(&rare, false, true);
    assert!(asked.sensitivity.is_some() && !said(&asked));
}

#[test]
fn a_case_may_have_seeds_of_its_own_in_the_full_size() {
    let more = "seeds = 5\n[sensitivity]\nseeds = 4\non_request = true";
    let own = study(9000, more);
    let runs = |how: StudyOptions| own.runs(&how).unwrap();
    assert_eq!(runs(StudyOptions::default()), 2 * 5);
    let quick = StudyOptions {
        quick: true,
        ..StudyOptions::default()
    };
    assert_eq!(runs(quick), 2 * 3);
    let chosen = StudyOptions {
        seeds: Some(vec![7]),
        ..StudyOptions::default()
    };
    assert_eq!(runs(chosen), 2);
    let tried = StudyOptions {
        sensitivity: true,
        ..StudyOptions::default()
    };
    // The case by its own seeds; plain and 18 changes by those of the table, which may be more
    // than the study's three.
    assert_eq!(runs(tried), 2 * 5 + 19 * 2 * 4);
}
