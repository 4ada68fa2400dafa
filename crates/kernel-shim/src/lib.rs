// SPDX-License-Identifier: GPL-2.0-only
//! The shim through which any kernel tree's own, unmodified `kernel/sched` runs in a process.
//!
//! It is C, and includes headers of the tree that it is compiled against, so it is under the
//! kernel's licence and in a crate of its own. No Rust calls it and nothing here is compiled with
//! this program: the program carries the files as text, and writes them out to build a kernel on
//! the machine where the tree is (`crates/kernel-tree`). What the files are is in README.md here
//! (docs/guide/kernel.md#what-it-needs).
//!
//! What must stay: each file is carried byte for byte, under its path below this folder; the sum
//! over them is part of an object's key. Free: which files there are (build.rs leaves out
//! what no build reads).
//!
//! Tests by part: `a_kernel_of_the_archive_boots` builds a kernel of `FILES`; a file that is
//! missing ends that. With `WAKEPLACE_KERNEL_SHIM` set it takes a folder instead.
//!
//! Callers: crates/kernel-tree/src/shim.rs (`Shim::of_program`).
//!
//! Tests: crates/kernel-shim/tests, crates/kernel-tree/tests/all

/// One file of the shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is below the shim's folder, as `shim/boot.c`.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// All files, in the order of their paths.
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
