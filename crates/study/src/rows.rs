//! From finished runs to the rows of a study.

use crate::comparison::PolicyRuns;
use crate::file::{Cell, StudyFile};
use crate::plan::Planned;
use crate::{Published, Simulated, StudyRow};
use wakeplace_metrics::{Summary, find_metric, independent, paired};

/// The rows of one case, in the order of the metrics, then of the policies. What was not measured
/// has no row.
pub(crate) fn rows(file: &StudyFile, planned: &Planned, runs: &[PolicyRuns]) -> Vec<StudyRow> {
    let mut rows = Vec::new();
    for metric in &file.metrics {
        for role in 0..runs.len() {
            rows.extend(row(file, planned, runs, (&metric.name, role)));
        }
    }
    rows
}

/// One metric of one policy; `role` is the policy's position, 0 = base.
fn row(
    file: &StudyFile,
    planned: &Planned,
    runs: &[PolicyRuns],
    (metric, role): (&str, usize),
) -> Option<StudyRow> {
    let values = |runs: &PolicyRuns| -> Vec<f64> {
        let runs = independent(&runs.metrics).iter();
        let values = runs.filter_map(|m| m.values.get(metric));
        values.collect()
    };
    let measured = values(&runs[role]);
    if measured.is_empty() {
        return None;
    }
    let summary = Summary::of(&measured);
    let cell = |policy: usize| {
        planned.published_case.map(|case| Cell {
            case,
            policy,
            metric: metric.to_owned(),
        })
    };
    let published = |policy: usize| cell(policy).and_then(|cell| file.published(&cell));
    let change = cell(role).and_then(|cell| file.published_change(&cell));
    let delta = (role > 0)
        .then(|| paired(&runs[0].metrics, &runs[role].metrics, metric))
        .flatten();
    Some(StudyRow {
        case: planned.token.clone(),
        params: planned.params.clone(),
        metric: metric.to_owned(),
        unit: find_metric(metric).map_or("", |def| def.unit).to_owned(),
        policy: runs[role].policy.clone(),
        published: published(role),
        simulated: Simulated {
            mean: summary.mean,
            rsd_pct: summary.rsd_pct,
            n: summary.n,
        },
        published_change: change,
        published_delta_pct: (role > 0)
            .then(|| published_delta(published(0), published(role)))
            .flatten()
            .or(change.map(|change| change.delta_pct)),
        simulated_delta_pct: delta.map(|d| d.delta_pct),
        simulated_delta_ci95: delta.and_then(|d| d.bounds()),
        simulated_delta_method: delta.map(|d| d.method),
        calibrated: planned.as_written && cell(role).is_some_and(|cell| file.is_calibrated(&cell)),
        robust: None,
    })
}

/// Published change, from the published means.
fn published_delta(base: Option<Published>, other: Option<Published>) -> Option<f64> {
    let (base, other) = (base?.mean, other?.mean);
    (base != 0.0).then(|| (other - base) / base.abs() * 100.0)
}
