//! Why a run could go no further: tasks that let no time pass, that wait for each other, that fork
//! without an end, a sched_ext scheduler that ended, or a kernel that failed
//! (docs/guide/results.md, "What a result holds").
//!
//! What must stay: only words are made here: that a run is stuck is the engine's finding (`Ended`);
//! the sentence is one of the warnings and stands in the place of a verdict. Words may change.
//! Tests by part: `who_waits_for_what_is_named` (`deadlock`, `awaited`, `thread`, `why_stuck`),
//! `a_scheduler_that_ends_is_named_with_its_error` (`ejected`),
//! `a_task_that_never_lets_time_pass_is_named` (`zero_time_loop`). `failed` and `too_many` have no
//! test of their own.
//!
//! Tests: crates/study/src/comparison/tests.rs,
//! crates/cli/tests/all/results.rs::a_task_that_never_lets_time_pass_is_named

use super::PolicyRuns;
use wakeplace_engine::{Ended, RunReport, Waiting, WaitsFor};
use wakeplace_workload::Workload;

/// Why the first of the runs that could go no further could not.
pub(crate) fn why_stuck(runs: &[PolicyRuns], workloads: &[Workload]) -> Option<String> {
    runs.iter().find_map(|run| causes(run, workloads).next())
}

/// One cause of each kind, with a remedy.
pub(super) fn causes(
    run: &PolicyRuns,
    workloads: &[Workload],
) -> impl Iterator<Item = String> + use<> {
    let all = [
        zero_time_loop(run, workloads),
        ejected(run),
        failed(run),
        deadlock(run, workloads),
        too_many(run, workloads),
    ];
    all.into_iter().flatten()
}

/// A task that never lets time pass ends the run.
fn zero_time_loop(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let mut ends = both.filter_map(|(report, workload)| match report.ended {
        Ended::ZeroTimeLoop { task } => Some((thread(report, workload, task), report.end_ns)),
        _ => None,
    });
    ends.next().map(|(task, end_ns)| {
        format!(
            "{}: the run ended at {end_ns} ns because task `{task}` repeats steps that take no \
             time; give it something that does (`run`, `sleep` or a timer)",
            run.policy
        )
    })
}

/// A sched_ext scheduler that ends takes the run with it.
fn ejected(run: &PolicyRuns) -> Option<String> {
    let mut ends = run.reports.iter().filter_map(|report| match &report.ended {
        Ended::Scheduler { exit } => Some((report, exit)),
        _ => None,
    });
    ends.next().map(|(report, exit)| {
        let name = report.sched_ext.as_ref().map_or("", |ext| &ext.name);
        format!(
            "{}: the run ended at {} ns because the scheduler `{name}` ended: {exit}",
            run.policy, report.end_ns
        )
    })
}

/// A tree's kernel that fails takes the run with it.
fn failed(run: &PolicyRuns) -> Option<String> {
    let mut ends = run.reports.iter().filter_map(|report| match &report.ended {
        Ended::Kernel { said } => Some((report.end_ns, said)),
        _ => None,
    });
    ends.next().map(|(end_ns, said)| {
        format!(
            "{}: the run ended at {end_ns} ns because its kernel failed: {said}",
            run.policy
        )
    })
}

/// Tasks named of a run in which all wait.
const WAITS_NAMED: usize = 3;

/// Tasks that wait for each other for ever end the run.
fn deadlock(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let (report, workload, waits) = both
        .filter_map(|(report, workload)| match &report.ended {
            Ended::Deadlock { waits } => Some((report, workload, waits)),
            _ => None,
        })
        .next()?;
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
        "{}: the run ended at {} ns because every task that is left waits for one that never \
         comes: {}{more}; {}",
        run.policy,
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
fn too_many(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let mut ends = both.filter_map(|(report, workload)| match report.ended {
        Ended::ForkLimit {
            task,
            script,
            limit,
        } => Some((report, workload, task, script, limit)),
        _ => None,
    });
    ends.next().map(|(report, workload, task, script, limit)| {
        let forked = workload
            .tasks
            .get(script as usize)
            .map_or("", |t| t.name.as_str());
        format!(
            "{}: the run ended at {} ns because task `{}` forks one more `{forked}` than the \
             {limit} that there can be; let it fork less often",
            run.policy,
            report.end_ns,
            thread(report, workload, task)
        )
    })
}
