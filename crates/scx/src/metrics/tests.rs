// SPDX-License-Identifier: GPL-2.0-only
//! Figures of the live scheduler and their formats (docs/guide/live.md, "Watch").
//!
//! What must stay: names and types of metrics are a contract (OpenMetrics 1.0, text format 0.0.4);
//! `sample` and `busy_sample` are used by control/tests.rs and stats/tests.rs, too. Free: figures
//! of the samples, with the sums that follow.
//! Tests by part (in crates/scx/src): metrics.rs (`between`, `new`):
//! `sums_are_by_machine_class_and_domain`, `between_two_moments_only_what_was_added_counts`,
//! `what_does_not_exist_is_absent`, `a_status_survives_its_json`; metrics/openmetrics.rs:
//! `it_is_what_the_specification_asks_for` (`text`), `the_dashboard_reads_what_there_is` (names),
//! `buckets_are_cumulative_and_exact` (`histogram`), `without_joules_there_is_no_energy`
//! (`by_part`); metrics/prometheus.rs: `the_older_format_has_the_same_samples` (`text`).
//! Helpers, and who fails with them: `counters`, `sample` (all tests,
//! `between_two_moments_only_what_was_added_counts` among them); `busy_sample` (most tests,
//! `sums_are_by_machine_class_and_domain` among them). `parse` reads a text back as the format
//! asks.

use super::*;

pub(crate) fn counters() -> CpuCounters {
    CpuCounters {
        reason: [0; 64],
        placed: 0,
        wakeups: 0,
        forks: 0,
        execs: 0,
        direct: 0,
        refused: 0,
        pulled: 0,
        pushed: 0,
        preempted: 0,
        switches: 0,
        run_ns: 0,
        energy_nj: 0,
        latency: Box::new([0; latency::BUCKETS]),
        duration: Box::new([0; latency::BUCKETS]),
    }
}

/// Four CPUs in two classes, which are the two domains; 2 s after it began nothing has happened.
pub(crate) fn sample() -> Sample {
    let parts = |names: [&str; 2]| {
        let cpus = [vec![0, 1], vec![2, 3]];
        names.map(str::to_owned).into_iter().zip(cpus).collect()
    };
    Sample {
        policy: "linux-7.3".to_owned(),
        mode: "auto",
        parameters: BTreeMap::new(),
        shape: Arc::new(Shape {
            source: "what the kernel states".to_owned(),
            energy: Some("what the kernel states".to_owned()),
            classes: parts(["capacity 446", "capacity 1024"]),
            domains: parts(["CPUs 0-1", "CPUs 2-3"]),
            joules: true,
        }),
        snapshot: Snapshot {
            at_ns: 7_000_000_000,
            cpus: vec![counters(); 4],
            overutilized: false,
            energy_active: true,
        },
        since_ns: 5_000_000_000,
    }
}

/// A sample with something in every figure.
pub(crate) fn busy_sample() -> Sample {
    let mut sample = sample();
    for (at, cpu) in sample.snapshot.cpus.iter_mut().enumerate() {
        let n = at as u64 + 1;
        cpu.reason[Reason::EnergyBest.index()] = 10 * n;
        cpu.reason[Reason::IdlePrev.index()] = n;
        cpu.placed = 11 * n;
        cpu.wakeups = 8 * n;
        cpu.forks = 2 * n;
        cpu.execs = n;
        cpu.direct = 5 * n;
        cpu.switches = 20 * n;
        cpu.pulled = n;
        cpu.pushed = 2 * n;
        cpu.preempted = 3 * n;
        cpu.run_ns = 500_000_000;
        cpu.energy_nj = 250_000_000 * n;
        cpu.latency[8] = n; // 8 and 9 ns
        cpu.duration[41] = 2 * n; // second quarter of 2048..4096 ns: up to 3071
    }
    sample
}

#[test]
fn sums_are_by_machine_class_and_domain() {
    let m = Metrics::between(None, &busy_sample());
    // 1 + 2 + 3 + 4 = 10 times each CPU's share.
    assert_eq!(
        (m.wakeups, m.forks, m.execs, m.decisions),
        (80, 20, 10, 110)
    );
    assert_eq!((m.direct, m.switches, m.pulled), (50, 200, 10));
    assert_eq!((m.pushed, m.preempted, m.refused), (20, 30, 0));
    assert_eq!(m.reasons.len(), 2);
    assert_eq!(
        (m.reasons["energy-best"], m.reasons["idle-prev"]),
        (100, 10)
    );
    // 4 x 0.5 s of work in 2 s.
    assert_eq!((m.interval_s, m.busy_cpus_mean), (2.0, 1.0));
    let big = &m.classes["capacity 1024"];
    assert_eq!((big.cpus, big.placed, big.switches), (2, 77, 140));
    assert_eq!((big.run_s, big.busy_pct), (1.0, 25.0));
    assert_eq!(big.reasons["energy-best"], 70);
    assert_eq!(m.domains["CPUs 0-1"].pulled, 3);
    assert_eq!(m.energy_j["CPUs 0-1"], 0.75);
    assert_eq!(m.energy_j["CPUs 2-3"], 1.75);
    assert_eq!((m.overutilized, m.energy_aware), (0, 1));
    assert_eq!(m.dur_avg_ns_counts, BTreeMap::from([(3071, 20)]));
    assert_eq!(m.dur_avg_us["p50"], 3.071);
}

