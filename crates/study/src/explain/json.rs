//! The answer in the types of results (docs/guide/tour.md).
//!
//! What must stay: keys (`crates/outcome` has them, docs/result.schema.json their form); a
//! candidate per CPU, by number, with its place in the rule's search as `order`; times are ns; only
//! the chosen CPU has no `dropped`. Tests by part: `the_object_has_what_the_contract_says`
//! (`answer`, `candidate`, `wakeup`, `party`), `the_title_has_the_number_that_was_asked_for`
//! (`number_in_run`), `why_not_comes_first` (`why_not`),
//! schema.rs::`results_are_what_the_schema_says` (`text`).
//!
//! Tests: crates/cli/tests/all/explain.rs,
//! crates/cli/tests/all/schema.rs::results_are_what_the_schema_says

use super::{Answer, COST};
use wakeplace_engine::Party;
use wakeplace_outcome as outcome;
use wakeplace_policy_sys::{NoEnergy, Seen};

/// An answer as one JSON object, with a newline.
pub(crate) fn text(answer: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(answer).expect("answers have names for keys");
    wakeplace_text::json(&format!("{value:#}\n")).into_owned()
}

/// CPUs that the task may use, by number, from its bits.
fn allowed(party: &Party, nr_cpus: usize) -> Vec<u32> {
    let has = |cpu: &u32| party.record.allowed[*cpu as usize / 64] >> (cpu % 64) & 1 != 0;
    (0..nr_cpus as u32).filter(has).collect()
}

/// The woken task or the waker, in the types of results.
fn party(answer: &Answer, party: &Party) -> outcome::Party {
    let r = &party.record;
    outcome::Party {
        name: party.name.clone(),
        cpu: r.cpu,
        util_avg: r.avg.util_avg.into(),
        util_est: party.util_est.into(),
        runnable_avg: answer.runnable(party).map(u64::from),
        load_avg: r.avg.load_avg.into(),
        weight: r.weight.into(),
        uclamp_min: r.uclamp_min.into(),
        uclamp_max: r.uclamp_max.into(),
        dur_avg_ns: r.dur_avg_ns,
        wakee_flips: r.waker.wakee_flips.into(),
        allowed_cpus: allowed(party, answer.platform().cpus.len()),
    }
}

/// A CPU that was looked at, in the types of results.
fn candidate(answer: &Answer, seen: &Seen) -> outcome::Candidate {
    let e = &answer.explanation;
    let state = e.idle[seen.cpu as usize];
    let chosen = seen.cpu == e.placement.cpu;
    outcome::Candidate {
        cpu: seen.cpu,
        util: seen.util,
        capacity: seen.capacity,
        spare: seen.spare,
        runnable: seen.runnable,
        clock_khz: seen.clock_khz,
        idle_state: state.map(|at| answer.platform().idle_states[at as usize].name.clone()),
        energy: seen.energy.map(|energy| answer.power(energy)),
        fits: seen.fits > 0,
        fits_but_for_hint: seen.fits < 0,
        order: (seen.order > 0).then_some(seen.order),
        dropped: (!chosen).then(|| seen.dropped.name().to_owned()),
    }
}

/// What was asked, in the types of results.
fn wakeup(answer: &Answer) -> outcome::Wakeup {
    let e = &answer.explanation;
    outcome::Wakeup {
        kind: e.placement.kind.name().to_owned(),
        number: e.number,
        number_in_run: answer.wakeup_of_run,
        time_ns: e.time_ns,
        task: outcome::Task {
            party: party(answer, &e.task),
            short: e.explained.short.map(|short| short.short),
            short_limit_ns: e.explained.short.map(|short| short.limit_ns),
        },
        waker: e.waker.as_ref().map(|waker| party(answer, waker)),
        interrupt: e.interrupt,
        waker_cpu: e.placement.waker_cpu,
        sync: e.sync,
        prev_cpu: e.placement.prev_cpu,
    }
}

/// The whole answer, in the types of results.
pub(super) fn answer(answer: &Answer) -> outcome::Decision {
    let e = &answer.explanation;
    let policy = &answer.experiment.policies[0];
    let choice = &e.explained.choice;
    let other = |other: &wakeplace_engine::Other| outcome::Other {
        policy: other.policy.clone(),
        cpu: other.choice.cpu,
        rule: other.choice.rule.name().to_owned(),
        reason: other.choice.reason.name().to_owned(),
        same_signals: Some(other.same_signals),
    };
    let all = e.explained.candidates.iter();
    outcome::Decision {
        schema_version: crate::SCHEMA_VERSION,
        platform: answer.platform().name.clone(),
        workload: answer.experiment.workload.name.clone(),
        policy: policy.name().to_owned(),
        set: { policy.overrides().iter() }
            .map(|(key, value)| (key.to_string(), value.clone()))
            .collect(),
        seed: answer.experiment.seeds[0],
        wakeup: wakeup(answer),
        rule: choice.rule.name().to_owned(),
        rule_doc: choice.rule.doc().to_owned(),
        reason_doc: answer.reason(e.placement.reason).to_owned(),
        reason: e.placement.reason.name().to_owned(),
        cpu: e.placement.cpu,
        target: e.explained.target,
        scanned: e.explained.scanned,
        energy_aware: match e.explained.no_energy {
            NoEnergy::Asked => None,
            why => Some(why.name().to_owned()),
        },
        energy_aware_off: e.energy_inactive.map(str::to_owned),
        energy_unit: e
            .energy_per_uw
            .map(|_| answer.power_unit().unwrap_or(COST).to_owned()),
        candidates: all.map(|seen| candidate(answer, seen)).collect(),
        others: e.others.iter().map(other).collect(),
        why_not: { answer.why_not.as_ref() }.map(|(cpu, answer)| outcome::WhyNot {
            cpu: *cpu,
            answer: answer.clone(),
        }),
    }
}
