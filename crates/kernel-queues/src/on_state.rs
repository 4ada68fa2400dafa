//! The queue of another scheduler, and what the era's rules make of it: does the task that has
//! joined displace the one that runs, and who is next (docs/rules/README.md#signal-by-signal)? For
//! who compares.
//!
//! What must stay: no rule is here; the queue is filled and asked as a wake-up or a pick asks it.
//! Times are ns, virtual times those of the other scheduler. Free: what a look has beside the
//! queue.
//!
//! Tests by part: on_state/tests.rs: `an_earlier_deadline_displaces_who_is_not_protected`,
//! `cfs_asks_for_its_granularity`, `who_does_not_wait_displaces_nobody` (`wakeup_preempt`),
//! `the_earliest_deadline_is_next`, `who_has_run_least_is_next` (`pick`); kernel_diff.rs:
//! `the_cores_signals_are_the_kernels` (both, against kernels).
//!
//! Callers: crates/engine/src/explain/on_signals.rs.
//!
//! Tests: below, crates/cli/tests/all/kernel_diff.rs

use crate::cfs;
use crate::eevdf::EevdfQueue;
use crate::fair_queues::FairParams;
use wakeplace_workload::FairPolicy;

/// A task that is queued or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words")]
pub struct Queued {
    pub task: u32,
    pub nice: i8,
    pub policy: FairPolicy,
    /// Its own slice, if it has one, ns.
    pub own_slice_ns: Option<u64>,
    pub vruntime: u64,
    pub deadline: u64,
    /// To 6.12 its `vlag`, later its `vprot`.
    pub protection: u64,
    /// It sleeps, and its queue keeps it.
    pub delayed: bool,
    /// It has just been made.
    pub is_new: bool,
}

/// A queue that is asked.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The running task, if it is queued.
    pub running: Option<&'a Queued>,
    /// The others, the first in the kernel's order first.
    pub waiting: &'a [Queued],
    /// What the running task's vruntime lacks, ns.
    pub exec_ns: u64,
    /// The queue's notes.
    pub before: Marks,
}

/// What a queue notes of whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The running task is to give way.
    pub resched: bool,
    /// Whom it prefers.
    pub next: Option<u32>,
    /// Whom it prefers after that one, to 6.5.
    pub last: Option<u32>,
    /// Whom it passes over, to 6.5.
    pub skip: Option<u32>,
}

/// What came of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The queue's notes.
    pub marks: Marks,
    /// The running task.
    pub running: Queued,
    /// So many are queued, it and sleepers included.
    pub nr_queued: usize,
}

impl FairParams {
    /// Who is next? Sleepers whose turn it is leave. None: nobody is left.
    #[must_use]
    pub fn pick(&self, look: &Look<'_>) -> Option<u32> {
        match self {
            Self::Cfs(params) => cfs::pick(params, look),
            Self::Eevdf(params) => EevdfQueue::pick_on_state(params, look),
        }
    }

    /// Does the waiting task `woken` displace the running one? `sync`: its waker will sleep. None:
    /// nobody runs, or `woken` does not wait.
    #[must_use]
    pub fn wakeup_preempt(&self, look: &Look<'_>, woken: u32, sync: bool) -> Option<Turned> {
        let running = look.running?;
        let woken = look.waiting.iter().find(|queued| queued.task == woken)?;
        Some(match self {
            Self::Cfs(params) => cfs::wakeup_preempt(params, look, running, woken),
            Self::Eevdf(params) => EevdfQueue::preempt_on_state(params, look, running, woken, sync),
        })
    }
}

#[cfg(test)]
mod tests;
