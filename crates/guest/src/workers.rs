//! Busy and sleeping threads for the storms, with their progress counted (docs/guide/lab.md).
//!
//! What must stay: each worker's rounds only grow; who stands still is named. Free: how long a
//! round is.
//!
//! Tests by part: `affinity_storm_changes_and_all_get_on` (`start`, `rounds`, `finish`, `work`),
//! steady.rs::`a_thread_that_hangs_is_named_and_one_that_ends_is_not` (what `finish` asks; `name`
//! is in its words).
//!
//! Callers: affinity_storm.rs, hotplug_storm.rs.
//!
//! Tests: crates/guest/tests/programs.rs::affinity_storm_changes_and_all_get_on,
//! crates/guest/src/steady.rs::a_thread_that_hangs_is_named_and_one_that_ends_is_not

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::GuestError;
use crate::spin::{SLICE_LOOPS, spin};
use crate::steady::{END_WITHIN_NS, Roll};
use crate::sys::{self, Pid};

/// How a worker spends its time: CPU time and then sleep, ns. No sleep: always running.
const HABITS: [(u64, u64); 3] = [(1_000_000, 0), (2_000_000, 3_000_000), (100_000, 500_000)];

#[derive(Debug)]
struct Common {
    stop: AtomicBool,
    /// Rounds done, by worker.
    rounds: Vec<AtomicU64>,
}

/// Running workers.
#[derive(Debug)]
pub(crate) struct Workers {
    common: Arc<Common>,
    roll: Arc<Roll>,
    /// Their thread ids.
    pub(crate) threads: Vec<Pid>,
}

impl Workers {
    /// Starts so many, with all habits in turn.
    pub(crate) fn start(count: usize) -> Result<Self, GuestError> {
        let common = Arc::new(Common {
            stop: AtomicBool::new(false),
            rounds: (0..count).map(|_| AtomicU64::new(0)).collect(),
        });
        let roll = Arc::new(Roll::default());
        for index in 0..count {
            let common = Arc::clone(&common);
            roll.spawn(&name(index), move || work(&common, index))?;
        }
        let threads = roll.threads()?;
        Ok(Self {
            common,
            roll,
            threads,
        })
    }

    /// Rounds done so far, by worker.
    pub(crate) fn rounds(&self) -> Vec<u64> {
        let rounds = self.common.rounds.iter();
        rounds.map(|n| n.load(Ordering::Relaxed)).collect()
    }

    /// Each must get on from here, then each must end. What did not, in words.
    pub(crate) fn finish(self) -> Vec<String> {
        let before = self.rounds();
        let deadline_ns = sys::now_ns() + END_WITHIN_NS;
        let stuck = || -> Vec<usize> {
            let now = self.rounds();
            (0..now.len()).filter(|&i| now[i] == before[i]).collect()
        };
        while !stuck().is_empty() && sys::now_ns() < deadline_ns {
            sys::sleep_ns(5_000_000);
        }
        let mut failures: Vec<String> = stuck()
            .into_iter()
            .map(|index| {
                let (worker, tid) = (name(index), self.threads[index]);
                format!("{worker} (tid {tid}) made no progress when the storm was over")
            })
            .collect();
        self.common.stop.store(true, Ordering::Relaxed);
        failures.append(&mut self.roll.finish(END_WITHIN_NS));
        failures
    }
}

/// Gives the worker's name in reports.
fn name(index: usize) -> String {
    format!("worker-{index}")
}

/// One worker: runs and sleeps until the storm ends.
fn work(common: &Common, index: usize) {
    let (run_ns, sleep_ns) = HABITS[index % HABITS.len()];
    while !common.stop.load(Ordering::Relaxed) {
        let until_ns = sys::thread_cpu_ns() + run_ns;
        while sys::thread_cpu_ns() < until_ns {
            spin(SLICE_LOOPS);
        }
        common.rounds[index].fetch_add(1, Ordering::Relaxed);
        if sleep_ns > 0 {
            sys::sleep_ns(sleep_ns);
        }
    }
}
