// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel side counted, as what people read: sums by decision reason, by CPU class and by
//! performance domain; wake-up latency; estimated energy (docs/guide/live.md, "Watch").
//!
//! What must stay: keys of the JSON (docs/guide/live.md, "Watch"); tests:
//! crates/scx/src/metrics/tests.rs. Energies are estimates, J; times us. Free: how sums are
//! gathered; further keys.
//!
//! Tests by part (crates/scx/src/metrics/tests.rs): `sums_are_by_machine_class_and_domain`
//! (`between`, `part`, `sum`, `reasons`, `decisions`),
//! `between_two_moments_only_what_was_added_counts` (`Delta`, `sum`),
//! `what_does_not_exist_is_absent` (`ratio`, empty parts), `a_status_survives_its_json` (`Status`,
//! `numbers`), `buckets_are_cumulative_and_exact` (`latency`, `duration`). `Shape::new` has no test
//! of its own.
//!
//! Callers: schedule.rs (`Sample`, `Shape`), client.rs (`Status`), stats.rs (`between`).
//!
//! Tests: below

pub(crate) mod latency;
pub(crate) mod openmetrics;
pub(crate) mod prometheus;

use crate::live::{CpuCounters, Snapshot};
use crate::machine::{self, Machine};
use latency::Histogram;
use scx_stats_derive::Stats;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_policy_sys::{Core, Reason};

/// Version of the object that `status --format json` prints.
const SCHEMA_VERSION: u32 = 1;

/// The parts of a machine that counters are summed over.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Where capacities and energy model come from.
    pub(crate) source: String,
    /// What the energy model is of; none without one.
    pub(crate) energy: Option<String>,
    /// CPUs of equal capacity, by name.
    pub(crate) classes: BTreeMap<String, Vec<usize>>,
    /// Performance domains, by name; empty without an energy model.
    pub(crate) domains: BTreeMap<String, Vec<usize>>,
    /// Energies may be stated in joules.
    pub(crate) joules: bool,
}

impl Shape {
    /// The CPUs of each class and performance domain of the machine; what the energy model of its
    /// core is of.
    pub(crate) fn new(machine: &Machine, core: &Core) -> Self {
        let class = |(at, name): (usize, &String)| {
            let of_class = |(_, class): &(usize, &usize)| **class == at;
            let cpus = machine.class_of.iter().enumerate().filter(of_class);
            (name.clone(), cpus.map(|(cpu, _)| cpu).collect())
        };
        let domain = |cpus: &Vec<u16>| {
            let name = format!("CPUs {}", machine::list(cpus));
            (name, cpus.iter().map(|cpu| usize::from(*cpu)).collect())
        };
        Self {
            source: machine.source.clone(),
            energy: machine.energy_under(core),
            classes: machine.classes.iter().enumerate().map(class).collect(),
            domains: machine.domains.iter().map(domain).collect(),
            joules: machine.power_in_watts && !core.energy_without_watts(),
        }
    }
}

/// How things stand at one moment, before any arithmetic: cheap to make for the main loop.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) policy: String,
    pub(crate) mode: &'static str,
    /// Parameters that differ from the policy's own.
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) shape: Arc<Shape>,
    pub(crate) snapshot: Snapshot,
    /// When it took over, ns of the monotonic clock.
    pub(crate) since_ns: u64,
}

