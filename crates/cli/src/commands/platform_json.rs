//! `platform show --format json`: the model's fields under their own names.

use super::platform::unit;
use super::platform_clocks;
use super::platform_text::standing;
use crate::machine::{CoreView, EnergyState};
use serde_json::{Value, json};
use wakeplace_platform::{
    CpuId, FreqDomain, IdleScope, IdleState, MeasuredPoint, MeasuredPower, OtherClock, Platform,
    Source, TopologyLevel, Transfer,
};
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
        "clusters": groups(platform.clusters.iter().map(|one| (&one.name, &one.cpus))),
        "cpu_kinds": groups(platform.cpu_kinds().iter().map(|one| (&one.name, &one.cpus))),
        "freq_domains": domains.map(freq_domain).collect::<Vec<_>>(),
        "idle_states": platform.idle_states.iter().map(idle).collect::<Vec<_>>(),
        "topology": platform.topology.iter().map(level).collect::<Vec<_>>(),
        "sched_mc": platform.sched_mc.as_ref().map(|mc| json!({
            "core_kind": mc.core_kind,
            "step_khz": mc.step_khz,
            "tasks": mc.tasks,
        })),
        "numa": platform.numa.as_ref().map(|numa| json!({
            "distances": numa.distances,
            "reclaim_distance": numa.reclaim_distance,
        })),
        "smt": platform.smt.as_ref().map(|smt| json!({
            "core_capacity": smt.core_capacity,
            "core_power": (!smt.core_power.is_empty()).then_some(&smt.core_power),
        })),
        "scheduling_domains": scheduling_domains(core),
        "policy": policy,
        "energy_inactive": core.energy_inactive,
        "costs": keyed(costs(platform)),
        "transfer": platform.transfer.as_ref().map(|stated| keyed(lines(stated))),
        "cache": platform.cache.as_ref().map(|cache| json!({
            "last_level_kib": cache.last_level_kib,
            "hit_ns": cache.hit_ns,
            "memory_ns": cache.memory_ns,
        })),
        "housekeeping": platform.housekeeping.as_ref().map(|stated| json!({
            "governor_ns": stated.governor_ns,
            "threads": stated.threads.iter().map(|thread| json!({
                "name": thread.name,
                "cpus": thread.cpus.as_deref().map(numbers),
                "period_ns": thread.period_ns,
                "run_ns": thread.run_ns,
            })).collect::<Vec<_>>(),
            "source": source(&stated.source),
        })),
        "board": platform.board.as_ref().map(|board| json!({
            "power_uw": board.power_uw,
            "source": source(&board.source),
            "calibrated_on": board.calibrated_on,
        })),
        "known": known(platform),
        "provenance": platform.provenance.iter().map(|(what, from)| json!({
            "what": what,
            "source": source(from),
        })).collect::<Vec<_>>(),
        "notes": platform.notes,
    });
    let whole = shown.as_object_mut().expect("an object");
    whole.extend(platform_clocks::json(platform));
    shown
}

/// How many tables of each group of figures are known in which way.
fn known(platform: &Platform) -> Vec<Value> {
    let one = |known: &wakeplace_platform::Known| {
        json!({
            "figures": known.group,
            "published": known.published,
            "derived": known.derived,
            "assumed": known.assumed,
        })
    };
    platform.known().iter().map(one).collect()
}

/// Groups of CPUs by name.
fn groups<'a>(all: impl Iterator<Item = (&'a String, &'a Vec<CpuId>)>) -> Vec<Value> {
    all.map(|(name, cpus)| json!({"name": name, "cpus": numbers(cpus)}))
        .collect()
}

fn numbers(cpus: &[CpuId]) -> Vec<u32> {
    cpus.iter().map(|cpu| cpu.0).collect()
}

fn cpus(platform: &Platform) -> Vec<Value> {
    let one = |(number, cpu): (usize, &wakeplace_platform::Cpu)| {
        json!({
            "cpu": number,
            "kind": cpu.kind,
            "capacity": cpu.capacity,
            "speed": cpu.speed,
            "core": cpu.core,
            "cluster": cpu.cluster,
            "package": cpu.package,
            "node": cpu.node,
            "priority": cpu.priority,
        })
    };
    platform.cpus.iter().enumerate().map(one).collect()
}

fn frequency(domain: &FreqDomain, states: &[EnergyState]) -> Value {
    let opp = |(index, opp): (usize, &wakeplace_platform::Opp)| {
        // A driver's states are no operating points.
        let state = states.get(index).filter(|_| domain.em_costs.is_none());
        json!({
            "khz": opp.khz,
            "mv": opp.mv,
            "power": opp.power,
            "cluster_power": opp.cluster_power,
            "work_power": opp.work_power,
            "em_power": opp.em_power,
            "performance": state.map(|state| state.performance),
            "cost": state.map(|state| state.cost),
            "inefficient": state.map(|state| state.inefficient),
        })
    };
    let mut shown = json!({
        "cpus": numbers(&domain.cpus),
        "transition_latency_ns": domain.transition_latency_ns,
        "measured": domain.measured.as_ref().map(measured),
        "opps": domain.opps.iter().enumerate().map(opp).collect::<Vec<_>>(),
    });
    if domain.em_costs.is_some() {
        let state = |s: &EnergyState| json!({ "performance": s.performance, "cost": s.cost });
        shown["energy_model_states"] = states.iter().map(state).collect();
    }
    shown
}

/// Measured powers: `points` by operating point, then by state of the other clock.
fn measured(measured: &MeasuredPower) -> Value {
    let clock = |clock: &OtherClock| match clock {
        OtherClock::Alone => Value::Null,
        OtherClock::Domain { domain, opp } => json!({"domain": domain, "opp": opp}),
        OtherClock::Unit { khz } => json!({"khz": khz}),
    };
    let point = |point: &MeasuredPoint| {
        json!({
            "busy_uw": point.busy_uw,
            "gated_uw": point.gated_uw,
            "off_uw": point.off_uw,
            "cluster_uw": point.cluster_uw,
        })
    };
    json!({
        "other_clocks": measured.rows.iter().map(clock).collect::<Vec<_>>(),
        "points": measured.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn idle(state: &IdleState) -> Value {
    json!({
        "name": state.name,
        "scope": match state.scope {
            IdleScope::Cpu => "cpu",
            IdleScope::Cluster => "cluster",
        },
        "cpus": numbers(&state.cpus),
        "entry_latency_ns": state.entry_latency_ns,
        "exit_latency_ns": state.exit_latency_ns,
        "min_residency_ns": state.min_residency_ns,
        "polling": state.polling,
        "cpu_power": state.cpu_power,
        "cluster_power": state.cluster_power,
    })
}

fn level(level: &TopologyLevel) -> Value {
    json!({
        "name": level.name,
        "shares_cache": level.shares_cache,
        "shares_capacity": level.shares_capacity,
        "cluster": level.cluster,
        "asym_packing": level.asym_packing,
        "groups": level.groups.iter().map(|group| numbers(group)).collect::<Vec<_>>(),
    })
}

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

fn source(source: &Source) -> Value {
    json!({ "standing": standing(source.standing), "text": source.text })
}
