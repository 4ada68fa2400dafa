//! What cache lines cost: a machine's times, and what came of them in a run by struct, field and
//! function
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: times are ps, summed over all CPUs. May change: a fact more of a use.
//!
//! Tests by part: crates/kernel-tree/src/kernel/lines/tests.rs (`LineCost`: uses are named and
//! added up); kernel/tests.rs: `structs_are_laid_out_as_in_the_header` (`layout`).
//!
//! Callers: crates/kernel-tree makes them; crates/engine has them in its report.
//!
//! Tests: crates/kernel-tree/src/kernel/lines/tests.rs

use serde::{Deserialize, Serialize};
use std::ffi::c_char;
use std::mem::{offset_of, size_of};

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
#[allow(missing_docs, reason = "wakeplace.h says what each field is")]
pub struct RawUse {
    pub address: u64,
    pub site: u64,
    pub name: *const c_char,
    pub size: u64,
    pub offset: u64,
    pub code: u64,
    pub per_cpu: u64,
    pub several: u64,
    pub transfers: u64,
    pub writes: u64,
    pub far: u64,
    pub cost_ps: u64,
    pub wait_ps: u64,
    pub lock_ps: u64,
}

/// Both structs with their sizes and the offsets of their last fields, as `abi::layout` has them.
pub(crate) fn layout() -> Vec<(&'static str, &'static str, usize, usize)> {
    let costs = (size_of::<Coherence>(), offset_of!(Coherence, ipi_ns));
    let used = (size_of::<RawUse>(), offset_of!(RawUse, lock_ps));
    vec![
        ("wpk_coherence", "ipi_ns", costs.0, costs.1),
        ("wpk_line_use", "lock_ps", used.0, used.1),
    ]
}
