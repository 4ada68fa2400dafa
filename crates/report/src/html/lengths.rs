//! How long the runs of a result were (docs/guide/report.md).
//!
//! What must stay: times are ns; words are those of `length.rs`, so that terminal, page and
//! `repeat.rs` say the same; an older result, which lacks the ends, is as long as was asked for.
//! Free: words for people that no test quotes. Tests by part:
//! `runs_to_the_end_of_their_tasks_say_so` (`of_comparison`, `length`),
//! length.rs::`cases_may_differ` (words of `of_study`). Which cases `of_study` takes has no test of
//! its own. `of_case` by html/tests.rs::`the_json_of_a_study_is_read_back`.
//!
//! Callers: repeat.rs (`of_case`).
//!
//! Tests: crates/report/src/html/tests.rs::runs_to_the_end_of_their_tasks_say_so,
//! crates/report/src/length.rs

use crate::length::{Length, of_cases as shown};
use wakeplace_outcome::{Case, Comparison, Study};

/// How long the runs of a comparison were, for people.
pub(super) fn of_comparison(result: &Comparison) -> String {
    let all = result.runs.iter().map(|run| (&run.end_ns, run.complete));
    length(all, result.duration_ns).shown()
}

/// How long the runs of a study's case were.
pub(super) fn of_case(result: &Study, case: &Case) -> Length {
    let own = result.profiles.iter().filter(|own| own.case == case.case);
    length(own.map(|own| (&own.end_ns, own.complete)), case.duration_ns)
}

/// How long the runs of a study were, for people.
pub(crate) fn of_study(result: &Study) -> String {
    let of_cases = result.cases.iter().map(|case| of_case(result, case));
    shown(&of_cases.collect::<Vec<_>>(), result.duration_ns)
}

/// Of each policy when its runs were over, and that none got stuck.
fn length<'a>(runs: impl Iterator<Item = (&'a Vec<u64>, bool)>, longest_ns: u64) -> Length {
    let (ends, complete): (Vec<_>, Vec<_>) = runs.unzip();
    let known = ends.iter().all(|ends| !ends.is_empty()) && complete.iter().all(|one| *one);
    Length::of(
        &ends.into_iter().flatten().copied().collect::<Vec<_>>(),
        known,
        longest_ns,
    )
}
