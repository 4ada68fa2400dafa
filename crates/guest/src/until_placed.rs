//! `until-placed`: whether tasks get to the CPUs where they belong, on a machine with big and
//! little ones (docs/guide/live.md, scripts/live/guest.sh).
//!
//! What must stay: keys and verdicts, which scripts/live/guest.sh reads. Times are ns. Free: words
//! of failures.
//!
//! Tests by part: `small_tasks_are_what_the_arguments_say` (`small_job`),
//! `only_two_words_are_known` (`run`),
//! crates/guest/tests/programs.rs::`a_machine_without_little_cpus_cannot_place` (`big_and_little`).
//! `heavy`, `run_heavy`, `small` and `run_on` need big and little CPUs: guest.sh placement runs
//! them, and xtask/src/live/tests.rs judges.
//!
//! Callers: lib.rs (`run`).
//!
//! Tests: below

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::cpus::{Cpus, SYSFS_CPUS};
use crate::error::GuestError;
use crate::job::{Job, Loops, Op, Phase, Policy, Task, Timer, TimerMode};
use crate::load;
use crate::report::Report;
use crate::spin::{SLICE_LOOPS, spin};
use crate::steady::{END_WITHIN_NS, Roll, lock};
use crate::sys;

const HEAVY_FLAGS: [Flag; 3] = [
    flag("--seconds", 5, 1, 86_400),
    flag("--pinned-ms", 20, 0, 60_000),
    flag("--within-ms", 100, 1, 60_000),
];
const SMALL_FLAGS: [Flag; 6] = [
    flag("--tasks", 4, 1, 1000),
    flag("--period-ms", 16, 1, 10_000),
    flag("--duty-pct", 5, 1, 100),
    flag("--seconds", 10, 1, 3600),
    flag("--warm-up-seconds", 5, 0, 3600),
    flag("--big-share-pct", 1, 0, 100),
];

/// Big and little CPUs, or the reason why there are none.
fn big_and_little() -> Result<(Vec<u32>, Vec<u32>), GuestError> {
    let (big, little) = Cpus::read(Path::new(SYSFS_CPUS), false)?.big_and_little();
    if big == little {
        return Err(GuestError::Environment(
            "all CPUs have the same capacity: none is big and none is little".to_owned(),
        ));
    }
    Ok((big, little))
}

/// Runs `until-placed heavy` or `until-placed small` and gives the report's text.
///
/// # Errors
/// Wrong arguments; a machine on which all CPUs are alike.
pub fn run(args: &[String]) -> Result<UntilPlaced, GuestError> {
    let (which, args) = match args.split_first() {
        Some((which, args)) => (which.as_str(), args),
        None => ("", args),
    };
    match which {
        "heavy" => heavy(args).map(UntilPlaced::Heavy),
        "small" => small(args).map(UntilPlaced::Small),
        other => Err(GuestError::Input(format!(
            "until-placed `{other}`: expected `heavy` or `small`"
        ))),
    }
}

/// One of its two reports.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum UntilPlaced {
    /// Of `heavy`.
    Heavy(Report<HeavyResult>),
    /// Of `small`.
    Small(Report<SmallResult>),
}

/// What became of an always-running task that began on a little CPU.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct HeavyResult {
    /// CPUs of the highest capacity.
    pub big_cpus: Vec<u32>,
    /// Little CPU that it was bound to.
    pub little_cpu: u32,
    /// For how long, ms.
    pub pinned_ms: u64,
    /// From its release to its first slice on a big CPU, ms; null = never.
    pub placed_after_ms: Option<f64>,
    /// Of its CPU time from then on, how much was on big CPUs.
    pub big_share_after: f64,
    /// CPU time by CPU from its release, ns.
    pub cpu_run_ns: BTreeMap<u32, u64>,
}

/// Tries whether busy tasks that were bound to little CPUs are on big ones soon after.
fn heavy(args: &[String]) -> Result<Report<HeavyResult>, GuestError> {
    let [seconds, pinned_ms, within_ms] = parse(args, &HEAVY_FLAGS)?;
    let (big_cpus, little) = big_and_little()?;
    let allowed = sys::affinity().map_err(|error| GuestError::environment("affinity", &error))?;
    let little_cpu = little.into_iter().find(|cpu| allowed.contains(cpu));
    let little_cpu = little_cpu.ok_or_else(|| {
        GuestError::Environment("this process may run on no little CPU".to_owned())
    })?;
    let begin = HeavyResult {
        big_cpus,
        little_cpu,
        pinned_ms,
        ..HeavyResult::default()
    };
    let roll = Arc::new(Roll::default());
    let outcome = Arc::new(Mutex::new(None));
    let place = Arc::clone(&outcome);
    let run_ns = seconds * 1_000_000_000;
    roll.spawn("heavy", move || {
        *lock(&place) = Some(run_heavy(begin, &allowed, run_ns));
    })?;
    sys::sleep_ns(run_ns + pinned_ms * 1_000_000);
    let mut failures = roll.finish(END_WITHIN_NS);
    let result = match lock(&outcome).take() {
        Some(Ok(result)) => result,
        Some(Err(error)) => return Err(GuestError::environment("heavy: affinity", &error)),
        None => HeavyResult::default(),
    };
    match result.placed_after_ms {
        None => failures.push("heavy never ran on a big CPU".to_owned()),
        Some(ms) if ms > within_ms as f64 => failures.push(format!(
            "heavy ran on a big CPU after {ms:.1} ms, expected at most {within_ms}"
        )),
        Some(_) => (),
    }
    Ok(Report::new("until-placed heavy", failures, result))
}

