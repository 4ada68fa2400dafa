//! Energy by cluster, state and CPU (docs/guide/report.md).
//!
//! What must stay: figures are joules, or the platform's own unit where powers have none; parts of
//! a bar and rows of the table add up to the whole, the rest of the board included. Words and looks
//! may change. Tests by part: `the_answer_stands_first_and_everything_after_it` (`section_of`),
//! `an_older_result_has_less_and_says_so` (no powers), `modelled_joules_have_a_word` (the unit's
//! word), `what_the_page_is_made_of_is_in_the_json` (that the parts of a result add up).
//! `by_state`, `cpu_energies` and `energy_table` have no test of their own figures. `most`,
//! `by_cluster` and `kind` by the first one.
//!
//! Callers: details.rs (`section_of`).
//!
//! Tests: crates/report/src/html/tests.rs,
//! crates/cli/tests/all/report.rs::what_the_page_is_made_of_is_in_the_json

use super::charts::{Bar, Colours, Part, bars, stacks};
use super::details::{
    MAX_CHARTS, MAX_LINES, Shown, chart, depths, each, first_cells, heads, section,
};
use super::view::{Block, Cell, Chart, Section, Table};
use crate::{number, phrase};

/// The metric that the section takes apart.
const WHOLE: &str = "cpu_energy_j";

/// The unit of machines with power in watts.
const JOULES: &str = "J";

/// The least part of the longest bar that is drawn.
const VISIBLE: f64 = 0.0005;

/// Energy as charts and figures; None: no powers are known.
pub(super) fn section_of(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let unit = each(cases).find_map(|(_, of)| Some(of.details.energy.as_ref()?.unit.clone()))?;
    let modelled = cases.iter().filter(|case| case.modelled).count();
    let unit = match phrase::power_word(WHOLE, (modelled, cases.len())) {
        Some(word) => format!("{unit}, {word}"),
        None => unit,
    };
    let title = format!("energy ({unit}, mean of a run)");
    let mut blocks = Vec::new();
    let whole = chart(
        format!("{id}-energy-all"),
        "By cluster",
        "Bars: mean energy of a run for each policy, made of clusters and the rest of the board.",
        cases,
        |case| Some(stacks(&by_cluster(case), &title, None, &Colours::Parts)),
    );
    blocks.extend(whole.map(Block::Chart));
    let clusters: Vec<String> = each(cases)
        .flat_map(|(_, of)| &of.details.energy)
        .flat_map(|energy| &energy.cluster_state_energy_s)
        .map(|part| part.0.clone())
        .collect();
    let clusters = super::charts::once(clusters.iter());
    let depths = depths(cases);
    for cluster in clusters
        .iter()
        .take(MAX_CHARTS)
        .filter(|_| clusters.len() <= MAX_CHARTS)
    {
        let of_cluster = chart(
            format!("{id}-energy-{}", blocks.len()),
            &format!("Cluster {cluster}, by state"),
            "Bars: mean energy of the cluster for each policy, made of the states that drew it.",
            cases,
            |case| {
                let mut parts = by_state(case, cluster);
                let most = clusters
                    .iter()
                    .map(|c| most(&by_state(case, c)))
                    .fold(0.0, f64::max);
                let colours = Colours::States(&depths);
                // What cannot be seen would only fill the legend.
                parts.retain(|part| part.value > most * VISIBLE);
                (!parts.is_empty()).then(|| stacks(&parts, &title, Some(most), &colours))
            },
        );
        blocks.extend(of_cluster.map(|c| Block::Chart(Chart { half: true, ..c })));
    }
    let by_cpu = chart(
        format!("{id}-energy-cpu"),
        "By CPU",
        "Bars: mean energy of each CPU, without its cluster's share, for each policy.",
        cases,
        |case| {
            let all = cpu_energies(case);
            (!all.is_empty()).then(|| bars(&all, ("CPU", &title), false))
        },
    );
    blocks.extend(by_cpu.map(Block::Chart));
    blocks.push(Block::Table(energy_table(id, cases, &unit)));
    section(
        format!("{id}-energy"),
        "Energy by CPU and state",
        "What the machine's states drew, integrated over each run; the policy's own estimate has \
         no part in it.",
        blocks,
    )
}

/// The longest bar of a chart, so that charts beside each other have one scale.
fn most(parts: &[Part]) -> f64 {
    let rows = super::charts::once(parts.iter().map(|part| &part.row));
    let sum = |row: &&str| {
        let own = parts.iter().filter(|part| part.row == *row);
        own.fold(0.0, |sum, part| sum + part.value)
    };
    rows.iter().map(sum).fold(0.0, f64::max)
}

