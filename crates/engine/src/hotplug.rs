//! CPUs that leave and come back in a run, and which schedules of that are possible
//! (docs/rules/hotplug.md#hotplug).
//!
//! What must stay: steps of one instant keep their order, and what `check` passes leaves each task
//! a CPU at any time. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change
//! may touch"). Tests by part: `impossible_schedules_are_refused` (checks), below (text and order).
//! By function: `impossible_schedules_are_refused` (`check_step`, `check_last`, `check_pinned`,
//! `lists`, the words of `fmt` and `new`), `a_step_is_shown_as_it_is_typed` (`fmt`),
//! `steps_of_one_instant_keep_their_order` (`in_order`). `step` is the tests' own.
//!
//! Callers: check.rs (`check`).
//!
//! Tests: below, crates/engine/tests/behaviour/hotplug.rs

use std::fmt;
use thiserror::Error;
use wakeplace_platform::Platform;
use wakeplace_workload::{TaskScript, Workload};

/// One CPU leaves or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hotplug {
    /// When, ns. At 0: before the first thread.
    pub at_ns: u64,
    /// Which CPU.
    pub cpu: u32,
    /// It comes back; else it leaves.
    pub online: bool,
}

impl fmt::Display for Hotplug {
    /// As it is typed: `2s:1=off`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.online { "on" } else { "off" };
        write!(f, "{}:{}={state}", Time(self.at_ns), self.cpu)
    }
}

/// A time in the biggest unit in which it is whole.
pub(crate) struct Time(pub(crate) u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let whole = units.into_iter().find(|(ns, _)| self.0.is_multiple_of(*ns));
        let (ns, unit) = whole.unwrap_or((1, "ns"));
        write!(f, "{}{unit}", self.0 / ns)
    }
}

/// A schedule of CPUs that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("hotplug `{step}`: {problem}; expected {expected}")]
pub struct HotplugError {
    /// The step that cannot be.
    pub step: Hotplug,
    /// What is wrong.
    pub problem: String,
    /// What was expected.
    pub expected: String,
}

impl HotplugError {
    /// A step that cannot be, and what would be possible instead.
    fn new(step: Hotplug, problem: String, expected: impl Into<String>) -> Self {
        Self {
            step,
            problem,
            expected: expected.into(),
        }
    }
}

/// The schedule in the order of time; of one instant as given.
pub(crate) fn in_order(schedule: &[Hotplug]) -> Vec<Hotplug> {
    let mut steps = schedule.to_vec();
    steps.sort_by_key(|step| step.at_ns);
    steps
}

/// Can these CPUs come and go while this workload runs for `duration_ns`?
pub(crate) fn check(
    schedule: &[Hotplug],
    platform: &Platform,
    workload: &Workload,
    duration_ns: u64,
) -> Result<(), HotplugError> {
    let mut online = vec![true; platform.cpus.len()];
    let steps = in_order(schedule);
    for (at, step) in steps.iter().enumerate() {
        check_step(*step, platform, &online, duration_ns)?;
        online[step.cpu as usize] = step.online;
        // What happens at one instant counts as a whole, but the last CPU never leaves.
        check_last(*step, &online)?;
        let more = steps.get(at + 1).is_some_and(|s| s.at_ns == step.at_ns);
        if !more {
            check_pinned(*step, workload, &online)?;
        }
    }
    Ok(())
}

/// Does this step name a CPU and a time that are there, and does it change something?
fn check_step(
    step: Hotplug,
    platform: &Platform,
    online: &[bool],
    duration_ns: u64,
) -> Result<(), HotplugError> {
    let Some(now) = online.get(step.cpu as usize) else {
        let problem = format!("`{}` has no CPU {}", platform.name, step.cpu);
        let expected = format!("a CPU from 0 to {}", online.len() - 1);
        return Err(HotplugError::new(step, problem, expected));
    };
    if step.at_ns >= duration_ns {
        let problem = format!("the run is over at {}", Time(duration_ns));
        let expected = "a time before that, or a longer `--duration`";
        return Err(HotplugError::new(step, problem, expected));
    }
    if *now == step.online {
        let (is, other) = if *now { ("on", "off") } else { ("off", "on") };
        let problem = format!("CPU {} is {is} already", step.cpu);
        let expected = format!("`{other}`, or another CPU");
        return Err(HotplugError::new(step, problem, expected));
    }
    Ok(())
}

/// An error if some step leaves no CPU online.
fn check_last(step: Hotplug, online: &[bool]) -> Result<(), HotplugError> {
    if online.contains(&true) {
        return Ok(());
    }
    let problem = format!("CPU {} is the last one that is on", step.cpu);
    Err(HotplugError::new(
        step,
        problem,
        "at least one CPU that stays",
    ))
}

/// Has every task, in each of its phases, a CPU that is online?
fn check_pinned(step: Hotplug, workload: &Workload, online: &[bool]) -> Result<(), HotplugError> {
    let stranded = |list: &Vec<u32>| {
        let on = |cpu: &u32| online.get(*cpu as usize).copied().unwrap_or(false);
        !list.iter().any(on)
    };
    for task in &workload.tasks {
        for (phase, list) in lists(task) {
            if !stranded(list) {
                continue;
            }
            let cpus: Vec<String> = list.iter().map(u32::to_string).collect();
            let of_phase = phase.map_or_else(String::new, |p| format!(", phase `{p}`,"));
            let problem = format!(
                "task `{}`{of_phase} is pinned to CPU {}, and none of that is on then",
                task.name,
                cpus.join(",")
            );
            let expected = "a CPU that no task depends on, or tasks that may use others";
            return Err(HotplugError::new(step, problem, expected));
        }
    }
    Ok(())
}

/// The lists of CPUs that a task is pinned to, each with the phase that sets it.
fn lists(task: &TaskScript) -> impl Iterator<Item = (Option<&str>, &Vec<u32>)> {
    let own = task.cpus.iter().map(|list| (None, list));
    let phases = task.phases.iter();
    let of_phases =
        phases.filter_map(|p| p.cpus.as_ref().map(|list| (Some(p.name.as_str()), list)));
    own.chain(of_phases)
}

#[cfg(test)]
mod tests {
    use super::{Hotplug, in_order};

    fn step(at_ns: u64, cpu: u32, online: bool) -> Hotplug {
        Hotplug { at_ns, cpu, online }
    }

    #[test]
    fn a_step_is_shown_as_it_is_typed() {
        for (at, text) in [
            (0, "0s:3=off"),
            (2_000_000_000, "2s:3=off"),
            (1_500_000_000, "1500ms:3=off"),
            (1_500, "1500ns:3=off"),
            (7_000, "7us:3=off"),
        ] {
            assert_eq!(step(at, 3, false).to_string(), text);
        }
        assert_eq!(step(0, 0, true).to_string(), "0s:0=on");
    }

    #[test]
    fn steps_of_one_instant_keep_their_order() {
        let steps = [step(5, 1, true), step(3, 2, false), step(5, 0, false)];
        assert_eq!(in_order(&steps), [steps[1], steps[0], steps[2]]);
    }
}
