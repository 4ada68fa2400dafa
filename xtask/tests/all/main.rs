//! The rules over this repository, and its own tools.
#![allow(missing_docs, reason = "not a library")]

mod platforms;
mod repo;
mod setup;
