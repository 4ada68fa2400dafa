//! What cache lines cost a kernel's own code on a machine: `[coherence]` of a platform file
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: times have their unit in the name; a time lies within its range. A changed or
//! new field changes the platform's hash in results. Free: further times, with the page.
//!
//! Tests by part: transfer.rs::`what_lines_cost_is_read` (`Coherence`, `LineTime`).
//!
//! Callers: read/ makes it; crates/engine hands it to trees.
//!
//! Tests: crates/platform/tests/all

use crate::model::Source;

/// What the kernel's own accesses to memory take, where its paths take time
/// (docs/rules/contended-lines.md#coherence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coherence {
    /// An access to a line that the core has, ps, with the instructions around it: of the biggest
    /// CPU at its highest frequency.
    pub hit_ps: u64,
    /// The transfer of a line from a core of the same last-level cache.
    pub near: LineTime,
    /// From a core of another one.
    pub far: LineTime,
    /// So long a read keeps a line that nobody has written since it was last read.
    pub clean: LineTime,
    /// Source of the figures.
    pub source: Source,
}

/// A time of a cache line, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTime {
    /// As it is taken.
    pub ns: u64,
    /// The least that it may be.
    pub least_ns: u64,
    /// The most.
    pub most_ns: u64,
}
