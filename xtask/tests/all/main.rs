//! The rules over this repository, and its own tools.
#![allow(missing_docs, reason = "not a library")]

mod repo;
mod setup;
