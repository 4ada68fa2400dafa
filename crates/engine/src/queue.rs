//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens. The order of the variants is the order within one instant
/// (interrupts, wake-ups, preemption, tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frequency domain reaches its requested operating point.
    Freq { domain: u32 },
    /// The running task's step may be done.
    RunEnd { cpu: u32 },
    /// A task's sleep ends.
    Timer { task: u32 },
    /// A CPU has left its idle state and takes its interrupts.
    Awake { cpu: u32 },
    /// A running CPU takes an inter-processor interrupt.
    Interrupt { cpu: u32 },
    /// An idle CPU's interrupt work is done.
    IdleAgain { cpu: u32, generation: u32 },
    /// Entry into an idle state is complete.
    IdleEntered { cpu: u32, generation: u32 },
    /// Scheduler tick.
    Tick { cpu: u32 },
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
}

impl Event {
    fn class(self) -> u8 {
        match self {
            Self::Freq { .. } => 0,
            Self::RunEnd { .. } => 1,
            Self::Timer { .. } => 2,
            Self::Awake { .. } => 3,
            Self::Interrupt { .. } => 4,
            Self::IdleAgain { .. } => 5,
            Self::IdleEntered { .. } => 6,
            Self::Tick { .. } => 7,
            Self::IdleTimer => 8,
        }
    }
}

/// What is pending. Small, and compared by its first two fields only: the heap's work is most of an
/// event's cost.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time_ns: u64,
    /// Class in the top byte, sequence number below: 2^56 events are years of simulation.
    order: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> u128 {
        u128::from(self.time_ns) << 64 | u128::from(self.order)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Pending events.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl EventQueue {
    #[inline]
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        self.sequence += 1;
        let order = u64::from(event.class()) << 56 | self.sequence;
        self.heap.push(Reverse(Entry {
            time_ns,
            order,
            event,
        }));
    }

    /// The next event, if it is due by `end_ns`.
    #[inline]
    pub(crate) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        if self.heap.peek()?.0.time_ns > end_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(e)| (e.time_ns, e.event))
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventQueue};

    #[test]
    fn order_is_time_then_class_then_sequence() {
        let mut queue = EventQueue::default();
        queue.push(5, Event::Tick { cpu: 0 });
        queue.push(5, Event::Timer { task: 9 });
        queue.push(5, Event::Timer { task: 1 });
        queue.push(4, Event::Tick { cpu: 3 });
        let mut next = || queue.pop_until(5).map(|(_, e)| e);
        assert_eq!(next(), Some(Event::Tick { cpu: 3 }));
        assert_eq!(next(), Some(Event::Timer { task: 9 }));
        assert_eq!(next(), Some(Event::Timer { task: 1 }));
        assert_eq!(next(), Some(Event::Tick { cpu: 0 }));
        assert_eq!(next(), None);
    }

    #[test]
    fn later_events_stay() {
        let mut queue = EventQueue::default();
        queue.push(6, Event::Tick { cpu: 0 });
        assert_eq!(queue.pop_until(5), None);
        assert_eq!(queue.pop_until(6), Some((6, Event::Tick { cpu: 0 })));
    }
}
