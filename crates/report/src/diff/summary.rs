//! The first line of a difference, and the order in which people see its pairs
//! (docs/guide/results.md, "Two results").
//!
//! What must stay: every pair is counted once, by the word of its verdict; a verdict that is not
//! told from chance is not told, whatever another metric says. Where the verdict is that nothing
//! matters, a metric that the load is read by may be told, the worse first. What differs comes
//! first, the largest change first, and pairs that are the same last. JSON and pages keep the order
//! of the later result. Words may change. Tests by part:
//! `the_first_line_counts_and_what_differs_comes_first` (all),
//! `what_is_not_told_stays_so_whatever_another_metric_says` (`told`, `beside`).
//!
//! Callers: diff.rs.
//!
//! Tests: crates/report/src/diff/tests.rs

use super::Difference;
use crate::json;
use crate::review::size;
use wakeplace_outcome::{self as outcome, Difference as Word};
use wakeplace_text::{count, printable};

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Became {
    /// A run got stuck: nothing is judged.
    Stuck,
    Worse,
    Better,
    /// More seeds may tell, or nothing can be judged.
    NotTold,
    /// What differs does not matter.
    Little,
    /// In every run the same happened, and was measured.
    Same,
}

/// A pair with what became of it.
pub(super) struct Judged<'a> {
    pub(super) pair: &'a Difference,
    pub(super) result: outcome::Comparison,
    pub(super) became: Became,
    /// What another metric that the load is read by is told to be, though the verdict is not told.
    beside: Option<Word>,
    /// How large the change is that it is judged by, or that other one's.
    size: f64,
}

impl<'a> Judged<'a> {
    /// By the verdict of its comparison.
    fn of(pair: &'a Difference) -> Self {
        let result = json::comparison(&pair.runs);
        let verdict = result.verdicts().first();
        let first = verdict.and_then(|one| Word::of_word(&one.difference));
        let told = told(&pair.runs.measured_by, &result);
        let told = told.filter(|_| !matches!(first, Some(Word::Worse | Word::Better)));
        let is_open = matches!(first, Some(Word::NotTold | Word::Unknown));
        let word = told.filter(|_| !is_open).map(|(_, word)| word).or(first);
        let became = match word {
            _ if !pair.complete => Became::Stuck,
            _ if pair.is_same() => Became::Same,
            Some(Word::Worse) => Became::Worse,
            Some(Word::Better) => Became::Better,
            Some(Word::Same) => Became::Little,
            _ => Became::NotTold,
        };
        let metric = told.map(|(metric, _)| metric);
        let metric = metric.or(verdict.map(|one| one.metric.as_str()));
        let mut deltas = result.deltas().iter();
        let delta = deltas.find(|delta| Some(delta.metric.as_str()) == metric);
        Self {
            pair,
            size: delta.map_or(1.0, |delta| size(delta.delta_pct)),
            beside: told
                .filter(|_| became == Became::NotTold)
                .map(|(_, word)| word),
            became,
            result,
        }
    }

    /// The place of its kind in the order of pairs.
    fn rank(&self) -> u8 {
        match self.became {
            Became::Stuck => 0,
            Became::Worse | Became::Better => 1,
            Became::NotTold => 2,
            Became::Little => 3,
            Became::Same => 4,
        }
    }
}

/// Of the metrics that a load is read by: one that is told to be worse, else one that is better.
fn told<'r>(read_by: &[String], result: &'r outcome::Comparison) -> Option<(&'r str, Word)> {
    let with = |wanted: Word| {
        let mut all = result.deltas().iter();
        let own = all.find(|delta| {
            let word = delta.difference.as_deref().and_then(Word::of_word);
            word == Some(wanted) && read_by.contains(&delta.metric)
        });
        own.map(|delta| (delta.metric.as_str(), wanted))
    };
    with(Word::Worse).or_else(|| with(Word::Better))
}

/// All pairs in the order in which people see them.
pub(super) fn in_order(pairs: &[Difference]) -> Vec<Judged<'_>> {
    let mut all: Vec<Judged<'_>> = pairs.iter().map(Judged::of).collect();
    all.sort_by(|a, b| {
        let by_rank = a.rank().cmp(&b.rank());
        by_rank.then(b.size.total_cmp(&a.size))
    });
    all
}

/// Of how many pairs whose verdict is not told another metric is; empty: of none.
fn beside(all: &[Judged<'_>]) -> String {
    let words = [(Word::Worse, "worse"), (Word::Better, "better")];
    let counted = words.into_iter().filter_map(|(wanted, word)| {
        let nr = all.iter().filter(|one| one.beside == Some(wanted)).count();
        (nr > 0).then(|| format!("{nr} {word}"))
    });
    let counted: Vec<String> = counted.collect();
    match counted.is_empty() {
        true => String::new(),
        false => format!(" ({} by another metric)", counted.join(" and ")),
    }
}

/// How many pairs became what.
pub(super) fn first_line(files: &[String; 2], all: &[Judged<'_>]) -> String {
    let words = [
        (Became::Worse, "worse", true),
        (Became::Better, "better", true),
        (Became::NotTold, "not told", true),
        (Became::Little, "without a difference that matters", false),
        (Became::Stuck, "stuck", false),
        (Became::Same, "the same", true),
    ];
    let counted = words.into_iter().filter_map(|(became, word, always)| {
        let nr = all.iter().filter(|one| one.became == became).count();
        let beside = if became == Became::NotTold {
            beside(all)
        } else {
            String::new()
        };
        (always || nr > 0).then(|| format!(", {nr} {word}{beside}"))
    });
    let [before, after] = files;
    let pairs = count(all.len(), "pair");
    let line = format!("{before} → {after}: {pairs}{}", counted.collect::<String>());
    printable(&line).into_owned()
}
