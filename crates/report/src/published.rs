//! What was published beside what was simulated, of several studies: tables by series and a count
//! of directions. From the JSON of results only (studies/README.md).
//!
//! What must stay: series by name, then studies by name, since pages of docs/results are made of it
//! (`wakeplace-fidelity`); what is right or wrong is `wakeplace_study`'s direction, never decided
//! here; a study counts once, and one with other settings than its own is not judged. Free: words
//! for people that no test quotes. Tests by part: `directions_are_counted_by_interval` (`counts`,
//! `direction`, `line`), `a_study_counts_once_and_as_its_own` (`published`, `other_conditions`),
//! `headlines_are_the_largest_changes` (`headlines`), `a_study_counts_once_and_as_its_own` (`word`,
//! `rows`); `study` and `page` are the tests' own.
//!
//! Tests: below

use crate::html::read::{self, Parsed};
use crate::phrase::interval_pct;
use crate::{HtmlError, Source, number};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use wakeplace_outcome::{Figure, Row, Study};
use wakeplace_study::Direction;
use wakeplace_text::markdown;

/// How much of the tables is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every published figure.
    All,
    /// Of each study and policy the largest change that was published of its first metric.
    Headlines,
}

/// Whether a row's simulated change goes the way of the published one; None: no check, also where
/// the runs are not the study's own.
fn direction(study: &Study, row: &Row) -> Option<Direction> {
    Direction::of_row(row).filter(|_| !other_conditions(study))
}

/// The direction as a cell; empty where there is nothing to compare.
fn word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Right) => "right",
        Some(Direction::Wrong) => "**wrong**",
        Some(Direction::NotTold) => "not told",
        None => "",
    }
}

/// The tables as Markdown.
///
/// # Errors
/// A source is no result of `study run`, or has a study that stood before; the message says where
/// and why.
pub fn published(sources: &[Source<'_>], extent: Extent) -> Result<String, HtmlError> {
    let mut series: BTreeMap<String, Vec<Study>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for source in sources {
        for parsed in read::read(*source)? {
            let Parsed::Study(study) = parsed else {
                return Err(read::no_study(source.name));
            };
            if !known.insert(study.study.clone()) {
                return Err(read::twice(source.name, &study.study));
            }
            let name = study.study.split('/').next().unwrap_or_default();
            series.entry(name.to_owned()).or_default().push(*study);
        }
    }
    series.retain(|_, studies| {
        studies
            .iter()
            .any(|study| rows(study, extent).next().is_some())
    });
    let mut out = String::new();
    if extent == Extent::All {
        out += &counts(&series);
    }
    for (name, studies) in &mut series {
        studies.sort_by(|one, other| one.study.cmp(&other.study));
        let _ = write!(out, "\n### {}\n\n{HEAD}", markdown(name));
        for study in studies.iter() {
            rows(study, extent).for_each(|row| out += &line(study, row));
        }
        let other = studies.iter().filter(|study| other_conditions(study));
        out.extend(other.map(|study| {
            format!(
                "\n{}: run with another length or settings than its own. Nothing published was \
                 measured under them, so no direction is judged.\n",
                markdown(&study.study)
            )
        }));
    }
    Ok(out.trim_start().to_owned())
}

/// Run with another length or settings than its own.
fn other_conditions(study: &Study) -> bool {
    !study.as_written
}

const HEAD: &str = "\
| study | case | policy | metric | published | simulated | change, published | change, simulated \
| direction |
|---|---|---|---|--:|--:|--:|--:|---|
";

/// The rows of a study's own cases of which something was published.
fn rows(study: &Study, extent: Extent) -> Box<dyn Iterator<Item = &Row> + '_> {
    let own = study.rows.iter().filter(|row| row.kind().is_empty());
    let has = |row: &&Row| row.published.is_some() || row.published_delta_pct.is_some();
    let all = own.filter(has);
    match extent {
        Extent::All => Box::new(all),
        Extent::Headlines => Box::new(headlines(all).into_iter()),
    }
}

/// The largest published change of each policy, in the metric that comes first.
fn headlines<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let mut found: Vec<&Row> = Vec::new();
    let mut metric = None;
    let size = |row: &Row| row.published_delta_pct.map_or(0.0, f64::abs);
    for row in rows.filter(|row| row.published_delta_pct.is_some() && !row.calibrated) {
        if *metric.get_or_insert(&row.metric) != &row.metric {
            continue;
        }
        match found.iter_mut().find(|other| other.policy == row.policy) {
            Some(other) if size(row) > size(other) => *other = row,
            Some(_) => {}
            None => found.push(row),
        }
    }
    found
}

