//! `sim` and `compare` (docs/guide/results.md, "Intervals"). JSON, CSV and Markdown have the
//! figures that people see; names of columns stay.
//!
//! What must stay: columns of CSV, and the order of metrics (those of the workload, those of every
//! run, then the alphabet) and of policies (as asked for, the base first). What a difference means
//! is judged by `phrase.rs` alone; runs that got stuck have no verdict. Words for people may
//! change. Tests by part: `people_get_result_spread_and_verdict` (`human`, `heading`, `others`),
//! `markdown_is_a_table_with_its_verdict` (`document`), `csv_has_every_metric_of_every_policy` and
//! `a_loss_from_nothing_is_told` (`csv_rows`, `figure_cells`), `a_headline_names_the_price`
//! (`verdicts`, `key_metrics`), `all_that_is_judged_is_counted` (`intervals`,
//! `expected_by_chance`), `expected_misses_are_rounded_like_at_school` (`shown_misses`),
//! `a_mean_that_goes_another_way_explains_itself` (`goes_apart`), `modelled_joules_say_so`
//! (`named`, `single`), `narrow_terminals_get_tables_as_narrow_as_whole_words_allow` (`compared`,
//! `comparisons`), results.rs::`periods_are_compared_task_by_task` (`tasks_of`), all (`comparison`,
//! `tables`, `length`, `of_cases`, `mean`, `with_unit`, `unit_of`),
//! `csv_has_every_metric_of_every_policy` (`csv`).
//!
//! Callers: html/compared.rs (`expected_by_chance`, `key_metrics`), json.rs (`intervals`,
//! `verdicts`), diff.rs (`human`, `document`), crates/cli/src/expect.rs (`unit_of`),
//! html/figures.rs (`with_unit`), study.rs (`expected_by_chance`).
//!
//! Tests: crates/report/src/comparison/tests.rs,
//! crates/cli/tests/all/results.rs::compare_and_sim_follow_the_contract,
//! crates/cli/tests/all/results.rs::periods_are_compared_task_by_task

use crate::length::Length;
use crate::phrase::{
    APART, Judge, MODELLED, WHY_APART, cell, instead, interval, is_apart, is_judged, of_power,
    paint, short_policy, verdict, wrap,
};
use crate::{
    Align, Cell, Format, Style, Table, Tone, clusters, json, late_frames, number, states, tasks,
    why,
};
use wakeplace_metrics::{KEY_METRICS, Summary, find_metric, paired, series};
use wakeplace_outcome::{self as outcome, Delta, Difference, Metric, Run, TaskPeriods, Verdict};
use wakeplace_study::{Comparison, PolicyRuns};
use wakeplace_text::{markdown, printable};

/// Metrics of the workload's own that are shown first; machines with many CPUs can have thousands.
const MAX_OWN: usize = 12;

/// What stands where a metric was asked for that no run has.
const NOT_MEASURED: &str = "not measured";

/// Most other metrics that are named in a comparison for people.
const MAX_OTHERS: usize = 6;

/// The result of `sim` (one policy) or `compare`. Human and CSV results leave out the warnings:
/// they are no result, and whoever prints says them elsewhere.
#[must_use]
pub fn comparison(comparison: &Comparison, format: Format, style: Style) -> String {
    match format {
        Format::Json => json::text(&json::comparison(comparison)),
        Format::Csv => csv(std::slice::from_ref(comparison)),
        Format::Human => human(comparison, &json::comparison(comparison), style),
        Format::Md => document(comparison, &json::comparison(comparison)),
    }
}

/// Several of them: a matrix of platforms and workloads. One of them is as [`comparison`] has it.
#[must_use]
pub fn comparisons(all: &[Comparison], format: Format, style: Style) -> String {
    let one = |one: &Comparison| comparison(one, format, style);
    match (all, format) {
        ([only], _) => one(only),
        (_, Format::Json) => json::text(&json::comparisons(all)),
        (_, Format::Csv) => csv(all),
        (_, Format::Human) => {
            let results: Vec<_> = all.iter().map(json::comparison).collect();
            let by_chance = results
                .iter()
                .map(|result| intervals(result.deltas()))
                .sum();
            let by_chance = expected_by_chance(by_chance);
            let parts = all.iter().zip(&results);
            let parts: Vec<String> = parts.map(|(of, result)| human(of, result, style)).collect();
            parts.join("\n")
                + &by_chance.map_or_else(String::new, |line| wrap(&line, style.width) + "\n")
        }
        (_, Format::Md) => all.iter().map(one).collect::<Vec<_>>().join("\n"),
    }
}

