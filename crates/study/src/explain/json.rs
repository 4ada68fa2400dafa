//! The answer as one object.

use super::Answer;
use serde_json::{Value, json};
use wakeplace_engine::Party;
use wakeplace_policy_sys::{NoEnergy, Seen};

fn allowed(party: &Party, nr_cpus: usize) -> Vec<u32> {
    let has = |cpu: &u32| party.record.allowed[*cpu as usize / 64] >> (cpu % 64) & 1 != 0;
    (0..nr_cpus as u32).filter(has).collect()
}

fn party(answer: &Answer, party: &Party) -> Value {
    let r = &party.record;
    json!({
        "name": party.name,
        "cpu": r.cpu,
        "util_avg": r.avg.util_avg,
        "util_est": party.util_est,
        "load_avg": r.avg.load_avg,
        "weight": r.weight,
        "uclamp_min": r.uclamp_min,
        "uclamp_max": r.uclamp_max,
        "dur_avg_ns": r.dur_avg_ns,
        "wakee_flips": r.waker.wakee_flips,
        "allowed_cpus": allowed(party, answer.platform().cpus.len()),
    })
}

fn task(answer: &Answer) -> Value {
    let e = &answer.explanation;
    let mut task = party(answer, &e.task);
    task["short"] = json!(e.explained.short.map(|short| short.short));
    task["short_limit_ns"] = json!(e.explained.short.map(|short| short.limit_ns));
    task
}

fn candidate(answer: &Answer, seen: &Seen) -> Value {
    let e = &answer.explanation;
    let state = e.idle[seen.cpu as usize];
    let chosen = seen.cpu == e.placement.cpu;
    json!({
        "cpu": seen.cpu,
        "util": seen.util,
        "capacity": seen.capacity,
        "spare": seen.spare,
        "idle_state": state.map(|at| answer.platform().idle_states[at as usize].name.as_str()),
        "energy": seen.energy.map(|energy| answer.power(energy)),
        "fits": seen.fits > 0,
        "fits_but_for_hint": seen.fits < 0,
        "order": (seen.order > 0).then_some(seen.order),
        "dropped": (!chosen).then(|| seen.dropped.name()),
    })
}

pub(super) fn answer(answer: &Answer) -> Value {
    let e = &answer.explanation;
    let policy = &answer.experiment.policies[0];
    let choice = &e.explained.choice;
    let others = e.others.iter().map(|other| {
        json!({
            "policy": other.policy,
            "cpu": other.choice.cpu,
            "rule": other.choice.rule.name(),
            "reason": other.choice.reason.name(),
            "same_signals": other.same_signals,
        })
    });
    let all = e.explained.candidates.iter();
    json!({
        "schema_version": crate::SCHEMA_VERSION,
        "platform": answer.platform().name,
        "workload": answer.experiment.workload.name,
        "policy": policy.name(),
        "set": policy.overrides().iter().map(|(key, value)| (key.to_string(), json!(value)))
            .collect::<serde_json::Map<_, _>>(),
        "seed": answer.experiment.seeds[0],
        "wakeup": {
            "kind": e.placement.kind.name(),
            "number": e.number,
            "number_in_run": answer.wakeup_of_run,
            "time_ns": e.time_ns,
            "task": task(answer),
            "waker": e.waker.as_ref().map(|waker| party(answer, waker)),
            "interrupt": e.interrupt,
            "waker_cpu": e.placement.waker_cpu,
            "sync": e.sync,
            "prev_cpu": e.placement.prev_cpu,
        },
        "rule": choice.rule.name(),
        "rule_doc": choice.rule.doc(),
        "reason_doc": e.placement.reason.doc(),
        "reason": e.placement.reason.name(),
        "cpu": e.placement.cpu,
        "target": e.explained.target,
        "scanned": e.explained.scanned,
        "energy_aware": match e.explained.no_energy {
            NoEnergy::Asked => Value::Null,
            why => json!(why.name()),
        },
        "energy_aware_off": e.energy_inactive,
        "energy_unit": e.energy_per_uw.map(|_| answer.power_unit()),
        "candidates": all.map(|seen| candidate(answer, seen)).collect::<Vec<_>>(),
        "others": others.collect::<Vec<_>>(),
        "why_not": answer.why_not.as_ref().map(|(cpu, text)| json!({"cpu": cpu, "answer": text})),
    })
}
