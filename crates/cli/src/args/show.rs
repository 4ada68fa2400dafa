//! Options of the commands that only look: `platform`, `workload`, `policy`, `doctor`.
//!
//! What must stay: names and defaults of options. `platform show` is of the newest kernel unless
//! another policy is named; `workload check` is for 8 CPUs. Free: help texts and their order. Tests
//! by part: crates/cli/tests/all/results.rs::`lists_have_every_form` (`ListArgs`),
//! results.rs::`a_platform_is_shown_with_its_sources` (`PlatformShowArgs`, `ShowFormArgs`),
//! results.rs::`lists_and_pages_of_platforms_are_short` (the newest kernel),
//! results.rs::`a_policy_is_shown_with_what_was_set` (`PolicyShowArgs`),
//! crates/cli/tests/all/said.rs::`a_check_says_for_which_machine` and
//! crates/cli/tests/all/recordings.rs::`a_check_takes_deadlines` (`WorkloadCheckArgs`),
//! said.rs::`one_model_can_be_listed` (`WorkloadListArgs`),
//! crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (`DoctorArgs`).
//!
//! Tests: crates/cli/tests/all/results.rs, crates/cli/tests/all/said.rs,
//! crates/cli/tests/all/recordings.rs::a_check_takes_deadlines,
//! crates/cli/tests/all/bad_input.rs::wrong_usage_is_refused

use super::import::{PlatformCaptureArgs, PlatformImportArgs, PlatformNewArgs, WorkloadRecordArgs};
use super::{AnswerFormat, FormatName, ShowFormat, help, values};
use clap::{Args, Subcommand};
use wakeplace_workload::Dialect;

/// `... list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Form of the list
    #[arg(
        long,
        value_name = "human|json|csv|md",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output"
    )]
    pub(crate) format: FormatName,
}

/// `platform ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum PlatformCommand {
    /// List the built-in platforms
    #[command(help_template = help::TEMPLATE)]
    List(ListArgs),
    /// Show what the model understood of a platform, and where each figure comes from
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::PLATFORM_SHOW,
        arg_required_else_help = true
    )]
    Show(PlatformShowArgs),
    /// Make a platform file of a machine: this one, a saved tree, a device tree, LISA's plat_info
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::PLATFORM_IMPORT,
        arg_required_else_help = true
    )]
    Import(PlatformImportArgs),
    /// Write a platform file of a board that is known by its kinds of cores and clocks
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::PLATFORM_NEW,
        arg_required_else_help = true
    )]
    New(PlatformNewArgs),
    /// Print a shell script that saves what `import --sysfs` reads, for a machine without wakeplace
    #[command(help_template = help::TEMPLATE, before_help = help::PLATFORM_CAPTURE)]
    Capture(PlatformCaptureArgs),
}

/// `platform show`.
#[derive(Debug, Args)]
pub(crate) struct PlatformShowArgs {
    /// A name from `wakeplace platform list`, or a TOML file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) platform: String,
    /// Policy that builds the scheduling domains and the energy model
    #[arg(
        long,
        value_name = "NAME",
        default_value_t = values::newest_kernel(),
        help_heading = "Policy"
    )]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) form: ShowFormArgs,
}

/// `workload ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// List the built-in workload models and their keys, and the files that are built in
    #[command(help_template = help::TEMPLATE)]
    List(WorkloadListArgs),
    /// Check an rt-app file as rt-app itself would: exit code 0 if it is accepted, 2 if not
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::WORKLOAD_CHECK,
        arg_required_else_help = true
    )]
    Check(WorkloadCheckArgs),
    /// Record what a program's tasks do, for `--workload trace:FILE`
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::WORKLOAD_RECORD,
        arg_required_else_help = true
    )]
    Record(WorkloadRecordArgs),
}

/// `workload list`.
#[derive(Debug, Args)]
pub(crate) struct WorkloadListArgs {
    /// These models only
    #[arg(value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// `workload check`.
#[derive(Debug, Args)]
pub(crate) struct WorkloadCheckArgs {
    /// rt-app JSON file, `-` for standard input, or a recording as trace:FILE[,platform=NAME]
    pub(crate) file: String,
    /// CPUs of the machine it is checked for, all alike
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        allow_hyphen_values = true,
        value_parser = values::cpus,
        help_heading = "Input"
    )]
    pub(crate) cpus: u32,
    /// Read it as older tools did: workgen, suspend-ref (`sim --help` says more)
    #[arg(
        long,
        value_name = "WORDS",
        value_parser = values::dialect,
        default_value = "",
        hide_default_value = true,
        help_heading = "Input"
    )]
    pub(crate) rtapp_dialect: Dialect,
    /// Deadlines of chains of tasks, JSON; they replace those of the file (`sim --help` says more)
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) deadlines: Option<String>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}

/// `policy ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// List the eras and features that make a policy's name
    #[command(help_template = help::TEMPLATE)]
    List(ListArgs),
    /// Show a policy's features and parameters
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::POLICY_SHOW,
        arg_required_else_help = true
    )]
    Show(PolicyShowArgs),
}

/// `metric ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum MetricCommand {
    /// List the metrics: name, unit, which direction is better, meaning
    #[command(help_template = help::TEMPLATE)]
    List(ListArgs),
}

/// `policy show`.
#[derive(Debug, Args)]
pub(crate) struct PolicyShowArgs {
    /// ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]
    pub(crate) name: String,
    /// Change a parameter first; repeatable
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = wakeplace_study::parse_setting,
        help_heading = "Policy"
    )]
    pub(crate) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) form: ShowFormArgs,
}

/// `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Look at a file tree copied from another machine instead
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "/",
        help_heading = "Input"
    )]
    pub(crate) root: std::path::PathBuf,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}

/// Form of an answer, with Markdown for documents.
#[derive(Debug, Args)]
pub(crate) struct ShowFormArgs {
    /// Form of the answer
    #[arg(
        long,
        value_name = "human|json|md",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output"
    )]
    pub(crate) format: ShowFormat,
}

/// Form of an answer, for people or programs.
#[derive(Debug, Args)]
pub(crate) struct AnswerFormArgs {
    /// Form of the answer
    #[arg(
        long,
        value_name = "human|json",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output"
    )]
    pub(crate) format: AnswerFormat,
}
