//! What can be typed. Only this module and its children know clap (CONTRIBUTING.md says how an
//! argument is added).
//!
//! Free: help texts and their order.
//!
//! What must stay: names of options and commands, and exit code 2 for what cannot be parsed. Help
//! and version go to standard output with exit code 0; what is refused goes to standard error.
//! Tests by part: `the_definition_is_consistent` (`Cli`),
//! crates/cli/tests/all/help.rs::`help_is_complete_and_fits` (`Command`, `Parsed::Show`),
//! help.rs::`the_version_names_commit_and_policy` (`version`),
//! help.rs::`colour_only_where_it_is_wanted` (`ColorWhen`),
//! help.rs::`nothing_but_the_result_is_on_standard_output` (`verbosity`),
//! crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (`parse`, `Parsed::Refuse`),
//! crates/cli/tests/all/results.rs::`lists_have_every_form` (`FormatName`).
//!
//! Tests: below, crates/cli/tests/all/help.rs,
//! crates/cli/tests/all/bad_input.rs::wrong_usage_is_refused,
//! crates/cli/tests/all/results.rs::lists_have_every_form

mod asked;
mod diff;
mod evaluate;
mod explain;
mod gates;
mod help;
mod import;
mod kernel;
mod lab;
mod mcp;
mod pages;
mod report;
mod review;
mod scheduler;
mod show;
mod simulate;
mod sweep;
mod values;

pub(crate) use asked::Asked;
pub(crate) use diff::DiffArgs;
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use gates::GateArgs;
pub(crate) use import::{
    PlatformCaptureArgs, PlatformImportArgs, PlatformNewArgs, WorkloadRecordArgs,
};
pub(crate) use kernel::{KernelBuildArgs, KernelCommand, KernelDiffArgs, KernelListArgs};
pub(crate) use lab::{ArchName, LabCommand, LabFetchArgs, LabKernelsArgs, LabRunArgs};
pub(crate) use mcp::McpArgs;
pub(crate) use pages::{CompletionsArgs, ManArgs, completions, write_man};
pub(crate) use report::ReportArgs;
pub(crate) use review::ReviewArgs;
pub(crate) use scheduler::SchedulerArgs;
pub(crate) use show::{
    DoctorArgs, MetricCommand, PlatformCommand, PolicyCommand, PolicyShowArgs, WorkloadCommand,
};
pub(crate) use show::{ListArgs, PlatformShowArgs, WorkloadCheckArgs, WorkloadListArgs};
pub(crate) use simulate::{
    CompareArgs, HowArgs, OutputArgs, RunArgs, SimArgs, StudyCommand, StudyRunArgs, StudyShowArgs,
};
pub(crate) use sweep::SweepArgs;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Compares task-placement policies on modelled machines: no board, the same bytes on every machine
#[derive(Debug, Parser)]
#[command(
    name = "wakeplace",
    bin_name = "wakeplace",
    version = env!("CARGO_PKG_VERSION"),
    long_version = concat!(
        env!("CARGO_PKG_VERSION"),
        "\ncommit:     ", env!("WAKEPLACE_COMMIT"),
        "\npolicy ABI: ", env!("WAKEPLACE_POLICY_ABI"),
    ),
    help_template = help::TEMPLATE,
    before_help = help::MAIN,
    after_help = help::EXIT_CODES_SHORT,
    after_long_help = help::EXIT_CODES,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// One question each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two or more policies on a platform with a workload
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::COMPARE_SHORT,
        before_long_help = help::COMPARE,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Compare(CompareArgs),
    /// Run many settings, in a store from which it goes on after it was stopped
    #[command(
        help_template = help::TEMPLATE,
        // A screen has no room for it.
        mut_arg("expect", |arg| arg.hide_short_help(true)),
        before_help = help::SWEEP_SHORT,
        before_long_help = help::SWEEP,
        after_help = help::CELLS_EXIT_CODES_SHORT,
        after_long_help = help::CELLS_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Sweep(SweepArgs),
    /// Simulate one policy and print what it did
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::SIM_SHORT,
        before_long_help = help::SIM,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Sim(SimArgs),
    /// Give one score of a candidate beside a base, for programs that search
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::EVALUATE_SHORT,
        before_long_help = help::EVALUATE,
        after_help = help::EVALUATE_EXIT_CODES_SHORT,
        after_long_help = help::EVALUATE_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Evaluate(Box<EvaluateArgs>),
    /// Explain one decision: every candidate, and what other policies would have done
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::EXPLAIN_SHORT,
        before_long_help = help::EXPLAIN,
        after_help = help::ANSWER_EXIT_CODES_SHORT,
        after_long_help = help::ANSWER_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Explain(Box<ExplainArgs>),
    /// Run named experiments, with published figures beside simulated ones
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::STUDY,
        arg_required_else_help = true
    )]
    Study {
        #[command(subcommand)]
        command: StudyCommand,
    },
    /// Review a change on many boards and loads: what got worse first, as a mail or a page
    #[command(
        help_template = help::TEMPLATE,
        // A screen has no room for it.
        mut_arg("expect", |arg| arg.hide_short_help(true)),
        before_help = help::REVIEW_SHORT,
        before_long_help = help::REVIEW,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Review(Box<ReviewArgs>),
    /// Make one page of results, to be read in a browser without network
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::REPORT,
        after_help = help::ANSWER_EXIT_CODES_SHORT,
        after_long_help = help::ANSWER_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Report(ReportArgs),
    /// Compare two results: what was asked otherwise, and what became of every metric
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::DIFF,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Diff(DiffArgs),
    /// List the modelled machines, show one with the source of every figure, or import yours
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::PLATFORM,
        arg_required_else_help = true
    )]
    Platform {
        #[command(subcommand)]
        command: PlatformCommand,
    },
    /// List the workload models, check an rt-app file, or record a program
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::WORKLOAD,
        arg_required_else_help = true
    )]
    Workload {
        #[command(subcommand)]
        command: WorkloadCommand,
    },
    /// List the policies, or show what one of them does and its parameters
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::POLICY,
        arg_required_else_help = true
    )]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// List what is measured of a run: the words of `--expect`, claims and results
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::METRIC,
        arg_required_else_help = true
    )]
    Metric {
        #[command(subcommand)]
        command: MetricCommand,
    },
    /// Say what this machine has and lacks for the simulator and for the live scheduler
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::DOCTOR,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
    )]
    Doctor(DoctorArgs),
    /// Build kernels whose own scheduler runs in the simulator, and list those to be had
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::KERNEL,
        arg_required_else_help = true
    )]
    Kernel {
        #[command(subcommand)]
        command: KernelCommand,
    },
    /// Boot a real kernel in an emulated machine with a platform's topology, for programs
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::LAB,
        arg_required_else_help = true
    )]
    Lab {
        #[command(subcommand)]
        command: LabCommand,
    },
    /// Serve a language model: evaluate, compare, explain and lists as tools (MCP)
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::MCP,
        after_help = help::ANSWER_EXIT_CODES_SHORT,
        after_long_help = help::ANSWER_EXIT_CODES,
    )]
    Mcp(McpArgs),
    /// Print what a shell reads to complete this program's words
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::COMPLETIONS,
        arg_required_else_help = true,
    )]
    Completions(CompletionsArgs),
    /// Write the pages of the manual into a folder
    #[command(hide = true, help_template = help::TEMPLATE)]
    Man(ManArgs),
}

