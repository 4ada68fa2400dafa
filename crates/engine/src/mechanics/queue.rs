//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere. The order of `class` decides what is done first at one instant: another one is
//! another run (docs/rules/README.md#event-order).
//!
//! What must stay: three stores (heap, list in order, ends of steps) make one order by key. The
//! tests compare it with a sorted list. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `order_is_time_then_class_then_sequence` (`class`, `key`), `later_events_stay` (`pop_until`),
//! `the_least_comes_first` (all three stores together), `an_end_moves` (`arm_end`, `disarm_end`),
//! `order_is_time_then_class_then_sequence` and the others (`new`, `push`, `push_in_order`,
//! `pop_in_order`), `what_is_not_in_the_queue_has_its_place` (`peek`, `comes_before`, `place`).
//!
//! Callers: clock.rs (`push`, `push_in_order`, `arm_end`, `disarm_end`, `pop_until`, `peek`,
//! `comes_before`).
//!
//! Tests: crates/engine/src/mechanics/queue/tests.rs, crates/engine/tests/behaviour/invariants.rs

mod ends;
mod heap;

use crate::ids::CpuId;
use ends::{Ends, NEVER, time_ns};
use heap::{Entry, Heap};
use std::collections::VecDeque;

/// An event of a kernel's own. What it means is the kernel's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelEvent {
    /// Its place among the events of one instant, as `Event::class` has it.
    pub(crate) class: u8,
    /// Its kind: a number below 32 in a gap of those of other events (`clock::event_code`).
    pub(crate) kind: u8,
    /// What it is about; goes into the hash of the run.
    pub(crate) subject: u32,
    /// What else the kernel needs to know then.
    pub(crate) more: u32,
}

/// What happens. Within one instant the order is that of `class` (interrupts, wake-ups,
/// preemption, tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A frequency domain reaches its requested operating point.
    Freq { domain: u32 },
    /// The running task's step may be done.
    RunEnd { cpu: CpuId },
    /// A CPU has left its idle state and takes its interrupts.
    Awake { cpu: CpuId },
    /// A running CPU takes an inter-processor interrupt.
    Interrupt { cpu: CpuId },
    /// An idle CPU's interrupt work is done.
    IdleAgain { cpu: CpuId, generation: u32 },
    /// Entry into an idle state is complete.
    IdleEntered { cpu: CpuId, generation: u32 },
    /// A CPU leaves or comes back: a step of the schedule. Before all else of its instant.
    Hotplug { index: u32 },
    /// A device's interrupt.
    Device { source: u32 },
    /// A limit of a frequency domain changes.
    FreqCap { index: u32 },
    /// A domain has another energy model table from now on.
    EmScale { index: u32 },
    /// A step of the temperatures.
    Thermal,
    /// A domain's clock moves without the kernel's asking.
    Clock { domain: u32 },
    /// Hardware looks at a domain's load.
    Look { domain: u32 },
    /// Hardware looks at what packages drew.
    PowerLimit,
    /// The program begins.
    Begin,
    /// Something of the kernel's.
    Kernel(KernelEvent),
}

impl Event {
    /// An event's place among the events of one instant. Kernels put theirs between these.
    #[inline]
    fn class(self) -> u8 {
        match self {
            // a step of the schedule is queued before the run: the first of its class
            Self::Freq { .. } | Self::Hotplug { .. } | Self::Clock { .. } => 0,
            Self::RunEnd { .. } => 2,
            Self::Awake { .. } => 4,
            Self::Interrupt { .. } => 5,
            Self::IdleAgain { .. } => 6,
            Self::IdleEntered { .. } => 7,
            Self::Device { .. } => 11,
            Self::FreqCap { .. } => 12,
            Self::Thermal | Self::Look { .. } | Self::PowerLimit => 15,
            Self::EmScale { .. } => 16,
            Self::Begin => 17,
            Self::Kernel(event) => event.class,
        }
    }
}

/// Pending events. Most are ends of steps and ticks of kernels, which have places of their own: an
/// end moves more often than it comes, and all ticks that are armed are due at the same time, in
/// the order in which they were armed. All else is in a heap.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: Heap,
    ends: Ends,
    /// Events that were pushed in the order in which they come.
    in_order: VecDeque<(u128, KernelEvent)>,
    /// The key of the first one.
    first_in_order: u128,
    sequence: u64,
}

