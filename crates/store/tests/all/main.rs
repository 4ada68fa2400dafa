//! Stores that somebody else made: each is the sweep's own runs, or refused with a sentence.
//!
//! What must stay: a new file is named here, else it does not run.
#![allow(missing_docs, reason = "not a library")]

mod common;
mod damage;
mod forged;
mod leases;
mod names;
