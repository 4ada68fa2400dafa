//! Studies as lines: first the rows of a study, then what becomes of them with assumed costs
//! changed (`cost` and `factor` say which). Names of columns stay: programs read them
//! (studies/README.md).
//!
//! What must stay: names and order of columns; studies stand as given, each with its rows, then its
//! changed costs; a cell without a value is empty, and figures are unrounded. Free: words for
//! people that no test quotes. Tests by part: `csv_has_a_line_per_row` (`of_row`),
//! `a_conclusion_that_flips_is_marked_wherever_it_stands` (`of_change`),
//! `joules_of_a_modelled_power_say_so` (column `power`), `several_results_are_one_answer` (one
//! heading), the first also `csv` and `yes_no`.
//!
//! Tests: crates/report/src/study/tests.rs

use crate::{Cell, Format, Style, Table};
use wakeplace_outcome::{Row, Study, Tried};

const COLUMNS: [&str; 23] = [
    "study",
    "case",
    "experiment",
    "metric",
    "unit",
    "policy",
    "published_mean",
    "published_rsd_pct",
    "simulated_mean",
    "simulated_rsd_pct",
    "n",
    "published_delta_pct",
    "simulated_delta_pct",
    "delta_ci95_low",
    "delta_ci95_high",
    "calibrated",
    "platform",
    "cost",
    "factor",
    "conclusion",
    "robust",
    "difference",
    "power",
];

/// All results under one heading.
pub(super) fn csv(results: &[Study]) -> String {
    let mut table = Table::new("rows", &COLUMNS);
    for result in results {
        for row in &result.rows {
            table.row(of_row(result, row));
        }
        for row in result.sensitivity.iter().flatten() {
            table.row(of_change(result, row));
        }
    }
    table.render(Format::Csv, Style::default())
}

/// A line for a row of the study, in the order of the columns.
fn of_row(result: &Study, row: &Row) -> Vec<Cell> {
    let of_change = row
        .published_change_rsd_pct
        .and_then(|change| change.policy);
    vec![
        result.study.as_str().into(),
        row.token().into(),
        row.experiment().into(),
        row.metric.as_str().into(),
        row.unit.as_str().into(),
        row.policy.as_str().into(),
        row.published.map(|p| p.mean).into(),
        row.published.and_then(|p| p.rsd_pct).or(of_change).into(),
        row.simulated.mean.into(),
        row.simulated.rsd_pct.unwrap_or(0.0).into(),
        row.simulated.n.unwrap_or_default().into(),
        row.published_delta_pct.into(),
        row.simulated_delta_pct.into(),
        row.simulated_delta_ci95.map(|c| c.0).into(),
        row.simulated_delta_ci95.map(|c| c.1).into(),
        row.calibrated.into(),
        row.platform().unwrap_or(&result.platform).into(),
        None::<&str>.into(),
        None::<&str>.into(),
        None::<&str>.into(),
        row.robust.map(yes_no).into(),
        row.difference.as_deref().into(),
        row.power.as_deref().into(),
    ]
}

/// A line for a conclusion with one cost changed, in the order of the columns.
fn of_change(result: &Study, row: &Tried) -> Vec<Cell> {
    let of_case = result
        .rows
        .iter()
        .filter(|r| r.case == row.case && r.experiment().is_none());
    let first = of_case.clone().next();
    let platform = first.and_then(Row::platform).unwrap_or(&result.platform);
    let same = of_case.clone().find(|other| other.metric == row.metric);
    let of_metric = result.rows.iter().find(|other| other.metric == row.metric);
    let nothing = || Cell::from(None::<&str>);
    vec![
        result.study.as_str().into(),
        row.case.as_str().into(),
        nothing(),
        row.metric.as_str().into(),
        of_metric.map(|other| other.unit.as_str()).into(),
        row.policy.as_str().into(),
        nothing(),
        nothing(),
        nothing(),
        nothing(),
        result
            .assumed
            .as_ref()
            .map(|found| found.seeds.len() as f64)
            .into(),
        nothing(),
        row.delta_pct.into(),
        row.ci95.map(|c| c.0).into(),
        row.ci95.map(|c| c.1).into(),
        false.into(),
        platform.into(),
        row.cost.as_str().into(),
        row.factor.into(),
        row.conclusion.word().into(),
        yes_no(!row.flips).into(),
        nothing(),
        same.and_then(|row| row.power.as_deref()).into(),
    ]
}

/// A flag as CSV has it.
fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
