//! What is said of chains with deadlines: what their frames came to in the recording, and deadlines
//! that no frame has met (docs/guide/workloads.md, "Deadlines"; docs/guide/traces-in.md#frames).
//! A load with frames is read by them.
//!
//! What must stay: figures are the run's metrics and the recording's own; nothing is judged here.
//! Order of `FRAME_METRICS`: the first is what results are read by. Words may change. Tests by
//! part: comparison/tests.rs::`a_deadline_that_no_frame_meets_is_said` (`unmet`),
//! comparison/tests.rs::`missed_frames_are_said_of_all_that_miss_as_many` (`missed`),
//! experiment/tests.rs::`loads_with_deadlines_are_read_by_their_frames` (`FRAME_METRICS`,
//! `has_frames`), crates/cli/tests/all/late_frames.rs::`dropped_frames_say_who_was_busy`
//! (`has_dropped`), crates/cli/tests/all/sweeps.rs::`frames_come_first_and_choose_nothing`
//! (`of_frames`), crates/cli/tests/all/recordings.rs::`a_recording_of_android_says_its_deadlines`
//! (`own_deadlines`, `recorded`), recordings.rs::`given_deadlines_judge_marked_frames`
//! (`given_deadlines`), all also `few`.
//!
//! Callers: experiment.rs (`FRAME_METRICS`, `has_frames`, `has_dropped`, `own_deadlines`,
//! `given_deadlines`), evaluate/cell.rs (`FRAME_METRICS`), sweep/mod.rs (`FRAME_METRICS`),
//! crates/cli/src/commands/sweep.rs (`of_frames`), crates/store/src/read.rs (`DROPPED_FRAMES`).
//!
//! Tests: crates/study/src/comparison/tests.rs, crates/study/src/experiment/tests.rs,
//! crates/cli/tests/all/recordings.rs, crates/cli/tests/all/late_frames.rs,
//! crates/cli/tests/all/sweeps.rs::frames_come_first_and_choose_nothing

use super::{PolicyRuns, total};
use wakeplace_text::time;
use wakeplace_workload::{Chain, FrameFigures, Workload};

/// Missed frames that were never done; told only where there are some.
pub const DROPPED_FRAMES: &str = "dropped_frames_total";
/// What a load with deadlines is read by, before all else that it measures.
pub(crate) const FRAME_METRICS: [&str; 5] = [
    "missed_frames_total",
    DROPPED_FRAMES,
    "frames_total",
    "missed_frames_pct",
    "frame_lateness_us_p99",
];
/// Missed frames of all frames from which on a warning says so, percent.
const MISSED_PCT: u64 = 1;
/// Chains that a note names.
const MOST_CHAINS_SAID: usize = 8;

/// A load with deadlines is read by this metric.
#[must_use]
pub fn of_frames(metric: &str) -> bool {
    FRAME_METRICS.contains(&metric)
}

/// What a recording says itself of when its frames are due, and what became of them there.
pub(crate) fn own_deadlines(workload: &Workload) -> Option<String> {
    let said = |chain: &Chain| {
        let us = chain.deadline_ns as f64 / 1e3;
        let known = chain.known.as_ref()?;
        let found = chain.recorded_figures();
        let found = found.as_ref().map_or_else(String::new, recorded);
        Some(format!("{} {us:.1} us ({known}){found}", chain.name))
    };
    let all: Vec<String> = workload.chains.iter().filter_map(said).collect();
    few(&all).map(|few| {
        format!("deadlines of frames by the recording: {few}; `--deadlines FILE` says others")
    })
}

/// What became of recorded frames there, by deadlines that were given beside the recording.
pub(crate) fn given_deadlines(workload: &Workload) -> Option<String> {
    let said = |chain: &Chain| {
        let us = chain.deadline_ns as f64 / 1e3;
        let found = chain.recorded_figures().filter(|_| chain.known.is_none())?;
        Some(format!("{} {us:.1} us{}", chain.name, recorded(&found)))
    };
    let all: Vec<String> = workload.chains.iter().filter_map(said).collect();
    few(&all).map(|few| format!("frames of the recording, by the given deadlines: {few}"))
}

