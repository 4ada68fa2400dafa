//! The points of a sweep, from its JSON (docs/guide/results.md, "Sweeps").
//!
//! What must stay: a column is a metric if one of its name and `_ci95` stands beside it; what is no
//! such table is refused in a sentence; text and numbers of any kind are taken, none is trusted.
//! Sweeps of earlier programs have points alone. Tests by part: `what_is_no_sweep_is_refused`
//! (`check`), `a_sweep_has_its_pictures` (`of`, `telling`, `shown`, `group`, `within`),
//! `a_page_says_what_was_chosen` (`change`, marks), `what_is_expected_comes_first` (`ends`,
//! `is_expected`), `a_number_and_its_share_are_one_metric` (`one_of_both`).
//!
//! Callers: diff/kept.rs (`result`).
//!
//! Tests: crates/report/src/html/sweep/tests.rs

use super::once;
use serde_json::{Map, Value};
use wakeplace_metrics::{Expectation, find_metric, number_of_share};
use wakeplace_outcome as outcome;
use wakeplace_study::{is_of_load, without_varied};

/// Columns that every table of points has.
const COUNTS: [&str; 2] = ["n", "failed"];
/// What a metric's interval is called behind its name.
const INTERVAL: &str = "_ci95";

/// A sweep's table.
pub(crate) struct Sweep {
    /// Keys that say which point it is, platform, workload and policy among them.
    pub(super) keys: Vec<String>,
    /// Those of them that have several values.
    pub(super) varied: Vec<String>,
    pub(super) metrics: Vec<String>,
    pub(super) points: Vec<Point>,
    /// All but the points.
    pub(crate) result: outcome::Sweep,
}

/// A row.
pub(super) struct Point {
    /// By the keys.
    names: Vec<(String, String)>,
    pub(super) n: u64,
    pub(super) failed: u64,
    /// By the metrics: mean, and half of the interval's width.
    values: Vec<(Option<f64>, Option<f64>)>,
    /// By the metrics: the change from its base.
    changes: Vec<Option<Change>>,
    /// Others are compared with it.
    pub(super) is_base: bool,
    /// It holds all conditions; None: there are none.
    pub(super) holds: Option<bool>,
    /// It is the chosen one of its machine and load.
    pub(super) is_chosen: bool,
    /// Nobody measured the power that joules are made of.
    pub(super) modelled: bool,
}

/// A change from the base.
pub(super) struct Change {
    /// None: from 0.
    pub(super) pct: Option<f64>,
    pub(super) ends: Option<(f64, f64)>,
    /// What it means.
    pub(super) word: String,
}

impl Point {
    /// Its value of a key; empty if it has none.
    pub(super) fn name(&self, key: &str) -> &String {
        static NONE: String = String::new();
        let own = self.names.iter().find(|(own, _)| own == key);
        own.map_or(&NONE, |(_, value)| value)
    }

    /// The mean of a metric, by its place.
    pub(super) fn mean(&self, metric: usize) -> Option<f64> {
        self.values.get(metric)?.0
    }

    /// Half of the width of its interval.
    pub(super) fn half(&self, metric: usize) -> Option<f64> {
        self.values.get(metric)?.1
    }

    /// The change from the base, by the metric's place.
    pub(super) fn change(&self, metric: usize) -> Option<&Change> {
        self.changes.get(metric)?.as_ref()
    }
}

