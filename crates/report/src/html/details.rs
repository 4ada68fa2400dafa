//! Where energy and time went: sections that `compare`, `sim` and studies share
//! (docs/guide/report.md).
//!
//! What must stay: times are ns and clocks kHz in results; sections stand in the page's order; a
//! section without figures is left out. Changes beyond 300 % are left to the table, and the chart
//! says so. Words and looks may change. Tests by part:
//! `the_answer_stands_first_and_everything_after_it` (`sections`, `frequencies`, `placements`),
//! `an_older_result_has_less_and_says_so` (a result without details),
//! `results_of_version_1_are_read` (old details), `it_can_be_read_without_eyes_and_without_a_mouse`
//! (`chart`, its text), the first also `section`, `each`, `heads`, `first_cells`, `depths`, `mhz`,
//! `busy_at`, `frequency_table` and `key`. `changes` has no test of its own for what lies far out.
//!
//! Callers: residency.rs (`chart`, `each`, `heads`, `first_cells`, `depths`), energy.rs (`chart`,
//! `each`, `heads`, `depths`), late_frames.rs (`each`, `section`), latency.rs (`chart`, `each`,
//! `heads`, `first_cells`), compared.rs (`sections`), study.rs (`sections`).
//!
//! Tests: crates/report/src/html/tests.rs

use super::charts::{Bar, Dot, bars, dots};
use super::view::{Block, Cell, Chart, Section, Table};
use super::{energy, late_frames, latency, residency};
use crate::number;
use serde_json::Value;
use wakeplace_outcome::Details;

/// Clusters or domains of which each gets a chart; of more, tables say it.
pub(super) const MAX_CHARTS: usize = 4;
/// Lines of a chart or table that can be taken in.
pub(super) const MAX_LINES: usize = 64;

/// The details of one policy under the name it is shown by.
pub(super) struct Of<'a> {
    pub(super) policy: String,
    pub(super) details: &'a Details,
}

/// What is shown of one case; its name is empty where there are none.
pub(super) struct Shown<'a> {
    pub(super) case: String,
    /// Nobody measured the power that its joules are made of.
    pub(super) modelled: bool,
    pub(super) policies: Vec<Of<'a>>,
}

