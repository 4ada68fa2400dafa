//! Which tasks run at all: those started at first and, from them on, those that are forked
//! (docs/decisions/023).
//!
//! Called by `rtapp/template.rs`. Which tasks run decides how many scripts there are and their
//! order.
//!
//! What must stay: a template that nobody starts has no script, and a fork behind a phase without
//! an end is not reached. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `forked_tasks_are_scripts_behind_the_others` (`roles`, `forks`, `unknown`),
//! `no_fork_behind_an_endless_phase_is_reached` (`forks`),
//! `what_a_forked_thread_would_inherit_is_said` (`warn_of_inheritance`),
//! hostile.rs::`small_files_cannot_ask_for_much` (many forks).
//!
//! Tests: crates/workload/tests/all/rtapp_events.rs, crates/workload/tests/all/hostile.rs
use super::notes::Notes;
use super::structure::{Action, Phase, Step, Structure, Task};
use crate::error::Fault;
use std::collections::BTreeMap;
use wakeplace_text::nearest;

/// Threads that one fork resource may make before rt-app gives up (`FORKS_LIMIT`).
pub(super) const LIMIT: u64 = 1024;

/// By task in the file's order: whether it runs, and whether it is forked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) runs: bool,
    pub(super) forked: bool,
}

/// Finds the tasks that run. A fork of an unknown task ends rt-app as soon as it is reached, so it
/// is refused; one in a task that nobody starts is never reached.
pub(super) fn roles(structure: &Structure, notes: &mut Notes) -> Result<Vec<Role>, Fault> {
    let tasks = &structure.tasks;
    let by_name: BTreeMap<&str, usize> = (tasks.iter().enumerate())
        .map(|(place, task)| (&*task.name, place))
        .collect();
    let mut roles: Vec<Role> = (tasks.iter())
        .map(|task| Role {
            runs: task.instance > 0,
            forked: false,
        })
        .collect();
    let runs = |place: &usize| tasks[*place].instance > 0;
    let mut unseen: Vec<usize> = (0..tasks.len()).rev().filter(runs).collect();
    while let Some(place) = unseen.pop() {
        for (phase, step, name) in forks(&tasks[place]) {
            let Some(&target) = by_name.get(name) else {
                return Err(unknown(step, name, &by_name));
            };
            warn_of_inheritance(&tasks[place], phase, step, &tasks[target], notes);
            roles[target].forked = true;
            if !std::mem::replace(&mut roles[target].runs, true) {
                unseen.push(target);
            }
        }
    }
    for (task, role) in tasks.iter().zip(&roles) {
        if !role.runs && task.instance == 0 {
            notes.warn(task.at, format!("nobody starts task `{}`", task.name));
        }
    }
    Ok(roles)
}

/// The forks that a task can reach: none in zero passes, and none behind a phase without an end.
fn forks(task: &Task) -> impl Iterator<Item = (&Phase, &Step, &str)> {
    let endless = task.phases.iter().position(|phase| phase.loops <= 0);
    let reached = match task.loops {
        0 => 0,
        _ => endless.map_or(task.phases.len(), |last| last + 1),
    };
    task.phases[..reached].iter().flat_map(|phase| {
        phase
            .events
            .iter()
            .filter_map(move |step| match &step.action {
                Action::Fork(name) => Some((phase, step, name.as_str())),
                _ => None,
            })
    })
}

/// A fork of a task that the file does not have, with the nearest name.
fn unknown(step: &Step, name: &str, known: &BTreeMap<&str, usize>) -> Fault {
    let message = format!(
        "`{}` of the unknown task `{name}`: rt-app ends here",
        step.key
    );
    let mut fault = Fault::unusable(step.at, message).expected("the name of a task in this file");
    fault.nearest = nearest(name, known.keys().copied()).map(str::to_owned);
    fault
}

/// Linux hands CPUs and group on to a new thread; here it has what the file says of its task.
fn warn_of_inheritance(forker: &Task, phase: &Phase, step: &Step, task: &Task, notes: &mut Notes) {
    let limited = phase.affinity.is_some() || forker.affinity.is_some();
    let free = task.affinity.is_none() && task.phases.iter().any(|own| own.affinity.is_none());
    if limited && free {
        let message = format!(
            "`{}` would get the CPUs of `{}` from Linux; here it has all where the file names none",
            task.name, forker.name
        );
        notes.warn(step.at, message);
    }
    let grouped = |task: &Task| {
        let phases = task
            .phases
            .iter()
            .filter_map(|phase| phase.scheduling.as_ref());
        let mut all = phases.chain([&task.scheduling]);
        all.any(|set| !set.taskgroup.is_empty())
    };
    if grouped(forker) && !grouped(task) {
        let message = format!(
            "`{}` would be in the group of `{}` in Linux; here it is in none",
            task.name, forker.name
        );
        notes.warn(step.at, message);
    }
}
