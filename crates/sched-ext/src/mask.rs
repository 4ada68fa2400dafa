//! Masks of CPUs (docs/rules/sched-ext.md#idle).
//!
//! What must stay: bit 0 of word 0 is CPU 0; a CPU beyond the end of a mask is not in it. Free: how
//! bits are tested.
//!
//! Tests by part: `claims_and_masks` (`mask_words`, `test_cpu`: a mask that is longer than the
//! machine).
//!
//! Callers: class/, engine's kernel/model/home/sched_ext.rs, crates/foreign.
//!
//! Tests: crates/sched-ext/tests/all/idle.rs::claims_and_masks

/// Words that a mask of so many CPUs has.
#[must_use]
pub fn mask_words(nr_cpus: u32) -> usize {
    nr_cpus.div_ceil(64) as usize
}

/// Is the CPU in the mask?
#[must_use]
#[inline]
pub fn test_cpu(mask: &[u64], cpu: u32) -> bool {
    let word = mask.get(cpu as usize / 64).copied().unwrap_or(0);
    word >> (cpu % 64) & 1 != 0
}
