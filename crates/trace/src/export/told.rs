//! What the engine tells, kept for later: as much of it as a trace needs (docs/guide/traces.md).
//!
//! What must stay: times are ns and the order is that of the engine; it is small and copied
//! (`record.rs` is in the way of the run). Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: traces.rs::`events_told_by_hand`
//! (`What`).
//!
//! Tests: crates/trace/tests/all/traces.rs::events_told_by_hand

use super::sink::Counter;
use wakeplace_engine::observe::Happening;

/// Something that was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// When it happened, ns.
    pub(super) time_ns: u64,
    pub(super) what: What,
}

/// What a trace is made from.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Happened(Happening),
    /// A quantity that the engine or the core knows.
    Counter {
        counter: Counter,
        value: u32,
    },
    /// Time to look at quantities.
    Sample,
}
