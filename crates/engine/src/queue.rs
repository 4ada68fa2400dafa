//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere.

use crate::ids::{CpuId, TaskId};
use std::cmp::Reverse;

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
            // queued before the run: the first of their class
            Self::Hotplug { .. } | Self::PolicyChange { .. } => 0,
        }
    }
}

/// What is pending.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time_ns: u64,
    /// Class in the top byte, sequence number below: 2^56 events are years of simulation.
    order: u64,
    event: Event,
    /// The next entry of the same place, or of the free ones; `NONE`: it is the last.
    next: u32,
}

const NONE: u32 = u32::MAX;

impl Entry {
    fn key(&self) -> (u64, u64) {
        (self.time_ns, self.order)
    }
}

/// Bits of a time that a level tells apart, and the places that it has for that.
const BITS: u32 = 6;
const PLACES: usize = 1 << BITS;
/// Levels for all bits of a time.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// So many entries of one place are sorted at once; more are told apart by the next levels.
const FEW: usize = 16;

/// Pending events: a radix heap below the next few, which are sorted.
///
/// An event is at the level of the highest digit (of `BITS` bits) in which its time differs from
/// `base_ns`, at the place of that digit. So the next event is in the first used place of the
/// lowest used level. If there are few in that place, they are sorted and handed out one by one.
/// Else they differ from the first one in lower digits only: they
/// move to lower levels then. An event moves at most once per level, most of them once.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// No event that has a place is before that.
    base_ns: u64,
    /// One bit per level: some place of it is used.
    levels: u32,
    /// Per level, one bit per place: there are entries.
    used: [u64; LEVELS],
    /// The first entry of each used place.
    first: [[u32; PLACES]; LEVELS],
    entries: Vec<Entry>,
    /// The first free entry.
    free: u32,
    /// What comes before all that have a place, sorted, the next one last. Empty if nothing is
    /// pending.
    due: Vec<Entry>,
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            base_ns: 0,
            levels: 0,
            used: [0; LEVELS],
            first: [[NONE; PLACES]; LEVELS],
            entries: Vec::new(),
            free: NONE,
            due: Vec::new(),
            sequence: 0,
        }
    }
}

impl EventQueue {
    #[inline]
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        self.sequence += 1;
        let entry = Entry {
            time_ns,
            order: u64::from(event.class()) << 56 | self.sequence,
            event,
            next: NONE,
        };
        if self.due.first().is_none_or(|last| time_ns <= last.time_ns) {
            let later = self.due.partition_point(|one| one.key() > entry.key());
            return self.due.insert(later, entry);
        }
        let at = self.free;
        if let Some(place) = self.entries.get_mut(at as usize) {
            self.free = std::mem::replace(place, entry).next;
            self.place(at);
        } else {
            self.entries.push(entry);
            self.place(self.entries.len() as u32 - 1);
        }
    }

    /// The next event, if it is due by `end_ns`. The one after it is looked for before anybody
    /// asks: so the processor can do that beside the event.
    #[inline]
    pub(crate) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        let next = self.due.pop_if(|next| next.time_ns <= end_ns)?;
        if self.due.is_empty() && self.levels != 0 {
            self.refill();
        }
        Some((next.time_ns, next.event))
    }

    /// The events of the first used place become `due`: all, if they are few, else those that come
    /// first; the others move down.
    fn refill(&mut self) {
        let level = self.levels.trailing_zeros() as usize;
        let place = self.used[level].trailing_zeros() as usize;
        let first = self.first[level][place];
        let (mut at, mut least_ns, mut count) = (first, u64::MAX, 0);
        while at != NONE {
            let entry = &self.entries[at as usize];
            least_ns = least_ns.min(entry.time_ns);
            at = entry.next;
            count += 1;
        }
        self.used[level] &= !(1 << place);
        if self.used[level] == 0 {
            self.levels &= !(1 << level);
        }
        self.base_ns = least_ns;
        at = first;
        while at != NONE {
            let entry = self.entries[at as usize];
            if count <= FEW || entry.time_ns == least_ns {
                self.due.push(entry);
                self.entries[at as usize].next = self.free;
                self.free = at;
            } else {
                self.place(at);
            }
            at = entry.next;
        }
        if self.due.len() > 1 {
            self.due.sort_unstable_by_key(|one| Reverse(one.key()));
        }
    }

    /// Gives an entry its place.
    #[inline]
    fn place(&mut self, at: u32) {
        let entry = &mut self.entries[at as usize];
        let differs = (entry.time_ns ^ self.base_ns) | 1;
        let level = differs.ilog2() / BITS;
        let place = (entry.time_ns >> (level * BITS)) as usize % PLACES;
        let (level, bit) = (level as usize, 1 << place);
        let first = &mut self.first[level][place];
        let is_used = self.used[level] & bit != 0;
        entry.next = if is_used { *first } else { NONE };
        *first = at;
        self.used[level] |= bit;
        self.levels |= 1 << level;
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