/// One published figure beside ours, as a row of Markdown.
fn line(study: &Study, row: &Row) -> String {
    let name = study.study.split('/').next_back().unwrap_or_default();
    let size = if study.quick { " (reduced)" } else { "" };
    let finite = |mean: &f64| mean.is_finite();
    let mean = |figure: Option<&Figure>| {
        let mean = figure.map(|figure| figure.mean).filter(finite);
        mean.map_or(String::new(), number::short)
    };
    let change = |delta: Option<f64>| delta.map_or(String::new(), number::percent);
    let ci95 = interval_pct(row.simulated_delta_ci95);
    let simulated = [change(row.simulated_delta_pct), ci95.unwrap_or_default()];
    let cells = [
        markdown(&format!("{name}{size}")),
        markdown(&row.case),
        markdown(&row.policy),
        markdown(&row.metric),
        mean(row.published.as_ref()) + if row.calibrated { "*" } else { "" },
        mean(Some(&row.simulated)),
        change(row.published_delta_pct),
        simulated.join(" ").trim().to_owned(),
        word(direction(study, row)).to_owned(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// How many directions are right, by series.
fn counts(series: &BTreeMap<String, Vec<Study>>) -> String {
    let mut out = String::from(
        "| series | changes published | right | wrong | not told |\n|---|--:|--:|--:|--:|\n",
    );
    for (name, studies) in series {
        let of = |study| rows(study, Extent::All).filter_map(move |row| direction(study, row));
        let found: Vec<Direction> = studies.iter().flat_map(of).collect();
        let number = |wanted| found.iter().filter(|other| **other == wanted).count();
        let [right, wrong, open] =
            [Direction::Right, Direction::Wrong, Direction::NotTold].map(number);
        let _ = writeln!(
            out,
            "| {} | {} | {right} | {wrong} | {open} |",
            markdown(name),
            right + wrong + open
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metric, published and simulated change, the latter's interval, whether it is calibrated.
    type Figures<'a> = (&'a str, f64, f64, Option<[f64; 2]>, bool);

    /// A study of one case with these rows.
    fn study(name: &str, rows: &[Figures<'_>]) -> String {
        let rows = rows
            .iter()
            .map(|(metric, published, simulated, ci95, calibrated)| {
                serde_json::json!({
                    "case": "10", "metric": metric, "policy": "new",
                    "simulated": { "mean": 5.0 }, "published": { "mean": 7.0 },
                    "published_delta_pct": published, "simulated_delta_pct": simulated,
                    "simulated_delta_ci95": ci95, "calibrated": calibrated,
                })
            });
        let rows: Vec<_> = rows.collect();
        serde_json::json!({
            "schema_version": crate::SCHEMA_VERSION, "study": name, "platform": "p",
            "base_policy": "old", "duration_ns": 1, "seeds": [1, 2], "rows": rows,
        })
        .to_string()
    }

    fn page(text: &str, extent: Extent) -> String {
        published(&[Source { name: "one", text }], extent).expect("a result")
    }

    /// Goal: a direction is right or wrong only if the interval tells it from chance. A published
    /// change below 1 % says "no change": an interval within 5 % agrees, one beyond 1 % does not,
    /// and a wide one, or none, tells nothing. A calibrated figure is no check.
    #[test]
    fn directions_are_counted_by_interval() {
        let text = study(
            "eas/energy",
            &[
                ("a", -13.0, -16.0, Some([-18.0, -14.0]), false),
                ("b", -13.0, 5.0, Some([3.0, 7.0]), false),
                ("c", -13.0, -16.0, Some([-40.0, 8.0]), false),
                ("d", 0.2, 5.0, Some([3.0, 7.0]), false),
                ("e", 0.2, 5.0, Some([-3.0, 13.0]), false),
                ("f", 0.2, 0.5, Some([0.4, 0.6]), false),
                ("g", -13.0, -13.0, Some([-14.0, -12.0]), true),
                ("h", -13.0, -16.0, None, false),
                ("i", 0.2, 0.0, None, false),
                ("j", 0.2, 0.0, Some([0.0, 0.0]), false),
                ("k", 0.2, 0.5, Some([-4.0, 5.0]), false),
            ],
        );
        let page = page(&text, Extent::All);
        assert!(page.contains("| eas | 10 | 4 | 2 | 4 |"), "{page}");
        assert_eq!(page.matches("| energy |").count(), 11);
        assert!(page.contains("| g | 7* |"), "{page}");
    }

    /// Goal: no study counts twice, and one that was run in another way is shown, not judged.
    #[test]
    fn a_study_counts_once_and_as_its_own() {
        let row = ("a", -13.0, -16.0, Some([-18.0, -14.0]), false);
        let text = study("eas/energy", &[row]);
        let [one, other] = ["one", "other"].map(|name| Source { name, text: &text });
        let error = published(&[one, other], Extent::All).expect_err("twice");
        let expected = "other: the study `eas/energy` stood before; expected each study once";
        assert_eq!(error.to_string(), expected);
        let mut changed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        changed["as_written"] = false.into();
        let page = page(&changed.to_string(), Extent::All);
        assert!(page.contains("| eas | 0 | 0 | 0 | 0 |"), "{page}");
        assert!(page.contains("| energy | 10 |"), "{page}");
        assert!(
            page.contains("eas/energy: run with another length"),
            "{page}"
        );
    }

    /// Goal: the headline is the largest published change of the first metric.
    #[test]
    fn headlines_are_the_largest_changes() {
        let ci95 = Some([1.0, 3.0]);
        let rows = [
            ("a", 5.0, 2.0, ci95, false),
            ("a", -9.0, 2.0, ci95, false),
            ("b", 99.0, 2.0, ci95, false),
        ];
        let page = page(&study("eas/energy", &rows), Extent::Headlines);
        assert_eq!(page.matches("| energy |").count(), 1);
        assert!(
            page.contains("-9.00 %") && page.contains("**wrong**"),
            "{page}"
        );
    }
}
