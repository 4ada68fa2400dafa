//! Logs and traces of a simulated run, written from the engine's events, and recordings read into
//! workloads (docs/guide/traces.md, docs/guide/traces-in.md).
//!
//! [`RtAppLogs`] is an observer that writes what rt-app would have logged of the same file,
//! [`Traces`] one that writes what a kernel's tracer would have. Neither measures anything itself:
//! every number is the engine's, the policy core's, the file's, or told by who measures it.
//! [`load`] makes a workload of a recording. Where there are no files (in a browser), nothing is
//! written.
//!
//! What must stay: neither observer measures anything or changes a run; a recording gives the same
//! workload everywhere, also where there are no files (`load_bytes`). Free: what leaves the scripts
//! of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part: each
//! module names its own; `whole_runs_read_back` (`Traces`),
//! replay/exported.rs::`tasks_by_timers_come_back` (`load` of what `Traces` wrote).
//!
//! Tests: crates/trace/tests/all, beside its modules
pub mod event;
#[cfg(not(target_family = "wasm"))]
mod export;
pub mod proto;
pub mod read;
mod replay;
#[cfg(not(target_family = "wasm"))]
mod rtapp_log;

#[cfg(not(target_family = "wasm"))]
pub use export::{EnergySource, Traces};
pub use replay::{PREFIX, TraceError, file_name, load, load_bytes};
#[cfg(not(target_family = "wasm"))]
pub use rtapp_log::{LogError, RtAppLogs};
