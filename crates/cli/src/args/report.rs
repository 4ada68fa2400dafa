//! Options of `report`.

use clap::Args;
use std::path::PathBuf;

/// `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results of `compare`, `sim` or `study run` with `--format json`; `-` reads standard input
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
