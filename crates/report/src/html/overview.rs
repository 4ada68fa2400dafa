//! Several comparisons at a glance: what tells them apart, and one table across them
//! (docs/guide/report.md).
//!
//! What must stay: verdicts are those of each result's own part (`compared.rs`); a result is named
//! by what tells it apart, and by its number where names are the same; one comparison alone has no
//! such table. Words and looks may change. Tests by part:
//! `several_workloads_are_told_apart_at_a_glance` (`names`, `table`),
//! `several_results_have_a_heading_each` (results of one name), the first also `comparison`,
//! `workload`, `platform` and `policies`.
//!
//! Callers: mod.rs (`names`, `table`).
//!
//! Tests: crates/report/src/html/tests.rs

use super::compared::{badge, figure, label, verdict_badge, verdict_tone};
use super::read::Parsed;
use super::tables::difference;
use super::view::{Cell, Table};
use crate::phrase;
use wakeplace_outcome::{Comparison, Delta};

/// What stands beside the subject of each verdict.
const PRICE: &str = "wake_latency_us_p99";

/// What results are called on a page of several.
pub(super) struct Names {
    /// Of each, by what tells it apart; else by its number, too.
    pub(super) all: Vec<String>,
    /// Something does: the name heads the title.
    pub(super) differ: bool,
}

/// The names of all results of a page.
pub(super) fn names(all: &[Parsed]) -> Names {
    let comparisons = || all.iter().filter_map(comparison);
    let differ = |of: fn(&Comparison) -> String| {
        let mut values = comparisons().map(of);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let parts: [fn(&Comparison) -> String; 3] = [workload, platform, policies];
    let parts: Vec<_> = parts.into_iter().filter(|of| differ(*of)).collect();
    let name = |parsed: &Parsed| match parsed {
        Parsed::Comparison(result) if parts.is_empty() => policies(result),
        Parsed::Comparison(result) => {
            let parts: Vec<String> = parts.iter().map(|of| of(result)).collect();
            parts.join(", ")
        }
        Parsed::Study(result) => result.study.clone(),
        Parsed::Review(_) => "Review".to_owned(),
    };
    let names: Vec<String> = all.iter().map(name).collect();
    let numbered = |(at, name): (usize, &String)| {
        let same = names.iter().filter(|other| *other == name).count();
        match same {
            1 => name.clone(),
            _ => format!("{name} ({})", at + 1),
        }
    };
    Names {
        all: names.iter().enumerate().map(numbered).collect(),
        differ: !parts.is_empty(),
    }
}

/// The result of `sim` or `compare`; `None` for a study, which has no row here.
fn comparison(parsed: &Parsed) -> Option<&Comparison> {
    match parsed {
        Parsed::Comparison(result) => Some(result),
        Parsed::Study(_) | Parsed::Review(_) => None,
    }
}

/// The load by its name, the same for all policies of a comparison.
fn workload(result: &Comparison) -> String {
    result.runs[0].workload.clone()
}

/// The machine by its name, the same for all policies of a comparison.
fn platform(result: &Comparison) -> String {
    result.runs[0].platform.clone()
}

/// The policies of a comparison in their order, the base first.
fn policies(result: &Comparison) -> String {
    let names: Vec<&str> = result.runs.iter().map(|run| run.policy.as_str()).collect();
    names.join(", ")
}

/// A row for each comparison and policy: its subject, the price, and what they come to. None where
/// there is less than two to look across.
pub(super) fn table(all: &[Parsed], names: &[String]) -> Option<Table> {
    let columns = ["result", "policy", "#change", "#latency p99", "difference"];
    let caption = "All comparisons: what each is measured by, and the 99th percentile of the \
        wake-up latency";
    let mut table = Table::new("overview".to_owned(), caption, &columns);
    table.cards = true;
    let found = all.iter().zip(names);
    let compared = found.filter_map(|(parsed, name)| Some((comparison(parsed)?, name)));
    let compared: Vec<_> = compared
        .filter(|(result, _)| result.runs.len() > 1)
        .collect();
    for (result, name) in &compared {
        for (nth, verdict) in result.verdicts().iter().enumerate() {
            let head = match nth {
                0 => Cell::head(name.as_str()),
                _ => Cell::default(),
            };
            let own = |metric: &str| {
                let of = |d: &&Delta| d.metric == metric && d.other == verdict.policy;
                result.deltas().iter().find(of)
            };
            let shown = |metric: &str| own(metric).and_then(|delta| figure(result, delta));
            let price = own(PRICE).map(difference).unwrap_or_default();
            let base = &result.runs[0].policy;
            let policy = phrase::short_policy(base, &verdict.policy);
            table.rows.push(vec![
                head,
                Cell::of(policy).small(label(result, &verdict.metric)),
                shown(&verdict.metric).into(),
                Cell::from(shown(PRICE)).small(badge(price)),
                Cell::of(verdict_badge(verdict)).tone(verdict_tone(verdict)),
            ]);
        }
    }
    // A review has tables of its own.
    let reviewed = matches!(all.first(), Some(Parsed::Review(_)));
    (compared.len() > 1 && !reviewed && !table.rows.is_empty()).then_some(table)
}
