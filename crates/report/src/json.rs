//! JSON as the outward contract names it: results in the types of [`wakeplace_outcome`]
//! (docs/guide/report.md, "In the JSON").
//!
//! What must stay: keys, their order and the form of numbers (`crates/outcome` has them; a new key
//! is added there and in docs/result.schema.json); metrics and changes stand in the order of their
//! names; one value has no spread. `--format json` and all pages come from here. Free: words for
//! people that no test quotes. Tests by part: `compare_has_the_shape_of_the_contract`
//! (`comparison`, `run`, `metrics`, `deltas`), `sim_has_runs_and_no_deltas` and
//! `numbers_that_are_none_do_not_appear` (what is null or absent), `callbacks_are_listed_by_name`
//! (`scheduler`), schema.rs::`results_are_what_the_schema_says` (`comparisons`, real results).
//! `sched_ext`'s exit has no test here. `text` by all of these.
//!
//! Callers: comparison.rs (`text`, `comparisons`, `comparison`), study.rs (`text`), wakeup_cases.rs
//! (`text`).
//!
//! Tests: below, crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/report/src/comparison/tests.rs

use crate::RESULT_SCHEMA_VERSION;
use crate::comparison::{intervals, verdicts};
use crate::phrase::is_judged;
use crate::why;
use serde::Serialize;
use wakeplace_metrics::{Summary, details, independent, paired, series};
use wakeplace_outcome::{
    Comparison, Comparisons, Delta, Exit, LongestWait, Metric, Multiplicity, Pairs, Run, SchedExt,
    hashes,
};
use wakeplace_study::{Ended, PolicyRuns, RunReport, SchedExtReport};

mod layout;

/// The object as text, with a newline.
pub(crate) fn text(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("results have names for keys");
    wakeplace_text::json(&layout::pretty(&value)).into_owned() + "\n"
}

/// `compare` of several platforms or workloads.
pub(crate) fn comparisons(all: &[wakeplace_study::Comparison]) -> Comparisons {
    Comparisons {
        schema_version: RESULT_SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        comparisons: all.iter().map(comparison).collect(),
    }
}

/// `sim` with one policy, `compare` with more.
pub(crate) fn comparison(found: &wakeplace_study::Comparison) -> Comparison {
    let [commit, command] = found.origin.known();
    let mut result = Comparison {
        schema_version: RESULT_SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit,
        command,
        duration_ns: found.duration_ns,
        settings: found.settings.clone().into(),
        options: found.options.clone().into(),
        jitter: found.jitter.clone(),
        margin_pct: Some(found.margin_pct),
        runs: found.runs.iter().map(|runs| run(found, runs)).collect(),
        deltas: None,
        multiplicity: None,
        verdicts: None,
        why: Vec::new(),
        measured_by: found.measured_by.clone(),
        modelled_power: found.modelled_power,
        states: found.states.iter().map(crate::states::outcome).collect(),
        notes: found.notes.clone(),
        warnings: found.warnings.clone(),
        checks: found.checks.clone(),
    };
    if let [base, others @ ..] = found.runs.as_slice()
        && !others.is_empty()
    {
        let of = |other| deltas(base, other, found);
        let deltas: Vec<Delta> = others.iter().flat_map(of).collect();
        result.multiplicity = Some(Multiplicity::of(intervals(&deltas)));
        result.deltas = Some(deltas);
        result.verdicts = Some(verdicts(&found.runs, &result, found.unlike_lengths));
        // Energies of runs of unlike length say nothing of each other.
        if !found.unlike_lengths {
            result.why = why::of(&result);
        }
    }
    result
}

/// What a policy's runs came to, in the types of results.
fn run(found: &wakeplace_study::Comparison, runs: &PolicyRuns) -> Run {
    let ext: Vec<SchedExt> = runs.reports.iter().filter_map(sched_ext).collect();
    Run {
        platform: found.platform.clone(),
        platform_hash: found.platform_hash.clone(),
        workload: found.workload.clone(),
        workload_hash: found.workload_hash.clone(),
        policy: runs.policy.clone(),
        set: runs.overrides.clone().into(),
        settings: runs.settings.clone().into(),
        seeds: found.seeds.clone(),
        complete: !runs.is_stuck(),
        end_ns: runs.reports.iter().map(|report| report.end_ns).collect(),
        metrics: metrics(runs),
        independent_runs: independent(&runs.metrics).len(),
        seed_runs: runs.seed_runs(&found.seeds),
        event_hashes: hashes(runs.reports.iter().map(|report| report.event_hash)),
        behaviour_hashes: hashes(runs.metrics.iter().map(|run| run.behaviour_hash)),
        details: Some(match &runs.details {
            Some(kept) => kept.clone(),
            None => details(&runs.metrics, &runs.reports),
        }),
        timeline: runs.timeline.clone(),
        lines: crate::lines::of_reports(&runs.reports),
        sched_ext: (!ext.is_empty()).then_some(ext),
    }
}

