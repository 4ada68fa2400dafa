//! CPUs in the middle of paths that take time, as `crates/kernel-shim/shim/paths.h` has them
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: order, sizes and meaning of fields are the header's.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `structs_are_laid_out_as_in_the_header`
//! (`RawPaths`, `Went`); crates/cli/tests/all/coherence.rs: `contended_lines_are_told` (`Ahead`,
//! where a tree is built).
//!
//! Callers: crates/kernel-tree reads and writes them; crates/engine goes by them.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header,
//! crates/cli/tests/all/coherence.rs

/// A CPU has gone on in its path without the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Went {
    /// When.
    pub ns: u64,
    /// Who.
    pub cpu: u32,
    /// Room.
    pub unused: u32,
}

/// So many may do so in an entry.
pub const WENT: usize = 256;

/// What kernel and host tell each other of paths.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "paths.h says what each field is")]
pub struct RawPaths {
    pub horizon_ns: u64,
    pub until_ns: u64,
    pub looked_ns: u64,
    pub local_ns: u64,
    pub next_ns: u64,
    pub next_cpu: u32,
    pub cpu: u32,
    pub nr_went: u32,
    pub unused: u32,
    pub went: [Went; WENT],
}

/// What the last entry has said of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The CPU that it ran on last.
    pub cpu: u32,
    /// When it was over there, ns.
    pub local_ns: u64,
    /// Until when nothing happens elsewhere by now, ns.
    pub horizon_ns: u64,
    /// Up to when CPUs that went on have looked ahead, ns.
    pub looked_ns: u64,
    /// Which CPU goes on first in its path, and when, ns.
    pub next: Option<(u64, u32)>,
}
