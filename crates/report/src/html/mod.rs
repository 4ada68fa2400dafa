//! Results as one HTML file that loads nothing: what is drawn, what draws it and its fonts' choice
//! are all in it. From the JSON of results only, so a page of a file and a page of a run are equal.
//! The same parts without the page around them are for pages that make results themselves
//! (docs/guide/report.md).
//!
//! What must stay: the same results give the same bytes, and the page loads nothing; ids are unique
//! on a page. `--export-html`, `report`, the Python module and the playground (`fragment`,
//! `decision`) call it. What it shows and how may change. Tests by part:
//! `the_same_result_gives_the_same_bytes`, `nothing_is_loaded` and
//! `several_results_have_a_heading_each` (`html`, `views`, `title`),
//! `what_a_result_says_is_no_markup` (`drawn`),
//! crates/wasm/src/answer/tests.rs::`a_decision_is_explained` (`decision`),
//! cli/tests/all/report.rs::`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes` (a run and its
//! JSON), all also `blocks` and `fragment`.
//!
//! Callers: drawings.rs (`views`).
//!
//! Tests: crates/report/src/html/tests.rs::the_same_result_gives_the_same_bytes,
//! crates/report/src/html/tests.rs::nothing_is_loaded,
//! crates/report/src/html/tests.rs::several_results_have_a_heading_each,
//! crates/cli/tests/all/report.rs::a_page_of_a_run_and_one_of_its_json_are_the_same_bytes

mod axis;
mod cases;
pub(crate) mod charts;
mod compared;
mod decision;
mod details;
mod drawings;
mod energy;
mod figures;
mod late_frames;
mod latency;
pub(crate) mod lengths;
mod lines;
mod overview;
mod page;
pub(crate) mod read;
mod repeat;
mod residency;
mod review;
mod rows;
mod sensitivity;
mod study;
pub(crate) mod sweep;
mod tables;
mod timeline;
mod view;
mod why;

pub use drawings::charts;
pub use page::{Page, footer};
pub use read::{HtmlError, Source};

use minijinja::context;
use minijinja::value::Serde;
use page::{embedded, render};
use read::Parsed;
use serde_json::{Map, Value, json};
use view::{Block, PageView, ResultView, Table};

/// Draws what is in the page.
const BEGIN: &str =
    "wakeplace.mount(document, JSON.parse(document.getElementById(\"drawn\").textContent));\n";

/// Markup, and what the script `report.js` draws into it.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// One line about it, as text.
    pub title: String,
    /// Markup.
    pub html: String,
    /// For `wakeplace.mount`: JSON without anything that looks like markup.
    pub drawn: String,
}

/// What a page shows of results, and the table across them.
fn views(sources: &[Source<'_>]) -> Result<(Vec<ResultView>, Option<Table>), HtmlError> {
    let mut all = Vec::new();
    for source in sources {
        all.extend(shown(read::read(*source)?));
    }
    let names = overview::names(&all);
    let view = |(at, (parsed, name)): (usize, (&Parsed, &String))| {
        let id = format!("r{}", at + 1);
        match parsed {
            Parsed::Comparison(result) => compared::view(&id, result, (name, names.differ)),
            Parsed::Study(result) => study::view(&id, result, name),
            Parsed::Sweep(result) => sweep::view(&id, result, name),
            Parsed::Review(result) => review::view(&id, result, name),
        }
    };
    let views = all.iter().zip(&names.all).enumerate().map(view).collect();
    Ok((views, overview::table(&all, &names.all)))
}

/// Of a review's comparisons those of its largest changes: a page of all of them is too much for a
/// phone.
fn shown(parsed: Vec<Parsed>) -> Vec<Parsed> {
    let Some(Parsed::Review(review)) = parsed.first() else {
        return parsed;
    };
    let large = |platform: &str, load: &str| {
        let mut partings = review.partings.iter();
        partings.any(|one| one.platform == platform && one.load == load)
    };
    let of_load = |(one, load): (&Parsed, &String)| match one {
        Parsed::Comparison(result) => large(&result.runs[0].platform, load),
        Parsed::Study(_) | Parsed::Review(_) | Parsed::Sweep(_) => true,
    };
    let keep: Vec<bool> = parsed[1..].iter().zip(&review.loads).map(of_load).collect();
    let mut keep = std::iter::once(true).chain(keep);
    let kept = parsed.into_iter();
    kept.filter(|_| keep.next().unwrap_or(true)).collect()
}

/// The title in the browser: the only result's own, or how many there are.
fn title(results: &[ResultView]) -> String {
    match results {
        [one] => one.title.clone(),
        // Its comparisons follow.
        [first, ..] if first.kind == review::KIND => first.title.clone(),
        several => format!("{} results", several.len()),
    }
}

/// One page of some results.
///
/// # Errors
/// One of them is no result of `compare`, `sim`, `study run` or `sweep`; the message says where and
/// why.
pub fn html(sources: &[Source<'_>]) -> Result<String, HtmlError> {
    let (results, overview) = views(sources)?;
    let title = title(&results);
    let data = format!(
        "<script type=\"application/json\" id=\"drawn\">{}</script>",
        embedded(drawn(results.iter().flat_map(blocks)))
    );
    let made = format!(
        "Made by wakeplace {}. This file is complete: it loads nothing from anywhere.",
        env!("CARGO_PKG_VERSION")
    );
    let view = PageView {
        title: title.clone(),
        overview,
        results,
    };
    let footer = footer(&made);
    let body = render("report.html", context! { page => Serde(view), footer });
    let page = Page {
        title: &title,
        brand: "wakeplace report",
        body: &body,
        data: &data,
        script: BEGIN,
        ..Page::default()
    };
    Ok(page.html())
}

/// The same results without a page around them.
///
/// # Errors
/// As [`html`].
pub fn fragment(sources: &[Source<'_>]) -> Result<Fragment, HtmlError> {
    let (results, overview) = views(sources)?;
    let title = title(&results);
    let drawn = embedded(drawn(results.iter().flat_map(blocks)));
    let html = render(
        "articles.html",
        context! { results => Serde(results), overview => Serde(overview) },
    );
    Ok(Fragment { title, html, drawn })
}

/// One decision, given as the JSON of `explain`.
///
/// # Errors
/// It is no result of `explain`.
pub fn decision(source: Source<'_>) -> Result<Fragment, HtmlError> {
    let decision::View { title, blocks } = decision::view(source)?;
    let drawn = embedded(drawn(blocks.iter()));
    let html = render("blocks.html", context! { blocks => Serde(blocks) });
    Ok(Fragment { title, html, drawn })
}

/// All blocks of a result in the page's order.
fn blocks(result: &ResultView) -> impl Iterator<Item = &Block> {
    result.sections.iter().flat_map(|section| &section.blocks)
}

/// What the page's script draws, by id.
fn drawn<'a>(blocks: impl Iterator<Item = &'a Block>) -> Value {
    let mut charts = Map::new();
    let mut timelines = Map::new();
    for block in blocks {
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
    json!({"charts": charts, "timelines": timelines})
}

#[cfg(test)]
mod tests;
