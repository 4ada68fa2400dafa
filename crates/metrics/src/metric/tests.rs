//! Names, units and patterns of metrics.
//! Page: docs/guide/results.md.
//!
//! What must stay: names are a contract with whoever reads results: none is renamed.
//! Tests by part (in crates/metrics/src): metric.rs: `names_end_in_their_unit` (`METRICS`),
//! `names_are_found_once` (`matches`, `is_of_cases`, `a_case`), `patterns_need_a_cluster`
//! (`find_metric`), `unknown_names_get_the_nearest` (`UnknownMetric`, `near`, `plain_names`,
//! `KEY_METRICS`), `times_are_those_of_models` (`takes`, `a_time`),
//! `the_nearest_that_was_measured_is_offered` (`measured_instead`),
//! `frames_are_some_of_all` (`number_of_share`, `all_frames_of`);
//! metric/table.rs: `names_are_found_once` (the table),
//! `all_models_are_read_by_known_metrics` (`@measured`); metric/values.rs:
//! `values_take_units_from_the_table_and_keep_name_order` (`set`, `set_cluster`, `iter`),
//! `undefined_names_are_refused` (`set`).

use super::{
    CASE, KEY_METRICS, METRICS, STATE, TIME, Values, all_frames_of, find_metric, measured_instead,
    number_of_share,
};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

#[test]
fn names_end_in_their_unit() {
    let statistics = ["mean", "p50", "p95", "p99", "max", "min"];
    for def in METRICS {
        let mut tokens: Vec<&str> = def.name.split('_').collect();
        if statistics.contains(tokens.last().unwrap()) && def.unit != "1/min" {
            tokens.pop();
        }
        let token = match def.unit {
            "J" => "j",
            "bogo·s" => "bogo",
            "%" => "pct",
            "count" if def.name.ends_with("_per_program") => "program",
            "count" => "total",
            "MB/s" => "s",
            "W" => "w",
            "1/min" => match def.name.strip_suffix("_per_task") {
                Some(_) => "task",
                None => "min",
            },
            "1/s" => {
                assert!(def.name.ends_with("_per_s"), "{}", def.name);
                "s"
            }
            unit => unit,
        };
        assert_eq!(tokens.last(), Some(&token), "{}", def.name);
    }
}

#[test]
fn names_are_found_once() {
    for (i, def) in METRICS.iter().enumerate() {
        let name = def.for_cluster("big").replace(TIME, "latency");
        let name = name.replace(CASE, "case3").replace(STATE, "c6");
        let found: Vec<_> = METRICS.iter().filter(|d| d.matches(&name)).collect();
        assert_eq!(found, [&METRICS[i]], "{name}");
    }
}

/// What the built-in models are measured by has names here.
#[test]
fn all_models_are_read_by_known_metrics() {
    for model in Spec::catalogue() {
        assert!(find_metric(model.metric).is_ok(), "{}", model.name);
        // A shell needs a program.
        let argument = match model.name {
            "shell" => "shell:sysbench-cpu",
            name => name,
        };
        let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
        let machine = MachineFacts {
            capacities: &[512, 1024],
        };
        let workload = spec.expand(1, machine).expect(model.name);
        let figures = workload.count.iter().flat_map(|count| &count.figures);
        let figures = figures.map(|figure| figure.metric.to_owned());
        let times = workload.series.iter().flat_map(|series| series.metrics());
        for name in figures.chain(times.map(|(name, _)| name)) {
            assert!(find_metric(&name).is_ok(), "{}: {name}", model.name);
        }
    }
}

#[test]
fn patterns_need_a_cluster() {
    assert_eq!(find_metric("busy_little_pct").unwrap().unit, "%");
    assert_eq!(
        find_metric("wakeups_cpu-7_total").unwrap().name,
        "wakeups_{cluster}_total"
    );
    assert_eq!(find_metric("wakeups_total").unwrap().name, "wakeups_total");
    assert!(find_metric("busy__pct").is_err());
}

