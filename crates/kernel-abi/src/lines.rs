//! What cache lines cost in a run, by struct, field and function
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: times are ps, summed over all CPUs. May change: a fact more of a use.
//!
//! Tests by part: crates/kernel-tree/src/kernel/lines/tests.rs (`LineCost`: uses are named and
//! added up).
//!
//! Callers: crates/kernel-tree makes them; crates/engine has them in its report.
//!
//! Tests: crates/kernel-tree/src/kernel/lines/tests.rs

use serde::{Deserialize, Serialize};
use std::ffi::c_char;

/// What the transfers of one field by one function have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCost {
    /// The struct or variable that is in the line.
    pub object: String,
    /// Which 64 bytes of it: the first byte's offset.
    pub line: u64,
    /// The field that was accessed.
    pub field: String,
    /// Who accessed it.
    pub function: String,
    /// There are several such lines: each CPU has one, or each of several objects.
    pub several: bool,
    /// Transfers.
    pub transfers: u64,
    /// Those by which the line is written.
    pub writes: u64,
    /// Those from another last-level cache.
    pub far: u64,
    /// What the transfers took.
    pub cost_ps: u64,
    /// Waits until the line was free for them.
    pub wait_ps: u64,
    /// Waits for a lock that lies there.
    pub lock_ps: u64,
}

impl LineCost {
    /// All that CPUs have waited.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        self.cost_ps + self.wait_ps + self.lock_ps
    }
}

/// What the transfer of a cache line costs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coherence {
    /// From a CPU of the same last-level cache.
    pub near_ns: u32,
    /// From another one.
    pub far_ns: u32,
    /// A read of a line that nobody has written since keeps it so long.
    pub clean_ns: u32,
    /// An interrupt takes so long to another CPU.
    pub ipi_ns: u32,
}

/// What transfers of one word of memory by one instruction cost, as the object has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawUse {
    /// In the object, of a variable; a per-CPU one: of its template. 0: allocated.
    pub address: u64,
    /// Allocated: where it was asked for, in the object.
    pub site: u64,
    /// Allocated: its type, where that is known; or null.
    pub name: *const c_char,
    /// Allocated: bytes.
    pub size: u64,
    /// Allocated: of the word.
    pub offset: u64,
    /// The instruction after the access, in the object.
    pub code: u64,
    /// Each CPU has its own.
    pub per_cpu: u64,
    /// More than one line.
    pub several: u64,
    /// Transfers.
    pub transfers: u64,
    /// Those by which the line is written.
    pub writes: u64,
    /// Those from another last-level cache.
    pub far: u64,
    /// What the transfers took.
    pub cost_ps: u64,
    /// Waits until the line was free for them.
    pub wait_ps: u64,
    /// Waits for a lock that lies there.
    pub lock_ps: u64,
}
