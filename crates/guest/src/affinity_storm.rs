//! `affinity-storm`: threads whose affinity, nice value and policy change all the time
//! (docs/guide/live.md, scripts/live/guest.sh).
//!
//! What must stay: keys of the report; changes are drawn from the seed. Free: how long a pause is,
//! and what else may change.
//!
//! Tests by part: `affinity_storm_changes_and_all_get_on` (`run`, `change`, `calm`, `count`:
//! changes and refusals).
//!
//! Callers: lib.rs (`run`); scripts/live/guest.sh runs it in guests.
//!
//! Tests: crates/guest/tests/programs.rs::affinity_storm_changes_and_all_get_on

use std::io;

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::error::GuestError;
use crate::job::Policy;
use crate::report::Report;
use crate::rng::Rng;
use crate::sys::{self, Pid};
use crate::workers::Workers;

const FLAGS: [Flag; 3] = [
    flag("--seconds", 5, 1, 86_400),
    flag("--tasks", 12, 1, 1000),
    flag("--seed", 1, 0, u64::MAX),
];
/// Longest pause between two changes, ns.
const PAUSE_NS_MAX: usize = 2_000_000;
/// How long a thread is a real-time task, ns.
const FIFO_NS: u64 = 1_000_000;
/// Real-time priorities of such a task and of the one that makes and ends them.
const VICTIM_PRIORITY: i32 = 1;
const STORM_PRIORITY: i32 = 2;

/// Counts by kind of change.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct Changes {
    /// Affinity.
    pub affinity: u64,
    /// Nice value.
    pub nice: u64,
    /// SCHED_OTHER, SCHED_BATCH or SCHED_IDLE.
    pub policy: u64,
    /// SCHED_FIFO for 1 ms and back.
    pub fifo: u64,
}

/// Counts.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct AffinityStormResult {
    /// Threads.
    pub tasks: u64,
    /// Seed of the changes.
    pub seed: u64,
    /// Changes made.
    pub changes: Changes,
    /// Changes that this user may not make.
    pub refused: Changes,
    /// Rounds of work that the slowest thread did.
    pub rounds_min: u64,
    /// Rounds of all.
    pub rounds_total: u64,
}

/// Runs it.
///
/// # Errors
/// Wrong arguments; threads that cannot be started.
pub fn run(args: &[String]) -> Result<Report<AffinityStormResult>, GuestError> {
    let [seconds, tasks, seed] = parse(args, &FLAGS)?;
    let cpus = sys::affinity().map_err(|error| GuestError::environment("affinity", &error))?;
    let workers = Workers::start(usize::try_from(tasks).unwrap_or(usize::MAX))?;
    // The storm must not wait for its victims, least of all behind one it has just made real-time:
    // nobody else would ever end that. A user who may not raise it makes none real-time either.
    let _ = sys::set_fifo(0, STORM_PRIORITY);
    let mut storm = Storm {
        rng: Rng::new(seed),
        cpus,
        changes: Changes::default(),
        refused: Changes::default(),
        failures: Vec::new(),
    };
    let end_ns = sys::now_ns() + seconds * 1_000_000_000;
    while sys::now_ns() < end_ns {
        let thread = workers.threads[storm.rng.below(workers.threads.len())];
        storm.change(thread);
        sys::sleep_ns(storm.rng.below(PAUSE_NS_MAX) as u64);
    }
    let rounds = workers.rounds();
    for &thread in &workers.threads {
        storm.calm(thread);
    }
    let mut failures = workers.finish();
    let _ = sys::set_policy(0, Policy::Other);
    failures.append(&mut storm.failures);
    let rounds_min = rounds.iter().copied().min().unwrap_or(0);
    if rounds_min == 0 {
        failures.push("a thread did no round of work during the storm".to_owned());
    }
    let result = AffinityStormResult {
        tasks,
        seed,
        changes: storm.changes,
        refused: storm.refused,
        rounds_min,
        rounds_total: rounds.iter().sum(),
    };
    Ok(Report::new("affinity-storm", failures, result))
}

struct Storm {
    rng: Rng,
    cpus: Vec<u32>,
    changes: Changes,
    refused: Changes,
    failures: Vec<String>,
}

impl Storm {
    /// One random change. Half of them are of affinity.
    fn change(&mut self, thread: Pid) {
        match self.rng.below(8) {
            0..4 => {
                let cpus = self.rng.some_of(&self.cpus);
                let done = sys::set_affinity(thread, &cpus);
                self.count(done, "affinity", |changes| &mut changes.affinity);
            }
            4 | 5 => {
                let nice = self.rng.below(40) as i8 - 20;
                self.count(sys::set_nice(thread, nice), "nice", |changes| {
                    &mut changes.nice
                });
            }
            6 => {
                let policy = [Policy::Other, Policy::Batch, Policy::Idle][self.rng.below(3)];
                let done = sys::set_policy(thread, policy);
                self.count(done, "policy", |changes| &mut changes.policy);
            }
            _ => {
                let done = sys::set_fifo(thread, VICTIM_PRIORITY);
                let is_fifo = done.is_ok();
                self.count(done, "fifo", |changes| &mut changes.fifo);
                if is_fifo {
                    sys::sleep_ns(FIFO_NS);
                    let back = sys::set_policy(thread, Policy::Other);
                    self.count(back, "back from fifo", |changes| &mut changes.policy);
                }
            }
        }
    }

    /// A thread as it was at the beginning, as far as this user may.
    fn calm(&mut self, thread: Pid) {
        let done = sys::set_affinity(thread, &self.cpus);
        self.count(done, "affinity", |changes| &mut changes.affinity);
        let done = sys::set_policy(thread, Policy::Other);
        self.count(done, "policy", |changes| &mut changes.policy);
        self.count(sys::set_nice(thread, 0), "nice", |changes| {
            &mut changes.nice
        });
    }

    /// A change that the user may not make is counted apart, and is no failure.
    fn count(
        &mut self,
        done: io::Result<()>,
        what: &str,
        field: impl Fn(&mut Changes) -> &mut u64,
    ) {
        match done {
            Ok(()) => *field(&mut self.changes) += 1,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                *field(&mut self.refused) += 1;
            }
            Err(error) => self.failures.push(format!("{what}: {error}")),
        }
    }
}
