//! Options of `lab` (docs/guide/lab.md).
//!
//! What must stay: names and defaults of options. A workload or a command is given, never both; the
//! seed and the time are a workload's. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/lab.rs::`either_a_workload_or_a_command_is_run` (`workload`, `command`),
//! lab.rs::`a_round_needs_a_clock_of_instructions` (`icount`, `round`),
//! lab.rs::`a_wrong_machine_is_refused` (`arch`, `platform`, `cpus`),
//! lab.rs::`a_file_that_is_no_kernel_of_the_guest_is_refused` (`kernel`, `modules`, `unpriced`),
//! lab.rs::`packages_are_named_as_debian_names_them` (`package`, `systemd`),
//! lab.rs::`files_are_looked_at_before_anything_is_booted` (`add`, `trace`, `keep`).
//!
//! Tests: crates/cli/tests/all/lab.rs

use super::help;
use super::show::AnswerFormArgs;
use super::values;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use wakeplace_lab::packages::PackageName;

/// `lab ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Boot a guest, run a workload or a command in it, print what came back
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::LAB_RUN_SHORT,
        before_long_help = help::LAB_RUN,
        after_help = help::EXIT_CODES_SHORT,
        after_long_help = help::EXIT_CODES,
        arg_required_else_help = true,
    )]
    Run(Box<LabRunArgs>),
    /// List the kernels: which can be had, which can be used (fetches those not seen before)
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::LAB_KERNELS,
        after_help = help::EXIT_CODES_SHORT,
    )]
    Kernels(LabKernelsArgs),
    /// Fetch kernels, emulators and guest programs ahead of runs
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::LAB_FETCH,
        after_help = help::EXIT_CODES_SHORT,
    )]
    Fetch(LabFetchArgs),
}

/// Architectures of guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchName {
    /// 64-bit x86
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit Arm
    #[value(name = "arm64")]
    Arm64,
}

