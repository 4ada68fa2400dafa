//! Runs as a table: one row per run, columns by name. What CSV, Parquet and Arrow are made of
//! (docs/guide/results.md, "What a result holds").
//!
//! What must stay: names and order of columns, which programs read, and a row per run in the order
//! of the records; no name stands twice, which readers of Parquet refuse. `--export-runs`, the
//! store's export and the Python module share it. Tests by part:
//! `columns_are_those_that_some_row_has` (`of`, `with_columns`, `rows`),
//! `a_varied_platform_has_one_column` (`own_or_label`, `power`),
//! `the_first_metrics_are_those_of_the_headline` (`metric_order`),
//! sweep/tests.rs::`a_cell_is_the_run_of_a_comparison` (`records`, `metrics_of`),
//! `test_tables_hold_what_the_json_holds` (`records`, as Arrow). `study_records` and `json_pairs`
//! have no test here.
//!
//! Tests: below, crates/study/src/sweep/tests.rs::a_cell_is_the_run_of_a_comparison,
//! crates/python/tests/test_results.py::test_tables_hold_what_the_json_holds

use crate::{Comparison, PolicyRuns};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_metrics::{MODELLED, RunMetrics};
use wakeplace_outcome::{CaseProfile, SeedRun, Study, hash};

/// One run with all that it was made by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// What distinguishes it beside the columns below, as `case` or a varied key, and its value.
    pub labels: Vec<(String, String)>,
    /// Name of the platform.
    pub platform: String,
    /// Hash of all that it consists of.
    pub platform_hash: String,
    /// Workload argument.
    pub workload: String,
    /// Hash of all that it consists of.
    pub workload_hash: String,
    /// Policy as typed.
    pub policy: String,
    /// All parameters of the policy in force, as a JSON object.
    pub settings: String,
    /// All switches of the machine's model in force, as a JSON object.
    pub options: String,
    /// Jitter; empty: none.
    pub jitter: String,
    /// Simulated time asked for, ns.
    pub duration_ns: u64,
    /// Seed.
    pub seed: u64,
    /// Hash over all events, hexadecimal.
    pub event_hash: String,
    /// Hash of what happened, hexadecimal.
    pub behaviour_hash: String,
    /// Empty; or why the run is none: it got stuck, or could not be made.
    pub error: String,
    /// Metrics by name.
    pub metrics: BTreeMap<String, f64>,
    /// [`MODELLED`] where nobody measured the power that joules and watts are made of; else empty.
    pub power: &'static str,
}

impl RunRecord {
    /// With the word for the power of its platform, by whether nobody measured it.
    #[must_use]
    pub fn with_power(self, modelled: bool) -> Self {
        Self {
            power: power(modelled),
            ..self
        }
    }
}

/// The word in the column `power`: a model's, or empty where somebody measured it.
fn power(modelled: bool) -> &'static str {
    if modelled { MODELLED } else { "" }
}

/// Values of a column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub enum RunValues {
    /// Text; None: the row has none.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Numbers; None: not measured.
    Real(Vec<Option<f64>>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct RunColumn {
    /// Its name; of a metric the metric's.
    pub name: String,
    /// Its values.
    pub values: RunValues,
}

/// A table of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunTable {
    /// Columns of the same length: first what a run is made by, then what was measured.
    pub columns: Vec<RunColumn>,
}

impl RunTable {
    /// A table of records. `labels` and `metrics` are the columns that not all records need have;
    /// [`RunTable::of`] takes those that they do have.
    #[must_use]
    pub fn with_columns(records: &[RunRecord], labels: &[String], metrics: &[String]) -> Self {
        let text = |name: &str, of: &dyn Fn(&RunRecord) -> &str| RunColumn {
            name: name.to_owned(),
            values: RunValues::Text(
                records
                    .iter()
                    .map(|r| own_or_label(r, name, of(r)))
                    .collect(),
            ),
        };
        let whole = |name: &str, of: &dyn Fn(&RunRecord) -> u64| RunColumn {
            name: name.to_owned(),
            values: RunValues::Whole(records.iter().map(of).collect()),
        };
        // What has a column anyway is not there twice.
        let labels = labels
            .iter()
            .filter(|name| !OWN_LABELS.contains(&name.as_str()));
        let mut columns: Vec<RunColumn> = labels.map(|l| label(records, l)).collect();
        columns.extend([
            text("platform", &|r| &r.platform),
            text("workload", &|r| &r.workload),
            text("policy", &|r| &r.policy),
            whole("seed", &|r| r.seed),
            whole("duration_ns", &|r| r.duration_ns),
            text("jitter", &|r| &r.jitter),
            text("error", &|r| &r.error),
            text("power", &|r| r.power),
            text("event_hash", &|r| &r.event_hash),
            text("behaviour_hash", &|r| &r.behaviour_hash),
            text("platform_hash", &|r| &r.platform_hash),
            text("workload_hash", &|r| &r.workload_hash),
            text("settings", &|r| &r.settings),
            text("options", &|r| &r.options),
            text("version", &|_| env!("CARGO_PKG_VERSION")),
        ]);
        columns.extend(metrics.iter().map(|name| {
            RunColumn {
                name: name.clone(),
                values: RunValues::Real(
                    records
                        .iter()
                        .map(|r| r.metrics.get(name).copied())
                        .collect(),
                ),
            }
        }));
        Self { columns }
    }

