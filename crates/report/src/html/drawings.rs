//! The charts of a page apart from the page: for notebooks (docs/guide/report.md).
//!
//! What must stay: keys `title`, `alt`, `specs` of the list, which notebooks read (crates/python,
//! docs/guide/python.md); the data of a chart is not touched; both themes have the same names.
//! Free: words for people that no test quotes. Tests by part: `names_become_colours_and_data_stays`
//! (`paint`, `colour`), `test_charts_are_those_of_the_page` (`charts`).
//!
//! Tests: below, crates/python/tests/test_results.py::test_charts_are_those_of_the_page

use super::read::Source;
use super::view::Block;
use super::{HtmlError, views};
use serde_json::{Value, json};

/// Colours of the page's two themes.
pub(super) const PALETTES: &str = include_str!("../../assets/palettes.json");

/// The charts that a page of a result has, as a JSON list in their order. Each has `title`, `alt`
/// (what it shows, in words) and `specs`: Vega-Lite in the light theme's colours, by the name of
/// the choice (`""` where there is none).
///
/// # Errors
/// It is no result of `compare`, `sim` or `study run`; the message says where and why.
///
/// # Panics
/// Never: the colours are a part of the program.
pub fn charts(source: Source<'_>) -> Result<String, HtmlError> {
    let palettes: Value = serde_json::from_str(PALETTES).expect("the colours are JSON");
    let (views, _) = views(&[source])?;
    let sections = views.iter().flat_map(|view| &view.sections);
    let charts = sections
        .flat_map(|section| &section.blocks)
        .filter_map(|block| {
            let Block::Chart(chart) = block else {
                return None;
            };
            let names = chart.choices.iter().map(String::as_str).chain([""]);
            let specs = names.zip(&chart.specs).map(|(name, spec)| {
                let mut spec = spec.clone();
                paint(&mut spec, &palettes["light"]);
                (name.to_owned(), spec)
            });
            let specs: serde_json::Map<String, Value> = specs.collect();
            Some(json!({"title": chart.title, "alt": chart.alt, "specs": specs}))
        });
    Ok(Value::Array(charts.collect()).to_string())
}

/// `@name` and `@nameN` outside of the data are colours of the theme, as in report.js.
fn paint(value: &mut Value, palette: &Value) {
    match value {
        Value::String(text) => {
            if let Some(colour) = text
                .strip_prefix('@')
                .and_then(|name| colour(name, palette))
            {
                *text = colour;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| paint(item, palette)),
        Value::Object(entries) => {
            let painted = entries.iter_mut().filter(|(key, _)| *key != "values");
            painted.for_each(|(_, entry)| paint(entry, palette));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The theme's colour for a name like `series3`; a number past the last begins anew. `None`: no
/// such name, and the text stays.
fn colour(name: &str, palette: &Value) -> Option<String> {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let at: usize = name[word.len()..].parse().unwrap_or(0);
    let key = if word == "quiet" { "quietly" } else { word };
    let found = match &palette[key] {
        Value::Array(all) => all.get(at % all.len().max(1))?,
        one => one,
    };
    found.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{PALETTES, paint};
    use serde_json::{Value, json};

    #[test]
    fn names_become_colours_and_data_stays() {
        let palettes: Value = serde_json::from_str(PALETTES).expect("JSON");
        let mut spec = json!({
            "data": {"values": [{"row": "@series0"}]},
            "scale": {"range": ["@series9", "@board", "@none", "red"]},
        });
        paint(&mut spec, &palettes["light"]);
        assert_eq!(spec["data"]["values"][0]["row"], "@series0");
        let series = palettes["light"]["series"][1].as_str();
        let board = palettes["light"]["board"].as_str();
        let range: Vec<Option<&str>> = [series, board, Some("@none"), Some("red")].to_vec();
        let found = spec["scale"]["range"].as_array().expect("a list").iter();
        assert_eq!(found.map(Value::as_str).collect::<Vec<_>>(), range);
        let keys = |theme: &str| {
            let colours = palettes[theme].as_object().expect("a theme");
            colours.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys("light"), keys("dark"));
    }
}
