//! What a choice leaves open: of how many frames it is made, a change that is not told, larger
//! values that fail, and where no point holds the nearest one (docs/guide/results.md, "The point
//! that is chosen").
//!
//! What must stay: nothing is chosen here; a change is told as differences of comparisons are. The
//! nearest point misses the fewest conditions, of these the first one by least. Words may change.
//! Tests by part: `a_choice_says_what_it_leaves_open` (`untold`, `above`, `nearest`),
//! `the_nearest_misses_the_fewest` (`missed`, `order`).
//!
//! Callers: frames.rs (`about`).
//!
//! Tests: crates/report/src/points/tests.rs

use super::{Choice, frames, quantity};
use crate::number;
use crate::points::{Row, Shape};
use std::cmp::Ordering;
use wakeplace_metrics::{Expectation, Limit, Operator};
use wakeplace_outcome::Difference;

/// Values that are named.
const MOST_NAMED: usize = 3;

/// Clauses on the chosen one of these points, which are of one machine and load; None: none holds.
pub(super) fn beside(
    choice: &Choice,
    shape: &Shape,
    (rows, chosen): (&[&Row], Option<&Row>),
) -> Vec<String> {
    let Some(chosen) = chosen else {
        return nearest(choice, shape, rows).into_iter().collect();
    };
    let mut all = frames::said(choice, chosen);
    all.extend(untold(choice, shape, chosen));
    all.extend(above(choice, shape, (rows, chosen)));
    all
}

/// The conditions that are about a point: a base is held to no change.
pub(super) fn about<'a>(choice: &'a Choice, shape: &Shape, row: &Row) -> Vec<&'a Expectation> {
    let at = shape.names.iter().position(|name| name == "policy");
    let policy = at.map(|at| &row.names[at]);
    let is_about = |one: &&Expectation| {
        let of_change = matches!(one.limit, Limit::FromBase(_));
        let named = one.policy.as_ref();
        named.is_none_or(|name| Some(name) == policy) && !(of_change && row.is_base)
    };
    choice.conditions.iter().filter(is_about).collect()
}

/// Metrics whose values hold, though their change from the base is not told.
fn untold(choice: &Choice, shape: &Shape, chosen: &Row) -> Vec<String> {
    let mut metrics: Vec<&str> = Vec::new();
    for condition in about(choice, shape, chosen) {
        let metric = condition.metric.as_str();
        if matches!(condition.limit, Limit::FromBase(_)) || metrics.contains(&metric) {
            continue;
        }
        let at = shape.metrics.iter().position(|name| name == metric);
        let change = at.and_then(|at| chosen.changes.get(at).copied().flatten());
        let word = change.map(|change| change.difference(metric, shape.margin_pct));
        if let Some(Difference::NotTold | Difference::Unknown) = word {
            metrics.push(metric);
        }
    }
    let clause = |metric: &str| format!("the change of {metric} from the base is not told");
    metrics.into_iter().map(clause).collect()
}

/// Larger values of the key that fail where all else is as of the chosen point.
fn above(choice: &Choice, shape: &Shape, (rows, chosen): (&[&Row], &Row)) -> Option<String> {
    let at = shape.names.iter().position(|name| *name == choice.by);
    let at = at.filter(|_| choice.of_key)?;
    let least = quantity(&chosen.names[at])?;
    let mut values: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.holds == Some(false)) {
        let is_above = quantity(&row.names[at]).is_some_and(|value| value > least);
        let is_alike = |other: usize| shape.told(row, other) == shape.told(chosen, other);
        if is_above && (0..shape.names.len()).all(|other| other == at || is_alike(other)) {
            values.push(&row.names[at]);
        }
    }
    let named = values.iter().take(MOST_NAMED).copied();
    let named = named.collect::<Vec<_>>().join(", ");
    let more = values.len().saturating_sub(MOST_NAMED);
    match (values.len(), more) {
        (0, _) => None,
        (1, _) => Some(format!("{named} above it fails")),
        (_, 0) => Some(format!("{named} above it fail")),
        (_, more) => Some(format!("{named} and {more} more above it fail")),
    }
}

/// A condition at a point.
struct Missed {
    /// By how much, in the metric's unit or in percent; 0: not.
    by: f64,
    /// The figure in words.
    said: String,
}

/// By how much a point misses a condition; None: it has no figure.
fn missed(condition: &Expectation, shape: &Shape, row: &Row) -> Option<Missed> {
    let metric = &condition.metric;
    let at = shape.metrics.iter().position(|name| name == metric)?;
    let (value, limit, said) = match condition.limit {
        Limit::Value(limit) => {
            let (mean, _) = row.figures.get(at).copied().flatten()?;
            (mean, limit, number::short(mean))
        }
        Limit::FromBase(limit) => {
            let change = row.changes.get(at).copied().flatten()?;
            (change.delta_pct, limit, number::change(change.delta_pct))
        }
    };
    let by = match condition.operator {
        Operator::AtMost | Operator::Below => (value - limit).max(0.0),
        Operator::AtLeast | Operator::Above => (limit - value).max(0.0),
        Operator::Equal => (value - limit).abs(),
    };
    Some(Missed {
        by,
        said: format!("{metric} {said}"),
    })
}

/// Fewer missed conditions first, then what misses the first of them by less.
fn order(a: &[Missed], b: &[Missed]) -> Ordering {
    let number = |all: &[Missed]| all.iter().filter(|one| one.by > 0.0).count();
    let pairs = || a.iter().zip(b).map(|(a, b)| a.by.total_cmp(&b.by));
    let first = || pairs().find(|order| order.is_ne());
    let by = || first().unwrap_or(Ordering::Equal);
    number(a).cmp(&number(b)).then_with(by)
}

/// The point that is nearest to holding, with the figures that miss.
fn nearest(choice: &Choice, shape: &Shape, rows: &[&Row]) -> Option<String> {
    let of = |row: &&&Row| row.failed == 0;
    let found = rows.iter().filter(of).filter_map(|row| {
        let about = about(choice, shape, row).into_iter();
        let all = about.map(|condition| missed(condition, shape, row));
        Some((all.collect::<Option<Vec<Missed>>>()?, *row))
    });
    let (all, row) = found
        .filter(|(all, _)| !all.is_empty())
        .min_by(|(a, _), (b, _)| order(a, b))?;
    let any = all.iter().any(|one| one.by > 0.0);
    // At the limit itself no figure misses by anything.
    let shown = all.iter().filter(|one| !any || one.by > 0.0);
    let shown: Vec<&str> = shown.map(|one| one.said.as_str()).collect();
    Some(format!(
        "nearest: {} with {}",
        shape.shown(row),
        shown.join(" and ")
    ))
}
