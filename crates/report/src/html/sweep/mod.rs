//! A page's part for a sweep: what two metrics cost each other, lines along each axis, and all
//! points (docs/guide/report.md, "Sweeps").
//!
//! What must stay: figures are those of the table of points, which is all that is read; points of
//! different machines or loads are never weighed against each other; which point is chosen follows
//! from the rule that the page says. Words and looks may change. Tests by part:
//! `a_sweep_has_its_pictures` (`view`, `pareto`, `along`, `table`), `the_front_is_by_hand`
//! (`front`), crates/cli/tests/all/sweeps.rs::`a_sweep_has_a_page` (a page of a run and of its
//! JSON).
//!
//! Tests: crates/report/src/html/sweep/tests.rs, crates/cli/tests/all/sweeps.rs::a_sweep_has_a_page

mod drawn;
mod front;
mod points;
#[cfg(test)]
mod tests;

pub(crate) use points::Sweep;

use super::charts::once;
use super::figures::unit;
use super::view::{Answer, Block, Cell, Chart, ResultView, Section, Sentence, Table};
use crate::plain::plain;
use front::Front;
use points::Point;
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
    sections.extend(along(id, sweep));
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
        "" | "count" => name,
        "us" => format!("{name} (µs)"),
        unit => format!("{name} ({unit})"),
    }
}

/// A mean with its unit.
fn figure(sweep: &Sweep, metric: usize, value: f64) -> String {
    let of = find_metric(&sweep.metrics[metric]).map_or("", |def| def.unit);
    unit(value, of)
}

/// The chosen points, in words.
fn answer(sweep: &Sweep, front: Option<&Front>) -> Answer {
    let mut sentences = Vec::new();
    let mut sure = Vec::new();
    if let Some(front) = front {
        for group in front.groups.iter().take(MOST_CHOICES) {
            let point = &sweep.points[group.chosen];
            let of = |metric| {
                let mean = point.mean(metric).unwrap_or_default();
                format!("{} {}", label(sweep, metric), figure(sweep, metric, mean))
            };
            let place = match front.groups.len() {
                1 => String::new(),
                _ => format!("{}: ", group.name),
            };
            let name = match place.is_empty() {
                true => sweep.shown(point),
                false => sweep.within(point),
            };
            sentences.push(Sentence {
                text: format!(
                    "{place}{name} is nearest to the best of both: {}, {}",
                    of(front.metrics.0),
                    of(front.metrics.1)
                ),
                tone: "other",
                badge: "chosen".to_owned(),
                chips: Vec::new(),
            });
        }
        sure.push(format!(
            "A point is on the front if no other one of its machine and load is better in one of \
             both and not worse in the other: {}; {}. The chosen one is nearest to the corner \
             where both are as good as on the front's ends, each scaled to the front.",
            label(sweep, front.metrics.0),
            label(sweep, front.metrics.1)
        ));
    }
    sure.push(
        "Figures are means over the seeds, whiskers their 95 % confidence intervals. Points whose \
         intervals overlap may not be told apart."
            .to_owned(),
    );
    let failed: u64 = sweep.points.iter().map(|point| point.failed).sum();
    let warnings = match usize::try_from(failed).unwrap_or(usize::MAX) {
        0 => Vec::new(),
        failed => vec![format!(
            "{} could not be made or got stuck",
            count(failed, "run")
        )],
    };
    Answer {
        sentences,
        tiles: Vec::new(),
        sure,
        warnings,
    }
}

/// One metric against another, with the front.
fn pareto(id: &str, sweep: &Sweep, fronts: &[Front]) -> Option<Section> {
    let first = fronts.first()?;
    let name = |front: &Front| {
        let (x, y) = front.metrics;
        format!("{} and {}", label(sweep, x), label(sweep, y))
    };
    let several = fronts.len() > 1;
    let chart = Chart {
        id: format!("{id}-front"),
        title: match several {
            true => format!("{} against", label(sweep, first.metrics.0)),
            false => name(first),
        },
        alt: "Points of the sweep by two metrics; a line joins those on the Pareto front, and a \
              diamond marks the chosen one. The table of points has the figures."
            .to_owned(),
        note: "Line: the Pareto front. Diamond: the chosen point.".to_owned(),
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

/// Lines along each axis.
fn along(id: &str, sweep: &Sweep) -> Option<Section> {
    let told = |at: &usize| sweep.points.iter().any(|point| point.mean(*at).is_some());
    let metrics: Vec<usize> = (0..sweep.metrics.len())
        .filter(told)
        .take(MOST_CHOICES)
        .collect();
    let fixed = ["platform", "workload", "policy"];
    let keys = sweep
        .varied
        .iter()
        .filter(|key| !fixed.contains(&key.as_str()));
    let chart = |(at, key): (usize, &String)| {
        let lines = drawn::Lines::of(sweep, key)?;
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
    columns.extend(front.map(|_| "front"));
    let left = sweep.points.len().saturating_sub(MOST_ROWS);
    let caption = match left {
        0 => "Means of each point, with half of the width of their 95 % intervals".to_owned(),
        left => format!("The first {MOST_ROWS} points; the sweep's table has {left} more"),
    };
    let mut table = Table::new(format!("{id}-table"), caption, &columns);
    table.cards = true;
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
        if let Some(front) = front {
            row.push(match front.word(at) {
                "" => Cell::default(),
                word => Cell::of(word).tone("better"),
            });
        }
        table.rows.push(row);
    }
    table
}

/// A mean with its interval below.
fn mean(sweep: &Sweep, point: &Point, metric: usize) -> Cell {
    let Some(value) = point.mean(metric) else {
        return Cell::from(None);
    };
    let half = point
        .half(metric)
        .map(|half| format!("±{}", crate::short(half)));
    Cell::of(figure(sweep, metric, value)).small(half.unwrap_or_default())
}
