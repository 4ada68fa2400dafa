//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere.

use crate::ids::{CpuId, TaskId};
use std::hint::select_unpredictable;

/// What happens. Within one instant the order is that of `class` (interrupts, wake-ups,
/// preemption, tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frequency domain reaches its requested operating point.
    Freq { domain: u32 },
    /// A wake-up that takes time goes on, before its waker does.
    WakeupStage { task: TaskId },
    /// The running task's step may be done.
    RunEnd { cpu: CpuId },
    /// A task's sleep ends.
    Timer { task: TaskId },
    /// A CPU has left its idle state and takes its interrupts.
    Awake { cpu: CpuId },
    /// A running CPU takes an inter-processor interrupt.
    Interrupt { cpu: CpuId },
    /// An idle CPU's interrupt work is done.
    IdleAgain { cpu: CpuId, generation: u32 },
    /// Entry into an idle state is complete.
    IdleEntered { cpu: CpuId, generation: u32 },
    /// The running task's slice may be over (high-resolution tick).
    SliceEnd { cpu: CpuId },
    /// Scheduler tick.
    Tick { cpu: CpuId },
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
    /// A CPU leaves or comes back: a step of the schedule. Before all else of its instant.
    Hotplug { index: u32 },
    /// The policy changes.
    PolicyChange { index: u32 },
    /// A device's interrupt.
    Device { source: u32 },
    /// A limit of a frequency domain changes.
    FreqCap { index: u32 },
    /// A domain has another energy model table from now on.
    EmScale { index: u32 },
    /// A step of the temperatures.
    Thermal,
    /// A deadline task's budget is filled.
    Replenish { task: TaskId },
    /// RT tasks get their time of the next period.
    RtPeriod,
    /// A CPU without a task has got a cache line that it waited for.
    SpinEnd { cpu: CpuId },
    /// So has one that queued a task.
    Queued { task: TaskId, by: CpuId },
    /// The program begins.
    Begin,
    /// A timer of the sched_ext scheduler's, started on this CPU.
    SchedExtTimer { timer: u32, cpu: CpuId },
    /// The kernel looks whether the sched_ext scheduler has forgotten a task.
    Watchdog,
    /// The loader of the sched_ext scheduler goes on.
    SchedExtLoader,
}

impl Event {
    fn class(self) -> u8 {
        match self {
            Self::Freq { .. } => 0,
            Self::WakeupStage { .. } | Self::SpinEnd { .. } | Self::Queued { .. } => 1,
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
            Self::Thermal => 15,
            Self::EmScale { .. } => 16,
            Self::Begin => 17,
            Self::SchedExtTimer { .. } => 18,
            Self::Watchdog => 19,
            Self::SchedExtLoader => 20,
            // queued before the run: the first of their class
            Self::Hotplug { .. } | Self::PolicyChange { .. } => 0,
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

/// Children of a node of the heap. Four make it half as deep as two would, and lie side by side.
const CHILDREN: usize = 4;

/// Pending events: a heap, its first entry the next event. What an event leads to mostly is another
/// one, so the place of the one handed out stays free until the next push or look: one way down
/// the heap for both.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    /// The first entry has been handed out.
    taken: bool,
    sequence: u64,
}

impl EventQueue {
    #[inline]
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        self.sequence += 1;
        let order = u64::from(event.class()) << 56 | self.sequence;
        let entry = Entry {
            time_ns,
            order,
            event,
        };
        if std::mem::take(&mut self.taken) {
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// The next event, if it is due by `end_ns`.
    #[inline]
    pub(crate) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        if std::mem::take(&mut self.taken)
            && let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
        let first = self.heap.first().filter(|e| e.time_ns <= end_ns)?;
        self.taken = true;
        Some((first.time_ns, first.event))
    }

    /// Puts `entry` where the last one is, then up to its place.
    #[inline]
    fn rise(&mut self, entry: Entry) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.heap[parent].key() <= entry.key() {
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
            let (a, b, c, d) = (a.key(), b.key(), c.key(), d.key());
            let left = select_unpredictable(b < a, b, a);
            let right = select_unpredictable(d < c, d, c);
            let (in_left, in_right) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + select_unpredictable(right < left, in_right, in_left));
        }
        let end = self.heap.len().min(first + CHILDREN);
        (first..end).min_by_key(|child| self.heap[*child].key())
    }