    /// A table of records with all columns that they have.
    #[must_use]
    pub fn of(records: &[RunRecord]) -> Self {
        let mut labels: Vec<String> = Vec::new();
        for (name, _) in records.iter().flat_map(|record| &record.labels) {
            if !labels.contains(name) {
                labels.push(name.clone());
            }
        }
        let metrics = records.iter().flat_map(|record| record.metrics.keys());
        let metrics: BTreeSet<String> = metrics.cloned().collect();
        let metrics: Vec<String> = metrics.into_iter().collect();
        Self::with_columns(records, &labels, &metrics)
    }

    /// Rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self.columns.first().map(|column| &column.values) {
            None => 0,
            Some(RunValues::Text(values)) => values.len(),
            Some(RunValues::Whole(values)) => values.len(),
            Some(RunValues::Real(values)) => values.len(),
        }
    }
}

/// Varied keys that are columns of every table.
const OWN_LABELS: [&str; 4] = ["platform", "workload", "policy", "jitter"];

/// What a run says of itself; one that could not be made has what was to be varied.
fn own_or_label(record: &RunRecord, name: &str, own: &str) -> Option<String> {
    let label = record
        .labels
        .iter()
        .find(|(key, _)| own.is_empty() && key == name);
    Some(label.map_or(own, |(_, value)| value).to_owned())
}

/// The column of a varied key; a record without the key has no value there.
fn label(records: &[RunRecord], name: &str) -> RunColumn {
    let of = |record: &RunRecord| {
        let mut labels = record.labels.iter();
        labels
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.clone())
    };
    RunColumn {
        name: name.to_owned(),
        values: RunValues::Text(records.iter().map(of).collect()),
    }
}

