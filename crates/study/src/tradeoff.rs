//! Energy against latency over all cases of a study: geometric means by column, and the cells in
//! which another column beats ours.
//!
//! A column *beats* another in a cell if it takes less energy by more than the margin and its
//! latency is not worse by more than its own, or the other way round. Such a saving must be told
//! from chance by the 95 % interval of the differences that are paired by seed (studies/README.md).
//!
//! What must stay: no run changes; ratios are to the base, which is 1, and margins are percent;
//! groups and columns stand as the file has them; a rival beats ours only where the saving is told
//! from chance. Tests by part: `means_are_geometric` (`geometric`),
//! `who_is_quicker_for_the_same_energy_beats_ours` (`versus`, `mean`, `ratio`, `verdict`),
//! `a_column_is_not_its_own_rival` (the file), study/column_tests.rs::`an_oracle_may_be_asked`
//! (`over_optimal`).
//!
//! Tests: crates/study/src/tradeoff/tests.rs,
//! crates/study/src/study/column_tests.rs::an_oracle_may_be_asked

use crate::comparison::PolicyRuns;
use crate::file::{StudyFile, Tradeoff as Said};
use crate::plan::Planned;
use std::collections::BTreeMap;
use wakeplace_metrics::{RunMetrics, paired};
use wakeplace_outcome::{Beaten, Mean, Param, Tradeoff};

/// Group of every case.
const ALL: &str = "all";

/// Looks at the runs of the study's own cases; None: it has no such table.
pub(crate) fn tradeoff(file: &StudyFile, done: &[(&Planned, Vec<PolicyRuns>)]) -> Option<Tradeoff> {
    let said = file.tradeoff.as_ref()?;
    let plain = |(planned, _): &&(&Planned, Vec<PolicyRuns>)| planned.is_plain();
    let own: Vec<_> = done.iter().filter(plain).collect();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (planned, _)) in own.iter().enumerate() {
        groups.entry(ALL.to_owned()).or_default().push(at);
        for name in said.groups.iter().filter_map(|key| planned.params.get(key)) {
            groups.entry(word(name)).or_default().push(at);
        }
    }
    let names: Vec<&str> = file.columns.iter().map(|c| c.name.as_str()).collect();
    let mut means = Vec::new();
    for (group, cases) in &groups {
        let cases: Vec<_> = cases.iter().map(|at| own[*at]).collect();
        let columns = names.iter().enumerate().skip(usize::from(!file.oracle));
        means.extend(columns.map(|(at, name)| mean(said, group, name, &cases, at)));
    }
    let pairs = own.iter().flat_map(|(planned, runs)| {
        said.rivals
            .iter()
            .map(move |rival| (*planned, runs, *rival))
    });
    let compared: Vec<_> = pairs
        .filter_map(|(planned, runs, rival)| Some((planned, versus(said, runs, rival)?, rival)))
        .collect();
    let beaten = compared.iter().filter(|(_, versus, _)| versus.beats);
    let beaten = beaten.map(|(planned, versus, rival)| Beaten {
        case: planned.token.clone(),
        platform: planned.platform.name.clone(),
        rival: file.columns[*rival].name.clone(),
        energy_pct: versus.energy_pct,
        latency_pct: versus.latency_pct,
    });
    Some(Tradeoff {
        base: file.columns[0].name.clone(),
        ours: file.columns[said.ours].name.clone(),
        energy: said.energy.clone(),
        latency: said.latency.clone(),
        time: said.time.clone(),
        energy_pct: said.energy_pct,
        latency_pct: said.latency_pct,
        means,
        beaten: beaten.collect(),
        compared: compared.len(),
    })
}

/// A value of a case's parameter as text: groups of cases are made by it.
fn word(param: &Param) -> String {
    match param {
        Param::Word(word) => word.clone(),
        Param::Number(number) => number.to_string(),
    }
}

/// Sum over the runs of a column, of one metric or several.
fn total(runs: &[RunMetrics], metrics: &[String]) -> Option<f64> {
    let one = |run: &RunMetrics| {
        let values = metrics.iter().map(|metric| run.values.get(metric));
        values.sum::<Option<f64>>()
    };
    runs.iter().map(one).sum()
}

