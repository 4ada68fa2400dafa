//! A review: what a change did on the loads of a battery, the worst first (docs/guide/review.md).
//!
//! What must stay: every figure is that of the comparison of its board and load; what a difference
//! means is said by `phrase.rs` and `wakeplace_metrics` alone; rows stand worse, better, not told,
//! none that matters, and the largest change first within each. Runs that got stuck are said before
//! all else and have no rows. Tests by part: `the_worst_stands_first` (`rows`, `size`),
//! `places_of_the_largest_changes_stand_once` (`largest`), `what_never_happened_is_counted_apart`
//! (review/text.rs), crates/cli/tests/all/review.rs (the
//! whole).
//!
//! Tests: below, crates/cli/tests/all/review.rs

mod gates;
mod text;

pub(crate) use gates::judged;
pub(crate) use text::answer;

pub use text::{csv as review_csv, mail as review_mail, text as review_text};

use crate::{clusters, json, number, why};
use std::cmp::Ordering;
use wakeplace_metrics::{Better, KEY_METRICS, find_metric};
use wakeplace_outcome::{self as outcome, Delta, Multiplicity, Review, ReviewRow};
use wakeplace_study::{Comparison, Origin};

/// Looked at beside what a load is read by and what is looked at of every run: whoever does less
/// work takes less energy for it.
const BESIDE: [&str; 2] = ["cpu_energy_per_work_j", "task_work_s"];
/// Left out: energy that the energy per work stands for, a median beside its 99th percentile, and
/// how something was done.
const LEFT_OUT: [&str; 3] = ["cpu_energy_j", "wake_latency_us_p50", "migrations_total"];
/// Other forms of the energy per work.
const SAME: [&str; 2] = ["cpu_energy_j", "cpu_power_w"];
/// So many other changes are told of each of the largest.
const NEIGHBOURS: usize = 5;

/// What was run and found, before it is put in order.
#[derive(Debug)]
pub struct Reviewed<'a> {
    /// Name of the battery, or its file.
    pub battery: &'a str,
    /// What the battery is, in one line.
    pub title: &'a str,
    /// The load of each comparison.
    pub loads: &'a [String],
    /// A base and a change each.
    pub comparisons: &'a [Comparison],
    /// What the figures hold for.
    pub conditions: Vec<String>,
    /// How to make it again.
    pub origin: Origin,
}

impl Reviewed<'_> {
    /// The review, without claims and partings.
    #[must_use]
    pub fn review(&self) -> Review {
        let [commit, command] = self.origin.known();
        // The command is the review's; the program is that of each part, too.
        let part = |of: &Comparison| outcome::Comparison {
            commit: commit.clone(),
            ..json::comparison(of)
        };
        let results: Vec<_> = self.comparisons.iter().map(part).collect();
        let rows = rows(self.loads, &results);
        let intervals = rows.iter().filter(|row| row.delta_ci95.is_some()).count();
        let name = |at: usize| {
            let first = self.comparisons.first();
            first.map_or_else(String::new, |all| all.runs[at].policy.clone())
        };
        Review {
            schema_version: crate::RESULT_SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
            command,
            battery: self.battery.to_owned(),
            title: self.title.to_owned(),
            base: name(0),
            change: name(1),
            margin_pct: self.comparisons.first().map_or(0.0, |one| one.margin_pct),
            conditions: self.conditions.clone(),
            failures: self.failures(),
            rows,
            multiplicity: Multiplicity::of(intervals),
            claims: Vec::new(),
            partings: Vec::new(),
            loads: self.loads.to_vec(),
            warnings: warnings(self.loads, self.comparisons),
            comparisons: results,
        }
    }

    /// A sentence for each policy whose runs got stuck.
    fn failures(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (comparison, load) in self.comparisons.iter().zip(self.loads) {
            for (at, runs) in comparison.runs.iter().enumerate() {
                if runs.is_stuck() {
                    let side = if at == 0 { "base" } else { "change" };
                    let why = comparison.why_side_stuck(at).unwrap_or("a run got stuck");
                    all.push(format!("{}, {load}: {side}: {why}", comparison.platform));
                }
            }
        }
        all
    }
}

