//! What is said of chains with deadlines: what their frames came to in the recording, and deadlines
//! that no frame has met (docs/guide/workloads.md, "Deadlines"; docs/guide/traces-in.md#frames).
//!
//! What must stay: figures are the run's metrics and the recording's own; nothing is judged here.
//! Words may change. Tests by part: comparison/tests.rs::`a_deadline_that_no_frame_meets_is_said`
//! (`unmet`), crates/cli/tests/all/recordings.rs::`a_recording_of_android_says_its_deadlines`
//! (`own_deadlines`, `recorded`).
//!
//! Tests: crates/study/src/comparison/tests.rs, crates/cli/tests/all/recordings.rs

use super::PolicyRuns;
use wakeplace_text::time;
use wakeplace_workload::{Chain, FrameFigures, Workload};

/// Chains that a note names.
const MOST_CHAINS_SAID: usize = 8;

/// What a recording says itself of when its frames are due, and what became of them there.
pub(crate) fn own_deadlines(workload: &Workload) -> Option<String> {
    let said = |chain: &Chain| {
        let us = chain.deadline_ns as f64 / 1e3;
        let known = chain.known.as_ref()?;
        let recorded = chain.recorded.as_ref().map_or_else(String::new, recorded);
        Some(format!("{} {us:.1} us ({known}){recorded}", chain.name))
    };
    let all: Vec<String> = workload.chains.iter().filter_map(said).collect();
    let more = all.len().saturating_sub(MOST_CHAINS_SAID);
    let few = all[..all.len() - more].join("; ");
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    (!all.is_empty()).then(|| {
        format!("deadlines of frames by the recording: {few}{more}; `--deadlines FILE` says others")
    })
}

/// What a recording's own frames came to, beside which the run's metrics stand.
fn recorded(figures: &FrameFigures) -> String {
    let lateness = figures.lateness_ns.map_or_else(String::new, |late_ns| {
        let us = late_ns.map(|ns| format!("{:.1}", ns as f64 / 1e3));
        format!(", lateness p50, p95, p99 {} us", us.join(", "))
    });
    format!(
        " with {} frames recorded, {} missed{lateness}",
        figures.frames, figures.missed
    )
}

/// A sentence for each chain of which no frame was done by its deadline, in any run.
pub(super) fn unmet(run: &PolicyRuns, workloads: &[Workload]) -> Vec<String> {
    let total = |metric: String| {
        let values = run.metrics.iter().filter_map(|m| m.values.get(&metric));
        values.fold(0.0, |sum, value| sum + value)
    };
    let said = |chain: &Chain| {
        let frames = total(format!("frames_of_{}_total", chain.name));
        let missed = total(format!("missed_frames_of_{}_total", chain.name));
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
