//! Workload models and rt-app files: what they expand to.
//!
//! One test program per crate: linking one more takes longer than running its tests.
//!
//! What must stay: a new file is named here, else it does not run. sums and script_text are shared.
//! Run one file: `cargo test -p wakeplace-workload --test all kbuild::`.
#![allow(missing_docs, reason = "not a library")]

mod aim7_compute;
mod benchmark_arguments;
mod benchmark_models;
mod coarse_models;
mod context_switch;
mod corpus;
mod eas_behaviour;
mod group_limits;
mod hostile;
mod kbuild;
mod periodic;
mod played;
mod rtapp_events;
mod rtapp_files;
mod rtapp_keys;
mod rtapp_scripts;
mod schbench_tbench;
mod script_text;
mod shell;
mod sums;
