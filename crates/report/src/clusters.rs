//! Where the energy of runs went, by cluster and kind of state (docs/guide/review.md, "What it
//! says"; docs/guide/results.md, "Clusters and kinds").
//!
//! What must stay: figures are those of `details.energy` of a result, means over the seeds; parts
//! of a cluster add up to it. A part that is left out is small beside the largest of its cluster.
//! Words may change. Tests by part: `a_change_says_where_its_energy_went` (`energies`, `sentence`),
//! `clusters_are_columns` (`table`), crates/cli/tests/all/review.rs::`a_change_has_its_clusters`
//! (real results).
//!
//! Callers: review/mod.rs (`energies`), review/text.rs and html/review.rs (`sentence`),
//! comparison.rs (`table`), why/said.rs (`scaled`).
//!
//! Tests: below, crates/cli/tests/all/review.rs::a_change_has_its_clusters

use crate::html::charts::once;
use crate::{Align, Cell, Format, Style, Table, number};
use wakeplace_metrics::MODELLED;
use wakeplace_outcome::{ClusterEnergies, Comparison, Energy, Run};

/// The unit of machines with power in watts; others have no smaller parts with a name.
const JOULES: &str = "J";
/// A part of less is not told: of the largest part of its cluster.
const TOLD: f64 = 0.1;
/// What rounds to nothing, in the unit that is shown.
const NOTHING: f64 = 0.005;
/// Machines of more clusters have no table of them.
const MOST_CLUSTERS: usize = 8;

/// What a kind of state is called.
fn kind(state: &str) -> &'static str {
    match state {
        busy if busy.starts_with("busy") => "busy",
        on if on.starts_with("cluster on") => "on",
        way if way.starts_with("into/out of ") => "into/out of idle",
        _ => "idle",
    }
}

