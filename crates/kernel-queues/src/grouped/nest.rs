//! Which group is in which, and which may not run on a CPU.
//!
//! What must stay: a group's number is the workload's, and following `above` ends at the root.
//! Free: how groups are stored.
//!
//! Tests by part: bandwidth.rs: `a_group_in_a_group_has_no_more_than_either` (`is_throttled`,
//! `set_throttled`, `is_hidden`), `tasks_and_groups_share_at_any_level` (`above`, `around`,
//! `inside_out`, `is_in`); cfs/tests.rs: `a_wakee_of_another_group_names_its_group` (`common`).
//! `new` and `all` have no test of their own.
//!
//! Callers: grouped/cfs.rs and grouped/eevdf.rs.
//!
//! Tests: crates/engine/tests/behaviour/bandwidth.rs, crates/kernel-queues/src/grouped/cfs/tests.rs

use super::{GroupShape, entity_of};

/// The groups of one CPU.
#[derive(Debug)]
pub(super) struct Nest {
    above: Vec<Option<usize>>,
    throttled: Vec<bool>,
}

impl Nest {
    /// Of the shapes of a workload's groups; none is throttled.
    pub(super) fn new(shapes: &[GroupShape]) -> Self {
        Self {
            above: shapes.iter().map(|shape| shape.parent).collect(),
            throttled: vec![false; shapes.len()],
        }
    }

    /// All groups, by number.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.above.len()
    }

    /// The group around one; None: the root.
    #[inline]
    pub(super) fn above(&self, group: usize) -> Option<usize> {
        self.above[group]
    }

    /// A group and those around it, from the inside.
    #[inline]
    pub(super) fn around(&self, group: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(group, |g| self.above[*g])
    }

    /// Is `inner` the group or in it?
    pub(super) fn is_in(&self, inner: usize, group: usize) -> bool {
        self.around(Some(inner)).any(|g| g == group)
    }

    /// All groups, each before those around it. Of one depth in the order of their numbers.
    pub(super) fn inside_out(&self) -> std::vec::IntoIter<Option<usize>> {
        let mut groups: Vec<usize> = self.all().collect();
        groups.sort_by_key(|g| std::cmp::Reverse(self.around(Some(*g)).count()));
        let groups: Vec<Option<usize>> = groups.into_iter().map(Some).collect();
        groups.into_iter()
    }

    /// Itself, not those around it: see `is_hidden`.
    #[inline]
    pub(super) fn is_throttled(&self, group: usize) -> bool {
        self.throttled[group]
    }

    /// The caller takes its entity off the queue above, or puts it there.
    pub(super) fn set_throttled(&mut self, group: usize, throttled: bool) {
        self.throttled[group] = throttled;
    }

    /// The group or one around it may not run.
    #[inline]
    pub(super) fn is_hidden(&self, group: usize) -> bool {
        self.around(Some(group)).any(|g| self.throttled[g])
    }

    /// The innermost queue that two tasks are in, by themselves or by groups (`find_matching_se`),
    /// and who stands for them there.
    pub(super) fn common(
        &self,
        [(first, one), (second, other)]: [(u32, Option<usize>); 2],
    ) -> (Option<usize>, [u32; 2]) {
        let queues = |group: Option<usize>| {
            let outer = self.around(group).map(|g| (self.above[g], entity_of(g)));
            outer.collect::<Vec<_>>()
        };
        let mut from_inside = vec![(one, first)];
        from_inside.extend(queues(one));
        let mut others = vec![(other, second)];
        others.extend(queues(other));
        let both = from_inside.iter().find_map(|(queue, ours)| {
            let same = others.iter().find(|(theirs, _)| theirs == queue);
            same.map(|(_, theirs)| (*queue, [*ours, *theirs]))
        });
        both.expect("all are in the root")
    }
}
