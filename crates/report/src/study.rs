//! `study run`.

use crate::phrase::{interval, short_policy, wrap};
use crate::{Align, Cell, Format, Style, Table, json, number};
use wakeplace_study::{StudyResult, StudyRow};

/// Marks a published figure the platform was calibrated on.
const CALIBRATED: &str = "*";

/// The result of a study.
#[must_use]
pub fn study(result: &StudyResult, format: Format, style: Style) -> String {
    match format {
        Format::Json => json::text(&json::study(result)),
        Format::Csv => csv(result),
        Format::Human => human(result, style),
        Format::Md => markdown(result),
    }
}

fn heading(result: &StudyResult) -> String {
    let mut text = format!(
        "{}: {}\n{}, {}, {}{}\n",
        result.study,
        result.title,
        result.platform,
        number::duration(result.duration_ns),
        number::seeds(&result.seeds),
        if result.quick { ", reduced size" } else { "" }
    );
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    if !result.settings.is_empty() {
        let all: Vec<String> = result.settings.iter().map(shown).collect();
        text.push_str(&format!("set: {}\n", all.join(" ")));
    }
    text
}

fn human(result: &StudyResult, style: Style) -> String {
    let mut text = heading(result);
    for (title, table) in tables(result) {
        let title = if style.color {
            format!("\x1b[1m{title}\x1b[0m")
        } else {
            title
        };
        text.push_str(&format!(
            "\n{title}\n{}",
            table.render(Format::Human, style)
        ));
    }
    text.push('\n');
    for line in footnotes(result) {
        text.push_str(&(wrap(&line, style.width) + "\n\n"));
    }
    for line in result.verdict.lines() {
        text.push_str(&(wrap(line, style.width) + "\n"));
    }
    if !result.notes.is_empty() {
        text.push('\n');
    }
    for note in &result.notes {
        text.push_str(&(wrap(&format!("note: {note}"), style.width) + "\n"));
    }
    text
}

fn markdown(result: &StudyResult) -> String {
    let mut text = format!("# {}\n\n", result.title);
    text.push_str(&heading(result).replace('\n', "\n\n"));
    for line in result.verdict.lines() {
        text.push_str(&format!("**{line}**\n\n"));
    }
    for (title, table) in tables(result) {
        let table = table.render(Format::Md, Style::default());
        text.push_str(&format!("## {title}\n\n{table}\n"));
    }
    for line in footnotes(result) {
        text.push_str(&format!("{}\n\n", line.replace('*', "\\*")));
    }
    for note in &result.notes {
        text.push_str(&format!("- {note}\n"));
    }
    text.push_str("\nSources:\n\n");
    text.extend(result.sources.iter().map(|source| format!("- {source}\n")));
    text
}

/// One table per metric and kind of row: cases, variants, experiments.
fn tables(result: &StudyResult) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for kind in ["", ", variants", ", experiments"] {
        for metric in &result.metrics {
            let ours = |row: &&StudyRow| row.metric == *metric && kind_of(row) == kind;
            let rows: Vec<&StudyRow> = result.rows.iter().filter(ours).collect();
            let Some(first) = rows.first() else {
                continue;
            };
            let title = format!("{metric} ({}){kind}", first.unit);
            let experiments = first.experiment().is_some();
            tables.push((title, table(result, &rows, experiments)));
        }
    }
    tables
}

fn kind_of(row: &StudyRow) -> &'static str {
    match (row.experiment(), row.variant()) {
        (Some(_), _) => ", experiments",
        (None, Some(_)) => ", variants",
        (None, None) => "",
    }
}

fn table(result: &StudyResult, rows: &[&StudyRow], experiments: bool) -> Table {
    let published = rows.iter().any(|row| row.published.is_some());
    let mut columns = Vec::new();
    if experiments {
        columns.push("experiment");
    }
    columns.extend(["case", "policy"]);
    if published {
        columns.extend(["published", "change"]);
    }
    columns.extend(["simulated", "spread", "change", "95 % CI"]);
    if published {
        columns.push("off by");
    }
    let mut table = Table::new("rows", &columns);
    for column in &columns[columns
        .iter()
        .position(|c| *c == "policy")
        .map_or(0, |p| p + 1)..]
    {
        table = table.align(column, Align::Right);
    }
    let mut before = (None, "");
    for row in rows {
        let here = (row.experiment(), row.case.as_str());
        let word = |same: bool, word: &str| if same { "" } else { word }.into();
        let mut cells: Vec<Cell> = Vec::new();
        if experiments {
            cells.push(word(here.0 == before.0, here.0.unwrap_or("")));
        }
        cells.push(word(here == before, here.1));
        cells.extend(figures(result, row, published));
        table.row(cells);
        before = here;
    }
    table
}

/// The cells from the policy on.
fn figures(result: &StudyResult, row: &StudyRow, published: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![short_policy(&result.base_policy, &row.policy).into()];
    let mark = if row.calibrated { CALIBRATED } else { "" };
    if published {
        cells.push(row.published.map(|p| number::short(p.mean)).into());
        cells.push(row.published_delta_pct.map(number::change).into());
    }
    cells.push(format!("{}{mark}", number::short(row.simulated.mean)).into());
    let spread = (row.simulated.n > 1).then(|| number::spread(row.simulated.rsd_pct));
    cells.push(spread.into());
    cells.push(row.simulated_delta_pct.map(number::change).into());
    cells.push(interval(row.simulated_delta_ci95).into());
    if published {
        let distance = row.distance_pct().filter(|_| !row.calibrated);
        cells.push(distance.map(number::change).into());
    }
    cells
}

fn footnotes(result: &StudyResult) -> Vec<String> {
    let calibrated = result.rows.iter().any(|row| row.calibrated);
    let note = format!(
        "{CALIBRATED} the platform's board power is calibrated on this published figure: no check, \
         and not counted below"
    );
    calibrated.then_some(note).into_iter().collect()
}

fn csv(result: &StudyResult) -> String {
    let columns = [
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
    ];
    let mut table = Table::new("rows", &columns);
    for row in &result.rows {
        table.row(vec![
            result.study.as_str().into(),
            row.case.as_str().into(),
            row.experiment().into(),
            row.metric.as_str().into(),
            row.unit.as_str().into(),
            row.policy.as_str().into(),
            row.published.map(|p| p.mean).into(),
            row.published.and_then(|p| p.rsd_pct).into(),
            row.simulated.mean.into(),
            row.simulated.rsd_pct.into(),
            row.simulated.n.into(),
            row.published_delta_pct.into(),
            row.simulated_delta_pct.into(),
            row.simulated_delta_ci95.map(|c| c.0).into(),
            row.simulated_delta_ci95.map(|c| c.1).into(),
            row.calibrated.into(),
        ]);
    }
    table.render(Format::Csv, Style::default())
}

#[cfg(test)]
mod tests;
