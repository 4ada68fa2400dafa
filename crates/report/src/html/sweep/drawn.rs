//! What is drawn of a sweep, as Vega-Lite in the page's colours (docs/guide/report.md, "Sweeps").
//!
//! What must stay: names of fields are this file's own, so that no text of a sweep is read as a
//! formula; colours are names of `assets/palettes.json`. Looks may change. Tests by part:
//! `a_sweep_has_its_pictures` (`front`, its whiskers, `Lines`), `lines_are_what_they_say`
//! (`Lines::of`, `note`), `what_is_expected_comes_first` (`diamond`, `marks_some`).
//!
//! Tests: crates/report/src/html/sweep/tests.rs

use super::front::Front;
use super::points::{Point, Sweep, named};
use super::{once, titled};
use crate::html::charts::{base, legend, series};
use crate::points::number;
use serde_json::{Value, json};

/// Points that are drawn: a browser has to place them all.
const MOST_DRAWN: usize = 4000;
/// Points whose whiskers can be told apart.
const MOST_WHISKERS: usize = 200;
/// Lines that can be told apart.
const MOST_LINES: usize = 8;

/// What the colour of a point says: its policy, or its machine and load where these differ.
fn colour_of(sweep: &Sweep, point: &Point) -> String {
    match sweep.group(point) {
        group if group.is_empty() => point.name("policy").clone(),
        group => group,
    }
}

/// What is said of a point that is pointed at.
fn tooltip(fields: &[(&str, &str)]) -> Value {
    let text =
        |field: &str, title: &str| json!({"field": field, "type": "nominal", "title": title});
    let number = |(field, title): &(&str, &str)| {
        let (kind, format) = ("quantitative", ".4~g");
        json!({"field": field, "type": kind, "format": format, "title": title})
    };
    let mut all = vec![text("point", " ")];
    all.extend(fields.iter().map(number));
    Value::Array(all)
}

/// What the mark of a chosen point means.
pub(super) const DIAMOND: &str = " Diamond: the chosen point.";

/// The mark of a chosen point.
fn diamond() -> Value {
    json!({"type": "point", "shape": "diamond", "filled": false, "fill": "@surface", "size": 170,
        "strokeWidth": 3, "opacity": 1})
}

/// One metric over another: all points, the line of the front, and the chosen points.
pub(super) fn front(sweep: &Sweep, front: &Front) -> Value {
    let (x, y) = front.metrics;
    let few = sweep.points.len() <= MOST_WHISKERS;
    let one = |(at, point): (usize, &Point)| {
        let kind = front.word(at);
        // Of many points only those that one looks at have whiskers.
        let ends = |metric: usize| {
            let ends = sweep.ends(point, metric);
            ends.filter(|_| few || !kind.is_empty())
        };
        let (x_ends, y_ends) = (ends(x), ends(y));
        Some(
            json!({"point": sweep.shown(point), "series": colour_of(sweep, point),
            "x": point.mean(x)?, "y": point.mean(y)?, "kind": kind, "group": sweep.group(point),
            "x_low": x_ends.map(|ends| ends.0), "x_high": x_ends.map(|ends| ends.1),
            "y_low": y_ends.map(|ends| ends.0), "y_high": y_ends.map(|ends| ends.1)}),
        )
    };
    // Those of the front are drawn before others.
    let mut all: Vec<Value> = { sweep.points.iter().enumerate() }
        .filter_map(one)
        .collect();
    all.sort_by_key(|value| value["kind"] == "");
    all.truncate(MOST_DRAWN);
    let names: Vec<String> = { sweep.points.iter() }
        .map(|point| colour_of(sweep, point))
        .collect();
    let names = once(names.iter());
    let (x, y) = (titled(sweep, x), titled(sweep, y));
    let place = |field: &str, title: &str| {
        json!({"field": field, "type": "quantitative", "title": title,
            "scale": {"zero": false, "nice": true}})
    };
    let color = json!({"field": "series", "type": "nominal", "scale": series(&names),
        "legend": legend(&names)});
    let tooltip = tooltip(&[("x", &x), ("y", &y)]);
    let (at_x, at_y) = (place("x", &x), place("y", &y));
    let mark = |filter: &str, mark: Value| {
        json!({"transform": [{"filter": filter}], "mark": mark,
            "encoding": {"x": at_x, "y": at_y, "color": color, "tooltip": tooltip}})
    };
    let whisker = |low: &str, encoding: Value| {
        json!({"transform": [{"filter": format!("isValid(datum.{low})")}],
            "mark": {"type": "rule", "strokeWidth": 1, "opacity": 0.5}, "encoding": encoding})
    };
    let layers = json!([
        whisker("x_low", json!({"x": place("x_low", &x), "x2": {"field": "x_high"}, "y": at_y,
            "color": color})),
        whisker("y_low", json!({"x": at_x, "y": place("y_low", &y), "y2": {"field": "y_high"},
            "color": color})),
        mark("datum.kind === ''",
            json!({"type": "point", "shape": "circle", "filled": true, "size": 36,
                "opacity": 0.4})),
        {"transform": [{"filter": "datum.kind !== ''"}],
            "mark": {"type": "line", "color": "@axis", "strokeWidth": 2},
            "encoding": {"x": at_x, "y": at_y, "detail": {"field": "group", "type": "nominal"},
                "order": {"field": "x", "type": "quantitative"}}},
        mark("datum.kind === 'front'",
            json!({"type": "point", "shape": "circle", "filled": true, "size": 80,
                "opacity": 1})),
        mark("datum.kind === 'chosen'", diamond()),
    ]);
    base(280, all, json!({"layer": layers}))
}

