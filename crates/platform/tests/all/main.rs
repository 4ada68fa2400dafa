//! Platform files and imports: what is read, what is refused, and how.
//!
//! One test program per crate: each program more is one more link, which takes longer than its tests.
#![allow(missing_docs, reason = "not a library")]

mod bad_files;
mod builtin;
mod collected;
mod hostile;
mod shared;
mod sysfs;
