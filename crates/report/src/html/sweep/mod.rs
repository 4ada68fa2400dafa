//! A page's part for a sweep: what two metrics cost each other, lines along each axis, and all
//! points (docs/guide/report.md, "Sweeps").
//!
//! What must stay: figures are those of the table of points, and nothing is judged here; points of
//! different machines or loads are never weighed against each other; which point is chosen follows
//! from the rule that the page says. Words and looks may change. Tests by part:
//! `a_sweep_has_its_pictures` (`view`, `pareto`, `along`, `table`), `a_page_says_what_was_chosen`
//! (`change`, `checks`), `the_front_is_by_hand` (`front`), `a_phone_shows_a_line_for_each_column`
//! (`mean`), `what_is_expected_comes_first` (`along`, `pareto`),
//! `a_number_and_its_share_are_one_metric` (`titled`),
//! crates/cli/tests/all/sweeps.rs::`a_sweep_has_a_page` (a page of a run and of its JSON).
//!
//! Tests: crates/report/src/html/sweep/tests.rs, crates/cli/tests/all/sweeps.rs::a_sweep_has_a_page

mod answer;
mod drawn;
mod front;
mod points;
#[cfg(test)]
mod tests;

pub(crate) use points::Sweep;

use super::charts::once;
use super::figures::{self, interval, unit};
use super::view::{Block, Cell, Chart, ResultView, Section, Table, tone};
use crate::number::FROM_ZERO;
use crate::plain::plain;
use answer::answer;
use front::Front;
use points::{Change, Point};
use wakeplace_metrics::{Better, MODELLED, find_metric, of_power};
use wakeplace_text::count;

/// Choices of a chart: metrics, or pairs of them.
const MOST_CHOICES: usize = 8;
/// Rows of the table of points.
const MOST_ROWS: usize = 500;

/// A sweep's part of the page.
pub(super) fn view(id: &str, sweep: &Sweep, name: &str) -> ResultView {
    let fronts = pairs(sweep);
    let fronts: Vec<Front> = { fronts.iter() }
        .map(|(x, y)| Front::of(sweep, *x, *y))
        .filter(Front::is_one)
        .collect();
    let keys = match sweep.varied.is_empty() {
        true => "one point".to_owned(),
        false => sweep.varied.join(", "),
    };
    let mut facts: Vec<String> = Vec::new();
    for fixed in ["platform", "workload", "policy"] {
        let all = once(sweep.points.iter().map(|point| point.name(fixed)));
        match all.as_slice() {
            [one] => facts.push((*one).to_owned()),
            several => facts.push(format!("{} of {fixed}", several.len())),
        }
    }
    facts.push(count(sweep.points.len(), "point"));
    let mut sections = Vec::new();
    sections.extend(pareto(id, sweep, &fronts));
    sections.extend(along(id, sweep, fronts.first()));
    sections.push(Section {
        id: format!("{id}-points"),
        title: "All points".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(table(id, sweep, fronts.first()))],
    });
    ResultView {
        id: id.to_owned(),
        kind: "Sweep",
        title: format!("Sweep of {keys}"),
        name: name.to_owned(),
        facts,
        answer: answer(sweep, fronts.first()),
        sections,
    }
}

/// Pairs of metrics, by their places, that may cost each other: the first that is good or bad with
/// each of another unit. They differ between points, and as many points as can be have both.
fn pairs(sweep: &Sweep) -> Vec<(usize, usize)> {
    let means = |at: usize| sweep.points.iter().filter_map(move |point| point.mean(at));
    let judged = |at: &usize| {
        let def = find_metric(&sweep.metrics[*at]);
        let first = means(*at).next();
        let differs = means(*at).any(|mean| Some(mean) != first);
        differs && def.is_ok_and(|def| def.better != Better::Neither)
    };
    let unit = |at: usize| find_metric(&sweep.metrics[at]).map_or("", |def| def.unit);
    let all: Vec<usize> = (0..sweep.metrics.len()).filter(judged).collect();
    let most = all.iter().map(|at| means(*at).count()).max();
    let mut whole = all
        .into_iter()
        .filter(|at| Some(means(*at).count()) == most);
    let Some(first) = whole.next() else {
        return Vec::new();
    };
    let others = whole.filter(|at| unit(*at) != unit(first));
    others
        .map(|other| (first, other))
        .take(MOST_CHOICES)
        .collect()
}