/// Published statistics: of the time since the reader asked before, or since the scheduler began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Stats)]
#[stat(
    top,
    desc = "scx_wakeplace: since the last request on this connection, or since it began"
)]
pub(crate) struct Metrics {
    #[stat(desc = "policy in force")]
    pub(crate) policy: String,
    #[stat(desc = "mode in force: auto, performance, balanced or powersave")]
    pub(crate) mode: String,
    #[stat(desc = "1: some CPU is beyond the tipping point now, energy is not looked at")]
    pub(crate) overutilized: u32,
    #[stat(desc = "1: energy-aware placement is in force now")]
    pub(crate) energy_aware: u32,
    #[stat(desc = "length of the time these figures are of, s")]
    pub(crate) interval_s: f64,
    #[stat(desc = "placement decisions")]
    pub(crate) decisions: u64,
    #[stat(desc = "wake-ups decided")]
    pub(crate) wakeups: u64,
    #[stat(desc = "forks decided")]
    pub(crate) forks: u64,
    #[stat(desc = "execs decided")]
    pub(crate) execs: u64,
    #[stat(desc = "decisions that found an idle CPU and claimed it")]
    pub(crate) direct: u64,
    #[stat(desc = "decisions that could not be carried out: CPU gone or not allowed")]
    pub(crate) refused: u64,
    #[stat(desc = "tasks that CPUs took from others")]
    pub(crate) pulled: u64,
    #[stat(desc = "running tasks pushed to another CPU")]
    pub(crate) pushed: u64,
    #[stat(desc = "kicks that ended a running task's slice")]
    pub(crate) preempted: u64,
    #[stat(desc = "times a task began to run")]
    pub(crate) switches: u64,
    #[stat(desc = "CPUs that were busy with this scheduler's tasks, on average")]
    pub(crate) busy_cpus_mean: f64,
    #[stat(desc = "wake-up latency, us: p50, p95, p99, max, as upper bounds of histogram buckets")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) wake_latency_us: BTreeMap<String, f64>,
    #[stat(desc = "wake-ups by latency: largest ns of the histogram bucket, and how many")]
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers"
    )]
    pub(crate) wake_latency_ns_counts: BTreeMap<u64, u64>,
    #[stat(
        desc = "run between two sleeps, average of each task that fell asleep, us: p50, p95, \
                p99, max"
    )]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) dur_avg_us: BTreeMap<String, f64>,
    #[stat(desc = "sleeps by the task's duration average: largest ns of the bucket, and how many")]
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "numbers"
    )]
    pub(crate) dur_avg_ns_counts: BTreeMap<u64, u64>,
    #[stat(desc = "decisions by reason")]
    pub(crate) reasons: BTreeMap<String, u64>,
    #[stat(desc = "by class of equal CPU capacity")]
    pub(crate) classes: BTreeMap<String, Part>,
    #[stat(desc = "by performance domain; absent without an energy model")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) domains: BTreeMap<String, Part>,
    #[stat(desc = "energy by domain estimated by the energy model, J; absent without watts in it")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) energy_j: BTreeMap<String, f64>,
}

/// Keys of an object are text. serde turns them into numbers only where it reads the JSON itself,
/// not inside an untagged enum, as the control socket's answer is.
fn numbers<'de, D: Deserializer<'de>>(object: D) -> Result<BTreeMap<u64, u64>, D::Error> {
    let texts = BTreeMap::<String, u64>::deserialize(object)?;
    let number = |(key, count): (String, u64)| {
        let key = key.parse().map_err(D::Error::custom)?;
        Ok((key, count))
    };
    texts.into_iter().map(number).collect()
}

/// Of some CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Stats)]
#[stat(desc = "of the CPUs of a class or domain")]
pub(crate) struct Part {
    #[stat(desc = "how many CPUs")]
    pub(crate) cpus: u64,
    #[stat(desc = "tasks that decisions sent here")]
    pub(crate) placed: u64,
    #[stat(desc = "tasks that CPUs here took from others")]
    pub(crate) pulled: u64,
    #[stat(desc = "running tasks pushed away from here")]
    pub(crate) pushed: u64,
    #[stat(desc = "kicks that ended a running task's slice here")]
    pub(crate) preempted: u64,
    #[stat(desc = "times a task began to run here")]
    pub(crate) switches: u64,
    #[stat(desc = "time this scheduler's tasks ran here, s, all CPUs together")]
    pub(crate) run_s: f64,
    #[stat(desc = "the same as a share of all the time of these CPUs, percent")]
    pub(crate) busy_pct: f64,
    #[stat(desc = "wake-up latency here, us: p50, p95, p99, max")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) wake_latency_us: BTreeMap<String, f64>,
    #[stat(desc = "decisions taken by CPUs here, by reason")]
    pub(crate) reasons: BTreeMap<String, u64>,
}

/// The answer to `status` and `set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) schema_version: u32,
    /// Of the program that runs.
    pub(crate) version: String,
    pub(crate) policy: String,
    pub(crate) mode: String,
    /// Parameters that differ from the policy's own.
    pub(crate) parameters: BTreeMap<String, String>,
    /// Where capacities and energy model come from.
    pub(crate) machine: String,
    /// What the powers of the energy model are, of which joules are made; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) energy_model: Option<String>,
    /// Since it began.
    pub(crate) totals: Metrics,
}

impl Status {
    /// All counters since the start.
    pub(crate) fn new(sample: &Sample) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            policy: sample.policy.clone(),
            mode: sample.mode.to_owned(),
            parameters: sample.parameters.clone(),
            machine: sample.shape.source.clone(),
            energy_model: sample.shape.energy.clone(),
            totals: Metrics::between(None, sample),
        }
    }
}

/// Counts of some CPUs in an interval.
struct Delta<'a> {
    /// CPUs with their counters at its beginning; none: they were 0.
    cpus: Vec<(&'a CpuCounters, Option<&'a CpuCounters>)>,
}

impl<'a> Delta<'a> {
    /// Counters of some CPUs, now less before.
    fn new(before: Option<&'a Snapshot>, now: &'a Snapshot, cpus: &[usize]) -> Self {
        let both = |cpu: &usize| {
            let earlier = before.and_then(|snapshot| snapshot.cpus.get(*cpu));
            Some((now.cpus.get(*cpu)?, earlier))
        };
        Self {
            cpus: cpus.iter().filter_map(both).collect(),
        }
    }

