//! Options of the commands that simulate: `compare`, `sim`, `study`.

use super::values::{self, Seeds};
use super::{FormatName, InputArgs, JitterArgs, SchedulerArgs, help};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use wakeplace_engine::PolicyChange;
use wakeplace_metrics::Window;

/// `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// N for 1 to N, A..B, or a list as 1,5,9
    ///
    /// Every policy runs with every seed, and differences are taken seed by seed, so that chance
    /// which strikes both does not count.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "SEEDS",
        default_value = "5",
        value_parser = values::seeds,
        help_heading = "Execution",
        display_order = 30
    )]
    pub(crate) seeds: Seeds,
}

/// `sim`.
#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Seed of the workload's random choices
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = values::seed,
        default_value_t = 1,
        help_heading = "Execution",
        display_order = 30
    )]
    pub(crate) seed: u64,
    /// Several seeds: N for 1 to N, A..B, or 1,5,9
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "SEEDS",
        value_parser = values::seeds,
        conflicts_with = "seed",
        help_heading = "Execution",
        display_order = 31
    )]
    pub(crate) seeds: Option<Seeds>,
    /// Write a trace that ui.perfetto.dev opens
    ///
    /// What each CPU runs and why, wake-ups with their wakers, frequencies, idle states,
    /// utilisation, capacity and energy. For one seed. `docs/guide/traces.md` says what is in it.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "seeds",
        help_heading = "Output",
        display_order = 23
    )]
    pub(crate) export_perfetto: Option<PathBuf>,
    /// Write a trace as text, as `trace-cmd report` prints it
    ///
    /// The kernel's events only: switches, wake-ups, migrations, frequencies, idle states, threads.
    /// For LISA and Perfetto. For one seed.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "seeds",
        help_heading = "Output",
        display_order = 23
    )]
    pub(crate) export_ftrace: Option<PathBuf>,
    /// Write events and metrics as tables into a folder
    ///
    /// Parquet files: of one seed one per kind of event, `counters`, `decisions` and `metrics`; of
    /// several seeds `runs`, one row per run.
    #[arg(
        long,
        value_name = "FOLDER",
        hide_short_help = true,
        help_heading = "Output",
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
        conflicts_with = "seeds",
        hide_short_help = true,
        help_heading = "Output",
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
        conflicts_with_all = ["seeds", "rtapp_log"],
        hide_short_help = true,
        help_heading = "Output",
        display_order = 25
    )]
    pub(crate) dump_state: Option<values::Times>,
}

/// What `compare` and `sim` share.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A name from `wakeplace platform list`, or a TOML file
    ///
    /// `compare` takes several: every one with every workload.
    #[arg(
        long,
        value_name = "PLATFORM",
        required = true,
        help_heading = "Input",
        display_order = 1
    )]
    pub(crate) platform: Vec<String>,
    /// An rt-app JSON file, or a model as `periodic:n=10,duty=5%`
    ///
    /// `wakeplace workload list` shows the models and their keys. `-` reads an rt-app file from
    /// standard input. `trace:FILE[,platform=NAME]` is a recording (ftrace text,
    /// `trace-cmd report`, `perf script`, Perfetto) made on that platform, else on one like
    /// --platform.
    #[arg(
        long,
        value_name = "WORKLOAD",
        required = true,
        help_heading = "Input",
        display_order = 2
    )]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// A policy, as linux-4.17+energy-aware
    ///
    /// The form is ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...], with settings of this
    /// policy alone after a colon. For `compare`, repeat the option: the first policy is the base
    /// of the differences. `wakeplace policy list` shows eras and features, `wakeplace policy show
    /// NAME` what a name means. `kernel:VERSION` or `kernel:PATH[@REV][:name=TEXT,KEY=VALUE...]` is
    /// a kernel tree's own code (`wakeplace kernel --help`).
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "scheduler",
        help_heading = "Policy",
        display_order = 10
    )]
    pub(crate) policy: Vec<String>,
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
    /// Change a parameter in mid-run, as 10s=power-policy=powersaving; repeatable
    ///
    /// TIME=KEY=VALUE. KEY is `power-policy`, or a parameter that each decision reads anew. The
    /// change itself moves no task.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIME=SETTING",
        value_parser = values::policy_at,
        hide_short_help = true,
        help_heading = "Policy",
        display_order = 12
    )]
    pub(crate) policy_at: Vec<PolicyChange>,
    #[command(flatten)]
    pub(crate) jitter: JitterArgs,
    /// A difference of less does not matter, percent
    ///
    /// "better" and "worse" are said where the 95 % interval lies beyond it, "none that matters"
    /// where it lies inside, else "not told".
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "PERCENT",
        value_parser = values::margin,
        default_value = "1",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) margin: f64,
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
    /// Check a mean, as 'energy_j<=120'; repeatable
    ///
    /// The mean over the seeds of every policy is compared. Operators: <= < >= > ==. If a check
    /// fails, the exit code is 1; the result is written all the same.
    #[arg(
        long,
        value_name = "CONDITION",
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) expect: Vec<String>,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(long, value_name = "FILE", help_heading = "Output", display_order = 23)]
    pub(crate) export_html: Option<PathBuf>,
    /// Take down what runs where between two times, as 1s..1200ms
    ///
    /// Of the first seed's run of each policy: tasks on CPUs, idle states, frequencies, placements
    /// with their reasons. In JSON results (`runs[].timeline`) and pages; up to 20,000 entries.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "FROM..TO",
        value_parser = values::window,
        hide_short_help = true,
        help_heading = "Output",
        display_order = 26
    )]
    pub(crate) timeline: Option<Window>,
    /// Find how little energy the load could have taken
    ///
    /// Finds the static placement of least CPU energy for the mean demand of each run's tasks, and
    /// reports `energy_over_optimal_pct`. Exhaustive to 8 tasks on 8 CPUs; beyond, a search that
    /// says what it has proven if it stops early. For platforms with power figures and one thread
    /// per core.
    #[arg(long, help_heading = "Execution", display_order = 34)]
    pub(crate) oracle: bool,
    /// Run twice more and name the first difference
    ///
    /// Prints `identical: events=..., hash=...`; the exit code is 1 if there is a difference.
    #[arg(long, help_heading = "Execution", display_order = 33)]
    pub(crate) verify_determinism: bool,
}