#[test]
fn unknown_names_get_the_nearest() {
    let nearest = |name| find_metric(name).unwrap_err().nearest;
    assert_eq!(nearest("enrgy_j"), Some("energy_j"));
    assert_eq!(nearest("colour"), None);
    assert_eq!(
        find_metric("migration_total").unwrap_err().to_string(),
        "unknown metric `migration_total`; expected a metric as energy_j, cpu_energy_j, \
         work_energy_j, cpu_energy_bogo, energy_over_optimal_pct, wake_latency_us_p50, \
         wake_latency_us_p99, missed_frames_total, missed_periods_total, migrations_total; \
         did you mean `migrations_total`?"
    );
    // The same words in another order, one of them misspelt.
    assert_eq!(nearest("wake_latency_p99_us"), Some("wake_latency_us_p99"));
    assert_eq!(
        nearest("wakeup_latency_p99_us"),
        Some("wake_latency_us_p99")
    );
    assert_eq!(nearest("total_frames_missed"), Some("missed_frames_total"));
    assert!(KEY_METRICS.iter().all(|name| find_metric(name).is_ok()));
    assert_ne!(nearest("busy_{cluster}_pc"), Some("busy_{cluster}_pct"));
}

/// Goal: a name that only ends as measured times do is none: no model measures it.
#[test]
fn times_are_those_of_models() {
    for name in [
        "latency_p99_us",
        "request_latency_p50_us",
        "t12_latency_max_us",
    ] {
        assert!(find_metric(name).is_ok(), "{name}");
    }
    for name in [
        "wake_latency_p99_us",
        "frame_max_us",
        "t_latency_max_us",
        "tx_latency_max_us",
    ] {
        assert!(find_metric(name).is_err(), "{name}");
    }
}

#[test]
fn values_take_units_from_the_table_and_keep_name_order() {
    let mut values = Values::default();
    values.set("runtime_s", 2.0);
    values.set_cluster("busy_{cluster}_pct", "big", 50.0);
    let all: Vec<_> = values.iter().map(|(n, v)| (n, v.value, v.unit)).collect();
    assert_eq!(all, [("busy_big_pct", 50.0, "%"), ("runtime_s", 2.0, "s")]);
    assert_eq!(values.get("energy_j"), None);
}

#[test]
#[should_panic(expected = "unknown metric `speed`")]
fn undefined_names_are_refused() {
    Values::default().set("speed", 1.0);
}

/// Goal: the joules of a board's CPUs stand for the board's, bogo for joules, periods for
/// frames; what has nothing to do with it is not offered.
#[test]
fn the_nearest_that_was_measured_is_offered() {
    let joules = ["cpu_energy_j", "cpu_energy_per_work_j", "runtime_s"];
    let bogo = ["cpu_energy_bogo", "missed_periods_total", "runtime_s"];
    let of =
        |metric: &str, measured: [&'static str; 3]| measured_instead(metric, measured.into_iter());
    assert_eq!(of("energy_j", joules), Some("cpu_energy_j"));
    assert_eq!(of("energy_j", bogo), Some("cpu_energy_bogo"));
    assert_eq!(of("cpu_energy_j", bogo), Some("cpu_energy_bogo"));
    let frames = "missed_frames_total";
    assert_eq!(of(frames, bogo), Some("missed_periods_total"));
    assert_eq!(of(frames, joules), None);
}

/// Goal: what counts frames, and of how many, follows from names; a streak and all frames count
/// none of them, and what is no share has no number.
#[test]
fn frames_are_some_of_all() {
    for (metric, all) in [
        ("missed_frames_total", Some("frames_total")),
        ("missed_frames_pct", Some("frames_total")),
        ("dropped_frames_total", Some("frames_total")),
        (
            "missed_frames_of_my_frames_total",
            Some("frames_of_my_frames_total"),
        ),
        ("frames_of_my_frames_total", None),
        ("missed_frames_streak_total", None),
        ("frames_total", None),
        ("frame_lateness_us_p99", None),
    ] {
        assert_eq!(all_frames_of(metric).as_deref(), all, "{metric}");
    }
    let number = number_of_share("missed_frames_pct");
    assert_eq!(number.as_deref(), Some("missed_frames_total"));
    assert_eq!(number_of_share("idle_residency_pct"), None);
    assert_eq!(number_of_share("missed_frames_total"), None);
}
