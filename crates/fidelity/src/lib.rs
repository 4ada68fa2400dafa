//! How near the simulator is to real kernels: the same tasks in a guest and in the simulator
//! (`placement`), and real programs beside the models that stand for them (`programs`).
//!
//! It returns what was found, as tables of a page or as one object. Whoever calls it says what is
//! to be measured, shows what it is doing, and writes the result (docs/results/fidelity.md).
//!
//! What must stay: it says nothing itself (`Watch`), and writes nothing but into folders that it
//! was given. Free: what leaves the tables of pages as they are. Tests by part:
//! tests/all/programs.rs::`a_right_request_gets_as_far_as_the_cache` (`from`: the exit code).
//! `input` has no test of its own: it only puts an error into words. `detail`, `warn` and `steps`
//! are what main.rs implements.
//!
//! Tests: crates/fidelity/tests/all, beside its modules

mod guest_text;
pub mod placement;
pub mod programs;

use wakeplace_lab::{Class, LabError};

/// Why there is no result. The message is one sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What was asked for is not possible, or a file breaks a rule.
    #[error("{0}")]
    Input(String),
    /// A guest or the simulator ran, and what came of it is no result.
    #[error("{0}")]
    NoResult(String),
    /// This machine cannot do it.
    #[error("{0}")]
    Environment(String),
}

impl Error {
    /// Bad input, in the words of the library that found it.
    fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<LabError> for Error {
    fn from(error: LabError) -> Self {
        let message = error.to_string();
        match error.class() {
            Class::Input => Self::Input(message),
            Class::Environment => Self::Environment(message),
            Class::Guest => Self::NoResult(message),
        }
    }
}

/// Who is told what is going on. Guests run side by side, so several threads tell it.
pub trait Watch: Sync {
    /// A detail that few want to know.
    fn detail(&self, what: &str);
    /// Something that the user should know; it stops nothing.
    fn warn(&self, what: &str);
    /// Who is told the steps of one guest, until it is dropped.
    fn steps(&self) -> Box<dyn wakeplace_lab::Watch + '_>;
}
