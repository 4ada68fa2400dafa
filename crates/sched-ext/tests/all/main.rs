//! The class of sched_ext without a machine around it.
#![allow(missing_docs, reason = "not a library")]

mod again;
mod idle;
mod immed;
mod kernel;
mod life;
mod table;
