//! Whether two sides ask for the same, so that one beside the other says nothing
//! (docs/guide/review.md, docs/guide/evaluate.md).
//!
//! What must stay: a name with other words for the same parameters is the same, and so are two
//! trees, or two schedulers, with the same facts; different kinds never are. Tests by part:
//! `what_asks_for_the_same_is_found` (`of_names`, `of_experiment`),
//! crates/cli/tests/all/review.rs::`wrong_reviews_are_refused`,
//! crates/cli/tests/all/evaluate.rs::`wrong_evaluations_are_refused` (who asks). Trees and
//! schedulers have no test of their own here.
//!
//! Callers: evaluate/mod.rs, crates/cli/src/commands/review.rs.
//!
//! Tests: below

use crate::Experiment;

/// The name, if both sides are called alike; before anything is read or built.
#[must_use]
pub fn of_names(policies: &[String]) -> Option<&str> {
    match policies {
        [base, change] if base == change => Some(base),
        _ => None,
    }
}

/// The second side's name, if both ask for the same: under one name or two.
#[must_use]
pub fn of_experiment(experiment: &Experiment) -> Option<&str> {
    match (
        experiment.policies.as_slice(),
        experiment.schedulers.as_slice(),
    ) {
        ([base, change], _) => {
            let same = match (base.tree(), change.tree()) {
                (None, None) => base.params() == change.params(),
                (Some(base), Some(change)) => base.facts() == change.facts(),
                _ => false,
            };
            same.then(|| change.name())
        }
        ([], [base, change]) => (base.facts == change.facts).then_some(change.name.as_str()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{of_experiment, of_names};
    use crate::{Request, Source};

    /// `nr_migrate` is 32 in `linux-7.3` (sysctl_sched_nr_migrate, kernel/sched/core.c).
    #[test]
    fn what_asks_for_the_same_is_found() {
        let same = |base: &str, change: &str| {
            let request = Request {
                platforms: vec![Source::named("hikey960")],
                workloads: vec![Source::named("periodic:n=1")],
                policies: vec![base.to_owned(), change.to_owned()],
                ..Request::default()
            };
            let experiment = request.resolve().unwrap().experiments.swap_remove(0);
            of_experiment(&experiment).map(str::to_owned)
        };
        let other_words = "linux-7.3:nr_migrate=32";
        assert_eq!(same("linux-7.3", other_words).as_deref(), Some(other_words));
        assert_eq!(same("linux-7.3", "linux-7.3:nr_migrate=16"), None);
        assert_eq!(same("linux-7.3", "linux-6.12"), None);
        let names = ["linux-7.3", "linux-7.3", other_words].map(str::to_owned);
        assert_eq!(of_names(&names[..2]), Some("linux-7.3"));
        assert_eq!(of_names(&names[1..]), None);
        assert_eq!(of_names(&names[..1]), None);
    }
}
