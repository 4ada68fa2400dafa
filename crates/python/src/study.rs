//! `study run` of studies by name.

use crate::ask::{duration_ns, seeds};
use crate::error::input;
use crate::result::{Kept, Result};
use crate::work::interruptible;
use pyo3::prelude::*;
use wakeplace_study::{
    Origin, StudyError, StudyOptions, StudyResult, any_policy, check_keys, run_studies, select,
};
use wakeplace_text::shell_word;

/// What `study run` takes, one item of a dict each.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StudyAsk {
    names: Vec<String>,
    quick: bool,
    experiments: bool,
    sensitivity: bool,
    duration: Option<String>,
    set: Vec<(String, String)>,
    seeds: Option<String>,
    margin: Option<f64>,
}

impl StudyAsk {
    /// The command that gives the same bytes.
    fn command(&self) -> String {
        let mut words = vec!["wakeplace study run".to_owned()];
        words.extend(self.names.iter().map(|name| shell_word(name)));
        for (flag, given) in [
            ("--quick", self.quick),
            ("--experiments", self.experiments),
            ("--sensitivity", self.sensitivity),
        ] {
            words.extend(given.then(|| flag.to_owned()));
        }
        let set = |(key, value): &(String, String)| shell_word(&format!("{key}={value}"));
        let margin = self.margin.map(|margin| margin.to_string());
        let options = [
            ("--duration", &self.duration),
            ("--seeds", &self.seeds),
            ("--margin", &margin),
        ];
        for (name, value) in options {
            let value = value.iter().map(|value| shell_word(value));
            words.extend(value.flat_map(|value| [name.to_owned(), value]));
        }
        for pair in &self.set {
            words.extend(["--set".to_owned(), set(pair)]);
        }
        words.join(" ")
    }
}

/// Runs studies.
#[pyfunction]
pub(crate) fn study(py: Python<'_>, ask: StudyAsk, jobs: Option<usize>) -> PyResult<Result> {
    let options = StudyOptions {
        quick: ask.quick,
        seeds: seeds(ask.seeds.as_deref())?,
        duration_ns: duration_ns(ask.duration.as_deref())?,
        set: ask.set.clone(),
        margin_pct: ask.margin,
        experiments: ask.experiments,
        sensitivity: ask.sensitivity,
    };
    let origin = Origin {
        command: ask.command(),
        commit: crate::COMMIT.to_owned(),
    };
    let jobs = crate::jobs(jobs);
    let run = move |stop: &crate::work::Stop| -> std::result::Result<_, StudyError> {
        let studies = select(&ask.names)?;
        check_keys(&options.set, &any_policy()?)?;
        run_studies(&studies, &options, jobs, &|_| stop.check())
    };
    let mut results: Vec<StudyResult> = interruptible(py, run)?.map_err(input)?;
    for result in &mut results {
        result.origin = origin.clone();
    }
    Ok(Result::new(Kept::Studies(results)))
}

/// The file varies something: it is a sweep.
#[pyfunction]
pub(crate) fn is_sweep(file: &str) -> bool {
    let text = file
        .ends_with(".toml")
        .then(|| std::fs::read_to_string(file));
    text.is_some_and(|text| text.is_ok_and(|text| wakeplace_study::is_sweep(&text)))
}
