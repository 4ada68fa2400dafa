//! Charts as Vega-Lite. Strings that begin with `@` are colours of the page's theme. A colour that
//! begins with `@` is one of the template's (docs/guide/report.md).
//!
//! What must stay: a policy has one colour in all charts of a page, by its place in the result;
//! names that begin with `@` are keys of `assets/palettes.json`, which `drawings.rs` and
//! `assets/report.js` read. Looks may change: no program reads a page. Tests by part:
//! drawings.rs::`names_become_colours_and_data_stays` (names of colours),
//! `it_can_be_read_without_eyes_and_without_a_mouse` (each chart has its text),
//! residency.rs::`many_clusters_have_one_chart_weighted_by_cpus` (`stacks` is drawn),
//! axis.rs::`where_all_is_nothing_the_axis_has_a_length` (`dots`, its axis). What a browser makes
//! of a spec is seen by xtask/src/tries/pages.rs alone. The parts of charts (`base`, `once`,
//! `series`, `coloured`, `y_labels`, `legend`, `dot_tooltip`, `points`, `state_colour`,
//! `parts_range`, `bars`, `curves`) are run by all tests of pages; their looks are seen in a
//! browser only.
//!
//! Callers: details.rs (`dots`, `bars`), energy.rs (`stacks`, `bars`), comparison.rs (`series`),
//! latency.rs (`curves`), residency.rs (`stacks`), json.rs (`series`), many files (`once`).
//!
//! Tests: crates/report/src/html/drawings.rs::names_become_colours_and_data_stays,
//! crates/report/src/html/tests.rs, xtask/src/tries/pages.rs

use super::axis;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A point with its interval, in a row of a dot plot.
pub(super) struct Dot {
    /// Row.
    pub(super) row: String,
    /// What tells it from others of its row; the colour.
    pub(super) series: String,
    /// The policy's position in the result: its colour is the same in all charts.
    pub(super) policy: usize,
    /// `published` or `simulated`: the shape. Empty: all alike.
    pub(super) source: &'static str,
    pub(super) value: f64,
    /// Interval.
    pub(super) ends: Option<(f64, f64)>,
}

/// A part of a stacked bar.
pub(super) struct Part {
    pub(super) row: String,
    pub(super) part: String,
    pub(super) value: f64,
}

/// A bar of a group.
pub(super) struct Bar {
    pub(super) at: String,
    pub(super) series: String,
    pub(super) value: f64,
}

/// A point of a curve.
pub(super) struct Point {
    pub(super) series: String,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Height of one mark in a row, and of a line of its name, pixels.
const STEP: usize = 15;
const LINE: usize = 13;

/// What all charts have.
pub(super) fn base(height: usize, values: Vec<Value>, rest: Value) -> Value {
    let mut spec = json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": height,
        "data": {"values": values},
    });
    if let (Some(all), Some(rest)) = (spec.as_object_mut(), rest.as_object()) {
        all.extend(rest.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    spec
}

/// Each once, in the order of their first use.
pub(crate) fn once<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    all.map(String::as_str)
        .filter(|one| seen.insert(*one))
        .collect()
}

/// Colours of policies, in their order: the base is the first.
pub(super) fn series(domain: &[&str]) -> Value {
    coloured(domain, 0..domain.len())
}

/// Names and, for each, the colour of its place among the policies (8 colours, then again).
fn coloured(domain: &[&str], positions: impl Iterator<Item = usize>) -> Value {
    let colours: Vec<String> = positions.map(|at| format!("@series{}", at % 8)).collect();
    json!({"domain": domain, "range": colours})
}

/// Names of rows, in a line for each part; what they are names of stands above them.
fn y_labels(title: &str) -> Value {
    json!({"labelLimit": 190, "title": title, "titleAngle": 0, "titleAlign": "right",
        "titleAnchor": "end", "titleY": -4, "titleX": -8, "titleBaseline": "bottom",
        "titleFontWeight": 400, "labelExpr": "split(datum.label, ', ')",
        "domain": false, "ticks": false, "labelPadding": 8})
}

