//! The live scheduler's run queue of one CPU, as sched_ext has it: a local first-in-first-out queue
//! that is served before all else and that nobody pulls from, and a queue in the order of the
//! core's virtual deadlines. Mechanics only: times, slices and preemption are the core's.

use std::collections::VecDeque;

/// One CPU's queues. The running task is in neither.
#[derive(Debug, Default)]
pub(crate) struct LiveQueue {
    local: VecDeque<u32>,
    /// By descending deadline; the earliest is last.
    ordered: Vec<(u64, u32)>,
    running: bool,
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

    pub(crate) fn nr_waiting(&self) -> usize {
        self.local.len() + self.ordered.len()
    }

    /// All waiting tasks, in the order in which they are served.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.local.iter().copied().chain(self.in_order())
    }

    /// The waiting tasks that another CPU may pull, the next one first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.ordered.iter().rev().map(|(_, task)| *task)
    }

    /// Does a task wait that was put to the front?
    pub(crate) fn has_local(&self) -> bool {
        !self.local.is_empty()
    }

    /// This waiting task goes to the front: it is the next one.
    pub(crate) fn put_first(&mut self, task: u32) {
        self.remove(task);
        self.insert_local(task);
    }

    pub(crate) fn insert_local(&mut self, task: u32) {
        self.local.push_back(task);
    }

    /// Of equal deadlines the earlier arrival goes first. The order is by signed distance: virtual
    /// time wraps.
    pub(crate) fn insert(&mut self, task: u32, deadline_ns: u64) {
        let later = |v: u64| v.wrapping_sub(deadline_ns).cast_signed() > 0;
        let at = self.ordered.partition_point(|(v, _)| later(*v));
        self.ordered.insert(at, (deadline_ns, task));
    }

    /// A waiting task leaves.
    pub(crate) fn remove(&mut self, task: u32) {
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

    /// Takes the task at the front out; it runs.
    pub(crate) fn pick(&mut self) -> Option<u32> {
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

    #[test]
    fn the_front_goes_first_then_deadlines_then_arrival() {
        let mut queue = LiveQueue::default();
        for (task, deadline) in [(1, 20), (2, 10), (3, 20), (4, 10)] {
            queue.insert(task, deadline);
        }
        queue.insert_local(5);
        queue.insert_local(6);
        assert_eq!(queue.in_order().collect::<Vec<_>>(), [2, 4, 1, 3]);
        assert_eq!(queue.waiting().collect::<Vec<_>>(), [5, 6, 2, 4, 1, 3]);
        assert_eq!(queue.pick(), Some(5));
        queue.put_first(4);
        assert_eq!(queue.waiting().collect::<Vec<_>>(), [6, 4, 2, 1, 3]);
        assert_eq!(queue.nr(), 6);
        queue.remove(6);
        queue.remove(1);
        let served = std::iter::from_fn(|| {
            let first = queue.in_order().next();
            first.into_iter().for_each(|task| queue.put_first(task));
            queue.pick()
        });
        assert_eq!(served.collect::<Vec<_>>(), [4, 2, 3]);
        assert_eq!(queue.nr(), 0);
    }

    #[test]
    fn order_survives_the_wrap_of_virtual_time() {
        let mut queue = LiveQueue::default();
        queue.insert(1, 5);
        queue.insert(2, u64::MAX - 5);
        assert_eq!(queue.in_order().collect::<Vec<_>>(), [2, 1]);
    }
}
