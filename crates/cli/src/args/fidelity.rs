//! Options of `lab fidelity`.

use super::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `lab fidelity`.
#[derive(Debug, Args)]
pub(crate) struct LabFidelityArgs {
    /// An arm64 platform; repeatable [default: hikey960 and juno-r0]
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
    /// Within this time each CPU has its turn, as 50us [default: the guest's next timer]
    ///
    /// `lab run --help` says what it does. Recordings have it in their folder's name.
    #[arg(
        long,
        value_name = "TIME",
        hide_short_help = true,
        value_parser = values::round_us,
        help_heading = "Machine",
        display_order = 3
    )]
    pub(crate) round: Option<u32>,
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
    /// Starts of each set under the kernel, 1 to 50
    ///
    /// They differ in the time from a tick to the start of the tasks.
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
    /// Boot nothing: read what an earlier run left in its `--keep`
    ///
    /// Starts after the first may be missing there.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["keep", "kernel"],
        help_heading = "Input",
        display_order = 24
    )]
    pub(crate) from: Option<PathBuf>,
    /// Compare with this kernel's own scheduler, as kernel:7.3.4
    ///
    /// Three columns: guest, this tree, our model of its version; energy-aware, and with
    /// `--capacity-aware` without. Where a task is not as the guest's, other beginnings are tried.
    /// The live scheduler is left out.
    #[arg(
        long,
        value_name = "KERNEL",
        help_heading = "Input",
        display_order = 26
    )]
    pub(crate) tree: Option<String>,
    /// Boot nothing: simulate and compare the runs recorded on 7.3.4
    #[arg(
        long,
        conflicts_with_all = ["platform", "kernel", "round", "sets", "quick", "starts",
            "capacity_aware", "from", "timeout", "jobs", "keep"],
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
    /// Guests at a time; results do not depend on it
    ///
    /// Each keeps a CPU busy.
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
    /// Replace its part of a page, as docs/results/fidelity.md
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["output", "format"],
        help_heading = "Output",
        display_order = 42
    )]
    pub(crate) page: Option<PathBuf>,
    /// Keep what guests sent, and boot none that is whole there
    ///
    /// Each guest has a folder of its own: traces, console, logs.
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Output",
        display_order = 43
    )]
    pub(crate) keep: Option<PathBuf>,
}

/// Forms of a result that is a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown tables
    Md,
    /// One object with `schema_version`, every wake-up in it
    Json,
}
