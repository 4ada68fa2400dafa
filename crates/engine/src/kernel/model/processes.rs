//! Processes with several threads, for cache-aware scheduling (docs/rules/cache-aware.md).
//!
//! What must stay: a process has the workload's number, and its threads are told before the run.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `threads_of_a_process_come_together` (who is of one),
//! `a_process_too_large_for_a_cache_is_spread` (how many threads),
//! `sets_that_fit_apart_alone_are_spread` (`working_sets`). The first is `add_processes`.
//!
//! Callers: mod.rs (`add_processes`).
//!
//! Tests: crates/engine/tests/behaviour/sched_cache.rs

use super::home::{AnyHome, Home};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, ProcessFacts};
use wakeplace_workload::{WorkingSet, Workload};

/// A page that is touched once in each scan of NUMA balancing is counted twice in the end: a scan
/// halves what was counted before it.
const COUNTED: u64 = 2;

/// Tells the core of the workload's processes, if its tasks are of the kernel's fair class. The
/// live scheduler knows no processes. Its queues here have them with `llc_price` alone, which it
/// refuses (docs/rules/cache-aware.md#llc-price).
pub(super) fn add_processes(
    core: &mut Core,
    home: &AnyHome<'_>,
    platform: &Platform,
    workload: &Workload,
) {
    let of_live = home.dispatches() && core.state().params.llc_price == 0;
    if of_live || home.is_sched_ext() {
        return;
    }
    let facts = (0..workload.nr_processes()).map(|process| working_sets(workload, process));
    let facts: Vec<ProcessFacts> = facts.collect();
    let llc_kib = platform.cache.as_ref().map_or(0, |c| c.last_level_kib);
    core.add_processes(&facts, llc_kib * 1024);
}

/// The working sets of a process, and what NUMA balancing counts of them in the end.
fn working_sets(workload: &Workload, process: u32) -> ProcessFacts {
    let mut shared = vec![false; workload.shared.sets.len()];
    let mut facts = ProcessFacts::default();
    let of_process = |a: &&wakeplace_workload::Attributes| a.process == Some(process);
    for task in workload
        .tasks
        .iter()
        .map(|task| &task.attributes)
        .filter(of_process)
    {
        match task.working_set {
            Some(WorkingSet::Own { bytes }) => {
                facts.own_bytes = facts.own_bytes.saturating_add(bytes);
                facts.nr_own += 1;
            }
            Some(WorkingSet::Shared { set }) => {
                facts.nr_sharing += 1;
                if !std::mem::replace(&mut shared[set as usize], true) {
                    let bytes = workload.shared.sets[set as usize].bytes;
                    facts.shared_bytes = facts.shared_bytes.saturating_add(bytes);
                }
            }
            None => {}
        }
    }
    let bytes = facts.own_bytes.saturating_add(facts.shared_bytes);
    facts.footprint = bytes.saturating_mul(COUNTED);
    facts
}
