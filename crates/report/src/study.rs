//! `study run` (studies/README.md). JSON, CSV and Markdown have the figures that people see; names
//! of columns stay.
//!
//! What must stay: names of columns; metrics and rows stand in the study's order; verdicts and
//! directions come with the result. Joules of runs of another length have no distance from
//! published ones. Words for people may change. Tests by part: `json_has_the_shape_of_the_contract`
//! (`study`), `several_results_are_one_answer` (`studies`),
//! `calibrated_cells_are_marked_and_explained` and `no_mark_without_calibration` (`figures`,
//! `footnotes`, `human`), `differences_have_the_words_of_comparisons` (`table`),
//! `runs_of_another_length_have_no_distance` and `a_change_without_means_is_shown_as_one` (`Has`),
//! `a_mean_that_goes_another_way_explains_itself` (`goes_apart`),
//! `joules_of_a_modelled_power_say_so` (`tables`), `small_things` (`document`), all (`heading`,
//! `platforms`), `joules_of_a_modelled_power_say_so` (`power_of_case`).
//!
//! Callers: study/promise.rs (`power_of_case`), study/sensitivity.rs (`power_of_case`).
//!
//! Tests: crates/report/src/study/tests.rs

mod csv;
mod promise;
mod sensitivity;
mod tradeoff;

use crate::comparison::expected_by_chance;
use crate::html::lengths;
use crate::number;
use crate::phrase::{
    APART, WHY_APART, cell, interval, is_apart, power_word, short_policy, title, wrap,
};
use crate::{Align, Cell, Format, RESULT_SCHEMA_VERSION, Style, Table, Tone, case_table, json};
use csv::csv;
use wakeplace_outcome::{Difference, Row, Studies, Study};
use wakeplace_text::markdown;

/// Marks a published figure that something was calibrated on.
const CALIBRATED: &str = "*";
/// What a change means.
const DIFFERENCE: &str = "difference";

/// The result of a study.
#[must_use]
pub fn study(result: &Study, format: Format, style: Style) -> String {
    match format {
        Format::Json => json::text(result),
        Format::Csv => csv(std::slice::from_ref(result)),
        Format::Human => human(result, style),
        Format::Md => document(result),
    }
}

/// The results of several studies; of one, as [`study`].
#[must_use]
pub fn studies(results: &[Study], format: Format, style: Style) -> String {
    match (results, format) {
        ([one], _) => study(one, format, style),
        (several, Format::Json) => json::text(&Studies {
            schema_version: RESULT_SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            studies: several.to_vec(),
        }),
        (several, Format::Csv) => csv(several),
        (several, _) => {
            let texts = several.iter().map(|result| study(result, format, style));
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What was run, in the lines before the tables.
fn heading(result: &Study) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {}", result.study, result.title),
        format!(
            "{}, {}, {}{}",
            platforms(result),
            lengths::of_study(result),
            number::seeds(&result.seeds),
            if result.quick { ", reduced size" } else { "" }
        ),
    ];
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    if !result.settings.is_empty() {
        let all: Vec<String> = result.settings.iter().map(shown).collect();
        lines.push(format!("set: {}", all.join(" ")));
    }
    lines
}

/// The platforms of the cases, the study's first.
fn platforms(result: &Study) -> String {
    let mut names = vec![result.platform.as_str()];
    for case in &result.cases {
        if !names.contains(&case.platform.as_str()) {
            names.push(&case.platform);
        }
    }
    names.join(", ")
}

/// For people.
fn human(result: &Study, style: Style) -> String {
    let lines = heading(result);
    let line = |line: &String| wrap(line, style.width) + "\n";
    let mut text: String = lines.iter().map(line).collect();
    for (name, table) in tables(result) {
        let table = table.render(Format::Human, style);
        text.push_str(&format!("\n{}\n{table}", title(&name, style)));
    }
    text.push_str(&sensitivity::human(result, style));
    if let Some(found) = &result.promise {
        text.push_str(&promise::human(result, found, style));
    }
    if let Some(found) = &result.tradeoff {
        text.push_str(&tradeoff::human(found, style));
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

/// The same as Markdown.
fn document(result: &Study) -> String {
    let mut text = format!("# {}\n\n", markdown(&result.title));
    let lines = heading(result);
    text.extend(lines.iter().map(|line| markdown(line) + "\n\n"));
    for line in result.verdict.lines() {
        text.push_str(&format!("**{}**\n\n", markdown(line)));
    }
    for (name, table) in tables(result) {
        let table = table.render(Format::Md, Style::default());
        text.push_str(&format!("## {}\n\n{table}\n", markdown(&name)));
    }
    text.push_str(&sensitivity::document(result));
    if let Some(found) = &result.promise {
        text.push_str(&promise::markdown(result, found));
    }
    if let Some(found) = &result.tradeoff {
        text.push_str(&tradeoff::markdown(found));
    }
    for line in footnotes(result) {
        text.push_str(&format!("{}\n\n", line.replace('*', "\\*")));
    }
    for note in &result.notes {
        text.push_str(&format!("- {}\n", markdown(note)));
    }
    text.push_str("\nSources:\n\n");
    let sources = result.sources.iter();
    text.extend(sources.map(|source| format!("- {}\n", markdown(source))));
    text
}

/// One table per metric and kind of row: cases, variants, experiments.
fn tables(result: &Study) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for kind in ["", "variants", "experiments"] {
        let named = match kind {
            "" => String::new(),
            kind => format!(", {kind}"),
        };
        for metric in result
            .metrics
            .iter()
            .filter(|name| !case_table::holds(name))
        {
            let ours = |row: &&Row| row.metric == *metric && row.kind() == kind;
            let rows: Vec<&Row> = result.rows.iter().filter(ours).collect();
            let Some(first) = rows.first() else {
                continue;
            };
            let modelled = rows.iter().filter(|row| row.power.is_some()).count();
            let word = power_word(metric, (modelled, rows.len()));
            let word = word.map_or_else(String::new, |word| format!(", {word}"));
            let title = format!("{metric} ({}{word}){named}", number::unit(&first.unit));
            let experiments = first.experiment().is_some();
            tables.push((title, table(result, &rows, experiments)));
        }
        let of_kind = result.rows.iter().filter(|row| row.kind() == kind);
        tables.extend(case_table::tables(
            result,
            &named,
            &of_kind.collect::<Vec<_>>(),
        ));
    }
    tables
}

/// The word for the power of the first row of a case and a metric.
pub(crate) fn power_of_case<'a>(result: &'a Study, case: &str, metric: &str) -> Option<&'a str> {
    let mut rows = result.rows.iter();
    let row = rows.find(|row| row.token() == case && row.metric == metric)?;
    row.power.as_deref()
}

