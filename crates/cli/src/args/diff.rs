//! Options of `diff` (docs/guide/results.md, "Two results").
//!
//! What must stay: names of options; the earlier result comes first. Without `--margin` the later
//! result's own counts. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/results.rs::`two_results_are_compared` (all but `--margin`).
//!
//! Tests: crates/cli/tests/all/results.rs::two_results_are_compared

use super::{GateArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The earlier result, of `compare`, `sim`, `sweep` or `study run` with `--format json`; `-`
    /// reads standard input
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
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 23)]
    pub(crate) export_html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
