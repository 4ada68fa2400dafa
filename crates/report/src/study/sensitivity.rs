//! What becomes of the conclusions with assumed costs halved and doubled, as tables.

use super::power_of_case;
use crate::phrase::{short_policy, title, wrap};
use crate::{Align, Cell, Format, Style, Table, Tone, number};
use wakeplace_study::{Factor, Sensitivity, SensitivityRow, StudyResult};
use wakeplace_text::markdown;

/// Marks a conclusion that is another than with nothing changed.
const FLIPS: &str = "!";

/// The tables for people.
pub(super) fn human(result: &StudyResult, found: &Sensitivity, style: Style) -> String {
    let mut text = String::new();
    for (name, table) in tables(result, found) {
        let table = table.render(Format::Human, style);
        text.push_str(&format!("\n{}\n{table}", title(&name, style)));
    }
    let lines = remarks(found);
    text.extend(
        lines
            .iter()
            .map(|line| format!("\n{}\n", wrap(line, style.width))),
    );
    text
}

/// The same for documents.
pub(super) fn document(result: &StudyResult, found: &Sensitivity) -> String {
    let mut text = String::new();
    for (name, table) in tables(result, found) {
        let table = table.render(Format::Md, Style::default());
        text.push_str(&format!("## {}\n\n{table}\n", markdown(&name)));
    }
    let remarks = remarks(found);
    text.extend(remarks.iter().map(|line| markdown(line) + "\n\n"));
    text
}

/// One table per metric and case: two lines per cost that acts, a column per policy.
fn tables(result: &StudyResult, found: &Sensitivity) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for metric in &result.metrics {
        for case in &found.cases {
            let ours = |row: &&SensitivityRow| row.metric == *metric && row.case == *case;
            let rows: Vec<&SensitivityRow> = found.rows.iter().filter(ours).collect();
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

fn table(result: &StudyResult, found: &Sensitivity, rows: &[&SensitivityRow]) -> Table {
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
    let acting = found
        .costs
        .iter()
        .filter(|(name, _)| !found.unused.contains(name));
    for (cost, value) in acting {
        let mut head = format!("{cost} ({value})");
        for factor in Factor::ALL {
            let here: Vec<_> = rows
                .iter()
                .filter(|row| row.cost == *cost && row.factor == factor)
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
fn change(row: &SensitivityRow) -> Cell {
    let figure = row.delta_pct.map_or_else(|| "-".to_owned(), number::change);
    if row.flips {
        let text = format!("{FLIPS} {} {figure}", row.conclusion.word());
        return Cell::Toned(Tone::Bad, text);
    }
    figure.into()
}

/// What the tables do not show.
fn remarks(found: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    if found.rows.iter().any(|row| row.flips) {
        lines.push(format!(
            "{FLIPS} not robust: the conclusion is another one than with nothing changed"
        ));
    }
    if !found.unused.is_empty() {
        lines.push(format!(
            "Assumed, and without any effect in these runs: {}.",
            found.unused.join(", ")
        ));
    }
    for (cost, why) in &found.except {
        lines.push(format!("Assumed, and not tried: {cost}: {why}"));
    }
    lines
}
