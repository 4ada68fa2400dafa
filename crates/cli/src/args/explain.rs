//! Options of `explain`.

use super::values;
use super::{AnswerFormat, InputArgs, JitterArgs, SchedulerArgs};
use clap::Args;
use std::path::PathBuf;

/// `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A name from `wakeplace platform list`, or a TOML file
    #[arg(
        long,
        value_name = "PLATFORM",
        help_heading = "Input",
        display_order = 1
    )]
    pub(crate) platform: String,
    /// An rt-app JSON file, or a model as `periodic:n=10,duty=5%`
    #[arg(
        long,
        value_name = "WORKLOAD",
        help_heading = "Input",
        display_order = 2
    )]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) jitter: JitterArgs,
    /// Seed of the workload's random choices
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = values::seed,
        default_value_t = 1,
        help_heading = "Input",
        display_order = 6
    )]
    pub(crate) seed: u64,
    /// The policy whose decision it is, as linux-7.3 or kernel:7.3.4
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "scheduler",
        conflicts_with = "scheduler",
        help_heading = "Policy",
        display_order = 10
    )]
    pub(crate) policy: Option<String>,
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
    /// Change a parameter, of all policies; repeatable
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = values::setting,
        help_heading = "Policy",
        display_order = 11
    )]
    pub(crate) set: Vec<(String, String)>,
    /// Ask this policy, too; repeatable [default: all eras, and each feature turned]
    #[arg(
        long,
        alias = "other",
        value_name = "NAME",
        conflicts_with = "scheduler",
        help_heading = "Policy",
        display_order = 12
    )]
    pub(crate) compare_policy: Vec<String>,
    /// Decisions on this task only: its name, or that of its kind [default: on any]
    #[arg(
        long,
        value_name = "TASK",
        help_heading = "Decision",
        display_order = 13
    )]
    pub(crate) task: Option<String>,
    /// The N-th wake-up, from 1; 0: where a new task begins [default: 1]
    ///
    /// A wake-up counts if a CPU is chosen for it. One that a queue still keeps (from 6.12) goes on
    /// where it is.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = values::wakeup,
        group = "which",
        help_heading = "Decision",
        display_order = 14
    )]
    pub(crate) wakeup: Option<u64>,
    /// The first wake-up at this time of the run or after it, as 120ms
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIME",
        value_parser = wakeplace_text::parse_duration_ns,
        group = "which",
        help_heading = "Decision",
        display_order = 15
    )]
    pub(crate) at: Option<u64>,
    /// The first wake-up that went to this CPU
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "CPU",
        value_parser = values::cpu,
        group = "which",
        help_heading = "Decision",
        display_order = 16
    )]
    pub(crate) to: Option<u32>,
    /// Say first why this CPU was not chosen
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "CPU",
        value_parser = values::cpu,
        conflicts_with = "scheduler",
        help_heading = "Decision",
        display_order = 17
    )]
    pub(crate) why_not: Option<u32>,
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
