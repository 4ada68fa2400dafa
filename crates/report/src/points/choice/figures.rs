//! What a chosen point measured, for the line that stands first (docs/guide/results.md, "The point
//! that is chosen").
//!
//! What must stay: the metrics of conditions and the one that was chosen by come first, then one of
//! each other unit that is good or bad, then the rest of the table; JSON has all, people see the
//! first. A change is told as in the table of points. Words may change. Tests by part:
//! `the_chosen_point_comes_with_its_figures` (`of`, `told`, `headline`),
//! html/sweep/tests.rs::`a_page_says_what_was_chosen` (`told`, of a page).
//!
//! Callers: points.rs (`headline`), html/sweep/answer.rs (`told`).
//!
//! Tests: crates/report/src/points/tests.rs, crates/report/src/html/sweep/tests.rs

use super::Choice;
use crate::comparison::with_unit;
use crate::number::{self, FROM_ZERO};
use crate::phrase::{MODELLED, finite, of_power};
use crate::plain::plain;
use crate::points::{Row, Shape};
use wakeplace_metrics::{Better, find_metric, number_of_share};
use wakeplace_outcome::{ChosenFigure, ChosenPoint, Difference};

/// Figures that people are told.
const MOST_TOLD: usize = 4;

/// Joules that need no name where they are the only ones.
const ENERGIES: [&str; 2] = ["energy_j", "cpu_energy_j"];

/// The unit of a metric; empty: it has none.
fn unit(metric: &str) -> &'static str {
    find_metric(metric).map_or("", |def| def.unit)
}

/// The places of the metrics of a table, in the order in which they are told.
fn order(choice: &Choice, shape: &Shape) -> Vec<usize> {
    let place = |name: &str| shape.metrics.iter().position(|own| own == name);
    let conditions = choice.conditions.iter().map(|one| one.metric.as_str());
    let asked = conditions.chain(choice.metric());
    let mut all: Vec<usize> = Vec::new();
    for at in asked.filter_map(place) {
        if !all.contains(&at) {
            all.push(at);
        }
    }
    let judged = |at: usize| {
        let def = find_metric(&shape.metrics[at]);
        def.is_ok_and(|def| def.better != Better::Neither)
    };
    // Beside a number its share says nothing new.
    let is_share = |at: usize, all: &[usize]| {
        let number = number_of_share(&shape.metrics[at]);
        let number = number.and_then(|number| place(&number));
        number.is_some_and(|number| all.contains(&number))
    };
    for at in (0..shape.metrics.len()).filter(|at| judged(*at)) {
        let own = unit(&shape.metrics[at]);
        if !is_share(at, &all) && all.iter().all(|other| unit(&shape.metrics[*other]) != own) {
            all.push(at);
        }
    }
    let rest = (0..shape.metrics.len()).filter(|at| !all.contains(at));
    let rest: Vec<usize> = rest.collect();
    all.extend(rest);
    all
}

/// What a point measured, and its changes from the base.
pub(super) fn of(choice: &Choice, shape: &Shape, row: &Row) -> Vec<ChosenFigure> {
    let one = |at: usize| {
        let metric = shape.metrics[at].as_str();
        let (mean, _) = row.figures.get(at).copied().flatten()?;
        let change = row.changes.get(at).copied().flatten();
        Some(ChosenFigure {
            metric: metric.to_owned(),
            mean,
            delta_pct: change.map(|change| change.delta_pct),
            ci95: change.and_then(|change| change.ci95),
            difference: change.map(|change| change.difference(metric, shape.margin_pct)),
        })
    };
    order(choice, shape).into_iter().filter_map(one).collect()
}

/// The chosen point and its figures; `name`: the point in words.
pub(crate) fn headline(group: &ChosenPoint, name: &str, modelled: bool) -> String {
    let place = match group.group.as_str() {
        "" => "chosen".to_owned(),
        place => format!("chosen of {place}"),
    };
    match told(&group.figures, modelled) {
        figures if figures.is_empty() => format!("{place}: {name}"),
        figures => format!("{place}: {name}: {figures}"),
    }
}

/// The first figures in words; `modelled`: nobody measured the power of joules.
pub(crate) fn told(figures: &[ChosenFigure], modelled: bool) -> String {
    let figures = &figures[..figures.len().min(MOST_TOLD)];
    // What changes are from is said once.
    let differs = |one: &ChosenFigure| one.delta_pct.is_none_or(|pct| pct != 0.0);
    let first = figures
        .iter()
        .position(|one| one.difference.is_some() && differs(one));
    let energies = figures.iter().filter(|one| is_energy(&one.metric));
    let one_energy = energies.count() == 1;
    let one = |(at, figure): (usize, &ChosenFigure)| {
        let from = if Some(at) == first {
            " from the base"
        } else {
            ""
        };
        let value = value(figure, modelled, one_energy);
        format!("{value}{}", change(figure, from))
    };
    let all: Vec<String> = figures.iter().enumerate().map(one).collect();
    all.join(", ")
}

/// The energy of the board or of its CPUs.
fn is_energy(metric: &str) -> bool {
    ENERGIES.contains(&metric)
}

/// A mean: a count with what is counted, the only energy by its unit, others by their name.
fn value(figure: &ChosenFigure, modelled: bool, one_energy: bool) -> String {
    let metric = figure.metric.as_str();
    let of = unit(metric);
    let shown = with_unit(figure.mean, of);
    let shown = match modelled && of_power(metric) {
        true => format!("{MODELLED} {shown}"),
        false => shown,
    };
    match (metric, of) {
        _ if one_energy && is_energy(metric) => shown,
        (_, "count") => format!("{shown} {}", small(&plain(metric))),
        _ => format!("{metric} {shown}"),
    }
}

/// Words within a sentence: the first letter is small, unless it begins an abbreviation.
fn small(words: &str) -> String {
    let mut letters = words.chars();
    let (first, second) = (letters.next(), letters.next());
    match (first, second) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            let rest = &words[first.len_utf8()..];
            format!("{}{rest}", first.to_lowercase())
        }
        _ => words.to_owned(),
    }
}

/// A change, and that it is not told where it is not; nothing of what has none.
fn change(figure: &ChosenFigure, from: &str) -> String {
    let Some(difference) = figure.difference else {
        return String::new();
    };
    if figure.delta_pct == Some(0.0) {
        return " (as the base)".to_owned();
    }
    let pct = figure.delta_pct.filter(|pct| pct.is_finite());
    let Some(pct) = pct else {
        return format!(" ({FROM_ZERO}{})", untold(difference));
    };
    let ends = finite(figure.ci95).map(|(low, high)| {
        let (low, high) = (number::bound(low), number::bound(high));
        format!(" [{low}, {high}]")
    });
    let ends = ends.unwrap_or_default();
    format!(
        " ({}{ends}{from}{})",
        number::bound_pct(pct),
        untold(difference)
    )
}

/// What is said of a difference that chance may have made.
fn untold(difference: Difference) -> String {
    match difference {
        Difference::NotTold | Difference::Unknown => format!(", {}", difference.word()),
        _ => String::new(),
    }
}