/// The metrics of a policy's runs with their statistics.
fn metrics(runs: &PolicyRuns) -> Pairs<Metric> {
    let one = |(name, series): (String, wakeplace_metrics::Series)| {
        let summary = Summary::of(&series.values);
        let metric = Metric {
            mean: Some(summary.mean),
            // One value has no spread.
            rsd_pct: (summary.n > 1).then_some(summary.rsd_pct),
            ci95: summary.ci95,
            unit: series.unit.to_owned(),
        };
        (name, metric)
    };
    series(&runs.metrics).into_iter().map(one).collect()
}

/// The change of every metric both policies have, in the order of the names. What grows with the
/// length has no word where lengths differ.
fn deltas(
    base: &PolicyRuns,
    other: &PolicyRuns,
    found: &wakeplace_study::Comparison,
) -> Vec<Delta> {
    let measured = series(&other.metrics);
    let entry = |metric: String| {
        let delta = paired(&base.metrics, &other.metrics, &metric);
        let judged = delta.filter(|_| is_judged(&metric, found.unlike_lengths));
        let word = |d: wakeplace_metrics::PairedDelta| {
            d.difference(&metric, found.margin_pct).word().to_owned()
        };
        Delta {
            base: base.policy.clone(),
            other: other.policy.clone(),
            delta_pct: delta.map(|d| d.delta_pct),
            ci95: delta.and_then(|d| d.ci95),
            significant: delta.map(|d| d.significant),
            difference: judged.map(word),
            method: delta.map(|d| d.method.word().to_owned()),
            n: delta.map(|d| d.n),
            metric,
        }
    };
    let names = series(&base.metrics).into_keys();
    let both = names.filter(|name| measured.contains_key(name));
    both.map(entry).collect()
}

/// What a sched_ext scheduler did in a run; None: none ran.
fn sched_ext(report: &RunReport) -> Option<SchedExt> {
    let mut told = scheduler(report.sched_ext.as_ref()?);
    if let Ended::Scheduler { exit } = &report.ended {
        told.exit = Some(Exit {
            kind: exit.kind.reason().to_owned(),
            code: exit.code,
            message: exit.message.clone(),
        });
    }
    Some(told)
}

/// What a sched_ext scheduler's callbacks took.
fn scheduler(ext: &SchedExtReport) -> SchedExt {
    let callback = |c: &wakeplace_study::CallbackTotals| {
        let figures = (c.calls, c.kfuncs, c.time_ns);
        (c.callback.name().to_owned(), figures)
    };
    SchedExt {
        name: ext.name.clone(),
        callback_ns: ext.callback_ns,
        kfunc_ns: ext.kfunc_ns,
        callbacks_calls_kfuncs_ns: ext.callbacks.iter().map(callback).collect(),
        longest_wait: ext.longest_wait.as_ref().map(|wait| LongestWait {
            task: wait.task,
            waits_ns: wait.waits_ns,
            place: wait.place.clone(),
        }),
        exit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::scheduler;
    use serde_json::json;
    use wakeplace_study::{Callback, CallbackTotals, LongestWait, SchedExtReport};

    #[test]
    fn callbacks_are_listed_by_name() {
        let ext = SchedExtReport {
            name: "mine".to_owned(),
            callbacks: vec![CallbackTotals {
                callback: Callback::SelectCpu,
                calls: 5,
                kfuncs: 7,
                time_ns: 570,
            }],
            callback_ns: 100,
            kfunc_ns: 10,
            longest_wait: Some(LongestWait {
                task: Some(3),
                waits_ns: 9,
                place: "in DSQ 0x7, last on CPU 1".to_owned(),
            }),
        };
        let expected = json!({
            "name": "mine",
            "callback_ns": 100,
            "kfunc_ns": 10,
            "callbacks_calls_kfuncs_ns": { "select_cpu": [5, 7, 570] },
            "longest_wait": { "task": 3, "waits_ns": 9, "place": "in DSQ 0x7, last on CPU 1" },
        });
        assert_eq!(serde_json::to_value(scheduler(&ext)).unwrap(), expected);
    }
}