#[test]
fn between_two_moments_only_what_was_added_counts() {
    let before = busy_sample().snapshot;
    let mut sample = busy_sample();
    sample.snapshot.at_ns += 500_000_000;
    let cpu = &mut sample.snapshot.cpus[3];
    cpu.wakeups += 6;
    cpu.run_ns += 250_000_000;
    cpu.energy_nj += 1_000_000_000;
    cpu.reason[Reason::IdleCore.index()] += 6;
    cpu.latency[40] += 1;
    sample.snapshot.cpus[0].switches -= 1; // torn read: no counter runs backwards
    let m = Metrics::between(Some(&before), &sample);
    assert_eq!((m.decisions, m.wakeups, m.switches), (6, 6, 0));
    assert_eq!((m.interval_s, m.busy_cpus_mean), (0.5, 0.5));
    assert_eq!(m.reasons, BTreeMap::from([("idle-core".to_owned(), 6)]));
    assert_eq!(m.energy_j["CPUs 2-3"], 1.0);
    assert_eq!(m.domains["CPUs 2-3"].busy_pct, 25.0);
    // Bucket 40: log2 = 11, the first quarter of 2048..4096 ns.
    assert_eq!(m.wake_latency_ns_counts, BTreeMap::from([(2559, 1)]));
    assert_eq!(m.wake_latency_us["max"], 2.559);
}

#[test]
fn what_does_not_exist_is_absent() {
    let mut idle = sample();
    let m = Metrics::between(Some(&idle.snapshot.clone()), &idle);
    assert!(m.wake_latency_us.is_empty() && m.reasons.is_empty());
    assert_eq!((m.interval_s, m.busy_cpus_mean), (0.0, 0.0));
    // A model without watts: no joules, but domains.
    let shape = Shape {
        joules: false,
        ..(*idle.shape).clone()
    };
    idle.shape = Arc::new(shape);
    let json = serde_json::to_value(Metrics::between(None, &idle)).expect("JSON");
    assert!(json.get("energy_j").is_none() && json.get("wake_latency_us").is_none());
    assert!(json.get("domains").is_some());
    let shape = Shape {
        domains: BTreeMap::new(),
        ..(*idle.shape).clone()
    };
    idle.shape = Arc::new(shape);
    let json = serde_json::to_value(Metrics::between(None, &idle)).expect("JSON");
    assert!(json.get("domains").is_none());
}