/// All sections; `cases` has one entry or one per case.
pub(super) fn sections(id: &str, cases: &[Shown<'_>]) -> Vec<Section> {
    let all = [
        energy::section_of(id, cases),
        residency::section_of(id, cases),
        frequencies(id, cases),
        latency::section_of(id, cases),
        late_frames::section_of(id, cases),
        placements(id, cases),
    ];
    all.into_iter().flatten().collect()
}

/// A chart with one spec per case that has something to show.
pub(super) fn chart(
    id: String,
    title: &str,
    alt: &str,
    cases: &[Shown<'_>],
    spec: impl Fn(&Shown<'_>) -> Option<Value>,
) -> Option<Chart> {
    let mut choices = Vec::new();
    let mut specs = Vec::new();
    for case in cases {
        if let Some(spec) = spec(case) {
            choices.push(case.case.clone());
            specs.push(spec);
        }
    }
    let several = cases.len() > 1;
    (!specs.is_empty()).then(|| Chart {
        id,
        title: title.to_owned(),
        alt: alt.to_owned(),
        note: String::new(),
        choice: if several { "Case" } else { "" }.to_owned(),
        choices: if several { choices } else { Vec::new() },
        half: false,
        specs,
    })
}

/// A section of these blocks; `None` if there is nothing in it.
pub(super) fn section(id: String, title: &str, lead: &str, blocks: Vec<Block>) -> Option<Section> {
    (!blocks.is_empty()).then(|| Section {
        id,
        title: title.to_owned(),
        lead: lead.to_owned(),
        blocks,
    })
}

/// All policies of all cases, with the name of their case.
pub(super) fn each<'a>(cases: &'a [Shown<'a>]) -> impl Iterator<Item = (&'a str, &'a Of<'a>)> {
    let of_case = |case: &'a Shown<'a>| case.policies.iter().map(|of| (case.case.as_str(), of));
    cases.iter().flat_map(of_case)
}

/// The first columns: the case, if there are several, and the policy.
pub(super) fn heads(cases: &[Shown<'_>]) -> Vec<&'static str> {
    if cases.len() > 1 {
        vec!["case", "policy"]
    } else {
        vec!["policy"]
    }
}

/// The head of a row: the case where there are several, then the policy.
pub(super) fn first_cells(cases: &[Shown<'_>], case: &str, policy: &str) -> Vec<Cell> {
    let case = (cases.len() > 1).then(|| Cell::head(case));
    case.into_iter().chain([Cell::head(policy)]).collect()
}

/// Idle states in the order of all results, shallow ones first.
pub(super) fn depths<'a>(cases: &'a [Shown<'a>]) -> Vec<&'a str> {
    let residency = each(cases).flat_map(|(_, of)| &of.details.residency);
    let states = residency.flat_map(|r| r.idle_pct.iter().chain(r.cluster_idle()));
    super::charts::once(states.map(|(name, _)| name))
}

/// Where clocks were and how busy CPUs were there; None: no clock has two points.
fn frequencies(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let names: Vec<String> = each(cases)
        .flat_map(|(_, of)| &of.details.frequencies)
        .filter(|domain| domain.khz_time_busy_pct.len() > 1)
        .map(|domain| domain.cpus.clone())
        .collect();
    let names = super::charts::once(names.iter());
    let mut blocks = Vec::new();
    for cpus in names.iter().filter(|_| names.len() <= MAX_CHARTS) {
        let one = chart(
            format!("{id}-frequency-{}", blocks.len()),
            &format!("CPUs {cpus}"),
            "Bars: share of the CPUs' time busy at each frequency, for each policy.",
            cases,
            |case| {
                let all = busy_at(case, cpus);
                let titles = ("frequency (MHz)", "busy at it (% of the CPUs' time)");
                (!all.is_empty()).then(|| bars(&all, titles, false))
            },
        );
        blocks.extend(one.map(|c| {
            Block::Chart(Chart {
                half: names.len() > 1,
                ..c
            })
        }));
    }
    if names.len() > MAX_CHARTS {
        let text = format!(
            "{} frequency domains are too many for a chart each; the table has them all.",
            names.len()
        );
        blocks.push(Block::Text { text });
    }
    if !names.is_empty() {
        blocks.push(Block::Table(frequency_table(id, cases)));
    }
    section(
        format!("{id}-frequency"),
        "Frequencies",
        "What each frequency domain ran at while its CPUs were busy, mean of the runs.",
        blocks,
    )
}

/// A frequency for people, from kHz.
fn mhz(khz: u64) -> String {
    format!("{}", khz as f64 / 1000.0)
}

/// The bars of one domain.
fn busy_at(case: &Shown<'_>, cpus: &str) -> Vec<Bar> {
    let mut all = Vec::new();
    for of in &case.policies {
        for domain in of
            .details
            .frequencies
            .iter()
            .filter(|domain| domain.cpus == cpus)
        {
            let bar = |(khz, _, busy): &(u64, f64, f64)| Bar {
                at: mhz(*khz),
                series: of.policy.clone(),
                value: *busy,
            };
            all.extend(domain.khz_time_busy_pct.iter().take(MAX_LINES).map(bar));
        }
    }
    all
}

/// The same in figures.
fn frequency_table(id: &str, cases: &[Shown<'_>]) -> Table {
    let mut columns = heads(cases);
    columns.extend(["CPUs", "#frequency (MHz)", "#set to it", "#busy at it"]);
    let caption = "Share of the time that a domain was set to a frequency, and share of its CPUs' \
                   time that they were busy at it";
    let mut table = Table::new(format!("{id}-frequency-table"), caption, &columns);
    table.folded = Some("Figures".to_owned());
    for (case, of) in each(cases) {
        for domain in &of.details.frequencies {
            for (khz, time, busy) in &domain.khz_time_busy_pct {
                let mut cells = first_cells(cases, case, &of.policy);
                cells.extend([Cell::of(&domain.cpus), Cell::of(mhz(*khz))]);
                cells.push(Cell::of(format!("{time:.2} %")));
                cells.push(Cell::of(format!("{busy:.2} %")));
                table.rows.push(cells);
            }
        }
    }
    table
}

/// Why CPUs were chosen, by reason; None: nothing was placed.
fn placements(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let mut table = {
        let mut columns = heads(cases);
        columns.extend(["reason", "#placements per run", "#share"]);
        let caption = "Why CPUs were chosen, mean of the runs; `wakeplace explain` shows single \
                       decisions";
        Table::new(format!("{id}-reasons-table"), caption, &columns).folded("Figures")
    };
    for (case, of) in each(cases) {
        let counts = &of.details.placements_per_run;
        let all = counts.iter().fold(0.0, |sum, (_, count)| sum + count);
        for (reason, count) in counts.iter() {
            let mut cells = first_cells(cases, case, &of.policy);
            let share = if all > 0.0 { count / all * 100.0 } else { 0.0 };
            cells.extend([Cell::of(reason), Cell::of(number::short(*count))]);
            cells.push(Cell::of(format!("{share:.1} %")));
            table.rows.push(cells);
        }
    }
    let drawn = chart(
        format!("{id}-reasons-chart"),
        "Reasons",
        "Bars: how many placements of a run each reason decided, for each policy.",
        cases,
        |case| {
            let mut all = Vec::new();
            for of in &case.policies {
                let bar = |(reason, count): &(String, f64)| Bar {
                    at: reason.clone(),
                    series: of.policy.clone(),
                    value: *count,
                };
                all.extend(
                    of.details
                        .placements_per_run
                        .iter()
                        .take(MAX_LINES)
                        .map(bar),
                );
            }
            (!all.is_empty()).then(|| bars(&all, ("reason", "placements per run"), true))
        },
    )?;
    section(
        format!("{id}-reasons"),
        "Why CPUs were chosen",
        "The policy's own reason for each placement of a waking or new task.",
        vec![Block::Chart(drawn), Block::Table(table)],
    )
}

/// What the marks of a dot plot are: of those that are drawn.
pub(super) fn key(dots: &[Dot], lines: &str) -> String {
    let both = dots.iter().any(|dot| dot.source == "published");
    let drawn = dots.iter().any(|dot| dot.ends.is_some());
    match (both, drawn) {
        (true, true) => format!("◇ published, ● simulated; lines are {lines}."),
        (true, false) => "◇ published, ● simulated.".to_owned(),
        (false, true) => format!("Lines are {lines}."),
        (false, false) => String::new(),
    }
}

/// A dot plot of changes in percent; what lies far out is left to the table.
/// `title` and `rows`: of the chart, and what its rows are.
pub(super) fn changes(
    id: String,
    (title, rows): (&str, &str),
    alt: &str,
    all: Vec<Dot>,
) -> Option<Chart> {
    const MOST_PCT: f64 = 300.0;
    let fits = |dot: &Dot| {
        let (low, high) = dot.ends.unwrap_or((dot.value, dot.value));
        [low, high, dot.value]
            .iter()
            .all(|end| end.abs() <= MOST_PCT)
    };
    let (shown, out): (Vec<Dot>, Vec<Dot>) = all.into_iter().partition(fits);
    if shown.is_empty() {
        return None;
    }
    let left = super::charts::once(out.iter().map(|dot| &dot.row)).join(", ");
    let mut note = key(&shown, "95 % confidence intervals");
    if !left.is_empty() {
        note += &format!(" Changes beyond {MOST_PCT} % are in the table only: {left}.");
    }
    Some(Chart {
        id,
        title: title.to_owned(),
        alt: alt.to_owned(),
        note,
        choice: String::new(),
        choices: Vec::new(),
        half: false,
        specs: vec![dots(
            &shown,
            ("change from the base (%)", rows),
            "95 % interval",
            true,
        )],
    })
}
