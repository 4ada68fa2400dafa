//! The event queue: ordered by (time, class, sequence), so equal inputs give equal orders
//! everywhere.

mod ends;
mod heap;

use crate::ids::{CpuId, TaskId};
use ends::{Ends, NEVER, time_ns};
use heap::{Entry, Heap};
use std::collections::VecDeque;

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

/// Pending events. Most are ends of steps and ticks, which have places of their own: an end moves
/// more often than it comes, and all ticks that are armed are due at the same time, in the order in
/// which they were armed. All else is in a heap.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: Heap,
    ends: Ends,
    ticks: VecDeque<(u128, CpuId)>,
    /// The key of the first one.
    first_tick: u128,
    sequence: u64,
}

impl EventQueue {
    /// For a machine of so many CPUs. The end of a step is looked at every `ahead_ns`.
    pub(crate) fn new(nr_cpus: u32, ahead_ns: u64) -> Self {
        let cpu = CpuId(0);
        Self {
            heap: Heap::default(),
            ends: Ends::new(nr_cpus as usize, ahead_ns, Event::RunEnd { cpu }.class()),
            ticks: VecDeque::with_capacity(nr_cpus as usize),
            first_tick: NEVER,
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

    /// An event that is neither a tick nor the end of a step.
    #[inline]
    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        let key = self.key(time_ns, event);
        self.heap.push(Entry { key, event });
    }

    /// The tick of `cpu`, at or after the time of all that are pending.
    #[inline]
    pub(crate) fn push_tick(&mut self, time_ns: u64, cpu: CpuId) {
        let key = self.key(time_ns, Event::Tick { cpu });
        debug_assert!(self.ticks.back().is_none_or(|(last, _)| *last < key));
        self.ticks.push_back((key, cpu));
        self.first_tick = self.first_tick.min(key);
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

    /// The next event, if it is due by `end_ns`.
    #[inline(always)]
    pub(crate) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        let heap = self.heap.first();
        let others = heap.min(self.first_tick);
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
                self.pop_tick()?
            };
            return Some((time, event));
        }
    }

    fn pop_tick(&mut self) -> Option<Event> {
        let (_, cpu) = self.ticks.pop_front()?;
        self.first_tick = self.ticks.front().map_or(NEVER, |(key, _)| *key);
        Some(Event::Tick { cpu })
    }
}

#[cfg(test)]
mod tests;
