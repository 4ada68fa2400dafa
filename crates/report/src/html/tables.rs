//! Tables of metrics: of each its policies, mean and change beside each other
//! (docs/guide/report.md).
//!
//! What must stay: all figures are in the JSON; a result of schema 1 has no word for a difference,
//! and `difference` finds it from the interval. Words and looks may change. Tests by part:
//! `notes_have_code_and_losses_from_nothing_have_chips` (`important`, `row`),
//! `results_of_version_1_are_read` (`difference`), `modelled_joules_have_a_word` (`all`),
//! `it_can_be_read_without_eyes_and_without_a_mouse` (captions). `alone` has no test of its own.
//!
//! Callers: compared.rs (`all`).
//!
//! Tests: crates/report/src/html/tests.rs

use super::cases;
use super::compared::{badge, figure, label};
use super::figures::{self, unit};
use super::view::{Block, Cell, Section, Table, tone};
use crate::comparison::goes_apart;
use crate::phrase::finite as ends;
use crate::{number, phrase};
use wakeplace_metrics::{Better, find_metric};
use wakeplace_outcome::{Comparison, Delta, Run};

/// The metrics that a comparison is read by.
pub(super) fn important(id: &str, result: &Comparison, key: &[&str]) -> Table {
    let caption = "The important metrics: means over the seeds, changes from the base";
    let mut table = Table::new(format!("{id}-key"), caption, &COLUMNS);
    table.cards = true;
    for name in key {
        let first = table.rows.len();
        for run in &result.runs {
            let head = match table.rows.len() == first {
                true => Cell::head(label(result, name)).small(*name),
                false => Cell::default(),
            };
            table.rows.extend(row(head, result, run, name));
        }
    }
    table
}

/// Of a table of metrics and policies.
const COLUMNS: [&str; 5] = [
    "metric",
    "policy",
    "#mean ±\u{a0}95\u{a0}%",
    "#change, 95\u{a0}%\u{a0}CI",
    "difference",
];

/// The figures of one policy; none where it has no such metric.
fn row(head: Cell, result: &Comparison, run: &Run, name: &str) -> Option<Vec<Cell>> {
    let base = &result.runs[0].policy;
    let metric = run.metrics.value(name)?;
    let own = |d: &&Delta| d.metric == name && d.other == run.policy;
    let delta = { result.deltas().iter() }
        .find(own)
        .filter(|_| run.policy != *base);
    let mean = Cell::from(metric.mean.map(|mean| unit(mean, &metric.unit)));
    let spread = metric
        .ci95
        .map(|ci| format!("±\u{a0}{}", number::short(ci)));
    let interval = delta.and_then(|d| figures::interval(ends(d.ci95)));
    let word = delta.map(difference).unwrap_or_default();
    let apart = delta.is_some_and(|delta| goes_apart(result, delta));
    let mark = if apart { phrase::APART } else { "" };
    let change = match delta.and_then(|delta| figure(result, delta)) {
        Some(figure) => figure + mark,
        None if run.policy == *base => "base".to_owned(),
        None => "–".to_owned(),
    };
    Some(vec![
        head,
        Cell::of(phrase::short_policy(base, &run.policy)),
        mean.small(spread.unwrap_or_default()),
        Cell::of(change).small(interval.unwrap_or_default()),
        Cell::of(badge(word)).tone(tone(word)),
    ])
}

/// What a difference means, as the terminal's tables say it.
pub(super) fn difference(delta: &Delta) -> &str {
    if let Some(word) = &delta.difference {
        return word;
    }
    if let Some(word) = phrase::instead(delta) {
        return word;
    }
    // Schema 1: whether the interval excludes 0.
    let (Some(pct), Some(significant)) = (delta.delta_pct, delta.significant) else {
        return "";
    };
    if ends(delta.ci95).is_none() && !significant {
        return "one seed";
    }
    if !significant {
        return "none seen";
    }
    match find_metric(&delta.metric).map_or(Better::Neither, |def| def.better) {
        Better::Lower if pct < 0.0 => "better",
        Better::Higher if pct > 0.0 => "better",
        Better::Lower | Better::Higher => "worse",
        Better::Neither => "other",
    }
}

/// All that was measured, shown closed.
pub(super) fn all(id: &str, result: &Comparison) -> Section {
    let several = result.runs.len() > 1;
    let columns: &[&str] = match several {
        true => &COLUMNS,
        false => &["metric", "#mean", "#spread", "#± 95 %"],
    };
    let mut table = Table::new(format!("{id}-metrics-table"), "All metrics", columns);
    table.cards = true;
    table.folded = Some(format!(
        "All metrics of {}",
        if several { "all runs" } else { "the run" }
    ));
    let mut names: Vec<&String> = Vec::new();
    for run in &result.runs {
        names.extend(run.metrics.iter().map(|(name, _)| name));
    }
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !cases::holds(name)) {
        let doc = find_metric(name).map_or("", |def| def.doc);
        let first = table.rows.len();
        for run in &result.runs {
            let head = match table.rows.len() == first {
                true => Cell::head(label(result, name)).small(format!("{name}: {doc}")),
                false => Cell::default(),
            };
            table.rows.extend(match several {
                true => row(head, result, run, name),
                false => alone(head, run, name),
            });
        }
    }
    Section {
        id: format!("{id}-metrics"),
        title: "All metrics".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(table)],
    }
}

/// The figures of the only policy.
fn alone(head: Cell, run: &Run, name: &str) -> Option<Vec<Cell>> {
    let metric = run.metrics.value(name)?;
    Some(vec![
        head,
        metric.mean.map(|mean| unit(mean, &metric.unit)).into(),
        metric.rsd_pct.map(figures::spread).into(),
        metric.ci95.map(number::short).into(),
    ])
}
