//! `platform show`: the operating points of a clock, what is drawn and believed at each
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `platform_text.rs`. No program reads it: words and columns are free.
//!
//! What must stay: figures are the model's, in mW or in the platform's own unit; nothing is
//! computed but mW of µW. Of many points the lowest and the highest are shown, and how many are
//! hidden is said. Tests by part:
//! crates/cli/tests/all/results.rs::`clocks_points_and_moves_are_shown` (`operating_points`),
//! results.rs::`a_platform_is_shown_with_its_sources` (`power`),
//! results.rs::`lists_and_pages_of_platforms_are_short` (`SHOWN_POINTS`). No test of its own:
//! `measured_cells` and words of `about_points`.
//!
//! Tests: crates/cli/tests/all/results.rs

use crate::machine::EnergyState;
use crate::page::Page;
use crate::text::time;
use wakeplace_platform::{FreqDomain, MeasuredPower, Opp, Platform, PowerUnit};
use wakeplace_report::{Align, Cell, Table};

/// Most operating points of a table: the lowest and the highest ones.
const SHOWN_POINTS: usize = 16;

/// Power for people: mW, or the platform's own unit.
pub(super) fn power(platform: &Platform, figure: Option<u64>) -> Cell {
    match (platform.power_unit, figure) {
        (_, None) => Cell::from("-"),
        (PowerUnit::Microwatt, Some(uw)) => Cell::from(format!("{:.3}", uw as f64 / 1e3)),
        (_, Some(figure)) => Cell::from(figure),
    }
}

/// The heading of a column of powers, with mW or the word for a unit of the platform's own.
fn power_column(platform: &Platform, what: &str) -> String {
    match platform.power_unit {
        PowerUnit::Microwatt => format!("{what}_mW"),
        _ => format!("{what}_power"),
    }
}

/// Table of a clock's operating points, and what stands below it.
pub(super) fn operating_points(
    page: &mut Page,
    platform: &Platform,
    (domain, cpus): (&FreqDomain, &str),
    states: &[EnergyState],
) {
    let (busy, cluster) = (
        power_column(platform, "CPU"),
        power_column(platform, "cluster"),
    );
    let work = power_column(platform, "work");
    let em = power_column(platform, "EM");
    let has_work = domain.opps[0].work_power.is_some();
    let has_em = domain.opps[0].em_power.is_some();
    let mut columns = vec!["MHz", "mV", &busy, &cluster, "performance", "cost", "note"];
    if has_em {
        columns.insert(4, &em);
    }
    if has_work {
        columns.insert(4, &work);
    }
    if domain.measured.is_some() {
        columns.splice(3..3, ["to", "WFI"]);
    }
    let mut table = Table::new("opps", &columns);
    for column in columns.iter().filter(|column| **column != "note") {
        table = table.align(column, Align::Right);
    }
    let none_or = |value: Option<u32>| value.map_or(Cell::from("-"), |v| Cell::from(u64::from(v)));
    let row = |(index, opp): (usize, &Opp)| {
        // A driver's states are no operating points.
        let state = states.get(index).filter(|_| domain.em_costs.is_none());
        let inefficient = state.is_some_and(|state| state.inefficient);
        let mut cells = vec![
            Cell::from(f64::from(opp.khz) / 1e3),
            none_or(opp.mv),
            power(platform, opp.power),
            power(platform, opp.cluster_power),
            none_or(state.map(|state| state.performance)),
            none_or(state.map(|state| state.cost)),
            Cell::from(if inefficient { "inefficient" } else { "" }),
        ];
        if has_em {
            cells.insert(4, power(platform, opp.em_power));
        }
        if has_work {
            cells.insert(4, power(platform, opp.work_power));
        }
        if let Some(measured) = &domain.measured {
            measured_cells(platform, measured, index, &mut cells);
        }
        cells
    };
    let hidden = domain.opps.len().saturating_sub(SHOWN_POINTS);
    let first = SHOWN_POINTS / 2;
    for (index, opp) in domain.opps.iter().enumerate() {
        match hidden {
            1.. if index == first => {
                let mut cells = vec![Cell::Empty; columns.len()];
                cells[0] = Cell::from("...");
                table.row(cells);
            }
            1.. if (first..first + hidden).contains(&index) => {}
            _ => table.row(row((index, opp))),
        }
    }
    page.section(&format!("Operating points of CPUs {cpus}"));
    page.table(&table);
    about_points(page, domain, states, hidden);
}

/// Busy power beside the highest other clock, in WFI, and the cluster's.
fn measured_cells(
    platform: &Platform,
    measured: &MeasuredPower,
    opp: usize,
    cells: &mut Vec<Cell>,
) {
    let rows = 0..measured.rows.len();
    let of = |row| measured.points[measured.at(opp, row)];
    let lowest = of(MeasuredPower::LOWEST_ROW);
    let most = rows.map(|row| of(row).busy_uw).max();
    let most = most.filter(|most| *most > lowest.busy_uw);
    cells[3] = power(platform, Some(lowest.cluster_uw));
    cells.splice(
        3..3,
        [
            power(platform, most),
            power(platform, Some(lowest.gated_uw)),
        ],
    );
}

/// What stands below the table of a clock; `hidden` of its points are not in it.
fn about_points(page: &mut Page, domain: &FreqDomain, states: &[EnergyState], hidden: usize) {
    let latency = time(domain.transition_latency_ns);
    let model = match states {
        [] => "The policy has no energy model of these CPUs.".to_owned(),
        own if domain.em_costs.is_some() => {
            let state = |s: &EnergyState| format!("{} at cost {}", s.performance, s.cost);
            let states: Vec<String> = own.iter().map(state).collect();
            format!(
                "The policy core's energy model of each CPU has a driver's states, without watts: \
                 performance {} (of 1024; cost per unit of work).",
                states.join(", ")
            )
        }
        [first, ..] if first.artificial => {
            "Performance (of 1024) and cost (per unit of work) are the policy core's energy model, \
             made of capacity and clocks alone."
                .to_owned()
        }
        _ => {
            let from = match domain.opps[0].em_power.is_some() {
                true => "the column EM mW (what the kernel believes)",
                false => "CPU power alone",
            };
            format!(
                "Performance (of 1024) and cost (per unit of work) are the policy core's energy \
                 model, derived from {from}."
            )
        }
    };
    let work = match domain.opps[0].work_power.is_some() {
        true => " Work is what the board draws more while a CPU is busy; no CPU energy.",
        false => "",
    };
    let measured = match &domain.measured {
        Some(measured) if measured.is_shared() => {
            " Measured beside the lowest state of the other clocks that the powers depend on; \
             `to`: the most beside any."
        }
        Some(_) => " Powers are measured.",
        None => "",
    };
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!(" {hidden} points are not shown; `--format json` has all."),
    };
    page.paragraph(&format!(
        "A change of frequency takes {latency}. {model}{work}{measured}{hidden}"
    ));
}
