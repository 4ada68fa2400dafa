//! `sim` and `compare`.

use crate::length::Length;
use crate::phrase::{
    APART, Judge, MODELLED, WHY_APART, cell, interval, is_apart, of_power, paint, short_policy,
    verdict, wrap,
};
use crate::{Align, Cell, Format, Style, Table, Tone, json, number, states};
use std::collections::BTreeMap;
use wakeplace_metrics::{KEY_METRICS, PairedDelta, Series, Summary, find_metric, paired, series};
use wakeplace_outcome::{Difference, Verdict};
use wakeplace_study::{Comparison, PolicyRuns};
use wakeplace_text::markdown;

/// Metrics of the workload's own that are shown first; machines with many CPUs can have thousands.
const MAX_OWN: usize = 12;

/// Most other metrics that are named in a comparison for people.
const MAX_OTHERS: usize = 6;

/// The result of `sim` (one policy) or `compare`. Human and CSV results leave out the warnings:
/// they are no result, and whoever prints says them elsewhere.
#[must_use]
pub fn comparison(comparison: &Comparison, format: Format, style: Style) -> String {
    match format {
        Format::Json => json::text(&json::comparison(comparison)),
        Format::Csv => csv(std::slice::from_ref(comparison)),
        Format::Human => human(comparison, style),
        Format::Md => document(comparison),
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
            let parts: Vec<String> = all.iter().map(one).collect();
            let by_chance = expected_by_chance(all.iter().map(intervals).sum());
            parts.join("\n")
                + &by_chance.map_or_else(String::new, |line| wrap(&line, style.width) + "\n")
        }
        (_, Format::Md) => all.iter().map(one).collect::<Vec<_>>().join("\n"),
    }
}

