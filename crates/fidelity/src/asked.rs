//! What can be asked (docs/results/fidelity.md).
//!
//! What must stay: options and their words, which `cargo xtask fidelity` and its kin pass on. Free:
//! what leaves the tables of pages as they are. Tests by part:
//! programs.rs::`wrong_options_are_refused` (`number`, `request`),
//! recorded.rs::`it_boots_nothing_and_takes_nothing_that_is_for_a_guest` (options that exclude each
//! other).
//!
//! Tests: crates/fidelity/tests/all/programs.rs::wrong_options_are_refused,
//! crates/fidelity/tests/all/recorded.rs

use clap::{Args, Parser, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wakeplace_fidelity::Error;
use wakeplace_fidelity::placement::Request;
use wakeplace_text::parse_duration_ns;

/// What the simulator says beside recordings, guests, real programs and published figures
#[derive(Debug, Parser)]
#[command(name = "wakeplace-fidelity", max_term_width = 100)]
pub(crate) enum Question {
    /// Compare placement: the kernel's own, the live scheduler's, the simulator's
    Placement(Box<Placement>),
    /// Compare programs with their models: tasks, who wakes whom, how often
    Programs(Programs),
    /// Put all that was published beside what results of studies say, and count the directions
    Published(Published),
}

/// `placement`.
#[derive(Debug, Args)]
pub(crate) struct Placement {
    /// An arm64 platform; repeatable [default: hikey960 and juno-r0]
    #[arg(long)]
    platform: Vec<String>,
    /// Version of the kernel [default: the newest usable one]
    #[arg(long)]
    kernel: Option<String>,
    /// Within this time each CPU has its turn, as 50us [default: the guest's next timer]
    ///
    /// `wakeplace lab run --help` says what it does. Recordings have it in their folder's name.
    #[arg(long, value_name = "TIME", value_parser = wakeplace_lab::round_us)]
    round: Option<u32>,
    /// Only these sets of tasks, as L35,B [default: all]
    #[arg(long, value_delimiter = ',')]
    sets: Vec<String>,
    /// One platform and two sets, where none are named
    #[arg(long)]
    quick: bool,
    /// Starts of each set under the kernel, 1 to 50
    ///
    /// They differ in the time from a tick to the start of the tasks.
    #[arg(long, default_value_t = 10, value_parser = number(50))]
    starts: usize,
    /// Also measure the kernel with `sched_energy_aware` 0, in as many starts
    #[arg(long)]
    capacity_aware: bool,
    /// Boot nothing: read what an earlier run left in its `--keep`
    ///
    /// Starts after the first may be missing there.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["keep", "kernel"])]
    from: Option<PathBuf>,
    /// Compare with this kernel's own scheduler, as kernel:7.3.4
    ///
    /// Three columns: guest, this tree, our model of its version; energy-aware, and with
    /// `--capacity-aware` without. Where a task is not as the guest's, other beginnings are tried.
    /// The live scheduler is left out.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) tree: Option<String>,
    /// Boot nothing: simulate and compare the runs recorded on 7.3.4
    #[arg(long, conflicts_with_all = ["platform", "kernel", "round", "sets", "quick", "starts",
        "capacity_aware", "from", "timeout", "jobs", "keep"])]
    pub(crate) recorded: bool,
    /// End a guest if it takes longer
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = parse_duration_ns)]
    timeout: u64,
    /// Guests at a time; results do not depend on it
    ///
    /// Each keeps a CPU busy.
    #[arg(long, short, default_value_t = 1, value_parser = number(1024))]
    jobs: usize,
    /// Keep what guests sent, and boot none that is whole there
    ///
    /// Each guest has a folder of its own: traces, console, logs.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Form of the result; JSON has every wake-up
    #[arg(long = "format", default_value = "md")]
    pub(crate) form: Form,
}

impl Placement {
    /// What is to be measured in guests.
    pub(crate) fn request(&self) -> Result<Request, Error> {
        Ok(Request {
            platforms: self.platform.clone(),
            sets: self.sets.clone(),
            quick: self.quick,
            starts: self.starts,
            capacity_aware: self.capacity_aware,
            kernel: self.kernel.clone(),
            round_us: self.round,
            from: self.from.clone(),
            keep: wakeplace_lab::keep_folder(self.keep.as_deref())?,
            timeout: Duration::from_nanos(self.timeout),
            jobs: self.jobs,
        })
    }
}

/// `programs`.
#[derive(Debug, Args)]
pub(crate) struct Programs {
    /// Version of the kernel [default: the newest usable one]
    #[arg(long)]
    pub(crate) kernel: Option<String>,
    /// Only these, as cyclictest,perf-pipe [default: all]
    #[arg(long, value_delimiter = ',')]
    pub(crate) programs: Vec<String>,
    /// Boot nothing: take the counts of real runs that were recorded on Linux 7.3.4
    #[arg(long, conflicts_with_all = ["kernel", "repeats", "timeout", "keep", "record"])]
    pub(crate) recorded: bool,
    /// Run each program so many times
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=5))]
    pub(crate) repeats: u32,
    /// End the guest if it takes longer
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = parse_duration_ns)]
    pub(crate) timeout: u64,
    /// Write the counts of the real runs to a file, as crates/fidelity/data/real_programs.json
    #[arg(long, value_name = "FILE", conflicts_with = "programs")]
    pub(crate) record: Option<PathBuf>,
    /// Keep all that came back from the guest: traces, console, logs
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Form of the result
    #[arg(long = "format", default_value = "md")]
    pub(crate) form: Form,
}

/// `published`.
#[derive(Debug, Args)]
pub(crate) struct Published {
    /// Results of `study run` with `--format json`
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Only the largest published change of each study and policy, in the metric that comes first
    #[arg(long)]
    pub(crate) headlines: bool,
}

/// Forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Markdown tables
    Md,
    /// One object with `schema_version`
    Json,
}

/// A number from 1 on.
fn number(max: usize) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from 1 to {max}")),
    }
}
