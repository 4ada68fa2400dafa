//! Energy against latency over all cases: geometric means, and where a rival beats ours
//! (studies/README.md).
//!
//! What must stay: means and pairs are `wakeplace_study::tradeoff`'s, and ratios are to the base,
//! which is 1; the column `over optimal` is there only if `--oracle` gave it. Words for people may
//! change. Tests by part: `tradeoffs_are_a_table` (`means`, `mean_line`, `beaten`, `beaten_line`,
//! `markdown`), the same also `human` and `means_title`.
//!
//! Callers: study.rs (`human`, `markdown`).
//!
//! Tests: crates/report/src/study/tests.rs::tradeoffs_are_a_table

use crate::phrase::title;
use crate::{Align, Cell, Format, Style, Table, number};
use wakeplace_outcome::{Beaten, Mean, Tradeoff};

const BEATEN: &str = "Cases in which a rival is better";
/// Mean distance from the best static placement (`--oracle`).
const OVER_OPTIMAL: &str = "over optimal";

/// The heading of the means; the base's policy is 1 in each.
fn means_title(found: &Tradeoff) -> String {
    format!("Geometric means over the cases, {} = 1", found.base)
}

/// Both tables for a terminal; the second only if some rival is better.
pub(super) fn human(found: &Tradeoff, style: Style) -> String {
    let means = means(found).render(Format::Human, style);
    let mut text = format!("\n{}\n{means}", title(&means_title(found), style));
    if !found.beaten.is_empty() {
        let beaten = beaten(found).render(Format::Human, style);
        text.push_str(&format!("\n{}\n{beaten}", title(BEATEN, style)));
    }
    text
}

/// The same for documents.
pub(super) fn markdown(found: &Tradeoff) -> String {
    let means = means(found).render(Format::Md, Style::default());
    let mut text = format!("## {}\n\n{means}\n", means_title(found));
    if !found.beaten.is_empty() {
        let beaten = beaten(found).render(Format::Md, Style::default());
        text.push_str(&format!("## {BEATEN}\n\n{beaten}\n"));
    }
    text
}

/// Geometric means of energy and latency by policy.
fn means(found: &Tradeoff) -> Table {
    let time = found.time.join(" + ");
    let mut columns = vec![
        "cases",
        "n",
        "policy",
        &found.energy,
        &found.latency,
        &time,
        "most energy",
    ];
    let distances = found
        .means
        .iter()
        .any(|mean| mean.over_optimal_pct.is_some());
    if distances {
        columns.push(OVER_OPTIMAL);
    }
    let mut table = Table::new("tradeoff", &columns).keys(3);
    for column in ["n", &found.energy, &found.latency, &time, OVER_OPTIMAL] {
        table = table.align(column, Align::Right);
    }
    for mean in &found.means {
        let mut line = mean_line(mean);
        if distances {
            line.push(
                mean.over_optimal_pct
                    .map(|pct| format!("{pct:.1} %"))
                    .into(),
            );
        }
        table.row(line);
    }
    table
}

/// A policy's means as cells: ratios to the base with three decimals, then its worst case.
fn mean_line(mean: &Mean) -> Vec<Cell> {
    let ratio = |ratio: Option<f64>| -> Cell { ratio.map(|r| format!("{r:.3}")).into() };
    vec![
        mean.group.as_str().into(),
        mean.cases.to_string().into(),
        mean.column.as_str().into(),
        ratio(mean.energy_ratio),
        ratio(mean.latency_ratio),
        ratio(mean.time_ratio),
        format!("{:.3} ({})", mean.worst_energy_ratio, mean.worst_case).into(),
    ]
}

/// A row for each case in which a rival is better, as `wakeplace_study::tradeoff` says it.
fn beaten(found: &Tradeoff) -> Table {
    let columns = ["case", "policy", &found.energy, &found.latency];
    let mut table = Table::new("beaten", &columns)
        .keys(2)
        .align(&found.energy, Align::Right)
        .align(&found.latency, Align::Right);
    for row in &found.beaten {
        table.row(beaten_line(row));
    }
    table
}

/// One of those: the rival's changes of energy and latency from ours, percent.
fn beaten_line(row: &Beaten) -> Vec<Cell> {
    vec![
        row.case.as_str().into(),
        row.rival.as_str().into(),
        number::change(row.energy_pct).into(),
        number::change(row.latency_pct).into(),
    ]
}
