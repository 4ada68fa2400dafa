//! `sysbench-cpu`: threads that look for primes, as sysbench's cpu test does
//! (docs/guide/workloads.md).
//!
//! Called by `models/mod.rs` for its name. What an event takes (ns at full speed) is the
//! argument's, or follows from the number of divisions.
//!
//! What must stay: the number of divisions of an event is the benchmark's
//! (docs/rules/workloads.md#sysbench); `event` and `prime` exclude each other. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `an_event_has_as_many_divisions_as_the_benchmark` (`divisions`),
//! `a_sysbench_cpu_event_is_claimed_timed_and_counted` (`expand`),
//! `messaging_and_sysbench_say_what_is_expected` (`parse`),
//! models.rs::`sysbench_cpu_counts_every_event_that_began_in_time` (a run), all (`load`).
//!
//! Tests: below, crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::parse::MAX_TIME_NS;
use super::sysbench::{CLAIM, Common, REQUESTS, START, THREADS, TIME, VERSION};
use super::tasks::{endless, run};
use super::values::Values;
use super::{Model, ModelInfo, fault, parameters};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::Workload;
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "sysbench-cpu",
    also: &["sysbench", "cpu"],
    summary: "threads that look for primes by trial division, without system calls",
    parameters: parameters! {
        THREADS; REQUESTS; TIME; VERSION;
        "prime", "4..=1000000", "10000",
            "an event tries the numbers from 3 to below this (--cpu-max-prime)";
        "operation", "time (ns, us, ms, s)", "10ns",
            "one division with remainder, on the biggest CPU (assumed)";
        "event", "time (ns, us, ms, s)", "",
            "CPU work of an event on the biggest CPU, instead of `prime` and `operation`";
        CLAIM; START;
    },
    metric: "events_total",
    source: "sysbench 0.4 (6f3592e) and 1.0.20, cpu test: 117526 divisions per event",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SysbenchCpu {
    common: Common,
    event_ns: u64,
}

/// Reads `sysbench-cpu:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Ok(Arc::new(SysbenchCpu::parse(argument)?))
}

impl SysbenchCpu {
    /// The model from its argument.
    fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let values = Values::read(argument, &INFO)?;
        for other in ["prime", "operation"] {
            values.not_both("event", other, "how long an event takes")?;
        }
        let operations = divisions(values.number("prime", 4..=1_000_000)?);
        // 1000 s each of at most 67 million operations: 2^67 does not fit, so it saturates.
        let derived_ns = operations.saturating_mul(values.time_above_zero_ns("operation")?);
        let event_ns = values
            .optional("event", Values::time_above_zero_ns)?
            .unwrap_or(derived_ns);
        let common = Common::read(&values)?;
        if event_ns > MAX_TIME_NS {
            let message = "`operation` makes an event longer than 1000 s";
            return Err(fault(argument, message).expected("a shorter one").into());
        }
        Ok(Self { common, event_ns })
    }
}

/// Divisions with remainder of an event: trial division of 3 to below `prime`, by 2 and on, until
/// one leaves no rest or the root is reached.
fn divisions(prime: u64) -> u64 {
    let of = |candidate: u64| {
        let root = candidate.isqrt();
        let divisor = (2..=root).find(|divisor| candidate.is_multiple_of(*divisor));
        divisor.unwrap_or(root) - 1
    };
    (3..prime).map(of).sum()
}

impl Model for SysbenchCpu {
    /// The scripts: threads that repeat one event.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let event = run(self.event_ns);
        let frame = self.common.frame(argument, seed);
        Ok(frame.finish(|name, frame| {
            endless(name, [&frame.before[..], &[event], &frame.after].concat())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::divisions;

    /// Source: docs/rules/workloads.md#sysbench, counted in the benchmark's loop. The small ones by
    /// hand: 3 (its root is 1) none; 4: one; 5, 6, 7: one each; 8: one; 9: by 2 and 3.
    #[test]
    fn an_event_has_as_many_divisions_as_the_benchmark() {
        assert_eq!(divisions(10_000), 117_526);
        assert_eq!([4, 5, 9, 10].map(divisions), [0, 1, 5, 7]);
    }
}