/// A change for people; from nothing there is no percentage.
pub(crate) fn shown(delta_pct: Option<f64>, change: impl Fn(f64) -> String) -> String {
    delta_pct.map_or_else(|| number::FROM_ZERO.to_owned(), change)
}

/// Which wake-up it is.
pub(crate) fn which(wakeup: &outcome::PartedWakeup) -> String {
    match wakeup.number {
        0 => format!("the start of `{}`", wakeup.task),
        number => format!("wake-up {number} of `{}`", wakeup.task),
    }
}

/// The JSON of a review, with a newline.
#[must_use]
pub fn review_json(review: &Review) -> String {
    json::text(review)
}

/// What a row means, as its place in the order of rows.
fn rank(difference: &str) -> usize {
    use outcome::Difference::{Better, NotTold, Same, Unknown, Worse};
    let order = [Worse, Better, NotTold, Unknown, Same];
    let known = outcome::Difference::of_word(difference);
    let place = order.iter().position(|one| Some(*one) == known);
    place.unwrap_or(order.len())
}

/// How large a change is: twice as much is as large as half as much; from nothing is the largest.
pub(crate) fn size(delta_pct: Option<f64>) -> f64 {
    match delta_pct {
        Some(pct) if pct > -100.0 && pct.is_finite() => {
            let times = 1.0 + pct / 100.0;
            times.max(times.recip())
        }
        _ => f64::INFINITY,
    }
}

/// The worse first: by what it means, then by size.
fn order(a: &ReviewRow, b: &ReviewRow) -> Ordering {
    let by_rank = rank(&a.difference).cmp(&rank(&b.difference));
    by_rank.then(size(b.delta_pct).total_cmp(&size(a.delta_pct)))
}

/// Every figure of every load that is good or bad in itself.
fn rows(loads: &[String], results: &[outcome::Comparison]) -> Vec<ReviewRow> {
    let mut rows = Vec::new();
    for (load, result) in loads.iter().zip(results) {
        let own = result.measured_by.first().map(String::as_str);
        let mut metrics: Vec<&str> = own.into_iter().collect();
        for metric in KEY_METRICS.into_iter().chain(BESIDE) {
            if !metrics.contains(&metric) && !LEFT_OUT.contains(&metric) {
                metrics.push(metric);
            }
        }
        let judged = |metric: &&str| {
            find_metric(metric).is_ok_and(|def| !matches!(def.better, Better::Neither))
        };
        for metric in metrics.into_iter().filter(judged) {
            let mut own = result.deltas().iter().filter(|d| d.metric == metric);
            rows.extend(own.next().and_then(|delta| row(load, result, delta)));
        }
    }
    rows.sort_by(order);
    rows
}

/// A metric of a load; None: one of the two did not measure it.
fn row(load: &str, result: &outcome::Comparison, delta: &Delta) -> Option<ReviewRow> {
    let [base, change] = result.runs.as_slice() else {
        return None;
    };
    // What got stuck is no ground for a judgement.
    if !base.complete || !change.complete {
        return None;
    }
    let metric = base.metrics.value(&delta.metric)?;
    Some(ReviewRow {
        platform: base.platform.clone(),
        load: load.to_owned(),
        metric: delta.metric.clone(),
        unit: metric.unit.clone(),
        base: metric.mean,
        change: change.metrics.value(&delta.metric)?.mean,
        delta_pct: delta.delta_pct,
        delta_ci95: delta.ci95,
        difference: delta.difference.clone()?,
    })
}

/// A warning once, with where it was given.
fn warnings(loads: &[String], comparisons: &[Comparison]) -> Vec<String> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for (comparison, load) in comparisons.iter().zip(loads) {
        let place = format!("{} {load}", comparison.platform);
        for warning in &comparison.warnings {
            match all.iter_mut().find(|(known, _)| known == warning) {
                Some((_, places)) if places.contains(&place) => {}
                Some((_, places)) => places.push(place.clone()),
                None => all.push((warning, vec![place.clone()])),
            }
        }
    }
    let one = |(text, places): (&str, Vec<String>)| match places.len() {
        n if n == comparisons.len() => text.to_owned(),
        n if n > NEIGHBOURS => format!("{}, and {} more: {text}", places[..3].join(", "), n - 3),
        _ => format!("{}: {text}", places.join(", ")),
    };
    all.into_iter().map(one).collect()
}

