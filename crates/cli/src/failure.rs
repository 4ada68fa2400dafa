//! Why a command could not do what was asked, and the exit code that says so. The codes are those
//! of `--help`; no other place picks one.
//!
//! Free: messages, but a message is one and says what was expected.
//!
//! What must stay: 0 all is well, 1 an expectation failed or there is no result, 2 the input is
//! wrong, 3 the machine lacks something (docs/guide/results.md, "Gates"; docs/guide/traces.md,
//! "What is promised of files"). What another process ended with is passed on (`OfWorker`). Tests
//! by part: crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (`Input`),
//! crates/cli/tests/all/results.rs::`expectations_decide_the_exit_code` (`Verdict`),
//! crates/cli/tests/all/wall.rs::`a_broken_run_is_an_outcome` (`NoResult`, `OfWorker`),
//! crates/cli/tests/all/faults/mod.rs::`files_of_a_run` (`writing`),
//! crates/cli/tests/all/lab.rs::`a_right_request_gets_as_far_as_the_cache` (`LabError`),
//! crates/cli/tests/all/kernel.rs::`without_an_archive_a_version_cannot_be_had` (`TreeError`).
//!
//! Tests: crates/cli/tests/all/bad_input.rs,
//! crates/cli/tests/all/results.rs::expectations_decide_the_exit_code,
//! crates/cli/tests/all/wall.rs::a_broken_run_is_an_outcome, crates/cli/tests/all/faults/mod.rs,
//! crates/cli/tests/all/lab.rs, crates/cli/tests/all/kernel.rs

use std::fmt;
use std::process::ExitCode;
use wakeplace_files::{Fault, WriteError};
use wakeplace_kernel_tree::TreeError;
use wakeplace_lab::{Class, LabError};

/// A command's result; `Ok` carries whether every expectation held.
pub(crate) type Outcome = Result<Verdict, Failure>;

/// How a command that ran ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is as asked.
    Ok,
    /// It ran, but an expectation did not hold.
    Unmet,
    /// Another process ran it, has said what there is to say, and has ended with this code.
    OfWorker(u8),
}

impl Verdict {
    /// Exit code 0 or 1.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Ok => ExitCode::SUCCESS,
            Self::Unmet => ExitCode::from(1),
            Self::OfWorker(code) => ExitCode::from(code),
        }
    }
}

/// Why a command ended early. The message is one sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Wrong usage or bad input: exit code 2.
    Input(String),
    /// It ran, and what came of it is no result: exit code 1.
    NoResult(String),
    /// The machine this runs on cannot do it: exit code 3.
    Environment(String),
}

impl Failure {
    /// Bad input, in the words of the library that found it.
    pub(crate) fn input(error: impl fmt::Display) -> Self {
        Self::Input(error.to_string())
    }

    /// `what` cannot be written: bad input where another place may do, else the machine's fault.
    pub(crate) fn writing(what: &str, error: &WriteError, expected: &str) -> Self {
        match error.fault() {
            Fault::Place => Self::Input(format!("{what} {error}; expected {expected}")),
            Fault::Machine => Self::Environment(format!("{what} {error}")),
        }
    }

    /// Exit code 1, 2 or 3.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoResult(_) => ExitCode::from(1),
            Self::Input(_) => ExitCode::from(2),
            Self::Environment(_) => ExitCode::from(3),
        }
    }
}

/// The lab's error with the exit code of its class.
impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let message = error.to_string();
        match error.class() {
            Class::Input => Self::Input(message),
            Class::Environment => Self::Environment(message),
            Class::Guest => Self::NoResult(message),
        }
    }
}

/// The builder's error with the exit code of its class.
impl From<TreeError> for Failure {
    fn from(error: TreeError) -> Self {
        let message = error.to_string();
        match error.class() {
            wakeplace_kernel_tree::Class::Input => Self::Input(message),
            wakeplace_kernel_tree::Class::Environment => Self::Environment(message),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::NoResult(message) | Self::Environment(message) => {
                f.write_str(message)
            }
        }
    }
}
