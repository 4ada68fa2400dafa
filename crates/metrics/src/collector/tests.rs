//! What a run is measured by (docs/guide/results.md, "What a result holds"); energy:
//! docs/guide/model.md, "Energy".
//!
//! What must stay: figures are worked by hand from src/testbed.rs; a figure that cannot be known is
//! absent, not 0.
//! Tests by part (in crates/metrics/src): collector.rs: `every_observer_reports` (`finish`,
//! `effects`, `value_of`), `every_plain_metric_is_reported_or_excluded_by_the_platform` (`finish`),
//! `no_power_figures_no_energy` (`collector`), `a_report_of_another_run_is_refused` (the check of
//! the end), `series_and_pairs_run_by_run` (`series`, `paired`), `equal_runs_are_one`
//! (`independent`); latency.rs: `unknown_wakeups_have_no_latency` (who makes it); metric/table.rs:
//! `every_plain_metric_is_reported_or_excluded_by_the_platform` (`set`); stats.rs:
//! `equal_runs_are_one` (`bounds`).
//! Helpers, and who fails with them: `report`, `pair` (all tests); `run`, `run_of` (most tests).

use super::{RunMetrics, paired, series};
use crate::metric::{METRICS, Values};
use crate::testbed::two_clusters;
use wakeplace_engine::happen;
use wakeplace_engine::observe::{CpuPower, MigrateCause};
use wakeplace_engine::{Counted, Observer, Options, RunReport, TaskTotals};
use wakeplace_platform::{Platform, PowerUnit};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

fn report(end_ns: u64) -> RunReport {
    let task = TaskTotals {
        run_ns: 500_000_000,
        wait_ns: 250_000_000,
        longest_wait_ns: 100_000_000,
        activations: 1,
        counted: 500,
        work_ns: 125_000_000,
    };
    RunReport {
        energy_active: true,
        counted: Some(Counted {
            units: 1000,
            window_ns: 500_000_000,
        }),
        lock_wait_ns: Some(300_000_000),
        line_wait_ns: Some(150_000_000),
        double_placements: Some(7),
        end_ns,
        tasks: vec![task.clone(), task],
        ..RunReport::default()
    }
}

/// Two tasks whose round trips are counted.
fn pair() -> Workload {
    let spec = Spec::parse("context-switch", &LoadOptions::default()).expect("a model");
    spec.expand(1, MachineFacts::alike(3)).expect("fits")
}

/// CPU 0 busy for a second but for an idle period of no length, all else in the first idle state,
/// one event of each kind.
fn run(platform: &Platform) -> RunMetrics {
    run_of(platform, &pair())
}

fn run_of(platform: &Platform, workload: &Workload) -> RunMetrics {
    let mut c = RunMetrics::collector(platform, workload, &Options::default());
    for cpu in 0..3 {
        let power = if cpu == 0 {
            CpuPower::Busy
        } else {
            CpuPower::Idle { state: 0 }
        };
        happen!(c, 0 => CpuPower { cpu, power });
    }
    for i in 0..2 {
        happen!(c, 0 => ClusterPower { cluster: i, state: None });
        happen!(c, 0 => Frequency { domain: i, opp: 0 });
    }
    happen!(c, 5 => CpuPower { cpu: 0, power: CpuPower::Idle { state: 0 } });
    happen!(c, 5 => CpuPower { cpu: 0, power: CpuPower::Busy });
    happen!(c, 10 => RunStart { cpu: 0, task: 0, wake_latency_ns: Some(2000) });
    happen!(c, 20 => Migrate { task: 0, from_cpu: 0, to_cpu: 1, cause: MigrateCause::Active });
    happen!(c, 30 => TimerSlack { task: 1, slack_ns: 4000 });
    happen!(c, 500_000_000 => Overutilized { on: true });
    happen!(c, 1_000_000_000 => Finish);
    c.finish(&report(1_000_000_000))
}

#[test]
fn every_observer_reports() {
    let metrics = run(&two_clusters());
    for (name, expected) in [
        ("runtime_s", 1.0),
        ("task_run_s", 1.0),
        ("task_work_s", 0.25),
        ("task_wait_s", 0.5),
        ("throughput_per_s", 2000.0),
        ("double_placements_total", 7.0),
        ("queue_lock_wait_pct", 10.0),
        ("group_line_wait_pct", 5.0),
        ("busy_cpus_mean", 1.0),
        ("busy_little_pct", 50.0),
        ("idle_residency_pct", 0.0),
        ("transition_pct", 0.0),
        ("idle_too_deep_pct", 0.0),
        ("overutilized_pct", 50.0),
        ("migrations_active_total", 1.0),
        ("wake_latency_us_p99", 2.0),
        ("slack_us_min", 4.0),
    ] {
        assert_eq!(metrics.values.get(name), Some(expected), "{name}");
    }
    // Microwatts for one second: little 500 busy, 1 idle, 10 cluster; big 1 idle, 1 cluster.
    assert_eq!(metrics.values.get("cpu_energy_j"), Some(513e-6));
    assert_eq!(
        metrics.values.get("cpu_energy_per_work_j"),
        Some(513e-6 / 0.25)
    );
    assert_eq!(metrics.values.get("energy_j"), None);
    let energy = metrics.energy.unwrap();
    assert_eq!(energy.cluster_energy(1), 2 * 1_000_000_000);
    assert_eq!((metrics.tasks[0].wakeups, metrics.tasks[1].periods), (1, 1));
    assert_eq!((metrics.clusters.len(), metrics.domains.len()), (2, 2));
    assert_eq!(metrics.wake_latency.len(), 1);
}