/// A legend above, if there is more than one thing to tell apart.
pub(super) fn legend(domain: &[&str]) -> Value {
    if domain.len() < 2 {
        return Value::Null;
    }
    json!({"title": null, "orient": "top"})
}

/// What is said of a point that is pointed at.
fn dot_tooltip(title: &str, interval: &str) -> Value {
    json!([
        {"field": "row", "type": "nominal", "title": " "},
        {"field": "series", "type": "nominal", "title": "policy"},
        {"field": "source", "type": "nominal", "title": "source"},
        {"field": "value", "type": "quantitative", "format": ".4~g", "title": title},
        {"field": "low", "type": "quantitative", "format": ".4~g",
            "title": format!("{interval}, from")},
        {"field": "high", "type": "quantitative", "format": ".4~g", "title": "to"},
    ])
}

/// The layers of the points themselves.
fn points(dots: &[Dot], encoding: &Value) -> Vec<Value> {
    let mut layers = Vec::new();
    // Published figures are hollow diamonds, all others full circles.
    let hollow = json!({"type": "point", "shape": "diamond", "filled": false, "fill": "@surface"});
    let full = json!({"type": "point", "shape": "circle", "filled": true});
    for (is_published, mut mark) in [(true, hollow), (false, full)] {
        let ours = |dot: &Dot| (dot.source == "published") == is_published;
        if !dots.iter().any(ours) {
            continue;
        }
        let test = if is_published { "===" } else { "!==" };
        mark["size"] = json!(70);
        mark["opacity"] = json!(1);
        mark["strokeWidth"] = json!(2);
        layers.push(json!({
            "transform": [{"filter": format!("datum.source {test} 'published'")}],
            "mark": mark,
            "encoding": encoding,
        }));
    }
    layers
}

/// Rows of points with intervals; `zero`: a line where nothing changes. `of_rows`: what they are.
pub(super) fn dots(
    dots: &[Dot],
    (title, of_rows): (&str, &str),
    interval: &str,
    zero: bool,
) -> Value {
    let rows = once(dots.iter().map(|dot| &dot.row));
    let names = once(dots.iter().map(|dot| &dot.series));
    let position = |name: &&str| {
        let own = dots.iter().find(|dot| dot.series == **name);
        own.map_or(0, |dot| dot.policy)
    };
    let scale = coloured(&names, names.iter().map(position));
    let mut marks: Vec<String> = Vec::new();
    let mark = |dot: &Dot| format!("{} {}", dot.series, dot.source);
    for name in &names {
        for source in ["published", "simulated", ""] {
            let own = |dot: &&Dot| dot.series == *name && dot.source == source;
            marks.extend(dots.iter().find(own).map(mark));
        }
    }
    let value = |dot: &Dot| {
        json!({
            "row": dot.row,
            "series": dot.series,
            "source": dot.source,
            "mark": mark(dot),
            "value": dot.value,
            "low": dot.ends.map(|ends| ends.0),
            "high": dot.ends.map(|ends| ends.1),
        })
    };
    let y = json!({"field": "row", "type": "nominal", "sort": rows, "axis": y_labels(of_rows),
        "scale": {"paddingInner": 0.3, "paddingOuter": 0.2}});
    let offset = json!({"field": "mark", "type": "nominal", "sort": marks,
        "scale": {"domain": marks}});
    let axis = axis::of(dots, zero);
    let x = json!({"field": "value", "type": "quantitative", "title": title, "scale": axis});
    let color = match names.as_slice() {
        [_] => json!({"value": scale["range"][0]}),
        _ => json!({"field": "series", "type": "nominal", "scale": scale,
            "legend": legend(&names)}),
    };
    let tooltip = dot_tooltip(title, interval);
    let mut layers = Vec::new();
    if zero {
        layers.push(json!({"data": {"values": [{"zero": 0}]},
            "mark": {"type": "rule", "color": "@axis", "strokeWidth": 1},
            "encoding": {"x": {"field": "zero", "type": "quantitative"}}}));
    }
    let whiskers = json!({"type": "rule", "strokeWidth": 2, "opacity": 0.75});
    layers.push(
        json!({"transform": [{"filter": "isValid(datum.low)"}], "mark": whiskers,
        "encoding": {"y": y, "yOffset": offset, "color": color,
            "x": {"field": "low", "type": "quantitative", "title": title,
                "scale": axis},
            "x2": {"field": "high"}}}),
    );
    let encoding = json!({"y": y, "yOffset": offset, "x": x, "color": color, "tooltip": tooltip});
    layers.extend(points(dots, &encoding));
    let lines = rows.iter().map(|row| row.split(", ").count()).max();
    let row_height = (marks.len().max(1) * STEP + 12).max(lines.unwrap_or(1) * LINE + 8);
    let height = rows.len() * row_height;
    let values = dots.iter().map(value).collect();
    base(height.max(60), values, json!({"layer": layers}))
}