/// Differences that are judged by an interval, for the count of those that miss by chance: of every
/// metric that both policies have, since all are looked through for what else differs.
pub(crate) fn intervals(deltas: &[Delta]) -> usize {
    deltas.iter().filter(|delta| delta.ci95.is_some()).count()
}

/// How many of so many 95 % intervals miss the true change by chance, for people: hundredths
/// below 1, else tenths, halves up.
fn shown_misses(intervals: usize) -> String {
    let hundredths = intervals * 5;
    if hundredths < 100 {
        let shown = format!("0.{hundredths:02}");
        return shown.trim_end_matches('0').to_owned();
    }
    let tenths = (hundredths + 5) / 10;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// What many 95 % intervals at once mean, as a sentence; None for less than two.
pub(crate) fn expected_by_chance(intervals: usize) -> Option<String> {
    (intervals > 1).then(|| {
        format!(
            "{intervals} intervals of 95 %: about {} of them are expected to miss the true \
             change by chance.",
            shown_misses(intervals)
        )
    })
}

/// Platform, workload, length and seeds in a line; then what was changed, if anything.
fn heading(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![format!(
        "{}, {}, {}, {}",
        comparison.platform,
        comparison.workload,
        length(comparison),
        number::seeds(&comparison.seeds)
    )];
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    let mut changed: Vec<String> = comparison.settings.iter().map(shown).collect();
    // What stands in the policy's name is not told once more.
    let in_name = |runs: &PolicyRuns, key: &str| {
        let (_, own) = runs.policy.split_once(':').unwrap_or_default();
        let mut keys = own
            .split(',')
            .filter_map(|setting| setting.split('=').next());
        keys.any(|own| own.trim() == key)
    };
    let of = |runs: &PolicyRuns| {
        let others = (runs.overrides.iter()).filter(|(key, _)| !in_name(runs, key));
        others.map(shown).collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> = comparison.runs.iter().map(of).collect();
    if all.iter().all(|ours| *ours == all[0]) {
        changed.extend(all.into_iter().take(1).filter(|ours| !ours.is_empty()));
    } else {
        for (runs, ours) in comparison.runs.iter().zip(all) {
            if !ours.is_empty() {
                changed.push(format!("{} with {ours}", runs.policy));
            }
        }
    }
    if !changed.is_empty() {
        lines.push(format!("set: {}", changed.join(", ")));
    }
    lines
}

/// How long the runs were, for the heading; ends of tasks are said where all of them ended.
fn length(comparison: &Comparison) -> String {
    let length = Length {
        to_the_end: comparison.runs.iter().all(PolicyRuns::all_tasks_ended),
        longest_ns: comparison.duration_ns,
    };
    length.shown()
}

/// For people: what was run, the tables, then what differs.
pub(crate) fn human(comparison: &Comparison, result: &outcome::Comparison, style: Style) -> String {
    let line = |line: &String| wrap(line, style.width) + "\n";
    let mut text: String = heading(comparison).iter().map(line).collect();
    text.push('\n');
    text.push_str(&tables(result, &comparison.shown, Format::Human, style));
    let lines = result.verdicts();
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines {
        let wrapped = wrap(&line.text, style.width);
        text.push_str(&(paint(line, &wrapped, style) + "\n"));
    }
    if comparison.shown.is_empty() {
        let told = why::told(result).into_iter();
        text.extend(told.map(|line| wrap(&printable(&line), style.width) + "\n"));
    }
    let mut others = others(result, &comparison.shown);
    others.extend(expected_by_chance(intervals(result.deltas())));
    text.extend(others.iter().map(|line| wrap(line, style.width) + "\n"));
    text.push_str(&line_tables(result, Format::Human, style));
    if !comparison.notes.is_empty() {
        text.push('\n');
    }
    text.extend(comparison.notes.iter().map(line));
    text + &states::human(&comparison.states, style)
}

/// The cache lines of each policy that was asked for them.
fn line_tables(result: &outcome::Comparison, format: Format, style: Style) -> String {
    let told = result
        .runs
        .iter()
        .filter_map(|run| Some((run, run.lines.as_ref()?)));
    let one = |(run, told): (&outcome::Run, &outcome::Lines)| {
        let name = format!("{}: what waits for cache lines", run.policy);
        let name = match format {
            Format::Md => markdown(&name),
            _ => printable(&name).into_owned(),
        };
        let table = crate::lines::table(told).render(format, style);
        format!("\n{name}\n\n{table}")
    };
    told.map(one).collect()
}

/// The same as Markdown.
pub(crate) fn document(comparison: &Comparison, result: &outcome::Comparison) -> String {
    let lines = heading(comparison);
    let lines = lines.iter().map(|line| markdown(line) + "\n\n");
    let mut text: String = lines.collect();
    for line in result.verdicts() {
        text.push_str(&format!("**{}**\n\n", markdown(&line.text)));
    }
    if comparison.shown.is_empty() {
        let told = why::told(result).into_iter();
        text.extend(told.map(|line| markdown(&line) + "\n\n"));
    }
    text.push_str(&tables(
        result,
        &comparison.shown,
        Format::Md,
        Style::default(),
    ));
    let by_chance = expected_by_chance(intervals(result.deltas()));
    text.extend(by_chance.map(|line| format!("\n{line}\n")));
    text.push_str(&line_tables(result, Format::Md, Style::default()));
    if !(comparison.notes.is_empty() && comparison.warnings.is_empty()) {
        text.push('\n');
    }
    let notes = comparison.notes.iter();
    text.extend(notes.map(|line| format!("- {}\n", markdown(line))));
    let warnings = comparison.warnings.iter();
    text.extend(warnings.map(|line| format!("- Warning: {}\n", markdown(line))));
    text
}

/// The metrics that were chosen; without a choice the key ones.
fn shown_metrics<'a>(result: &'a outcome::Comparison, chosen: &'a [String]) -> Vec<&'a str> {
    match chosen.is_empty() {
        true => key_metrics(result),
        false => chosen.iter().map(String::as_str).collect(),
    }
}

/// The key metrics of a comparison or those chosen, or all metrics of a plain simulation.
fn tables(result: &outcome::Comparison, chosen: &[String], format: Format, style: Style) -> String {
    match result.runs.as_slice() {
        [] => "nothing was run\n".to_owned(),
        [one] if chosen.is_empty() => {
            let late = late_frames::lines(&late_frames::of_runs(&result.runs), format, style);
            let table = single(one, result, chosen).render(format, style) + &late;
            table + &tasks::table(one, format, style)
        }
        [one] => single(one, result, chosen).render(format, style),
        _ => {
            let key = shown_metrics(result, chosen);
            let mut text = compared(result, &key, format).render(format, style);
            let is_key = |delta: &&Delta| key.contains(&delta.metric.as_str());
            let mut shown = result.deltas().iter().filter(is_key);
            if shown.any(|delta| goes_apart(result, delta)) {
                text.push_str(&format!("\n{}\n", wrap(WHY_APART, style.width)));
            }
            if chosen.is_empty() {
                let name = |run: &Run| short_policy(&result.runs[0].policy, &run.policy);
                let late = late_frames::of_runs(&result.runs);
                text.push_str(&late_frames::lines(&late, format, style));
                text.push_str(&clusters::table(result, name, format, style));
                text.push_str(&why::table(result, name, format, style));
                text.push_str(&tasks::several(&tasks_of(result), format, style));
            }
            text
        }
    }
}

/// The tasks of each policy, by the name that tables give it.
fn tasks_of(result: &outcome::Comparison) -> Vec<(String, &[TaskPeriods])> {
    let base = &result.runs[0].policy;
    let mut all: Vec<(String, &[TaskPeriods])> = Vec::new();
    for run in &result.runs {
        let details = run.details.as_ref();
        let tasks = details.map_or(&[][..], |of| {
            of.task_threads_run_s_periods_missed.as_slice()
        });
        all.push((short_policy(base, &run.policy), tasks));
    }
    all
}

/// The change has another sign than that of the means.
pub(crate) fn goes_apart(result: &outcome::Comparison, delta: &Delta) -> bool {
    let mean = |run: &Run| run.metrics.value(&delta.metric)?.mean;
    let other = result.runs.iter().find(|run| run.policy == delta.other);
    let both = mean(&result.runs[0]).zip(other.and_then(mean));
    let all = both.zip(delta.delta_pct);
    all.is_some_and(|((from, to), pct)| is_apart(from, to, pct))
}

/// A metric's unit, and that nobody measured what it is made of.
#[must_use]
pub fn unit_of(metric: &str, modelled_power: bool) -> String {
    let unit = find_metric(metric).map_or("", |def| def.unit);
    match modelled_power && of_power(metric) {
        true => format!("{unit}, {MODELLED}"),
        false => unit.to_owned(),
    }
}

/// A metric's name, and that nobody measured what it is made of.
fn named(result: &outcome::Comparison, metric: &str) -> String {
    match result.modelled_power && of_power(metric) {
        true => format!("{metric} ({MODELLED})"),
        false => metric.to_owned(),
    }
}

/// What the differences mean, of `runs` in which `result` has its metrics. Runs that got stuck are
/// no ground for a verdict.
pub(crate) fn verdicts(
    runs: &[PolicyRuns],
    result: &outcome::Comparison,
    unlike_lengths: bool,
) -> Vec<Verdict> {
    match runs {
        [base, others @ ..] if runs.iter().all(|runs| !runs.is_stuck()) => {
            let judge = Judge {
                own: result.measured_by.first().map(String::as_str),
                key: &key_metrics(result),
                margin_pct: result.margin_pct.unwrap_or_default(),
                modelled_power: result.modelled_power,
                unlike_lengths,
            };
            let lines = others.iter().filter_map(|o| verdict(base, o, judge));
            lines.collect()
        }
        _ => Vec::new(),
    }
}

/// Of what was measured: what the workload is measured by, then what is looked at of every run;
/// each once.
pub(crate) fn key_metrics(result: &outcome::Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let own = result.measured_by.iter().take(MAX_OWN).map(String::as_str);
    for name in own.chain(KEY_METRICS) {
        let has = |run: &Run| run.metrics.value(name).is_some();
        if !names.contains(&name) && result.runs.iter().any(has) {
            names.push(name);
        }
    }
    names
}

/// It is a cell of the table of wake-up cases, which has a file of its own.
fn of_cases(name: &str) -> bool {
    find_metric(name).is_ok_and(wakeplace_metrics::MetricDef::is_of_cases)
}

/// A value for people, behind it its unit; a count has none.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    let value = number::short(value);
    match unit {
        "" | "count" => value,
        unit => format!("{value} {}", number::unit(unit)),
    }
}

/// Metrics in the order of importance, then of the alphabet; or those that were chosen.
fn single(run: &Run, result: &outcome::Comparison, chosen: &[String]) -> Table {
    let many = run.seeds.len() > 1;
    let mut columns = vec![run.policy.as_str(), "mean"];
    if many {
        columns.extend(["spread", "±95 % CI"]);
    }
    let mut table = Table::new("metrics", &columns).as_typed();
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    let key = shown_metrics(result, chosen);
    let rest = run.metrics.iter().map(|(name, _)| name.as_str());
    let rest = rest.filter(|name| chosen.is_empty() && !of_cases(name) && !key.contains(name));
    for name in key.iter().copied().chain(rest) {
        let Some(metric) = run.metrics.value(name) else {
            // Of the key metrics there are none here that were not measured.
            let mut cells = vec![Cell::Empty; columns.len()];
            cells[..2].clone_from_slice(&[named(result, name).into(), NOT_MEASURED.into()]);
            table.row(cells);
            continue;
        };
        let mut cells = vec![named(result, name).into(), mean(metric)];
        if many {
            // One value has none.
            cells.push(number::spread(metric.rsd_pct.unwrap_or_default()).into());
            cells.push(metric.ci95.map(number::short).into());
        }
        table.row(cells);
    }
    table
}

/// The mean for people, with its unit; an empty cell where it was not measured.
fn mean(metric: &Metric) -> Cell {
    metric.mean.map(|mean| with_unit(mean, &metric.unit)).into()
}

/// Some metrics, policy by policy. For people the metrics head their groups, so that the table
/// stays narrow.
fn compared(result: &outcome::Comparison, metrics: &[&str], format: Format) -> Table {
    let grouped = format == Format::Human;
    let figures = ["mean", "spread", "change", "95 % CI", "difference"];
    let names: &[&str] = if grouped {
        &["policy"]
    } else {
        &["metric", "policy"]
    };
    let columns = [names, &figures].concat();
    let mut table = Table::new("metrics", &columns)
        .keys(names.len())
        .optional("spread");
    for column in &figures[..4] {
        table = table.align(column, Align::Right);
    }
    let base = &result.runs[0].policy;
    for metric in metrics.iter().copied() {
        if grouped {
            let mut heading = vec![Cell::Empty; columns.len()];
            heading[0] = Cell::Toned(Tone::Heading, named(result, metric));
            table.row(heading);
        }
        for run in &result.runs {
            let Some(figures) = figure_cells(result, run, metric) else {
                continue;
            };
            let mut cells: Vec<Cell> = if grouped {
                vec![format!("  {}", short_policy(base, &run.policy)).into()]
            } else {
                vec![named(result, metric).into(), run.policy.as_str().into()]
            };
            cells.extend(figures);
            table.row(cells);
        }
        let has = |run: &Run| run.metrics.value(metric).is_some();
        if !result.runs.iter().any(has) {
            let mut cells = vec![Cell::Empty; columns.len()];
            if !grouped {
                cells[0] = named(result, metric).into();
            }
            cells[names.len() - 1] = match grouped {
                true => format!("  {NOT_MEASURED}").into(),
                false => NOT_MEASURED.into(),
            };
            table.row(cells);
        }
    }
    table
}

/// None: the policy has no such metric.
fn figure_cells(result: &outcome::Comparison, run: &Run, name: &str) -> Option<[Cell; 5]> {
    let metric = run.metrics.value(name)?;
    let own = |d: &&Delta| d.metric == name && d.other == run.policy;
    let delta = result.deltas().iter().find(own);
    let change = |delta: &Delta| {
        let mark = if goes_apart(result, delta) { APART } else { "" };
        Some(number::change(delta.delta_pct?) + mark)
    };
    let difference = delta.and_then(|d| match d.difference.as_deref() {
        Some(word) => Difference::of_word(word).map(cell),
        None => instead(d).map(Cell::from),
    });
    Some([
        mean(metric),
        metric.rsd_pct.map(number::spread).into(),
        delta.and_then(change).into(),
        delta.and_then(|d| interval(d.ci95)).into(),
        difference.unwrap_or(Cell::Empty),
    ])
}

/// The largest differences beyond the metrics of the table, and where the rest is.
fn others(result: &outcome::Comparison, chosen: &[String]) -> Vec<String> {
    let [base, others @ ..] = result.runs.as_slice() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let key = shown_metrics(result, chosen);
    let told = [Difference::Better, Difference::Worse, Difference::Other].map(Difference::word);
    for other in others {
        let is_told = |delta: &&Delta| {
            let difference = delta.difference.as_deref();
            delta.other == other.policy && difference.is_some_and(|word| told.contains(&word))
        };
        let is_rest = |name: &str| !key.contains(&name) && !of_cases(name);
        let mut all: Vec<(f64, &str)> = { result.deltas().iter() }
            .filter(is_told)
            .filter_map(|delta| Some((delta.delta_pct?, delta.metric.as_str())))
            .filter(|(_, name)| is_rest(name))
            .collect();
        all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        let left = all.len().saturating_sub(MAX_OTHERS);
        let shown = all.iter().take(MAX_OTHERS);
        let shown: Vec<_> = shown
            .map(|(pct, name)| format!("{name} {}", number::change(*pct)))
            .collect();
        if shown.is_empty() {
            continue;
        }
        let more = if left > 0 {
            format!(", and {left} more")
        } else {
            String::new()
        };
        lines.push(format!(
            "Also different under {}: {}{more}.",
            short_policy(&base.policy, &other.policy),
            shown.join(", ")
        ));
    }
    if !others.is_empty() {
        lines.push("All metrics: `--format json` or `--format csv`.".to_owned());
    }
    lines
}

/// Every metric of every policy, unrounded.
fn csv(all: &[Comparison]) -> String {
    let columns = [
        "platform",
        "workload",
        "policy",
        "metric",
        "unit",
        "n",
        "mean",
        "rsd_pct",
        "ci95",
        "delta_pct",
        "delta_ci95_low",
        "delta_ci95_high",
        "significant",
        "difference",
        "method",
        "power",
    ];
    let mut table = Table::new("metrics", &columns);
    for comparison in all {
        csv_rows(comparison, &mut table);
    }
    table.render(Format::Csv, Style::default())
}

/// One row per metric and policy. Its columns stay.
fn csv_rows(comparison: &Comparison, table: &mut Table) {
    for (at, runs) in comparison.runs.iter().enumerate() {
        for (name, series) in series(&runs.metrics) {
            let summary = Summary::of(&series.values);
            let delta = (at > 0)
                .then(|| paired(&comparison.runs[0].metrics, &runs.metrics, &name))
                .flatten();
            let ci95 = delta.and_then(|d| d.ci95);
            table.row(vec![
                comparison.platform.as_str().into(),
                comparison.workload.as_str().into(),
                runs.policy.as_str().into(),
                name.as_str().into(),
                series.unit.into(),
                summary.n.into(),
                summary.mean.into(),
                summary.rsd_pct.into(),
                summary.ci95.into(),
                delta.map(|d| d.delta_pct).into(),
                ci95.map(|c| c.0).into(),
                ci95.map(|c| c.1).into(),
                delta.map(|d| d.significant).into(),
                delta
                    .filter(|_| is_judged(&name, comparison.unlike_lengths))
                    .map(|d| d.difference(&name, comparison.margin_pct).word())
                    .into(),
                delta.map(|d| d.method.word()).into(),
                (comparison.modelled_power && of_power(&name))
                    .then_some(MODELLED)
                    .into(),
            ]);
        }
    }
}

#[cfg(test)]
mod tests;
