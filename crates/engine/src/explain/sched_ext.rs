//! One wake-up of a run under a sched_ext scheduler: which callbacks it led to, what these did, and
//! who took the task in the end (docs/rules/sched-ext.md#tasks).
//!
//! What must stay: steps are told in the order in which callbacks made them. A callback is kept
//! only if some step of it concerns the task. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `a_direct_dispatch` (steps),
//! `a_wait_in_a_queue` (until it runs), `the_number_is_one_of_its_task` (which wake-up). By
//! function: `a_direct_dispatch` (`explain_sched_ext`, `sched_ext`, `close`, `placement`),
//! `a_wait_in_a_queue` (`run_start`, `is_done`), `the_number_is_one_of_its_task` (`happened`:
//! threads are counted). `wants_sched_ext`: all of these.
//!
//! Callers: crates/study/src/explain/scheduler.rs (`explain_sched_ext`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/explained.rs

use super::{Asked, Finder, Missing};
use crate::observe::{Happening, Observer, Placement, SchedExtStep};
use crate::options::Options;
use crate::outcome::Ended;
use std::collections::BTreeMap;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_sched_ext::{Callback, SchedExtOps, TaskId};
use wakeplace_workload::Workload;

/// A callback that had to do with the wake-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackSteps {
    /// When it ran, ns.
    pub time_ns: u64,
    /// Which.
    pub callback: Callback,
    /// On which CPU.
    pub cpu: u32,
    /// What it did; tasks by the numbers that observers have for them.
    pub steps: Vec<SchedExtStep>,
}

/// A wake-up, from the choice of a CPU until the task runs.
#[derive(Clone, Debug)]
pub struct SchedExtExplanation {
    /// When the CPU was chosen, ns.
    pub time_ns: u64,
    /// The choice.
    pub placement: Placement,
    /// The n-th wake-up of its task, from 1; 0: its fork.
    pub number: u64,
    /// Name of the task.
    pub task: String,
    /// The callbacks in their order: those about the task, and those that did something with it.
    pub callbacks: Vec<CallbackSteps>,
    /// Names of the tasks that are in `callbacks`, by their numbers.
    pub names: BTreeMap<u32, String>,
    /// When and where it began to run; None: the run ended before.
    pub start: Option<(u64, u32)>,
}

/// Follows the task of the wake-up that is looked for.
struct Follower<'a> {
    finder: Finder<'a>,
    found: Option<SchedExtExplanation>,
    /// The callback under way, and whether it has to do with the task.
    open: Option<(CallbackSteps, bool)>,
}

impl Follower<'_> {
    /// The callback that was open is over: kept, with the names of its tasks, if it concerned the
    /// task asked for.
    fn close(&mut self) {
        let open = self.open.take().filter(|(_, concerns)| *concerns);
        if let (Some(found), Some((callback, _))) = (&mut self.found, open) {
            for task in callback.steps.iter().filter_map(SchedExtStep::task) {
                found.names.insert(task.0, self.finder.name(task.0));
            }
            found.callbacks.push(callback);
        }
    }
}

impl Observer for Follower<'_> {
    /// Finds the wake-up, then waits for the first stretch of its task.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.finder.forked(script),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            Happening::RunStart { cpu, task, .. } => self.run_start(time_ns, cpu, task),
            _ => {}
        }
    }

    /// Always: the callback may come before the placement is told.
    fn wants_sched_ext(&self) -> bool {
        true
    }

    /// A step; `Callback` begins a new one and closes the last. Before the wake-up is found nothing
    /// is kept.
    fn sched_ext(&mut self, time_ns: u64, step: &SchedExtStep) {
        let Some(found) = &self.found else { return };
        let concerns = step.task() == Some(TaskId(found.placement.task));
        if let SchedExtStep::Callback { callback, cpu, .. } = *step {
            self.close();
            let callback = CallbackSteps {
                time_ns,
                callback,
                cpu,
                steps: Vec::new(),
            };
            self.open = Some((callback, concerns));
        } else if let Some((callback, so_far)) = &mut self.open {
            callback.steps.push(*step);
            *so_far |= concerns;
        }
    }

    /// Asked after each event, when its steps have been told.
    fn is_done(&self) -> bool {
        self.found
            .as_ref()
            .is_some_and(|found| found.start.is_some())
    }
}

impl Follower<'_> {
    /// The wake-up asked for is found when the finder says so; later ones change nothing.
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        self.finder.placement(time_ns, placement);
        if self.found.is_none() && self.finder.is_done() {
            self.found = Some(SchedExtExplanation {
                time_ns,
                placement: *placement,
                number: self.finder.number(),
                task: self.finder.name(placement.task),
                callbacks: Vec::new(),
                names: BTreeMap::new(),
                start: None,
            });
        }
    }

    /// The task's first stretch after its wake-up: when (ns) and where.
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32) {
        if let Some(found) = &mut self.found
            && found.placement.task == task
        {
            found.start.get_or_insert((time_ns, cpu));
        }
    }
}

/// Explains a wake-up of a run under a scheduler; the inputs have passed `check`.
///
/// # Errors
/// The run has no such wake-up.
///
/// # Panics
/// As `run_sched_ext`.
pub fn explain_sched_ext(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    asked: &Asked,
    ops: &mut dyn SchedExtOps,
) -> Result<SchedExtExplanation, Missing> {
    let mut follower = Follower {
        finder: Finder::new(workload, asked),
        found: None,
        open: None,
    };
    let report = crate::run_sched_ext(platform, policy, workload, options, ops, &mut follower);
    follower.close();
    let mut missing = follower.finder.missing(report.end_ns);
    if let Ended::Scheduler { exit } = report.ended {
        missing.ended = Some(exit);
    }
    follower.found.ok_or(missing)
}