/// `lab run`.
#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Architecture of the guest
    #[arg(
        long,
        value_name = "x86_64|arm64",
        hide_possible_values = true,
        help_heading = "Machine",
        display_order = 1
    )]
    pub(crate) arch: ArchName,
    /// A name from `wakeplace platform list`, a TOML file, or `generic`
    ///
    /// An arm64 guest has the platform's clusters, capacities, operating points and energy model,
    /// an x86_64 guest its caches, cores, threads and nodes. `generic` is a machine of equal CPUs
    /// with one cache.
    #[arg(
        long,
        value_name = "PLATFORM",
        default_value = wakeplace_lab::machine::GENERIC,
        help_heading = "Machine",
        display_order = 2
    )]
    pub(crate) platform: String,
    /// Use only so many of its CPUs [default: all; 4 of `generic`]
    ///
    /// Whole clusters stay first, then whole cores. A guest has at most 16 CPUs.
    #[arg(long, value_name = "N", help_heading = "Machine", display_order = 3)]
    pub(crate) cpus: Option<u32>,
    /// A version, or a kernel image [default: the newest usable one]
    ///
    /// A version is Debian's (`wakeplace lab kernels`). Everything else is the path of an image of
    /// your own: `Image`, `Image.gz` or a packed EFI image for arm64, `bzImage` for x86_64. What a
    /// guest needs and its configuration lacks is said before it is booted, where the configuration
    /// is in the image (CONFIG_IKCONFIG) or beside it.
    #[arg(
        long,
        value_name = "VERSION|FILE",
        help_heading = "Machine",
        display_order = 4
    )]
    pub(crate) kernel: Option<String>,
    /// Modules of your own kernel [default: those beside the image]
    ///
    /// What `make modules_install INSTALL_MOD_PATH=FOLDER` made, its lib/modules/RELEASE, or a
    /// built tree. Without this they are taken from the tree in which the image stands, or from
    /// lib/modules/RELEASE below a folder above it. The guest loads those that it needs.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "kernel",
        hide_short_help = true,
        help_heading = "Machine",
        display_order = 4
    )]
    pub(crate) modules: Option<PathBuf>,
    /// A virtual clock that counts instructions, 2 ns or so many each
    ///
    /// All CPUs of the guest then take turns, and times in it do not depend on how busy the host
    /// is. Without it they run side by side, which is faster and blurs times. NS is a power of two:
    /// with 16 the guest is an eighth as fast, and an hour of it takes an eighth of the work.
    #[arg(
        long,
        value_name = "NS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2",
        value_parser = values::icount_ns,
        help_heading = "Machine",
        display_order = 5
    )]
    pub(crate) icount: Option<u32>,
    /// Within this time each CPU has its turn, as 50us [default: the guest's next timer]
    ///
    /// With a clock that counts instructions a task that wakes to an idle CPU may have to wait for
    /// the turn of that CPU; 2 ms were seen. Short turns make the longest waits shorter and short
    /// waits longer, and slow the guest down.
    #[arg(
        long,
        value_name = "TIME",
        requires = "icount",
        hide_short_help = true,
        value_parser = wakeplace_lab::round_us,
        help_heading = "Machine",
        display_order = 5
    )]
    pub(crate) round: Option<u32>,
    /// `kernel`, `wakeplace[:POLICY]`, or as 'scx_lavd --performance'
    ///
    /// Of a sched_ext scheduler this machine's program (in PATH, or by its path) and the libraries
    /// that it needs are copied into the guest. wakeplace-bpf-load loads an object file (.o).
    /// A guest that ran under another scheduler than this one, at any time, is a failure: exit code
    /// 1 and no result.
    #[arg(
        long,
        value_name = "SCHEDULER",
        help_heading = "Machine",
        display_order = 6
    )]
    pub(crate) scheduler: String,
    /// Boot with systemd as the guest's first process
    ///
    /// The workload or command is then run by a service, after `multi-user.target`, and anew after
    /// each `systemctl soft-reboot`.
    #[arg(long, help_heading = "Machine", display_order = 7)]
    pub(crate) systemd: bool,
    /// An rt-app JSON file, or a model as `periodic:n=10,duty=5%`
    #[arg(
        long,
        value_name = "WORKLOAD",
        required_unless_present = "command",
        conflicts_with = "command",
        help_heading = "Input",
        display_order = 20
    )]
    pub(crate) workload: Option<String>,
    /// Measured time of the workload, as 5s [default: the file's, or 10s]
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        value_parser = wakeplace_text::parse_duration_ns,
        conflicts_with = "command",
        help_heading = "Input",
        display_order = 21
    )]
    pub(crate) duration: Option<u64>,
    /// Seed of the workload's random choices
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = wakeplace_study::parse_seed,
        default_value_t = 1,
        conflicts_with = "command",
        help_heading = "Input",
        display_order = 22
    )]
    pub(crate) seed: u64,
    /// Put a file of this machine into the guest's folder /root; repeatable
    #[arg(long, value_name = "FILE", help_heading = "Input", display_order = 23)]
    pub(crate) add: Vec<PathBuf>,
    /// Give the guest a Debian package and what it depends on; repeatable
    ///
    /// Its files are there as they were packed; the package's install scripts are not run.
    #[arg(long, value_name = "NAME", help_heading = "Input", display_order = 24)]
    pub(crate) package: Vec<PackageName>,
    /// End the guest if it takes longer
    ///
    /// One that is not up in a quarter of that, or in 1 to 5 minutes (at most half of it), is
    /// started once more, with as much time, which is said.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15m",
        allow_hyphen_values = true,
        value_parser = wakeplace_text::parse_duration_ns,
        help_heading = "Input",
        display_order = 25
    )]
    pub(crate) timeout: u64,
    /// Record the scheduler's events, in the kernel's text form
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 40)]
    pub(crate) trace: Option<PathBuf>,
    /// Record nothing: no energy and no latency
    ///
    /// Without this the guest's kernel notes switches, wake-ups and frequencies, from which both
    /// are worked out. That takes some of the guest's time.
    #[arg(
        long,
        conflicts_with = "trace",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 41
    )]
    pub(crate) unpriced: bool,
    /// Keep all that came back: console, messages, logs, facts
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Output",
        display_order = 42
    )]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
    /// Program and its arguments, run in the guest
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `lab kernels`.
#[derive(Debug, Args)]
pub(crate) struct LabKernelsArgs {
    /// Only this architecture
    #[arg(
        long,
        value_name = "x86_64|arm64",
        hide_possible_values = true,
        help_heading = "Input"
    )]
    pub(crate) arch: Option<ArchName>,
    #[command(flatten)]
    pub(crate) form: AnswerFormArgs,
}

/// `lab fetch`.
#[derive(Debug, Args)]
pub(crate) struct LabFetchArgs {
    /// Only this architecture
    #[arg(
        long,
        value_name = "x86_64|arm64",
        hide_possible_values = true,
        help_heading = "Input"
    )]
    pub(crate) arch: Option<ArchName>,
}
