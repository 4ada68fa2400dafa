//! The rules over this repository, and its own tools.
//!
//! xtask's one test program: repo.rs runs every rule over this repository (CONTRIBUTING.md, "Rules
//! that a check enforces"), setup.rs tries scripts/setup.sh. What must stay: a crate has one test
//! program, whose modules are its files.
#![allow(missing_docs, reason = "not a library")]

mod repo;
mod setup;
