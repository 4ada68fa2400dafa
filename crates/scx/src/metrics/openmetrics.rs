// SPDX-License-Identifier: GPL-2.0-only
//! Exposition text, OpenMetrics 1.0. The library writes what it can; it gives every histogram a
//! sum, which the kernel side does not keep, so histograms are written here, without one (the
//! specification, "Histogram", does not ask for it). See docs/guide/live.md, "Watch".
//!
//! What must stay: names, labels and units of metrics, which dashboards read. Free: help texts;
//! further metrics.
//!
//! Tests by part (crates/scx/src/metrics/tests.rs): `it_is_what_the_specification_asks_for`
//! (`text`, `encode`, `state`, `plain`, `by_part`, `counters`, `gauge`),
//! `buckets_are_cumulative_and_exact` (`histogram`), `without_joules_there_is_no_energy`
//! (`by_part`), `the_dashboard_reads_what_there_is` (names).
//!
//! Callers: client.rs (`status --format openmetrics`), metrics/prometheus.rs.
//!
//! Tests: crates/scx/src/metrics/tests.rs, xtask/src/tries/metrics.rs

use super::{Metrics, Part, Status};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

const PREFIX: &str = "wakeplace";

/// Bounds of the exposed histograms are powers of two less 1 ns: the kernel side's buckets end
/// there too, so that every count is exact. From 1 us to 17 s.
const BOUNDS_LOG2_NS: std::ops::RangeInclusive<u32> = 10..=34;

type Labels = Vec<(&'static str, String)>;
type Count = fn(&Part) -> u64;

#[derive(Debug)]
struct Exposed(Status);

/// The text, its end mark included.
pub(crate) fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Exposed(status.clone())));
    let mut text = String::new();
    let written = encode_registry(&mut text, &registry)
        .and_then(|()| {
            let what = ("wake_latency", "Runnable until running");
            histogram(&mut text, what, &status.totals.wake_latency_ns_counts)
        })
        .and_then(|()| {
            let what = (
                "dur_avg",
                "Run between two sleeps, average of each task that fell asleep",
            );
            histogram(&mut text, what, &status.totals.dur_avg_ns_counts)
        })
        .and_then(|()| encode_eof(&mut text));
    written.expect("a string takes any text");
    text
}

impl Collector for Exposed {
    /// All families, in the order in which they are read.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let totals = &self.0.totals;
        self.state(&mut encoder)?;
        plain(&mut encoder, totals)?;
        let reasons = totals.reasons.iter();
        let reasons = reasons.map(|(name, n)| (vec![("reason", name.clone())], *n));
        let what = "Placement decisions by reason";
        counters(&mut encoder, "decisions", what, None, reasons)?;
        for (kind, parts) in [("class", &totals.classes), ("domain", &totals.domains)] {
            by_part(&mut encoder, kind, parts)?;
        }
        let joules = totals.energy_j.iter();
        let joules = joules.map(|(name, j)| (vec![("domain", name.clone())], *j));
        let what = "Energy estimated by the energy model";
        counters(
            &mut encoder,
            "domain_energy",
            what,
            Some(&Unit::Joules),
            joules,
        )
    }
}

impl Exposed {
    /// What is in force, as labels.
    fn state(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let labels: Labels = vec![
            ("version", self.0.version.clone()),
            ("policy", self.0.policy.clone()),
            ("mode", self.0.mode.clone()),
        ];
        let what = "What is in force";
        encoder
            .encode_descriptor("scheduler", what, None, MetricType::Info)?
            .encode_info(&labels)?;
        let totals = &self.0.totals;
        let (over, aware) = (totals.overutilized, totals.energy_aware);
        gauge(
            encoder,
            "overutilized",
            "Beyond the tipping point",
            None,
            f64::from(over),
        )?;
        gauge(
            encoder,
            "energy_aware",
            "Placing by energy",
            None,
            f64::from(aware),
        )?;
        let what = "Since it took over";
        gauge(
            encoder,
            "uptime",
            what,
            Some(&Unit::Seconds),
            totals.interval_s,
        )
    }
}