/// The metric in words.
fn label(sweep: &Sweep, metric: usize) -> String {
    let name = &sweep.metrics[metric];
    let modelled = of_power(name) && sweep.points.iter().any(|point| point.modelled);
    match modelled {
        true => format!("{}, {MODELLED}", plain(name)),
        false => plain(name),
    }
}

/// The metric in words with its unit, for an axis.
fn titled(sweep: &Sweep, metric: usize) -> String {
    let name = label(sweep, metric);
    match find_metric(&sweep.metrics[metric]).map_or("", |def| def.unit) {
        "" => name,
        "us" => format!("{name} (µs)"),
        unit => format!("{name} ({unit})"),
    }
}

/// A mean with its unit.
fn figure(sweep: &Sweep, metric: usize, value: f64) -> String {
    let of = find_metric(&sweep.metrics[metric]).map_or("", |def| def.unit);
    unit(value, of)
}

/// One metric against another, with the front.
fn pareto(id: &str, sweep: &Sweep, fronts: &[Front]) -> Option<Section> {
    let first = fronts.first()?;
    let name = |front: &Front| {
        let (x, y) = front.metrics;
        format!("{} and {}", label(sweep, x), label(sweep, y))
    };
    let several = fronts.len() > 1;
    let diamond = match fronts.iter().any(Front::has_chosen) {
        true => [", and a diamond marks the chosen one", drawn::DIAMOND],
        false => ["", ""],
    };
    let chart = Chart {
        id: format!("{id}-front"),
        title: match several {
            true => format!("{} against", label(sweep, first.metrics.0)),
            false => name(first),
        },
        alt: format!(
            "Points of the sweep by two metrics; a line joins those on the Pareto front{}. The \
             table of points has the figures.",
            diamond[0]
        ),
        note: format!(
            "Line: the Pareto front.{} Whiskers: 95 % intervals.",
            diamond[1]
        ),
        choice: if several { "metric" } else { "" }.to_owned(),
        choices: match several {
            true => fronts.iter().map(|f| label(sweep, f.metrics.1)).collect(),
            false => Vec::new(),
        },
        half: false,
        specs: fronts.iter().map(|one| drawn::front(sweep, one)).collect(),
    };
    Some(Section {
        id: format!("{id}-pareto"),
        title: "What one costs of the other".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Chart(chart)],
    })
}

/// Lines along each axis; metrics of conditions come first.
fn along(id: &str, sweep: &Sweep, front: Option<&Front>) -> Option<Section> {
    let told = |at: &usize| sweep.points.iter().any(|point| point.mean(*at).is_some());
    let mut metrics: Vec<usize> = (0..sweep.metrics.len()).filter(told).collect();
    // A stable sort: both parts keep their order.
    metrics.sort_by_key(|at| !sweep.is_expected(*at));
    metrics.truncate(MOST_CHOICES);
    let fixed = ["platform", "workload", "policy"];
    let keys = sweep
        .varied
        .iter()
        .filter(|key| !fixed.contains(&key.as_str()));
    let chart = |(at, key): (usize, &String)| {
        let lines = drawn::Lines::of(sweep, key, front)?;
        Some(Block::Chart(Chart {
            id: format!("{id}-along-{at}"),
            title: format!("Along {key}"),
            alt: format!(
                "Means of a metric along {key}, with their 95 % confidence intervals. The table of \
                 points has the figures."
            ),
            note: lines.note(),
            choice: if metrics.len() > 1 { "metric" } else { "" }.to_owned(),
            choices: match metrics.len() {
                0 | 1 => Vec::new(),
                _ => metrics.iter().map(|metric| label(sweep, *metric)).collect(),
            },
            half: false,
            specs: metrics
                .iter()
                .map(|metric| lines.spec(sweep, *metric))
                .collect(),
        }))
    };
    let blocks: Vec<Block> = keys.enumerate().filter_map(chart).collect();
    (!blocks.is_empty() && !metrics.is_empty()).then(|| Section {
        id: format!("{id}-along"),
        title: "Along each axis".to_owned(),
        lead: String::new(),
        blocks,
    })
}

