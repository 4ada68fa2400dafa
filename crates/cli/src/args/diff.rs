//! Options of `diff`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The earlier result, of `compare`, `sim` or `study run` with `--format json`; `-` reads
    /// standard input
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The later one
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// A difference of less does not matter, percent [default: the later result's]
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) margin: Option<String>,
    /// Check a change, as 'energy_j<=+3%'; repeatable
    ///
    /// METRIC OP LIMIT, as `compare --expect` has it. The base is the earlier result.
    #[arg(
        long,
        value_name = "CONDITION",
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) expect: Vec<String>,
    /// A change that is not told from chance fails its check
    #[arg(long, requires = "expect", help_heading = "Output", display_order = 22)]
    pub(crate) strict: bool,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 23)]
    pub(crate) export_html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