/// Goal: a workload that does not know when its tasks are due has no figure that is measured from
/// then on; all others are as ever.
#[test]
fn unknown_wakeups_have_no_latency() {
    let unknown = Workload {
        wakeups_unknown: true,
        ..pair()
    };
    let metrics = run_of(&two_clusters(), &unknown);
    let names = |run: &RunMetrics| -> Vec<String> {
        run.values.iter().map(|(name, _)| name.to_owned()).collect()
    };
    let mut expected = names(&run(&two_clusters()));
    let from_due = [
        "wake_latency_us_",
        "slack_us_",
        "missed_periods_",
        "periods_",
    ];
    expected.retain(|name| !from_due.iter().any(|head| name.starts_with(head)));
    assert_eq!(names(&metrics), expected);
    assert!(metrics.wake_latency.is_empty() && metrics.tasks.is_empty());
}

#[test]
fn every_plain_metric_is_reported_or_excluded_by_the_platform() {
    let metrics = run(&two_clusters());
    for def in METRICS {
        // No board joules without a board, nor for work; no bogo units, no CPU that left; the
        // workload counts round trips, measures no times and has no chain; no heat and no oracle.
        let absent = [
            "energy_j",
            "work_energy_j",
            "cpu_energy_bogo",
            "migrations_hotplug_total",
            "throughput_mb_per_s",
            "jobs_per_min",
            "jobs_per_min_per_task",
            "migrations_exec_total",
            "migrations_dispatch_total",
            "events_total",
            "events_per_program",
            "temperature_c_max",
            "throttled_s",
            "energy_over_optimal_pct",
            "optimal_cpu_energy_j",
            "optimal_cpu_energy_bogo",
            "optimal_unproven_pct",
            "frames_total",
            "missed_frames_total",
            "missed_frames_pct",
            "late_frames_total",
            "dropped_frames_total",
            "missed_frames_streak_total",
            "frame_lateness_us_p50",
            "frame_lateness_us_p95",
            "frame_lateness_us_p99",
            "frame_lateness_us_max",
            "group_periods_total",
            "group_throttled_periods_total",
            "group_throttled_s",
            "group_bursts_total",
            "group_burst_s",
        ];
        let asked_for = [
            "{time}",
            "wakeup_{case}",
            "frames_of_{chain}",
            "missed_frames_of_{chain}",
            "dropped_frames_of_{chain}",
            "periods_of_{group}",
            "throttled_periods_of_{group}",
        ];
        let patterned = asked_for.iter().any(|head| def.name.starts_with(head));
        let expected = !absent.contains(&def.name) && !patterned;
        let name = def.for_cluster("big").replace("{state}", "wfi");
        let found = metrics.values.get(&name).is_some();
        assert_eq!(found, expected, "{}", def.name);
    }
}

#[test]
fn no_power_figures_no_energy() {
    let mut platform = two_clusters();
    platform.power_unit = PowerUnit::None;
    let metrics = run(&platform);
    assert!(metrics.energy.is_none());
    assert!(
        metrics
            .values
            .iter()
            .all(|(name, _)| !name.contains("energy"))
    );
}

#[test]
#[should_panic(expected = "the announced and the reported end differ")]
fn a_report_of_another_run_is_refused() {
    let mut c = RunMetrics::collector(&two_clusters(), &pair(), &Options::default());
    happen!(c, 5 => Finish);
    let _ = c.finish(&report(6));
}

#[test]
fn series_and_pairs_run_by_run() {
    let with = |runtime: f64, slack: Option<f64>| {
        let mut metrics = run(&two_clusters());
        metrics.values = Values::default();
        metrics.values.set("runtime_s", runtime);
        // Runs that take another time are other runs.
        metrics.behaviour_hash = runtime.to_bits();
        if let Some(slack) = slack {
            metrics.values.set("slack_us_min", slack);
        }
        metrics
    };
    let base = [with(2.0, Some(5.0)), with(4.0, None), with(6.0, Some(7.0))];
    let other = [with(3.0, Some(10.0)), with(6.0, Some(1.0)), with(9.0, None)];
    let all = series(&base);
    assert_eq!(
        all.keys().collect::<Vec<_>>(),
        ["runtime_s", "slack_us_min"]
    );
    assert_eq!(
        (all["slack_us_min"].unit, &all["slack_us_min"].values[..]),
        ("us", &[5.0, 7.0][..])
    );
    let longer = paired(&base, &other, "runtime_s").unwrap().delta_pct;
    assert!((longer - 50.0).abs() < 1e-9, "{longer}");
    let slack = paired(&base, &other, "slack_us_min").unwrap();
    assert_eq!((slack.n, slack.delta_pct), (1, 100.0));
    assert_eq!(paired(&base, &other, "energy_j"), None);
}

/// Goal: where every seed gives the same run there is one pair, without an interval; its change
/// owes nothing to chance.
#[test]
fn equal_runs_are_one() {
    let with = |runtime: f64| {
        let mut metrics = run(&two_clusters());
        metrics.values = Values::default();
        metrics.values.set("runtime_s", runtime);
        metrics.behaviour_hash = runtime.to_bits();
        metrics
    };
    let (base, other) = ([with(2.0), with(2.0)], [with(3.0), with(3.0)]);
    assert_eq!(series(&base)["runtime_s"].values, [2.0]);
    let delta = paired(&base, &other, "runtime_s").unwrap();
    assert_eq!((delta.n, delta.delta_pct, delta.ci95), (1, 50.0, None));
    assert_eq!(delta.method, crate::Method::SameRuns);
    assert_eq!(delta.bounds(), Some((50.0, 50.0)));
    // One of both varies: the pairs are what they are.
    let varies = [with(3.0), with(4.0)];
    assert_eq!(paired(&base, &varies, "runtime_s").unwrap().n, 2);
}