/// All points, those of the front marked.
fn table(id: &str, sweep: &Sweep, front: Option<&Front>) -> Table {
    let metrics: Vec<String> = sweep
        .metrics
        .iter()
        .map(|name| format!("#{name}"))
        .collect();
    let names = sweep.telling();
    let mut columns: Vec<&str> = names.iter().map(String::as_str).collect();
    columns.push("#n");
    columns.extend(metrics.iter().map(String::as_str));
    let judged = sweep.points.iter().any(|point| point.holds.is_some());
    columns.extend(judged.then_some("checks"));
    let marked = front.is_some() || sweep.result.choice.is_some();
    columns.extend(marked.then_some("front"));
    let left = sweep.points.len().saturating_sub(MOST_ROWS);
    let caption = match left {
        0 => "Means of each point, with half of the width of their 95 % intervals".to_owned(),
        left => format!("The first {MOST_ROWS} points; the sweep's table has {left} more"),
    };
    let mut table = Table::new(format!("{id}-table"), caption, &columns);
    table.lines = true;
    for (at, point) in sweep.points.iter().enumerate().take(MOST_ROWS) {
        let mut row: Vec<Cell> = Vec::with_capacity(columns.len());
        for name in &names {
            let value = point.name(name);
            row.push(match row.is_empty() {
                true => Cell::head(value),
                false => Cell::of(value),
            });
        }
        row.push(Cell::of(point.n.to_string()));
        row.extend((0..sweep.metrics.len()).map(|metric| mean(sweep, point, metric)));
        if judged {
            row.push(checks(point));
        }
        if marked {
            let word = match (point.is_chosen, front) {
                (true, _) => "chosen",
                (false, Some(front)) => front.word(at),
                (false, None) => "",
            };
            row.push(match word {
                "" => Cell::default(),
                word => Cell::of(word).tone("better"),
            });
        }
        table.rows.push(row);
    }
    table
}

/// Whether a point holds all conditions.
fn checks(point: &Point) -> Cell {
    match point.holds {
        Some(true) => Cell::of("hold").tone("better"),
        Some(false) => Cell::of("not all hold").tone("worse"),
        None => Cell::default(),
    }
}

/// A mean, below it its interval and its change from the base.
fn mean(sweep: &Sweep, point: &Point, metric: usize) -> Cell {
    let Some(value) = point.mean(metric) else {
        return Cell::from(None);
    };
    let half = point.half(metric);
    let half = half.map(|half| format!("±{}", crate::short(half)));
    let found = point.change(metric);
    let base = point.is_base.then(|| "base".to_owned());
    let change = found.map(|found| change(found, true)).or(base.clone());
    let brief = found.map(|found| self::change(found, false)).or(base);
    let brief = brief.or_else(|| half.clone()).unwrap_or_default();
    let small: Vec<String> = half.into_iter().chain(change).collect();
    let cell = Cell::of(figure(sweep, metric, value))
        .small(small.join("; "))
        .brief(brief);
    match found {
        Some(found) => cell.tone(tone(&found.word)),
        None => cell,
    }
}

/// A change in words: percent, perhaps its interval, and what it means.
fn change(of: &Change, with_interval: bool) -> String {
    let pct = of.pct.map_or_else(|| FROM_ZERO.to_owned(), figures::change);
    let ends = interval(of.ends).filter(|_| with_interval);
    let ends = ends.map_or_else(String::new, |ends| format!(" ({ends})"));
    format!("{pct}{ends} {}", of.word)
}
