//! How long runs were, for people. Those of which all tasks ended were not as long as they might
//! have been (ARCHITECTURE.md, "Questions and answers").
//!
//! What must stay: times are ns; a run that got stuck, or of which nobody knows the end, is as long
//! as was asked for. Words may change, in one place: headings of the terminal and pages show the
//! same. Tests by part: `runs_that_end_with_their_tasks_are_not_as_long_as_they_might_be`
//! (`Length`), `cases_may_differ` (`of_cases`), `runs_to_the_end_of_their_tasks_say_so` (a page),
//! the first also `of` and `shown`.
//!
//! Tests: below, crates/report/src/html/tests.rs::runs_to_the_end_of_their_tasks_say_so

use crate::number::duration;

/// How long runs were that ended with their tasks.
const TO_THE_END: &str = "to the end of its tasks";

/// The runs of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    /// All tasks ended before, in every run.
    pub(crate) to_the_end: bool,
    /// Simulated time at most, ns.
    pub(crate) longest_ns: u64,
}

impl Length {
    /// By what results hold of each run: when it was over, and that none got stuck. Older ones hold
    /// nothing.
    pub(crate) fn of(ends_ns: &[u64], complete: bool, longest_ns: u64) -> Self {
        let before = ends_ns.iter().all(|&end| end < longest_ns);
        Self {
            to_the_end: complete && before && !ends_ns.is_empty(),
            longest_ns,
        }
    }

    /// The time for people, or that the runs ended with their tasks.
    pub(crate) fn shown(self) -> String {
        match self.to_the_end {
            true => TO_THE_END.to_owned(),
            false => duration(self.longest_ns),
        }
    }
}

/// Of several cases: from the shortest to the longest where they differ.
pub(crate) fn of_cases(cases: &[Length], otherwise_ns: u64) -> String {
    let open = cases.iter().filter(|case| !case.to_the_end);
    let open: Vec<u64> = open.map(|case| case.longest_ns).collect();
    let range = match (open.iter().min(), open.iter().max()) {
        (Some(least), Some(most)) if least != most => {
            format!("{} to {}", duration(*least), duration(*most))
        }
        (Some(same), _) => duration(*same),
        _ if cases.is_empty() => duration(otherwise_ns),
        _ => return TO_THE_END.to_owned(),
    };
    match open.len() == cases.len() {
        true => range,
        false => format!("{TO_THE_END} or {range}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, TO_THE_END, of_cases};

    const HOUR: u64 = 3_600_000_000_000;

    /// Goal: runs that ended before their time say so, unless they got stuck or nobody knows.
    #[test]
    fn runs_that_end_with_their_tasks_are_not_as_long_as_they_might_be() {
        assert_eq!(Length::of(&[5, 7], true, HOUR).shown(), TO_THE_END);
        for (ends, complete) in [(&[5, HOUR][..], true), (&[5, 7], false), (&[], true)] {
            assert_eq!(Length::of(ends, complete, HOUR).shown(), "3600 s");
        }
    }

    #[test]
    fn cases_may_differ() {
        let length = |to_the_end, longest_ns| Length {
            to_the_end,
            longest_ns,
        };
        let of = |cases: &[Length]| of_cases(cases, HOUR);
        assert_eq!(of(&[]), "3600 s");
        assert_eq!(of(&[length(true, HOUR), length(true, 5)]), TO_THE_END);
        assert_eq!(
            of(&[length(false, HOUR), length(false, 1_000_000)]),
            "1 ms to 3600 s"
        );
        assert_eq!(
            of(&[length(true, HOUR), length(false, 1_000_000)]),
            format!("{TO_THE_END} or 1 ms")
        );
    }
}
