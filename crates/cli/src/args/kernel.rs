//! Options of `kernel` (docs/guide/kernel.md).
//!
//! Free: help texts and their order.
//!
//! What must stay: names and defaults of options. The architecture of `kernel build` is that of
//! simulated machines, not this machine's. Tests by part:
//! crates/cli/tests/all/kernel.rs::`what_is_no_kernel_is_refused` (`KernelBuildArgs`),
//! kernel.rs::`the_list_says_what_is_here_without_an_archive` (`KernelListArgs`),
//! crates/cli/tests/all/kernel_diff.rs::`what_is_drawn_depends_on_the_seed` (`--random`),
//! kernel_diff.rs::`a_broken_rule_is_found` (`--allow`). No test of its own: refusals of `percent`.
//!
//! Tests: crates/cli/tests/all/kernel.rs, crates/cli/tests/all/kernel_diff.rs

use super::Asked;
use super::asked::Diff;
use super::help;
use super::lab::ArchName;
use super::show::AnswerFormArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `kernel ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// List the versions to be had, what is built, and what is missing on this machine
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::KERNEL_LIST,
        after_help = help::EXIT_CODES_SHORT,
    )]
    List(KernelListArgs),
    /// Build a kernel's own scheduler: a version, a tree, or a revision of one
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::KERNEL_BUILD,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Build(KernelBuildArgs),
    /// Ask the policy core at each decision and signal of a kernel's code: where do they differ?
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::KERNEL_DIFF,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Diff(Box<KernelDiffArgs>),
}

/// `kernel diff`.
#[derive(Debug, Args)]
pub(crate) struct KernelDiffArgs {
    /// The policy of the core, as linux-7.3
    #[arg(value_name = "POLICY")]
    pub(crate) policy: String,
    /// The kernel, as kernel:7.3.4 or kernel:PATH[@REV]
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: String,
    #[command(flatten)]
    pub(crate) ask: Asked<Diff>,
    /// Draw machines and loads from the seed until there are N decisions
    ///
    /// The first machine and its load are drawn from --seed, the next from the seed after it, and
    /// so on: `--random 1 --seed K` has the machine of seed K alone.
    #[arg(
        long,
        value_name = "N",
        help_heading = "Input",
        display_order = 3,
        conflicts_with_all = ["platform", "workload"]
    )]
    pub(crate) random: Option<u64>,
    /// Keep each drawn machine and load in this folder, as files
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Output",
        display_order = 22,
        requires = "random"
    )]
    pub(crate) keep: Option<PathBuf>,
    /// Exit with 1 if more of the decisions, or of one kind of signal, differ, percent
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = percent,
        help_heading = "Output",
        display_order = 20
    )]
    pub(crate) allow: Option<f64>,
    /// Options of the kernel, as lines of `.config`, which are merged last
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Input"
    )]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
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

/// A percentage from 0 to 100, as `--allow` takes it; clap shows the error with exit code 2.
fn percent(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    let found = value.filter(|value| (0.0..=100.0).contains(value));
    found.ok_or_else(|| "expected a percentage from 0 to 100, as 0.1".to_owned())
}

/// `kernel list`.
#[derive(Debug, Args)]
pub(crate) struct KernelListArgs {
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}

/// `kernel build`.
#[derive(Debug, Args)]
pub(crate) struct KernelBuildArgs {
    /// VERSION or PATH[@REV], as after `--policy kernel:`
    ///
    /// VERSION, as 7.3 or 7.3.4: the newest of the package archive that begins so. PATH: a kernel
    /// tree as it is; it is not written to. REV: a revision of its git history.
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: String,
    /// For simulated machines of this architecture
    ///
    /// Some of the kernel's options follow it: HRTICK of 7.3 is on for x86_64 and off for arm64.
    #[arg(
        long,
        value_name = "x86_64|arm64",
        hide_possible_values = true,
        default_value = "arm64",
        help_heading = "Machine"
    )]
    pub(crate) arch: ArchName,
    /// For machines of more than 64 CPUs
    #[arg(long, help_heading = "Machine")]
    pub(crate) large: bool,
    /// For runs with `--set model.coherence=on`
    ///
    /// The same tree once more, each of whose accesses to memory has a price.
    #[arg(long, help_heading = "Machine")]
    pub(crate) coherent: bool,
    /// Options of the kernel, as lines of `.config`, which are merged last
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}
