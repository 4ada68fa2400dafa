//! From finished runs to the rows of a study (studies/README.md).
//!
//! What must stay: rows stand by metric, then policy: that is the order in JSON, CSV and pages.
//! Means and spreads are in the metric's unit, changes in percent of the base; what was not
//! measured has no row; runs that are the same run count once. Tests by part:
//! `published_figures_are_those_of_the_mail` (`published_delta`),
//! `the_cell_the_platform_names_is_marked` (`row`, calibrated),
//! study/tests.rs::`a_change_published_without_means_stands_as_a_change` (a change alone),
//! study/tests.rs::`joules_without_a_board_are_absent_and_explained` (no row),
//! study/tests.rs::`threads_change_nothing_and_base_rows_have_no_change` (`judged`).
//!
//! Tests: crates/study/src/study/tests.rs

use crate::comparison::PolicyRuns;
use crate::file::{Cell, StudyFile};
use crate::plan::Planned;
use wakeplace_metrics::{
    MODELLED, PairedDelta, Summary, find_metric, independent, of_power, paired,
};
use wakeplace_outcome::{Figure, Param, PublishedSpread, Row};

/// The rows of one case, in the order of the metrics, then of the policies. What was not measured
/// has no row.
pub(crate) fn rows(
    file: &StudyFile,
    planned: &Planned,
    runs: &[PolicyRuns],
    margin_pct: f64,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for metric in &file.metrics {
        for role in 0..runs.len() {
            let row = row(file, planned, runs, (&metric.name, role));
            let delta = (role > 0)
                .then(|| paired(&runs[0].metrics, &runs[role].metrics, &metric.name))
                .flatten();
            rows.extend(row.map(|row| judged(row, delta, margin_pct)));
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
) -> Option<Row> {
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
    let experiment = planned.params.get(Row::EXPERIMENT).and_then(Param::word);
    let experiment = experiment.map_or_else(String::new, |name| format!(",{name}"));
    let modelled = of_power(metric) && !planned.platform.modelled_power().is_empty();
    Some(Row {
        case: planned.token.clone() + &experiment,
        params: planned.params.clone(),
        metric: metric.to_owned(),
        unit: find_metric(metric).map_or("", |def| def.unit).to_owned(),
        policy: runs[role].policy.clone(),
        published: published(role),
        simulated: Figure {
            mean: summary.mean,
            rsd_pct: (summary.n > 1).then_some(summary.rsd_pct),
            n: Some(summary.n),
        },
        published_change_rsd_pct: change.map(|change| PublishedSpread {
            base: change.base_rsd_pct,
            policy: change.rsd_pct,
        }),
        published_delta_pct: (role > 0)
            .then(|| published_delta(published(0), published(role)))
            .flatten()
            .or(change.map(|change| change.delta_pct)),
        calibrated: planned.as_written && cell(role).is_some_and(|cell| file.is_calibrated(&cell)),
        power: modelled.then(|| MODELLED.to_owned()),
        ..Row::default()
    })
}

/// The row with what it changed from the base.
fn judged(row: Row, delta: Option<PairedDelta>, margin_pct: f64) -> Row {
    let Some(delta) = delta else { return row };
    let difference = delta.difference(&row.metric, margin_pct);
    Row {
        simulated_delta_pct: Some(delta.delta_pct),
        simulated_delta_ci95: delta.bounds(),
        difference: Some(difference.word().to_owned()),
        ..row
    }
}

/// Published change, from the published means.
fn published_delta(base: Option<Figure>, other: Option<Figure>) -> Option<f64> {
    let (base, other) = (base?.mean, other?.mean);
    (base != 0.0).then(|| (other - base) / base.abs() * 100.0)
}
