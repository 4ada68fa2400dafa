//! The queue of one CPU above its fair one: RT tasks by priority, deadline tasks by deadline
//! (docs/guide/model.md, "Above the fair tasks"). Equals keep the order of arrival, but for one
//! that was displaced.
//!
//! What must stay: levels order deadline tasks above RT tasks; which group a displaced task joins
//! is said at `insert_first`. Times are ns. Free: how waiting tasks are kept.
//!
//! Tests by part: `the_more_important_first_then_arrival_and_the_displaced_before_its_equals`
//! (`insert`, `insert_first`, `first`, `waiting`, `remove`), `a_grant_pays_what_was_used` (`grant`,
//! `charge_rt`); engine's classes.rs: `rt_tasks_leave_50_ms_a_second` (`charge_rt`),
//! `turns_among_equals`; `is_rt`, `nr` and `waits` by these.
//!
//! Callers: crates/engine/src/kernel/model/classes.rs and cpu.rs.
//!
//! Tests: below, crates/engine/tests/behaviour/classes.rs

use crate::TaskId;

/// What waits and what runs. Levels: 1..=99 RT tasks, above that deadline tasks.
#[derive(Debug, Default)]
pub struct ClassQueue {
    /// By descending level; of equal levels the earlier arrival first.
    waiting: Vec<(u64, TaskId)>,
    /// The running task.
    pub running: Option<TaskId>,
    /// Time of RT tasks not yet paid by a period's grant, ns.
    pub rt_used_ns: u64,
    /// It has exceeded the grant: RT tasks wait for the next period.
    pub rt_throttled: bool,
}

/// The highest level of an RT task.
pub const RT_MOST: u64 = 99;

/// An RT task's level, not a deadline task's?
#[must_use]
pub fn is_rt(level: u64) -> bool {
    level <= RT_MOST
}

impl ClassQueue {
    /// Tasks, the running one included.
    #[must_use]
    pub fn nr(&self) -> usize {
        self.waiting.len() + usize::from(self.running.is_some())
    }

    /// Says whether some task waits.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Waiting tasks, the most important first.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, TaskId)> + '_ {
        self.waiting.iter().copied()
    }

    /// Behind its equals: it woke, came from elsewhere, or its turn among them is over.
    pub fn insert(&mut self, level: u64, task: TaskId) {
        let at = self.waiting.partition_point(|(l, _)| *l >= level);
        self.waiting.insert(at, (level, task));
    }

    /// Before its equals: it was displaced.
    pub fn insert_first(&mut self, level: u64, task: TaskId) {
        let at = self.waiting.partition_point(|(l, _)| *l > level);
        self.waiting.insert(at, (level, task));
    }

    /// A waiting task leaves.
    pub fn remove(&mut self, task: TaskId) {
        self.waiting.retain(|(_, t)| *t != task);
    }

    /// The first that may run; `rt`: RT tasks may. None: none may.
    #[must_use]
    pub fn first(&self, rt: bool) -> Option<(u64, TaskId)> {
        self.waiting().find(|(level, _)| rt || !is_rt(*level))
    }

    /// RT tasks have run for `delta_ns`.
    pub fn charge_rt(&mut self, delta_ns: u64) {
        self.rt_used_ns += delta_ns;
    }

    /// A period's grant pays for what was used. Returns true if RT tasks may run again.
    pub fn grant(&mut self, grant_ns: u64) -> bool {
        self.rt_used_ns = self.rt_used_ns.saturating_sub(grant_ns);
        let again = self.rt_throttled && self.rt_used_ns < grant_ns;
        self.rt_throttled &= !again;
        again
    }
}

#[cfg(test)]
mod tests {
    use super::ClassQueue;
    use crate::TaskId;

    /// Goal: the order of waiting, by hand; where RT may not run nobody of that level is first.
    #[test]
    fn the_more_important_first_then_arrival_and_the_displaced_before_its_equals() {
        let mut queue = ClassQueue::default();
        for (level, task) in [(10, 1), (50, 2), (10, 3), (u64::MAX - 7, 4)] {
            queue.insert(level, TaskId(task));
        }
        queue.insert_first(10, TaskId(5));
        let order: Vec<_> = queue.waiting().map(|(_, task)| task.0).collect();
        assert_eq!(order, [4, 2, 5, 1, 3]);
        queue.remove(TaskId(4));
        assert_eq!(queue.first(true), Some((50, TaskId(2))));
        assert_eq!(queue.first(false), None, "RT may not run");
    }

    /// 950 ms of 1 s: what goes beyond is owed.
    #[test]
    fn a_grant_pays_what_was_used() {
        let mut queue = ClassQueue::default();
        queue.charge_rt(952);
        queue.rt_throttled = true;
        assert!(queue.grant(950));
        assert_eq!(queue.rt_used_ns, 2);
        queue.charge_rt(1950);
        queue.rt_throttled = true;
        assert!(!queue.grant(950), "a second grant is needed");
        assert!(queue.grant(950));
    }
}
