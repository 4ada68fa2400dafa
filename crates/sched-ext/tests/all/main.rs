//! The class of sched_ext without a machine around it.
//!
//! What must stay: a new file is named here, else it does not run. Run one file: `cargo test -p
//! wakeplace-sched-ext --test all immed::`. Free: the order of files.
#![allow(missing_docs, reason = "not a library")]

mod again;
mod idle;
mod immed;
mod kernel;
mod life;
mod table;
