//! The targets without a tool: kept inputs replayed, and seeded mutations of them.
//!
//! What must stay: a new file is named here, else it does not run; replay.rs is shared.
#![allow(missing_docs, reason = "not a library")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test program")]

mod kept;
mod mutations;
mod replay;
mod trees;
