//! `busy-loops`: endless loops that a shell forks one after the other (docs/guide/workloads.md).
//!
//! Called by `models/mod.rs` for its name. `n` is 1 to 10,000; `shell` is the shell's work per
//! fork, ns.
//!
//! What must stay: the shell forks one loop after the other and works before each fork; no loop
//! ends. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `a_shell_forks_endless_loops` (`expand`),
//! `wrong_values_say_their_range` (`load`), played.rs::`loops_never_end` (when loops start).
//!
//! Tests: crates/workload/tests/all/kbuild.rs, crates/workload/tests/all/played.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::tasks::{endless, once, phase, run, wait};
use super::values::Values;
use super::work::{Share, work};
use super::{Model, ModelInfo, parameters};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::{Event, TaskScript, Workload};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "busy-loops",
    also: &["stress", "stress-ng", "burn", "spin", "yes"],
    summary: "a shell forks n endless loops and waits",
    parameters: parameters! {
        "n", "1..=10000", "2", "number of loops";
        "shell", "time from 1us to 10s", "500us",
            "CPU time of the shell before each fork, on the biggest CPU; assumed";
    },
    metric: "cpu_power_w",
    source: "busy loops of the power-aware scheduling series v4 (2013); \
             docs/rules/workloads.md#other-benchmarks",
};

/// The script of the loops; the shell is script 0.
const LOOP: u32 = 1;

/// Work of one turn. What a loop does between two steps takes no time.
const TURN_NS: u64 = 1_000_000_000;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BusyLoops {
    n: u32,
    shell_ns: u64,
}

/// Reads `busy-loops:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    Ok(Arc::new(BusyLoops {
        n: values.number("n", 1..=10_000)?,
        shell_ns: values.time_ns("shell", 1_000..=10_000_000_000)?,
    }))
}

impl Model for BusyLoops {
    /// The scripts. Nothing is drawn: the seed changes nothing.
    fn expand(
        &self,
        argument: &str,
        _: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let ended = builder.channel("children of the shell".to_owned(), Carrier::Word);
        let mut fork = work(self.shell_ns, Share::NONE);
        fork.push(Event::Fork { task: LOOP });
        let phases = vec![
            phase("forks", u64::from(self.n), fork),
            phase("waits for the loops", 1, [wait(ended)]),
        ];
        builder.task(once("shell".to_owned(), phases));
        builder.task(TaskScript {
            forks: Some(u64::from(self.n)),
            ..endless("loop".to_owned(), [run(TURN_NS)])
        });
        Ok(builder.finish())
    }
}
