//! Options of `lab fidelity`.

use super::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `lab fidelity`.
#[derive(Debug, Args)]
pub(crate) struct LabFidelityArgs {
    /// An arm64 platform with clusters; repeatable [default: hikey960 and juno-r0]
    #[arg(
        long,
        value_name = "PLATFORM",
        help_heading = "Machine",
        display_order = 1
    )]
    pub(crate) platform: Vec<String>,
    /// Version of the kernel [default: the newest usable one]
    #[arg(
        long,
        value_name = "VERSION",
        help_heading = "Machine",
        display_order = 2
    )]
    pub(crate) kernel: Option<String>,
    /// Only these sets of tasks, as L35,B [default: all]
    #[arg(
        long,
        value_name = "A,B..",
        value_delimiter = ',',
        help_heading = "Input",
        display_order = 20
    )]
    pub(crate) sets: Vec<String>,
    /// One platform and two sets, where none are named
    #[arg(long, help_heading = "Input", display_order = 21)]
    pub(crate) quick: bool,
    /// Starts of each set under the kernel's own scheduler, at other times after a tick; 1 to 50
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        allow_hyphen_values = true,
        value_parser = values::starts,
        help_heading = "Input",
        display_order = 22
    )]
    pub(crate) starts: usize,
    /// Also measure the kernel with `sched_energy_aware` 0, in as many starts
    #[arg(long, help_heading = "Input", display_order = 23)]
    pub(crate) capacity_aware: bool,
    /// Boot nothing: read what guests of an earlier run left in its `--keep` folder; starts after
    /// the first may be missing there
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["keep", "kernel"],
        help_heading = "Input",
        display_order = 24
    )]
    pub(crate) from: Option<PathBuf>,
    /// Boot nothing: simulate the runs that were recorded on Linux 7.3.4, and compare run times
    #[arg(
        long,
        conflicts_with_all = ["platform", "kernel", "sets", "quick", "starts", "capacity_aware",
            "from", "timeout", "jobs", "keep"],
        help_heading = "Input",
        display_order = 25
    )]
    pub(crate) recorded: bool,
    /// End a guest if it takes longer
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30m",
        allow_hyphen_values = true,
        value_parser = wakeplace_text::parse_duration_ns,
        help_heading = "Execution",
        display_order = 30
    )]
    pub(crate) timeout: u64,
    /// Guests at a time; each keeps a CPU busy, and results do not depend on it
    #[arg(
        long,
        short,
        value_name = "N",
        default_value_t = 1,
        allow_hyphen_values = true,
        value_parser = values::jobs,
        help_heading = "Execution",
        display_order = 31
    )]
    pub(crate) jobs: usize,
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
    /// Replace the measured (or recorded) part of a Markdown page, as docs/fidelity.md
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["output", "format"],
        help_heading = "Output",
        display_order = 42
    )]
    pub(crate) page: Option<PathBuf>,
    /// Keep all that came back from each guest, in a folder of its own: traces, console, logs;
    /// guests that are whole there from an earlier run are not booted again
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Output",
        display_order = 43
    )]
    pub(crate) keep: Option<PathBuf>,
}

#[cfg(test)]
impl LabFidelityArgs {
    /// As typed behind `lab fidelity`.
    pub(crate) fn parsed(words: &[&str]) -> Self {
        use super::{Cli, Command, LabCommand};
        use clap::Parser as _;
        let words = ["wakeplace", "lab", "fidelity"].iter().chain(words);
        match Cli::try_parse_from(words).expect("valid").command {
            Command::Lab {
                command: LabCommand::Fidelity(args),
            } => *args,
            other => panic!("{other:?}"),
        }
    }
}

/// Forms of a result that is a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown tables
    Md,
    /// One object with `schema_version`, every wake-up in it
    Json,
}
