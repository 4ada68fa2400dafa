//! Options of `kernel`.

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
    /// Options of the kernel, as lines of `.config`, which are merged last
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}
