//! What tasks do: rt-app files and workload models, expanded into scripts
//! (docs/guide/workloads.md).
//!
//! [`Spec::parse`] reads what the user typed, [`Spec::expand`] makes the scripts the engine runs,
//! and [`check_rtapp`] says what rt-app itself would think of a file. Everything that does not
//! depend on the seed or the machine is validated by `parse`; `expand` only adds what those two
//! decide.
//!
//! Stays: same argument, seed and machine give the same scripts in every build; order of threads is
//! that of creation, and results, traces and metrics number them so. Called by `crates/study` and
//! the engine's tests.
//!
//! What must stay: `parse` depends on neither seed nor machine: studies parse once and expand for
//! every seed. Public names stay, as other crates use them. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `the_seed_decides_and_more_tasks_shift_none` (same argument and seed, same scripts),
//! `the_fixture_expands_to_its_threads` (order of threads),
//! `the_check_depends_on_the_number_of_cpus` (`check_rtapp`), `equal_cpus_are_refused`
//! (`MachineFacts`: `alike`, capacities). `nr_cpus` by the last two.
//!
//! Tests: crates/workload/tests/all/periodic.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/eas_behaviour.rs, beside its modules
pub mod script;
pub use script::*;

mod deadline;
mod dialect;
mod error;
mod input;
mod jitter;
mod json;
mod limits;
mod models;
mod realtime;
mod recording;
mod rtapp;
mod spec;
mod stream;

pub use deadline::{ChainTasks, Deadlines, MAX_CHAINS, chain_tasks};
pub use dialect::Dialect;
pub use error::{ArgumentFault, Fault, FaultKind, Position, WorkloadError};
pub use input::{READ_LIMIT_BYTES, standard_input};
pub use jitter::Jitter;
pub use models::{ModelInfo, ParameterInfo};
pub use realtime::{Attributes, DL_PERIOD_NS, DL_RUNTIME_MIN_NS, RealTime, WorkingSet};
pub use recording::{Form, form};
pub use rtapp::check::{CheckOutcome, check_file, check_file_as, check_rtapp, check_rtapp_as};
pub use rtapp::hints::TaskHint;
pub use rtapp::log::{LogPhase, LogThread, RtAppLog};
pub use rtapp::structure;
pub use spec::{Spec, is_path};
pub use stream::Stream;
/// Durations as all arguments have them, and how much of a wrong word is repeated; for settings of
/// the engine, which loads nothing itself.
pub use wakeplace_text::{parse_duration_or_zero_ns, shorten, time};

/// How a workload is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Drop what rt-app knows and this project does not model, and list it in
    /// [`Workload::unmodelled`], instead of refusing the file.
    pub allow_unmodelled: bool,
    /// How rt-app files are read.
    pub dialect: Dialect,
}

/// What a workload needs to know of the machine it will run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineFacts<'a> {
    /// Per CPU, numbered from 0: what it can do at its highest frequency, 1024 for the biggest.
    pub capacities: &'a [u32],
}

impl MachineFacts<'static> {
    /// A machine of so many CPUs, at most 1024, which are all alike.
    #[must_use]
    pub const fn alike(nr_cpus: u32) -> Self {
        const BIG: [u32; 1024] = [1024; 1024];
        let nr_cpus = if nr_cpus > 1024 { 1024 } else { nr_cpus };
        Self {
            capacities: BIG.as_slice().split_at(nr_cpus as usize).0,
        }
    }
}

impl MachineFacts<'_> {
    /// Number of CPUs.
    #[must_use]
    pub fn nr_cpus(self) -> u32 {
        self.capacities.len() as u32
    }
}
