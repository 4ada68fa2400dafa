//! What a subcommand prints. `scripts/live/guest.sh` and xtask read the keys (docs/guide/lab.md).
//!
//! What must stay: the keys `command`, `held`, `failures` and those of each result, which scripts
//! read by name; a report holds if and only if there are no failures. Free: further keys.
//!
//! Tests by part: programs.rs::`ping_pong_counts_two_wakeups_a_round` and each that reads a report
//! (`new`, `held`, `failures`).
//!
//! Callers: all subcommands (`new`); crates/fidelity and crates/price read reports.
//!
//! Tests: crates/guest/tests/programs.rs

use serde::{Deserialize, Serialize};

/// One JSON object: what was run, whether all of it held, and the figures.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report<T> {
    /// Subcommand.
    pub command: String,
    /// Nothing failed.
    pub held: bool,
    /// What did not hold, one sentence each.
    pub failures: Vec<String>,
    /// Figures of the subcommand.
    #[serde(flatten)]
    pub result: T,
}

impl<T> Report<T> {
    /// A report that holds where nothing failed.
    pub(crate) fn new(command: &str, failures: Vec<String>, result: T) -> Self {
        Self {
            command: command.to_owned(),
            held: failures.is_empty(),
            failures,
            result,
        }
    }
}
