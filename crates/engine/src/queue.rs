//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens. Within one instant the order is that of `class` (interrupts, wake-ups,
/// preemption, tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frequency domain reaches its requested operating point.
    Freq { domain: u32 },
    /// A wake-up that takes time goes on, before its waker does.
    WakeStage { task: u32 },
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
    /// The running task's slice may be over (high-resolution tick).
    SliceEnd { cpu: u32 },
    /// Scheduler tick.
    Tick { cpu: u32 },
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
    /// A CPU leaves or comes back: a step of the schedule. Before all else of its instant.
    Hotplug { index: u32 },
    /// A device's interrupt.
    Device { source: u32 },
    /// A limit of a frequency domain changes.
    FreqCap { index: u32 },
    /// A deadline task's budget is filled.
    Replenish { task: u32 },
    /// RT tasks get their time of the next period.
    RtPeriod,
}

impl Event {
    fn class(self) -> u8 {
        match self {
            Self::Freq { .. } => 0,
            Self::WakeStage { .. } => 1,
            Self::RunEnd { .. } => 2,
            Self::Timer { .. } => 3,
            Self::Awake { .. } => 4,
            Self::Interrupt { .. } => 5,
            Self::IdleAgain { .. } => 6,
            Self::IdleEntered { .. } => 7,
            Self::SliceEnd { .. } => 8,
            Self::Tick { .. } => 9,
            Self::IdleTimer => 10,
            Self::Device { .. } => 11,
            Self::FreqCap { .. } => 12,
            Self::Replenish { .. } => 13,
            Self::RtPeriod => 14,
            Self::Hotplug { .. } => 0, // queued before the run: the first of its class
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
