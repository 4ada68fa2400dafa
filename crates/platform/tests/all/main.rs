//! Platform files and imports: what is read, what is refused, and how.
//!
//! One test program per crate: linking one more takes longer than running its tests.
//!
//! What must stay: a new file is named here, else it does not run. Run one file: `cargo test -p
//! wakeplace-platform --test all bad_files::`.
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
