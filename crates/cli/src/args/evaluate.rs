//! Options of `evaluate` (docs/guide/evaluate.md).
//!
//! What must stay: names of options. What Python can ask, too, is an entry of
//! `wakeplace_study::ARGUMENTS`, not a field here; the candidate is one of them. `--json` is
//! `--format json`. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/evaluate.rs::`wrong_evaluations_are_refused` (`--kernel`),
//! evaluate.rs::`a_policy_has_a_score_and_its_parts` (`--json`),
//! evaluate.rs::`a_scheduler_is_scored` (`schedulers`).
//!
//! Tests: crates/cli/tests/all/evaluate.rs

use super::asked::Evaluate;
use super::{AnswerFormat, Asked, HowArgs, SchedulerArgs};
use clap::Args;
use std::path::PathBuf;

/// `evaluate`.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Evaluate>,
    /// The kernel whose interface a scheduler is offered, as 7.3.4, or a file of type information
    ///
    /// As of `sim --scheduler` (docs/guide/schedulers.md).
    #[arg(
        long,
        value_name = "VERSION",
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 14
    )]
    kernel: Option<String>,
    /// Interpret the programs of a scheduler: slower, with the same result
    #[arg(
        long,
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 15
    )]
    interpret: bool,
    /// Options of kernels of `kernel:...`, as lines of `.config`, merged last
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 16
    )]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// Form of the result
    #[arg(
        long,
        value_name = "human|json",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output",
        display_order = 20
    )]
    format: AnswerFormat,
    /// The same as `--format json`
    #[arg(
        long,
        conflicts_with = "format",
        help_heading = "Output",
        display_order = 20
    )]
    json: bool,
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

impl EvaluateArgs {
    /// The form that is asked for.
    pub(crate) fn format(&self) -> AnswerFormat {
        match self.json {
            true => AnswerFormat::Json,
            false => self.format,
        }
    }

    /// A scheduler in the words of `--scheduler`; None: options of one are given beside a policy.
    pub(crate) fn schedulers(&self, candidate: Option<String>) -> Option<SchedulerArgs> {
        let none = candidate.is_none();
        let has_options = self.kernel.is_some() || self.interpret;
        (!none || !has_options).then(|| SchedulerArgs {
            scheduler: candidate.into_iter().collect(),
            kernel: self.kernel.clone(),
            interpret: self.interpret,
            scheduler_words: Vec::new(),
        })
    }
}
