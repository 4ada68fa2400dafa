//! Dispatch queues: local ones, global ones of nodes, and those of the scheduler
//! (docs/rules/sched-ext.md#queues). No task is lost, whatever times it has.
//!
//! What must stay: equal virtual times keep the order of insertion, and a walk sees what was there
//! when it began. Free: how tasks of a queue are kept.
//!
//! Tests by part: `a_fifo_has_a_head_and_a_tail` (`insert`, `remove`, `first`, `tasks`, `len`),
//! `virtual_time_wraps` (`before`, `insert`, `place`), `times_without_an_order_lose_nobody`
//! (`search`, `iter`, `advance`), `a_walk_sees_what_was_there` (`iter`, `advance`, `was_there`),
//! crates/sched-ext/tests/all/kernel.rs::`queues_are_made_once` (`create`, `destroy`, `user`,
//! `is_builtin`), crates/engine/tests/behaviour/sched_ext/errors.rs::`orders_that_do_not_mix`
//! (`is_other_order`), crates/sched-ext/tests/all/again.rs::`who_asks_without_end_ends`
//! (`count_again`, `cpu_of`, `local`). `global`, `get`, `get_mut` are looks: any run uses them.
//! `new` has no test of its own.
//!
//! Callers: class/insert.rs, class/kfuncs.rs, class/balance.rs.
//!
//! Tests: below

use crate::consts::{SCX_DSQ_FLAG_BUILTIN, SCX_DSQ_GLOBAL, SCX_DSQ_LOCAL};
use crate::{DsqIter, TaskId};
use std::collections::{BTreeMap, VecDeque};

/// The place of a queue in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DsqRef(pub(crate) u32);

/// The place of a task in its queue: virtual time (0 in a FIFO), then order of arrival.
pub(crate) type Key = (u64, i64);

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    /// Counts what was ever queued here.
    seq: u64,
    task: TaskId,
}

/// One queue, the next task first.
#[derive(Debug, Default)]
pub(crate) struct Dsq {
    pub(crate) id: u64,
    queue: VecDeque<Entry>,
    seq: u64,
    /// What is queued is ordered by virtual time.
    by_vtime: bool,
    head: i64,
    tail: i64,
    /// All its tasks are to be enqueued again.
    pub(crate) again_due: bool,
    /// Which question of the machine's led to that last, and how often it had done so before.
    again: (u64, u32),
}

/// Does `a` come before `b`? Virtual time wraps. Of times that span more than half of all numbers
/// this is no order: each third of them comes before the next one.
fn before(a: Key, b: Key) -> bool {
    match a.0.wrapping_sub(b.0).cast_signed() {
        0 => a.1 < b.1,
        distance => distance < 0,
    }
}

impl Dsq {
    /// Empty.
    fn new(id: u64) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    /// Counts the tasks in the queue.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The next task, without taking it.
    pub(crate) fn first(&self) -> Option<TaskId> {
        self.queue.front().map(|entry| entry.task)
    }

    /// One of the kernel's own.
    pub(crate) fn is_builtin(&self) -> bool {
        self.id & SCX_DSQ_FLAG_BUILTIN != 0
    }

    /// Is there a task in the other order than this one?
    pub(crate) fn is_other_order(&self, by_vtime: bool) -> bool {
        !self.queue.is_empty() && self.by_vtime != by_vtime
    }

    /// Puts a task where it belongs; `vtime`: by that; else at the end, or at the head. Returns its
    /// place.
    pub(crate) fn insert(&mut self, task: TaskId, vtime: Option<u64>, head: bool) -> Key {
        if self.queue.is_empty() {
            self.by_vtime = vtime.is_some();
        }
        self.seq += 1;
        self.tail += 1;
        let key = match vtime {
            Some(vtime) => (vtime, self.tail),
            None if head => {
                self.head -= 1;
                (self.queue.front().map_or(0, |entry| entry.key.0), self.head)
            }
            None => (self.queue.back().map_or(0, |entry| entry.key.0), self.tail),
        };
        let entry = Entry {
            key,
            seq: self.seq,
            task,
        };
        let at = self.place(key);
        self.queue.insert(at, entry);
        key
    }

