//! What can be wrong with a workload, and how it is said: `FILE:LINE:COL: message; expected ...;
//! did you mean ...?`. Each loader of the crate says its errors by this (docs/guide/rt-app.md, "How
//! a file is read").
//!
//! The command line makes exit code 2 of all of these. Lines and columns count from 1. Free: words,
//! but a message says what was expected; texts from files are cut.
//!
//! What must stay: the order place, message, expectation, nearest name; a text from a file is cut
//! before it is printed. Tests by part: `a_fault_says_place_expectation_and_name` (`Fault`,
//! `in_file`, `write_message`), `long_names_are_cut_where_they_are_printed` (`cut`),
//! `what_cannot_run_here_names_its_place` (`expected`, lines and columns),
//! said.rs::`refusals_of_rtapp_files_name_the_key` (the same on the command line), the first also
//! `new`, `invalid`, `unusable`, `one_of` and all `fmt`.
//!
//! Callers: rtapp/notes.rs (`cut`), rtapp/template.rs (`cut`), many files (`unusable`, `in_file`).
//!
//! Tests: below, crates/workload/tests/all/rtapp_files.rs, crates/cli/tests/all/said.rs
use std::fmt;
use wakeplace_text::{did_you_mean, did_you_mean_first, nearest, shorten, shorten_to};

/// A place in a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    /// `LINE:COL`, both from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The sort of a fault in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Not JSON as json-c reads it.
    Syntax,
    /// JSON, but rt-app refuses it (its exit code 2).
    Invalid,
    /// rt-app accepts it, but it cannot run, or not here (missing CPU, too many threads).
    Unusable,
    /// rt-app runs it, the simulator has no model of it.
    Unmodelled,
}

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Position,
    /// What sort of fault.
    pub kind: FaultKind,
    /// What is wrong.
    pub message: String,
    /// What was expected there; empty if the message says it all.
    pub expected: String,
    /// The nearest valid name, if a name was wrong.
    pub nearest: Option<String>,
}

impl Fault {
    /// `at`: the place in the file that the message begins with.
    pub(crate) fn new(at: Position, kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            at,
            kind,
            message: message.into(),
            expected: String::new(),
            nearest: None,
        }
    }

    /// rt-app refuses the file: exit code 2 (docs/rules/rt-app.md#rt-app-invocation). At a task
    /// that is no object it crashes (docs/rules/rt-app.md#rt-app-root).
    pub(crate) fn invalid(at: Position, message: impl Into<String>) -> Self {
        Self::new(at, FaultKind::Invalid, message)
    }

    /// rt-app takes it and cannot run it, or runs here cannot.
    pub(crate) fn unusable(at: Position, message: impl Into<String>) -> Self {
        Self::new(at, FaultKind::Unusable, message)
    }

    /// Adds what would do.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    /// Names what was expected and, of these, the one most like `given`.
    pub(crate) fn one_of(self, given: &str, names: &[&str]) -> Self {
        let mut fault = self.expected(format!("one of {}", names.join(", ")));
        fault.nearest = nearest(given, names.iter().copied()).map(str::to_owned);
        fault
    }

    /// The fault with the file's name before it.
    pub(crate) fn in_file(self, file: &str) -> WorkloadError {
        WorkloadError::InFile {
            file: file.to_owned(),
            fault: Box::new(self),
        }
    }
}

/// The most that a message about a file has of what is wrong, in characters: it repeats names of
/// the file, which can be as long as the file.
const MOST_CHARS: usize = 300;

/// What is wrong in a file, as it is printed.
pub(crate) fn cut(message: &str) -> String {
    shorten_to(message, MOST_CHARS)
}

impl fmt::Display for Fault {
    /// `LINE:COL: message; expected ...; did you mean ...?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.at)?;
        let nearest = self.nearest.as_deref().map(cut);
        write_message(f, &cut(&self.message), &self.expected, nearest.as_deref())
    }
}

/// One thing that is wrong in a `NAME:key=value,...` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The argument as typed.
    pub argument: String,
    /// What is wrong.
    pub message: String,
    /// What was expected; empty if the message says it all.
    pub expected: String,
    /// The nearest valid name, if a name was wrong.
    pub nearest: Option<String>,
    /// The wrong name is that of the workload itself.
    pub unknown_model: bool,
}

impl fmt::Display for ArgumentFault {
    /// The same of an argument; of a list of models the nearest comes first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "workload `{}`: {}",
            shorten(&self.argument),
            self.message
        )?;
        let nearest: Vec<&str> = self.nearest.as_deref().into_iter().collect();
        match self.expected.as_str() {
            "" => f.write_str(&did_you_mean(self.nearest.as_deref())),
            // A list of all models is long.
            expected => f.write_str(&did_you_mean_first(
                &nearest,
                &format!("expected {expected}"),
            )),
        }
    }
}

/// What follows the place; an empty `expected` is left out.
fn write_message(
    f: &mut fmt::Formatter<'_>,
    message: &str,
    expected: &str,
    nearest: Option<&str>,
) -> fmt::Result {
    f.write_str(message)?;
    if !expected.is_empty() {
        write!(f, "; expected {expected}")?;
    }
    f.write_str(&did_you_mean(nearest))
}

/// Why there is no workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The file or standard input cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// Path as typed, `-` for standard input.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// More bytes than any workload needs.
    #[error("{file}: larger than {limit} bytes; expected an rt-app file of at most 16 MiB")]
    TooLarge {
        /// Path as typed, `-` for standard input.
        file: String,
        /// The limit, bytes.
        limit: u64,
    },
    /// A recorded trace where a workload is expected.
    #[error(
        "{file}: is {kind}; expected an rt-app file or a model, such as periodic:n=10; recordings \
         of ftrace, perf script and Perfetto are read as trace:{file}"
    )]
    Recording {
        /// Path as typed, `-` for standard input.
        file: String,
        /// What sort of recording.
        kind: &'static str,
    },
    /// Something in an rt-app file.
    #[error("{file}:{fault}")]
    InFile {
        /// Path as typed, `-` for standard input.
        file: String,
        /// What and where.
        fault: Box<Fault>,
    },
    /// Something in the argument of a built-in model.
    #[error("{0}")]
    Argument(Box<ArgumentFault>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_place_expectation_and_name() {
        let at = Position { line: 3, column: 7 };
        let fault = Fault::invalid(at, "unknown policy \"SCHED_OTHR\"")
            .one_of("SCHED_OTHR", &["SCHED_OTHER", "SCHED_FIFO"]);
        assert_eq!(
            fault.in_file("a.json").to_string(),
            "a.json:3:7: unknown policy \"SCHED_OTHR\"; expected one of SCHED_OTHER, SCHED_FIFO; \
             did you mean `SCHED_OTHER`?"
        );
    }
}
