//! The policy core against vectors, hand-derived fixtures and independent evaluations of its rules.
//!
//! One test program per crate: linking one more takes longer than running its tests.
//!
//! What must stay: a new file is named here, else it does not run. Rules, figures and helpers are
//! told at the head of each file; common/mod.rs and fixture/mod.rs are shared. Figures are never
//! copied from the core's answers. Run one file: `cargo test -p wakeplace-policy-sys --test all
//! wake_7_3::`. Which rule is carried out where and tried by which test:
//! docs/internals/coverage.md. Free: the order of files.
#![allow(missing_docs, reason = "not a library")]

mod asym_switches;
mod balance;
mod balance_7_3;
mod balance_pass_7_3;
mod bounds;
mod cache_rent;
mod capacity_vectors;
mod classes;
mod common;
mod contributing;
mod durations;
mod early_eras;
mod energy_7_3;
mod energy_7_3_oracle;
mod energy_no_watts;
mod energy_push;
mod energy_vectors;
mod explain;
mod fast_path;
mod fits;
mod fixture;
mod fixtures;
mod forms_by_era;
mod frequency;
mod group_accesses;
mod group_bandwidth;
mod group_weights;
mod hotplug;
mod idle_pass;
mod kept;
mod kernel_truth;
mod live_groups;
mod live_park;
mod nested_groups;
mod newidle_7_3;
mod on_state;
mod ondemand;
mod oracle;
mod pelt_vectors;
mod policy_matrix;
mod power_policy;
mod preempt_lazy;
mod pulls;
mod queue;
mod queue_sleepers;
mod queue_walk;
mod response_time;
mod sched_cache;
mod sched_mc;
mod sched_mc_later;
mod short_names;
mod short_wake;
mod signals;
mod signals_7_3;
mod slow_7_3;
mod task_groups;
mod thermal;
mod topology;
mod topology_numa;
mod uclamp_sum;
mod urgency;
mod util_est_6_12;
mod wake_7_3;
mod wake_asym_7_3;
mod wake_model_7_3;
