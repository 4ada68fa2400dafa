//! What the tests share: small machines, task scripts, a recording observer, a stream checker.
//!
//! What must stay: defaults of `all_on` and `all_off` are those that all tests compute with.
//! `simulate` checks, runs and records; `simulate_sched_ext` the same under a scheduler; `policy`,
//! `policies_of`, `performance`, `builtin`, `without_turbo` name what is run. Free: how they are
//! done, and new helpers. Callers: all files of tests/behaviour; a fault here fails there. Page:
//! docs/guide/model.md, "Costs".

pub(crate) mod board;
pub(crate) mod checker;
pub(crate) mod record;
pub(crate) mod scripts;
pub(crate) mod waste;

pub(crate) use board::{Board, Idle, two_caches};
pub(crate) use record::{Log, What};
pub(crate) use scripts::{hog, once, phase, run_ms, script, sharing, sleep_ms, workload};

use wakeplace_engine::sched_ext::SchedExtOps;
use wakeplace_engine::{Options, RunReport, check, run, run_sched_ext};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

/// Nanoseconds of a microsecond, a millisecond, a second.
pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;

/// Options with all models on, but for kernel threads, which would run beside what a test is about;
/// the parent begins on CPU 0.
pub(crate) fn all_on(duration_ns: u64) -> Options {
    Options {
        duration_ns,
        parent_cpu: Some(0),
        housekeeping: false,
        ..Options::default()
    }
}

/// Options under which only the tasks' own work takes time (WFI's exit latency remains).
pub(crate) fn all_off(duration_ns: u64) -> Options {
    Options {
        duration_ns,
        idle_states: false,
        kernel_costs: false,
        transition_latency: false,
        parent_cpu: Some(0),
        housekeeping: false,
        ..Options::default()
    }
}

/// A policy with parameters.
pub(crate) fn policy(name: &str, settings: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::parse(name).unwrap_or_else(|e| panic!("{e}"));
    for (key, value) in settings {
        policy.set(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    policy
}

/// Each of these with its own settings after the common ones.
pub(crate) fn policies_of(
    each: &[(&str, &[(&str, &str)])],
    common: &[(&str, &str)],
) -> Vec<Policy> {
    let with = |(name, own): &(&str, &[(&str, &str)])| policy(name, &[common, own].concat());
    each.iter().map(with).collect()
}

/// `linux-4.17` at a constant highest frequency.
pub(crate) fn performance() -> Policy {
    policy("linux-4.17", &[("governor", "performance")])
}

/// A built-in platform.
pub(crate) fn builtin(name: &str) -> Platform {
    Platform::builtin(name).unwrap_or_else(|e| panic!("{e}"))
}

/// One whose clock is what the kernel asks for, however many cores are awake.
pub(crate) fn without_turbo(name: &str) -> Platform {
    let mut platform = builtin(name);
    platform.turbo = None;
    platform
}

/// The same under a sched_ext scheduler.
pub(crate) fn simulate_sched_ext(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    ops: &mut dyn SchedExtOps,
) -> (RunReport, Log) {
    check(platform, policy, workload, options).unwrap_or_else(|e| panic!("{e}"));
    let mut log = Log::default();
    let report = run_sched_ext(platform, policy, workload, options, ops, &mut log);
    (report, log)
}

/// Runs and returns the report and everything the observer saw.
pub(crate) fn simulate(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> (RunReport, Log) {
    check(platform, policy, workload, options).unwrap_or_else(|e| panic!("{e}"));
    let mut log = Log::default();
    let report = run(platform, policy, workload, options, &mut log);
    (report, log)
}