    /// Gives the place where a key would be.
    fn place(&self, key: Key) -> usize {
        match self.queue.back() {
            Some(last) if before(last.key, key) => self.queue.len(),
            _ => self.queue.partition_point(|entry| before(entry.key, key)),
        }
    }

    /// Finds where a key is. Err: it is not there, and where it would be. No two entries have one
    /// key; a kernel finds a task by its node, whatever the times are, so this one looks
    /// everywhere.
    fn search(&self, key: Key) -> Result<usize, usize> {
        let at = self.place(key);
        let is = |entry: &Entry| entry.key == key;
        match self.queue.get(at) {
            Some(entry) if is(entry) => Ok(at),
            _ => self.queue.iter().position(is).ok_or(at),
        }
    }

    /// The task at this place leaves.
    pub(crate) fn remove(&mut self, key: Key, task: TaskId) {
        let at = self.search(key).expect("its place is in this queue");
        let entry = self.queue.remove(at);
        assert_eq!(entry.map(|entry| entry.task), Some(task));
    }

    /// Its tasks are enqueued again. How often that has been so before, since the machine asked its
    /// question of this number?
    pub(crate) fn count_again(&mut self, asked: u64) -> u32 {
        self.again = match self.again {
            (last, times) if last == asked => (asked, times + 1),
            _ => (asked, 0),
        };
        self.again.1
    }

    /// All tasks, the next one first.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.queue.iter().map(|entry| entry.task)
    }

    /// A walk over what is there now.
    pub(crate) fn iter(&self, reverse: bool) -> DsqIter {
        DsqIter {
            dsq: self.id,
            reverse,
            until_seq: self.seq,
            last: None,
            slice_ns: None,
            vtime: None,
        }
    }

    /// The next task of a walk; None: it is over.
    pub(crate) fn advance(&self, iter: &mut DsqIter) -> Option<TaskId> {
        let seen = |entry: &&Entry| entry.seq <= iter.until_seq;
        let next = if iter.reverse {
            let until = |key| self.search(key).unwrap_or_else(|at| at);
            let end = iter.last.map_or(self.queue.len(), until);
            self.queue.range(..end).rev().find(seen)
        } else {
            let after = |key| self.search(key).map_or_else(|at| at, |at| at + 1);
            let start = iter.last.map_or(0, after);
            self.queue.range(start..).find(seen)
        }?;
        iter.last = Some(next.key);
        Some(next.task)
    }

    /// Was the task at this place there when the walk began?
    pub(crate) fn was_there(&self, iter: &DsqIter, key: Key) -> bool {
        let at = self.search(key);
        at.is_ok_and(|at| self.queue[at].seq <= iter.until_seq)
    }
}

/// All queues of a machine.
#[derive(Debug)]
pub(crate) struct Dsqs {
    /// Of CPUs, of nodes, then the scheduler's.
    all: Vec<Dsq>,
    nr_cpus: u32,
    /// The scheduler's by their numbers.
    user: BTreeMap<u64, u32>,
    /// Places of those that were destroyed.
    free: Vec<u32>,
}

impl Dsqs {
    pub(crate) fn new(nr_cpus: u32, nr_nodes: u32) -> Self {
        let local = (0..nr_cpus).map(|_| Dsq::new(SCX_DSQ_LOCAL));
        let global = (0..nr_nodes).map(|_| Dsq::new(SCX_DSQ_GLOBAL));
        Self {
            all: local.chain(global).collect(),
            nr_cpus,
            user: BTreeMap::new(),
            free: Vec::new(),
        }
    }

    /// The CPU's local queue.
    pub(crate) fn local(&self, cpu: u32) -> DsqRef {
        DsqRef(cpu)
    }

    /// A node's global queue.
    pub(crate) fn global(&self, node: u32) -> DsqRef {
        DsqRef(self.nr_cpus + node)
    }

    /// The scheduler's queue of that number; None: there is none.
    pub(crate) fn user(&self, id: u64) -> Option<DsqRef> {
        self.user.get(&id).copied().map(DsqRef)
    }

    /// The CPU whose local queue this is. None: it is none.
    pub(crate) fn cpu_of(&self, dsq: DsqRef) -> Option<u32> {
        (dsq.0 < self.nr_cpus).then_some(dsq.0)
    }

