//! Caches of the modelled machine, as the kernel sees them.

use wakeplace_platform::{CpuId, Platform};

/// Number and members of a CPU's last-level cache: of the widest level that shares one.
pub(crate) fn last_level(platform: &Platform, cpu: CpuId) -> Option<(usize, &[CpuId])> {
    let mut levels = platform.topology.iter().filter(|level| level.shares_cache);
    let groups = &levels.next_back()?.groups;
    let at = groups.iter().position(|group| group.contains(&cpu))?;
    Some((at, &groups[at]))
}