/// Counters of the whole machine. Names stay: dashboards read them.
fn plain(encoder: &mut DescriptorEncoder<'_>, totals: &Metrics) -> fmt::Result {
    let requests = [
        ("wakeup", totals.wakeups),
        ("fork", totals.forks),
        ("exec", totals.execs),
    ];
    let requests = requests.map(|(kind, n)| (vec![("kind", kind.to_owned())], n));
    let what = "Placement requests by what asked";
    counters(encoder, "requests", what, None, requests.into_iter())?;
    for (name, what, n) in [
        (
            "direct",
            "Decisions that claimed an idle CPU",
            totals.direct,
        ),
        (
            "refused",
            "Decisions that could not be carried out",
            totals.refused,
        ),
        ("pulled", "Tasks that CPUs took from others", totals.pulled),
        (
            "pushed",
            "Running tasks pushed to another CPU",
            totals.pushed,
        ),
        (
            "preempted",
            "Kicks that ended a running task's slice",
            totals.preempted,
        ),
        ("switches", "Times a task began to run", totals.switches),
    ] {
        let metric = encoder.encode_descriptor(name, what, None, MetricType::Counter)?;
        ConstCounter::new(n).encode(metric)?;
    }
    Ok(())
}

/// Counters of CPU classes or domains. Names stay: dashboards read them.
fn by_part(
    encoder: &mut DescriptorEncoder<'_>,
    kind: &'static str,
    parts: &BTreeMap<String, Part>,
) -> fmt::Result {
    let label = |name: &String| vec![(kind, name.clone())];
    let counts: [(&str, &str, Count); 5] = [
        ("placed", "Tasks that decisions sent here", |p| p.placed),
        ("pulled", "Tasks that CPUs here took from others", |p| {
            p.pulled
        }),
        ("pushed", "Running tasks pushed away from here", |p| {
            p.pushed
        }),
        ("preempted", "Kicks that ended a task's slice here", |p| {
            p.preempted
        }),
        ("switches", "Times a task began to run here", |p| p.switches),
    ];
    for (name, what, count) in counts {
        let samples = parts.iter().map(|(part, p)| (label(part), count(p)));
        counters(encoder, &format!("{kind}_{name}"), what, None, samples)?;
    }
    let run = parts.iter().map(|(part, p)| (label(part), p.run_s));
    let (name, what) = (format!("{kind}_run"), "Time tasks ran here");
    counters(encoder, &name, what, Some(&Unit::Seconds), run)?;
    let reasons = parts.iter().flat_map(|(part, p)| {
        let reason =
            move |(r, n): (&String, &u64)| (vec![(kind, part.clone()), ("reason", r.clone())], *n);
        p.reasons.iter().map(reason)
    });
    let (name, what) = (format!("{kind}_decisions"), "Decisions taken by CPUs here");
    counters(encoder, &name, what, None, reasons)
}

/// A family of counters; without samples nothing at all.
fn counters<N>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    what: &str,
    unit: Option<&Unit>,
    samples: impl Iterator<Item = (Labels, N)>,
) -> fmt::Result
where
    ConstCounter<N>: EncodeMetric,
{
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return Ok(());
    }
    let mut family = encoder.encode_descriptor(name, what, unit, MetricType::Counter)?;
    for (labels, n) in samples {
        ConstCounter::new(n).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// One figure with its help and unit.
fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    what: &str,
    unit: Option<&Unit>,
    value: f64,
) -> fmt::Result {
    let metric = encoder.encode_descriptor(name, what, unit, MetricType::Gauge)?;
    ConstGauge::new(value).encode(metric)
}

/// One histogram of times; `counts`: by the largest ns of a bucket.
fn histogram(
    text: &mut String,
    (name, what): (&str, &str),
    counts: &BTreeMap<u64, u64>,
) -> fmt::Result {
    let name = format!("{PREFIX}_{name}_seconds");
    writeln!(text, "# HELP {name} {what}.")?;
    writeln!(text, "# TYPE {name} histogram\n# UNIT {name} seconds")?;
    for log2 in BOUNDS_LOG2_NS {
        let bound_ns = (1_u64 << log2) - 1;
        let n: u64 = counts.range(..=bound_ns).map(|(_, n)| n).sum();
        let bound_s = bound_ns as f64 / 1e9;
        writeln!(text, "{name}_bucket{{le=\"{bound_s:e}\"}} {n}")?;
    }
    let n: u64 = counts.values().sum();
    writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {n}")
}