    /// By its place, which stays while the queue is there.
    pub(crate) fn get(&self, dsq: DsqRef) -> &Dsq {
        &self.all[dsq.0 as usize]
    }

    /// Gives a queue to be changed.
    pub(crate) fn get_mut(&mut self, dsq: DsqRef) -> &mut Dsq {
        &mut self.all[dsq.0 as usize]
    }

    /// False: it is there already.
    pub(crate) fn create(&mut self, id: u64) -> bool {
        if self.user.contains_key(&id) {
            return false;
        }
        let at = self.free.pop().unwrap_or(self.all.len() as u32);
        if at as usize == self.all.len() {
            self.all.push(Dsq::default());
        }
        self.all[at as usize] = Dsq::new(id);
        self.user.insert(id, at);
        true
    }

    /// Its place is used again. The caller has seen that it is empty.
    pub(crate) fn destroy(&mut self, id: u64) {
        if let Some(at) = self.user.remove(&id) {
            self.free.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dsq, TaskId};

    fn order(dsq: &Dsq) -> Vec<u32> {
        dsq.tasks().map(|task| task.0).collect()
    }

    #[test]
    fn a_fifo_has_a_head_and_a_tail() {
        let mut dsq = Dsq::default();
        dsq.insert(TaskId(1), None, false);
        dsq.insert(TaskId(2), None, false);
        dsq.insert(TaskId(3), None, true);
        let middle = dsq.insert(TaskId(4), None, false);
        dsq.insert(TaskId(5), None, true);
        assert_eq!(order(&dsq), [5, 3, 1, 2, 4]);
        dsq.remove(middle, TaskId(4));
        assert_eq!(order(&dsq), [5, 3, 1, 2]);
    }

    /// time_before64: a larger number may be the earlier time.
    #[test]
    fn virtual_time_wraps() {
        let mut dsq = Dsq::default();
        for (task, vtime) in [(1, 5), (2, u64::MAX - 3), (3, 5), (4, 0)] {
            dsq.insert(TaskId(task), Some(vtime), false);
        }
        assert_eq!(order(&dsq), [2, 4, 1, 3]);
    }

    /// Goal: where times span more than half of all numbers, a walk still sees each task once, and
    /// each task leaves, never another one.
    #[test]
    fn times_without_an_order_lose_nobody() {
        const THIRD: u64 = u64::MAX / 3;
        const TASKS: u32 = 30;
        let mut dsq = Dsq::default();
        let keys: Vec<_> = (0..TASKS)
            .map(|task| {
                let vtime = u64::from(task % 3) * THIRD + u64::from(task * 7 % 11);
                dsq.insert(TaskId(task), Some(vtime), false)
            })
            .collect();
        for reverse in [false, true] {
            let mut iter = dsq.iter(reverse);
            let mut seen = Vec::new();
            while let Some(task) = dsq.advance(&mut iter) {
                seen.push(task.0);
                assert!(dsq.was_there(&iter, keys[task.index()]));
            }
            seen.sort_unstable();
            assert_eq!(seen, Vec::from_iter(0..TASKS));
        }
        for (left, key) in (1..=TASKS).zip(&keys) {
            dsq.remove(*key, TaskId(left - 1));
            let mut others = order(&dsq);
            others.sort_unstable();
            assert_eq!(others, Vec::from_iter(left..TASKS));
        }
    }

    /// A walk goes on when what it saw last has left, and does not see what came later.
    #[test]
    fn a_walk_sees_what_was_there() {
        for reverse in [false, true] {
            let mut dsq = Dsq::default();
            let keys: Vec<_> = (0..4)
                .map(|task| dsq.insert(TaskId(task), Some(u64::from(task)), false))
                .collect();
            let mut iter = dsq.iter(reverse);
            let mut seen = Vec::new();
            while let Some(task) = dsq.advance(&mut iter) {
                seen.push(task.0);
                dsq.remove(keys[task.index()], task);
                dsq.insert(TaskId(9), Some(2), false);
            }
            let mut expected = vec![0, 1, 2, 3];
            if reverse {
                expected.reverse();
            }
            assert_eq!(seen, expected);
            assert_eq!(order(&dsq), [9; 4]);
        }
    }
}
