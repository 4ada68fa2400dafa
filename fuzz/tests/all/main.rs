//! The targets without a tool: kept inputs replayed, and seeded mutations of them.
#![allow(missing_docs, reason = "not a library")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test program")]

mod kept;
mod mutations;
mod replay;
mod trees;
