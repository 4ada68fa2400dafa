//! Why a run could go no further: tasks that let no time pass, that wait for each other, that fork
//! without an end, a sched_ext scheduler that ended, or a kernel that failed
//! (docs/guide/results.md, "What a result holds").
//!
//! What must stay: only words are made here: that a run is stuck is the engine's finding (`Ended`);
//! the sentence is one of the warnings and stands in the place of a verdict. Words may change.
//! Tests by part: `who_waits_for_what_is_named` (`deadlock`, `awaited`, `thread`),
//! `each_seed_has_its_own_reason` (`stuck`, `causes`),
//! `a_scheduler_that_ends_is_named_with_its_error` (`ejected`),
//! `a_task_that_never_lets_time_pass_is_named` (`zero_time_loop`). `failed` and `too_many` have no
//! test of their own.
//!
//! Tests: crates/study/src/comparison/tests.rs,
//! crates/cli/tests/all/results.rs::a_task_that_never_lets_time_pass_is_named

use super::PolicyRuns;
use wakeplace_engine::{Ended, RunReport, Waiting, WaitsFor};
use wakeplace_workload::Workload;

/// A run that could go no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Whose it is, a place among the comparison's runs.
    pub side: usize,
    /// With which seed, a place among the seeds.
    pub at: usize,
    /// Why, in a sentence; it is one of the warnings, if no run before it has the same cause.
    pub why: String,
}

/// All runs that could go no further, side by side and seed by seed.
pub(crate) fn stuck(runs: &[PolicyRuns], workloads: &[Workload]) -> Vec<Stuck> {
    let of_side = |(side, run): (usize, &PolicyRuns)| {
        let both = run.reports.iter().zip(workloads).enumerate();
        let why = both.filter_map(|(at, (report, workload))| {
            let why = CAUSES
                .iter()
                .find_map(|cause| cause(&run.policy, report, workload))?;
            Some(Stuck { side, at, why })
        });
        why.collect::<Vec<_>>()
    };
    runs.iter().enumerate().flat_map(of_side).collect()
}

/// A sentence with a remedy, if the run of a policy ended by this cause.
type Cause = fn(&str, &RunReport, &Workload) -> Option<String>;

const CAUSES: [Cause; 5] = [zero_time_loop, ejected, failed, deadlock, too_many];

/// One cause of each kind, with a remedy.
pub(super) fn causes(
    run: &PolicyRuns,
    workloads: &[Workload],
) -> impl Iterator<Item = String> + use<> {
    let first = |cause: Cause| {
        let mut both = run.reports.iter().zip(workloads);
        both.find_map(|(report, workload)| cause(&run.policy, report, workload))
    };
    let all = CAUSES.map(first);
    all.into_iter().flatten()
}

/// A task that never lets time pass ends the run.
fn zero_time_loop(policy: &str, report: &RunReport, workload: &Workload) -> Option<String> {
    let Ended::ZeroTimeLoop { task } = report.ended else {
        return None;
    };
    Some(format!(
        "{policy}: the run ended at {} ns because task `{}` repeats steps that take no time; give \
         it something that does (`run`, `sleep` or a timer)",
        report.end_ns,
        thread(report, workload, task)
    ))
}

/// A sched_ext scheduler that ends takes the run with it.
fn ejected(policy: &str, report: &RunReport, _: &Workload) -> Option<String> {
    let Ended::Scheduler { exit } = &report.ended else {
        return None;
    };
    let name = report.sched_ext.as_ref().map_or("", |ext| &ext.name);
    Some(format!(
        "{policy}: the run ended at {} ns because the scheduler `{name}` ended: {exit}",
        report.end_ns
    ))
}

/// A tree's kernel that fails takes the run with it.
fn failed(policy: &str, report: &RunReport, _: &Workload) -> Option<String> {
    let Ended::Kernel { said } = &report.ended else {
        return None;
    };
    Some(format!(
        "{policy}: the run ended at {} ns because its kernel failed: {said}",
        report.end_ns
    ))
}

/// Tasks named of a run in which all wait.
const WAITS_NAMED: usize = 3;

/// Tasks that wait for each other for ever end the run.
fn deadlock(policy: &str, report: &RunReport, workload: &Workload) -> Option<String> {
    let Ended::Deadlock { waits } = &report.ended else {
        return None;
    };
    let name = |waiting: &Waiting| {
        let task = thread(report, workload, waiting.task);
        format!("`{task}` for {}", awaited(report, workload, &waiting.waits))
    };
    let named: Vec<String> = waits.iter().take(WAITS_NAMED).map(name).collect();
    let more = match waits.len().saturating_sub(WAITS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{policy}: the run ended at {} ns because every task that is left waits for one that \
         never comes: {}{more}; {}",
        report.end_ns,
        named.join(", "),
        remedy(waits)
    ))
}

/// The name of a run's thread.
fn thread<'a>(report: &'a RunReport, workload: &'a Workload, task: u32) -> &'a str {
    let script = || workload.tasks.get(task as usize).map(|t| t.name.as_str());
    let own = report.threads.get(task as usize).map(|t| t.name.as_str());
    own.or_else(script).unwrap_or("unknown")
}

/// What a task waits for.
fn awaited(report: &RunReport, workload: &Workload, waits: &WaitsFor) -> String {
    let shared = &workload.shared;
    let name = |name: Option<&String>| format!("`{}`", name.map_or("", String::as_str));
    match *waits {
        WaitsFor::Unit { channel } => name(shared.channels.get(channel as usize).map(|c| &c.name)),
        WaitsFor::Room { channel } => {
            let channel = name(shared.channels.get(channel as usize).map(|c| &c.name));
            format!("room in {channel}")
        }
        WaitsFor::Mutex { mutex, holder } => {
            let mutex = name(shared.mutexes.get(mutex as usize).map(|m| &m.name));
            match holder {
                Some(task) => format!(
                    "mutex {mutex}, held by `{}`",
                    thread(report, workload, task)
                ),
                None => format!("mutex {mutex}"),
            }
        }
        WaitsFor::Condition { condition } => {
            let condition = shared.conditions.get(condition as usize);
            format!("condition {}", name(condition.map(|c| &c.name)))
        }
        WaitsFor::Barrier {
            barrier,
            came,
            parties,
        } => {
            let barrier = name(shared.barriers.get(barrier as usize).map(|b| &b.name));
            format!("barrier {barrier}, where {came} of {parties} are")
        }
    }
}

/// What would let them go on.
fn remedy(waits: &[Waiting]) -> &'static str {
    let units = waits
        .iter()
        .all(|w| matches!(w.waits, WaitsFor::Unit { .. }));
    if units {
        "let somebody post"
    } else {
        "let somebody post, take, unlock, signal or join them"
    }
}

/// A task that forks more threads than there may be ends the run.
fn too_many(policy: &str, report: &RunReport, workload: &Workload) -> Option<String> {
    let Ended::ForkLimit {
        task,
        script,
        limit,
    } = report.ended
    else {
        return None;
    };
    let forked = workload.tasks.get(script as usize);
    Some(format!(
        "{policy}: the run ended at {} ns because task `{}` forks one more `{}` than the {limit} \
         that there can be; let it fork less often",
        report.end_ns,
        thread(report, workload, task),
        forked.map_or("", |script| script.name.as_str())
    ))
}
