//! `platform show --format json`: the model's fields under their own names. A key that is there
//! stays (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `platform show` with `--format json`; `costs` and `lines` also for the page. A new key
//! is free.
//!
//! What must stay: keys, with units in their names. Lists are in the order of numbers. The model's
//! fields stand under their own names, so that a field that is renamed in `wakeplace_platform`
//! renames a key. Tests by part:
//! crates/cli/tests/all/results.rs::`a_platform_is_shown_with_its_sources` (`object`, `cpus`,
//! `frequency`, `scheduling_domains`), results.rs::`clocks_points_and_moves_are_shown` (`lines`,
//! `keyed`). No test of its own: states of a driver's energy model (`frequency`).
//!
//! Tests: crates/cli/tests/all/results.rs

use super::platform::unit;
use super::platform_clocks;
use crate::machine::{CoreView, EnergyState};
use serde::Serialize;
use serde_json::{Value, json};
use wakeplace_platform::{CpuId, FreqDomain, Platform, Transfer};
use wakeplace_report::SCHEMA_VERSION;

/// The whole object.
pub(super) fn object(platform: &Platform, core: &CoreView, policy: &str) -> Value {
    let domains = platform.freq_domains.iter().enumerate();
    let none: &[EnergyState] = &[];
    let freq_domain = |(index, domain): (usize, &FreqDomain)| {
        frequency(domain, core.energy.get(index).map_or(none, Vec::as_slice))
    };
    let mut shown = json!({
        "schema_version": SCHEMA_VERSION,
        "name": platform.name,
        "title": platform.title,
        "arch": platform.arch,
        "tick_hz": platform.tick_hz,
        "power_unit": unit(platform.power_unit),
        "cpus": cpus(platform),
        "clusters": platform.clusters,
        "cpu_kinds": groups(platform.cpu_kinds().iter().map(|one| (&one.name, &one.cpus))),
        "freq_domains": domains.map(freq_domain).collect::<Vec<_>>(),
        "idle_states": platform.idle_states,
        "topology": platform.topology,
        "sched_mc": platform.sched_mc,
        "numa": platform.numa,
        "smt": platform.smt,
        "scheduling_domains": scheduling_domains(core),
        "policy": policy,
        "energy_inactive": core.energy_inactive,
        "costs": keyed(costs(platform)),
        "transfer": platform.transfer.as_ref().map(|stated| keyed(lines(stated))),
        "cache": platform.cache,
        "housekeeping": platform.housekeeping,
        "board": platform.board,
        "known": platform.known(),
        "provenance": platform.provenance.iter().map(|(what, from)| json!({
            "what": what,
            "source": from,
        })).collect::<Vec<_>>(),
        "notes": platform.notes,
    });
    let whole = shown.as_object_mut().expect("an object");
    whole.extend(platform_clocks::json(platform));
    shown
}

/// Groups of CPUs by name.
fn groups<'a>(all: impl Iterator<Item = (&'a String, &'a Vec<CpuId>)>) -> Vec<Value> {
    all.map(|(name, cpus)| json!({"name": name, "cpus": cpus}))
        .collect()
}

/// Keys and values, then all of a figure's.
fn with(mut first: Value, figures: impl Serialize, last: Value) -> Value {
    let more = [serde_json::to_value(figures).unwrap_or_default(), last];
    if let Some(all) = first.as_object_mut() {
        all.extend(
            more.into_iter()
                .flat_map(|one| one.as_object().cloned().unwrap_or_default()),
        );
    }
    first
}

/// One object per CPU, in the order of numbers.
fn cpus(platform: &Platform) -> Vec<Value> {
    let numbered = platform.cpus.iter().enumerate();
    numbered
        .map(|(number, cpu)| with(json!({"cpu": number}), cpu, json!({})))
        .collect()
}

/// A frequency domain with its operating points, and what an energy model believes of each.
fn frequency(domain: &FreqDomain, states: &[EnergyState]) -> Value {
    let opp = |(index, opp): (usize, &wakeplace_platform::Opp)| {
        // A driver's states are no operating points.
        let state = states.get(index).filter(|_| domain.em_costs.is_none());
        let believed = json!({
            "performance": state.map(|state| state.performance),
            "cost": state.map(|state| state.cost),
            "inefficient": state.map(|state| state.inefficient),
        });
        with(json!({}), opp, believed)
    };
    let mut shown = json!({
        "cpus": domain.cpus,
        "transition_latency_ns": domain.transition_latency_ns,
        "measured": domain.measured,
        "opps": domain.opps.iter().enumerate().map(opp).collect::<Vec<_>>(),
    });
    if domain.em_costs.is_some() {
        let state = |s: &EnergyState| json!({ "performance": s.performance, "cost": s.cost });
        shown["energy_model_states"] = states.iter().map(state).collect();
    }
    shown
}

/// Sched domains as the core built them.
fn scheduling_domains(core: &CoreView) -> Vec<Value> {
    let one = |domain: &crate::machine::Domain| {
        json!({
            "level": domain.level,
            "cpus": domain.cpus,
            "groups": domain.groups,
            "flags": domain.flags,
            "imbalance_pct": domain.imbalance_pct,
        })
    };
    core.domains.iter().map(one).collect()
}

/// Every cost with its key, ns.
pub(super) fn costs(platform: &Platform) -> Vec<(&'static str, u64)> {
    let costs = &platform.costs;
    let other_node = costs.migrate_other_node_ns;
    let mut all = vec![
        ("context_switch_ns", costs.context_switch_ns),
        ("wakeup_ns", costs.wakeup_ns),
        ("ipi_ns", costs.ipi_ns),
        ("tick_ns", costs.tick_ns),
        ("fork_ns", costs.fork_ns),
        ("migrate_shared_cache_ns", costs.migrate_shared_cache_ns),
        ("migrate_other_cache_ns", costs.migrate_other_cache_ns),
        ("scan_cpu_ns", costs.scan_cpu_ns),
        ("publish_ns", costs.publish_ns),
        ("lock_hold_ns", costs.lock_hold_ns),
        ("lock_shared_cache_ns", costs.lock_shared_cache_ns),
        ("lock_other_cache_ns", costs.lock_other_cache_ns),
        ("switch_out_ns", costs.switch_out_ns),
    ];
    all.extend(other_node.map(|ns| ("migrate_other_node_ns", ns)));
    all
}

/// What a cache line takes by what is shared, with its key; levels that the machine has, ns.
pub(super) fn lines(transfer: &Transfer) -> Vec<(&'static str, u64)> {
    let all = [
        ("smt_ns", transfer.smt_ns),
        ("cluster_ns", transfer.cluster_ns),
        ("cache_ns", transfer.cache_ns),
        ("node_ns", transfer.node_ns),
        ("other_node_ns", transfer.other_node_ns),
    ];
    let stated = all.into_iter().filter_map(|(key, ns)| Some((key, ns?)));
    stated.collect()
}

/// Figures by their keys.
fn keyed(figures: Vec<(&'static str, u64)>) -> Value {
    let entry = |(key, figure): (&str, u64)| (key.to_owned(), json!(figure));
    Value::Object(figures.into_iter().map(entry).collect())
}
