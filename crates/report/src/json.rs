//! JSON as the outward contract names it.

use crate::comparison::{expected_misses, intervals};
use crate::phrase::Sense;
use crate::{RESULT_SCHEMA_VERSION, number, phrase};
use serde_json::{Map, Value, json};
use wakeplace_metrics::{Profile, RunMetrics, Summary, Values, independent, paired, series};
use wakeplace_study::{Comparison, PolicyRuns, RunReport};

mod details;
mod layout;
mod sched_ext;
mod studies;
pub(crate) use studies::{several, study};

/// The object as text, with a newline.
pub(crate) fn text(value: &Value) -> String {
    wakeplace_text::json(&layout::pretty(value)).into_owned() + "\n"
}

/// `compare` of several platforms or workloads.
pub(crate) fn comparisons(all: &[Comparison]) -> Value {
    json!({
        "schema_version": RESULT_SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "comparisons": all.iter().map(comparison).collect::<Vec<_>>(),
    })
}

/// `sim` with one policy, `compare` with more.
pub(crate) fn comparison(comparison: &Comparison) -> Value {
    let run = |runs: &PolicyRuns| {
        let mut run = json!({
            "platform": comparison.platform,
            "platform_hash": comparison.platform_hash,
            "workload": comparison.workload,
            "workload_hash": comparison.workload_hash,
            "policy": runs.policy,
            "set": pairs(&runs.overrides),
            "settings": pairs(&runs.settings),
            "seeds": comparison.seeds,
            "complete": !runs.is_stuck(),
            "end_ns": runs.reports.iter().map(|report| report.end_ns).collect::<Vec<_>>(),
            "metrics": metrics(runs),
            "independent_runs": independent(&runs.metrics).len(),
            "seed_runs": seed_runs(&comparison.seeds, runs),
            "event_hashes": hashes(runs.reports.iter().map(|report| report.event_hash)),
            "behaviour_hashes": hashes(runs.metrics.iter().map(|run| run.behaviour_hash)),
            "details": details::details(&Profile::of(&runs.metrics, &runs.reports)),
        });
        if let Some(timeline) = details::timeline(runs) {
            run["timeline"] = timeline;
        }
        if let Some(ext) = sched_ext::of_runs(runs) {
            run["sched_ext"] = ext;
        }
        run
    };
    let mut whole = json!({
        "schema_version": RESULT_SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": known(&comparison.origin.commit),
        "command": known(&comparison.origin.command),
        "duration_ns": comparison.duration_ns,
        "settings": pairs(&comparison.settings),
        "options": pairs(&comparison.options),
        "jitter": comparison.jitter,
        "margin_pct": comparison.margin_pct,
        "runs": comparison.runs.iter().map(run).collect::<Vec<_>>(),
    });
    if let [base, others @ ..] = comparison.runs.as_slice()
        && !others.is_empty()
    {
        let all = others
            .iter()
            .flat_map(|o| deltas(base, o, comparison.margin_pct));
        whole["deltas"] = Value::Array(all.collect());
        whole["multiplicity"] = multiplicity(intervals(comparison));
        whole["verdicts"] = verdicts(comparison);
    }
    whole["measured_by"] = json!(comparison.measured_by);
    whole["modelled_power"] = json!(comparison.modelled_power);
    if !comparison.states.is_empty() {
        whole["states"] = crate::states::json(&comparison.states);
    }
    whole["notes"] = json!(comparison.notes);
    whole["warnings"] = json!(comparison.warnings);
    whole
}

/// How many of a result's intervals miss the true change by chance.
fn multiplicity(intervals: usize) -> Value {
    json!({
        "intervals": intervals,
        "expected_to_miss": number::json(expected_misses(intervals)),
    })
}

/// Each run: what it was drawn by, what happened, what was measured.
fn seed_runs(seeds: &[u64], runs: &PolicyRuns) -> Vec<Value> {
    let one = |((seed, metrics), report): ((&u64, &RunMetrics), Option<&RunReport>)| {
        json!({
            "seed": seed,
            "event_hash": report.map(|report| hash(report.event_hash)),
            "behaviour_hash": hash(metrics.behaviour_hash),
            "metrics": values(&metrics.values),
        })
    };
    let reports = runs.reports.iter().map(Some).chain(std::iter::repeat(None));
    seeds
        .iter()
        .zip(&runs.metrics)
        .zip(reports)
        .map(one)
        .collect()
}

/// The values of one run by name.
fn values(of_run: &Values) -> Value {
    let values = of_run.iter();
    let values = values.map(|(name, value)| (name.to_owned(), number::json(value.value)));
    Value::Object(values.collect())
}

/// What is known of a result's origin.
fn known(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        json!(text)
    }
}

/// What the differences mean, a sentence per policy that can be compared.
fn verdicts(comparison: &Comparison) -> Value {
    let one = |verdict: phrase::Verdict| {
        json!({
            "policy": verdict.policy,
            "metric": verdict.metric,
            "difference": verdict.sense.word(),
            "worse": verdict.worse,
            "text": verdict.text,
        })
    };
    crate::comparison::verdicts(comparison)
        .into_iter()
        .map(one)
        .collect()
}

/// Hashes of runs, hexadecimal since JSON numbers lose digits.
fn hashes(of_runs: impl Iterator<Item = u64>) -> Vec<String> {
    of_runs.map(hash).collect()
}

fn hash(of_run: u64) -> String {
    format!("{of_run:016x}")
}

fn pairs(pairs: &[(String, String)]) -> Value {
    let entries = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(entries.collect())
}

fn metrics(runs: &PolicyRuns) -> Value {
    let mut all = Map::new();
    for (name, series) in series(&runs.metrics) {
        let summary = Summary::of(&series.values);
        let entry = json!({
            "mean": number::json(summary.mean),
            "rsd_pct": spread(summary.n, summary.rsd_pct),
            "ci95": summary.ci95.map_or(Value::Null, number::json),
            "unit": series.unit,
        });
        all.insert(name, entry);
    }
    Value::Object(all)
}

/// The change of every metric both policies have, in the order of the names; its percent and their
/// interval are null from a base of 0.
fn deltas(base: &PolicyRuns, other: &PolicyRuns, margin_pct: f64) -> Vec<Value> {
    let measured = series(&other.metrics);
    let entry = |name: String| {
        let delta = paired(&base.metrics, &other.metrics, &name);
        json!({
            "metric": name,
            "base": base.policy,
            "other": other.policy,
            "delta_pct": delta.map_or(Value::Null, |d| number::json(d.delta_pct)),
            "ci95": interval(delta.and_then(|d| d.ci95)),
            "significant": delta.map_or(Value::Null, |d| json!(d.significant)),
            "difference": delta.map(|d| Sense::of(&name, &d, margin_pct).word()),
            "method": delta.map(|d| d.method.word()),
            "n": delta.map(|d| d.n),
        })
    };
    let names = series(&base.metrics).into_keys();
    let both = names.filter(|name| measured.contains_key(name));
    both.map(entry).collect()
}

/// One value has no spread.
fn spread(n: usize, rsd_pct: f64) -> Value {
    if n > 1 {
        number::json(rsd_pct)
    } else {
        Value::Null
    }
}

/// Null also where neither end is a number, as from a base of 0.
fn interval(ci95: Option<(f64, f64)>) -> Value {
    let told = ci95.filter(|(low, high)| low.is_finite() || high.is_finite());
    told.map_or(Value::Null, |(low, high)| {
        json!([number::json(low), number::json(high)])
    })
}