/// The task itself: bound, released, and then always running.
fn run_heavy(begin: HeavyResult, allowed: &[u32], run_ns: u64) -> std::io::Result<HeavyResult> {
    let mut result = begin;
    sys::set_affinity(0, &[result.little_cpu])?;
    let bound_until_ns = sys::now_ns() + result.pinned_ms * 1_000_000;
    while sys::now_ns() < bound_until_ns {
        spin(SLICE_LOOPS);
    }
    sys::set_affinity(0, allowed)?;
    let released_ns = sys::now_ns();
    let mut cpu_ns = sys::thread_cpu_ns();
    let (mut after_ns, mut big_ns) = (0, 0);
    loop {
        let cpu = sys::current_cpu();
        let now_ns = sys::now_ns();
        if now_ns >= released_ns + run_ns {
            break;
        }
        let is_big = result.big_cpus.contains(&cpu);
        if is_big && result.placed_after_ms.is_none() {
            result.placed_after_ms = Some((now_ns - released_ns) as f64 / 1e6);
        }
        spin(SLICE_LOOPS);
        let ran_ns = sys::thread_cpu_ns() - cpu_ns;
        cpu_ns += ran_ns;
        *result.cpu_run_ns.entry(cpu).or_default() += ran_ns;
        if result.placed_after_ms.is_some() {
            after_ns += ran_ns;
            big_ns += if is_big { ran_ns } else { 0 };
        }
    }
    result.big_share_after = big_ns as f64 / after_ns.max(1) as f64;
    Ok(result)
}

/// Where small periodic tasks ran.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct SmallResult {
    /// CPUs of the highest capacity.
    pub big_cpus: Vec<u32>,
    /// Of the tasks' run time in the window, how much was on big CPUs, %.
    pub big_share_pct: f64,
    /// Of the window, how much the big CPUs did not spend on the tasks, %.
    pub big_idle_pct: f64,
    /// The whole measurement.
    pub load: load::LoadResult,
}

/// Tries whether small tasks leave the big CPUs alone.
fn small(args: &[String]) -> Result<Report<SmallResult>, GuestError> {
    let [
        tasks,
        period_ms,
        duty_pct,
        seconds,
        warm_up_seconds,
        share_max,
    ] = parse(args, &SMALL_FLAGS)?;
    let (big_cpus, _) = big_and_little()?;
    let job = small_job(tasks, period_ms, duty_pct, (warm_up_seconds, seconds));
    let (load, mut failures) = load::run(job)?;
    let (big_ns, total_ns) = run_on(&load, &big_cpus);
    let window_ns = (load.window_end_ns - load.window_begin_ns) as f64;
    let big_share_pct = 100.0 * big_ns as f64 / total_ns.max(1) as f64;
    if total_ns == 0 {
        failures.push("the tasks did not run in the window".to_owned());
    }
    if big_share_pct > share_max as f64 {
        failures.push(format!(
            "{big_share_pct:.2} % of the tasks' run time was on big CPUs, expected at most \
             {share_max} %"
        ));
    }
    let result = SmallResult {
        big_idle_pct: 100.0 - 100.0 * big_ns as f64 / (window_ns * big_cpus.len() as f64),
        big_cpus,
        big_share_pct,
        load,
    };
    Ok(Report::new("until-placed small", failures, result))
}

/// Run time of all tasks on these CPUs, and on all, ns.
fn run_on(load: &load::LoadResult, cpus: &[u32]) -> (u64, u64) {
    let runs = load.tasks.iter().flat_map(|task| &task.cpu_run_ns);
    runs.fold((0, 0), |(on, total), (cpu, &ns)| {
        (on + if cpus.contains(cpu) { ns } else { 0 }, total + ns)
    })
}

/// Periodic tasks with their releases spread evenly over the period.
fn small_job(tasks: u64, period_ms: u64, duty_pct: u64, seconds: (u64, u64)) -> Job {
    let period_ns = period_ms * 1_000_000;
    let delay_ns = |index: u64| period_ns * index / tasks;
    let timer = |index: u64| Timer {
        mode: TimerMode::Absolute,
        start_delay_ns: delay_ns(index),
    };
    let task = |index: u64| Task {
        name: format!("small-{index}"),
        nice: 0,
        policy: Policy::Other,
        affinity: None,
        delay_ns: delay_ns(index),
        forked: false,
        loops: Loops::Forever,
        phases: vec![Phase {
            loops: Loops::Forever,
            affinity: None,
            nice: None,
            ops: vec![
                Op::Run {
                    work_ns: period_ns * duty_pct / 100,
                },
                Op::Timer {
                    timer: index as u32,
                    period_ns,
                },
            ],
        }],
    };
    Job {
        speeds: Vec::new(),
        warm_up_ns: seconds.0 * 1_000_000_000,
        window_ns: seconds.1 * 1_000_000_000,
        frequency_invariant: true,
        start_offset_ns: 0,
        trace: false,
        timers: (0..tasks).map(timer).collect(),
        events: 0,
        tasks: (0..tasks).map(task).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tasks_are_what_the_arguments_say() {
        let job = small_job(4, 16, 5, (5, 10));
        let text = serde_json::to_string(&job).expect("text");
        assert_eq!(Job::parse("small", &text).expect("a valid job"), job);
        assert_eq!(job.tasks[3].delay_ns, 12_000_000);
        let run = Op::Run { work_ns: 800_000 };
        assert_eq!(job.tasks[3].phases[0].ops[0], run, "5 % of 16 ms");
    }

    #[test]
    fn only_two_words_are_known() {
        let error = run(&["large".to_owned()]).expect_err("large");
        assert_eq!(error.exit_code(), 2);
    }
}
