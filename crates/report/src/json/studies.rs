//! Results of studies as JSON.

use super::{details, hash, hashes, interval, known, multiplicity, pairs, spread, values};
use crate::phrase::Sense;
use crate::{RESULT_SCHEMA_VERSION, number};
use serde_json::{Map, Value, json};
use wakeplace_study::{
    Beaten, CaseInfo, CaseProfile, Kept, Loss, Mean, Param, Promise, PromiseRow, Sensitivity,
    StudyResult, StudyRow, Tradeoff,
};

/// `study run` of several.
pub(crate) fn several(results: &[StudyResult]) -> Value {
    json!({
        "schema_version": RESULT_SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "studies": results.iter().map(study).collect::<Vec<_>>(),
    })
}

/// `study run` of one.
pub(crate) fn study(result: &StudyResult) -> Value {
    json!({
        "schema_version": RESULT_SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": known(&result.origin.commit),
        "command": known(&result.origin.command),
        "study": result.study,
        "title": result.title,
        "platform": result.platform,
        "base_policy": result.base_policy,
        "margin_pct": result.margin_pct,
        "duration_ns": result.duration_ns,
        "seeds": result.seeds,
        "quick": result.quick,
        "as_written": result.as_written,
        "settings": pairs(&result.settings),
        "options": pairs(&result.options),
        "workloads": result.workloads,
        "cases": result.cases.iter().map(|one| case_of(result, one)).collect::<Vec<_>>(),
        "columns": result.columns.iter().map(|column| json!({
            "name": column.name,
            "policy": column.policy,
            "settings": pairs(&column.settings),
            "hotplug": column.hotplug,
        })).collect::<Vec<_>>(),
        "rows": result.rows.iter().map(|one| row(result, one)).collect::<Vec<_>>(),
        "profiles": result.profiles.iter().map(profile).collect::<Vec<_>>(),
        "multiplicity": multiplicity(crate::study::intervals(result)),
        "verdict": result.verdict,
        "notes": result.notes,
        "sources": result.sources,
        "sensitivity": result.sensitivity.as_ref().map(sensitivity),
        "assumed": result.sensitivity.as_ref().map(assumed),
        "promise": result.promise.as_ref().map(promise),
        "tradeoff": result.tradeoff.as_ref().map(tradeoff),
    })
}

/// How a case was run; where nobody measured its machine's power, that, too.
fn case_of(result: &StudyResult, case: &CaseInfo) -> Value {
    let mut shown = json!({
        "case": case.case,
        "platform": case.platform,
        "workload": case.workload,
        "duration_ns": case.duration_ns,
        "settings": pairs(&case.settings),
    });
    if result.modelled.contains(&case.platform) {
        shown["modelled_power"] = json!(true);
    }
    shown
}

/// What the runs of a case did.
fn profile(profile: &CaseProfile) -> Value {
    json!({
        "case": profile.case,
        "policy": profile.policy,
        "complete": profile.complete,
        "end_ns": profile.end_ns,
        "details": details::details(&profile.profile),
        "settings": pairs(&profile.settings),
        "platform_hash": profile.platform_hash,
        "seed_runs": profile.seeds.iter().enumerate().map(|(at, seed)| json!({
            "seed": seed,
            "workload_hash": profile.workload_hashes.get(at),
            "event_hash": profile.event_hashes.get(at).map(|h| hash(*h)),
            "behaviour_hash": profile.behaviour_hashes.get(at).map(|h| hash(*h)),
            "metrics": profile.values.get(at).map(values),
        })).collect::<Vec<_>>(),
        "event_hashes": hashes(profile.event_hashes.iter().copied()),
        "behaviour_hashes": hashes(profile.behaviour_hashes.iter().copied()),
    })
}

/// The conclusions with one assumed cost changed each.
fn sensitivity(found: &Sensitivity) -> Vec<Value> {
    let percent = |delta: Option<f64>| delta.map_or(Value::Null, number::json);
    let row = |row: &wakeplace_study::SensitivityRow| {
        json!({
            "case": row.case,
            "metric": row.metric,
            "policy": row.policy,
            "cost": row.cost,
            "factor": row.factor.value(),
            "delta_pct": percent(row.delta_pct),
            "ci95": interval(row.ci95),
            "conclusion": row.conclusion.word(),
            "plain_delta_pct": percent(row.plain_delta_pct),
            "plain_conclusion": row.plain_conclusion.word(),
            "flips": row.flips,
        })
    };
    found.rows.iter().map(row).collect()
}

