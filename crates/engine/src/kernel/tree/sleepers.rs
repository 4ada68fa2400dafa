//! Tasks that sleep until a time, the first to wake first.

use crate::ids::{PerTask, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whose sleep ended before its time stays in the heap until then, or until there are as many of
/// those as of the others.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    heap: BinaryHeap<Reverse<(u64, TaskId)>>,
    /// Those whose time has come and who slept on when they were last asked about.
    due: Vec<(u64, TaskId)>,
    /// Until when each task sleeps.
    until: PerTask<Option<u64>>,
    count: usize,
}

/// So many entries are kept, whatever they are.
const SMALL: usize = 64;

impl Sleepers {
    /// A task falls asleep until a time, ns.
    pub(super) fn add(&mut self, at_ns: u64, task: TaskId) {
        self.remove(task);
        if task.index() >= self.until.0.len() {
            self.until.0.resize(task.index() + 1, None);
        }
        self.until[task] = Some(at_ns);
        self.count += 1;
        self.heap.push(Reverse((at_ns, task)));
        if self.heap.len() > 2 * self.count + SMALL {
            let until = &self.until;
            self.heap
                .retain(|Reverse((at_ns, task))| until[*task] == Some(*at_ns));
        }
    }

    /// It sleeps no more, if it did.
    pub(super) fn remove(&mut self, task: TaskId) {
        if let Some(until) = self.until.0.get_mut(task.index())
            && until.take().is_some()
        {
            self.count -= 1;
        }
    }

    /// Takes those whose time has come and who are awake by now, the first to wake first. The
    /// others are asked about again next time.
    pub(super) fn take_awake(
        &mut self,
        now_ns: u64,
        mut is_awake: impl FnMut(TaskId) -> bool,
        taken: &mut Vec<TaskId>,
    ) {
        while let Some(Reverse((at_ns, _))) = self.heap.peek()
            && *at_ns <= now_ns
        {
            self.due.extend(self.heap.pop().map(|Reverse(entry)| entry));
        }
        let until = &mut self.until;
        let count = &mut self.count;
        self.due.retain(|(at_ns, task)| {
            if until[*task] != Some(*at_ns) {
                return false;
            }
            let sleeps = !is_awake(*task);
            if !sleeps {
                until[*task] = None;
                *count -= 1;
                taken.push(*task);
            }
            sleeps
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL, Sleepers};
    use crate::ids::TaskId;

    /// Who wakes, if all but `late` are awake when they are due.
    fn awake(sleepers: &mut Sleepers, now_ns: u64, late: u32) -> Vec<u32> {
        let mut taken = Vec::new();
        sleepers.take_awake(now_ns, |task| task.0 != late, &mut taken);
        taken.iter().map(|task| task.0).collect()
    }

    /// Goal: who is due comes in the order of times, then of tasks; who woke before does not come.
    #[test]
    fn the_first_to_wake_is_first() {
        let mut sleepers = Sleepers::default();
        for (at_ns, task) in [(30, 1), (10, 2), (10, 0), (20, 3), (15, 5), (50, 4)] {
            sleepers.add(at_ns, TaskId(task));
        }
        sleepers.remove(TaskId(3));
        sleepers.add(40, TaskId(1)); // again, later
        assert_eq!(awake(&mut sleepers, 30, 2), [0, 5]);
        sleepers.add(35, TaskId(0));
        assert_eq!(awake(&mut sleepers, 40, 9), [2, 0, 1]);
        assert_eq!(awake(&mut sleepers, 49, 9), [0; 0]);
    }

    /// Goal: sleeps that end before their time take no room.
    #[test]
    fn early_ends_do_not_pile_up() {
        let mut sleepers = Sleepers::default();
        for at_ns in 0..100_000 {
            sleepers.add(1_000_000 + at_ns, TaskId(7));
            sleepers.remove(TaskId(7));
        }
        assert!(sleepers.heap.len() <= SMALL + 1, "{}", sleepers.heap.len());
    }
}
