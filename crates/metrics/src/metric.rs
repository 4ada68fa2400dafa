//! The names, units and meanings of all metrics of a run (docs/guide/results.md, "What a result
//! holds"). A name ends in its unit, and one that is there stays.
//!
//! Called wherever a metric is named: options, study files, results. A pattern `{cluster}` or
//! `{state}` stands for as many metrics as a platform has.
//!
//! What must stay: a name ends in its unit. A plain name wins over a pattern. The direction
//! (`Better`) decides the words of verdicts (docs/guide/results.md, "Intervals"). `KEY_METRICS` is
//! the order in which tables and the error of an unknown name list metrics. Free: what leaves every
//! figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `names_end_in_their_unit` (`METRICS`), `names_are_found_once` (`matches`, `is_of_cases`,
//! `a_case`), `patterns_need_a_cluster` (`find_metric`), `unknown_names_get_the_nearest`
//! (`UnknownMetric`, `near`, `plain_names`, `KEY_METRICS`), `times_are_those_of_models` (`takes`,
//! `a_time`), `all_models_are_read_by_known_metrics` (`a_time`),
//! crates/cli/tests/all/report.rs::`kinds_of_cpu_within_a_cluster_are_told_apart` (`for_cluster`),
//! crates/cli/tests/all/said.rs::`modelled_joules_say_so_everywhere` (`of_power`, `MODELLED`).
//! `the_nearest_that_was_measured_is_offered` (`measured_instead`), `frames_are_some_of_all`
//! (`number_of_share`, `all_frames_of`). `for_state` has no test of its own. `grows_with_length` by
//! crates/report/src/diff/tests.rs::`what_grows_with_the_length_is_not_judged`.
//!
//! Callers: crates/cli/src/expect.rs (`for_cluster`, `for_state`), that, crates/cli/src/gate.rs and
//! crates/study/src/claims.rs (`measured_instead`), crates/report/src/comparison.rs
//! (`is_of_cases`), crates/report/src/phrase.rs and crates/cli/src/commands/diff.rs
//! (`grows_with_length`), crates/study/src/file/mod.rs (`is_of_cases`), many files (`find_metric`),
//! crates/report/src/points/choice (`number_of_share`, `all_frames_of`), crates/report/src/plain.rs
//! and crates/report/src/html/sweep/points.rs (`number_of_share`).
//!
//! Tests: crates/metrics/src/metric/tests.rs,
//! crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart,
//! crates/cli/tests/all/said.rs::modelled_joules_say_so_everywhere

mod table;
#[cfg(test)]
mod tests;
mod values;

pub use table::METRICS;
pub use values::{Value, Values};

use wakeplace_text::nearest;

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Describes behaviour; neither direction is good in itself.
    Neither,
}

/// What stands before what is made of a power that nobody measured.
pub const MODELLED: &str = "modelled";

/// A metric in joules or watts.
#[must_use]
pub fn of_power(metric: &str) -> bool {
    find_metric(metric).is_ok_and(|def| matches!(def.unit, "J" | "W"))
}

/// The number that a metric is the share of, by name: `missed_frames_total` of `missed_frames_pct`.
/// None: it is no share, or its number is no metric.
#[must_use]
pub fn number_of_share(metric: &str) -> Option<String> {
    let number = format!("{}_total", metric.strip_suffix("_pct")?);
    find_metric(&number).is_ok().then_some(number)
}

/// The metric that has all frames of which a metric counts some, by name: `frames_total` of
/// `missed_frames_total` and of its share, `frames_of_ui_total` of `missed_frames_of_ui_total`.
/// None: it counts no frames that are to be few.
#[must_use]
pub fn all_frames_of(metric: &str) -> Option<String> {
    let (what, rest) = metric.split_once("_frames_")?;
    let all = match rest {
        "total" | "pct" => "frames_total".to_owned(),
        _ if rest.starts_with("of_") && rest.ends_with("_total") => format!("frames_{rest}"),
        _ => return None,
    };
    let is_few = find_metric(metric).is_ok_and(|def| def.better == Better::Lower);
    (is_few && !what.contains('_')).then_some(all)
}

/// Definition of one metric, or of one metric per group of CPUs, idle state or measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDef {
    /// Name, ending in its unit (and the statistic); `{cluster}` stands for a cluster's name or
    /// that of a kind of CPU, where a cluster holds several (`Platform::cpu_groups`), `{state}` for
    /// an idle state's, `{time}` for what a model calls a time that it measures, `{chain}` for a
    /// chain with a deadline, `{case}` for `case1` to `case8` of the wake-up cases, or `cases`,
    /// their sum.
    pub name: &'static str,
    /// Unit of the value, as printed.
    pub unit: &'static str,
    /// What it means, one line.
    pub doc: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
}

