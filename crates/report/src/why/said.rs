//! Sentences about why a policy drew more or less (docs/guide/results.md, "Why a difference").
//!
//! What must stay: a sentence says nothing that the figures of a [`Why`] and the states of the
//! runs do not have; within the margin nothing is explained. Words may change. Tests by part:
//! `the_largest_is_said` (`text`, `of_group`, `of_states`, `amount`), `lines_have_a_fitting_unit`
//! (`lines`, `seconds`, `told`).
//!
//! Callers: why.rs (`text`), its callers (`lines`, `told`).
//!
//! Tests: crates/report/src/why/tests.rs

use crate::clusters::scaled;
use crate::number;
use crate::phrase::short_policy;
use wakeplace_outcome::{Comparison, Details, EnergySplit, GroupChange, Residency, TaskMove, Why};

/// Two causes are said if the second is at least so much of the first.
const SAID: f64 = 0.5;
/// A change of less is none, percent.
const AS_MUCH_PCT: f64 = 0.5;

/// The largest part of a change in words; empty: it is less than the margin. Without powers the
/// largest change of busy time is said.
pub(super) fn text(
    details: [&Details; 2],
    sides: [&[Residency]; 2],
    changes: &[GroupChange],
    energy: Option<&EnergySplit>,
    margin_pct: f64,
) -> String {
    let sum = |of: fn(&GroupChange) -> f64| changes.iter().map(of).fold(0.0, |sum, s| sum + s);
    let (base, change) = match energy {
        Some(energy) => (energy.base, energy.change),
        None => (sum(|of| of.busy_s.0), sum(|of| of.busy_s.1)),
    };
    let size = (change - base).abs();
    if size == 0.0 || size < base * margin_pct / 100.0 {
        return String::new();
    }
    let part = |of: &GroupChange| match of.energy_by_time_by_power {
        Some((by_time, by_power)) if energy.is_some() => by_time + by_power,
        _ => of.busy_s.1 - of.busy_s.0,
    };
    let causes = changes.iter().map(|of| (part(of).abs(), of_group(of)));
    let mut causes: Vec<(f64, String)> = causes.collect();
    let rest = energy.map(|energy| energy.rest.abs());
    causes.extend(rest.zip(of_states(details, sides)));
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let largest = causes.first().map_or(0.0, |cause| cause.0);
    let told = causes.into_iter().take(2);
    let told = told.filter(|(size, _)| *size > 0.0 && *size >= largest * SAID);
    let told: Vec<String> = told.map(|(_, cause)| cause).collect();
    told.join("; ")
}

/// What became of the busy time of a cluster or kind, and of its clock.
fn of_group(of: &GroupChange) -> String {
    let GroupChange { group, .. } = of;
    let time = match of.busy_s {
        (_, 0.0) => return format!("{group}: no busy time any more"),
        (0.0, _) => "busy time, of which the base has none".to_owned(),
        (base, change) => amount((change / base - 1.0) * 100.0),
    };
    let clock = match of.busy_khz {
        (Some(base), Some(change)) => match ((change - base) / 1000.0).round() {
            0.0 => " at the same clock".to_owned(),
            mhz if mhz > 0.0 => format!(" at a {mhz} MHz higher clock"),
            mhz => format!(" at a {} MHz lower clock", -mhz),
        },
        _ => String::new(),
    };
    format!("{group}: {time}{clock}")
}

/// So much more or less busy time.
fn amount(pct: f64) -> String {
    let size = pct.abs();
    let decimals = if size >= 10.0 { 0 } else { 1 };
    match (number::factor(pct), pct) {
        _ if size < AS_MUCH_PCT => "as much busy time".to_owned(),
        (Some(times), _) => format!("{times} times the busy time"),
        (None, pct) if pct > 0.0 => format!("{size:.decimals$} % more busy time"),
        (None, _) => format!("{size:.decimals$} % less busy time"),
    }
}

/// Of whom, an idle state, how many CPUs, and their share of the time in it, percent.
type Share = (String, String, f64, f64);

