//! The rules over this repository, and its own tools.
//!
//! What must stay: a new file is named here, else it does not run.
#![allow(missing_docs, reason = "not a library")]

mod repo;
mod setup;
