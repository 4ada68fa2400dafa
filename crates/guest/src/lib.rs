//! What runs inside an emulated machine: load from task scripts, and programs that try to break a
//! scheduler. `wakeplace-guest` is this library with a `main` (docs/guide/lab.md).
//!
//! Every subcommand prints one JSON object, a [`report::Report`], and holds if nothing that it
//! started was lost, hung or stood still.
//!
//! What must stay: names of subcommands and keys of reports, which scripts/live and xtask read.
//! Free: words of help; further subcommands.
//!
//! Tests by part: programs.rs::`what_is_wrong_is_exit_code_2_and_nothing_on_stdout` (`run`: names
//! and arguments), programs.rs::`load_runs_a_job_file_and_reports_each_task` (`load_file`),
//! programs.rs::`ping_pong_counts_two_wakeups_a_round` (`outcome`).
//!
//! Callers: main.rs (`run`); crates/lab, crates/fidelity and crates/price use its types.
//!
//! Tests: crates/guest/tests/programs.rs, beside its modules

use std::fs::File;
use std::io::Read;

use serde::Serialize;
use wakeplace_text::{did_you_mean, nearest, shorten};

pub mod affinity_storm;
mod args;
mod cpus;
pub mod error;
pub mod fork_storm;
pub mod hotplug_storm;
pub mod inside_storm;
pub mod job;
pub mod load;
pub mod ping_pong;
pub mod report;
mod rng;
mod spin;
mod steady;
pub mod switcher;
mod sys;
pub mod until_placed;
mod workers;

pub use cpus::CpuFacts;
use error::GuestError;
use job::{JOB_BYTES_MAX, Job};
use report::Report;

/// What `--help` prints.
pub const HELP: &str = "\
wakeplace-guest load JOB.json
wakeplace-guest ping-pong [--rounds N] [--pairs P]
wakeplace-guest fork-storm [--processes N] [--depth D] [--seconds S]
wakeplace-guest affinity-storm [--seconds S] [--tasks N] [--seed X]
wakeplace-guest hotplug-storm [--seconds S] [--seed X]
wakeplace-guest inside-storm files|rcu|mutex|pi [GROUP] [--seconds S] [--holders N]
wakeplace-guest switch STOP_FILE [--every-ms M]
wakeplace-guest until-placed heavy [--seconds S] [--pinned-ms M] [--within-ms M]
wakeplace-guest until-placed small [--tasks N] [--period-ms M] [--duty-pct P] [--seconds S]
                                   [--warm-up-seconds S] [--big-share-pct P]

Prints one JSON object. Exit code: 0 all held, 1 something did not (`failures` says what),
2 wrong arguments or job file, 3 this machine or user cannot.
";

const COMMANDS: [&str; 8] = [
    "load",
    "ping-pong",
    "fork-storm",
    "affinity-storm",
    "hotplug-storm",
    "inside-storm",
    "switch",
    "until-placed",
];

/// What the program prints and the code it ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// For standard output.
    pub text: String,
    /// Exit code.
    pub code: u8,
}

/// Runs a subcommand; `args` are those after the program's name.
///
/// # Errors
/// [`GuestError`], whose exit code is 2 or 3.
pub fn run(args: &[String]) -> Result<Outcome, GuestError> {
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => return Err(GuestError::Input(format!("no subcommand\n{HELP}"))),
    };
    match command {
        "-h" | "--help" => Ok(Outcome {
            text: HELP.to_owned(),
            code: 0,
        }),
        "load" => load_file(rest).map(|report| outcome(&report, report.held)),
        "ping-pong" => ping_pong::run(rest).map(|report| outcome(&report, report.held)),
        "fork-storm" => fork_storm::run(rest).map(|report| outcome(&report, report.held)),
        fork_storm::LINK => fork_storm::link(rest).map(|code| Outcome {
            text: String::new(),
            code,
        }),
        "affinity-storm" => affinity_storm::run(rest).map(|report| outcome(&report, report.held)),
        "hotplug-storm" => hotplug_storm::run(rest).map(|report| outcome(&report, report.held)),
        "inside-storm" => inside_storm::run(rest).map(|report| outcome(&report, report.held)),
        "switch" => switcher::run(rest).map(|report| outcome(&report, report.held)),
        "until-placed" => until_placed::run(rest).map(|report| match &report {
            until_placed::UntilPlaced::Heavy(heavy) => outcome(&report, heavy.held),
            until_placed::UntilPlaced::Small(small) => outcome(&report, small.held),
        }),
        other => Err(GuestError::Input(format!(
            "unknown subcommand `{}`{}",
            shorten(other),
            did_you_mean(nearest(other, COMMANDS))
        ))),
    }
}

/// One JSON object; exit code 1 if it did not hold.
fn outcome(report: &impl Serialize, held: bool) -> Outcome {
    // Reports are plain numbers, names and lists.
    let text = serde_json::to_string(report).expect("a report is JSON");
    Outcome {
        text: text + "\n",
        code: u8::from(!held),
    }
}

/// The subcommand `load`: reads the job file and runs it.
fn load_file(args: &[String]) -> Result<Report<load::LoadResult>, GuestError> {
    let [path] = args else {
        let expected = "load: expected one argument, the job file";
        return Err(GuestError::Input(expected.to_owned()));
    };
    let input = |error: std::io::Error| GuestError::Input(format!("{path}: {error}"));
    let mut text = String::new();
    let file = File::open(path).map_err(input)?;
    let mut limited = file.take(JOB_BYTES_MAX + 1);
    let bytes = limited.read_to_string(&mut text).map_err(input)? as u64;
    if bytes > JOB_BYTES_MAX {
        let what = format!("{path}: longer than {JOB_BYTES_MAX} bytes");
        return Err(GuestError::Input(what));
    }
    let (result, failures) = load::run(Job::parse(path, &text)?)?;
    Ok(Report::new("load", failures, result))
}
