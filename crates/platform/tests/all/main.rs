//! Platform files and imports: what is read, what is refused, and how.
//!
//! One test program per crate: linking one more takes longer than running its tests.
#![allow(missing_docs, reason = "not a library")]

mod bad_files;
mod builtin;
mod clocks;
mod hostile;
mod import;
mod measured;
mod shared;
mod sysfs;
mod transfer;
