//! Deadlines that a recording says itself, by the frames that its applications mark
//! (docs/guide/traces-in.md#frames): a chain for each thread that begins frames, and when each of
//! its frames was due to begin.
//!
//! What must stay: what is not known is not guessed: a thread whose frames have no period has no
//! deadline, and a warning says so. A time that the recording states wins over a period, and the
//! counter of vsync over the frames' own distances. Chains stand in the order of the tasks, as
//! metrics name them. Times are ns. Free: what leaves the scripts of recordings as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `frames_by_hand` (`of`, `begins`),
//! `the_expected_timeline_is_the_deadline`, `the_deadline_is_the_period_that_is_known` (`given`,
//! `median`), `the_next_frame_without_a_sleep_is_that_of_the_next_vsync` (`begins`),
//! `names_are_those_of_metrics` (`name`, `most`),
//! `the_deadline_is_the_period_that_is_known` and `slices_that_draw_no_frame_are_told` also
//! `warnings`, `what_became_of_recorded_frames`
//! (`recorded`).
//!
//! Callers: replay/script.rs (`of`, `step`).
//!
//! Tests: crates/trace/tests/all/replay/frames.rs

use super::tracker::{Frames, Seen, Task};
use crate::read::Vsync;
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_workload::{Chain, Event, MAX_CHAINS, RecordedFrames};

/// Frames that follow each other within so much are of one movement: the slowest displays have 24
/// frames a second.
const FOLLOWS_NS: u64 = 50_000_000;

/// Chains, and what stands in the scripts of their tasks.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    pub(super) chains: Vec<Chain>,
    /// What the user may want to know of them.
    pub(super) warnings: Vec<String>,
    /// By task: its chain, and how long after its thread's wake-up each frame begins.
    of_task: BTreeMap<u32, (u32, Vec<i32>)>,
}

/// By what a frame's deadline is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The recording states it.
    Expected,
    /// By a counter of vsync.
    Counter(Vsync),
    /// By the begins of the frames.
    Begins,
}

impl Known {
    /// In words.
    fn said(self) -> String {
        match self {
            Self::Expected => "median of its expected timeline".to_owned(),
            Self::Counter(source) => format!("median distance of {}", source.name()),
            Self::Begins => "median distance of its frames".to_owned(),
        }
    }
}

impl Deadlines {
    /// Of all tasks, which are called so; `expected` are times that the recording states, by
    /// process; whether it has wake-ups, and when it ends.
    pub(super) fn of(
        tasks: &[Task],
        names: &[String],
        frames: &Frames,
        expected: &BTreeMap<i32, Vec<u64>>,
        (has_wakeups, last_ns): (bool, u64),
    ) -> Self {
        let counter = Vsync::ALL.into_iter().find_map(|source| {
            let median = median(following(frames.distances(source).iter().copied()))?;
            Some((median, Known::Counter(source)))
        });
        let mut this = Self::default();
        let mut unknown = 0;
        let mut taken = BTreeSet::new();
        let (most, left_out) = most(tasks);
        for at in most {
            let task = &tasks[at as usize];
            // Without wake-ups only a vsync says when a frame was due to begin.
            let dated = has_wakeups || task.frames.iter().any(|one| one.vsync_ns.is_some());
            let given = given(task, expected, counter).filter(|_| dated);
            let Some((deadline_ns, known)) = given else {
                unknown += 1;
                continue;
            };
            let period_ns = counter.map_or(deadline_ns, |(period_ns, _)| period_ns);
            let name = name(&names[at as usize], &mut taken);
            let begins = begins(&task.frames, period_ns);
            this.chains.push(Chain {
                name,
                deadline_ns,
                known: Some(known.said()),
                recorded: Some(recorded(&task.frames, &begins, last_ns)),
            });
            this.of_task
                .insert(at, (this.chains.len() as u32 - 1, begins));
        }
        this.warnings = warnings(unknown, left_out, frames.strays());
        this
    }

    /// The step for a task's begin of a frame, if its frames have a deadline.
    pub(super) fn begin(&self, task: u32, number: u32) -> Option<Event> {
        let (chain, begins) = self.of_task.get(&task)?;
        Some(Event::FrameBegin {
            chain: *chain,
            woken: Some(*begins.get(number as usize)?),
        })
    }

    /// The step for the end of a task's frame.
    pub(super) fn end(&self, task: u32, number: u32) -> Option<Event> {
        let (chain, _) = self.of_task.get(&task)?;
        Some(Event::FrameEnd {
            chain: *chain,
            frame: Some(number),
        })
    }
}

