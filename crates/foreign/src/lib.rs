//! Anybody's sched_ext scheduler, unchanged, against the simulated kernel.
//!
//! The user's loader runs as a process of its own. What it asks of the kernel, bpf(2) above all, is
//! answered here ([`Scheduler::load`]); where it attaches its table of callbacks it stands still
//! for good, and its maps and programs are taken over. From then on nothing of it is a process: an
//! [`Instance`] runs the programs in a memory of their own, one instance per run, and is the
//! `SchedExtOps` that the engine calls.

mod error;
mod instance;
mod kernel;
mod kfuncs;
mod load;
mod scheduler;
mod topology;
mod words;

pub use error::ForeignError;
pub use instance::Instance;
pub use load::{OfferedKernel, probe_interception};
pub use scheduler::{Command, Scheduler, generic_loader};
pub use wakeplace_bpf_vm::Mode;
