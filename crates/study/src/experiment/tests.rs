//! Runs of a comparison, on any number of threads (docs/guide/results.md).
//!
//! What must stay: the number of threads changes nothing; runs stand by policy, then seed.
//! Tests by part (in crates/study/src): experiment.rs:
//! `what_a_workload_is_measured_by_has_each_name_once` (`measured_by`),
//! `loads_with_deadlines_are_read_by_their_frames` (`read_by`),
//! `the_number_of_threads_changes_nothing` (`run`, `runs`),
//! `every_run_is_announced_once_after_how_many_there_are` (progress),
//! `the_same_inputs_give_the_same_runs` (`verify_determinism`), `nothing_to_run_is_an_error`
//! (`expand`), `the_first_difference_is_named_by_its_cause` (`difference`),
//! `runs_stand_by_policy_then_seed` (`group`), `a_scheduler_takes_part` (`comparison`,
//! `contenders`); pool.rs: `the_number_of_threads_changes_nothing` (`execute`, `on_threads`),
//! `every_run_is_announced_once_after_how_many_there_are` (progress), `a_scheduler_takes_part`
//! (`run`); scheduler.rs: `a_scheduler_that_cannot_be_loaded_is_named` (`load`).
//! Helpers, and who fails with them: `experiment` (most tests); `names_measured_by`
//! (`what_a_workload_is_measured_by_has_each_name_once`); `finished`
//! (`the_first_difference_is_named_by_its_cause`, `runs_stand_by_policy_then_seed`);
//! `with_scheduler` (`a_scheduler_takes_part`, `a_scheduler_that_cannot_be_loaded_is_named`).

use super::{Experiment, difference, expand, group, measured_by};
use crate::Comparison;
use crate::Scheduler;
use crate::pool::Finished;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;
use wakeplace_engine::sched_ext::{Loader, OpsInfo, SchedExtOps};
use wakeplace_engine::{Options, RunReport};
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
        schedulers: Vec::new(),
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

/// What it is measured by, and how long it took to find out, s.
#[allow(clippy::disallowed_methods, reason = "the test is about wall time")]
fn names_measured_by(argument: &str) -> (Vec<String>, f64) {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
    let platform = Platform::builtin("hikey960").expect("a platform");
    let workloads = expand(&spec, &platform, &[1]).expect(argument);
    let begin = Instant::now();
    let names = measured_by(&spec, &workloads);
    (names, begin.elapsed().as_secs_f64())
}

/// Goal: a workload's own metric first, then what else it measures, each name once. Eight times the
/// threads take about eight times as long; each name against all others would take 64 times.
#[test]
fn what_a_workload_is_measured_by_has_each_name_once() {
    let (few, _) = names_measured_by("cyclictest:threads=2");
    let rest = [
        "t0_latency_min_us",
        "t0_latency_avg_us",
        "t1_latency_min_us",
    ];
    let more = ["t1_latency_avg_us", "t1_latency_max_us"];
    assert_eq!(few, [&["t0_latency_max_us"][..], &rest, &more].concat());
    // Other work may disturb one try.
    let ratio = |_| {
        let (many, long) = names_measured_by("cyclictest:threads=24000");
        assert_eq!(many.len(), 72_000);
        long / names_measured_by("cyclictest:threads=3000").1
    };
    let ratios: Vec<f64> = (0..3).map(ratio).collect();
    assert!(ratios.iter().any(|ratio| *ratio < 24.0), "{ratios:?}");
}