/// What else changed most where a row is from: what is told from chance, without the rows that the
/// review has.
#[must_use]
pub fn beside(review: &Review, of: &ReviewRow) -> Vec<ReviewRow> {
    let Some((load, result)) = place_of(review, of) else {
        return Vec::new();
    };
    let told = [
        outcome::Difference::Better,
        outcome::Difference::Worse,
        outcome::Difference::Other,
    ];
    let is_told = |row: &ReviewRow| {
        let known = outcome::Difference::of_word(&row.difference);
        known.is_some_and(|word| told.contains(&word)) && row.delta_pct.is_some_and(f64::is_finite)
    };
    let has = |metric: &str| {
        let mut rows = review.rows.iter();
        rows.any(|row| row.metric == metric && row.load == of.load && row.platform == of.platform)
    };
    let new = |delta: &&Delta| {
        let of_cases =
            find_metric(&delta.metric).is_ok_and(wakeplace_metrics::MetricDef::is_of_cases);
        !has(&delta.metric) && !of_cases && !SAME.contains(&delta.metric.as_str())
    };
    let deltas = result.deltas().iter().filter(new);
    let mut rows: Vec<ReviewRow> = deltas
        .filter_map(|delta| row(load, result, delta))
        .collect();
    rows.retain(is_told);
    rows.sort_by(|a, b| size(b.delta_pct).total_cmp(&size(a.delta_pct)));
    rows.truncate(NEIGHBOURS);
    rows
}

/// The load and the comparison that a row is from.
fn place_of<'a>(
    review: &'a Review,
    of: &ReviewRow,
) -> Option<(&'a String, &'a outcome::Comparison)> {
    let mut both = review.loads.iter().zip(&review.comparisons);
    both.find(|(load, result)| **load == of.load && result.runs[0].platform == of.platform)
}

/// Why a change drew more or less where its runs part, a sentence each.
pub(crate) fn why_parted(review: &Review, parting: &outcome::Parting) -> Vec<String> {
    let mut both = review.loads.iter().zip(&review.comparisons);
    let own = both.find(|(load, result)| {
        **load == parting.load && result.runs[0].platform == parting.platform
    });
    own.map_or_else(Vec::new, |(_, result)| why::told(result))
}

/// Where the energy went on the platform and load that a row is from; None: no powers are known.
#[must_use]
pub fn by_cluster(review: &Review, of: &ReviewRow) -> Option<outcome::ClusterEnergies> {
    clusters::energies(place_of(review, of)?.1)
}

/// The figure that each load is read by, board by board: its own, else energy per work, else the
/// wake-up latency.
#[must_use]
pub fn main_figures(review: &Review) -> Vec<ReviewRow> {
    let both = review.loads.iter().zip(&review.comparisons);
    let main = |(load, result): (&String, &outcome::Comparison)| {
        let own = result.measured_by.first().map(String::as_str);
        let all = own
            .into_iter()
            .chain(["cpu_energy_per_work_j", "wake_latency_us_p99"]);
        let of = |metric: &str| result.deltas().iter().find(|delta| delta.metric == metric);
        all.filter_map(of)
            .find_map(|delta| row(load, result, delta))
    };
    both.filter_map(main).collect()
}

