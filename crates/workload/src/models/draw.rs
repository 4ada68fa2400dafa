//! What models draw from a task's stream: values of a range, the order of a list
//! (docs/guide/workloads.md).
//!
//! Called by all models that draw. The number of draws of each call stays: another number moves
//! everything that is drawn behind it.
//!
//! What must stay: both ends of a range are drawn; a range of one value takes a draw, too;
//! `shuffle` keeps all members. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `draws_stay_within_both_ends_and_reach_them` (`draw`, `is_within`),
//! `a_shuffled_list_keeps_its_members` (`shuffle`),
//! benchmark_models.rs::`sysbench_threads_begin_together_at_a_drawn_time` (`begin_ns`), the first
//! also `new`.
//!
//! Tests: below, crates/workload/tests/all/benchmark_models.rs
use crate::Stream;
use std::ops::RangeInclusive;

/// Values of which each is drawn with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    least: u64,
    most: u64,
}

impl Spread {
    /// None if the second is less than the first.
    pub(crate) fn new(least: u64, most: u64) -> Option<Self> {
        (least <= most).then_some(Self { least, most })
    }

    /// Are both ends in the range?
    pub(crate) fn is_within(self, range: &RangeInclusive<u64>) -> bool {
        range.contains(&self.least) && range.contains(&self.most)
    }

    /// One of the values. Ranges of arguments end far below 2^64.
    pub(crate) fn draw(self, stream: &mut Stream) -> u64 {
        self.least + stream.below(self.most - self.least + 1)
    }
}

/// When a program begins, ns: nobody times that by the tick, whose longest period this is (HZ 100).
pub(crate) fn begin_ns(seed: u64) -> u64 {
    Stream::for_task(seed, "program").below(10_000_000)
}

/// The same list in random order, each order with the same probability (Fisher and Yates).
pub(crate) fn shuffle<T>(list: &mut [T], stream: &mut Stream) {
    for last in (1..list.len()).rev() {
        let other = stream.below(last as u64 + 1) as usize;
        list.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_within_both_ends_and_reach_them() {
        let spread = Spread::new(3, 6).unwrap();
        let mut stream = Stream::for_task(1, "spread");
        let drawn: Vec<u64> = (0..200).map(|_| spread.draw(&mut stream)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&6));
        assert!(!spread.is_within(&(4..=9)) && spread.is_within(&(3..=6)));
    }

    #[test]
    fn a_shuffled_list_keeps_its_members() {
        let mut list: Vec<u32> = (0..50).collect();
        shuffle(&mut list, &mut Stream::for_task(1, "list"));
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
