//! Options of `explain`.

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
