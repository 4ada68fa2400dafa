//! A sweep as the JSON that pages and `diff` read (docs/guide/results.md, "Sweeps").
//!
//! What must stay: keys of points are the columns of the table; settings stand once, and of a point
//! only where they are others. Tests by part: `a_sweep_is_its_points_and_their_runs` (`json`,
//! `settings`).
//!
//! Tests: crates/report/src/points/tests.rs::a_sweep_is_its_points_and_their_runs

use super::FoundPoints;
use crate::{Format, json};
use std::collections::{BTreeMap, BTreeSet};
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
        let first = self.rows.iter().find_map(|row| row.runs.as_ref());
        let first: BTreeMap<&String, &String> = { first.into_iter() }
            .flat_map(|(_, settings)| settings.iter().map(|(key, value)| (key, value)))
            .collect();
        let runs = self.rows.iter().filter_map(|row| {
            let (runs, settings) = row.runs.as_ref()?;
            Some(wakeplace_outcome::PointRuns {
                settings: settings_beside(&first, settings),
                ..runs.clone()
            })
        });
        let pair = |(key, value): (&&String, &&String)| ((*key).clone(), (*value).clone());
        let sweep = Sweep {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: Some(facts.commit.clone()).filter(|commit| !commit.is_empty()),
            varied: self.shape.varied.clone(),
            base: self.base.clone().map(Pairs::from),
            margin_pct: Some(self.shape.margin_pct),
            measured_by: facts.measured_by.clone(),
            settings: first.iter().map(pair).collect(),
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

/// Settings that are not the first point's; None: absent here.
fn settings_beside(
    first: &BTreeMap<&String, &String>,
    own: &[(String, String)],
) -> Pairs<Option<String>> {
    let map: BTreeMap<&String, &String> = own.iter().map(|(key, value)| (key, value)).collect();
    let keys: BTreeSet<&String> = first.keys().chain(map.keys()).copied().collect();
    let other = keys
        .into_iter()
        .filter(|key| first.get(key) != map.get(key));
    other
        .map(|key| (key.clone(), map.get(key).map(|value| (*value).clone())))
        .collect()
}
