//! Anybody's sched_ext scheduler, unchanged, against the simulated kernel
//! (docs/guide/schedulers.md).
//!
//! The user's loader runs as a process of its own. What it asks of the kernel, bpf(2) above all, is
//! answered here ([`Scheduler::load`]); where it attaches its table of callbacks its maps and
//! programs are taken over. An [`Instance`] is the `SchedExtOps` that the engine calls: it runs the
//! programs in a memory of their own. Each run has one instance, with a loader of its own, whose
//! threads go on in virtual time; that of a bare object file has nothing more to do, and is ended.
//!
//! What must stay: what is public here is all that crates/cli and fuzz/ use. Free: what is not
//! public.
//!
//! Tests: crates/cli/tests/all/schedulers.rs, crates/foreign/tests/schedulers, beside its modules

mod error;
mod guard;
mod instance;
mod kernel;
mod kfuncs;
mod load;
mod scheduler;
mod topology;
pub mod wall;
mod wire;
mod words;

pub use error::ForeignError;
pub use guard::{Interception, Way};
pub use instance::Instance;
pub use load::{OfferedKernel, OwnCalls, probe_interception};
pub use scheduler::{Command, Image, Scheduler, generic_loader};
pub use wakeplace_bpf_vm::Mode;