/// A column's sum over the base's; None: one of them is 0 or absent.
fn ratio(runs: &[PolicyRuns], column: usize, metrics: &[String]) -> Option<f64> {
    let of = |at: usize| total(&runs.get(at)?.metrics, metrics).filter(|sum| *sum > 0.0);
    Some(of(column)? / of(0)?)
}

/// The geometric mean of ratios above 0; `None` of none.
fn geometric(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = ratios.fold((0.0, 0_u32), |(sum, n), ratio| (sum + ratio.ln(), n + 1));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// The arithmetic mean over the cases of a column's distance from the best static placement.
fn over_optimal(cases: &[&(&Planned, Vec<PolicyRuns>)], at: usize) -> Option<f64> {
    const DISTANCE: &str = "energy_over_optimal_pct";
    let of_case = |(_, runs): &&(&Planned, Vec<PolicyRuns>)| {
        let runs = &runs.get(at)?.metrics;
        Some(total(runs, &[DISTANCE.to_owned()])? / runs.len() as f64)
    };
    let sum: Option<f64> = cases.iter().map(of_case).sum();
    Some(sum? / cases.len() as f64)
}

/// The geometric means of a column over a group's cases.
fn mean(
    said: &Said,
    group: &str,
    column: &str,
    cases: &[&(&Planned, Vec<PolicyRuns>)],
    at: usize,
) -> Mean {
    let of = |metrics: &[String]| {
        geometric(
            cases
                .iter()
                .filter_map(|(_, runs)| ratio(runs, at, metrics)),
        )
    };
    let energy = std::slice::from_ref(&said.energy);
    let ratios = cases
        .iter()
        .filter_map(|(planned, runs)| Some((ratio(runs, at, energy)?, &planned.token)));
    let worst = ratios.reduce(|a, b| if b.0 > a.0 { b } else { a });
    Mean {
        group: group.to_owned(),
        column: column.to_owned(),
        cases: cases.len(),
        energy_ratio: of(energy),
        latency_ratio: of(std::slice::from_ref(&said.latency)),
        time_ratio: of(&said.time),
        over_optimal_pct: over_optimal(cases, at),
        worst_case: worst.map_or_else(String::new, |(_, token)| token.clone()),
        worst_energy_ratio: worst.map_or(1.0, |(ratio, _)| ratio),
    }
}

/// A rival from ours.
struct Versus {
    energy_pct: f64,
    latency_pct: f64,
    beats: bool,
}

/// None: something was not measured.
fn versus(said: &Said, runs: &[PolicyRuns], rival: usize) -> Option<Versus> {
    let delta = |metric: &str| {
        let delta = paired(&runs[said.ours].metrics, &runs[rival].metrics, metric);
        delta.filter(|delta| delta.delta_pct.is_finite()) // ours is 0: no ratio
    };
    let (energy, latency) = (delta(&said.energy)?, delta(&said.latency)?);
    let told = |ci95: Option<(f64, f64)>| ci95.is_some_and(|(_, high)| high < 0.0);
    let saves = energy.delta_pct < -said.energy_pct && told(energy.ci95);
    let faster = latency.delta_pct < -said.latency_pct && told(latency.ci95);
    Some(Versus {
        energy_pct: energy.delta_pct,
        latency_pct: latency.delta_pct,
        beats: saves && latency.delta_pct <= said.latency_pct
            || faster && energy.delta_pct <= said.energy_pct,
    })
}

/// In a line how often ours is beaten.
pub(crate) fn verdict(found: &Tradeoff) -> String {
    format!(
        "In {} of {} comparisons with one rival in one case, {} is beaten: the rival \
         takes over {} % less {} and its {} is at most {} % longer, or it is over {} % \
         shorter for at most {} % more {}.",
        found.beaten.len(),
        found.compared,
        found.ours,
        found.energy_pct,
        found.energy,
        found.latency,
        found.latency_pct,
        found.latency_pct,
        found.energy_pct,
        found.energy,
    )
}

#[cfg(test)]
mod tests;