/// The idle state whose share of the time changed most, of CPUs or of a cluster itself; None: none
/// did.
fn of_states(details: [&Details; 2], sides: [&[Residency]; 2]) -> Option<String> {
    let of_cpus = |side: &[Residency]| -> Vec<Share> {
        let one = |of: &Residency| {
            let own = of.idle_pct.iter().map(|(state, pct)| {
                let name = format!("{}: CPUs", of.name());
                (name, state.clone(), of.cpus as f64, *pct)
            });
            own.collect::<Vec<_>>()
        };
        side.iter().flat_map(one).collect()
    };
    let of_clusters = |details: &Details| -> Vec<Share> {
        let one = |of: &Residency| {
            let own = of.cluster_idle().map(|(state, pct)| {
                let name = format!("{}: the cluster", of.name());
                (name, state.clone(), of.cpus as f64, *pct)
            });
            own.collect::<Vec<_>>()
        };
        details.residency.iter().flat_map(one).collect()
    };
    let all = [0, 1].map(|at| [of_cpus(sides[at]), of_clusters(details[at])].concat());
    let share = |side: usize, name: &str, state: &str| {
        let own = all[side].iter().find(|one| one.0 == name && one.1 == state);
        own.map_or(0.0, |one| one.3)
    };
    let mut largest: Option<(f64, String)> = None;
    for (name, state, cpus, _) in all.iter().flatten() {
        let [base, change] = [0, 1].map(|side| share(side, name, state));
        let size = (change - base).abs() * cpus;
        if size > largest.as_ref().map_or(0.0, |largest| largest.0) {
            let text =
                format!("{name} {change:.1} % of the time in {state} instead of {base:.1} %");
            largest = Some((size, text));
        }
    }
    largest.map(|(_, text)| text)
}

/// The sentences of all policies, each with its name where there are several.
pub(crate) fn told(result: &Comparison) -> Vec<String> {
    let several = result.runs.len() > 2;
    let base = result.runs.first().map_or("", |run| run.policy.as_str());
    let of = |why: &Why| {
        let name = match several {
            true => format!("{}: ", short_policy(base, &why.policy)),
            false => String::new(),
        };
        let own = lines(why, result.modelled_power).into_iter();
        own.map(move |line| format!("{name}{line}"))
    };
    result.why.iter().flat_map(of).collect()
}

/// For people, a sentence each: the change of energy and its parts, the largest of it, and who
/// moved. The first two are left out within the margin.
pub(crate) fn lines(why: &Why, modelled_power: bool) -> Vec<String> {
    let mut all = Vec::new();
    let told = why.energy.as_ref().filter(|_| !why.text.is_empty());
    if let Some(energy) = told {
        let whole = energy.change - energy.base;
        let sizes = [whole, energy.busy_time, energy.busy_power, energy.rest];
        let largest = sizes.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        let (unit, factor) = scaled(&energy.unit, largest);
        let [whole, time, power, rest] = sizes.map(|one| number::signed(one * factor));
        let pct = number::change((energy.change / energy.base - 1.0) * 100.0);
        let what = match modelled_power {
            true => "Modelled energy",
            false => "Energy",
        };
        all.push(format!(
            "{what} of CPUs and clusters {whole} {unit} ({pct}): busy time {time}, power of busy \
             time {power}, idle and clusters {rest}."
        ));
    }
    if !why.text.is_empty() {
        all.push(format!("{}.", why.text));
    }
    if !why.moved.is_empty() {
        let moved: Vec<String> = why.moved.iter().map(of_task).collect();
        all.push(format!("Run time that moved most: {}.", moved.join("; ")));
    }
    all
}

/// A task, how much of its run time moved, and how much longer it ran where: a slower CPU takes
/// longer for what moved.
fn of_task(of: &TaskMove) -> String {
    let groups = of.group_s.iter();
    let groups: Vec<String> = groups
        .map(|(group, change)| format!("{} on {group}", seconds(*change)))
        .collect();
    let moved = seconds(of.moved_s);
    let moved = moved.trim_start_matches('+');
    format!("{} {moved} ({})", of.task, groups.join(", "))
}

/// A change of time with its sign.
fn seconds(change: f64) -> String {
    match change.abs() {
        ..1e-3 => format!("{} us", number::signed(change * 1e6)),
        ..1.0 => format!("{} ms", number::signed(change * 1e3)),
        _ => format!("{} s", number::signed(change)),
    }
}
