//! Programs run twice, and bytes from anywhere.
//!
//! What must stay: a new file is named here, else it does not run; small.rs is shared. Run one
//! file: `cargo test -p wakeplace-bpf-vm --test all maps::`. Free: the order of files.
#![allow(missing_docs, reason = "not a library")]

mod budget;
mod hostile;
mod maps;
mod programs;
mod same;
mod small;
