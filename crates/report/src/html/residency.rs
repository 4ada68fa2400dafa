//! Busy and idle time of CPUs (docs/guide/report.md).
//!
//! What must stay: shares are percent of a CPU's time over a run, and means of groups are weighted
//! by their CPUs; kinds take the place of a cluster that holds several. Words and looks may change.
//! Tests by part: `kinds_stand_in_the_place_of_their_cluster` (`groups`, `charts_of`,
//! `residency_table`), `many_clusters_have_one_chart_weighted_by_cpus` (`times`, `shares`,
//! `mean_of`), `kinds_of_cpu_within_a_cluster_are_told_apart` (names on a real page), both below
//! (`section_of`, `drawn`); `shown` is the tests' own.
//!
//! Callers: details.rs (`section_of`).
//!
//! Tests: below, crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart

use super::charts::{Colours, Part, once, stacks};
use super::details::{MAX_CHARTS, Shown, chart, depths, each, first_cells, heads, section};
use super::view::{Block, Cell, Chart, Section, Table};
use serde_json::Value;
use wakeplace_outcome::{Details, Residency};

/// What CPUs did with their time, by cluster or kind; the mean of all where there are many.
pub(super) fn section_of(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let names: Vec<String> = each(cases)
        .flat_map(|(_, of)| groups(of.details))
        .map(|r| r.name().to_owned())
        .collect();
    let names = once(names.iter());
    let mut blocks = match names.len() {
        0 => return None,
        1..=MAX_CHARTS => charts_of(id, cases, &names),
        _ => mean_of(id, cases).into_iter().collect(),
    };
    blocks.push(Block::Table(residency_table(id, cases)));
    section(
        format!("{id}-residency"),
        "Busy and idle",
        "How the CPUs of each cluster, or kind where clusters hold several, spent their time, mean \
         of the runs.",
        blocks,
    )
}

/// The groups that each CPU is in one of: kinds where clusters hold several, else clusters.
fn groups(details: &Details) -> &[Residency] {
    match details.kinds.is_empty() {
        true => &details.residency,
        false => &details.kinds,
    }
}

const TITLE: &str = "share of the CPUs' time (%)";