/// Lines along one axis.
pub(super) struct Lines {
    key: String,
    /// Of each point its value as a number, if all are numbers.
    numbers: Option<Vec<f64>>,
    /// What each point's line is called.
    lines: Vec<String>,
    /// Lines that are drawn, in their order.
    drawn: Vec<String>,
    left: usize,
    /// Which points were chosen.
    chosen: Vec<bool>,
    /// Points have no neighbours along the axis: a mark each.
    loose: bool,
}

impl Lines {
    /// None: the axis has one value.
    pub(super) fn of(sweep: &Sweep, key: &str, front: Option<&Front>) -> Option<Self> {
        let values = || sweep.points.iter().map(|point| point.name(key));
        if once(values()).len() < 2 {
            return None;
        }
        let numbers: Option<Vec<f64>> = values().map(|value| number(value)).collect();
        let others: Vec<&String> = sweep.varied.iter().filter(|own| *own != key).collect();
        let line = |point: &Point| {
            let part = |key: &&String| named(point, key);
            others.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        let mut lines: Vec<String> = sweep.points.iter().map(line).collect();
        // With a line for each point nothing is joined, as in a design that is drawn.
        let loose = 2 * once(lines.iter()).len() > lines.len();
        if loose {
            lines = { sweep.points.iter() }
                .map(|point| colour_of(sweep, point))
                .collect();
        }
        let names = once(lines.iter());
        let drawn: Vec<String> = names
            .iter()
            .take(MOST_LINES)
            .map(|n| (*n).to_owned())
            .collect();
        let left = names.len() - drawn.len();
        let is_chosen = |(at, point): (usize, &Point)| {
            point.is_chosen || front.is_some_and(|front| front.word(at) == "chosen")
        };
        let chosen = sweep.points.iter().enumerate().map(is_chosen);
        let chosen: Vec<bool> = chosen.collect();
        Some(Self {
            key: key.to_owned(),
            numbers,
            lines,
            drawn,
            left,
            chosen,
            loose,
        })
    }

    /// What a reader must know of them.
    pub(super) fn note(&self) -> String {
        let said = match (self.loose, self.left) {
            (true, _) => "Other keys vary from point to point: a mark for each.".to_owned(),
            (false, 0) => String::new(),
            (false, left) => {
                format!("The first {MOST_LINES} lines; {left} more are in the table of points.")
            }
        };
        let diamond = if self.marks_some() { DIAMOND } else { "" };
        format!("{said}{diamond}").trim_start().to_owned()
    }

    /// A chosen point is drawn.
    fn marks_some(&self) -> bool {
        let mut marked = self.chosen.iter().zip(&self.lines);
        marked.any(|(chosen, line)| *chosen && self.drawn.contains(line))
    }

    /// A metric over the axis.
    pub(super) fn spec(&self, sweep: &Sweep, metric: usize) -> Value {
        let title = titled(sweep, metric);
        let one = |(at, point): (usize, &Point)| {
            let mean = point.mean(metric)?;
            let ends = sweep.ends(point, metric);
            let x = match &self.numbers {
                Some(numbers) => json!(numbers[at]),
                None => json!(point.name(&self.key)),
            };
            (self.drawn.contains(&self.lines[at])).then(|| {
                json!({"point": sweep.shown(point), "series": self.lines[at], "x": x, "y": mean,
                    "chosen": self.chosen[at],
                    "low": ends.map(|ends| ends.0), "high": ends.map(|ends| ends.1)})
            })
        };
        let values = sweep.points.iter().enumerate().filter_map(one);
        let values: Vec<Value> = values.take(MOST_DRAWN).collect();
        let names: Vec<&str> = self.drawn.iter().map(String::as_str).collect();
        let order = once(sweep.points.iter().map(|point| point.name(&self.key)));
        let x = match self.numbers {
            Some(_) => json!({"field": "x", "type": "quantitative", "title": self.key,
                "scale": {"zero": false, "nice": true}}),
            None => json!({"field": "x", "type": "ordinal", "sort": order, "title": self.key,
                "axis": {"labelAngle": 0, "labelOverlap": true, "labelLimit": 120}}),
        };
        let y = |field: &str| {
            json!({"field": field, "type": "quantitative", "title": title,
                "scale": {"zero": false, "nice": true}})
        };
        let color = json!({"field": "series", "type": "nominal", "scale": series(&names),
            "legend": legend(&names)});
        let tooltip = tooltip(&[
            ("y", &title),
            ("low", "95 % interval, from"),
            ("high", "to"),
        ]);
        let mut layers = vec![json!({"transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
            "encoding": {"x": x, "y": y("low"), "y2": {"field": "high"}, "color": color}})];
        if !self.loose {
            layers.push(json!({"mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y("y"), "color": color}}));
        }
        layers.push(
            json!({"mark": {"type": "point", "filled": true, "size": 50, "opacity": 1},
            "encoding": {"x": x, "y": y("y"), "color": color, "tooltip": tooltip}}),
        );
        if self.marks_some() {
            layers.push(
                json!({"transform": [{"filter": "datum.chosen"}], "mark": diamond(),
                "encoding": {"x": x, "y": y("y"), "color": color, "tooltip": tooltip}}),
            );
        }
        base(240, values, json!({"layer": layers}))
    }
}
