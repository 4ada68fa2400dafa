use super::{Experiment, difference, group};
use crate::Comparison;
use crate::pool::Finished;
use std::sync::Mutex;
use wakeplace_engine::{Ended, Options, RunReport};
use wakeplace_metrics::{RunMetrics, Values, WakeupCases};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, Spec};

fn experiment(policies: &[&str]) -> Experiment {
    let spec = "periodic:n=4,period=16ms,duty=5%";
    Experiment {
        platform: Platform::builtin("hikey960").unwrap(),
        workload: Spec::parse(spec, &LoadOptions::default()).unwrap(),
        policies: policies.iter().map(|p| Policy::parse(p).unwrap()).collect(),
        options: Options {
            duration_ns: 200_000_000,
            ..Options::default()
        },
        seeds: vec![3, 1, 2],
        oracle: false,
        timeline: None,
    }
}

const TWO: [&str; 2] = ["linux-4.17", "linux-4.17+energy-aware"];

#[test]
fn the_number_of_threads_changes_nothing() {
    let experiment = experiment(&TWO);
    let one = experiment.run(1, &|_| {}).unwrap();
    let two = experiment.run(2, &|_| {}).unwrap();
    assert_eq!(one, two);
    assert_eq!(one.runs.len(), 2);
    assert_eq!(one.seeds, [3, 1, 2]);
    let hashes = |runs: &Comparison| -> Vec<u64> {
        let all = runs.runs.iter().flat_map(|run| &run.metrics);
        all.map(|run| run.behaviour_hash).collect()
    };
    assert_eq!(hashes(&one), hashes(&two));
    assert_ne!(
        hashes(&one)[0],
        hashes(&one)[3],
        "policies that choose otherwise"
    );
    assert!(
        one.runs
            .iter()
            .all(|r| r.metrics.len() == 3 && r.reports.len() == 3)
    );
}

#[test]
fn every_run_is_announced_once() {
    let seen = Mutex::new(Vec::new());
    let progress = |p: crate::Progress| seen.lock().unwrap().push((p.done, p.total));
    experiment(&TWO).run(2, &progress).unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (1..=6).map(|done| (done, 6)).collect::<Vec<_>>());
}

#[test]
fn the_same_inputs_give_the_same_runs() {
    let found = experiment(&TWO).verify_determinism(2, &|_| {}).unwrap();
    assert_eq!(found, None);
}

#[test]
fn nothing_to_run_is_an_error() {
    let error = experiment(&[]).run(1, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no policy"), "{error}");
    let mut none = experiment(&TWO);
    none.seeds.clear();
    let error = none.run(1, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no seed"), "{error}");
}

fn finished(events: u64, event_hash: u64, runtime_s: f64) -> Finished {
    let mut values = Values::default();
    values.set("runtime_s", runtime_s);
    Finished {
        judged: None,
        timeline: None,
        metrics: RunMetrics {
            values,
            energy: None,
            clusters: Vec::new(),
            domains: Vec::new(),
            tasks: Vec::new(),
            wake_latency: Vec::new(),
            idle_states: Vec::new(),
            wakeup_cases: WakeupCases::default(),
            behaviour_hash: event_hash,
        },
        report: RunReport {
            events_by_kind: Default::default(),
            start_ns: None,
            energy_active: true,
            counted: None,
            lock_wait_ns: None,
            line_wait_ns: None,
            double_placements: None,
            end_ns: 1,
            ended: Ended::Duration,
            events,
            event_hash,
            tasks: Vec::new(),
            threads: Vec::new(),
            sched_ext: None,
            reasons: Vec::new(),
        },
    }
}

#[test]
fn the_first_difference_is_named_by_its_cause() {
    let a = finished(7, 1, 2.0);
    assert_eq!(difference(&a, &finished(8, 2, 3.0)), "7 events, then 8");
    let hashes = "event hash 0000000000000001, then 0000000000000002";
    assert_eq!(difference(&a, &finished(7, 2, 3.0)), hashes);
    assert_eq!(
        difference(&a, &finished(7, 1, 3.0)),
        "runtime_s 2, then Some(3.0)"
    );
    let mut other = finished(7, 1, 2.0);
    other.metrics.behaviour_hash = 4;
    let hashes = "behaviour hash 0000000000000001, then 0000000000000004";
    assert_eq!(difference(&a, &other), hashes);
}

#[test]
fn runs_stand_by_policy_then_seed() {
    let policies: Vec<Policy> = TWO.iter().map(|p| Policy::parse(p).unwrap()).collect();
    let all = (0..4).map(|n| finished(n, 0, 1.0)).collect();
    let columns = policies.iter().map(|policy| (policy.name(), policy));
    let grouped = group(columns, 2, all);
    let events = |at: usize| -> Vec<u64> {
        grouped[at]
            .reports
            .iter()
            .map(|report| report.events)
            .collect()
    };
    assert_eq!((events(0), events(1)), (vec![0, 1], vec![2, 3]));
    assert_eq!(grouped[1].policy, TWO[1]);
}
