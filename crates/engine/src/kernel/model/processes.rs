//! Processes with several threads, for cache-aware scheduling (docs/rules/cache-aware.md).
//!
//! What must stay: a process has the workload's number, and its threads are told before the run.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `threads_of_a_process_come_together` (who is of one),
//! `a_process_too_large_for_a_cache_is_spread` (footprint). That is `add_processes` and
//! `footprint`.
//!
//! Callers: mod.rs (`add_processes`).
//!
//! Tests: crates/engine/tests/behaviour/sched_cache.rs

use super::home::{AnyHome, Home};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Core;
use wakeplace_workload::{WorkingSet, Workload};

/// A page that is touched once in each scan of NUMA balancing is counted twice in the end: a scan
/// halves what was counted before it.
const COUNTED: u64 = 2;

/// Tells the core of the workload's processes, if its tasks are of the kernel's fair class.
pub(super) fn add_processes(
    core: &mut Core,
    home: &AnyHome<'_>,
    platform: &Platform,
    workload: &Workload,
) {
    if home.dispatches() || home.is_sched_ext() {
        return;
    }
    let footprints = (0..workload.nr_processes()).map(|process| footprint(workload, process));
    let footprints: Vec<u64> = footprints.collect();
    let llc_kib = platform.cache.as_ref().map_or(0, |c| c.last_level_kib);
    core.add_processes(&footprints, llc_kib * 1024);
}

/// What NUMA balancing counts of a process in the end: its working sets, those that threads share
/// once.
fn footprint(workload: &Workload, process: u32) -> u64 {
    let mut shared = vec![false; workload.shared.sets.len()];
    let mut bytes: u64 = 0;
    let of_process = |a: &&wakeplace_workload::Attributes| a.process == Some(process);
    for task in workload
        .tasks
        .iter()
        .map(|task| &task.attributes)
        .filter(of_process)
    {
        bytes = bytes.saturating_add(match task.working_set {
            Some(WorkingSet::Own { bytes }) => bytes,
            Some(WorkingSet::Shared { set }) => {
                match std::mem::replace(&mut shared[set as usize], true) {
                    true => 0,
                    false => workload.shared.sets[set as usize].bytes,
                }
            }
            None => 0,
        });
    }
    bytes.saturating_mul(COUNTED)
}
