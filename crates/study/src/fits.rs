//! Whether what a run is made of goes together.

use crate::StudyError;
use wakeplace_engine::Options;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

/// What must hold before every run: the engine's own checks, and that no change of the hardware
/// comes after the run, where it would never act.
pub(crate) fn check(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> Result<(), StudyError> {
    wakeplace_engine::check(platform, policy, workload, options)?;
    let caps = options.freq_cap.iter().map(|cap| cap.at_ns);
    let scales = options.em_scale.iter().map(|scale| scale.at_ns);
    let all = caps.map(|at| ("model.freq_cap", at));
    let all = all.chain(scales.map(|at| ("model.em_scale", at)));
    let end_ns = options.duration_ns;
    let late = { all }.find(|(_, at_ns)| *at_ns >= end_ns);
    late.map_or(Ok(()), |(key, at_ns)| {
        Err(StudyError::Late { key, at_ns, end_ns })
    })
}