/// Differences that are judged by an interval, for the count of those that miss by chance: of every
/// metric that both policies have, since all are looked through for what else differs.
pub(crate) fn intervals(comparison: &Comparison) -> usize {
    let [base, others @ ..] = comparison.runs.as_slice() else {
        return 0;
    };
    let measured = series(&base.metrics);
    let judged = |other: &PolicyRuns| {
        let has = |metric: &&String| {
            let delta = paired(&base.metrics, &other.metrics, metric);
            delta.is_some_and(|delta| delta.ci95.is_some())
        };
        measured.keys().filter(has).count()
    };
    others.iter().map(judged).sum()
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

fn length(comparison: &Comparison) -> String {
    let length = Length {
        to_the_end: comparison.runs.iter().all(PolicyRuns::all_tasks_ended),
        longest_ns: comparison.duration_ns,
    };
    length.shown()
}

fn human(comparison: &Comparison, style: Style) -> String {
    let line = |line: &String| wrap(line, style.width) + "\n";
    let mut text: String = heading(comparison).iter().map(line).collect();
    text.push('\n');
    text.push_str(&tables(comparison, Format::Human, style));
    let lines = verdicts(comparison);
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines {
        let wrapped = wrap(&line.text, style.width);
        text.push_str(&(paint(&line, &wrapped, style) + "\n"));
    }
    let mut others = others(comparison);
    others.extend(expected_by_chance(intervals(comparison)));
    text.extend(others.iter().map(|line| wrap(line, style.width) + "\n"));
    if !comparison.notes.is_empty() {
        text.push('\n');
    }
    text.extend(comparison.notes.iter().map(line));
    text + &states::human(&comparison.states, style)
}

fn document(comparison: &Comparison) -> String {
    let lines = heading(comparison);
    let lines = lines.iter().map(|line| markdown(line) + "\n\n");
    let mut text: String = lines.collect();
    for line in verdicts(comparison) {
        text.push_str(&format!("**{}**\n\n", markdown(&line.text)));
    }
    text.push_str(&tables(comparison, Format::Md, Style::default()));
    let by_chance = expected_by_chance(intervals(comparison));
    text.extend(by_chance.map(|line| format!("\n{line}\n")));
    if !(comparison.notes.is_empty() && comparison.warnings.is_empty()) {
        text.push('\n');
    }
    let notes = comparison.notes.iter();
    text.extend(notes.map(|line| format!("- {}\n", markdown(line))));
    let warnings = comparison.warnings.iter();
    text.extend(warnings.map(|line| format!("- Warning: {}\n", markdown(line))));
    text
}

/// The key metrics of a comparison, or all metrics of a plain simulation.
fn tables(comparison: &Comparison, format: Format, style: Style) -> String {
    match comparison.runs.as_slice() {
        [] => "nothing was run\n".to_owned(),
        [one] => single(one, comparison).render(format, style),
        [base, ..] => {
            let mut text = compared(base, comparison, format).render(format, style);
            if key_metrics(comparison)
                .iter()
                .any(|name| goes_apart(comparison, name))
            {
                text.push_str(&format!("\n{}\n", wrap(WHY_APART, style.width)));
            }
            text
        }
    }
}

/// Some policy's change of the metric has another sign than the change of its mean.
fn goes_apart(comparison: &Comparison, metric: &str) -> bool {
    let [base, others @ ..] = comparison.runs.as_slice() else {
        return false;
    };
    others
        .iter()
        .any(|other| is_change_apart(base, other, metric))
}

fn is_change_apart(base: &PolicyRuns, other: &PolicyRuns, metric: &str) -> bool {
    let mean = |runs: &PolicyRuns| {
        let all = series(&runs.metrics);
        all.get(metric)
            .map(|series| Summary::of(&series.values).mean)
    };
    let delta = paired(&base.metrics, &other.metrics, metric);
    let both = mean(base).zip(mean(other)).zip(delta);
    both.is_some_and(|((from, to), delta)| is_apart(from, to, delta.delta_pct))
}

/// A metric's unit, and that nobody measured what it is made of.
#[must_use]
pub fn unit_of(metric: &str, comparison: &Comparison) -> String {
    let unit = find_metric(metric).map_or("", |def| def.unit);
    match comparison.modelled_power && of_power(metric) {
        true => format!("{unit}, {MODELLED}"),
        false => unit.to_owned(),
    }
}

/// A metric's name, and that nobody measured what it is made of.
fn named(comparison: &Comparison, metric: &str) -> String {
    match comparison.modelled_power && of_power(metric) {
        true => format!("{metric} ({MODELLED})"),
        false => metric.to_owned(),
    }
}

pub(crate) fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    match comparison.runs.as_slice() {
        // Runs that got stuck are no ground for a verdict.
        runs if runs.iter().any(PolicyRuns::is_stuck) => Vec::new(),
        [base, others @ ..] => {
            let judge = Judge {
                own: comparison.measured_by.first().map(String::as_str),
                key: &key_metrics(comparison),
                margin_pct: comparison.margin_pct,
                modelled_power: comparison.modelled_power,
            };
            let lines = others.iter().filter_map(|o| verdict(base, o, judge));
            lines.collect()
        }
        [] => Vec::new(),
    }
}

/// What the workload is measured by, then what is looked at of every run; each once.
fn key_metrics(comparison: &Comparison) -> Vec<&str> {
    let own = comparison.measured_by.iter().map(String::as_str);
    let mut names: Vec<&str> = own.take(MAX_OWN).collect();
    let others = KEY_METRICS.into_iter();
    let others: Vec<_> = others.filter(|name| !names.contains(name)).collect();
    names.extend(others);
    names
}

/// It is a cell of the table of wake-up cases, which has a file of its own.
fn of_cases(name: &str) -> bool {
    find_metric(name).is_ok_and(wakeplace_metrics::MetricDef::is_of_cases)
}

/// Names in the order of importance, then of the alphabet.
fn ordered<'a>(all: &'a BTreeMap<String, Series>, key: &[&'a str]) -> Vec<&'a str> {
    let first = key.iter().copied().filter(|name| all.contains_key(*name));
    let rest = all.keys().map(String::as_str);
    let rest = rest.filter(|name| !of_cases(name));
    first
        .chain(rest.filter(|name| !key.contains(name)))
        .collect()
}

pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    let value = number::short(value);
    match unit {
        "" | "count" => value,
        unit => format!("{value} {}", number::unit(unit)),
    }
}

