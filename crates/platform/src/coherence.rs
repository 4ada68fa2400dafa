//! What a cache line takes between CPUs: for tasks, and for a kernel's own accesses to memory
//! (docs/decisions/060, docs/rules/contended-lines.md#coherence).
//!
//! What must stay: a time lies in its range (`read/coherence.rs`). Free: what leaves each file's
//! machine as it is (ARCHITECTURE.md, "What a change may touch").
//!
//! Tests by part: crates/platform/tests/all/transfer.rs: `tables_are_read` (`Transfer`),
//! `coherence_is_read` (the other two).
//!
//! Callers: crates/engine/src/machine.rs, assumed/moves.rs.
//!
//! Tests: crates/platform/tests/all/transfer.rs

use crate::Source;

/// How long a cache line that another CPU wrote takes, by the closest level that both CPUs share,
/// ns: the time by the wall that a core stands still. Levels that a machine lacks are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From another thread of the core.
    pub smt_ns: Option<u64>,
    /// From another core of the cluster: CPUs that share something below the last-level cache.
    pub cluster_ns: Option<u64>,
    /// From another CPU of the last-level cache.
    pub cache_ns: Option<u64>,
    /// From another last-level cache of the node.
    pub node_ns: Option<u64>,
    /// From another node.
    pub other_node_ns: Option<u64>,
    /// Source of the figures.
    pub source: Source,
}

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
