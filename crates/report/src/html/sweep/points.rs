//! The points of a sweep, from the JSON of its table (docs/guide/results.md, "Sweeps").
//!
//! What must stay: a column is a metric if one of its name and `_ci95` stands beside it; what is no
//! such table is refused in a sentence; text and numbers of any kind are taken, none is trusted.
//! Tests by part: `what_is_no_sweep_is_refused` (`read`), `a_sweep_has_its_pictures` (`telling`,
//! `shown`, `group`, `within`).
//!
//! Tests: crates/report/src/html/sweep/tests.rs

use super::once;
use serde_json::{Map, Value};

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
}

/// A row.
pub(super) struct Point {
    /// By the keys.
    names: Vec<(String, String)>,
    pub(super) n: u64,
    pub(super) failed: u64,
    /// By the metrics: mean, and half of the interval's width.
    values: Vec<(Option<f64>, Option<f64>)>,
    /// Nobody measured the power that joules are made of.
    pub(super) modelled: bool,
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
}

impl Sweep {
    /// The table of points, or what is wrong with it.
    pub(crate) fn read(points: &[Value]) -> Result<Self, &'static str> {
        let rows: Option<Vec<&Map<String, Value>>> = points.iter().map(Value::as_object).collect();
        let rows = rows.ok_or("has a point that is no object")?;
        let first = rows.first().ok_or("has no points")?;
        let has = |key: &str| first.contains_key(key);
        if !COUNTS.into_iter().all(has) || !has("platform") || !has("policy") {
            return Err("has `points` that are not a sweep's");
        }
        let is_metric = |key: &&String| has(&format!("{key}{INTERVAL}"));
        let metrics: Vec<String> = first.keys().filter(is_metric).cloned().collect();
        let counts = first.keys().position(|key| key == COUNTS[0]).unwrap_or(0);
        let keys: Vec<String> = first.keys().take(counts).cloned().collect();
        let points: Vec<Point> = { rows.iter() }
            .map(|row| point(row, &keys, &metrics))
            .collect();
        let several = |key: &&String| once(points.iter().map(|p| p.name(key))).len() > 1;
        Ok(Self {
            varied: keys.iter().filter(several).cloned().collect(),
            keys,
            metrics,
            points,
        })
    }

    /// The keys that tell points apart; all of them if there is one point.
    pub(super) fn telling(&self) -> Vec<String> {
        match self.varied.is_empty() {
            true => self.keys.clone(),
            false => self.varied.clone(),
        }
    }

    /// The machine and the load of a point, as far as they differ between points. Hints are no part
    /// of a load: whoever runs it gives them.
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

/// What a point has of a key; names speak for themselves.
pub(super) fn named(point: &Point, key: &str) -> String {
    match key {
        "platform" | "workload" | "policy" => point.name(key).clone(),
        key => format!("{key}={}", point.name(key)),
    }
}

/// It is the machine or of it, of the load, or of what is drawn and how long.
fn is_of_load(key: &str) -> bool {
    let of_model = key.strip_prefix("workload.");
    let hint = |key: &str| key.contains("clamp_") || key.contains("util_");
    let of_machine = ["platform.", "model."]
        .iter()
        .any(|part| key.starts_with(part));
    let of_run = matches!(key, "platform" | "workload" | "duration" | "jitter");
    of_run || of_machine || of_model.is_some_and(|key| !hint(key))
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
    let value = |name: &String| (number(name), number(&format!("{name}{INTERVAL}")));
    let mut names: Vec<(String, String)> = keys.iter().map(text).collect();
    let load = names.iter().position(|(key, _)| key == "workload");
    if let Some(at) = load {
        names[at].1 = without_varied(&names[at].1, &names);
    }
    Point {
        names,
        n: count(COUNTS[0]),
        failed: count(COUNTS[1]),
        values: metrics.iter().map(value).collect(),
        modelled: row.get("power").is_some_and(Value::is_string),
    }
}

/// The workload without the keys that are names of their own.
fn without_varied(load: &str, names: &[(String, String)]) -> String {
    let Some((model, keys)) = load.split_once(':') else {
        return load.to_owned();
    };
    let varied = |setting: &&str| {
        let mut own = names.iter().filter_map(|(key, value)| {
            let key = key.strip_prefix("workload.")?;
            Some(format!("{key}={value}"))
        });
        own.any(|own| own == **setting)
    };
    let left: Vec<&str> = keys.split(',').filter(|setting| !varied(setting)).collect();
    match left.as_slice() {
        [] => model.to_owned(),
        left => format!("{model}:{}", left.join(",")),
    }
}