impl Sweep {
    /// What is wrong with a table of points, if something is.
    pub(crate) fn check(points: &[Value]) -> Result<(), &'static str> {
        let rows: Option<Vec<&Map<String, Value>>> = points.iter().map(Value::as_object).collect();
        let rows = rows.ok_or("has a point that is no object")?;
        let first = rows.first().ok_or("has no points")?;
        let has = |key: &str| first.contains_key(key);
        match COUNTS.into_iter().all(has) && has("platform") && has("policy") {
            true => Ok(()),
            false => Err("has `points` that are not a sweep's"),
        }
    }

    /// Of a result whose points are a table, of which there is one at least.
    pub(crate) fn of(mut result: outcome::Sweep) -> Self {
        let rows = std::mem::take(&mut result.points);
        let first = rows.first().cloned().unwrap_or_default();
        let has = |key: &str| first.contains_key(key);
        let is_metric = |key: &&String| has(&format!("{key}{INTERVAL}"));
        let metrics: Vec<String> = first.keys().filter(is_metric).cloned().collect();
        let metrics = one_of_both(&metrics, &result);
        let counts = first.keys().position(|key| key == COUNTS[0]).unwrap_or(0);
        let keys: Vec<String> = first.keys().take(counts).cloned().collect();
        let points: Vec<Point> = { rows.iter() }
            .map(|row| point(row, &keys, &metrics))
            .collect();
        let several = |key: &&String| once(points.iter().map(|p| p.name(key))).len() > 1;
        Self {
            varied: keys.iter().filter(several).cloned().collect(),
            keys,
            metrics,
            points,
            result,
        }
    }

    /// Both ends of the interval of a point's mean. There is no count below 0.
    pub(super) fn ends(&self, point: &Point, metric: usize) -> Option<(f64, f64)> {
        let (mean, half) = point.mean(metric).zip(point.half(metric))?;
        let is_count = find_metric(&self.metrics[metric]).is_ok_and(|def| def.unit == "count");
        let low = mean - half;
        Some((if is_count { low.max(0.0) } else { low }, mean + half))
    }

    /// A condition is about this metric.
    pub(super) fn is_expected(&self, metric: usize) -> bool {
        is_expected(&self.result, &self.metrics[metric])
    }

    /// The keys that tell points apart; all of them if there is one point.
    pub(super) fn telling(&self) -> Vec<String> {
        match self.varied.is_empty() {
            true => self.keys.clone(),
            false => self.varied.clone(),
        }
    }

    /// The machine and the load of a point, as far as they differ between points.
    pub(super) fn group(&self, point: &Point) -> String {
        let own = self.varied.iter().filter(|key| is_of_load(key));
        own.map(|key| named(point, key))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// A point in words, by what tells it apart.
    pub(super) fn shown(&self, point: &Point) -> String {
        let parts = self.telling();
        let parts = parts.iter().map(|key| named(point, key));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// The same within its group.
    pub(super) fn within(&self, point: &Point) -> String {
        let own = self.varied.iter().filter(|key| !is_of_load(key));
        let own: Vec<String> = own.map(|key| named(point, key)).collect();
        match own.is_empty() {
            true => self.shown(point),
            false => own.join(", "),
        }
    }
}

/// A condition is about the metric of this name.
fn is_expected(result: &outcome::Sweep, metric: &str) -> bool {
    let choice = result.choice.iter();
    let conditions = choice.flat_map(|choice| &choice.conditions);
    let mut parsed = conditions.filter_map(|text| Expectation::parse(text).ok());
    parsed.any(|condition| condition.metric == metric)
}

/// The metrics that a page has: of a number and its share the number; the share instead where a
/// condition or the choice is about it and not about the number.
fn one_of_both(metrics: &[String], result: &outcome::Sweep) -> Vec<String> {
    let is_asked = |metric: &String| {
        let by = result.choice.as_ref().map(|choice| &choice.by);
        by == Some(metric) || is_expected(result, metric)
    };
    let mut left: Vec<&String> = Vec::new();
    for share in metrics {
        let number = number_of_share(share);
        let number = metrics.iter().find(|own| Some(*own) == number.as_ref());
        match number.map(|number| (number, is_asked(number), is_asked(share))) {
            Some((_, _, false)) => left.push(share),
            Some((number, false, true)) => left.push(number),
            Some((_, true, true)) | None => {}
        }
    }
    let stays = |metric: &&String| !left.contains(metric);
    metrics.iter().filter(stays).cloned().collect()
}

/// What a point has of a key.
pub(super) fn named(point: &Point, key: &str) -> String {
    crate::points::named(key, point.name(key))
}

/// A row as a point.
fn point(row: &Map<String, Value>, keys: &[String], metrics: &[String]) -> Point {
    let text = |key: &String| {
        let value = match row.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        (key.clone(), value)
    };
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let count = |key: &str| row.get(key).and_then(Value::as_u64).unwrap_or(0);
    let flag = |key: &str| row.get(key).and_then(Value::as_bool);
    let value = |name: &String| (number(name), number(&format!("{name}{INTERVAL}")));
    let change = |name: &String| {
        let word = row.get(&format!("{name}_difference"))?.as_str()?;
        let of = |what: &str| number(&format!("{name}_{what}"));
        Some(Change {
            pct: of("delta_pct"),
            ends: of("delta_ci95_low").zip(of("delta_ci95_high")),
            word: word.to_owned(),
        })
    };
    let mut names: Vec<(String, String)> = keys.iter().map(text).collect();
    let load = names.iter().position(|(key, _)| key == "workload");
    if let Some(at) = load {
        let own = { names.iter() }.map(|(key, value)| (key.as_str(), value.as_str()));
        names[at].1 = without_varied(&names[at].1, own);
    }
    Point {
        n: count(COUNTS[0]),
        failed: count(COUNTS[1]),
        values: metrics.iter().map(value).collect(),
        changes: metrics.iter().map(change).collect(),
        is_base: flag("base").unwrap_or(false),
        holds: flag("holds"),
        is_chosen: flag("chosen").unwrap_or(false),
        modelled: row.get("power").is_some_and(Value::is_string),
        names,
    }
}
