//! A heap of events by their keys. The same order as a sorted list: equal keys do not occur, since
//! each has a sequence number (docs/rules/README.md#event-order).
//!
//! What must stay: the least key first. Its shape (four children) is for speed alone. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `the_least_comes_first` (`push`, `first`, `take`, `rise`, `sink`, `least_child`),
//! `order_is_time_then_class_then_sequence` (equal times).
//!
//! Callers: queue.rs, for events that are not pushed in order.
//!
//! Tests: crates/engine/src/mechanics/queue/tests.rs

use super::Event;
use super::ends::NEVER;
use std::hint::select_unpredictable;

/// What is pending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Time, class and number: no two entries have the same.
    pub(super) key: u128,
    pub(super) event: Event,
}

/// Children of a node of the heap. Four make it half as deep as two would, and lie side by side.
const CHILDREN: usize = 4;

/// A heap, its first entry the next event. What an event leads to often is another one, so the
/// place of the one handed out stays free until the next push or look: one way down the heap for
/// both.
#[derive(Debug, Default)]
pub(super) struct Heap {
    heap: Vec<Entry>,
    /// The first entry has been handed out.
    taken: bool,
}

impl Heap {
    /// If an entry was just taken, the new one takes its place: one way down instead of two.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        if std::mem::take(&mut self.taken) {
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// The key of the next event.
    #[inline]
    pub(super) fn first(&mut self) -> u128 {
        if std::mem::take(&mut self.taken)
            && let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
        self.heap.first().map_or(NEVER, |first| first.key)
    }

    /// Hands out the event whose key `first` has just returned.
    #[inline]
    pub(super) fn take(&mut self) -> Event {
        self.taken = true;
        self.heap[0].event
    }

    /// Puts `entry` where the last one is, then up to its place.
    #[inline]
    fn rise(&mut self, entry: Entry) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.heap[parent].key <= entry.key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// The child of a node that comes first. Which of four it is cannot be predicted: a whole set
    /// is compared in pairs without a jump.
    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * CHILDREN + 1;
        if let Some([a, b, c, d]) = self.heap.get(first..first + CHILDREN) {
            let (a, b, c, d) = (a.key, b.key, c.key, d.key);
            let left = select_unpredictable(b < a, b, a);
            let right = select_unpredictable(d < c, d, c);
            let (in_left, in_right) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + select_unpredictable(right < left, in_right, in_left));
        }
        let end = self.heap.len().min(first + CHILDREN);
        (first..end).min_by_key(|child| self.heap[*child].key)
    }

    /// Puts `entry` where the first one is, then down to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let mut at = 0;
        while let Some(next) = self.least_child(at) {
            if self.heap[next].key >= entry.key {
                break;
            }
            self.heap[at] = self.heap[next];
            at = next;
        }
        self.heap[at] = entry;
    }
}
