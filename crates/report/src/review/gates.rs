//! What became of the conditions of `--expect`, in a mail (docs/guide/review.md). On a terminal the
//! table of checks stands below the review.
//!
//! What must stay: values and verdicts are those of `checks` of the comparisons; a line for each
//! condition, below it where it fails, then where it is not told, then where it holds. Words may
//! change. Tests by part: `a_mail_has_its_gates` (all),
//! crates/cli/tests/all/review.rs::`a_review_is_a_gate` (of whole reviews).
//!
//! Callers: html/review.rs (`judged`).
//!
//! Tests: below, crates/cli/tests/all/review.rs::a_review_is_a_gate

use super::text::item;
use std::fmt::Write as _;
use wakeplace_outcome::{Check, Comparison, Review, verdict};

/// Most places of a condition; JSON has all.
const MOST_PLACES: usize = 12;

/// All conditions with their places; empty: there are none.
pub(super) fn gates(review: &Review, width: usize) -> String {
    let both = review.loads.iter().zip(&review.comparisons);
    let all = both.flat_map(|(load, of)| of.checks.iter().map(move |check| (load, of, check)));
    let all: Vec<(&String, &Comparison, &Check)> = all.collect();
    let mut conditions: Vec<&str> = Vec::new();
    for (_, _, check) in &all {
        if !conditions.contains(&check.expected.as_str()) {
            conditions.push(&check.expected);
        }
    }
    let mut text = String::new();
    for condition in conditions {
        if text.is_empty() {
            text.push_str("\nGates (--expect)\n");
        }
        let mut own: Vec<_> = all
            .iter()
            .filter(|one| one.2.expected == condition)
            .collect();
        own.sort_by_key(|one| rank(one.2));
        let of = |holds: Option<bool>| own.iter().filter(|one| one.2.holds == holds).count();
        let open = match of(None) {
            0 => String::new(),
            open => format!(", {open} not told"),
        };
        let worst = own.first().map_or("", |one| verdict(one.2.holds));
        let (held, places) = (of(Some(true)), own.len());
        let line = format!("{condition}: {worst} ({held} of {places} hold{open})");
        text.push_str(&item(&line, width));
        for (load, comparison, check) in own.iter().take(MOST_PLACES) {
            let line = item(&place(load, comparison, check), width - 2);
            text.extend(line.lines().map(|line| format!("  {line}\n")));
        }
        if places > MOST_PLACES {
            let _ = writeln!(
                text,
                "  and {} more (`--format json`)",
                places - MOST_PLACES
            );
        }
    }
    text
}

/// Its place among the checks of a condition: what fails comes first.
fn rank(check: &Check) -> u8 {
    match check.holds {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    }
}

/// The side on which a condition was judged, the verdict, and what was found, without what was
/// expected, which stands beside.
pub(crate) fn judged<'c>(of: &Comparison, check: &'c Check) -> [&'c str; 3] {
    let is_base = of
        .runs
        .first()
        .is_some_and(|run| run.policy == check.policy);
    let side = if is_base { "base" } else { "change" };
    let found = check.said.split("; expected ").next();
    [side, verdict(check.holds), found.unwrap_or_default()]
}

/// Where a condition was judged, on which side, and what was found there.
fn place(load: &str, of: &Comparison, check: &Check) -> String {
    let platform = of.runs.first().map_or("", |run| run.platform.as_str());
    let [side, verdict, found] = judged(of, check);
    format!("{platform}, {load}, {side}: {verdict}: {found}")
}

#[cfg(test)]
mod tests {
    use super::gates;
    use serde_json::json;
    use wakeplace_outcome::{Check, Comparison, Review};

    fn check(expected: &str, policy: &str, holds: Option<bool>, said: &str) -> Check {
        Check {
            expected: expected.to_owned(),
            policy: policy.to_owned(),
            holds,
            said: said.to_owned(),
            ..Check::default()
        }
    }

    fn on(platform: &str, checks: Vec<Check>) -> Comparison {
        let run = |policy: &str| {
            json!({"platform": platform, "workload": "w", "policy": policy, "seeds": [1],
                   "metrics": {}})
        };
        let both = json!({"duration_ns": 1, "runs": [run("old"), run("new")]});
        let of: Comparison = serde_json::from_value(both).expect("a comparison");
        Comparison { checks, ..of }
    }

    /// Goal: each condition says of how many places it holds, and has its places with side, verdict
    /// and value, those that fail first. Without conditions there is nothing.
    #[test]
    fn a_mail_has_its_gates() {
        let (joules, missed) = ("cpu_energy_j<=+3%", "missed_frames_total<=5");
        let no = "1 -> 1.1 J, +10 % [+9, +11]; expected at most +3 % from the base";
        let open = "1 -> 1.03 J, +3 % [+1, +5]; expected at most +3 % from the base";
        let mut review = Review {
            base: "old".to_owned(),
            change: "new".to_owned(),
            loads: vec!["x".to_owned(), "y".to_owned()],
            comparisons: vec![
                on(
                    "a",
                    vec![
                        check(joules, "new", None, open),
                        check(
                            missed,
                            "old",
                            Some(true),
                            "2.0000 count; expected at most 5",
                        ),
                        check(
                            missed,
                            "new",
                            Some(true),
                            "3.0000 count; expected at most 5",
                        ),
                    ],
                ),
                on("b", vec![check(joules, "new", Some(false), no)]),
            ],
            ..crate::review::tests::review(Vec::new())
        };
        let expected = "\nGates (--expect)\n\
                        - cpu_energy_j<=+3%: FAIL (0 of 2 hold, 1 not told)\n\
                        \x20 - b, y, change: FAIL: 1 -> 1.1 J, +10 % [+9, +11]\n\
                        \x20 - a, x, change: not told: 1 -> 1.03 J, +3 % [+1, +5]\n\
                        - missed_frames_total<=5: pass (2 of 2 hold)\n\
                        \x20 - a, x, base: pass: 2.0000 count\n\
                        \x20 - a, x, change: pass: 3.0000 count\n";
        assert_eq!(gates(&review, 72), expected);
        review.comparisons = vec![on("a", Vec::new())];
        assert_eq!(gates(&review, 72), "");
    }
}
