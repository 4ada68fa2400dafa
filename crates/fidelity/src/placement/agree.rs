//! Wake-ups of two runs, release by release: how many were on the same cluster
//! (docs/results/fidelity.md).
//!
//! What must stay: a release is paired with the same release; one that only one side has counts as
//! `one_only`. Free: what leaves the tables of pages as they are. Tests by part:
//! `wake_ups_are_paired_by_release` (`of`, `of_cpu`, `pct`, `random_pct`, `chance`),
//! `without_pairs_there_is_no_share` (`pct` of nothing), `sums_weigh_every_wake_up_alike` (`add`);
//! `juno` is the tests' own. `first_cpu` has no test of its own: tests/all/truth.rs runs it where a
//! tree is built.
//!
//! Callers: placement.rs (`of_cpu`), page.rs (`random_pct`), placement/truth/causes.rs
//! (`first_cpu`), placement/truth/page.rs (`of_cpu`).
//!
//! Tests: below

use std::collections::BTreeMap;
use wakeplace_platform::Platform;

/// The CPU on which each release's job began, of one task, by the release's number.
pub(crate) type Wakeups = BTreeMap<u64, u32>;

/// Clusters of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clusters {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Index of each CPU's.
    of_cpu: Vec<usize>,
}

impl Clusters {
    /// The clusters of a platform, and which CPU is in which.
    pub(crate) fn of(platform: &Platform) -> Self {
        Self {
            names: platform
                .clusters
                .iter()
                .map(|cluster| cluster.name.clone())
                .collect(),
            of_cpu: platform
                .cpus
                .iter()
                .map(|cpu| cpu.cluster as usize)
                .collect(),
        }
    }

    /// Index of a CPU's cluster.
    pub(crate) fn of_cpu(&self, cpu: u32) -> Option<usize> {
        self.of_cpu.get(cpu as usize).copied()
    }

    /// The first CPU of a cluster.
    pub(crate) fn first_cpu(&self, cluster: usize) -> Option<u32> {
        let at = self.of_cpu.iter().position(|of| *of == cluster)?;
        u32::try_from(at).ok()
    }

    /// Chance of a CPU drawn at random to be in a cluster.
    fn chance(&self, cluster: usize) -> f64 {
        let own = self.of_cpu.iter().filter(|of| **of == cluster).count();
        own as f64 / self.of_cpu.len() as f64
    }
}

/// How far two runs agree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Agreement {
    /// Releases at which the task woke up in both.
    pub(crate) both: u64,
    /// Of these, on the same cluster.
    pub(crate) same: u64,
    /// As many as would be expected if the second had drawn every CPU at random.
    pub(crate) random: f64,
    /// Releases at which it woke up in one of them only: in the other it was still busy.
    pub(crate) one_only: u64,
}

impl Agreement {
    /// Compares one task's wake-ups.
    pub(crate) fn of(first: &Wakeups, second: &Wakeups, clusters: &Clusters) -> Self {
        let mut agreement = Self::default();
        for (release, cpu) in first {
            let Some(other) = second.get(release) else {
                agreement.one_only += 1;
                continue;
            };
            let (Some(a), Some(b)) = (clusters.of_cpu(*cpu), clusters.of_cpu(*other)) else {
                continue;
            };
            agreement.both += 1;
            agreement.same += u64::from(a == b);
            agreement.random += clusters.chance(a);
        }
        let only_second = second.keys().filter(|release| !first.contains_key(release));
        agreement.one_only += only_second.count() as u64;
        agreement
    }

    /// Together with another one.
    pub(crate) fn add(&mut self, other: Self) {
        self.both += other.both;
        self.same += other.same;
        self.random += other.random;
        self.one_only += other.one_only;
    }

    /// Share of the same cluster, percent; none where nothing could be compared.
    pub(crate) fn pct(&self) -> Option<f64> {
        (self.both > 0).then(|| self.same as f64 * 100.0 / self.both as f64)
    }

    /// The same for a draw at random.
    pub(crate) fn random_pct(&self) -> Option<f64> {
        (self.both > 0).then(|| self.random * 100.0 / self.both as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Juno: CPUs 0 and 3 to 5 little, 1 and 2 big.
    fn juno() -> Clusters {
        Clusters::of(&Platform::load("juno-r0").expect("built in"))
    }

    #[test]
    fn wake_ups_are_paired_by_release() {
        let first = Wakeups::from([(0, 0), (1, 1), (2, 3), (4, 5)]);
        let second = Wakeups::from([(0, 4), (1, 0), (2, 3), (3, 1)]);
        let agreement = Agreement::of(&first, &second, &juno());
        // Release 0: little and little; 1: big and little; 2: the same CPU; 3 and 4: in one only.
        assert_eq!(
            (agreement.both, agreement.same, agreement.one_only),
            (3, 2, 2)
        );
        // Four of six CPUs are little: 4/6 + 2/6 + 4/6.
        assert!((agreement.random - 10.0 / 6.0).abs() < 1e-9);
        assert_eq!(agreement.pct().map(|pct| (pct * 10.0).round()), Some(667.0));
        assert_eq!(
            agreement.random_pct().map(|pct| (pct * 10.0).round()),
            Some(556.0)
        );
    }

    #[test]
    fn without_pairs_there_is_no_share() {
        let agreement = Agreement::of(&Wakeups::new(), &Wakeups::from([(1, 0)]), &juno());
        assert_eq!((agreement.pct(), agreement.random_pct()), (None, None));
        assert_eq!(agreement.one_only, 1);
    }

    #[test]
    fn sums_weigh_every_wake_up_alike() {
        let mut sum = Agreement {
            both: 1,
            same: 0,
            random: 0.5,
            one_only: 1,
        };
        sum.add(Agreement {
            both: 3,
            same: 3,
            random: 1.5,
            one_only: 0,
        });
        assert_eq!(sum.pct(), Some(75.0));
        assert_eq!(sum.random_pct(), Some(50.0));
        assert_eq!(sum.one_only, 1);
    }
}
