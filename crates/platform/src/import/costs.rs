//! What the kernel's own steps take, which no source states, ns.

/// A move to another node takes this many times a move to another cache.
pub(super) const NODE_FACTOR: u64 = 2;

/// Boards and phones: the figures of the boards that come with the program (a test compares).
pub(super) const BOARD: &[(&str, u64)] = &[
    ("context_switch_ns", 2_000),
    ("wakeup_ns", 3_000),
    ("ipi_ns", 1_000),
    ("tick_ns", 2_000),
    ("fork_ns", 40_000),
    ("migrate_shared_cache_ns", 3_000),
    ("migrate_other_cache_ns", 15_000),
    ("scan_cpu_ns", 50),
];

/// Servers and desktops, likewise.
pub(super) const SERVER: &[(&str, u64)] = &[
    ("context_switch_ns", 1_500),
    ("wakeup_ns", 2_000),
    ("ipi_ns", 1_000),
    ("tick_ns", 1_500),
    ("fork_ns", 30_000),
    ("migrate_shared_cache_ns", 3_000),
    ("migrate_other_cache_ns", 15_000),
    ("scan_cpu_ns", 20),
];
