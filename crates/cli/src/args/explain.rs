//! Options of `explain` (docs/guide/tour.md).
//!
//! What must stay: names and defaults of options. What Python can ask, too, is an entry of
//! `wakeplace_study::ARGUMENTS`, not a field here. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/explain.rs::`the_object_has_what_the_contract_says` (`--format`),
//! crates/cli/tests/all/schedulers.rs::`explain_takes_one_scheduler_and_says_how_it_ended`
//! (`--scheduler`), crates/cli/tests/all/output.rs::`what_is_read_is_not_written_over`
//! (`--output`).
//!
//! Tests: crates/cli/tests/all/explain.rs, crates/cli/tests/all/schedulers.rs,
//! crates/cli/tests/all/output.rs::what_is_read_is_not_written_over

use super::asked::Explain;
use super::{AnswerFormat, Asked, SchedulerArgs};
use clap::Args;
use std::path::PathBuf;

/// `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Explain>,
    /// Options of a kernel of `--policy kernel:...`, as lines of `.config`, merged last
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 10
    )]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) schedulers: SchedulerArgs,
    /// Form of the answer
    #[arg(
        long,
        value_name = "human|json",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output",
        display_order = 20
    )]
    pub(crate) format: AnswerFormat,
    /// Write to a file, complete or not at all
    #[arg(
        long,
        short,
        value_name = "FILE",
        help_heading = "Output",
        display_order = 21
    )]
    pub(crate) output: Option<PathBuf>,
}