    /// Puts `entry` where the first one is, then down to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let mut at = 0;
        while let Some(next) = self.least_child(at) {
            if self.heap[next].key() >= entry.key() {
                break;
            }
            self.heap[at] = self.heap[next];
            at = next;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventQueue};
    use crate::ids::{CpuId, TaskId};

    #[test]
    fn order_is_time_then_class_then_sequence() {
        let mut queue = EventQueue::default();
        queue.push(5, Event::Tick { cpu: CpuId(0) });
        queue.push(5, Event::Timer { task: TaskId(9) });
        queue.push(5, Event::Timer { task: TaskId(1) });
        queue.push(4, Event::Tick { cpu: CpuId(3) });
        let mut next = || queue.pop_until(5).map(|(_, e)| e);
        assert_eq!(next(), Some(Event::Tick { cpu: CpuId(3) }));
        assert_eq!(next(), Some(Event::Timer { task: TaskId(9) }));
        assert_eq!(next(), Some(Event::Timer { task: TaskId(1) }));
        assert_eq!(next(), Some(Event::Tick { cpu: CpuId(0) }));
        assert_eq!(next(), None);
    }

    #[test]
    fn later_events_stay() {
        let mut queue = EventQueue::default();
        queue.push(6, Event::Tick { cpu: CpuId(0) });
        assert_eq!(queue.pop_until(5), None);
        assert_eq!(queue.pop_until(6), Some((6, Event::Tick { cpu: CpuId(0) })));
    }

    /// Whatever the mix of pushes and looks, each look takes the least (time, class, sequence) that
    /// is pending: found here by a look at all. Times lie near and far, many are equal.
    #[test]
    fn the_least_comes_first() {
        let mut queue = EventQueue::default();
        let mut pending: Vec<(u64, u8, u32)> = Vec::new();
        let (mut random, mut now, mut most) = (1_u64, 0, 0);
        for number in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            if random >> 60 < 9 {
                let far = [3, 0xff, 0xf_ffff, 0xff_ffff_ffff][(random >> 40 & 3) as usize];
                let time = now + (random >> 20 & far);
                let cpu = CpuId(number);
                let event = [Event::Tick { cpu }, Event::RunEnd { cpu }][(number & 1) as usize];
                queue.push(time, event);
                pending.push((time, event.class(), number));
            } else {
                let end = now + (random >> 30 & 0xfff_ffff);
                let least = pending
                    .iter()
                    .copied()
                    .min()
                    .filter(|(time, ..)| *time <= end);
                pending.retain(|one| Some(*one) != least);
                let found = queue.pop_until(end).map(|(time, event)| match event {
                    Event::Tick { cpu } | Event::RunEnd { cpu } => (time, event.class(), cpu.0),
                    _ => panic!("never queued"),
                });
                assert_eq!(found, least);
                now = found.map_or(now, |(time, ..)| time);
            }
            most = most.max(pending.len());
        }
        assert!(most > 100, "too few at once");
    }

    /// What is due at the same time as the event at hand comes in its order, also if it is pushed
    /// only now.
    #[test]
    fn one_instant() {
        let mut queue = EventQueue::default();
        let tick = |cpu| Event::Tick { cpu: CpuId(cpu) };
        for cpu in 0..3 {
            queue.push(7, tick(cpu));
        }
        assert_eq!(queue.pop_until(7), Some((7, tick(0))));
        queue.push(7, tick(3));
        let end = Event::RunEnd { cpu: CpuId(9) };
        queue.push(7, end);
        queue.push(u64::MAX, end);
        for event in [end, tick(1), tick(2), tick(3)] {
            assert_eq!(queue.pop_until(8), Some((7, event)));
        }
        assert_eq!(queue.pop_until(u64::MAX - 1), None);
        assert_eq!(queue.pop_until(u64::MAX), Some((u64::MAX, end)));
    }
}