/// The parts of each cluster and the board.
fn by_cluster(case: &Shown<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for of in &case.policies {
        let Some(energy) = &of.details.energy else {
            continue;
        };
        let mut add = |name: &str, value: f64| {
            let known = parts
                .iter_mut()
                .find(|p| p.row == of.policy && p.part == name);
            match known {
                Some(part) => part.value += value,
                None => parts.push(Part {
                    row: of.policy.clone(),
                    part: name.to_owned(),
                    value,
                }),
            }
        };
        for (cluster, _, value, _) in &energy.cluster_state_energy_s {
            add(cluster, *value);
        }
        if let Some(board) = energy.board {
            add("rest of the board", board);
        }
        if let Some(work) = energy.work {
            add("rest of the board, for work", work);
        }
    }
    parts
}

/// The parts of each state of a cluster.
fn by_state(case: &Shown<'_>, cluster: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for of in &case.policies {
        let all = of
            .details
            .energy
            .iter()
            .flat_map(|e| &e.cluster_state_energy_s);
        for (_, state, value, _) in all.filter(|part| part.0 == cluster) {
            let state = kind(state);
            let known = parts
                .iter_mut()
                .find(|p: &&mut Part| p.row == of.policy && p.part == state);
            match known {
                Some(part) => part.value += value,
                None => parts.push(Part {
                    row: of.policy.clone(),
                    part: state.to_owned(),
                    value: *value,
                }),
            }
        }
    }
    parts
}

/// What a chart calls a state: those that differ in where they lead to are one.
fn kind(state: &str) -> &str {
    if state.starts_with("into/out of ") {
        return "into/out of idle";
    }
    if state.starts_with("cluster on, CPUs") {
        return "cluster on, CPUs idle";
    }
    state
}

/// The bars of each CPU: busy, idle and on the way.
fn cpu_energies(case: &Shown<'_>) -> Vec<Bar> {
    let mut bars = Vec::new();
    for of in &case.policies {
        let cpus = of
            .details
            .energy
            .iter()
            .flat_map(|e| &e.cpu_busy_idle_transition);
        for (cpu, (busy, idle, transition)) in cpus.enumerate().take(MAX_LINES) {
            bars.push(Bar {
                at: cpu.to_string(),
                series: of.policy.clone(),
                value: busy + idle + transition,
            });
        }
    }
    bars
}

/// All energies in figures, with shares and times.
fn energy_table(id: &str, cases: &[Shown<'_>], unit: &str) -> Table {
    let mut columns = heads(cases);
    let energy = format!("#energy ({unit})");
    columns.extend([
        "cluster",
        "state",
        energy.as_str(),
        "#share",
        "#time (s)",
        "#mean power",
    ]);
    let caption = "Mean energy of a run by cluster and state; times of CPU states are sums over \
                   the cluster's CPUs";
    let mut table = Table::new(format!("{id}-energy-table"), caption, &columns).folded("Figures");
    let watts = if unit.starts_with(JOULES) {
        "W"
    } else {
        "bogo"
    };
    for (case, of) in each(cases) {
        let Some(energy) = &of.details.energy else {
            continue;
        };
        let parts = energy.cluster_state_energy_s.iter();
        let rest = energy.board.unwrap_or(0.0) + energy.work.unwrap_or(0.0);
        let all = parts.clone().fold(rest, |sum, part| sum + part.2);
        let share = |value: f64| if all > 0.0 { value / all * 100.0 } else { 0.0 };
        let mut row = |cluster: &str, state: &str, value: f64, time: Option<f64>| {
            let mut cells = first_cells(cases, case, &of.policy);
            let power = time.filter(|time| *time > 0.0).map(|time| value / time);
            cells.extend([
                Cell::of(cluster),
                Cell::of(state),
                Cell::of(number::short(value)),
            ]);
            cells.push(Cell::of(format!("{:.1} %", share(value))));
            cells.push(time.map(number::short).into());
            cells.push(
                power
                    .map(|power| format!("{} {watts}", number::short(power)))
                    .into(),
            );
            table.rows.push(cells);
        };
        for (cluster, state, value, time) in parts {
            row(cluster, state, *value, Some(*time));
        }
        if let Some(board) = energy.board {
            row("–", "rest of the board", board, None);
        }
        if let Some(work) = energy.work {
            row("–", "rest of the board, for work", work, None);
        }
    }
    table
}
