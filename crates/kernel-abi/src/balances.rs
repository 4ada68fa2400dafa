//! A step of balancing a domain, with all CPUs as it found them and what came of it, as
//! `crates/kernel-shim/shim/told.h` has it.
//!
//! What must stay: fields and their order are the header's. May change: comments; a field only
//! together with the header and the shim's balance.c.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `structs_are_laid_out_as_in_the_header`;
//! crates/cli/tests/all/kernel_diff.rs: `the_cores_balancing_is_the_kernels` (`new`, `may_use`).
//!
//! Callers: crates/kernel-tree makes them; crates/engine/src/explain/balances.rs reads.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header

use crate::abi::{Choice, Row, row};
use serde::{Deserialize, Serialize};

/// Bits of [`Offered::flags`].
pub mod flags {
    /// It runs.
    pub const RUNS: u32 = 1;
    /// It sleeps, and its queue keeps it.
    pub const DELAYED: u32 = 2;
    /// `SCHED_IDLE`.
    pub const IDLE_POLICY: u32 = 4;
    /// Its queue prefers it.
    pub const BUDDY: u32 = 8;
    /// It has had more than its share.
    pub const INELIGIBLE: u32 = 16;
    /// It is of a group, or a CPU's own thread.
    pub const APART: u32 = 32;
    /// `can_migrate_task()`.
    pub const MAY: u32 = 64;
    /// It has left.
    pub const TAKEN: u32 = 128;
}

/// A task that `detach_tasks()` looks at.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Which.
    pub task: u32,
    /// [`flags`].
    pub flags: u32,
    /// Its load, of the whole CPU, as balancing counts it.
    pub h_load: u32,
    /// `util_avg`.
    pub util: u32,
    /// And its estimate.
    pub util_est: u32,
    /// Its hints.
    pub uclamp_min: u32,
    /// Its hints.
    pub uclamp_max: u32,
    /// Tasks of the queue before it leaves.
    pub nr_running: u32,
    /// Since it ran.
    pub age_ns: i64,
}

/// What an attempt to balance asks, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// `should_we_balance()`.
    #[default]
    Who,
    /// `sched_balance_find_src_group()`, to 6.9 `find_busiest_group()`.
    Group,
    /// `sched_balance_find_src_rq()`, to 6.9 `find_busiest_queue()`.
    Queue,
    /// `detach_tasks()`.
    Detach,
    /// `need_active_balance()`.
    Push,
}

/// What a step knows and says beside CPUs and tasks: `struct wpk_balance` without its lists.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "told.h says what each field is")]
pub struct Attempt {
    pub kind: u32,
    pub cpu: u32,
    pub level: u32,
    pub idle: u32,
    pub nr_failed: u32,
    pub interval_ms: u32,
    pub migration: u32,
    pub overutilized: u32,
    pub overloaded: u32,
    pub group_cpu: u32,
    pub group_weight: u32,
    pub src_cpu: u32,
    pub tries: u32,
    pub pinned: u32,
    pub imbalance: i64,
    pub tick_ns: u64,
    pub answer: u32,
    pub migration_after: u32,
    pub overutilized_after: u32,
    pub overloaded_after: u32,
    pub nr_idle_scan_after: u32,
    pub pinned_after: u32,
    pub new_cpu: u32,
    pub unused: u32,
    pub imbalance_after: i64,
}

#[repr(C)]
#[allow(missing_docs, reason = "told.h says what each field is")]
pub struct RawBalance {
    pub attempt: Attempt,
    pub nr_choices: u32,
    pub nr_offered: u32,
    pub nr_words: u32,
    pub unused: u32,
    pub choices: *const Choice,
    pub offered: *const Offered,
    pub allowed: *const u64,
}

/// A step of balancing a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    /// Which.
    pub step: Step,
    /// For whom, and what came of it.
    pub attempt: Attempt,
    /// All CPUs, with groups as the step has refreshed them.
    pub choices: Vec<Choice>,
    /// Tasks in the order of the looks.
    pub offered: Vec<Offered>,
    /// The CPUs that each of them may use, so many words for each.
    pub allowed: Vec<u64>,
}

impl Balance {
    /// `choices`, `offered` and `allowed`: what `raw` points to.
    #[must_use]
    pub fn new(raw: &RawBalance, choices: &[Choice], offered: &[Offered], allowed: &[u64]) -> Self {
        Self {
            step: match raw.attempt.kind {
                0 => Step::Who,
                1 => Step::Group,
                2 => Step::Queue,
                3 => Step::Detach,
                _ => Step::Push,
            },
            attempt: raw.attempt,
            choices: choices.to_vec(),
            offered: offered.to_vec(),
            allowed: allowed.to_vec(),
        }
    }

    /// CPUs that an offered task may use, of those that there are.
    #[must_use]
    pub fn may_use(&self, at: usize) -> Vec<u32> {
        let words = self.allowed.len() / self.offered.len().max(1);
        let mask = self.allowed.get(at * words..).unwrap_or_default();
        let has = |cpu: &u32| {
            let word = mask.get(*cpu as usize / 64).copied().unwrap_or(0);
            word >> (cpu % 64) & 1 != 0
        };
        (0..self.choices.len() as u32).filter(has).collect()
    }
}

/// Rows of what is told of balancing.
pub(crate) fn layout() -> Vec<Row> {
    vec![
        row!("wpk_offered", "age_ns", Offered, age_ns),
        row!("wpk_offered", "nr_running", Offered, nr_running),
        row!("wpk_attempt", "idle", Attempt, idle),
        row!("wpk_attempt", "overutilized", Attempt, overutilized),
        row!("wpk_attempt", "group_cpu", Attempt, group_cpu),
        row!("wpk_attempt", "tries", Attempt, tries),
        row!("wpk_attempt", "imbalance", Attempt, imbalance),
        row!("wpk_attempt", "answer", Attempt, answer),
        row!("wpk_attempt", "new_cpu", Attempt, new_cpu),
        row!("wpk_attempt", "imbalance_after", Attempt, imbalance_after),
        row!("wpk_balance", "nr_offered", RawBalance, nr_offered),
        row!("wpk_balance", "choices", RawBalance, choices),
        row!("wpk_balance", "allowed", RawBalance, allowed),
    ]
}
