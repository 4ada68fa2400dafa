//! What the kernel's own steps take, which no source states, ns.
//!
//! What must stay: keys are those of `[costs]` (read/raw.rs); the figures are those of the
//! platforms that come with the program, as docs/guide/import.md says. Free: what leaves the files
//! of imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that
//! no test quotes. Tests by part: `a_server_has_the_costs_of_one_of_its_kind` (`SERVER`),
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`BOARD`),
//! architectures.rs::`each_instruction_set_has_its_own_defaults` (who gets which). No test of its
//! own: `NODE_FACTOR`.
//!
//! Tests: crates/platform/tests/all/import/mod.rs,
//! crates/platform/tests/all/import/architectures.rs

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
