//! Time: what is pending, and a hash of what has happened.

use crate::ids::CpuId;
use crate::outcome::EventCount;
use crate::queue::{Event, EventQueue};

/// Kinds of events, by their number in the hash.
const KINDS: [&str; 25] = [
    "frequency",
    "end of a step",
    "timer",
    "idle state left",
    "interrupt",
    "idle again",
    "idle state entered",
    "tick",
    "idle timer",
    "end of a slice",
    "hotplug",
    "stage of a wake-up",
    "device",
    "limit of a frequency",
    "budget filled",
    "RT period",
    "temperature",
    "change of policy",
    "change of energy model",
    "end of a spin",
    "queued",
    "begin",
    "timer of the scheduler's",
    "watchdog",
    "loader of the scheduler's",
];

/// The clock of a run.
#[derive(Debug)]
pub(super) struct Clock {
    /// Now, ns.
    pub(super) now: u64,
    pending: EventQueue,
    /// Events so far.
    pub(super) events: u64,
    pub(super) hash: u64,
    /// Events of each kind, and how many of them found nothing to do.
    counts: [(u64, u64); KINDS.len()],
    /// The kind of the last one.
    kind: usize,
}

impl Clock {
    pub(super) fn new(nr_cpus: u32, tick_ns: u64) -> Self {
        Self {
            now: 0,
            pending: EventQueue::new(nr_cpus, 2 * tick_ns),
            events: 0,
            hash: 0xcbf2_9ce4_8422_2325,
            counts: [(0, 0); KINDS.len()],
            kind: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, at_ns: u64, event: Event) {
        self.pending.push(at_ns, event);
    }

    #[inline]
    pub(super) fn push_tick(&mut self, at_ns: u64, cpu: CpuId) {
        self.pending.push_tick(at_ns, cpu);
    }

    /// The step that `cpu` executes ends at `due_ns`.
    #[inline]
    pub(super) fn arm_end(&mut self, cpu: CpuId, due_ns: u64) {
        self.pending.arm_end(cpu, due_ns, self.now);
    }

    /// `cpu` executes no step any more.
    #[inline]
    pub(super) fn disarm_end(&mut self, cpu: CpuId) {
        self.pending.disarm_end(cpu);
    }

    /// The next event, if it is due by `end_ns`. The clock stays where it is.
    #[inline(always)]
    pub(super) fn pop_until(&mut self, end_ns: u64) -> Option<(u64, Event)> {
        self.pending.pop_until(end_ns)
    }

    /// An event is about to be handled.
    #[inline]
    pub(super) fn count(&mut self, event: Event) {
        self.events += 1;
        let (kind, subject) = event_code(event);
        self.kind = kind as usize;
        self.counts[self.kind].0 += 1;
        self.mix(kind << 32 | u64::from(subject));
    }

    /// The event that is handled finds nothing to do.
    #[inline]
    pub(super) fn idle_event(&mut self) {
        self.counts[self.kind].1 += 1;
    }

    /// What the events were.
    pub(super) fn kinds(&self) -> Vec<EventCount> {
        let counts = KINDS.iter().zip(&self.counts);
        let some = counts.filter(|(_, (events, _))| *events > 0);
        some.map(|(kind, (events, idle))| EventCount {
            kind: (*kind).into(),
            events: *events,
            idle: *idle,
        })
        .collect()
    }

    /// Folds a fact into the run's hash, together with the time.
    #[inline]
    pub(super) fn mix(&mut self, fact: u64) {
        let mixed =
            (self.hash ^ self.now.rotate_left(32) ^ fact).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = mixed ^ mixed >> 29;
    }
}

/// An event as a number for the hash.
fn event_code(event: Event) -> (u64, u32) {
    match event {
        Event::Freq { domain } => (0, domain),
        Event::RunEnd { cpu } => (1, cpu.0),
        Event::Timer { task } => (2, task.0),
        Event::Awake { cpu } => (3, cpu.0),
        Event::Interrupt { cpu } => (4, cpu.0),
        Event::IdleAgain { cpu, .. } => (5, cpu.0),
        Event::IdleEntered { cpu, .. } => (6, cpu.0),
        Event::Tick { cpu } => (7, cpu.0),
        Event::IdleTimer => (8, 0),
        Event::SliceEnd { cpu } => (9, cpu.0),
        Event::Hotplug { index } => (10, index),
        Event::WakeupStage { task } => (11, task.0),
        Event::Device { source } => (12, source),
        Event::FreqCap { index } => (13, index),
        Event::Replenish { task } => (14, task.0),
        Event::RtPeriod => (15, 0),
        Event::Thermal => (16, 0),
        Event::PolicyChange { index } => (17, index),
        Event::EmScale { index } => (18, index),
        Event::SpinEnd { cpu } => (19, cpu.0),
        Event::Queued { task, .. } => (20, task.0),
        Event::Begin => (21, 0),
        Event::SchedExtTimer { timer, .. } => (22, timer),
        Event::Watchdog => (23, 0),
        Event::SchedExtLoader => (24, 0),
    }
}
