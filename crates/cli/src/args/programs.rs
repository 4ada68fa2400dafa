//! Options of `lab programs`.

use super::fidelity::ReportFormat;
use super::values;
use clap::Args;
use std::path::PathBuf;

/// `lab programs`.
#[derive(Debug, Args)]
pub(crate) struct LabProgramsArgs {
    /// Version of the kernel [default: the newest usable one]
    #[arg(
        long,
        value_name = "VERSION",
        help_heading = "Machine",
        display_order = 1
    )]
    pub(crate) kernel: Option<String>,
    /// Only these, as cyclictest,perf-pipe [default: all]
    #[arg(
        long,
        value_name = "A,B..",
        value_delimiter = ',',
        help_heading = "Input",
        display_order = 20
    )]
    pub(crate) programs: Vec<String>,
    /// Boot nothing: take the counts of real runs that were recorded on Linux 7.3.4
    #[arg(
        long,
        conflicts_with_all = ["kernel", "repeats", "timeout", "keep", "record"],
        help_heading = "Input",
        display_order = 21
    )]
    pub(crate) recorded: bool,
    /// Run each program so many times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        allow_hyphen_values = true,
        value_parser = values::repeats,
        help_heading = "Execution",
        display_order = 30
    )]
    pub(crate) repeats: u32,
    /// End the guest if it takes longer
    #[arg(
        long,
        value_name = "TIME",
        default_value = "20m",
        allow_hyphen_values = true,
        value_parser = wakeplace_text::parse_duration_ns,
        help_heading = "Execution",
        display_order = 31
    )]
    pub(crate) timeout: u64,
    /// Form of the result
    #[arg(
        long,
        value_name = "md|json",
        hide_possible_values = true,
        default_value = "md",
        help_heading = "Output",
        display_order = 40
    )]
    pub(crate) format: ReportFormat,
    /// Write the result to a file
    #[arg(
        long,
        short,
        value_name = "FILE",
        help_heading = "Output",
        display_order = 41
    )]
    pub(crate) output: Option<PathBuf>,
    /// Replace the tables of a Markdown page, as docs/guide/workloads.md
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["output", "format"],
        help_heading = "Output",
        display_order = 42
    )]
    pub(crate) page: Option<PathBuf>,
    /// Write the counts of the real runs to a file, as crates/fidelity/data/real_programs.json
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "programs",
        help_heading = "Output",
        display_order = 43
    )]
    pub(crate) record: Option<PathBuf>,
    /// Keep all that came back from the guest: traces, console, logs
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Output",
        display_order = 44
    )]
    pub(crate) keep: Option<PathBuf>,
}