    /// Counters only grow; one that seems not to was read while its CPU wrote.
    fn sum(&self, counter: impl Fn(&CpuCounters) -> u64) -> u64 {
        let grown = |(now, earlier): &(&CpuCounters, Option<&CpuCounters>)| {
            counter(now).saturating_sub(earlier.map_or(0, &counter))
        };
        self.cpus.iter().map(grown).sum()
    }

    /// Reasons by name that occurred, with how often.
    fn reasons(&self) -> BTreeMap<String, u64> {
        let count = |reason: &Reason| (reason.name().to_owned(), self.reason(reason.index()));
        Reason::ALL
            .iter()
            .map(count)
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// How often a reason decided.
    fn reason(&self, index: usize) -> u64 {
        self.sum(|c| c.reason.get(index).copied().unwrap_or(0))
    }

    /// Wake-ups, forks and execs.
    fn decisions(&self) -> u64 {
        self.sum(|c| c.wakeups) + self.sum(|c| c.forks) + self.sum(|c| c.execs)
    }

    /// From wake-up to run, as a histogram.
    fn latency(&self) -> Histogram {
        Histogram::new(|bucket| self.sum(|c| c.latency[bucket]))
    }

    /// Of the tasks that fell asleep: how long they run at a time.
    fn duration(&self) -> Histogram {
        Histogram::new(|bucket| self.sum(|c| c.duration[bucket]))
    }

    /// What some CPUs counted within an interval.
    fn part(&self, interval_ns: u64) -> Part {
        let run_ns = self.sum(|c| c.run_ns);
        let all_ns = self.cpus.len() as f64 * interval_ns as f64;
        Part {
            cpus: self.cpus.len() as u64,
            placed: self.sum(|c| c.placed),
            pulled: self.sum(|c| c.pulled),
            pushed: self.sum(|c| c.pushed),
            preempted: self.sum(|c| c.preempted),
            switches: self.sum(|c| c.switches),
            run_s: run_ns as f64 / 1e9,
            busy_pct: ratio(100.0 * run_ns as f64, all_ns),
            wake_latency_us: self.latency().figures_us(),
            reasons: self.reasons(),
        }
    }
}

/// Divides one count by another; 0 of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Metrics {
    /// What happened from one moment, or the scheduler's beginning, until another.
    pub(crate) fn between(before: Option<&Snapshot>, sample: &Sample) -> Self {
        let (now, shape) = (&sample.snapshot, &sample.shape);
        let start_ns = before.map_or(sample.since_ns, |snapshot| snapshot.at_ns);
        let interval_ns = now.at_ns.saturating_sub(start_ns);
        let every_cpu: Vec<usize> = (0..now.cpus.len()).collect();
        let all = Delta::new(before, now, &every_cpu);
        let parts = |of: &BTreeMap<String, Vec<usize>>| {
            let part = |(name, cpus): (&String, &Vec<usize>)| {
                let part = Delta::new(before, now, cpus).part(interval_ns);
                (name.clone(), part)
            };
            of.iter().map(part).collect()
        };
        let joules = |(name, cpus): (&String, &Vec<usize>)| {
            let nj = Delta::new(before, now, cpus).sum(|c| c.energy_nj);
            (name.clone(), nj as f64 / 1e9)
        };
        let (latency, duration) = (all.latency(), all.duration());
        Self {
            policy: sample.policy.clone(),
            mode: sample.mode.to_owned(),
            overutilized: u32::from(now.overutilized),
            energy_aware: u32::from(now.energy_active),
            interval_s: interval_ns as f64 / 1e9,
            decisions: all.decisions(),
            wakeups: all.sum(|c| c.wakeups),
            forks: all.sum(|c| c.forks),
            execs: all.sum(|c| c.execs),
            direct: all.sum(|c| c.direct),
            refused: all.sum(|c| c.refused),
            pulled: all.sum(|c| c.pulled),
            pushed: all.sum(|c| c.pushed),
            preempted: all.sum(|c| c.preempted),
            switches: all.sum(|c| c.switches),
            busy_cpus_mean: ratio(all.sum(|c| c.run_ns) as f64, interval_ns as f64),
            wake_latency_us: latency.figures_us(),
            wake_latency_ns_counts: latency.counts(),
            dur_avg_us: duration.figures_us(),
            dur_avg_ns_counts: duration.counts(),
            reasons: all.reasons(),
            classes: parts(&shape.classes),
            domains: parts(&shape.domains),
            energy_j: match shape.joules {
                true => shape.domains.iter().map(joules).collect(),
                false => BTreeMap::new(),
            },
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
