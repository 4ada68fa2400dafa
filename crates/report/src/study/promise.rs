//! What a study promised: per case and goal the best feature, what is kept of it, what is lost
//! (studies/README.md).
//!
//! What must stay: what counts as a gain or a loss is `wakeplace_study::promise`'s; `keys` are case
//! and goal. Words for people may change. Tests by part: `promises_are_a_table` (`table`, `line`,
//! `lost`, `markdown`), the same also `human` and `goal`.
//!
//! Callers: study.rs (`human`, `markdown`).
//!
//! Tests: crates/report/src/study/tests.rs::promises_are_a_table

use super::power_of_case;
use crate::phrase::title;
use crate::{Align, Cell, Format, Style, Table, number};
use wakeplace_outcome::{Kept, Loss, Promise, PromiseRow, Study};

const TITLE: &str = "Kept of the best single feature's gain, and lost against the base";

/// The table below its title, for a terminal.
pub(super) fn human(result: &Study, found: &Promise, style: Style) -> String {
    let table = table(result, found).render(Format::Human, style);
    format!("\n{}\n{table}", title(TITLE, style))
}

/// The table below a heading.
pub(super) fn markdown(result: &Study, found: &Promise) -> String {
    let table = table(result, found).render(Format::Md, Style::default());
    format!("## {TITLE}\n\n{table}\n")
}

/// The metric, and that nobody measured what it is made of.
fn goal(result: &Study, row: &PromiseRow) -> String {
    let word = power_of_case(result, &row.case, &row.metric);
    word.map_or_else(
        || row.metric.clone(),
        |word| format!("{} ({word})", row.metric),
    )
}

/// Per case and goal what is kept of the best gain.
fn table(result: &Study, found: &Promise) -> Table {
    let columns = [
        "case",
        "goal",
        "best feature",
        "gain",
        "by",
        "gains",
        "95 % CI",
        "kept",
        "lost",
        "verdict",
    ];
    let mut table = Table::new("promise", &columns).keys(2);
    for column in ["gain", "gains", "95 % CI", "kept"] {
        table = table.align(column, Align::Right);
    }
    for row in &found.rows {
        table.row(line(result, row));
    }
    table
}

/// One row of it.
fn line(result: &Study, row: &PromiseRow) -> Vec<Cell> {
    let kept = row.kept.as_ref();
    let interval = |kept: &Kept| {
        let ends = kept.by_ci95?;
        Some(format!(
            "{} to {}",
            number::change(ends.0),
            number::change(ends.1)
        ))
    };
    let lost: Vec<String> = row.losses.iter().map(lost).collect();
    let words = kept.map(|kept| format!("kept: {}", kept.verdict.word()));
    let worst = row
        .losses
        .iter()
        .map(|loss| format!("{}: {}", loss.column, loss.verdict.word()));
    let verdict: Vec<String> = words.into_iter().chain(worst).collect();
    vec![
        row.case.as_str().into(),
        goal(result, row).into(),
        kept.map_or("none gains", |kept| kept.feature.as_str())
            .into(),
        kept.map(|kept| number::change(kept.gain_pct)).into(),
        kept.map(|kept| kept.by.as_str()).into(),
        kept.map(|kept| number::change(kept.by_pct)).into(),
        kept.and_then(interval).into(),
        kept.map(|kept| format!("{:.0} %", kept.kept_pct)).into(),
        lost.join("; ").into(),
        verdict.join("; ").into(),
    ]
}

/// `auto 0.3 % of wake_latency_us_p99`.
fn lost(loss: &Loss) -> String {
    format!("{} {:.1} % of {}", loss.column, loss.loss_pct, loss.metric)
}