/// The first of them in one text, and how many more there are; None: there are none.
fn few(all: &[String]) -> Option<String> {
    let more = all.len().saturating_sub(MOST_CHAINS_SAID);
    let few = all[..all.len() - more].join("; ");
    let more = match more {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!all.is_empty()).then(|| few + &more)
}

/// What a recording's own frames came to, beside which the run's metrics stand.
fn recorded(figures: &FrameFigures) -> String {
    let lateness = figures.lateness_ns.map_or_else(String::new, |late_ns| {
        let us = late_ns.map(|ns| format!("{:.1}", ns as f64 / 1e3));
        format!(", lateness p50, p95, p99 {} us", us.join(", "))
    });
    let dropped = of_them_dropped(figures.dropped);
    format!(
        " with {} frames recorded, {} missed{dropped}{lateness}",
        figures.frames, figures.missed
    )
}

/// Behind a number of missed frames: how many of them were never done, if any.
fn of_them_dropped(dropped: u64) -> String {
    match dropped {
        0 => String::new(),
        dropped => format!(", {dropped} of them dropped"),
    }
}

/// A sentence for each chain of which no frame was done by its deadline, in any run.
pub(super) fn unmet(run: &PolicyRuns, workloads: &[Workload]) -> Vec<String> {
    let said = |chain: &Chain| {
        let frames = total(run, &format!("frames_of_{}_total", chain.name));
        let missed = total(run, &format!("missed_frames_of_{}_total", chain.name));
        (frames > 0.0 && missed >= frames).then(|| {
            format!(
                "{}: no frame of the chain `{}` was done by its deadline of {}, of {frames}; \
                 lengthen the deadline or lighten the workload",
                run.policy,
                chain.name,
                time(chain.deadline_ns)
            )
        })
    };
    let chains = workloads.first().map_or(&[][..], |first| &first.chains);
    chains.iter().filter_map(said).collect()
}

/// Some run had frames whose deadline came.
pub(crate) fn has_frames(runs: &[PolicyRuns]) -> bool {
    runs.iter().any(|run| total(run, "frames_total") > 0.0)
}

/// Some run dropped frames.
pub(crate) fn has_dropped(runs: &[PolicyRuns]) -> bool {
    runs.iter().any(|run| total(run, DROPPED_FRAMES) > 0.0)
}

/// A sentence for each number of missed frames that is many, with the policies that missed so
/// many. Where all are missed, `unmet` says so, chain by chain.
pub(super) fn missed(runs: &[PolicyRuns]) -> Vec<String> {
    let mut alike: Vec<([u64; 3], Vec<&str>)> = Vec::new();
    for run in runs {
        // Counts are whole.
        let count = |metric: &str| total(run, metric) as u64;
        let counts = ["missed_frames_total", "frames_total", DROPPED_FRAMES].map(count);
        let [missed, frames, _] = counts;
        if missed * 100 <= frames * MISSED_PCT || missed >= frames {
            continue;
        }
        match alike.iter_mut().find(|(known, _)| *known == counts) {
            Some((_, policies)) => policies.push(run.policy.as_str()),
            None => alike.push((counts, vec![run.policy.as_str()])),
        }
    }
    let said = |([missed, frames, dropped], policies): ([u64; 3], Vec<&str>)| {
        format!(
            "{}: {missed} of {frames} frames were missed ({:.1} %{}), so look at them and their \
             lateness before the energy, or lighten the workload",
            policies.join(" and "),
            missed as f64 * 100.0 / frames as f64,
            of_them_dropped(dropped)
        )
    };
    alike.into_iter().map(said).collect()
}
