//! Behaviour of the simulated machine, seen from outside: what its observers are told and what the
//! report says. Expected values come from arithmetic or from docs/rules, never from a run.
//!
//! What must stay: a new file is named here, else it does not run. common/checker.rs looks at each
//! recorded run that a test gives to `check_log`. Run one file: `cargo test -p wakeplace-engine
//! --test behaviour eevdf::`.
#![allow(missing_docs, reason = "not a library")]

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod asym;
mod balance;
mod balance_old;
mod bandwidth;
mod cache_rent;
mod changes;
mod channels;
mod classes;
mod clocks;
mod coarse_models;
mod creation;
mod deadline_budgets;
mod early;
mod eevdf;
mod energy;
mod energy_push;
mod explain;
mod fair;
mod forking;
mod frequency;
mod groups;
mod handover;
mod hotplug;
mod idle;
mod invariants;
mod kthreads;
mod lines;
mod live_queue;
mod measures;
mod memory;
mod models;
mod nodes;
mod ondemand;
mod outcomes;
mod platforms;
mod power;
mod preempt_lazy;
mod programs;
mod random;
mod same_behaviour;
mod sanity;
mod scale;
mod sched_cache;
mod sched_ext;
mod sched_mc;
mod short;
mod states;
mod storm;
mod sync;
mod thermal;
mod udp_rr;
mod wake_latency;