/// A chart per cluster.
fn charts_of(id: &str, cases: &[Shown<'_>], names: &[&str]) -> Vec<Block> {
    let depths = depths(cases);
    let one = |(at, name): (usize, &&str)| {
        let found = chart(
            format!("{id}-residency-{at}"),
            &format!("CPUs of {name}"),
            "Bars: share of the CPUs' time busy, in each idle state and between, per policy.",
            cases,
            |case| drawn(&times(case, |of| of.name() == *name), &depths),
        )?;
        let half = names.len() > 1;
        Some(Block::Chart(Chart { half, ..found }))
    };
    names.iter().enumerate().filter_map(one).collect()
}

/// One chart of all CPUs.
fn mean_of(id: &str, cases: &[Shown<'_>]) -> Option<Block> {
    let depths = depths(cases);
    let mut found = chart(
        format!("{id}-residency-0"),
        "All CPUs",
        "Bars: share of the CPUs' time busy, in each idle state and between, per policy.",
        cases,
        |case| drawn(&times(case, |_| true), &depths),
    )?;
    found.note = "The mean of the groups by their numbers of CPUs; the figures of each are below."
        .to_owned();
    Some(Block::Chart(found))
}

/// The bars on a scale of 100 %; `None` if there are none.
fn drawn(parts: &[Part], depths: &[&str]) -> Option<Value> {
    let colours = Colours::States(depths);
    (!parts.is_empty()).then(|| stacks(parts, TITLE, Some(100.0), &colours))
}

/// Of each policy the shares of time in the clusters that are wanted: their mean, by CPUs.
fn times(case: &Shown<'_>, wanted: impl Fn(&Residency) -> bool) -> Vec<Part> {
    let mut parts = Vec::new();
    for of in &case.policies {
        let clusters: Vec<&Residency> = { groups(of.details).iter() }
            .filter(|one| wanted(one))
            .collect();
        // Results that do not say how many CPUs there are let each cluster count once.
        let weight = |one: &Residency| one.cpus.max(1) as f64;
        let all = clusters.iter().fold(0.0, |sum, one| sum + weight(one));
        let mut sums: Vec<(String, f64)> = Vec::new();
        for one in clusters {
            for (part, pct) in shares(one) {
                let share = pct * weight(one) / all;
                match sums.iter_mut().find(|(own, _)| *own == part) {
                    Some((_, sum)) => *sum += share,
                    None => sums.push((part, share)),
                }
            }
        }
        let row = &of.policy;
        parts.extend(sums.into_iter().map(|(part, value)| Part {
            row: row.clone(),
            part,
            value,
        }));
    }
    parts
}

/// What a cluster's CPUs did with their time, percent.
fn shares(of: &Residency) -> Vec<(String, f64)> {
    let mut all = vec![("busy".to_owned(), of.busy_pct)];
    if of.transition_pct > 0.0 {
        all.push(("into/out of idle".to_owned(), of.transition_pct));
    }
    let idle = of.idle_pct.iter();
    all.extend(idle.map(|(state, pct)| (format!("idle {state}"), *pct)));
    all
}

/// Shares of time in figures.
fn residency_table(id: &str, cases: &[Shown<'_>]) -> Table {
    let mut columns = heads(cases);
    columns.extend(["CPUs of", "#CPUs", "state", "#share of time"]);
    let caption = "Share of the CPUs' time in each state; cluster states are of the cluster itself";
    let mut table = Table::new(format!("{id}-residency-table"), caption, &columns);
    table.folded = Some("Figures".to_owned());
    for (case, of) in each(cases) {
        let mut row = |r: &Residency, state: &str, pct: f64| {
            let mut cells = first_cells(cases, case, &of.policy);
            cells.extend([Cell::of(r.name()), Cell::of(r.cpus.to_string())]);
            cells.extend([Cell::of(state), Cell::of(format!("{pct:.2} %"))]);
            table.rows.push(cells);
        };
        for r in groups(of.details) {
            row(r, "busy", r.busy_pct);
            row(r, "into/out of idle", r.transition_pct);
            let idle = r.idle_pct.iter();
            idle.for_each(|(state, pct)| row(r, &format!("idle {state}"), *pct));
        }
        for r in &of.details.residency {
            let of_cluster = r.cluster_idle();
            of_cluster.for_each(|(state, pct)| row(r, &format!("cluster in {state}"), *pct));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::details::Of;
    use super::{Shown, section_of, times};
    use crate::html::view::{Block, Cell};
    use wakeplace_outcome::Details;

    fn shown(details: &Details) -> Shown<'_> {
        Shown {
            modelled: false,
            case: String::new(),
            policies: vec![Of {
                policy: "new".to_owned(),
                details,
            }],
        }
    }

    /// Goal: a cluster of several kinds has a chart and rows for each kind, and its own states.
    #[test]
    fn kinds_stand_in_the_place_of_their_cluster() {
        let details = serde_json::json!({
            "residency": [{ "cluster": "all", "cpus": 8, "busy_pct": 30.0,
                "cluster_idle_pct": { "off": 12.5 } }],
            "kinds": [{ "kind": "a55", "cpus": 6, "busy_pct": 20.0 },
                { "kind": "a76", "cpus": 2, "busy_pct": 60.0 }],
        });
        let details = serde_json::from_value::<Details>(details).expect("details");
        let found = section_of("x", &[shown(&details)]).expect("a section");
        let titles = found.blocks.iter().filter_map(|block| match block {
            Block::Chart(chart) => Some(chart.title.as_str()),
            _ => None,
        });
        assert_eq!(titles.collect::<Vec<_>>(), ["CPUs of a55", "CPUs of a76"]);
        let Some(Block::Table(table)) = found.blocks.last() else {
            panic!("no table");
        };
        let of = |name: &str, row: &[Cell]| row.iter().any(|cell| cell.text == name);
        let rows = |name: &str| table.rows.iter().filter(|row| of(name, row)).count();
        // Busy, and on the way between: of no states of their own is said anything.
        assert_eq!([rows("a55"), rows("a76"), rows("all")], [2, 2, 1]);
    }

    /// Goal: machines of many clusters have a chart too. Clusters of 1 and 3 CPUs, busy 80 and
    /// 40 %: (80 + 3 x 40) / 4 = 50.
    #[test]
    fn many_clusters_have_one_chart_weighted_by_cpus() {
        let clusters = |number: u64| {
            let one = |at: u64| {
                serde_json::json!({
                    "cluster": format!("c{at}"), "cpus": if at == 0 { 1 } else { 3 },
                    "busy_pct": if at == 0 { 80.0 } else { 40.0 },
                    "idle_pct": { "WFI": if at == 0 { 20.0 } else { 60.0 } },
                })
            };
            let all: Vec<_> = (0..number).map(one).collect();
            serde_json::from_value::<Details>(serde_json::json!({ "residency": all }))
        };
        let two = clusters(2).expect("details");
        let parts = times(&shown(&two), |_| true);
        let parts: Vec<_> = parts.iter().map(|p| (p.part.as_str(), p.value)).collect();
        assert_eq!(parts, [("busy", 50.0), ("idle WFI", 50.0)]);
        for (number, charts) in [(2, 2), (4, 4), (5, 1), (80, 1)] {
            let details = clusters(number).expect("details");
            let found = section_of("x", &[shown(&details)]).expect("a section");
            let is_chart = |block: &&Block| matches!(block, Block::Chart(_));
            assert_eq!(found.blocks.iter().filter(is_chart).count(), charts);
        }
    }
}
