//! `evaluate`: one score of a policy beside a base (docs/guide/python.md).
//!
//! What must stay: bytes are those of `wakeplace evaluate`, as JSON and for people. Schedulers of
//! others have no wall here: they are the command line's. Tests by part:
//! `test_evaluate_gives_the_bytes_of_its_command` (`evaluate`).
//!
//! Tests: crates/python/tests/test_results.py

use crate::ask;
use crate::error::input;
use crate::work::interruptible;
use pyo3::prelude::*;
use wakeplace_report::{Style, evaluation_json, evaluation_text};
use wakeplace_study::{Command, Evaluate, Matrix};

/// The evaluation as the command line's JSON, and as its text.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    ask: &str,
    jobs: Option<usize>,
) -> PyResult<(String, String)> {
    let ask = ask::read(ask)?;
    let asked = Evaluate::of(&ask, 0).map_err(input)?;
    let origin = ask::origin(&ask, Command::Evaluate);
    let jobs = crate::jobs(jobs);
    let run = move |stop: &crate::work::Stop| {
        let cells = asked.battery.cells(&asked.request)?;
        asked.check(&cells)?;
        let matrix = Matrix::of_cells(&cells, asked.request.margin_pct);
        let found = matrix.run(jobs, &|_| stop.check())?;
        asked.judge(&cells, &found, &origin)
    };
    let found = interruptible(py, run)?.map_err(input)?;
    let text = evaluation_text(&found, Style::default());
    Ok((evaluation_json(&found), text))
}