fn single(runs: &PolicyRuns, comparison: &Comparison) -> Table {
    let many = runs.metrics.len() > 1;
    let mut columns = vec![runs.policy.as_str(), "mean"];
    if many {
        columns.extend(["spread", "±95 % CI"]);
    }
    let mut table = Table::new("metrics", &columns).as_typed();
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    let all = series(&runs.metrics);
    for name in ordered(&all, &key_metrics(comparison)) {
        let series = &all[name];
        let summary = Summary::of(&series.values);
        let mut cells = vec![
            named(comparison, name).into(),
            with_unit(summary.mean, series.unit).into(),
        ];
        if many {
            cells.push(number::spread(summary.rsd_pct).into());
            cells.push(summary.ci95.map(number::short).into());
        }
        table.row(cells);
    }
    table
}

/// The key metrics, policy by policy. For people the metrics head their groups, so that the table
/// stays narrow.
fn compared(base: &PolicyRuns, comparison: &Comparison, format: Format) -> Table {
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
    let runs = comparison.runs.iter();
    let all: Vec<_> = runs.map(|runs| (runs, series(&runs.metrics))).collect();
    for metric in key_metrics(comparison) {
        let having = |(runs, all): &(&PolicyRuns, BTreeMap<String, Series>)| {
            all.get(metric)
                .map(|series| figure_cells((base, runs), metric, series, comparison.margin_pct))
        };
        let rows: Vec<_> = all
            .iter()
            .filter_map(|one| Some((one.0, having(one)?)))
            .collect();
        if grouped && !rows.is_empty() {
            let mut heading = vec![Cell::Empty; columns.len()];
            heading[0] = Cell::Toned(Tone::Heading, named(comparison, metric));
            table.row(heading);
        }
        for (runs, figures) in rows {
            let policy = short_policy(&base.policy, &runs.policy);
            let mut cells: Vec<Cell> = if grouped {
                vec![format!("  {policy}").into()]
            } else {
                let metric = named(comparison, metric);
                vec![metric.into(), runs.policy.as_str().into()]
            };
            cells.extend(figures);
            table.row(cells);
        }
    }
    table
}

fn figure_cells(
    (base, runs): (&PolicyRuns, &PolicyRuns),
    metric: &str,
    series: &Series,
    margin_pct: f64,
) -> [Cell; 5] {
    let summary = Summary::of(&series.values);
    let spread = (summary.n > 1).then(|| number::spread(summary.rsd_pct));
    let delta = (!std::ptr::eq(base, runs))
        .then(|| paired(&base.metrics, &runs.metrics, metric))
        .flatten();
    let change = |delta: &PairedDelta| number::change(delta.delta_pct);
    let mark = match delta.is_some() && is_change_apart(base, runs, metric) {
        true => APART,
        false => "",
    };
    [
        with_unit(summary.mean, series.unit).into(),
        spread.into(),
        delta.map(|d| change(&d) + mark).into(),
        delta.and_then(|d| interval(d.ci95)).into(),
        delta.map(|d| cell(d.difference(metric, margin_pct))).into(),
    ]
}

/// The largest differences beyond the key metrics, and where the rest is.
fn others(comparison: &Comparison) -> Vec<String> {
    let [base, others @ ..] = comparison.runs.as_slice() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let key = key_metrics(comparison);
    for other in others {
        let delta = |name: &String| {
            let delta = paired(&base.metrics, &other.metrics, name)?;
            let difference = delta.difference(name, comparison.margin_pct);
            let told = matches!(
                difference,
                Difference::Better | Difference::Worse | Difference::Other
            );
            told.then(|| (delta.delta_pct, name.clone()))
        };
        let names = series(&base.metrics).into_keys();
        let names = names.filter(|name| !key.contains(&name.as_str()) && !of_cases(name));
        let mut all: Vec<_> = names.filter_map(|name| delta(&name)).collect();
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
