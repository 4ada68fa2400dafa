//! Runs as CSV: one row per run. Names of columns stay: programs read them (docs/guide/results.md,
//! "What a result holds").
//!
//! The order of rows is that of platforms, workloads, policies and seeds. Columns come from
//! `wakeplace_study`'s run table, which Parquet shares.
//!
//! Tests: crates/cli/tests/all/compared.rs::several_machines_and_loads_are_a_matrix,
//! crates/cli/tests/all/report.rs::what_the_page_is_made_of_is_in_the_json

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