/// Goal: frames come first, with how many there were; what the load measures itself comes after.
/// Without deadlines there are none.
#[test]
fn loads_with_deadlines_are_read_by_their_frames() {
    let task = r#""a": {"run": 1000, "timer": {"ref": "unique", "period": 16000}}"#;
    let read_by = |deadlines: &str| {
        let text = format!(r#"{{"tasks": {{{task}}}{deadlines}}}"#);
        let spec = Spec::parse_rtapp(text.as_bytes(), "f", &LoadOptions::default()).unwrap();
        let of = Experiment {
            workload: spec,
            ..experiment(&["linux-7.3"])
        };
        of.run(1, &|_| {}).unwrap().measured_by
    };
    let due = r#", "_deadlines": {"screen": {"from": "a", "deadline": 16000}}"#;
    let expected = [
        "missed_frames_total",
        "frames_total",
        "missed_frames_pct",
        "frame_lateness_us_p99",
    ];
    assert_eq!(read_by(due), expected);
    assert!(read_by("").is_empty());
}

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
fn every_run_is_announced_once_after_how_many_there_are() {
    let seen = Mutex::new(Vec::new());
    let progress = |p: crate::Progress| seen.lock().unwrap().push((p.done, p.total));
    experiment(&TWO).run(2, &progress).unwrap();
    let mut seen = seen.into_inner().unwrap();
    assert_eq!(seen[0], (0, 6));
    seen.sort_unstable();
    assert_eq!(seen, (0..=6).map(|done| (done, 6)).collect::<Vec<_>>());
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
            kinds: Vec::new(),
            domains: Vec::new(),
            tasks: Vec::new(),
            wake_latency: Vec::new(),
            idle_states: Vec::new(),
            wakeup_cases: WakeupCases::default(),
            late_frames: Vec::new(),
            ran: wakeplace_metrics::Ran::default(),
            behaviour_hash: event_hash,
        },
        report: RunReport {
            energy_active: true,
            end_ns: 1,
            events,
            event_hash,
            ..RunReport::default()
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

/// A scheduler that puts everybody into the global queue.
#[derive(Debug)]
struct Global;

impl SchedExtOps for Global {
    fn info(&self) -> OpsInfo {
        OpsInfo {
            name: "global".to_owned(),
            ..OpsInfo::default()
        }
    }
}

#[derive(Debug)]
struct LoadsGlobal(bool);

impl Loader for LoadsGlobal {
    fn load(&self) -> Result<Box<dyn SchedExtOps>, String> {
        match self.0 {
            true => Ok(Box::new(Global)),
            false => Err("no such file".to_owned()),
        }
    }
}

fn with_scheduler(loads: bool) -> Experiment {
    Experiment {
        schedulers: vec![Scheduler {
            name: "scx_global -v".to_owned(),
            facts: vec![("scheduler".to_owned(), "global".to_owned())],
            notes: vec!["it is small".to_owned()],
            kernel: Policy::parse("linux-7.3").unwrap(),
            loader: Arc::new(LoadsGlobal(loads)),
        }],
        ..experiment(&["linux-7.3"])
    }
}

/// Goal: a scheduler is one of the contenders, under its own name and with all metrics.
#[test]
fn a_scheduler_takes_part() {
    let experiment = with_scheduler(true);
    let comparison = experiment.run(2, &|_| {}).unwrap();
    let [kernel, scheduler] = &comparison.runs[..] else {
        panic!("two contenders");
    };
    assert_eq!(scheduler.policy, "scx_global -v");
    assert_eq!(scheduler.settings[0].1, "global");
    let warning = "scx_global -v: it is small".to_owned();
    assert!(comparison.warnings.contains(&warning));
    assert_eq!(scheduler.metrics.len(), 3);
    for (a, b) in kernel.metrics.iter().zip(&scheduler.metrics) {
        let names = |of: &RunMetrics| of.values.iter().count();
        assert!(names(b) >= names(a), "all that the kernel's runs have");
    }
    for (a, b) in kernel.reports.iter().zip(&scheduler.reports) {
        assert!(a.sched_ext.is_none());
        assert_eq!(b.sched_ext.as_ref().map(|ext| &*ext.name), Some("global"));
        assert_ne!(a.event_hash, b.event_hash);
    }
    assert_eq!(experiment.verify_determinism(2, &|_| {}).unwrap(), None);
}

#[test]
fn a_scheduler_that_cannot_be_loaded_is_named() {
    let error = with_scheduler(false).run(2, &|_| {}).unwrap_err();
    assert_eq!(error.to_string(), "scheduler `scx_global -v`: no such file");
}