/// What all runs share, those of studies too.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// Change a parameter; repeatable
    ///
    /// KEY is a parameter of a policy (`wakeplace policy show NAME` lists them; every policy gets
    /// it that does not set it itself after a colon), or a switch of the machine's model:
    /// `model.idle_states`, `model.kernel_costs`, ...
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = values::setting,
        help_heading = "Policy",
        display_order = 11
    )]
    pub(crate) set: Vec<(String, String)>,
    /// Threads; results do not depend on it [default: all CPUs]
    #[arg(
        long,
        short,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = values::jobs,
        help_heading = "Execution",
        display_order = 32
    )]
    pub(crate) jobs: Option<usize>,
}

/// Where a result goes, and in which form.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Form of the result
    #[arg(
        long,
        value_name = "human|json|csv|md",
        hide_possible_values = true,
        default_value = "human",
        help_heading = "Output",
        display_order = 20
    )]
    pub(crate) format: FormatName,
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
    Run(StudyRunArgs),
    /// Put all that was published beside what results of studies say, and count the directions
    #[command(
        help_template = help::TEMPLATE,
        after_help = help::ANSWER_EXIT_CODES_SHORT,
        after_long_help = help::ANSWER_EXIT_CODES,
        arg_required_else_help = true,
    )]
    Published(StudyPublishedArgs),
}

/// `study published`.
#[derive(Debug, Args)]
pub(crate) struct StudyPublishedArgs {
    /// Results of `study run` with `--format json`; `-` reads standard input
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Only the largest published change of each study and policy, in the metric that comes first
    #[arg(long, help_heading = "Output", display_order = 20)]
    pub(crate) headlines: bool,
    /// Renew the part of a Markdown page between the lines `<!-- published: begin -->` and
    /// `<!-- published: end -->`
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "output",
        help_heading = "Output",
        display_order = 21
    )]
    pub(crate) page: Option<PathBuf>,
    /// Write to a file, complete or not at all
    #[arg(
        long,
        short,
        value_name = "FILE",
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) output: Option<PathBuf>,
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
    /// Simulated time per run, as 500ms [default: the study's]
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIME",
        value_parser = wakeplace_text::parse_duration_ns,
        help_heading = "Input",
        display_order = 4
    )]
    pub(crate) duration: Option<u64>,
    /// A difference of less does not matter, percent [default: 1]
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "PERCENT",
        value_parser = values::margin,
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) margin: Option<f64>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
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
    /// N for 1 to N, A..B, or a list as 1,5,9 [default: the study's]
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "SEEDS",
        value_parser = values::seeds,
        help_heading = "Execution",
        display_order = 30
    )]
    pub(crate) seeds: Option<Seeds>,
}