/// The metrics that a reader looks at first, of those that runs have: what the workloads are read
/// by (`own`), then what the headline of a comparison is made of.
#[must_use]
pub fn metric_order(known: &[String], own: &[String]) -> Vec<String> {
    /// Its subjects and its price, and what it names besides.
    const HEADLINE: [&str; 6] = [
        "energy_j",
        "cpu_energy_j",
        "cpu_energy_bogo",
        "wake_latency_us_p99",
        "missed_periods_total",
        "migrations_total",
    ];
    let mut names: Vec<String> = Vec::new();
    for name in own.iter().map(String::as_str).chain(HEADLINE) {
        let is_new = names.iter().all(|other| other != name);
        if is_new && known.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Key and value as a JSON object.
#[must_use]
pub fn json_object(pairs: &[(String, String)]) -> String {
    let object: serde_json::Map<String, serde_json::Value> = pairs
        .iter()
        .map(|(k, v)| (k.clone(), v.as_str().into()))
        .collect();
    serde_json::Value::Object(object).to_string()
}

/// Key and value of a JSON object of texts; nothing for any other text.
#[must_use]
pub fn json_pairs(text: &str) -> Vec<(String, String)> {
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).unwrap_or_default();
    let pair = |(key, value): (String, serde_json::Value)| match value {
        serde_json::Value::String(text) => (key, text),
        other => (key, other.to_string()),
    };
    object.into_iter().map(pair).collect()
}

/// Metrics by name.
pub(crate) fn metrics_of(run: &RunMetrics) -> BTreeMap<String, f64> {
    let values = run.values.iter();
    values
        .map(|(name, value)| (name.to_owned(), value.value))
        .collect()
}

impl Comparison {
    /// Its runs, policy by policy, seed by seed.
    #[must_use]
    pub fn records(&self) -> Vec<RunRecord> {
        let options = json_object(&self.options);
        let of = |runs: &PolicyRuns| {
            let settings = json_object(&runs.settings);
            let one = |((seed, metrics), report): ((&u64, &RunMetrics), &crate::RunReport)| {
                let stuck = PolicyRuns::stuck(report);
                RunRecord {
                    labels: Vec::new(),
                    platform: self.platform.clone(),
                    platform_hash: self.platform_hash.clone(),
                    workload: self.workload.clone(),
                    workload_hash: self.workload_hash.clone(),
                    policy: runs.policy.clone(),
                    settings: settings.clone(),
                    options: options.clone(),
                    jitter: self.jitter.clone().unwrap_or_default(),
                    duration_ns: self.duration_ns,
                    seed: *seed,
                    event_hash: hash(report.event_hash),
                    behaviour_hash: hash(metrics.behaviour_hash),
                    error: if stuck {
                        STUCK.to_owned()
                    } else {
                        String::new()
                    },
                    metrics: metrics_of(metrics),
                    power: power(self.modelled_power),
                }
            };
            let all = self.seeds.iter().zip(&runs.metrics).zip(&runs.reports);
            all.map(one).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of).collect()
    }
}

/// What stands for a run that ended since it could go no further.
pub(crate) const STUCK: &str = "stuck";

/// The runs of a study's cases and variants.
#[must_use]
pub fn study_records(study: &Study) -> Vec<RunRecord> {
    let options = json_object(&study.options);
    let of = |profile: &CaseProfile| {
        let case = study.cases.iter().find(|case| case.case == profile.case);
        let one = |run: &SeedRun| RunRecord {
            labels: vec![
                ("study".to_owned(), study.study.clone()),
                ("case".to_owned(), profile.case.clone()),
            ],
            platform: case.map_or_else(String::new, |case| case.platform.clone()),
            platform_hash: profile.platform_hash.clone(),
            workload: case.map_or_else(String::new, |case| case.workload.clone()),
            workload_hash: run.workload_hash.clone().unwrap_or_default(),
            policy: profile.policy.clone(),
            settings: json_object(&profile.settings),
            options: options.clone(),
            jitter: String::new(),
            duration_ns: case.map_or(study.duration_ns, |case| case.duration_ns),
            seed: run.seed,
            event_hash: run.event_hash.clone(),
            behaviour_hash: run.behaviour_hash.clone(),
            error: String::new(),
            metrics: { run.metrics.iter() }
                .filter_map(|(name, value)| Some((name.clone(), (*value)?)))
                .collect(),
            power: power(case.is_some_and(|case| case.modelled_power)),
        };
        profile.seed_runs.iter().map(one).collect::<Vec<_>>()
    };
    study.profiles.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::{RunRecord, RunTable, RunValues, metric_order};

    /// Goal: what the workload is read by, energy, latency and losses, without a cap.
    #[test]
    fn the_first_metrics_are_those_of_the_headline() {
        let names = |all: &[&str]| {
            all.iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let known = names(&[
            "busy_cpus_mean",
            "cpu_energy_j",
            "energy_j",
            "migrations_total",
            "missed_periods_total",
            "throughput_per_s",
            "wake_latency_us_p99",
        ]);
        let own = names(&["throughput_per_s", "energy_j"]);
        let order = [
            "throughput_per_s",
            "energy_j",
            "cpu_energy_j",
            "wake_latency_us_p99",
            "missed_periods_total",
            "migrations_total",
        ];
        assert_eq!(metric_order(&known, &own), order);
    }

    #[test]
    fn columns_are_those_that_some_row_has() {
        let row = |label: Option<&str>, metric: &str, value: f64| RunRecord {
            labels: label
                .map(|l| ("x".to_owned(), l.to_owned()))
                .into_iter()
                .collect(),
            metrics: [(metric.to_owned(), value)].into(),
            ..RunRecord::default()
        };
        let table = RunTable::of(&[row(None, "b_j", 1.0), row(Some("1"), "a_j", 2.0)]);
        assert_eq!(table.rows(), 2);
        let by_name = |name: &str| {
            let column = table.columns.iter().find(|column| column.name == name);
            column.expect(name).values.clone()
        };
        assert_eq!(
            by_name("x"),
            RunValues::Text(vec![None, Some("1".to_owned())])
        );
        assert_eq!(by_name("a_j"), RunValues::Real(vec![None, Some(2.0)]));
        assert_eq!(by_name("b_j"), RunValues::Real(vec![Some(1.0), None]));
        let names: Vec<_> = table.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[0], "x");
        assert_eq!(names[names.len() - 2..], ["a_j", "b_j"]);
    }

    /// Goal: no name stands twice, which readers of Parquet refuse; and a run that could not be
    /// made says what it was to be.
    #[test]
    fn a_varied_platform_has_one_column() {
        let labels = vec![("platform".to_owned(), "juno-r0".to_owned())];
        let made = RunRecord {
            labels: labels.clone(),
            platform: "juno-r0".to_owned(),
            ..RunRecord::default()
        };
        let failed = RunRecord {
            labels,
            error: "why".to_owned(),
            power: wakeplace_metrics::MODELLED,
            ..RunRecord::default()
        };
        let table = RunTable::of(&[made, failed]);
        let named = table.columns.iter().filter(|c| c.name == "platform");
        let values: Vec<_> = named.map(|c| c.values.clone()).collect();
        let both = vec![Some("juno-r0".to_owned()); 2];
        assert_eq!(values, [RunValues::Text(both)]);
        let power = table.columns.iter().find(|c| c.name == "power");
        let words = ["", "modelled"].map(|word| Some(word.to_owned()));
        assert_eq!(
            power.expect("always").values,
            RunValues::Text(words.to_vec())
        );
    }
}
