//! What cache lines cost on a machine: `[transfer]` tasks, `[coherence]` a kernel's own code
//! (docs/rules/contended-lines.md#coherence, docs/decisions/060).
//!
//! What must stay: times have their unit in the name; a time lies within its range. A changed or
//! new field changes the platform's hash in results. Free: further times, with the page.
//!
//! Tests by part: transfer.rs::`coherence_is_read` (`Coherence`),
//! `times_of_lines_lie_in_their_ranges` (`LineTime`), `clusters_are_below_the_cache` (`Transfer`).
//! `lines_and_moves_ns` by crates/engine/tests/behaviour/cache_rent.rs.
//!
//! Callers: read/ makes it; crates/engine hands it to trees, and it and crates/scx tell the core
//! `lines_and_moves_ns`.
//!
//! Tests: crates/platform/tests/all

use crate::model::{Platform, Source};

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

/// What a machine states of lines and moves, ns, for whoever tells the core of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinesAndMoves {
    /// A line from the same last-level cache, another one of the node, another node.
    pub lines_ns: [Option<u64>; 3],
    /// A move to another last-level cache of the node, to another node.
    pub moves_ns: [Option<u64>; 2],
}

impl Platform {
    /// What lines and moves take. None: the file does not say what lines take.
    #[must_use]
    pub fn lines_and_moves_ns(&self) -> Option<LinesAndMoves> {
        let lines = self.transfer.as_ref()?;
        let costs = &self.costs;
        Some(LinesAndMoves {
            lines_ns: [lines.cache_ns, lines.node_ns, lines.other_node_ns],
            moves_ns: [
                Some(costs.migrate_other_cache_ns),
                costs.migrate_other_node_ns,
            ],
        })
    }
}