impl MetricDef {
    /// `name` is this metric, or one of this pattern's.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let pattern = [CLUSTER, STATE, TIME, CHAIN, GROUP, CASE]
            .into_iter()
            .find_map(|p| self.name.split_once(p));
        match pattern {
            None => self.name == name,
            Some((head, tail)) => name
                .strip_prefix(head)
                .and_then(|rest| rest.strip_suffix(tail))
                .is_some_and(|given| self.takes(given)),
        }
    }

    /// Whether this may stand for the placeholder: any name of a platform or a workload, and of
    /// cases and times one of those that there are.
    fn takes(&self, given: &str) -> bool {
        match self.name.starts_with(TIME) {
            true => a_time(given),
            false => !given.is_empty() && (!self.is_of_cases() || a_case(given)),
        }
    }

    /// It counts wake-up cases, which are measured only if they are asked for.
    #[must_use]
    pub fn is_of_cases(&self) -> bool {
        self.name.contains(CASE)
    }

    /// It is counted or summed over the run, so runs of unlike length have unlike values.
    #[must_use]
    pub fn grows_with_length(&self) -> bool {
        matches!(self.unit, "J" | "bogo·s" | "s" | "count")
    }

    /// The name for a cluster or kind of CPU; the name itself if it is no pattern.
    #[must_use]
    pub fn for_cluster(&self, cluster: &str) -> String {
        self.name.replace(CLUSTER, cluster)
    }

    /// The name for an idle state; the name itself if it is no pattern of states.
    #[must_use]
    pub fn for_state(&self, state: &str) -> String {
        self.name.replace(STATE, state)
    }
}

/// Placeholder of the name of a cluster or kind of CPU in a pattern.
const CLUSTER: &str = "{cluster}";
/// Placeholder of an idle state's name in a pattern.
const STATE: &str = "{state}";
/// Placeholder of the name of a measured time.
const TIME: &str = "{time}";
/// Placeholder of the name of a chain.
const CHAIN: &str = "{chain}";
/// Placeholder of the name of a task group.
const GROUP: &str = "{group}";
/// Placeholder of a wake-up case.
const CASE: &str = "{case}";

/// What may stand for it.
fn a_case(given: &str) -> bool {
    let number = given.strip_prefix("case").unwrap_or_default();
    given == "cases" || matches!(number.as_bytes(), [b'1'..=b'8'])
}

/// What the models call the times that they measure (docs/rules/workloads.md#workload-measures):
/// one for all threads, schbench's other one, and one for each thread of cyclictest.
fn a_time(given: &str) -> bool {
    let thread = given
        .strip_prefix('t')
        .and_then(|rest| rest.strip_suffix("_latency"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(given, "latency" | "request_latency") || thread.is_some_and(is_number)
}

/// What a reader looks at next, in this order, after what a workload is measured by.
pub const KEY_METRICS: [&str; 10] = [
    "energy_j",
    "cpu_energy_j",
    "work_energy_j",
    "cpu_energy_bogo",
    "energy_over_optimal_pct",
    "wake_latency_us_p50",
    "wake_latency_us_p99",
    "missed_frames_total",
    "missed_periods_total",
    "migrations_total",
];

/// No metric has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown metric `{}`; expected a metric as {}{}",
    wakeplace_text::shorten(.name),
    KEY_METRICS.join(", "),
    wakeplace_text::did_you_mean(*.nearest)
)]
pub struct UnknownMetric {
    /// The name asked for.
    pub name: String,
    /// The defined name that was meant, if one is near; no pattern.
    pub nearest: Option<&'static str>,
}

/// The definition of a metric name.
///
/// A pattern accepts any cluster name; whether the platform has the cluster shows in the values. Of
/// times it accepts those that models measure.
///
/// # Errors
/// If there is no such metric: the nearest name.
pub fn find_metric(name: &str) -> Result<&'static MetricDef, UnknownMetric> {
    let found = METRICS.iter().find(|d| d.matches(name));
    found.ok_or_else(|| UnknownMetric {
        name: name.to_owned(),
        nearest: near(name),
    })
}

/// The plain name that was meant, else the one that has the same words in another order:
/// `wake_latency_us_p99` by `wake_latency_p99_us`.
fn near(name: &str) -> Option<&'static str> {
    let in_order = |name: &str| {
        let mut words: Vec<&str> = name.split('_').collect();
        words.sort_unstable();
        words.join("_")
    };
    let by_words = || {
        let alike = |other: &&str| other.split('_').count() == name.split('_').count();
        let all = plain_names().filter(alike);
        let all: Vec<(String, &str)> = all.map(|other| (in_order(other), other)).collect();
        let found = nearest(&in_order(name), all.iter().map(|(words, _)| words.as_str()))?;
        let own = all.iter().find(|(words, _)| words == found);
        own.map(|(_, other)| *other)
    };
    nearest(name, plain_names()).or_else(by_words)
}

/// Names that are no pattern of others.
fn plain_names() -> impl Iterator<Item = &'static str> {
    let names = METRICS.iter().map(|def| def.name);
    names.filter(|name| !name.contains('{'))
}

/// The nearest of the metrics that were measured to one that was not: a slip or two apart, else the
/// shortest of those that measure the same in another unit or of more or fewer things, else one
/// with the same first and last word.
#[must_use]
pub fn measured_instead<'a>(
    metric: &str,
    measured: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let own = subject(metric);
    let is_kin = |name: &&str| subject(name).contains(own) || own.contains(subject(name));
    let kin = measured.clone().filter(is_kin);
    let like = measured.clone().filter(|name| ends(name) == ends(metric));
    let near = nearest(metric, measured);
    let near = near.or_else(|| kin.min_by_key(|name| name.len()));
    near.or_else(|| like.min_by_key(|name| name.len()))
}

/// The name of a metric without its last word, mostly the unit.
fn subject(name: &str) -> &str {
    name.rsplit_once('_').map_or(name, |(subject, _)| subject)
}

/// The first and the last word of a name.
fn ends(name: &str) -> Option<(&str, &str)> {
    name.split('_').next().zip(name.rsplit('_').next())
}
