//! Ways to divide the CPUs into groups (docs/guide/import.md, "What is read").
//!
//! Called by imports and `sysfs/topology.rs`.
//!
//! What must stay: a CPU's label is the lowest member of its group, so that equal divisions are
//! equal values. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `labels_are_the_lowest_members` (`of_labels`, `of_lists`), `meets_and_joins` (`meet`, `join`,
//! `is_within`, `singles`), `only_whole_groups_widen` (`widen_to`),
//! sysfs.rs::`a_cluster_of_private_caches_is_the_cache_domain` (`widen_to` as levels use it), the
//! first also `labels`; `of` below is the tests' own.
//!
//! Tests: below, crates/platform/tests/all/sysfs.rs

/// Each CPU's group, named by its lowest member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition(Vec<u16>);

impl Partition {
    /// Every CPU by itself.
    pub(crate) fn singles(nr_cpus: usize) -> Self {
        Self((0u16..).take(nr_cpus).collect())
    }

    /// Lists that do not overlap; a CPU of none stays by itself.
    pub(crate) fn of_lists<'a>(nr_cpus: usize, lists: impl IntoIterator<Item = &'a [u16]>) -> Self {
        let mut label = Self::singles(nr_cpus).0;
        for list in lists {
            let lowest = list.iter().copied().min().unwrap_or_default();
            for cpu in list {
                label[usize::from(*cpu)] = lowest;
            }
        }
        Self(label)
    }

    /// Groups by any labels.
    pub(crate) fn of_labels<L: PartialEq>(labels: &[L]) -> Self {
        let first = |label: &L| labels.iter().position(|other| other == label);
        let lowest = |label| first(label).expect("it is among them") as u16;
        Self(labels.iter().map(lowest).collect())
    }

    /// For each CPU the lowest member of its group.
    pub(crate) fn labels(&self) -> &[u16] {
        &self.0
    }

    /// Together where both have them together.
    pub(crate) fn meet(&self, other: &Self) -> Self {
        let pairs: Vec<(u16, u16)> = self
            .0
            .iter()
            .copied()
            .zip(other.0.iter().copied())
            .collect();
        Self::of_labels(&pairs)
    }

    /// Together where either has them together, or a chain of both.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let mut label = self.0.clone();
        for (cpu, lowest) in other.0.iter().enumerate() {
            let (a, b) = (label[cpu], label[usize::from(*lowest)]);
            let (keep, drop) = (a.min(b), a.max(b));
            if keep != drop {
                label
                    .iter_mut()
                    .filter(|l| **l == drop)
                    .for_each(|l| *l = keep);
            }
        }
        Self(label)
    }

    /// Whether each group lies within a group of the other.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.meet(other) == *self
    }

    /// The other's groups that are made of whole groups of this one take their place; all else
    /// stays.
    pub(crate) fn widen_to(&self, other: &Self) -> Self {
        // A group of this one that reaches into two of the other's keeps both from taking over.
        let mut crossed = vec![false; self.0.len()];
        for (own, theirs) in self.0.iter().zip(&other.0) {
            let first = other.0[usize::from(*own)];
            if first != *theirs {
                crossed[usize::from(first)] = true;
                crossed[usize::from(*theirs)] = true;
            }
        }
        let widened = |(own, theirs): (&u16, &u16)| {
            if crossed[usize::from(*theirs)] {
                *own
            } else {
                *theirs
            }
        };
        Self(self.0.iter().zip(&other.0).map(widened).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Partition;

    fn of(labels: &[u16]) -> Partition {
        Partition::of_labels(labels)
    }

    #[test]
    fn labels_are_the_lowest_members() {
        assert_eq!(of(&[7, 3, 7, 3, 9]).labels(), [0, 1, 0, 1, 4]);
        assert_eq!(Partition::of_lists(4, [&[1, 3][..]]).labels(), [0, 1, 2, 1]);
    }

    #[test]
    fn meets_and_joins() {
        let (pairs, ends) = (of(&[0, 0, 1, 1, 2]), of(&[0, 1, 1, 2, 2]));
        assert_eq!(pairs.meet(&ends), Partition::singles(5));
        assert_eq!(pairs.join(&ends), of(&[0; 5]));
        assert!(pairs.is_within(&of(&[0, 0, 0, 0, 1])));
        assert!(!pairs.is_within(&ends));
    }

    #[test]
    fn only_whole_groups_widen() {
        // 0-1 and 2 make 0-2; 3-4 crosses into 5, so that 3 to 5 stay.
        let fine = of(&[0, 0, 2, 3, 3, 5]);
        assert_eq!(
            fine.widen_to(&of(&[0, 0, 0, 3, 4, 4])),
            of(&[0, 0, 0, 3, 3, 5])
        );
    }
}