/// The tasks with frames, in their order; those with the most if there are too many, and how many
/// are left out.
fn most(tasks: &[Task]) -> (Vec<u32>, usize) {
    let has = |at: &u32| !tasks[*at as usize].frames.is_empty();
    let mut with: Vec<u32> = (0..tasks.len() as u32).filter(has).collect();
    let left_out = with.len().saturating_sub(MAX_CHAINS);
    with.sort_by_key(|at| std::cmp::Reverse(tasks[*at as usize].frames.len()));
    with.truncate(MAX_CHAINS);
    with.sort_unstable();
    (with, left_out)
}

/// How long after its begin a frame of the task is due, and by what that is known.
fn given(
    task: &Task,
    expected: &BTreeMap<i32, Vec<u64>>,
    counter: Option<(u64, Known)>,
) -> Option<(u64, Known)> {
    let stated = expected.get(&task.process).map(|all| all.iter().copied());
    let stated = stated.and_then(median).map(|ns| (ns, Known::Expected));
    let own = || {
        let distance = |pair: &[Seen]| pair[1].mark_ns - pair[0].mark_ns;
        let distances = task.frames.windows(2).map(distance);
        median(following(distances)).map(|ns| (ns, Known::Begins))
    };
    stated.or(counter).or_else(own)
}

/// Those that are of one movement; between two movements nothing is due.
fn following(distances: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    distances.filter(|ns| (1..=FOLLOWS_NS).contains(ns))
}

/// The lower one of the two in the middle.
fn median(all: impl Iterator<Item = u64>) -> Option<u64> {
    let mut all: Vec<u64> = all.filter(|ns| *ns > 0).collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied()
}

/// How long after the last wake-up of its thread each frame was due to begin, ns; below 0: before.
fn begins(frames: &[Seen], period_ns: u64) -> Vec<i32> {
    let mut before: Option<(u64, u64)> = None;
    let mut begins = Vec::with_capacity(frames.len());
    for it in frames {
        // A vsync is of one frame, and wakes its thread soon.
        let is_own = |vsync_ns: &u64| {
            let of_this = before.is_none_or(|(mark_ns, _)| *vsync_ns > mark_ns);
            of_this && (!it.slept || vsync_ns.saturating_add(period_ns) >= it.woken_ns)
        };
        let begin_ns = match (it.vsync_ns.filter(is_own), before) {
            (Some(vsync_ns), _) => vsync_ns,
            // The thread was at work when its vsync came: the last one before it was free.
            (None, Some((_, begin_ns))) if !it.slept => {
                let periods = (it.mark_ns - begin_ns.min(it.mark_ns)) / period_ns;
                begin_ns.saturating_add(periods.max(1).saturating_mul(period_ns))
            }
            (None, _) => it.woken_ns,
        };
        before = Some((it.mark_ns, begin_ns));
        let after_ns = begin_ns.cast_signed() - it.woken_ns.cast_signed();
        begins.push(after_ns.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    }
    begins
}

/// What became of frames in the recording.
fn recorded(frames: &[Seen], begins: &[i32], last_ns: u64) -> RecordedFrames {
    let all = frames.iter().zip(begins).map(|(it, after_ns)| {
        let begin_ns = it.woken_ns.saturating_add_signed((*after_ns).into());
        (begin_ns, it.done_ns)
    });
    RecordedFrames {
        begin_done_ns: all.collect(),
        end_ns: last_ns,
    }
}

/// A name of a chain, which is part of metrics' names: one that no other chain has.
fn name(task: &str, taken: &mut BTreeSet<String>) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let of = |c: char| if allowed(c) { c } else { '_' };
    let name: String = task.chars().map(of).collect();
    let name = match name.trim_matches('_') {
        "" => "frames",
        name => name,
    };
    let mut unique = name.to_owned();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}

/// What is said of those that have none, and of slices that draw none (`strays`).
fn warnings(unknown: usize, left_out: usize, strays: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    match strays {
        0 => {}
        1 => {
            warnings.push("1 slice `DrawFrames` lies in no `doFrame`: it ends no frame".to_owned())
        }
        _ => warnings.push(format!(
            "{strays} slices `DrawFrames` lie in no `doFrame`: they end no frame"
        )),
    }
    let marking = |threads: usize, more: &str| match threads {
        1 => format!("1 {more}thread marks frames"),
        _ => format!("{threads} {more}threads mark frames"),
    };
    if unknown > 0 {
        warnings.push(format!(
            "{} of which nothing says how often they are due: they have no deadline",
            marking(unknown, "")
        ));
    }
    if left_out > 0 {
        warnings.push(format!(
            "{}; those with the most, {MAX_CHAINS}, have deadlines",
            marking(left_out, "more ")
        ));
    }
    warnings
}
