//! From the text of a result to what a page is made of; anything else is refused. What a page needs
//! and an older result lacks is left out of the page, and the page says so (docs/guide/report.md).
//!
//! What must stay: results of every version that was ever released are read
//! (crates/report/tests/old), so a field that came later is optional; a refusal names the source,
//! what is wrong, and what was expected, on one line of bounded length. Pages, `diff` and
//! `published` read by it. Words of refusals may change. Tests by part:
//! `no_result_is_refused_in_a_sentence` (`read`, `parse`, `compared`, `check`, `short`),
//! `results_of_version_1_are_read` (old results),
//! published.rs::`a_study_counts_once_and_as_its_own` (`twice`), the first also `fmt` and
//! `refused`. `no_study` has no test of its own.
//!
//! Callers: published.rs (`no_study`, `twice`).
//!
//! Tests: crates/report/src/html/tests.rs,
//! crates/report/src/published.rs::a_study_counts_once_and_as_its_own

use super::sweep::Sweep;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use wakeplace_outcome::{
    Comparison, Comparisons, RESULT_SCHEMA_VERSION, Review, Studies, Study, Timeline,
};
use wakeplace_study::PlatformError;

/// A result to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What it is called in messages.
    pub name: &'a str,
    /// JSON.
    pub text: &'a str,
}

/// Why a text is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtmlError(String);

impl fmt::Display for HtmlError {
    /// As `read` worded it: the name of the source, then what is wrong.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HtmlError {}

/// What can be shown.
pub(crate) enum Parsed {
    Comparison(Box<Comparison>),
    Study(Box<Study>),
    Sweep(Box<Sweep>),
    /// Its comparisons follow.
    Review(Box<Review>),
}

/// Most CPUs of a timeline; the simulator takes 1024.
const MAX_CPUS: u32 = 4096;

const EXPECTED: &str = "expected the JSON of `compare`, `sim`, `review`, `study run` or `sweep`";

/// Keys that only results of other commands have, and whose they are.
const OTHERS: [(&str, &str); 5] = [
    ("longest_wait", "evaluate"),
    ("wakeup", "explain"),
    ("kernel", "lab run"),
    ("tables", "a list"),
    ("cases", "--export-wakeup-cases"),
];

/// A source that is not what it should be.
pub(crate) fn refused(name: &str, what: &str) -> HtmlError {
    HtmlError(format!("{name}: {what}; {EXPECTED}"))
}

/// It is a result, but not one of a study.
pub(crate) fn no_study(name: &str) -> HtmlError {
    HtmlError(format!(
        "{name}: is no result of `study run`; expected the JSON of `study run`"
    ))
}

/// A study that stood before.
pub(crate) fn twice(name: &str, study: &str) -> HtmlError {
    HtmlError(format!(
        "{name}: the study `{}` stood before; expected each study once",
        short(study)
    ))
}

/// One result, or several of studies.
pub(crate) fn read(source: Source<'_>) -> Result<Vec<Parsed>, HtmlError> {
    let whole: Value = parse(source)?;
    let refuse = |what: &str| refused(source.name, what);
    let Some(object) = whole.as_object() else {
        return Err(refuse("is no object"));
    };
    match object
        .get("schema_version")
        .map(|version| (version, version.as_u64()))
    {
        None => return Err(refuse("has no `schema_version`, so it is no result")),
        Some((_, Some(1..=NEWEST))) => {}
        Some((version, _)) => {
            let what = format!(
                "has `schema_version` {}, and this program reads 1 to {NEWEST}: make it again",
                short(&version.to_string())
            );
            return Err(refuse(&what));
        }
    }
    if object.contains_key("partings") {
        let review: Review = parse(source)?;
        let comparisons = review.comparisons.clone().into_iter();
        let review = std::iter::once(Ok(Parsed::Review(Box::new(review))));
        return review
            .chain(comparisons.map(|found| compared(found, refuse)))
            .collect();
    }
    if object.contains_key("comparisons") {
        let several: Comparisons = parse(source)?;
        return several
            .comparisons
            .into_iter()
            .map(|found| compared(found, refuse))
            .collect();
    }
    if object.contains_key("studies") {
        let several: Studies = parse(source)?;
        let studies = several.studies.into_iter();
        return Ok(studies
            .map(|study| Parsed::Study(Box::new(study)))
            .collect());
    }
    if object.contains_key("study") && object.contains_key("rows") {
        return Ok(vec![Parsed::Study(Box::new(parse(source)?))]);
    }
    if object.get("runs").is_some_and(Value::is_array) && object.contains_key("duration_ns") {
        if !object.contains_key("version") {
            return Err(refuse("is a table of wake-up cases"));
        }
        return Ok(vec![compared(parse(source)?, refuse)?]);
    }
    if let Some(points) = object.get("points").and_then(Value::as_array) {
        Sweep::check(points).map_err(refuse)?;
        let sweep = Sweep::of(parse(source)?);
        return Ok(vec![Parsed::Sweep(Box::new(sweep))]);
    }
    let other = OTHERS.iter().find(|(key, _)| object.contains_key(*key));
    Err(match other {
        Some((_, command)) => refuse(&format!("is the result of `{command}`")),
        None => refuse("has neither `runs` nor `study`"),
    })
}

/// A comparison that can be shown.
fn compared(found: Comparison, refuse: impl Fn(&str) -> HtmlError) -> Result<Parsed, HtmlError> {
    if found.runs.is_empty() {
        return Err(refuse("has no runs"));
    }
    for run in &found.runs {
        let checked = run.timeline.as_ref().map_or(Ok(()), check);
        checked.map_err(|what| refuse(&what))?;
    }
    Ok(Parsed::Comparison(Box::new(found)))
}

/// The newest form of a result; 1 had no values of single runs.
const NEWEST: u64 = RESULT_SCHEMA_VERSION;

/// A result's text in the types of results; what is none is refused in a sentence.
pub(super) fn parse<T: DeserializeOwned>(source: Source<'_>) -> Result<T, HtmlError> {
    serde_json::from_str(source.text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        let text = text.strip_suffix(&place).unwrap_or(&text);
        let what = short(&PlatformError::in_words(text, "an object"));
        HtmlError(format!(
            "{}:{line}:{column}: {what}; {EXPECTED}",
            source.name
        ))
    })
}

/// At most so much of what a file holds gets into a message.
fn short(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a timeline is drawn by must be within its bounds.
fn check(line: &Timeline) -> Result<(), String> {
    if line.cpus > MAX_CPUS {
        return Err(format!("has a timeline of {} CPUs", line.cpus));
    }
    if line.from_ns >= line.to_ns || !(line.from_ns..=line.to_ns).contains(&line.until_ns) {
        return Err(format!(
            "has a timeline from {} to {} ns that is complete until {} ns",
            line.from_ns, line.to_ns, line.until_ns
        ));
    }
    for &(cpu, _, from, to) in line
        .cpu_task_from_to_ns
        .iter()
        .chain(&line.cpu_idle_state_from_to_ns)
    {
        if cpu >= line.cpus {
            return Err(format!("has a timeline with CPU {cpu} of {}", line.cpus));
        }
        if from < line.from_ns || to > line.to_ns || from > to {
            return Err(format!(
                "has a timeline with {from} to {to} ns, outside its window"
            ));
        }
    }
    Ok(())
}
