//! Deterministic simulated mechanics around the policy core.
pub mod observe;
mod options;
mod outcome;
pub use observe::Observer;
pub use options::{OptionError, Options};
pub use outcome::{Ended, RunReport, TaskTotals};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

/// Runs a workload under a policy on a machine (STUB; signature is final). Never fails: inputs are validated
/// (`check` says beforehand whether the workload fits the machine).
pub fn run<O: Observer>(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    observer: &mut O,
) -> RunReport {
    let _ = (platform, policy);
    observer.finish(options.duration_ns);
    RunReport {
        end_ns: options.duration_ns,
        ended: Ended::Duration,
        events: 0,
        event_hash: 0,
        tasks: vec![TaskTotals::default(); workload.tasks.len()],
        reasons: Vec::new(),
    }
}
