//! Caches of the modelled machine, as the kernel sees them (docs/guide/schedulers.md, "What its
//! programs see").
//!
//! What must stay: files (machine_files.rs) and programs (symbols.rs) are told the same caches.
//! Free: how caches are gathered.
//!
//! Tests by part: kernel/cids.rs::`threads_of_a_core_stand_together` (`last_level`: one cache, one
//! shard). `a_loader_sees_the_modelled_machine` makes the files and does not read caches.
//!
//! Callers: load/machine_files.rs, kernel/symbols.rs, kernel/cids.rs.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_sees_the_modelled_machine

use wakeplace_platform::{CpuId, Platform};

/// Number and members of a CPU's last-level cache, if others share it. Its first CPU is its number,
/// as that of a CPU without such a cache is its own.
pub(crate) fn last_level(platform: &Platform, cpu: CpuId) -> Option<(usize, &[CpuId])> {
    let cpus = platform.last_level_cache(cpu)?;
    Some((cpus[0].index(), cpus))
}
