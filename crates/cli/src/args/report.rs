//! Options of `report` (docs/guide/report.md).
//!
//! What must stay: names of options; results in the order of the page. Free: help texts. Tests by
//! part: crates/cli/tests/all/report.rs::`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`
//! (all options), crates/cli/tests/all/streams.rs::`a_terminal_is_not_waited_for` (`-`).
//!
//! Tests: crates/cli/tests/all/report.rs, crates/cli/tests/all/streams.rs

use clap::Args;
use std::path::PathBuf;

/// `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results of `compare`, `sim`, `study run` or `sweep` with `--format json`; `-` reads standard
    /// input
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Write to a file, complete or not at all
    ///
    /// The page is one HTML file of about a megabyte that loads nothing: charts and tables are in
    /// it. Without this option it goes to standard output.
    #[arg(
        long,
        short,
        value_name = "FILE",
        help_heading = "Output",
        display_order = 21
    )]
    pub(crate) output: Option<PathBuf>,
}
