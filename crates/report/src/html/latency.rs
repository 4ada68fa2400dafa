//! Wake-up latencies as curves and figures (docs/guide/report.md).
//!
//! What must stay: latencies are ns in results and µs on the axis; shares are percent of all
//! wake-ups of all runs; a latency of 0 is drawn at 0.1 µs, since the axis is logarithmic. Words
//! and looks may change. Tests by part: `the_answer_stands_first_and_everything_after_it`
//! (`section_of`), xtask/src/tries/pages.rs (curves in a browser). Figures of `served` and
//! `latency_table` have no test of their own. `time` by the first one.
//!
//! Callers: details.rs (`section_of`).
//!
//! Tests: crates/report/src/html/tests.rs, xtask/src/tries/pages.rs

use super::charts::{Point, curves};
use super::details::{Shown, chart, each, first_cells, heads, section};
use super::view::{Block, Cell, Chart, Section, Table};
use crate::number;

/// The share of wake-ups served within a time; None: none was measured.
pub(super) fn section_of(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let x = "wake-up latency";
    let up_to = chart(
        format!("{id}-latency-share"),
        "How many wake-ups had been served",
        "Curves: share of all wake-ups whose task ran within a time, for each policy.",
        cases,
        |case| {
            let points = served(case, false);
            (!points.is_empty()).then(|| curves(&points, (x, "served within (%)"), false))
        },
    )?;
    let tail = chart(
        format!("{id}-latency-tail"),
        "How many were still waiting",
        "Curves: share of all wake-ups whose task waited longer than a time, for each policy, on a \
         logarithmic axis that shows the rarest.",
        cases,
        |case| {
            let points = served(case, true);
            (!points.is_empty()).then(|| curves(&points, (x, "waiting longer (%)"), true))
        },
    );
    let half = |c| Block::Chart(Chart { half: true, ..c });
    let mut blocks = vec![half(up_to)];
    blocks.extend(tail.map(half));
    blocks.push(Block::Table(latency_table(id, cases)));
    section(
        format!("{id}-latency"),
        "Wake-up latency",
        "Time from when a task was due to its first run, all wake-ups of all runs.",
        blocks,
    )
}

/// Curve of each policy. A latency of 0 cannot stand on a logarithmic axis: it is drawn at 0.1 µs.
fn served(case: &Shown<'_>, waiting: bool) -> Vec<Point> {
    const LEAST_US: f64 = 0.1;
    let mut points = Vec::new();
    for of in &case.policies {
        let buckets = &of.details.wake_latency_up_to_ns_count;
        let all: f64 = buckets.iter().map(|bucket| bucket.1 as f64).sum();
        let mut sum = 0.0;
        for (up_to_ns, count) in buckets {
            sum += *count as f64;
            let share = if waiting {
                (all - sum) / all
            } else {
                sum / all
            };
            if all > 0.0 && (!waiting || share > 0.0) {
                points.push(Point {
                    series: of.policy.clone(),
                    x: (*up_to_ns as f64 / 1000.0).max(LEAST_US),
                    y: share * 100.0,
                });
            }
        }
    }
    points
}

/// The times within which shares of all wake-ups were served.
fn latency_table(id: &str, cases: &[Shown<'_>]) -> Table {
    const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
    let mut columns = heads(cases);
    columns.extend([
        "#wake-ups",
        "#50 %",
        "#90 %",
        "#95 %",
        "#99 %",
        "#99.9 %",
        "#all",
    ]);
    let caption = "Time within which so many of the wake-ups had been served, rounded up to a \
                   quarter of a power of two; exact percentiles are among the metrics";
    let mut table = Table::new(format!("{id}-latency-table"), caption, &columns);
    table.folded = Some("Figures".to_owned());
    for (case, of) in each(cases) {
        let buckets = &of.details.wake_latency_up_to_ns_count;
        let all: u128 = buckets.iter().map(|bucket| u128::from(bucket.1)).sum();
        let within = |share: f64| {
            let mut sum = 0;
            let mut found = buckets.iter().skip_while(|bucket| {
                sum += u128::from(bucket.1);
                (sum as f64) < share * all as f64
            });
            found.next().map(|bucket| time(bucket.0))
        };
        let mut cells = first_cells(cases, case, &of.policy);
        cells.push(Cell::of(all.to_string()));
        cells.extend(SHARES.map(|share| within(share).into()));
        cells.push(buckets.last().map(|bucket| time(bucket.0)).into());
        table.rows.push(cells);
    }
    table
}

/// A latency for people.
fn time(ns: u64) -> String {
    let us = ns as f64 / 1000.0;
    if us >= 1000.0 {
        format!("{} ms", number::short(us / 1000.0))
    } else {
        format!("{} µs", number::short(us))
    }
}
