//! Options of `platform import`, `new` and `capture` (docs/guide/import.md), and of
//! `workload record` (docs/guide/traces-in.md).
//!
//! What must stay: names and defaults of options. One source is given, and only one. A program to
//! record stands behind `--`. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/help.rs::`every_example_works` (sources of an import),
//! crates/cli/tests/all/bad_platforms.rs::`a_capture_is_no_folder` (`PlatformCaptureArgs`),
//! bad_platforms.rs::`a_new_board_is_whole_or_refused` (`PlatformNewArgs`, `power_like`),
//! crates/cli/tests/all/interrupt.rs::`an_ended_recording_leaves_the_kernel_as_it_was`
//! (`WorkloadRecordArgs`).
//!
//! Tests: crates/cli/tests/all/help.rs::every_example_works, crates/cli/tests/all/bad_platforms.rs,
//! crates/cli/tests/all/interrupt.rs

use clap::Args;
use std::path::PathBuf;

/// `platform import`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("source").required(true))]
pub(crate) struct PlatformImportArgs {
    /// This machine, by the kernel's files
    #[arg(long, group = "source", help_heading = "Input")]
    pub(crate) live: bool,
    /// A saved tree: a folder with `sys` in it, or a tar (also .tar.gz) of one
    #[arg(
        long,
        value_name = "FOLDER|TAR",
        group = "source",
        help_heading = "Input"
    )]
    pub(crate) sysfs: Option<PathBuf>,
    /// A flattened device tree
    #[arg(long, value_name = "FILE", group = "source", help_heading = "Input")]
    pub(crate) dtb: Option<PathBuf>,
    /// A list of frequency and voltage (`cpu MHz mV`) for a device tree without voltages
    #[arg(long, value_name = "FILE", requires = "dtb", help_heading = "Input")]
    pub(crate) voltages: Option<PathBuf>,
    /// A plat_info file of LISA
    #[arg(long, value_name = "FILE", group = "source", help_heading = "Input")]
    pub(crate) lisa: Option<PathBuf>,
    /// A copy of debugfs's energy_model folder, beside any of these
    #[arg(long, value_name = "FOLDER", help_heading = "Input")]
    pub(crate) energy_model: Option<PathBuf>,
    /// Powers of this machine's cores, by kind, clock and capacity; a built-in one or a file
    #[arg(long, value_name = "MACHINE", help_heading = "Input")]
    pub(crate) power_like: Option<String>,
    /// Name of the platform inside the file [default: the source's]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) name: Option<String>,
    /// Write the platform file here [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// `platform new`.
#[derive(Debug, Args)]
pub(crate) struct PlatformNewArgs {
    /// Clusters, each NUMBERxKIND@CLOCK; a clock is the highest, or LOW-HIGH, in MHz
    #[arg(long, value_name = "CLUSTER,...", help_heading = "Input")]
    pub(crate) clusters: String,
    /// Powers of this machine's cores, by kind, clock and capacity; a built-in one or a file
    #[arg(long, value_name = "MACHINE", help_heading = "Input")]
    pub(crate) power_like: Option<String>,
    /// Name of the platform inside the file
    #[arg(
        long,
        value_name = "NAME",
        default_value = "new-board",
        help_heading = "Output"
    )]
    pub(crate) name: String,
    /// Write the platform file here [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// `platform capture`.
#[derive(Debug, Args)]
pub(crate) struct PlatformCaptureArgs {
    /// Run the script here, and write the archive to this file
    #[arg(short, long, value_name = "FILE.tar", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// `workload record`.
#[derive(Debug, Args)]
pub(crate) struct WorkloadRecordArgs {
    /// Write the recording here
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "recording.txt",
        help_heading = "Output"
    )]
    pub(crate) output: PathBuf,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}