/// What was changed for them.
fn assumed(found: &Sensitivity) -> Value {
    let cost = |(name, value): &(String, String)| {
        json!({
            "cost": name,
            "value": value,
            "unused": found.unused.contains(name),
        })
    };
    let except = |(name, why): &(String, String)| json!({ "cost": name, "why": why });
    json!({
        "seeds": found.seeds,
        "cases": found.cases,
        "costs": found.costs.iter().map(cost).collect::<Vec<_>>(),
        "except": found.except.iter().map(except).collect::<Vec<_>>(),
    })
}

/// What was kept of the best feature's gain, and what was lost.
fn promise(found: &Promise) -> Value {
    let loss = |loss: &Loss| {
        json!({
            "column": loss.column,
            "metric": loss.metric,
            "loss_pct": number::json(loss.loss_pct),
            "ci95": interval(loss.ci95),
            "saved_energy_pct": loss.saved_pct.map_or(Value::Null, number::json),
            "verdict": loss.word.word(),
        })
    };
    let kept = |kept: &Kept| {
        json!({
            "feature": kept.feature,
            "gain_pct": number::json(kept.gain_pct),
            "by": kept.ours,
            "by_pct": number::json(kept.ours_pct),
            "by_ci95": interval(kept.ours_ci95),
            "kept_pct": number::json(kept.kept_pct),
            "verdict": kept.word.word(),
        })
    };
    let row = |row: &PromiseRow| {
        json!({
            "case": row.case,
            "platform": row.platform,
            "metric": row.metric,
            "kept": row.kept.as_ref().map(kept),
            "losses": row.losses.iter().map(loss).collect::<Vec<_>>(),
        })
    };
    json!({
        "keep_pct": found.keep_pct,
        "lose_pct": found.lose_pct,
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Energy against latency over all cases.
fn tradeoff(found: &Tradeoff) -> Value {
    let ratio = |ratio: Option<f64>| ratio.map_or(Value::Null, number::json);
    let mean = |mean: &Mean| {
        json!({
            "group": mean.group,
            "column": mean.column,
            "cases": mean.cases,
            "energy_ratio": ratio(mean.energy),
            "latency_ratio": ratio(mean.latency),
            "time_ratio": ratio(mean.time),
            "over_optimal_pct": ratio(mean.over_optimal_pct),
            "worst_case": mean.worst_case,
            "worst_energy_ratio": number::json(mean.worst_energy),
        })
    };
    let beaten = |row: &Beaten| {
        json!({
            "case": row.case,
            "platform": row.platform,
            "rival": row.rival,
            "energy_pct": number::json(row.energy_pct),
            "latency_pct": number::json(row.latency_pct),
        })
    };
    json!({
        "base": found.base,
        "ours": found.ours,
        "energy": found.energy,
        "latency": found.latency,
        "time": found.time,
        "energy_pct": number::json(found.energy_pct),
        "latency_pct": number::json(found.latency_pct),
        "compared": found.compared,
        "means": found.means.iter().map(mean).collect::<Vec<_>>(),
        "beaten": found.beaten.iter().map(beaten).collect::<Vec<_>>(),
    })
}

/// The token that tells a row's case from all others: with the experiment it belongs to.
fn case(row: &StudyRow) -> String {
    let experiment = row.experiment().map(|name| format!(",{name}"));
    row.case.clone() + &experiment.unwrap_or_default()
}

fn row(result: &StudyResult, row: &StudyRow) -> Value {
    let param = |(key, value): (&String, &Param)| {
        let value = match value {
            Param::Number(number) => json!(number),
            Param::Word(word) => json!(word),
        };
        (key.clone(), value)
    };
    let params: Map<String, Value> = row.params.iter().map(param).collect();
    let published = row.published.map(|p| {
        json!({
            "mean": number::json(p.mean),
            "rsd_pct": p.rsd_pct.map_or(Value::Null, number::json),
        })
    });
    let mut shown = json!({
        "case": case(row),
        "params": params,
        "metric": row.metric,
        "unit": row.unit,
        "policy": row.policy,
        "published": published,
        "simulated": {
            "mean": number::json(row.simulated.mean),
            "rsd_pct": spread(row.simulated.n, row.simulated.rsd_pct),
            "n": row.simulated.n,
        },
        "published_change_rsd_pct": row.published_change.map(|change| json!({
            "base": change.base_rsd_pct.map_or(Value::Null, number::json),
            "policy": change.rsd_pct.map_or(Value::Null, number::json),
        })),
        "published_delta_pct": row.published_delta_pct.map_or(Value::Null, number::json),
        "simulated_delta_pct": row.simulated_delta_pct.map_or(Value::Null, number::json),
        "simulated_delta_ci95": interval(row.simulated_delta_ci95),
        "difference": Sense::of_row(row, result.margin_pct).map(Sense::word),
        "calibrated": row.calibrated,
        "robust": row.robust,
    });
    if let Some(word) = crate::study::power_of(result, row) {
        shown["power"] = json!(word);
    }
    shown
}