/// Published beside simulated of one metric; columns that no row has are left out.
fn table(result: &Study, rows: &[&Row], experiments: bool) -> Table {
    let means = rows.iter().any(|row| row.published.is_some());
    let has = Has {
        means,
        distances: means && result.as_written,
        changes: rows.iter().any(|row| row.published_delta_pct.is_some()),
        robust: rows.iter().any(|row| row.robust.is_some()),
    };
    let mut columns = Vec::new();
    if experiments {
        columns.push("experiment");
    }
    columns.extend(["case", "policy"]);
    match (has.means, has.changes) {
        (true, _) => columns.extend(["published", "change"]),
        (false, true) => columns.push("published change"),
        (false, false) => {}
    }
    columns.extend(["simulated", "spread", "change", "95 % CI"]);
    columns.push(DIFFERENCE);
    if has.distances {
        columns.push("off by");
    }
    if has.robust {
        columns.push("assumed costs");
    }
    let policy = columns.iter().position(|c| *c == "policy");
    let keys = policy.map_or(0, |at| at + 1);
    let mut table = Table::new("rows", &columns)
        .keys(keys)
        .optional("spread")
        .part("published")
        .part("published change")
        .part("simulated")
        .part("off by");
    for column in &columns[keys..] {
        if *column != DIFFERENCE {
            table = table.align(column, Align::Right);
        }
    }
    let mut before = (None, "");
    for row in rows {
        let here = (row.experiment(), row.token());
        let word = |same: bool, word: &str| if same { "" } else { word }.into();
        let mut cells: Vec<Cell> = Vec::new();
        if experiments {
            cells.push(word(here.0 == before.0, here.0.unwrap_or("")));
        }
        cells.push(word(here == before, here.1));
        cells.extend(figures(result, row, &has));
        table.row(cells);
        before = here;
    }
    table
}

/// What some row of a table has.
struct Has {
    /// Published means.
    means: bool,
    /// Distances from these: nothing was published of runs of another length or other settings.
    distances: bool,
    /// Published changes.
    changes: bool,
    /// A word on whether its conclusion is robust.
    robust: bool,
}

/// The cells from the policy on.
fn figures(result: &Study, row: &Row, has: &Has) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![short_policy(&result.base_policy, &row.policy).into()];
    let mark = if row.calibrated { CALIBRATED } else { "" };
    if has.means {
        cells.push(row.published.map(|p| number::short(p.mean)).into());
    }
    if has.means || has.changes {
        cells.push(row.published_delta_pct.map(number::change).into());
    }
    cells.push(format!("{}{mark}", number::short(row.simulated.mean)).into());
    let spread = row.simulated.rsd_pct.map(number::spread);
    cells.push(spread.into());
    let mark = if goes_apart(result, row) { APART } else { "" };
    let change = row.simulated_delta_pct.map(number::change);
    cells.push(change.map(|change| change + mark).into());
    cells.push(interval(row.simulated_delta_ci95).into());
    let difference = row.difference.as_deref().and_then(Difference::of_word);
    cells.push(difference.map_or_else(|| "".into(), cell));
    if has.distances {
        let distance = row.distance_pct().filter(|_| !row.calibrated);
        cells.push(distance.map(number::change).into());
    }
    if has.robust {
        let word = |robust| match robust {
            true => Cell::from("robust"),
            false => Cell::Toned(Tone::Bad, "not robust".to_owned()),
        };
        cells.push(row.robust.map(word).into());
    }
    cells
}

/// The change of a row has another sign than that of its mean.
fn goes_apart(result: &Study, row: &Row) -> bool {
    let is_base = |other: &&Row| {
        other.policy == result.base_policy
            && other.metric == row.metric
            && other.case == row.case
            && other.params == row.params
    };
    let base = result.rows.iter().find(is_base);
    let both = base.zip(row.simulated_delta_pct);
    both.is_some_and(|(base, pct)| is_apart(base.simulated.mean, row.simulated.mean, pct))
}

/// What marks in the tables mean.
fn footnotes(result: &Study) -> Vec<String> {
    let calibrated = result.rows.iter().any(|row| row.calibrated);
    let note = format!(
        "{CALIBRATED} the platform's board power or an argument of the workload is calibrated on \
         this published figure: no check, and not counted below"
    );
    let mut notes: Vec<String> = calibrated.then_some(note).into_iter().collect();
    if result.rows.iter().any(|row| goes_apart(result, row)) {
        notes.push(WHY_APART.to_owned());
    }
    let intervals = result.multiplicity.map_or(0, |all| all.intervals);
    notes.extend(expected_by_chance(intervals));
    notes
}

#[cfg(test)]
pub(crate) mod tests;
