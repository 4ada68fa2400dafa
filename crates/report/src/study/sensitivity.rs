//! What becomes of the conclusions with assumed costs halved and doubled, as tables
//! (studies/README.md).
//!
//! What must stay: which conclusions hold is `wakeplace_study::sensitivity`'s judgement; metrics
//! and cases stand in the study's order; a cost without effect has no line and is named below.
//! Words for people may change. Tests by part:
//! `a_conclusion_that_flips_is_marked_wherever_it_stands` (`human`, `document`, `table`, `change`,
//! `remarks`), the same also `tables` and `both`.
//!
//! Callers: study.rs (`human`, `document`).
//!
//! Tests: crates/report/src/study/tests.rs::a_conclusion_that_flips_is_marked_wherever_it_stands

use super::power_of_case;
use crate::phrase::{short_policy, title, wrap};
use crate::{Align, Cell, Format, Style, Table, Tone, number};
use wakeplace_outcome::{Assumed, Study, Tried};
use wakeplace_study::Factor;
use wakeplace_text::markdown;

/// Marks a conclusion that is another than with nothing changed.
const FLIPS: &str = "!";

/// The tables for people.
pub(super) fn human(result: &Study, style: Style) -> String {
    let mut text = String::new();
    for (name, table) in tables(result) {
        let table = table.render(Format::Human, style);
        text.push_str(&format!("\n{}\n{table}", title(&name, style)));
    }
    let lines = remarks(result);
    text.extend(
        lines
            .iter()
            .map(|line| format!("\n{}\n", wrap(line, style.width))),
    );
    text
}

/// The same for documents.
pub(super) fn document(result: &Study) -> String {
    let mut text = String::new();
    for (name, table) in tables(result) {
        let table = table.render(Format::Md, Style::default());
        text.push_str(&format!("## {}\n\n{table}\n", markdown(&name)));
    }
    let remarks = remarks(result);
    text.extend(remarks.iter().map(|line| markdown(line) + "\n\n"));
    text
}

/// One table per metric and case: two lines per cost that acts, a column per policy.
fn tables(result: &Study) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    let Some((tried, found)) = both(result) else {
        return tables;
    };
    for metric in &result.metrics {
        for case in &found.cases {
            let ours = |row: &&Tried| row.metric == *metric && row.case == *case;
            let rows: Vec<&Tried> = tried.iter().filter(ours).collect();
            if !rows.is_empty() {
                let word = power_of_case(result, case, metric);
                let word = word.map_or_else(String::new, |word| format!(" ({word})"));
                let title = format!(
                    "{metric}{word}, case {case}: change with assumed costs halved and doubled, {}",
                    number::seeds(&found.seeds)
                );
                tables.push((title, table(result, found, &rows)));
            }
        }
    }
    tables
}

/// What becomes of the conclusions of one case, a column per policy.
fn table(result: &Study, found: &Assumed, rows: &[&Tried]) -> Table {
    let mut policies: Vec<&str> = Vec::new();
    for row in rows {
        if !policies.contains(&row.policy.as_str()) {
            policies.push(&row.policy);
        }
    }
    let short: Vec<String> = policies
        .iter()
        .map(|policy| short_policy(&result.base_policy, policy))
        .collect();
    let heads = ["assumed cost", "x"].into_iter();
    let columns: Vec<&str> = heads.chain(short.iter().map(String::as_str)).collect();
    let mut table = Table::new("sensitivity", &columns);
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    let mut plain: Vec<Cell> = vec!["as it is".into(), "1".into()];
    for policy in &policies {
        let row = rows.iter().find(|row| row.policy == *policy);
        plain.push(
            row.and_then(|row| row.plain_delta_pct)
                .map(number::change)
                .into(),
        );
    }
    table.row(plain);
    for own in found.costs.iter().filter(|own| !own.unused) {
        let cost = &own.cost;
        let mut head = format!("{cost} ({})", own.value);
        for factor in Factor::ALL {
            let here: Vec<_> = rows
                .iter()
                .filter(|row| row.cost == *cost && row.factor == factor.value())
                .collect();
            if here.is_empty() {
                continue;
            }
            let times = format!("{}", factor.value());
            let mut cells: Vec<Cell> = vec![std::mem::take(&mut head).into(), times.into()];
            for policy in &policies {
                let row = here.iter().find(|row| row.policy == *policy);
                cells.push(row.map(|row| change(row)).into());
            }
            table.row(cells);
        }
    }
    table
}

/// The change, marked if it means something else now.
fn change(row: &Tried) -> Cell {
    let figure = row.delta_pct.map_or_else(|| "-".to_owned(), number::change);
    if row.flips {
        let text = format!("{FLIPS} {} {figure}", row.conclusion.word());
        return Cell::Toned(Tone::Bad, text);
    }
    figure.into()
}

/// What was tried and what was changed for it, if anything was.
fn both(result: &Study) -> Option<(&Vec<Tried>, &Assumed)> {
    result.sensitivity.as_ref().zip(result.assumed.as_ref())
}

/// What the tables do not show.
fn remarks(result: &Study) -> Vec<String> {
    let mut lines = Vec::new();
    let Some((tried, found)) = both(result) else {
        return lines;
    };
    if tried.iter().any(|row| row.flips) {
        lines.push(format!(
            "{FLIPS} not robust: the conclusion is another one than with nothing changed"
        ));
    }
    let unused = found.costs.iter().filter(|own| own.unused);
    let unused: Vec<&str> = unused.map(|own| own.cost.as_str()).collect();
    if !unused.is_empty() {
        lines.push(format!(
            "Assumed, and without any effect in these runs: {}.",
            unused.join(", ")
        ));
    }
    let except = found.except.iter();
    lines.extend(except.map(|own| format!("Assumed, and not tried: {}: {}", own.cost, own.why)));
    lines
}