impl EventQueue {
    /// An empty queue for a machine of so many CPUs. The end of a step is looked at every
    /// `ahead_ns`.
    pub(crate) fn new(nr_cpus: u32, ahead_ns: u64) -> Self {
        let cpu = CpuId(0);
        Self {
            heap: Heap::default(),
            ends: Ends::new(nr_cpus as usize, ahead_ns, Event::RunEnd { cpu }.class()),
            in_order: VecDeque::with_capacity(nr_cpus as usize),
            first_in_order: NEVER,
            sequence: 0,
        }
    }

    /// The key of an event: time, class, number. 2^56 events are years of simulation.
    #[inline]
    fn key(&mut self, time_ns: u64, event: Event) -> u128 {
        self.sequence += 1;
        let order = u64::from(event.class()) << 56 | self.sequence;
        u128::from(time_ns) << 64 | u128::from(order)
    }

    /// Any event but the end of a step.
    #[inline]
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        let key = self.key(time_ns, event);
        self.heap.push(Entry { key, event });
    }

    /// An event at or after the time of all that are pending and were pushed by this.
    #[inline]
    pub(crate) fn push_in_order(&mut self, time_ns: u64, event: KernelEvent) {
        let key = self.key(time_ns, Event::Kernel(event));
        debug_assert!(self.in_order.back().is_none_or(|(last, _)| *last < key));
        self.in_order.push_back((key, event));
        self.first_in_order = self.first_in_order.min(key);
    }

    /// The step that `cpu` executes ends at `due_ns`, not when it was said to end before.
    #[inline]
    pub(crate) fn arm_end(&mut self, cpu: CpuId, due_ns: u64, now_ns: u64) {
        self.ends.arm(cpu, due_ns, now_ns);
    }

    /// `cpu` executes no step any more.
    #[inline]
    pub(crate) fn disarm_end(&mut self, cpu: CpuId) {
        self.ends.disarm(cpu);
    }

    /// When the next event is due, at the latest at `end_ns`.
    pub(crate) fn next_ns(&mut self, end_ns: u64) -> u64 {
        let others = self.heap.first().min(self.first_in_order);
        self.ends.first_due_ns(time_ns(others).min(end_ns))
    }

    /// When the next event is due, at the latest at `end_ns`, and up to when something of a class
    /// that is not in the queue comes before it.
    pub(crate) fn peek(&mut self, end_ns: u64, class: u8) -> (u64, u64) {
        let others = self.heap.first().min(self.first_in_order);
        let others_ns = time_ns(others).min(end_ns);
        let step_ns = self.ends.peek_due_ns(others_ns.saturating_add(1));
        if step_ns <= others_ns || others < place(others_ns, class) {
            let at_ns = step_ns.min(others_ns);
            return (at_ns, at_ns.saturating_sub(1));
        }
        (others_ns, others_ns)
    }

    /// Whether an event comes before something of a class that is not in the queue: one of another
    /// class than the ends of steps, which are before it.
    pub(crate) fn comes_before(&mut self, at_ns: u64, class: u8) -> bool {
        let others = self.heap.first().min(self.first_in_order);
        others < place(at_ns, class) || self.ends.first_due_ns(at_ns + 1) <= at_ns
    }

    /// The next event, if it is due by `end_ns`.
    #[inline(always)]
    pub(crate) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        let heap = self.heap.first();
        let others = heap.min(self.first_in_order);
        loop {
            let end = self.ends.first();
            let time = time_ns(end.min(others));
            if time > end_ns || end == others {
                return None; // later, or nothing at all
            }
            if end < others {
                let Some(cpu) = self.ends.take(end) else {
                    continue;
                };
                return Some((time, Event::RunEnd { cpu }));
            }
            let event = if heap == others {
                self.heap.take()
            } else {
                self.pop_in_order()?
            };
            return Some((time, event));
        }
    }

    /// Takes the first of those that were pushed in order. None: there is none.
    fn pop_in_order(&mut self) -> Option<Event> {
        let (_, event) = self.in_order.pop_front()?;
        self.first_in_order = self.in_order.front().map_or(NEVER, |(key, _)| *key);
        Some(Event::Kernel(event))
    }
}

/// The key before all events of a class at a time.
fn place(time_ns: u64, class: u8) -> u128 {
    u128::from(time_ns) << 64 | u128::from(class) << 56
}

#[cfg(test)]
mod tests;
