//! Control groups of tasks (`taskgroup`): one level below the root, one group for a task's life.
use super::fields::Notes;
use super::structure::Task;
use crate::error::Fault;
use crate::script::TaskGroup;
use std::collections::BTreeSet;

/// The group in force in each phase: once set it stays until another phase sets one.
fn in_phases(task: &Task) -> impl Iterator<Item = &str> {
    let mut group = task.scheduling.taskgroup.as_str();
    task.phases.iter().map(move |phase| {
        let set = phase.scheduling.as_ref().map(|s| s.taskgroup.as_str());
        group = set.filter(|set| !set.is_empty()).unwrap_or(group);
        group
    })
}

/// A path without the slashes around it; None: the root.
fn name(path: &str) -> Option<&str> {
    Some(path.trim_matches('/')).filter(|name| !name.is_empty())
}

/// The group that a task is in from its first phase on.
pub(super) fn of_task(task: &Task) -> Option<&str> {
    in_phases(task).next().and_then(name)
}

/// Moves between groups and groups within groups are not modelled.
pub(super) fn note_unmodelled(task: &Task, notes: &mut Notes) {
    let first = of_task(task);
    if first.is_some_and(|name| name.contains('/')) {
        let what = format!(
            "`taskgroup` of task `{}`: a group within a group",
            task.name
        );
        notes.unmodelled(task.at, what);
    }
    for (phase, path) in task.phases.iter().zip(in_phases(task)) {
        if name(path) != first {
            let what = format!(
                "phase `{}`: another `taskgroup` in the course of a task",
                phase.name
            );
            notes.unmodelled(phase.at, what);
        }
    }
}

/// A run can have so many groups.
pub(super) fn check_number(tasks: &[Task]) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for task in tasks {
        names.extend(of_task(task));
        if names.len() > TaskGroup::MAX {
            let message = format!("more than {} values of `taskgroup`", TaskGroup::MAX);
            return Err(Fault::unusable(task.at, message));
        }
    }
    Ok(())
}
