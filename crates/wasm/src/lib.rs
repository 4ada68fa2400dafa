//! The simulator as a module for browsers (`make playground`). The page's worker
//! (`site/playground`) hands in files and questions as JSON and gets JSON back; what is asked, run
//! and shown is the business of the study and report crates, as for the command line.
//!
//! A worker asks as follows; all texts are UTF-8:
//!
//! 1. `start()` once.
//! 2. `room(n)` gives the address of `n` bytes to be filled. `file(name, n, bytes, n)` takes two
//!    such rooms and keeps the file; `ask(text, n)` takes one and answers.
//! 3. The answer is at the address that `ask` returns: its length as u32, then JSON, which is
//!    `{"ok": ...}` or `{"error": "sentence"}`.
//!
//! The module imports one function, `progress(done, total)`, called after each run. If a call
//! traps, `last_words()` is the address of what the panic said (as an answer, empty if nothing
//! did), and `exhausted()` is 1 if memory could not be had.
//!
//! What must stay: the calls above, in which the page's worker is written; `COMMIT` is the command
//! line's, so that results have the same bytes. Tests by part:
//! tests.rs::`a_comparison_comes_with_its_page_and_its_command` (`answer`). The calls themselves:
//! `cargo xtask playground-test`.
//!
//! Tests: xtask/src/gives/playground.rs

mod answer;
pub mod door;
mod memory;
mod names;

pub use answer::{Asked, answer};

/// The program, in results: the same as the command line's.
const COMMIT: &str = env!("WAKEPLACE_COMMIT");
