//! Tasks that sleep until a time, the first to wake first (docs/guide/kernel.md, "In a run").
//!
//! What must stay: by time, then by task: equal times have one order. Times are ns. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `the_first_to_wake_is_first` (`add`, `remove`, `take_awake`), `early_ends_do_not_pile_up`
//! (`add`: what is retained). `awake` is the tests' own.
//!
//! Callers: interrupts.rs (`take_awake`).
//!
//! Tests: below

use crate::ids::{PerTask, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whose sleep ended before its time stays in the heap until then, or until there are as many of
/// those as of the others.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    heap: BinaryHeap<Reverse<Sleep>>,
    /// Those whose time has come and who slept on when they were last asked about.
    due: Vec<Sleep>,
    /// The number of each task's sleep.
    sleeps: PerTask<Option<u64>>,
    count: usize,
    numbers: u64,
}

/// Until when, who, and its number.
type Sleep = (u64, TaskId, u64);

/// So many entries are kept, whatever they are.
const SMALL: usize = 64;

impl Sleepers {
    /// A task falls asleep until a time, ns.
    pub(super) fn add(&mut self, at_ns: u64, task: TaskId) {
        self.remove(task);
        if task.index() >= self.sleeps.0.len() {
            self.sleeps.0.resize(task.index() + 1, None);
        }
        self.numbers += 1;
        self.sleeps[task] = Some(self.numbers);
        self.count += 1;
        self.heap.push(Reverse((at_ns, task, self.numbers)));
        if self.heap.len() > 2 * self.count + SMALL {
            let sleeps = &self.sleeps;
            let goes_on = |(_, task, number): &Sleep| sleeps[*task] == Some(*number);
            self.heap.retain(|Reverse(sleep)| goes_on(sleep));
        }
    }

    /// It sleeps no more, if it did.
    pub(super) fn remove(&mut self, task: TaskId) {
        if let Some(sleep) = self.sleeps.0.get_mut(task.index())
            && sleep.take().is_some()
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
        while let Some(Reverse((at_ns, ..))) = self.heap.peek()
            && *at_ns <= now_ns
        {
            self.due.extend(self.heap.pop().map(|Reverse(sleep)| sleep));
        }
        let (sleeps, count) = (&mut self.sleeps, &mut self.count);
        self.due.retain(|(_, task, number)| {
            if sleeps[*task] != Some(*number) {
                return false;
            }
            let sleeps_on = !is_awake(*task);
            if !sleeps_on {
                sleeps[*task] = None;
                *count -= 1;
                taken.push(*task);
            }
            sleeps_on
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
            sleepers.add(1_000_000 + at_ns / 50_000, TaskId(7));
            sleepers.remove(TaskId(7));
        }
        assert!(sleepers.heap.len() <= SMALL + 1, "{}", sleepers.heap.len());
    }
}