/// The colour of a state of a CPU or cluster: what works is violet, what sleeps is grey, the deeper
/// the stronger. `depths`: the names of idle states, shallow ones first.
fn state_colour(state: &str, depths: &[&str]) -> String {
    let depth = |name: &str| {
        depths
            .iter()
            .position(|known| *known == name)
            .unwrap_or(0)
            .min(4)
    };
    if let Some(name) = state.strip_prefix("cluster idle ") {
        return format!("@cluster{}", depth(name));
    }
    if let Some(name) = state.strip_prefix("idle ") {
        return format!("@idle{}", depth(name));
    }
    let fixed = [
        ("busy beside", "@beside"),
        ("busy", "@busy"),
        ("into/out of", "@between"),
        ("cluster on, CPUs", "@quiet"),
        ("cluster on", "@on"),
        ("rest of the board", "@board"),
    ];
    let found = fixed.iter().find(|(head, _)| state.starts_with(head));
    found.map_or("@other", |(_, colour)| colour).to_owned()
}

/// How a stacked chart picks its colours.
pub(super) enum Colours<'a> {
    /// States; with the idle states' names, shallow ones first.
    States(&'a [&'a str]),
    /// Parts of the machine, in their order.
    Parts,
}

/// Clusters have colours of their own, so that none is taken for a policy.
fn parts_range(names: &[&str]) -> Vec<String> {
    let colour = |(at, name): (usize, &&str)| match name.strip_prefix("rest of the board") {
        Some("") => "@board".to_owned(),
        Some(_) => "@other".to_owned(),
        None => format!("@part{}", at % 6),
    };
    names.iter().enumerate().map(colour).collect()
}

/// Bars made of parts; `most`: the end of the axis, so that charts can be compared.
pub(super) fn stacks(
    parts: &[Part],
    title: &str,
    most: Option<f64>,
    colours: &Colours<'_>,
) -> Value {
    let rows = once(parts.iter().map(|part| &part.row));
    let names = once(parts.iter().map(|part| &part.part));
    let scale = match colours {
        Colours::States(depths) => {
            let range: Vec<String> = names
                .iter()
                .map(|name| state_colour(name, depths))
                .collect();
            json!({"domain": names, "range": range})
        }
        Colours::Parts => json!({"domain": names, "range": parts_range(&names)}),
    };
    let value = |part: &Part| {
        let order = names.iter().position(|name| *name == part.part);
        json!({"row": part.row, "part": part.part, "value": part.value, "order": order})
    };
    let mut domain = json!({"nice": most.is_none()});
    if let Some(most) = most {
        domain["domain"] = json!([0, most]);
    }
    let spec = json!({
        "mark": {"type": "bar", "height": {"band": 0.72}},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "sort": rows,
                "axis": y_labels("policy")},
            "x": {"field": "value", "type": "quantitative", "stack": "zero", "title": title,
                "scale": domain},
            "color": {"field": "part", "type": "nominal", "scale": scale,
                "legend": {"title": null, "orient": "top"}},
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                {"field": "row", "type": "nominal", "title": " "},
                {"field": "part", "type": "nominal", "title": "part"},
                {"field": "value", "type": "quantitative", "format": ".4~g", "title": title},
            ],
        },
    });
    base(rows.len() * 34 + 8, parts.iter().map(value).collect(), spec)
}

