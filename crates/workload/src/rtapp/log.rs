//! What rt-app's log needs to know of a file besides the run: names and configured sums
//! (docs/rules/rt-app.md#rt-app-log).
//!
//! Called by `Spec::rtapp_log`. Sums are rt-app's own columns, µs. No run depends on it.
//!
//! What must stay: threads in the order of `expand`, sums per phase in µs; `perf` is each run
//! divided by the calibration and cut, before it is summed. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `what_the_logs_need` (`wanted`, `sums`).
//!
//! Tests: crates/workload/tests/all/rtapp_events.rs
use super::structure::{Action, Global, LoadCalibration, LogSize, Phase};
use std::sync::Arc;

/// The logs that rt-app would write of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtAppLog {
    /// Files are called `BASENAME-THREAD.log`.
    pub basename: String,
    /// Slack is the sum over a phase's timers instead of the last one's.
    pub cumulative_slack: bool,
    /// By index in `Workload::tasks`.
    pub threads: Vec<LogThread>,
}

/// What the log of a thread needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogThread {
    /// The thread's name; of a script with `forks`, the task's, to which index and count are added.
    pub name: String,
    /// By index of the phase.
    pub phases: Arc<[LogPhase]>,
}

/// Sums over the events of one iteration of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPhase {
    /// `run` and `runtime`, us.
    pub duration_us: u64,
    /// `timer`, us.
    pub period_us: u64,
    /// Work units of `run`: microseconds / ns per loop, each cut to whole units. Without a given
    /// ns per loop, which only a real machine has: microseconds.
    pub perf: u64,
}

/// What the file says of logs; None: there are none.
pub(super) fn wanted(global: &Global) -> Option<(String, bool)> {
    // A buffer of 0 MiB is none, and rt-app takes it for "disable".
    let none = matches!(global.log_size, LogSize::Disabled | LogSize::Mebibytes(0));
    (!none).then(|| (global.log_basename.clone(), global.cumulative_slack))
}

/// The sums of a phase.
pub(super) fn sums(phase: &Phase, calibration: LoadCalibration) -> LogPhase {
    let ns_per_loop = match calibration {
        LoadCalibration::NsPerLoop(ns) => u64::try_from(ns).unwrap_or(1).max(1),
        LoadCalibration::Cpu(_) => 1,
    };
    let number = |us: i32| u64::try_from(us).unwrap_or(0);
    let mut sums = LogPhase::default();
    for step in &phase.events {
        match &step.action {
            Action::Run(us) => {
                sums.duration_us += number(*us);
                sums.perf += number(*us) / ns_per_loop;
            }
            Action::Runtime(us) => sums.duration_us += number(*us),
            Action::Timer { period_us, .. } => sums.period_us += number(*period_us),
            _ => {}
        }
    }
    sums
}
