//! Errors: one exception, with the words of the library that found what is wrong
//! (docs/guide/python.md, "Errors, Ctrl-C and threads").
//!
//! Callers: sweep.rs, result.rs, study.rs, names.rs, ask.rs, frame.rs, explain.rs (`input`). Words
//! are the libraries'.
//!
//! What must stay: the exception's name and that it is a `ValueError`, as programs catch it. Free:
//! how libraries' errors are turned into it. Tests by part:
//! `test_errors_have_the_words_of_the_command_line` (`WakeplaceError`, `input`).
//!
//! Tests: crates/python/tests/test_results.py

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use std::fmt::Display;

mod exception {
    #![allow(missing_docs, reason = "the macro documents the class in Python")]
    use super::PyValueError;

    pyo3::create_exception!(
        wakeplace,
        WakeplaceError,
        PyValueError,
        "What was asked for cannot be done; the message says where, what was expected and the \
         nearest valid name, in the words of the command line."
    );
}

pub(crate) use exception::WakeplaceError;

/// The exception with these words.
pub(crate) fn input(error: impl Display) -> PyErr {
    WakeplaceError::new_err(error.to_string())
}
