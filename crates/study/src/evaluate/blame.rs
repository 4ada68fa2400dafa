//! The wake-up with which a failed run went wrong: the run once more, while somebody looks
//! (docs/guide/evaluate.md, "When a candidate fails").
//!
//! What must stay: the run is the one that failed, since runs are deterministic; looking changes
//! nothing. A wait begins where the task could run and ends where it does. Tests by part:
//! evaluate/tests.rs::`waits_by_hand` (`Watch`),
//! crates/cli/tests/all/evaluate.rs::`the_last_wakeup_before_a_crash_is_named` (`wakeup`).
//!
//! Tests: crates/study/src/evaluate/tests.rs,
//! crates/cli/tests/all/evaluate.rs::the_last_wakeup_before_a_crash_is_named

use crate::{Experiment, StudyError};
use wakeplace_engine::{Happening, Observer};
use wakeplace_outcome::BadWakeup;

/// What of a run is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The last wake-up before the end.
    Last,
    /// The first wait of this length, ns, or longer.
    Wait(u64),
    /// The longest wait.
    Longest,
}

/// A wait, or a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    task: u32,
    cpu: Option<u32>,
    time_ns: u64,
    waits_ns: Option<u64>,
}

/// Who waits since when, and what was the worst.
#[derive(Debug)]
pub(super) struct Watch {
    blame: Blame,
    /// By task: where and since when it waits.
    waiting: Vec<Option<(u32, u64)>>,
    found: Option<Seen>,
}

impl Watch {
    pub(super) fn new(blame: Blame) -> Self {
        Self {
            blame,
            waiting: Vec::new(),
            found: None,
        }
    }

    /// What was found.
    pub(super) fn found(&self) -> Option<Seen> {
        self.found
    }

    /// From now on the task could run, on this CPU.
    fn can_run(&mut self, task: u32, cpu: u32, time_ns: u64) {
        let at = task as usize;
        if self.waiting.len() <= at {
            self.waiting.resize(at + 1, None);
        }
        self.waiting[at] = Some((cpu, time_ns));
    }

    /// It runs, or the run is over.
    fn waits_no_more(&mut self, task: u32, now_ns: u64) {
        let since = self.waiting.get_mut(task as usize).and_then(Option::take);
        let Some((cpu, time_ns)) = since else { return };
        let waits_ns = now_ns - time_ns;
        let is_worse = match (self.blame, self.found) {
            (Blame::Last, _) => false,
            (Blame::Wait(least_ns), found) => {
                waits_ns >= least_ns && found.is_none_or(|found| time_ns < found.time_ns)
            }
            (Blame::Longest, found) => found.is_none_or(|found| Some(waits_ns) > found.waits_ns),
        };
        if is_worse {
            self.found = Some(Seen {
                task,
                cpu: Some(cpu),
                time_ns,
                waits_ns: Some(waits_ns),
            });
        }
    }

    /// A decision about a task begins, or falls.
    fn woken(&mut self, task: u32, cpu: Option<u32>, time_ns: u64) {
        if self.blame == Blame::Last {
            self.found = Some(Seen {
                task,
                cpu,
                time_ns,
                waits_ns: None,
            });
        }
    }
}

impl Observer for Watch {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Woken(waking) => self.woken(waking.task, None, time_ns),
            Happening::Placement(placement) => {
                self.woken(placement.task, Some(placement.cpu), time_ns);
                self.can_run(placement.task, placement.cpu, time_ns);
            }
            Happening::Wakeup { task, cpu, .. } => self.can_run(task, cpu, time_ns),
            Happening::RunStop {
                cpu, task, stop, ..
            } if !stop.sleeps() => self.can_run(task, cpu, time_ns),
            Happening::RunStart { task, .. } => self.waits_no_more(task, time_ns),
            Happening::Finish => {
                for task in 0..self.waiting.len() as u32 {
                    self.waits_no_more(task, time_ns);
                }
            }
            _ => {}
        }
    }
}

/// The wake-up to blame in the candidate's run with a seed; None: no task ever woke.
pub(super) fn wakeup(
    experiment: &Experiment,
    seed: u64,
    blame: Blame,
) -> Result<Option<BadWakeup>, StudyError> {
    // The base stands first.
    let alone = experiment.alone(1, seed);
    let mut watch = Watch::new(blame);
    let run = alone.run_watched(&mut watch, &|_| {})?;
    let report = run.runs.first().and_then(|runs| runs.reports.first());
    let name = |task: u32| {
        let thread = report.and_then(|report| report.threads.get(task as usize));
        thread.map_or_else(|| format!("task {task}"), |thread| thread.name.clone())
    };
    Ok(watch.found().map(|seen| BadWakeup {
        task: name(seen.task),
        cpu: seen.cpu,
        time_ns: seen.time_ns,
        waits_ns: seen.waits_ns,
    }))
}
