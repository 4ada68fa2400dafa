//! Experiments: a platform, a workload, policies and seeds, run and compared.
//!
//! [`Experiment`] is one comparison the caller puts together. A [`Study`] is a named one, read from
//! `studies/FAMILY/NAME/study.toml`, with several cases and published figures beside the simulated
//! ones. Both run on a pool of threads; the results stand in an order that does not depend on it.
//! Nothing here prints.
//!
//! What must stay: results stand in an order that does not depend on threads; nothing here prints;
//! what is public is called by the command line, the store, the Python module, the playground and
//! the report. Tests by part: each module names its own;
//! experiment/tests.rs::`the_number_of_threads_changes_nothing`,
//! study/tests.rs::`threads_change_nothing_and_base_rows_have_no_change` (the order).
//!
//! Tests: crates/cli/tests/all/results.rs, crates/cli/tests/all/sweeps.rs, beside its modules

mod ask;
mod battery;
#[cfg(test)]
mod by_interrupts;
mod calibration;
mod catalogue;
mod claims;
mod comparison;
mod direction;
mod error;
mod evaluate;
mod experiment;
mod explain;
mod file;
mod hotplug;
mod identity;
mod kernel_diff;
mod matrix;
mod oracle;
mod outcome;
mod parting;
mod plan;
mod policy_at;
mod pool;
mod promise;
mod request;
mod rows;
mod run_table;
mod scheduler;
mod seeds;
mod sensitivity;
mod settings;
pub mod sides;
mod study;
mod sweep;
#[cfg(not(target_family = "wasm"))]
mod trace_meter;
mod tradeoff;
mod tree;
mod verdict;

pub use ask::{
    ARGUMENTS, Argument, Ask, AskError, Command, Field, Kind, Place, SCHEDULER, Value, argument,
    parse_margin, parse_seed, parse_setting, parse_whole, python_module,
};
pub use battery::{Battery, BatteryCell, BatteryLoad};
pub use calibration::Calibration;
pub use catalogue::{StudyInfo, select, studies, workload_files};
pub use claims::Claims;
pub use comparison::{Comparison, DROPPED_FRAMES, Origin, PolicyRuns, Stuck, of_frames};
pub use direction::{Checked, Direction};
pub use error::StudyError;
pub use evaluate::Evaluate;
pub use experiment::Experiment;
pub use explain::{
    About, Answer, CoreAnswer, Input, Question, SchedulerAnswer, TreeAnswer, differing,
};
pub use hotplug::parse_hotplug;
pub use kernel_diff::{DiffFound, Drawn, KernelDiff, SignalFound, SignalTally, draw};
pub use matrix::Matrix;
pub use parting::Parted;
pub use policy_at::parse_policy_at;
pub use pool::Progress;
pub use request::{DEFAULT_DURATION_NS, DEFAULT_MARGIN_PCT, Request, Source};
pub use run_table::{
    RunColumn, RunRecord, RunTable, RunValues, json_object, json_pairs, metric_order, study_records,
};
pub use scheduler::Scheduler;
pub use seeds::parse_seeds;
pub use settings::{SettingError, any_policy, apply_settings, check_keys};
pub use study::{JudgedCase, Study, StudyOptions, run_studies};
pub use sweep::{
    Axis, Base, Design, MadePoint, Point, Points, Range, Sweep, Warnings, is_of_load, is_sweep,
    without_varied,
};
#[cfg(not(target_family = "wasm"))]
pub use trace_meter::trace_meter;
pub use tree::{BuiltTree, TreeRuns, runs_of};
pub use verdict::SHOWN_PCT;
pub use wakeplace_engine::sched_ext::{Callback, Loader};
pub use wakeplace_engine::{
    Activity, CallbackTotals, CpuState, DomainState, Ended, GroupState, LineCost, LinesTold,
    LongestWait, MachineState, RunReport, SchedExtReport, SchedMcState, Which,
};
pub use wakeplace_outcome::SCHEMA_VERSION;
pub use wakeplace_platform::{Factor, PlatformError};
pub use wakeplace_workload::Jitter;
