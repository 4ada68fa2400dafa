//! Why a subcommand cannot be carried out (docs/guide/lab.md).
//!
//! What must stay: exit codes 2 (arguments) and 3 (what the machine lacks). Free: words.
//!
//! Tests by part: `what_is_wrong_is_exit_code_2_and_nothing_on_stdout` (`exit_code`, `fmt`),
//! crates/guest/src/load/tests.rs::`a_cpu_that_is_not_there_is_the_machines_fault` (`environment`).
//!
//! Callers: all of the crate; main.rs (`exit_code`).
//!
//! Tests: crates/guest/tests/programs.rs::what_is_wrong_is_exit_code_2_and_nothing_on_stdout

use std::fmt;

/// What is wrong, by whose fault. A check that did not hold is not an error but a
/// [`Report`](crate::report::Report) that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestError {
    /// Arguments or a job file: exit code 2.
    Input(String),
    /// This machine or these rights: exit code 3.
    Environment(String),
}

impl GuestError {
    /// A system call or file operation that failed.
    pub(crate) fn environment(doing: impl fmt::Display, error: &std::io::Error) -> Self {
        Self::Environment(format!("{doing}: {error}"))
    }

    /// The program's exit code for it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Environment(_) => 3,
        }
    }
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(what) | Self::Environment(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for GuestError {}
