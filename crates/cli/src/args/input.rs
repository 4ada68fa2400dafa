//! Options on what is simulated that several commands share.

use super::values::{self, Schedule};
use clap::Args;
use wakeplace_engine::Hotplug;
use wakeplace_study::Jitter;
use wakeplace_workload::{Dialect, LoadOptions};

/// How a workload is read, for how long it runs, and on which CPUs.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Leave out parts of the file that have no model
    ///
    /// A task group within a group is the one thing of rt-app without a model. Without this option
    /// such a file is refused; with it the result lists what was left out.
    #[arg(long, help_heading = "Input", display_order = 3)]
    pub(crate) allow_unmodelled: bool,
    /// Read an rt-app file as older tools did: workgen, suspend-ref
    ///
    /// `workgen` keeps all of several equal event keys and takes `suspend` without a value, as
    /// rt-app's script of that name did; `suspend-ref` lets `suspend` wait under the name given, as
    /// rt-app 1.0. Join both with a comma.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "WORDS",
        value_parser = values::dialect,
        default_value = "",
        hide_default_value = true,
        help_heading = "Input",
        display_order = 3
    )]
    pub(crate) rtapp_dialect: Dialect,
    /// Simulated time, as 500ms [default: the workload's, or 30s]
    ///
    /// Units: ns, us, ms, s, m. Without it, `duration` in the rt-app file or the length that the
    /// benchmark of a model has counts, or else 30s.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "TIME",
        value_parser = wakeplace_text::parse_duration_ns,
        help_heading = "Input",
        display_order = 4
    )]
    pub(crate) duration: Option<u64>,
    /// CPUs that leave and come back, as 0s:1=off,2s:1=on
    ///
    /// Steps are TIME:CPU=off or TIME:CPU=on, separated by commas. At 0s: before the first task.
    /// A CPU that leaves hands its tasks over; refused are the last CPU and one that a task is
    /// pinned to.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "STEPS",
        value_parser = values::hotplug,
        hide_short_help = true,
        help_heading = "Input",
        display_order = 5
    )]
    pub(crate) hotplug: Option<Schedule>,
}

impl InputArgs {
    /// How a workload is read.
    pub(crate) fn load(&self) -> LoadOptions {
        LoadOptions {
            allow_unmodelled: self.allow_unmodelled,
            dialect: self.rtapp_dialect,
        }
    }

    /// CPUs that leave and come back; none if nothing is said.
    pub(crate) fn hotplug(&self) -> Vec<Hotplug> {
        self.hotplug.iter().flat_map(|s| s.0.clone()).collect()
    }
}

/// What the seed varies besides the workload's own random choices.
#[derive(Debug, Args)]
pub(crate) struct JitterArgs {
    /// Vary a recording or an rt-app file with the seed, as start=10ms,run=5%
    ///
    /// A thread begins up to `start` later, and each of its run steps is up to `run` shorter or
    /// longer, drawn from the seed. `recorded` takes as much as each thread's own sleeps and runs
    /// vary. Without it every seed gives the same run of such a workload.
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "AMOUNTS",
        value_parser = values::jitter,
        hide_short_help = true,
        help_heading = "Input",
        display_order = 5
    )]
    pub(crate) jitter: Option<Jitter>,
}
