//! `sysbench-threads`: threads that take turns at a few mutexes and yield with them in their hands,
//! as sysbench's threads test does (docs/rules/workloads.md#sysbench).
//!
//! Called by `models/mod.rs` for its name. Times are ns. The yields within the mutex are the
//! benchmark's own.
//!
//! What must stay: an event keeps the mutex that its number chooses for all its yields; no thread
//! ends with a mutex in its hands. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `a_sysbench_threads_event_keeps_the_mutex_of_its_number` (`expand`),
//! `messaging_and_sysbench_say_what_is_expected` (`load`),
//! models.rs::`sysbench_threads_alone_is_its_turns` and
//! models.rs::`sysbench_threads_wait_only_for_shared_mutexes` (a run).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::sysbench::{CLAIM, Common, REQUESTS, START, THREADS, TIME, VERSION};
use super::tasks::{locked, phase, run, task};
use super::values::Values;
use super::{Model, ModelInfo, parameters};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Pick, Workload};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "sysbench-threads",
    also: &[],
    summary: "threads that lock a mutex, yield and unlock it, over and over",
    parameters: parameters! {
        THREADS;
        "locks", "1..=100000", "8",
            "number of mutexes; event i uses mutex i modulo this (--thread-locks)";
        "yields", "1..=1000000", "1000",
            "an event locks, yields and unlocks so often (--thread-yields)";
        "run", "time (ns, us, ms, s)", "1500ns",
            "CPU work of one such turn on the biggest CPU, with the mutex held (assumed)";
        REQUESTS; TIME; VERSION; CLAIM; START;
    },
    metric: "events_total",
    source: "sysbench 0.4 (6f3592e) and 1.0.20, threads test",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SysbenchThreads {
    common: Common,
    locks: u32,
    yields: u64,
    run_ns: u64,
}

/// Reads `sysbench-threads:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    Ok(Arc::new(SysbenchThreads {
        common: Common::read(&values)?,
        locks: values.number("locks", 1..=100_000)?,
        yields: values.number("yields", 1..=1_000_000)?,
        run_ns: values.time_above_zero_ns("run")?,
    }))
}

impl Model for SysbenchThreads {
    /// The scripts. The number that a thread claimed chooses its mutex for the whole event.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut frame = self.common.frame(argument, seed);
        let builder = &mut frame.builder;
        let first = builder.mutexes(self.locks, |index| format!("lock {index}"));
        let pick = Pick::Claimed { of: self.locks };
        let turn = locked(first, pick, [run(self.run_ns), Event::Yield]);
        Ok(frame.finish(|name, frame| {
            let phases = vec![
                phase("request", 1, frame.before.clone()),
                phase("event", self.yields, turn.clone()),
                phase("record", 1, frame.after.clone()),
            ];
            task(name, Loops::Forever, phases)
        }))
    }
}
