//! The native build of the placement policy core and its bindings: policy names and parameters,
//! the decision and reason types, and the core itself. The only crate that calls C.
//!
//! What must stay: all calls of C are in this crate, each with its SAFETY comment; what other
//! crates use is re-exported here. Free: how the crate is divided into files.
//!
//! Callers: all other crates use what is re-exported here.
//!
//! Tests: crates/policy-sys/tests/all, beside its modules

mod aliases;
mod arith;
mod balance;
#[cfg(wp_check_bounds)]
mod bounds;
mod checked;
mod classes;
mod core;
mod eras;
mod explain;
mod group_bandwidth;
mod hotplug;
mod kept;
mod live;
mod live_group;
mod machine;
mod mode;
mod ondemand;
mod param_table;
#[allow(
    missing_docs,
    non_camel_case_types,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "made by build.rs from policy/include/wakeplace/params.def.h"
)]
mod param_types {
    include!(concat!(env!("OUT_DIR"), "/param_types.rs"));
}
mod policy;
mod queue;
mod reason;
mod resched;
mod sched_cache;
mod sched_mc;
#[allow(
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    unreachable_pub,
    clippy::all,
    reason = "generated from policy/include by `cargo xtask bindings`, where the documentation is"
)]
#[path = "bindings.rs"]
pub mod sys;
mod task;
mod task_group;
mod thermal;
mod tree;
mod wakeup_case;
mod words;

pub use self::core::{Candidate, Choice, Core, EventResult, PlaceKind, Request, Waker};
pub use aliases::of_setting;
pub use arith::{
    approximate_runtime, approximate_util_avg, avg_update, decay_load, fits_capacity_threshold,
    map_util_freq, nice_inv_weight, nice_weight, pelt_segments, scaling_factor, time_bucket,
    uclamp_tg_restrict, util_est_next, util_est_of_run,
};
pub use balance::{Balance, IdleKind, NohzWork, Offer, Step};
pub use checked::Provenance;
pub use classes::{ClassMove, ClassTask};
pub use explain::{Dropped, Explained, NoEnergy, Seen, ShortTask};
pub use group_bandwidth::BandwidthAsks;
pub use live_group::{LiveGroups, LiveMember, Stop};
pub use machine::{
    FreqFacts, LevelFacts, MachineError, MachineFacts, PerfFacts, PriceFacts, SchedMcFacts,
};
pub use mode::Mode;
pub use ondemand::busy_percent;
pub use policy::{FeatureView, ParamView, PatchView, Policy, PolicyError};
pub use queue::{IdleTurn, QueueKind, QueueWalk};
pub use reason::{Reason, Rule};
pub use resched::Resched;
pub use sched_cache::ProcessFacts;
pub use sched_mc::{CpuPlace, DebugFile, InvalidWrite, cpu_place};
pub use task::Task;
pub use task_group::{GroupAccesses, tg_weight};
pub use thermal::{ThermalFacts, ThermalGovernor};
pub use tree::{TREE_PREFIX, Tree, TreeRef, provide_trees};
pub use wakeup_case::WakeupCase;
