//! Runs as CSV: one row per run. Names of columns stay: programs read them (docs/guide/results.md,
//! "What a result holds").
//!
//! What must stay: names of columns, which programs read, and the order of rows (platforms,
//! workloads, policies, seeds): both come from `wakeplace_study`'s run table, which Parquet shares.
//! Values are unrounded. Free: words for people that no test quotes. Tests by part:
//! cli/tests/all/report.rs::`kinds_of_cpu_within_a_cluster_are_told_apart` (`run_table`, by
//! `--export-runs`).
//!
//! Tests: crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart

use crate::{Cell, Format, Style, Table};
use wakeplace_study::{RunTable, RunValues};

/// A table of runs as CSV, unrounded.
#[must_use]
pub fn run_table(runs: &RunTable) -> String {
    let names: Vec<&str> = runs
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    let mut table = Table::new("runs", &names);
    for row in 0..runs.rows() {
        let cell = |values: &RunValues| -> Cell {
            match values {
                RunValues::Text(all) => all[row].clone().into(),
                RunValues::Whole(all) => all[row].to_string().into(),
                RunValues::Real(all) => all[row].into(),
            }
        };
        table.row(
            runs.columns
                .iter()
                .map(|column| cell(&column.values))
                .collect(),
        );
    }
    table.render(Format::Csv, Style::default())
}