#[test]
fn a_status_survives_its_json() {
    let status = Status::new(&busy_sample());
    let json = serde_json::to_string(&status).expect("JSON");
    let back: Status = serde_json::from_str(&json).expect("a status");
    assert_eq!(back, status);
    assert!(
        json.contains(r#""energy_model":"what the kernel states""#),
        "{json}"
    );
}

mod exposition {
    use super::*;

    /// Samples by name with labels, after the checks that the specification asks for: metadata
    /// before samples, each family once, a unit that ends its name, counters that end in `_total`,
    /// the end mark last.
    fn parse(text: &str) -> BTreeMap<String, f64> {
        let body = text.strip_suffix("# EOF\n").expect("ends with its mark");
        let mut types: BTreeMap<String, String> = BTreeMap::new();
        let mut family = String::new();
        let mut samples = BTreeMap::new();
        for line in body.lines() {
            let words: Vec<_> = line.splitn(4, ' ').collect();
            match words[..] {
                ["#", "TYPE", name, kind] => {
                    let old = types.insert(name.to_owned(), kind.to_owned());
                    assert!(old.is_none(), "{name} stands twice");
                    family = name.to_owned();
                }
                ["#", "UNIT", name, unit] => assert!(name.ends_with(&format!("_{unit}"))),
                ["#", "HELP", _, _] => {}
                _ => {
                    let (key, value) = line.rsplit_once(' ').expect("a sample");
                    let name = key.split('{').next().expect("a name");
                    let suffix = name.strip_prefix(family.as_str()).expect("in its family");
                    let suffixes: &[&str] = match types[&family].as_str() {
                        "counter" => &["_total"],
                        "gauge" => &[""],
                        "info" => &["_info"],
                        "histogram" => &["_bucket"],
                        other => panic!("{other}"),
                    };
                    assert!(suffixes.contains(&suffix), "{line}");
                    let value = value.parse().expect("a number");
                    assert!(
                        samples.insert(key.to_owned(), value).is_none(),
                        "{line} twice"
                    );
                }
            }
        }
        samples
    }

    #[test]
    fn it_is_what_the_specification_asks_for() {
        let text = openmetrics::text(&Status::new(&busy_sample()));
        let samples = parse(&text);
        for (key, value) in [
            ("wakeplace_decisions_total{reason=\"energy-best\"}", 100.0),
            ("wakeplace_requests_total{kind=\"wakeup\"}", 80.0),
            ("wakeplace_switches_total", 200.0),
            ("wakeplace_uptime_seconds", 2.0),
            (
                "wakeplace_class_placed_total{class=\"capacity 1024\"}",
                77.0,
            ),
            (
                "wakeplace_class_run_seconds_total{class=\"capacity 1024\"}",
                1.0,
            ),
            (
                "wakeplace_domain_decisions_total{domain=\"CPUs 0-1\",reason=\"idle-prev\"}",
                3.0,
            ),
            (
                "wakeplace_domain_energy_joules_total{domain=\"CPUs 2-3\"}",
                1.75,
            ),
            ("wakeplace_wake_latency_seconds_bucket{le=\"+Inf\"}", 10.0),
            ("wakeplace_dur_avg_seconds_bucket{le=\"4.095e-6\"}", 20.0),
        ] {
            assert_eq!(samples.get(key), Some(&value), "{key} in\n{text}");
        }
        assert!(text.contains("mode=\"auto\""), "{text}");
    }

    /// The text format 0.0.4 has the types counter, gauge, histogram, summary and untyped, no other
    /// comments are read, and a family's name is that of its samples.
    #[test]
    fn the_older_format_has_the_same_samples() {
        let status = Status::new(&busy_sample());
        let text = prometheus::text(&status);
        let mut kinds = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with('#')) {
            match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
                ["#", "HELP", _, _] => {}
                [
                    "#",
                    "TYPE",
                    name,
                    kind @ ("counter" | "gauge" | "histogram"),
                ] => {
                    kinds.insert(name, kind);
                }
                _ => panic!("{line}"),
            }
        }
        assert_eq!(kinds["wakeplace_switches_total"], "counter");
        assert_eq!(kinds["wakeplace_scheduler_info"], "gauge");
        assert_eq!(kinds["wakeplace_wake_latency_seconds"], "histogram");
        let samples = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(samples(&text), samples(&openmetrics::text(&status)));
        // cargo xtask metrics gives it to the parser of Prometheus.
        if let Some(path) = std::env::var_os("WAKEPLACE_METRICS_OUT") {
            std::fs::write(path, text).expect("a file");
        }
    }

    /// Goal: the dashboard asks for nothing that is not exposed.
    #[test]
    fn the_dashboard_reads_what_there_is() {
        let text = prometheus::text(&Status::new(&busy_sample()));
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../packaging/grafana/scx_wakeplace.json"
        );
        let page = std::fs::read_to_string(path).expect("the dashboard");
        let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
        let panels = page["panels"].as_array().expect("panels");
        let mut asked = 0;
        for target in panels
            .iter()
            .flat_map(|panel| panel["targets"].as_array())
            .flatten()
        {
            let expr = target["expr"].as_str().expect("an expression");
            let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            for name in expr
                .split(word)
                .filter(|word| word.starts_with("wakeplace_"))
            {
                let found = ["{", " "]
                    .iter()
                    .any(|end| text.contains(&format!("\n{name}{end}")));
                assert!(found, "{name} in\n{text}");
                asked += 1;
            }
        }
        assert!(asked >= panels.len() && panels.len() > 5, "{asked}");
    }

    #[test]
    fn buckets_are_cumulative_and_exact() {
        let mut sample = sample();
        let latency = &mut sample.snapshot.cpus[0].latency;
        // 1023 ns is the last of bucket 35, 1024 ns the first of bucket 36.
        (latency[35], latency[36], latency[251]) = (1, 2, 4);
        let samples = parse(&openmetrics::text(&Status::new(&sample)));
        let bucket = |le: &str| samples[&format!("wakeplace_wake_latency_seconds_bucket{{{le}}}")];
        assert_eq!(bucket("le=\"1.023e-6\""), 1.0);
        assert_eq!(bucket("le=\"2.047e-6\""), 3.0);
        assert_eq!(bucket("le=\"+Inf\""), 7.0);
    }

    #[test]
    fn without_joules_there_is_no_energy() {
        let mut sample = busy_sample();
        sample.shape = Arc::new(Shape {
            joules: false,
            ..(*sample.shape).clone()
        });
        let text = openmetrics::text(&Status::new(&sample));
        parse(&text);
        assert!(!text.contains("joules"), "{text}");
    }
}