/// How the program talks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Talk {
    /// When to colour; `auto` honours NO_COLOR
    #[arg(
        long,
        value_name = "auto|always|never",
        hide_possible_values = true,
        global = true,
        default_value = "auto",
        display_order = 90
    )]
    pub(crate) color: ColorWhen,
    /// No progress and no warnings
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "verbose",
        display_order = 91
    )]
    quiet: bool,
    /// Say what is run and how long it took
    #[arg(long, short, global = true, display_order = 92)]
    verbose: bool,
}

impl Talk {
    /// `-q` wins over `-v`.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}

/// How much goes to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Progress and warnings too.
    #[default]
    Normal,
    /// And what is run.
    Verbose,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Tables for people
    Human,
    /// One object with `schema_version`
    Json,
    /// Comma-separated values with a header line
    Csv,
    /// Markdown tables
    Md,
}

/// Forms of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// For people
    Human,
    /// One object with `schema_version`
    Json,
    /// Markdown
    Md,
}

/// Forms of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// For people
    Human,
    /// One object with `schema_version`
    Json,
}

/// What the arguments ask for.
pub(crate) enum Parsed {
    /// Run a command.
    Run(Box<Cli>),
    /// Print help or version: exit code 0.
    Show(String),
    /// Refuse, with this text on standard error: exit code 2.
    Refuse(String),
}

/// Reads the program's arguments.
pub(crate) fn parse() -> Parsed {
    let error = match Cli::try_parse_from(words(std::env::args_os())) {
        Ok(cli) => return Parsed::Run(Box::new(cli)),
        Err(error) => error,
    };
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Parsed::Show(text),
        _ => Parsed::Refuse(text),
    }
}

/// `help COMMAND` asks what `COMMAND --help` does.
fn words(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = typed.collect();
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
