//! How long the runs of a result were.

use super::model::{Case, Comparison, Study};
use crate::length::{Length, of_cases};

impl Comparison {
    /// How long the runs were, for people.
    pub(crate) fn length(&self) -> String {
        let all = self.runs.iter().map(|run| (&run.end_ns, run.complete));
        length(all, self.duration_ns).shown()
    }
}

impl Study {
    /// How long the runs of a case were.
    pub(crate) fn length_of(&self, case: &Case) -> Length {
        let own = self.profiles.iter().filter(|own| own.case == case.case);
        length(own.map(|own| (&own.end_ns, own.complete)), case.duration_ns)
    }

    /// How long the runs were, for people.
    pub(crate) fn length(&self) -> String {
        let all: Vec<Length> = self.cases.iter().map(|case| self.length_of(case)).collect();
        of_cases(&all, self.duration_ns)
    }
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
