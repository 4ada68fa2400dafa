//! Arguments from Python, as JSON, and the command that gives the same result
//! (docs/guide/python.md).
//!
//! Callers: result.rs, study.rs, sweep.rs and explain.rs, the functions of the module.
//!
//! What must stay: keys of the text are names of arguments, as `_inputs.py` writes them; kinds of
//! `arguments` are keys of `_FORMS` there: both change together. Free: how the text is read. Tests
//! by part: `test_errors_have_the_words_of_the_command_line` (`read`),
//! `test_compare_gives_the_bytes_of_its_command` (`origin`), `test_what_is_wrong_is_said`
//! (`arguments`: what is expected), `test_platforms_of_a_dict` (`SourceArg`).
//!
//! Tests: crates/python/tests/test_results.py

use crate::error::input;
use pyo3::prelude::*;
use wakeplace_study::{Ask, Command, Kind, Origin, Source};

/// What is asked; `_inputs.py` writes the text.
pub(crate) fn read(text: &str) -> PyResult<Ask> {
    serde_json::from_str(text).map_err(|error| input(error.to_string()))
}

/// The command that gives the same bytes; none where a text is no file.
pub(crate) fn origin(ask: &Ask, command: Command) -> Origin {
    Origin {
        command: ask.command(command).unwrap_or_default(),
        commit: crate::COMMIT.to_owned(),
    }
}

/// A platform or a workload: what the command line takes, or a name and its text.
#[derive(Clone, FromPyObject)]
pub(crate) enum SourceArg {
    #[pyo3(transparent)]
    Named(String),
    Text(String, String),
}

impl SourceArg {
    /// A platform or workload as the study crate takes it.
    pub(crate) fn source(&self) -> Source {
        match self {
            Self::Named(name) => Source::named(name),
            Self::Text(name, text) => Source::Text {
                name: name.clone(),
                text: text.clone(),
            },
        }
    }
}

/// The arguments: name, kind, and what is expected in Python.
#[pyfunction]
pub(crate) fn arguments() -> Vec<(&'static str, &'static str, &'static str)> {
    let all = wakeplace_study::ARGUMENTS.iter().map(|one| {
        let kind = match one.kind {
            Kind::Text => "text",
            Kind::Seeds => "seeds",
            Kind::Whole => "whole",
            Kind::Percent => "percent",
            Kind::Flag => "flag",
            Kind::Texts => "texts",
            Kind::Pairs => "pairs",
            Kind::Sources => one.name,
        };
        (one.name, kind, one.expected)
    });
    all.collect()
}