/// The rows of the largest changes that are told, the worse before the better, each board and load
/// once: of so many the first wake-up that went differently is looked for.
#[must_use]
pub fn largest(review: &Review, most: usize) -> Vec<&ReviewRow> {
    let told = |row: &&ReviewRow| rank(&row.difference) < 2;
    let mut told: Vec<&ReviewRow> = review.rows.iter().filter(told).collect();
    told.sort_by(|a, b| order(a, b));
    let mut found: Vec<&ReviewRow> = Vec::new();
    for row in told {
        let stands = |other: &&ReviewRow| other.platform == row.platform && other.load == row.load;
        if found.len() < most && !found.iter().any(stands) {
            found.push(row);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{largest, order, review_text, size};
    use crate::Style;
    use serde_json::json;
    use wakeplace_outcome::{Comparison, Multiplicity, Review, ReviewRow};

    fn row(platform: &str, load: &str, pct: Option<f64>, difference: &str) -> ReviewRow {
        ReviewRow {
            platform: platform.to_owned(),
            load: load.to_owned(),
            metric: "cpu_energy_j".to_owned(),
            unit: "J".to_owned(),
            base: Some(1.0),
            change: Some(1.0),
            delta_pct: pct,
            delta_ci95: None,
            difference: difference.to_owned(),
        }
    }

    pub(super) fn review(rows: Vec<ReviewRow>) -> Review {
        Review {
            schema_version: 2,
            version: String::new(),
            commit: None,
            command: None,
            battery: String::new(),
            title: String::new(),
            base: String::new(),
            change: String::new(),
            margin_pct: 1.0,
            conditions: Vec::new(),
            failures: Vec::new(),
            rows,
            multiplicity: Multiplicity::of(0),
            claims: Vec::new(),
            partings: Vec::new(),
            loads: Vec::new(),
            warnings: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// Goal: frames that nobody missed are no figure within the margin, and missed ones say of how
    /// many they are, which a run counts.
    #[test]
    fn what_never_happened_is_counted_apart() {
        let missed = |load: &str, base: f64, change: f64, word: &str| ReviewRow {
            metric: "missed_frames_total".to_owned(),
            unit: "count".to_owned(),
            base: Some(base),
            change: Some(change),
            ..row("board", load, Some(change - base), word)
        };
        let run = |frames: f64| {
            json!({"platform": "board", "workload": "w", "policy": "p", "seeds": [1],
                   "metrics": {"frames_total": {"mean": frames}}})
        };
        let runs = json!({"duration_ns": 1, "runs": [run(485.0), run(480.0)]});
        let comparison: Comparison = serde_json::from_value(runs).unwrap();
        let mut review = review(vec![
            missed("scroll", 5.6, 4.0, "worse"),
            missed("idle", 0.0, 0.0, "none that matters"),
            row("board", "idle", Some(0.1), "none that matters"),
        ]);
        review.loads = vec!["scroll".to_owned()];
        review.comparisons = vec![comparison];
        let text = review_text(&review, Style::default());
        let head = "1 pair of board and load: of 2 figures 1 worse, 0 better, 0 not told from \
                    chance, 1 within 1 %. 1 more is 0 on both sides.";
        assert!(text.replace('\n', " ").contains(head), "{text}");
        let whole = "    of 485 frames under the base, 480 under the change\n";
        assert!(text.contains(whole), "{text}");
    }

    #[test]
    fn the_worst_stands_first() {
        let mut rows = [
            row("a", "x", Some(0.1), "none that matters"),
            row("a", "x", Some(-60.0), "better"),
            row("a", "x", Some(5.0), "worse"),
            row("a", "x", Some(9.0), "not told"),
            row("a", "x", None, "worse"),
            row("a", "x", Some(80.0), "worse"),
        ];
        rows.sort_by(order);
        let pcts: Vec<_> = rows.iter().map(|row| row.delta_pct).collect();
        let expected = [
            None,
            Some(80.0),
            Some(5.0),
            Some(-60.0),
            Some(9.0),
            Some(0.1),
        ];
        assert_eq!(pcts, expected);
        // Half as much is as large as twice as much.
        let of = |pct| size(Some(pct));
        assert!((of(-50.0) - of(100.0)).abs() < 1e-12);
    }

    #[test]
    fn places_of_the_largest_changes_stand_once() {
        let rows = vec![
            row("a", "x", Some(30.0), "worse"),
            row("a", "x", Some(20.0), "worse"),
            row("b", "x", Some(-50.0), "better"),
            row("b", "y", Some(10.0), "better"),
            row("c", "x", Some(90.0), "not told"),
        ];
        let review = review(rows);
        let places: Vec<_> = { largest(&review, 3).into_iter() }
            .map(|row| (row.platform.as_str(), row.delta_pct))
            .collect();
        // The worse first; what is not told has no place, however large.
        let expected = [("a", Some(30.0)), ("b", Some(-50.0)), ("b", Some(10.0))];
        assert_eq!(places, expected);
    }
}
