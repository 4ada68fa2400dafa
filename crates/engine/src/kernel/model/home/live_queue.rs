//! The live scheduler's run queue of one CPU, as sched_ext has it: a local first-in-first-out queue
//! that is served before all else and that nobody pulls from, and a queue in the order of the
//! core's virtual deadlines. Mechanics only: times, slices and preemption are the core's
//! (docs/guide/model.md, "The live scheduler's queues").
//!
//! What must stay: front first, then deadlines, then arrival, with deadlines compared as signed
//! differences. `crates/scx/src/bpf/queue.bpf.h` has the same order by sched_ext's queues. Free:
//! what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `the_front_goes_first_then_deadlines_then_arrival` (`insert`, `insert_local`, `put_first`,
//! `remove`, `pick`, `nr`), `order_survives_the_wrap_of_virtual_time` (`insert`),
//! crates/engine/tests/behaviour/live_queue.rs::`two_hogs_alternate_by_slices` (`refill`). By
//! function: the first also `waiting`, `in_order`, `nr_waiting`; `has_local` and `stop` by runs
//! (live_queue.rs). `numbers` is the tests' own.
//!
//! Callers: live.rs (`nr_waiting`, `put_first`, `insert_local`).
//!
//! Tests: below, crates/engine/tests/behaviour/live_queue.rs

use crate::ids::TaskId;
use std::collections::VecDeque;

/// One CPU's queues. The running task is in neither.
#[derive(Debug, Default)]
pub(crate) struct LiveQueue {
    local: VecDeque<TaskId>,
    /// By descending deadline; the earliest is last.
    ordered: Vec<(u64, TaskId)>,
    running: bool,
    /// A task went to the front without a walk: sleepers have not left for it yet.
    pub(crate) lone: bool,
    /// The running task asks for its next slice at the next look at the queue.
    pub(crate) slice_over: bool,
    /// At a tick from then on its slice is over in any case.
    pub(crate) slice_end_ns: u64,
}

impl LiveQueue {
    /// Tasks, the running one included.
    pub(crate) fn nr(&self) -> usize {
        self.nr_waiting() + usize::from(self.running)
    }

    /// Tasks that wait, without the running one.
    pub(crate) fn nr_waiting(&self) -> usize {
        self.local.len() + self.ordered.len()
    }

    /// All waiting tasks, in the order in which they are served.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.local.iter().copied().chain(self.in_order())
    }

    /// The waiting tasks that another CPU may pull, the next one first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.ordered.iter().rev().map(|(_, task)| *task)
    }

    /// Does a task wait that was put to the front?
    pub(crate) fn has_local(&self) -> bool {
        !self.local.is_empty()
    }

    /// This waiting task goes to the front: it is the next one.
    pub(crate) fn put_first(&mut self, task: TaskId) {
        self.remove(task);
        self.insert_local(task);
    }

    /// Behind those that are at the front already.
    pub(crate) fn insert_local(&mut self, task: TaskId) {
        self.local.push_back(task);
    }

    /// Of equal deadlines the earlier arrival goes first. The order is by signed distance: virtual
    /// time wraps.
    pub(crate) fn insert(&mut self, task: TaskId, deadline_ns: u64) {
        let later = |v: u64| v.wrapping_sub(deadline_ns).cast_signed() > 0;
        let at = self.ordered.partition_point(|(v, _)| later(*v));
        self.ordered.insert(at, (deadline_ns, task));
    }

    /// A waiting task leaves, wherever it waits; panics if it does not.
    pub(crate) fn remove(&mut self, task: TaskId) {
        if let Some(at) = self.local.iter().position(|t| *t == task) {
            self.local.remove(at);
        } else {
            let at = self.ordered.iter().rposition(|(_, t)| *t == task);
            self.ordered.remove(at.expect("a waiting task is queued"));
        }
    }

    /// The running task stops.
    pub(crate) fn stop(&mut self) {
        self.running = false;
    }

    /// Takes the task at the front out; it runs. None: nobody waits there.
    pub(crate) fn pick(&mut self) -> Option<TaskId> {
        let next = self.local.pop_front();
        self.running = next.is_some();
        next
    }

    /// The running task has a slice until then.
    pub(crate) fn refill(&mut self, end_ns: u64) {
        self.slice_over = false;
        self.slice_end_ns = end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::LiveQueue;
    use crate::ids::TaskId;

    fn numbers(tasks: impl Iterator<Item = TaskId>) -> Vec<u32> {
        tasks.map(|task| task.0).collect()
    }

    #[test]
    fn the_front_goes_first_then_deadlines_then_arrival() {
        let mut queue = LiveQueue::default();
        for (task, deadline) in [(1, 20), (2, 10), (3, 20), (4, 10)] {
            queue.insert(TaskId(task), deadline);
        }
        queue.insert_local(TaskId(5));
        queue.insert_local(TaskId(6));
        assert_eq!(numbers(queue.in_order()), [2, 4, 1, 3]);
        assert_eq!(numbers(queue.waiting()), [5, 6, 2, 4, 1, 3]);
        assert_eq!(queue.pick(), Some(TaskId(5)));
        queue.put_first(TaskId(4));
        assert_eq!(numbers(queue.waiting()), [6, 4, 2, 1, 3]);
        assert_eq!(queue.nr(), 6);
        queue.remove(TaskId(6));
        queue.remove(TaskId(1));
        let served = std::iter::from_fn(|| {
            let first = queue.in_order().next();
            first.into_iter().for_each(|task| queue.put_first(task));
            queue.pick()
        });
        assert_eq!(numbers(served), [4, 2, 3]);
        assert_eq!(queue.nr(), 0);
    }

    #[test]
    fn order_survives_the_wrap_of_virtual_time() {
        let mut queue = LiveQueue::default();
        queue.insert(TaskId(1), 5);
        queue.insert(TaskId(2), u64::MAX - 5);
        assert_eq!(numbers(queue.in_order()), [2, 1]);
    }
}