/// Energies by cluster and kind of state, in the order of results.
fn by_kind(energy: &Energy) -> Vec<(&str, &'static str, f64)> {
    let mut all: Vec<(&str, &'static str, f64)> = Vec::new();
    for (cluster, state, value, _) in &energy.cluster_state_energy_s {
        let kind = kind(state);
        let known = all
            .iter_mut()
            .find(|part| part.0 == cluster.as_str() && part.1 == kind);
        match known {
            Some(part) => part.2 += value,
            None => all.push((cluster.as_str(), kind, *value)),
        }
    }
    all
}

/// What the states of a run drew, if it is known.
fn energy_of(run: &Run) -> Option<&Energy> {
    run.details.as_ref()?.energy.as_ref()
}

/// Energies of a base and a change; None: no powers are known.
pub(crate) fn energies(result: &Comparison) -> Option<ClusterEnergies> {
    let [base, change] = result.runs.as_slice() else {
        return None;
    };
    let (base, change) = (energy_of(base)?, energy_of(change)?);
    let (olds, news) = (by_kind(base), by_kind(change));
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for (cluster, kind, _) in olds.iter().chain(&news) {
        if !keys.contains(&(*cluster, *kind)) {
            keys.push((*cluster, *kind));
        }
    }
    let value = |all: &[(&str, &str, f64)], key: (&str, &str)| {
        let own = all.iter().find(|part| (part.0, part.1) == key);
        own.map_or(0.0, |part| part.2)
    };
    let both = keys.into_iter().map(|key| {
        let (cluster, kind) = (key.0.to_owned(), key.1.to_owned());
        (cluster, kind, value(&olds, key), value(&news, key))
    });
    Some(ClusterEnergies {
        unit: base.unit.clone(),
        modelled_power: result.modelled_power,
        cluster_state_base_change: both.collect(),
    })
}

/// A unit in which the largest value reads well, and how many of it are one of the results'.
pub(crate) fn scaled(unit: &str, largest: f64) -> (String, f64) {
    match (unit, largest) {
        (JOULES, ..1e-3) => ("uJ".to_owned(), 1e6),
        (JOULES, ..1.0) => ("mJ".to_owned(), 1e3),
        _ => (unit.to_owned(), 1.0),
    }
}

/// From which clusters and states a change of energy came; None: nothing changed.
pub(crate) fn sentence(energies: &ClusterEnergies) -> Option<String> {
    let all = &energies.cluster_state_base_change;
    let names = once(all.iter().map(|part| &part.0));
    let parts = |name: &str| -> Vec<(&str, f64)> {
        let own = all.iter().filter(|part| part.0 == name);
        own.map(|(_, kind, base, change)| (kind.as_str(), change - base))
            .collect()
    };
    let of_all = all.iter().map(|(.., base, change)| (change - base).abs());
    let largest = of_all.fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let (unit, factor) = scaled(&energies.unit, largest);
    let one = |name: &str| {
        let parts = parts(name);
        let sum = parts.iter().fold(0.0, |sum, (_, change)| sum + change) * factor;
        let sizes = parts.iter().map(|(_, change)| change.abs());
        let least = sizes.fold(0.0, f64::max) * TOLD;
        let told = parts.iter().filter(|(_, change)| {
            let size = change.abs();
            size >= least && size * factor >= NOTHING
        });
        let told: Vec<String> = told
            .map(|(kind, change)| format!("{kind} {}", number::signed(change * factor)))
            .collect();
        match told.is_empty() {
            true => format!("{name} unchanged"),
            false => format!(
                "{name} {} {unit} ({})",
                number::signed(sum),
                told.join(", ")
            ),
        }
    };
    let clusters: Vec<String> = names.into_iter().map(one).collect();
    let what = match energies.modelled_power {
        true => "Modelled energy",
        false => "Energy",
    };
    Some(format!(
        "{what} by cluster, from base to change, mean of a run: {}.",
        clusters.join(", ")
    ))
}

/// Energy by cluster, policy by policy; empty for one cluster, very many, or without powers.
pub(crate) fn table(
    result: &Comparison,
    name: impl Fn(&Run) -> String,
    format: Format,
    style: Style,
) -> String {
    let runs = || result.runs.iter();
    let known = || runs().filter_map(|run| Some((run, energy_of(run)?)));
    let parts = known().flat_map(|(_, energy)| &energy.cluster_state_energy_s);
    let clusters = once(parts.map(|part| &part.0));
    let Some((_, first)) = known().next() else {
        return String::new();
    };
    if !(2..=MOST_CLUSTERS).contains(&clusters.len()) {
        return String::new();
    }
    let head = match result.modelled_power {
        true => format!("energy by cluster ({}, {MODELLED})", first.unit),
        false => format!("energy by cluster ({})", first.unit),
    };
    let columns = [&[head.as_str()][..], &clusters].concat();
    let mut table = Table::new("clusters", &columns).keys(1).as_typed();
    for cluster in &clusters {
        table = table.align(cluster, Align::Right);
    }
    for (run, energy) in known() {
        let sum = |cluster: &&str| {
            let own = { energy.cluster_state_energy_s.iter() }.filter(|part| part.0 == *cluster);
            Cell::from(number::short(own.fold(0.0, |sum, part| sum + part.2)))
        };
        let cells = clusters.iter().map(sum);
        let head = std::iter::once(Cell::from(name(run)));
        table.row(head.chain(cells).collect());
    }
    format!("\n{}", table.render(format, style))
}

#[cfg(test)]
mod tests {
    use super::{energies, sentence, table};
    use crate::{Format, Style};
    use serde_json::{Value, json};
    use wakeplace_outcome::Comparison;

    /// A comparison whose policies have these parts.
    fn result(unit: &str, parts: [Value; 2]) -> Comparison {
        let run = |(policy, parts): (&str, &Value)| {
            json!({
                "platform": "board", "workload": "load", "policy": policy, "seeds": [1],
                "metrics": {},
                "details": { "energy": { "unit": unit, "cluster_state_energy_s": parts } },
            })
        };
        let runs: Vec<Value> = ["old", "new"].into_iter().zip(&parts).map(run).collect();
        let value = json!({"schema_version": 2, "duration_ns": 1, "runs": runs});
        serde_json::from_value(value).expect("a result")
    }

    /// By hand: little 10 + 2 -> 43 + 11 mJ, of which the idle state is a hundredth; mid loses 6 mJ
    /// of 7; big has nothing.
    fn three() -> Comparison {
        result(
            "J",
            [
                json!([
                    ["little", "busy", 0.010, 1.0],
                    ["little", "idle WFI", 0.001, 1.0],
                    ["little", "cluster on", 0.002, 1.0],
                    ["mid", "busy", 0.007, 1.0],
                    ["big", "busy", 0.5, 1.0],
                ]),
                json!([
                    ["little", "busy", 0.043, 1.0],
                    ["little", "idle WFI", 0.0013, 1.0],
                    ["little", "cluster on", 0.009, 1.0],
                    ["little", "cluster on, CPUs in WFI", 0.002, 1.0],
                    ["mid", "busy", 0.001, 1.0],
                    ["big", "busy", 0.5, 1.0],
                ]),
            ],
        )
    }

    #[test]
    fn a_change_says_where_its_energy_went() {
        let said = |result: &Comparison| sentence(&energies(result).expect("powers"));
        let expected = "Energy by cluster, from base to change, mean of a run: little +42.30 mJ \
                        (busy +33.00, on +9.00), mid -6.00 mJ (busy -6.00), big unchanged.";
        assert_eq!(said(&three()).as_deref(), Some(expected));
        let mut modelled = three();
        modelled.modelled_power = true;
        assert!(said(&modelled).is_some_and(|line| line.starts_with("Modelled energy by cluster")));
        let same = json!([["all", "busy", 3.0, 1.0]]);
        assert_eq!(said(&result("J", [same.clone(), same.clone()])), None);
        let more = json!([["all", "busy", 5.5, 1.0]]);
        let bogo = said(&result("bogo·s", [same, more])).expect("a change");
        assert!(bogo.ends_with("all +2.50 bogo·s (busy +2.50)."), "{bogo}");
    }

    #[test]
    fn clusters_are_columns() {
        let text = |of: &Comparison| {
            table(
                of,
                |run| run.policy.clone(),
                Format::Human,
                Style::default(),
            )
        };
        let words = |text: &str| -> Vec<Vec<String>> {
            let lines = text.lines().filter(|line| !line.is_empty());
            lines
                .map(|line| line.split_whitespace().map(str::to_owned).collect())
                .collect()
        };
        let rows = words(&text(&three()));
        assert_eq!(
            rows,
            [
                &["energy", "by", "cluster", "(J)", "little", "mid", "big"][..],
                &["old", "0.0130", "0.0070", "0.5000"],
                &["new", "0.0553", "0.0010", "0.5000"],
            ]
        );
        let one = json!([["all", "busy", 3.0, 1.0]]);
        assert_eq!(text(&result("J", [one.clone(), one])), "");
    }
}
