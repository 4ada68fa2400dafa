//! Results as one HTML file that loads nothing: what is drawn, what draws it and its fonts' choice
//! are all in it. From the JSON of results only, so a page of a file and a page of a run are equal.

mod cases;
mod charts;
mod compared;
mod details;
mod drawings;
mod energy;
mod latency;
pub(crate) mod model;
pub(crate) mod read;
mod repeat;
mod rows;
mod sensitivity;
mod study;
mod timeline;
mod view;

pub use drawings::charts;
pub use read::{HtmlError, Source};

use drawings::PALETTES;
use minijinja::value::ValueKind;
use minijinja::{Environment, UndefinedBehavior, context, escape_formatter};
use read::Parsed;
use serde_json::{Map, Value, json};
use view::{Block, Page, ResultView};
use wakeplace_text::{printable, printable_lines};

const TEMPLATE: &str = include_str!("../../templates/report.html");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const CHART_STYLE: &str = include_str!("../../assets/uPlot.min.css");

/// Programs of others that draw the charts, in the order in which they are needed.
const LIBRARIES: [(&str, &str, &str); 4] = [
    (
        "Vega 6.4.0",
        include_str!("../../assets/vega.min.js"),
        include_str!("../../assets/vega.LICENSE.txt"),
    ),
    (
        "Vega-Lite 6.5.0",
        include_str!("../../assets/vega-lite.min.js"),
        include_str!("../../assets/vega-lite.LICENSE.txt"),
    ),
    (
        "Vega-Embed 7.3.0",
        include_str!("../../assets/vega-embed.min.js"),
        include_str!("../../assets/vega-embed.LICENSE.txt"),
    ),
    (
        "uPlot 1.6.32",
        include_str!("../../assets/uPlot.iife.min.js"),
        include_str!("../../assets/uPlot.LICENSE.txt"),
    ),
];

/// One page of some results.
///
/// # Errors
/// One of them is no result of `compare`, `sim` or `study run`; the message says where and why.
///
/// # Panics
/// Never: the template is a part of the program, and a test renders it.
pub fn html(sources: &[Source<'_>]) -> Result<String, HtmlError> {
    let results = views(sources)?;
    let title = match results.as_slice() {
        [one] => one.title.clone(),
        several => format!("{} results", several.len()),
    };
    let drawn = drawn(&results);
    let page = Page {
        title,
        results,
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(render(&page, drawn))
}

/// What a page shows of results.
fn views(sources: &[Source<'_>]) -> Result<Vec<ResultView>, HtmlError> {
    let mut results = Vec::new();
    for source in sources {
        for parsed in read::read(*source)? {
            let id = format!("r{}", results.len() + 1);
            results.push(match &parsed {
                Parsed::Comparison(result) => compared::view(&id, result),
                Parsed::Study(result) => study::view(&id, result),
            });
        }
    }
    Ok(results)
}

/// What the page's script draws, by id.
fn drawn(results: &[ResultView]) -> Value {
    let mut charts = Map::new();
    let mut timelines = Map::new();
    let sections = results.iter().flat_map(|result| &result.sections);
    for block in sections.flat_map(|section| &section.blocks) {
        match block {
            Block::Chart(chart) => {
                charts.insert(chart.id.clone(), Value::Array(chart.specs.clone()));
            }
            Block::Timeline(line) => {
                timelines.insert(line.id.clone(), line.data.clone());
            }
            _ => {}
        }
    }
    let palettes: Value = serde_json::from_str(PALETTES).expect("the colours are JSON");
    json!({"charts": charts, "timelines": timelines, "palettes": palettes})
}

/// The value with all strings as people may see them.
fn shown(value: &mut Value) {
    match value {
        Value::String(text) => *text = printable(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(shown),
        Value::Object(entries) => entries.values_mut().for_each(shown),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// JSON that can stand in a script element: nothing in it looks like markup.
fn embedded(mut value: Value) -> String {
    shown(&mut value);
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// A library without the name of a file that a browser's tools would ask for.
fn without_map(script: &str) -> String {
    let lines = script
        .lines()
        .filter(|line| !line.starts_with("//# sourceMappingURL="));
    lines.map(|line| format!("{line}\n")).collect()
}

fn render(page: &Page, drawn: Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // What is marked as safe is ours; anything else may come from a file.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if value.kind() == ValueKind::String && !value.is_safe() => {
            escape_formatter(out, state, &(&*printable_lines(text)).into())
        }
        _ => escape_formatter(out, state, value),
    });
    // The name's ending is what makes everything be escaped.
    let name = "report.html";
    environment
        .add_template(name, TEMPLATE)
        .expect("the template is well-formed");
    let scripts: Vec<String> = LIBRARIES
        .iter()
        .map(|library| without_map(library.1))
        .collect();
    let licences: Vec<_> = LIBRARIES
        .iter()
        .map(|(name, _, licence)| context! { name => *name, text => *licence })
        .collect();
    let template = environment.get_template(name).expect("it was just added");
    let rendered = template.render(context! {
        page => minijinja::value::Serde(page),
        style => STYLE,
        chart_style => CHART_STYLE,
        scripts,
        script => SCRIPT,
        drawn => embedded(drawn),
        licences,
    });
    let text = rendered.expect("the template names what there is");
    format!("{}\n", text.trim())
}

#[cfg(test)]
mod tests;
