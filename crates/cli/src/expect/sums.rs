//! The sentence below a table of checks (docs/guide/results.md, "Gates").
//!
//! What must stay: every check is counted once; where something failed in few of several places,
//! they are named. Words may change. Tests by part: `one_is_not_several` (`sum`),
//! `the_last_line_says_where` (`sum_of`).
//!
//! Callers: expect.rs, gate.rs (`sum_of`).
//!
//! Tests: below

use super::Case;
use wakeplace_text::printable;

/// So many places where something failed stand in the sentence; of more the table tells.
const MOST_PLACES: usize = 3;

/// The sentence below the table; `failed_at`: where something failed, if there are several places.
pub(crate) fn sum_of<'a>(cases: impl IntoIterator<Item = &'a Case>, failed_at: &[&str]) -> String {
    let (mut held, mut failed, mut open) = (0, 0, 0);
    for case in cases {
        match case.holds {
            Some(true) => held += 1,
            Some(false) => failed += 1,
            None => open += 1,
        }
    }
    let all = held + failed + open;
    let places = match failed_at.len() {
        1..=MOST_PLACES => Some(printable(&failed_at.join("; ")).into_owned()),
        _ => None,
    };
    match (open, places) {
        (0, None) => sum(failed, all),
        (0, Some(places)) => format!("{}: {places}", sum(failed, all).trim_end_matches('.')),
        (_, places) => {
            let places = places.map_or_else(String::new, |places| format!("\nFailed: {places}"));
            format!(
                "{held} of {all} hold, {failed} failed, {open} not told; more seeds may tell.\
                 {places}"
            )
        }
    }
}

/// How many of all were missed.
fn sum(failed: usize, total: usize) -> String {
    match (failed, total) {
        (0, 1) => "The expectation holds.".to_owned(),
        (_, 1) => "The expectation failed.".to_owned(),
        (0, all) => format!("All {all} expectations hold."),
        (failed, all) => format!("{failed} of {all} expectations failed."),
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, sum, sum_of};

    /// Goal: the last line says where something failed, if that is in few of several places.
    #[test]
    fn the_last_line_says_where() {
        let case = |holds| Case {
            holds,
            ..Case::default()
        };
        let [held, failed, open] = [Some(true), Some(false), None].map(case);
        let said = |cases: &[&Case], places: &[&str]| sum_of(cases.iter().copied(), places);
        let one = [&held, &failed];
        assert_eq!(said(&one, &[]), "1 of 2 expectations failed.");
        assert_eq!(
            said(&one, &["tensor-g5, media.json"]),
            "1 of 2 expectations failed: tensor-g5, media.json"
        );
        assert_eq!(
            said(&[&failed, &failed], &["a, x", "b, x"]),
            "2 of 2 expectations failed: a, x; b, x"
        );
        assert_eq!(
            said(&[&failed; 4], &["a", "b", "c", "d"]),
            "4 of 4 expectations failed."
        );
        assert_eq!(
            said(&[&failed, &open], &["a, x"]),
            "0 of 2 hold, 1 failed, 1 not told; more seeds may tell.\nFailed: a, x"
        );
        assert_eq!(said(&[&held, &held], &[]), "All 2 expectations hold.");
    }

    #[test]
    fn one_is_not_several() {
        assert_eq!(sum(0, 1), "The expectation holds.");
        assert_eq!(sum(1, 1), "The expectation failed.");
        assert_eq!(sum(0, 2), "All 2 expectations hold.");
        assert_eq!(sum(1, 2), "1 of 2 expectations failed.");
    }
}
