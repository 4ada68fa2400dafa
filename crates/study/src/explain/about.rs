//! Which decision is asked about (docs/guide/tour.md).
//!
//! What must stay: a time, in ns, comes before a CPU and a CPU before a number, and without any of
//! them it is wake-up 1; `ask` refuses two at once. Tests by part:
//! `a_decision_is_asked_for_in_the_same_words` (the refusal),
//! explain.rs::`mistakes_say_what_there_is` (`which`: a time, a CPU, a number),
//! explain.rs::`the_title_has_the_number_that_was_asked_for` (`wakeup`, `task`).
//!
//! Tests: crates/study/src/ask/tests.rs::a_decision_is_asked_for_in_the_same_words,
//! crates/cli/tests/all/explain.rs

use wakeplace_engine::Which;

/// What `explain` takes beside what a run is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Decisions on this task only: its name, or that of its kind.
    pub task: Option<String>,
    /// The wake-up of this number, from 1; 0: where a new task begins.
    pub wakeup: Option<u64>,
    /// The first wake-up from this time of the run on, ns.
    pub at_ns: Option<u64>,
    /// The first wake-up that went to this CPU.
    pub to: Option<u32>,
    /// The CPU that was not chosen.
    pub why_not: Option<u32>,
    /// Policies that are asked, too; empty: all eras, and the run's policy with each feature
    /// turned.
    pub compare_policy: Vec<String>,
}

impl About {
    /// Which of the decisions.
    #[must_use]
    pub fn which(&self) -> Which {
        match (self.wakeup, self.at_ns, self.to) {
            (_, Some(at), _) => Which::At(at),
            (_, _, Some(cpu)) => Which::To(cpu),
            (number, ..) => Which::Wakeup(number.unwrap_or(1)),
        }
    }
}
