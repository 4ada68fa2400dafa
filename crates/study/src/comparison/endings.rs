//! How runs of tasks that come to an end ended (docs/guide/results.md, "What a result holds").
//!
//! What must stay: no figure changes; times are ns; a line per policy, named where there are
//! several, and none for tasks that go on for ever. Words may change. Tests by part:
//! `a_run_says_how_it_ended` (`endings`, `done`, `cut`),
//! comparison/tests.rs::`a_run_within_the_warm_up_says_why_it_has_no_throughput` (`time`).
//!
//! Tests: crates/cli/tests/all/results.rs::a_run_says_how_it_ended,
//! crates/study/src/comparison/tests.rs::a_run_within_the_warm_up_says_why_it_has_no_throughput

use super::PolicyRuns;
use wakeplace_engine::{Ended, RunReport};
use wakeplace_workload::Workload;

/// A line for each policy; nothing for tasks that go on for ever.
pub(crate) fn endings(
    runs: &[PolicyRuns],
    workloads: &[Workload],
    duration_ns: u64,
) -> Vec<String> {
    let one = |run: &PolicyRuns| {
        let parts = done(run)
            .into_iter()
            .chain(cut(run, workloads, duration_ns));
        let said = parts.collect::<Vec<_>>().join("; ");
        (!said.is_empty()).then(|| match runs.len() {
            1 => said,
            _ => format!("{}: {said}", run.policy),
        })
    };
    runs.iter().filter_map(one).collect()
}

/// When all tasks were done, if they ever were.
fn done(run: &PolicyRuns) -> Option<String> {
    let done = |report: &&RunReport| report.ended == Ended::AllTasksExited;
    let ends = || run.reports.iter().filter(done).map(|report| report.end_ns);
    let (first, last) = (time(ends().min()?), time(ends().max()?));
    let span = if first == last {
        first
    } else {
        format!("{first} to {last}")
    };
    Some(format!("ended at {span}: all tasks were done"))
}

/// How many runs the duration cut before all tasks were done.
fn cut(run: &PolicyRuns, workloads: &[Workload], duration_ns: u64) -> Option<String> {
    let is_cut = |(report, workload): &(&RunReport, &Workload)| {
        report.ended == Ended::Duration
            && workload.comes_to_an_end()
            && !workload.name.starts_with(wakeplace_trace::PREFIX) // its tasks sleep on
    };
    let cut = run.reports.iter().zip(workloads).filter(is_cut).count();
    let of = match run.reports.len() {
        1 => String::new(),
        all => format!(" in {cut} of {all} runs"),
    };
    let end = time(duration_ns);
    (cut > 0)
        .then(|| format!("cut at {end}{of}: not all tasks were done; use a longer `--duration`"))
}

/// A time for people, in s or ms with two decimals.
pub(super) fn time(ns: u64) -> String {
    const NS_PER_S: u64 = 1_000_000_000;
    if ns >= NS_PER_S {
        format!("{:.2} s", ns as f64 / 1e9)
    } else {
        format!("{:.2} ms", ns as f64 / 1e6)
    }
}
