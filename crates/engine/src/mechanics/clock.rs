//! Time: what is pending, and a hash of what has happened. Events of one instant come in the order
//! (class, sequence): whoever pushes must not depend on more. The codes make the run's hash: an old
//! event keeps its own (docs/rules/README.md#event-order).
//!
//! What must stay: order of events and codes of the hash (recorded runs compare `event_hash`).
//! Times are ns from 0. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `order_is_time_then_class_then_sequence` (`push`,
//! `pop_until`), `random_runs_obey_the_rules_1` (`mix`, `count`: a run twice has one hash),
//! crates/engine/tests/behaviour/same_behaviour.rs::`events_that_do_nothing_are_not_in_it`
//! (`event_code`). `kinds` and `name` have no test of their own. Events that are pushed in order,
//! and the ends of steps (`push_in_order`, `arm_end`, `disarm_end`) by queue/tests.rs and each run;
//! `idle_event` by same_behaviour.rs, too. `new` by every run.
//!
//! Tests: crates/engine/src/mechanics/queue/tests.rs, crates/engine/tests/behaviour/invariants.rs,
//! crates/engine/tests/behaviour/same_behaviour.rs

use super::queue::{Event, EventQueue, KernelEvent};
use crate::ids::CpuId;
use crate::outcome::EventCount;

/// Room for so many kinds of events, by their numbers in the hash.
const KINDS: usize = 32;

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
    counts: [(u64, u64); KINDS],
    /// The kind of the last one.
    kind: usize,
}

impl Clock {
    /// Time 0, nothing pending.
    pub(super) fn new(nr_cpus: u32, tick_ns: u64) -> Self {
        Self {
            now: 0,
            pending: EventQueue::new(nr_cpus, 2 * tick_ns),
            events: 0,
            hash: 0xcbf2_9ce4_8422_2325,
            counts: [(0, 0); KINDS],
            kind: 0,
        }
    }

    /// `at_ns` is now or later.
    #[inline]
    pub(super) fn push(&mut self, at_ns: u64, event: Event) {
        self.pending.push(at_ns, event);
    }

    /// An event at or after the time of all that are pending and were pushed by this.
    #[inline]
    pub(super) fn push_in_order(&mut self, at_ns: u64, event: KernelEvent) {
        self.pending.push_in_order(at_ns, event);
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

    /// When the next event is due, at the latest at `end_ns`.
    pub(super) fn next_ns(&mut self, end_ns: u64) -> u64 {
        self.pending.next_ns(end_ns)
    }

    /// When the next event is due, at the latest at `end_ns`, and up to when something of a class
    /// that is not pending comes before it.
    pub(super) fn peek(&mut self, end_ns: u64, class: u8) -> (u64, u64) {
        self.pending.peek(end_ns, class)
    }

    /// Whether an event comes before something of a class that is not pending.
    pub(super) fn comes_before(&mut self, at_ns: u64, class: u8) -> bool {
        self.pending.comes_before(at_ns, class)
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
        self.kind = kind as usize % KINDS;
        self.counts[self.kind].0 += 1;
        self.mix(kind << 32 | u64::from(subject));
    }

    /// The event that is handled finds nothing to do.
    #[inline]
    pub(super) fn idle_event(&mut self) {
        self.counts[self.kind].1 += 1;
    }

    /// What the events were; `of_kernel` names the kernel's kinds.
    pub(super) fn kinds(&self, of_kernel: impl Fn(u8) -> &'static str) -> Vec<EventCount> {
        let counts = (0_u8..).zip(&self.counts);
        let some = counts.filter(|(_, (events, _))| *events > 0);
        some.map(|(kind, (events, idle))| EventCount {
            kind: name(kind).unwrap_or_else(|| of_kernel(kind)).into(),
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

/// An event as a number for the hash. A kernel numbers its own, in the gaps.
fn event_code(event: Event) -> (u64, u32) {
    match event {
        Event::Freq { domain } => (0, domain),
        Event::RunEnd { cpu } => (1, cpu.0),
        Event::Awake { cpu } => (3, cpu.0),
        Event::Interrupt { cpu } => (4, cpu.0),
        Event::IdleAgain { cpu, .. } => (5, cpu.0),
        Event::IdleEntered { cpu, .. } => (6, cpu.0),
        Event::Hotplug { index } => (10, index),
        Event::Device { source } => (12, source),
        Event::FreqCap { index } => (13, index),
        Event::Thermal => (16, 0),
        Event::EmScale { index } => (18, index),
        Event::Begin => (21, 0),
        Event::Clock { domain } => (29, domain),
        Event::Look { domain } => (30, domain),
        Event::PowerLimit => (31, 0),
        Event::Kernel(event) => (event.kind.into(), event.subject),
    }
}

/// The kind of that number, if it is no kernel's.
fn name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        0 => "frequency",
        1 => "end of a step",
        3 => "idle state left",
        4 => "interrupt",
        5 => "idle again",
        6 => "idle state entered",
        10 => "hotplug",
        12 => "device",
        13 => "limit of a frequency",
        16 => "temperature",
        18 => "change of energy model",
        21 => "begin",
        29 => "clock of the hardware's",
        30 => "look at the load",
        31 => "look at the power",
        _ => return None,
    })
}
