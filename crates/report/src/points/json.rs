//! A sweep as the JSON that pages and `diff` read (docs/guide/results.md, "Sweeps").
//!
//! What must stay: keys of points are the columns of the table; settings stand once, and of a point
//! only where they are others. Tests by part: `a_sweep_is_its_points_and_their_runs` (`json`),
//! `a_point_keeps_the_settings_of_its_own` (`settings_beside`).
//!
//! Tests: crates/report/src/points/tests.rs

use super::{FoundPoints, Settings};
use crate::{Format, json};
use std::collections::BTreeMap;
use wakeplace_outcome::{Check, Pairs, SCHEMA_VERSION, Sweep, SweepChoice};

/// What is known of a sweep beside its points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepFacts {
    /// Commit of the program; empty: nobody said.
    pub commit: String,
    /// Metrics that the workloads are measured by.
    pub measured_by: Vec<String>,
    /// The conditions as they were typed.
    pub conditions: Vec<String>,
    /// The conditions, judged on each point.
    pub checks: Vec<Check>,
    /// What is true of platforms and policies that take part.
    pub notes: Vec<String>,
    /// What a reader should know before believing the figures.
    pub warnings: Vec<String>,
}

impl FoundPoints {
    /// All of it as a JSON object.
    #[must_use]
    pub fn json(&self, facts: &SweepFacts) -> String {
        let runs = self.rows.iter().filter_map(|row| row.runs.clone());
        let sweep = Sweep {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: Some(facts.commit.clone()).filter(|commit| !commit.is_empty()),
            varied: self.shape.varied.clone(),
            base: self.base.clone().map(Pairs::from),
            margin_pct: Some(self.shape.margin_pct),
            measured_by: facts.measured_by.clone(),
            settings: self.first.clone().into_iter().collect(),
            points: self.table(Format::Json, (0, 0)).objects(),
            point_runs: runs.collect(),
            choice: self.choice.clone().map(|choice| SweepChoice {
                conditions: facts.conditions.clone(),
                ..choice
            }),
            checks: facts.checks.clone(),
            notes: facts.notes.clone(),
            warnings: facts.warnings.clone(),
        };
        json::text(&sweep)
    }
}

/// Settings that are not the first point's, in the order of their keys; None: absent here.
pub(super) fn settings_beside(first: &Settings, own: &Settings) -> Pairs<Option<String>> {
    let others = own
        .iter()
        .filter(|(key, value)| first.get(*key) != Some(*value));
    let others = others.map(|(key, value)| (key.clone(), Some(value.clone())));
    let absent = first.keys().filter(|key| !own.contains_key(*key));
    let absent = absent.map(|key| (key.clone(), None));
    let all: BTreeMap<String, Option<String>> = others.chain(absent).collect();
    all.into_iter().collect()
}
