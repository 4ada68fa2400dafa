//! What tasks share: what they wait for and wake each other by, timers, counters
//! (docs/guide/rt-app.md, "Events").
//!
//! Made by `rtapp` and `models/builder.rs`; read by the engine. Steps name these by their index in
//! `Workload`'s lists.
//!
//! What must stay: who wakes, in which order, and when a full channel takes units again, as the
//! comments of the fields say it. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `messaging_channels_are_as_large_as_the_kernels` (`Limit`), `mutexes_inherit_if_asked_to`
//! (`Mutex::inherit`), `parties_of_a_barrier_are_summed_over_the_file` (barriers),
//! `sysbench_versions_have_their_own_limits` (counters),
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (timers),
//! `random_steps_obey_the_rules` (all of them in the engine),
//! handover.rs::`a_round_trip_moves_lines_by_the_closest_level` (`Channel::lines`).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs, crates/workload/tests/all/rtapp_events.rs,
//! crates/workload/tests/all/rtapp_files.rs, crates/engine/tests/behaviour/storm.rs,
//! crates/engine/tests/behaviour/handover.rs

use super::event::TimerMode;

/// What tasks wait for and wake each other by: a counting semaphore. Pipes and sockets are made of
/// these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Name for messages.
    pub name: String,
    /// Units it holds at the start.
    pub units: u64,
    /// The most it holds; None: no limit.
    pub limit: Option<Limit>,
    /// Cache lines of 64 bytes that it and what it carries are in: each CPU that gives or takes a
    /// unit has to have them.
    pub lines: u32,
}

/// The most that a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Units, > 0, a task that waits with one in its hands not counted.
    pub units: u64,
    /// Those who wait with a unit wake when so few are left, < `units`.
    pub resume_units: u64,
    /// All of them wake, not the first only. Whoever wakes them says that it will sleep soon, as
    /// readers of pipes and sockets do.
    pub resume_all: bool,
}

/// A mutex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutex {
    /// Name for messages.
    pub name: String,
    /// Its holder has the priority of the highest waiter (PTHREAD_PRIO_INHERIT); such a mutex is
    /// handed over to the highest waiter, first come, first served among equals.
    pub inherit: bool,
}

/// A condition variable; it remembers no signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Name for messages.
    pub name: String,
}

/// A rendezvous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Name for messages.
    pub name: String,
    /// Who must be there; 0 and 1: nobody waits.
    pub parties: u64,
}

/// Data that several threads go over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedSet {
    /// Name for messages.
    pub name: String,
    /// Size, > 0.
    pub bytes: u64,
}

/// A shared counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Name for messages.
    pub name: String,
    /// Numbers that can be claimed; None: no end.
    pub limit: Option<u64>,
}

/// A timer. Of one that only one script names, each forked thread has a copy (docs/decisions/023).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Name for messages.
    pub name: String,
    /// Mode; one absolute event makes the timer absolute for all of them.
    pub mode: TimerMode,
    /// First use starts from t_zero + this delay (the owner's `delay`; shared timers: the shortest
    /// of those that name it), ns.
    pub start_delay_ns: u64,
}

/// What tasks share, each indexed by events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Of `Event::Post` and `Event::Wait`.
    pub channels: Vec<Channel>,
    /// Of `Event::Lock`, `Event::Unlock` and `Event::Await`.
    pub mutexes: Vec<Mutex>,
    /// Of `Event::Signal` and `Event::Await`.
    pub conditions: Vec<Condition>,
    /// Of `Event::Barrier`.
    pub barriers: Vec<Barrier>,
    /// Of `Event::Claim`.
    pub counters: Vec<Counter>,
    /// Of `WorkingSet::Shared`.
    pub sets: Vec<SharedSet>,
}