/// Groups of upright bars, or of lying ones for long names.
pub(super) fn bars(bars: &[Bar], (at, value): (&str, &str), lying: bool) -> Value {
    let groups = once(bars.iter().map(|bar| &bar.at));
    let names = once(bars.iter().map(|bar| &bar.series));
    let one = |bar: &Bar| json!({"at": bar.at, "series": bar.series, "value": bar.value});
    let mut group = json!({"field": "at", "type": "ordinal", "sort": groups, "title": at});
    let figure = json!({"field": "value", "type": "quantitative", "title": value});
    let offset = json!({"field": "series", "type": "nominal", "scale": {"domain": names}});
    let height = match lying {
        true => groups.len() * (names.len() * 12 + 10) + 8,
        false => 200,
    };
    let (across, up, aside) = if lying {
        ("y", "x", "yOffset")
    } else {
        ("x", "y", "xOffset")
    };
    if lying {
        group["axis"] = y_labels(at);
    } else {
        group["axis"] = json!({"labelOverlap": true, "labelAngle": 0});
    }
    let spec = json!({
        "mark": {"type": "bar"},
        "encoding": {
            across: group,
            up: figure,
            aside: offset,
            "color": {"field": "series", "type": "nominal", "scale": series(&names),
                "legend": legend(&names)},
            "tooltip": [
                {"field": "at", "type": "nominal", "title": if lying { " " } else { at }},
                {"field": "series", "type": "nominal", "title": "policy"},
                {"field": "value", "type": "quantitative", "format": ".4~g", "title": value},
            ],
        },
    });
    base(height, bars.iter().map(one).collect(), spec)
}

/// Curves over a logarithmic axis.
pub(super) fn curves(points: &[Point], (x, y): (&str, &str), log_y: bool) -> Value {
    let names = once(points.iter().map(|point| &point.series));
    let one = |point: &Point| json!({"series": point.series, "x": point.x, "y": point.y});
    let y_scale = match log_y {
        true => json!({"type": "log", "nice": false}),
        false => json!({"domain": [0, 100]}),
    };
    let tens = |of: fn(&Point) -> f64| -> Vec<f64> {
        let ends = || points.iter().map(of).filter(|value| *value > 0.0);
        let (low, high) = (ends().fold(f64::MAX, f64::min), ends().fold(0.0, f64::max));
        let all = (-6..=12).map(|power| 10.0_f64.powi(power));
        all.filter(|ten| *ten * 10.0 > low && *ten < high * 10.0)
            .collect()
    };
    let y_axis = match log_y {
        true => json!({"values": tens(|point| point.y), "format": "~g"}),
        false => json!({"values": [0, 25, 50, 75, 100]}),
    };
    let spec = json!({
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": x,
                "scale": {"type": "log", "nice": false},
                "axis": {"values": tens(|point| point.x), "labelOverlap": true,
                    "labelExpr": "datum.value < 1000 ? format(datum.value, '~g') + ' µs' : \
                        datum.value < 1000000 ? format(datum.value / 1000, '~g') + ' ms' : \
                        format(datum.value / 1000000, '~g') + ' s'"}},
            "y": {"field": "y", "type": "quantitative", "title": y, "scale": y_scale,
                "axis": y_axis},
            "color": {"field": "series", "type": "nominal", "scale": series(&names),
                "legend": legend(&names)},
            "strokeDash": {"field": "series", "type": "nominal", "legend": legend(&names),
                "scale": {"domain": names, "range": [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]}},
            "tooltip": [
                {"field": "series", "type": "nominal", "title": "policy"},
                {"field": "x", "type": "quantitative", "format": ".4~g", "title": x},
                {"field": "y", "type": "quantitative", "format": ".4~g", "title": y},
            ],
        },
    });
    base(220, points.iter().map(one).collect(), spec)
}
