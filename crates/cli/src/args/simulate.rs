//! Options of the commands that simulate: `compare`, `sim`, `study`. What says what is run is in
//! `asked.rs`; here is where results go and how they are made.
//!
//! What must stay: names, aliases and defaults of options. A new option that changes no figure of a
//! result is added to `repeat.rs`. Tests by part:
//! crates/cli/tests/all/traces.rs::`all_forms_of_one_run` (`SimArgs`),
//! traces.rs::`the_option_of_before_is_still_understood` (`rtapp_log`),
//! crates/cli/tests/all/results.rs::`a_state_that_cannot_be_shown_is_refused` (`dump_state`),
//! results.rs::`determinism_is_verified` (`verify_determinism`),
//! results.rs::`the_same_command_gives_the_same_bytes` (`HowArgs`),
//! results.rs::`a_pattern_runs_several_studies` (`StudyRunArgs`),
//! crates/cli/tests/all/output.rs::`a_file_gets_what_standard_output_would` (`OutputArgs`),
//! crates/cli/tests/all/sweeps.rs::`study_run_takes_a_file` (`store`).
//!
//! Tests: crates/cli/tests/all/traces.rs, crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/output.rs, crates/cli/tests/all/sweeps.rs::study_run_takes_a_file

use super::asked::{Compare, Sim, Study};
use super::values;
use super::{Asked, FormatName, GateArgs, SchedulerArgs, help};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Compare>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// `sim`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SimArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Sim>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Write a trace that ui.perfetto.dev opens
    ///
    /// What each CPU runs and why, wake-ups with their wakers, frequencies, idle states,
    /// utilisation, capacity and energy. For one seed. `docs/guide/traces.md` says what is in it.
    #[arg(long, value_name = "FILE", display_order = 23)]
    pub(crate) export_perfetto: Option<PathBuf>,
    /// Write a trace as text, as `trace-cmd report` prints it
    ///
    /// The kernel's events only: switches, wake-ups, migrations, frequencies, idle states, threads.
    /// For LISA and Perfetto. For one seed.
    #[arg(long, value_name = "FILE", display_order = 23)]
    pub(crate) export_ftrace: Option<PathBuf>,
    /// Write events and metrics as tables into a folder
    ///
    /// Parquet files: of one seed one per kind of event, `counters`, `decisions` and `metrics`; of
    /// several seeds `runs`, one row per run.
    #[arg(
        long,
        value_name = "FOLDER",
        hide_short_help = true,
        display_order = 23
    )]
    pub(crate) export_parquet: Option<PathBuf>,
    /// Write rt-app's log files into a folder
    ///
    /// One file per thread, `BASENAME-THREAD.log` as the file's `global` names it, with a line per
    /// pass of a phase: run time, period, slack and wake-up latency. For rt-app files with logs,
    /// one seed.
    #[arg(
        long = "export-rtapp-log",
        alias = "rtapp-log",
        value_name = "FOLDER",
        hide_short_help = true,
        display_order = 24
    )]
    pub(crate) rtapp_log: Option<PathBuf>,
    /// Show what everything is at these times, as 1s,1500ms
    ///
    /// Of each CPU: what it does, its task, tasks on its queues, utilisation, capacity, clock and
    /// idle state, under sched-mc the series' debug files; and the sched domains with groups and
    /// flags as they were built. Signals are as the policy last saw them. For one seed; in human
    /// and JSON results (`states`).
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIMES",
        value_parser = values::times,
        conflicts_with = "rtapp_log",
        hide_short_help = true,
        display_order = 25
    )]
    pub(crate) dump_state: Option<values::Times>,
}

/// What `compare` and `sim` share.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Options of kernels of `--policy kernel:...`, as lines of `.config`, merged last
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 11
    )]
    pub(crate) kernel_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) schedulers: SchedulerArgs,
    /// Write all runs as a table, one row per run, to a .csv or .parquet file
    ///
    /// Columns: what the run was made by, its hashes, and every metric.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 24
    )]
    pub(crate) export_runs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Count wake-ups by sizes of task and CPUs, to a .csv or .json file
    ///
    /// Eight cases: the task is big (fits only the biggest CPUs) or little, so are its previous CPU
    /// and the waker's. Per case: the new CPU is little or big; the fast path (sis) or the slow
    /// path (figc) chose it; of the latter wake_wide was true (ww), it was a wake-up (bw).
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 24
    )]
    pub(crate) export_wakeup_cases: Option<PathBuf>,
    /// A metric of the table; repeatable [default: the key ones; of one policy all]
    ///
    /// For people and in Markdown. JSON and CSV have all metrics, and the headline is the same.
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) metric: Vec<String>,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 23)]
    pub(crate) export_html: Option<PathBuf>,
    /// Run twice more and name the first difference
    ///
    /// Prints `identical: events=..., hash=...`; the exit code is 1 if there is a difference.
    #[arg(long, help_heading = "Execution", display_order = 33)]
    pub(crate) verify_determinism: bool,
}

/// What all runs share, those of studies too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct HowArgs {
    /// Threads; results do not depend on it [default: all CPUs]
    #[arg(
        long,
        short,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = values::jobs,
        display_order = 32
    )]
    pub(crate) jobs: Option<usize>,
}

/// Where a result goes, and in which form.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Form of the result
    #[arg(
        long,
        value_name = "human|json|csv|md",
        hide_possible_values = true,
        default_value = "human",
        display_order = 20
    )]
    pub(crate) format: FormatName,
    /// Write to a file, complete or not at all
    #[arg(long, short, value_name = "FILE", display_order = 21)]
    pub(crate) output: Option<PathBuf>,
}

/// `study ...`.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies
    #[command(help_template = help::TEMPLATE)]
    List(super::ListArgs),
    /// Show a study: what it reproduces, its cases and its caveats
    #[command(help_template = help::TEMPLATE, arg_required_else_help = true)]
    Show(StudyShowArgs),
    /// Run a study and print published beside simulated figures
    #[command(
        help_template = help::TEMPLATE,
        before_help = help::STUDY_RUN,
        after_help = help::CELLS_EXIT_CODES_SHORT,
        after_long_help = help::CELLS_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Run(Box<StudyRunArgs>),
}

/// `study show`.
#[derive(Debug, Args)]
pub(crate) struct StudyShowArgs {
    /// Name, as `energy-aware/energy-hikey960`
    pub(crate) name: String,
}

/// `study run`.
#[derive(Debug, Args)]
pub(crate) struct StudyRunArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Study>,
    /// Names, as `energy-aware/energy-hikey960`; `*` stands for anything, as 'energy-aware/*'
    ///
    /// What ends in .toml is a file of your own (studies/README.md).
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// A reduced size: fewer cases and seeds, as the study says
    #[arg(long, help_heading = "Input", display_order = 1)]
    pub(crate) quick: bool,
    /// Also run what explains the result, as the study says
    #[arg(long, help_heading = "Input", display_order = 2)]
    pub(crate) experiments: bool,
    /// Try each conclusion at half and double of every assumed cost; the full size does where the
    /// study says so
    #[arg(long, help_heading = "Input", display_order = 3)]
    pub(crate) sensitivity: bool,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 23)]
    pub(crate) export_html: Option<PathBuf>,
    /// Write all runs as a table, one row per run, to a .csv or .parquet file
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 24
    )]
    pub(crate) export_runs: Option<PathBuf>,
    /// For a file with a table `vary`: keep its runs here, and go on with what it lacks
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Execution",
        display_order = 31
    )]
    pub(crate) store: Option<PathBuf>,
}
