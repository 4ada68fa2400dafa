//! `study run` of studies by name (docs/guide/python.md).
//!
//! Called from Python.
//!
//! What must stay: results stand in the order of the names; bytes are those of `wakeplace study
//! run`, and the command in them gives them again. Free: how options are passed on. Tests by part:
//! `test_study_gives_the_bytes_of_its_command` (`study`, `origin`),
//! `test_a_study_is_judged_by_its_margin` (options), `test_a_file_that_varies_is_a_sweep`
//! (`is_sweep`).
//!
//! Tests: crates/python/tests/test_results.py

use crate::ask;
use crate::error::input;
use crate::result::{Kept, Result};
use crate::work::interruptible;
use pyo3::prelude::*;
use wakeplace_study::{
    Ask, Command, Origin, StudyError, StudyOptions, any_policy, check_keys, run_studies, select,
};
use wakeplace_text::shell_word;

/// What `study run` takes beside arguments, one item of a dict each.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Which {
    names: Vec<String>,
    quick: bool,
    experiments: bool,
    sensitivity: bool,
}

impl Which {
    /// The command that gives the same bytes.
    fn origin(&self, ask: &Ask) -> Origin {
        let mut words: Vec<String> = { self.names.iter() }.map(|name| shell_word(name)).collect();
        let flags = [
            ("--quick", self.quick),
            ("--experiments", self.experiments),
            ("--sensitivity", self.sensitivity),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        words.extend(given.map(|(flag, _)| flag.to_owned()));
        let mut origin = ask::origin(ask, Command::Study);
        let head = format!("wakeplace {}", Command::Study.name());
        let named = format!("{head} {}", words.join(" "));
        origin.command = origin.command.replacen(&head, &named, 1);
        origin
    }
}

/// Runs studies.
#[pyfunction]
pub(crate) fn study(
    py: Python<'_>,
    which: Which,
    ask: &str,
    jobs: Option<usize>,
) -> PyResult<Result> {
    let ask = ask::read(ask)?;
    let options = StudyOptions {
        quick: which.quick,
        experiments: which.experiments,
        sensitivity: which.sensitivity,
        ..ask.study_options().map_err(input)?
    };
    let origin = which.origin(&ask);
    let jobs = crate::jobs(jobs);
    let run = move |stop: &crate::work::Stop| -> std::result::Result<_, StudyError> {
        let studies = select(&which.names)?;
        check_keys(&options.set, &any_policy()?)?;
        run_studies(&studies, &options, jobs, &|_| stop.check())
    };
    let mut results = interruptible(py, run)?.map_err(input)?;
    for result in &mut results {
        origin.put_on(result);
    }
    Ok(Result::new(Kept::Studies(results)))
}

/// Whether the file varies something, and so is a sweep.
#[pyfunction]
pub(crate) fn is_sweep(file: &str) -> bool {
    let text = file
        .ends_with(".toml")
        .then(|| std::fs::read_to_string(file));
    text.is_some_and(|text| text.is_ok_and(|text| wakeplace_study::is_sweep(&text)))
}
