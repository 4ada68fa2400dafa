//! Runs of the points that others are compared with, and the changes from them
//! (docs/guide/results.md, "Sweeps").
//!
//! They are read before the table is made, since a base may be the last of the points. Of their
//! runs only the metrics of the table are kept.
//!
//! What must stay: changes are `wakeplace_metrics::paired`'s, as those of `compare`; runs of one
//! seed are a pair, and runs without a result have none. Tests by part: `changes_are_from_the_base`
//! (all).
//!
//! Tests: crates/report/src/points/tests.rs::changes_are_from_the_base

use std::collections::BTreeMap;
use wakeplace_metrics::{PairedDelta, RunMetrics, paired};
use wakeplace_study::{Base, RunRecord};

/// Runs of the bases, by the numbers of their points.
#[derive(Clone, Debug)]
pub struct Bases {
    base: Base,
    metrics: Vec<String>,
    points: BTreeMap<usize, BTreeMap<u64, Kept>>,
}

/// What is kept of a run.
#[derive(Clone, Debug)]
struct Kept {
    behaviour_hash: u64,
    /// By the metrics.
    values: Vec<Option<f64>>,
}

impl Kept {
    /// Of a run that has a result.
    fn of(record: &RunRecord, metrics: &[String]) -> Self {
        let values = metrics.iter().map(|metric| record.metrics.get(metric));
        Self {
            behaviour_hash: u64::from_str_radix(&record.behaviour_hash, 16).unwrap_or(0),
            values: values.map(Option::<&f64>::copied).collect(),
        }
    }

    /// As the run that statistics are made of.
    fn run(&self, metrics: &[String]) -> RunMetrics {
        let values = metrics.iter().zip(&self.values);
        let values = values.filter_map(|(name, value)| Some((name.as_str(), (*value)?)));
        RunMetrics::kept(values, self.behaviour_hash)
    }
}

impl Bases {
    /// Of a sweep, for changes of these metrics.
    #[must_use]
    pub fn new(base: Base, metrics: &[String]) -> Self {
        Self {
            base,
            metrics: metrics.to_vec(),
            points: BTreeMap::new(),
        }
    }

    /// Keeps the runs of a point if it is a base.
    pub fn add(&mut self, number: usize, runs: &[RunRecord]) {
        if !self.is_base(number) {
            return;
        }
        let whole = runs.iter().filter(|record| record.error.is_empty());
        let runs = whole.map(|record| (record.seed, Kept::of(record, &self.metrics)));
        self.points.insert(number, runs.collect());
    }

    /// Keys and values of the base.
    pub(super) fn values(&self) -> &[(String, String)] {
        self.base.values()
    }

    /// It is what others are compared with.
    pub(super) fn is_base(&self, number: usize) -> bool {
        self.base.of(number) == number
    }

    /// By the metrics the change of a point from its base; of a base there is none.
    pub(super) fn changes(&self, number: usize, runs: &[&RunRecord]) -> Vec<Option<PairedDelta>> {
        let none = || vec![None; self.metrics.len()];
        if self.is_base(number) {
            return none();
        }
        let Some(base) = self.points.get(&self.base.of(number)) else {
            return none();
        };
        let pairs = runs.iter().filter_map(|record| {
            let own = Kept::of(record, &self.metrics);
            let base = base.get(&record.seed)?.run(&self.metrics);
            Some((base, own.run(&self.metrics)))
        });
        let (base, own): (Vec<RunMetrics>, Vec<RunMetrics>) = pairs.unzip();
        if own.is_empty() {
            return none();
        }
        let change = |metric: &String| paired(&base, &own, metric);
        self.metrics.iter().map(change).collect()
    }
}
