//! JSON as the outward contract names it.

use crate::{SCHEMA_VERSION, number, phrase};
use serde_json::{Map, Value, json};
use wakeplace_metrics::{Profile, Summary, paired, series};
use wakeplace_study::{Comparison, PolicyRuns};

mod details;
mod layout;
mod studies;
pub(crate) use studies::{several, study};

/// The object as text, with a newline.
pub(crate) fn text(value: &Value) -> String {
    wakeplace_text::json(&layout::pretty(value)).into_owned() + "\n"
}

/// `sim` with one policy, `compare` with more.
pub(crate) fn comparison(comparison: &Comparison) -> Value {
    let run = |runs: &PolicyRuns| {
        let mut run = json!({
            "platform": comparison.platform,
            "workload": comparison.workload,
            "policy": runs.policy,
            "set": pairs(&runs.overrides),
            "seeds": comparison.seeds,
            "complete": !runs.is_stuck(),
            "end_ns": runs.reports.iter().map(|report| report.end_ns).collect::<Vec<_>>(),
            "metrics": metrics(runs),
            "event_hashes": hashes(runs.reports.iter().map(|report| report.event_hash)),
            "behaviour_hashes": hashes(runs.metrics.iter().map(|run| run.behaviour_hash)),
            "details": details::details(&Profile::of(&runs.metrics, &runs.reports)),
        });
        if let Some(timeline) = details::timeline(runs) {
            run["timeline"] = timeline;
        }
        run
    };
    let mut whole = json!({
        "schema_version": SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": known(&comparison.origin.commit),
        "command": known(&comparison.origin.command),
        "duration_ns": comparison.duration_ns,
        "settings": pairs(&comparison.settings),
        "options": pairs(&comparison.options),
        "runs": comparison.runs.iter().map(run).collect::<Vec<_>>(),
    });
    if let [base, others @ ..] = comparison.runs.as_slice()
        && !others.is_empty()
    {
        let all: Vec<Value> = others.iter().flat_map(|o| deltas(base, o)).collect();
        whole["deltas"] = Value::Array(all);
        whole["verdicts"] = verdicts(comparison);
    }
    whole["measured_by"] = json!(comparison.measured_by);
    if !comparison.states.is_empty() {
        whole["states"] = crate::states::json(&comparison.states);
    }
    whole["notes"] = json!(comparison.notes);
    whole["warnings"] = json!(comparison.warnings);
    whole
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
    of_runs.map(|hash| format!("{hash:016x}")).collect()
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

/// The change of every metric both policies have, in the order of the names; null from a base of 0.
fn deltas(base: &PolicyRuns, other: &PolicyRuns) -> Vec<Value> {
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

fn interval(ci95: Option<(f64, f64)>) -> Value {
    ci95.map_or(Value::Null, |(low, high)| {
        json!([number::json(low), number::json(high)])
    })
}
