//! A kernel tree's own scheduler as a policy: named, built on first use, and run, each run in a
//! process of its own ([`Trees`]). See docs/guide/kernel.md, "In a run".
//!
//! What must stay: what is public is what crates/cli, crates/fidelity and crates/python use; a run
//! never touches the process that asked for it. Free: what is not public.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs, beside its modules

mod entered;
mod faults;
mod process;
mod runs;
mod stream;
mod trees;

pub use trees::{Trees, like};
