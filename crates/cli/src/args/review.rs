//! Options of `review` (docs/guide/review.md).
//!
//! What must stay: names of options. A review has two sides: those of `--base`, `--change` and
//! `--scheduler`, in this order. Without `--seeds` and `--duration` the battery's own count. Free:
//! help texts and their order. Tests by part:
//! crates/cli/tests/all/review.rs::`wrong_reviews_are_refused` (sides, battery, claims),
//! review.rs::`a_review_says_what_got_worse_first` (`--mail`, `--html`),
//! review.rs::`a_battery_is_listed` (`list`), review.rs::`a_review_is_a_gate` (`gates`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::asked::Review;
use super::{Asked, GateArgs, HowArgs, OutputArgs, SchedulerArgs};
use clap::Args;
use std::path::PathBuf;

/// `review`.
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Review>,
    /// What the change is compared with: a policy, as linux-7.3 or kernel:PATH@REV
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present_any = ["scheduler", "list"],
        help_heading = "Policy",
        display_order = 8
    )]
    pub(crate) base: Option<String>,
    /// What is reviewed: a policy, as linux-7.3:runnable_boost=off or kernel:PATH@REV
    ///
    /// A sched_ext scheduler is given by `--scheduler`: one beside `--base` is the change; of two
    /// the first is the base.
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present_any = ["scheduler", "list"],
        help_heading = "Policy",
        display_order = 9
    )]
    pub(crate) change: Option<String>,
    #[command(flatten)]
    pub(crate) schedulers: SchedulerArgs,
    /// Options of kernels of `kernel:...`, as lines of `.config`, merged last
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 11
    )]
    pub(crate) kernel_config: Option<PathBuf>,
    /// The loads and boards: small, quick, full, or a TOML file
    ///
    /// `quick` takes minutes on two cores; `full` has more boards, seeds and time. `--platform`
    /// runs the loads on other boards. docs/guide/review.md says what is in them.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "quick",
        help_heading = "Input",
        display_order = 3
    )]
    pub(crate) battery: String,
    /// List the loads and boards of the battery, and run nothing
    #[arg(
        long,
        hide_short_help = true,
        help_heading = "Input",
        display_order = 4
    )]
    pub(crate) list: bool,
    /// What the author expects, as a TOML file; a claim that does not hold is exit code 1
    ///
    /// `[[claim]]` with `expect = "cpu_energy_j<=-3%"`, and perhaps `boards` and `loads`. The words
    /// are those of `--expect`.
    #[arg(long, value_name = "FILE", help_heading = "Input", display_order = 5)]
    pub(crate) claim: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Also write it as a mail of 72 columns
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 22)]
    pub(crate) mail: Option<PathBuf>,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(
        long,
        alias = "export-html",
        value_name = "FILE",
        help_heading = "Output",
        display_order = 23
    )]
    pub(crate) html: Option<PathBuf>,
    /// Also write traces of the three largest changes, which ui.perfetto.dev opens, into a folder
    ///
    /// `1-base.pftrace`, `1-change.pftrace` and so on, of the first seed.
    #[arg(
        long,
        value_name = "FOLDER",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 24
    )]
    pub(crate) export_perfetto: Option<PathBuf>,
}
