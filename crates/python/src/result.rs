//! `sim` and `compare`, and their results and those of studies. The bytes are those of the command
//! (docs/guide/python.md).
//!
//! Called from Python; work is done without the interpreter's lock.
//!
//! What must stay: bytes of each form are those of the command line; methods are those that
//! `python/wakeplace/_result.py` calls. Free: when a form is made, and new forms that the command
//! line has. Tests by part: `test_compare_gives_the_bytes_of_its_command` (`simulate`, `text`,
//! `format`), `test_sim_gives_the_bytes_of_its_command` (`simulate`),
//! `test_charts_are_those_of_the_page` (`charts`), `test_notebooks_see_the_table` (`html`),
//! `test_tables_hold_what_the_json_holds` (`records`), `test_a_run_that_is_stuck_is_told`
//! (`stuck`).
//!
//! Tests: crates/python/tests/test_results.py

use crate::ask;
use crate::error::input;
use crate::frame;
use crate::work::interruptible;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCapsule};
use wakeplace_report::{Format, Style};
use wakeplace_study::{Command, Comparison, PolicyRuns, RunRecord, RunTable, study_records};

/// What was run, whole: it is written when somebody asks.
pub(crate) enum Kept {
    Comparisons(Vec<Comparison>),
    Studies(Vec<wakeplace_outcome::Study>),
}

/// A result.
#[pyclass(frozen, module = "wakeplace._wakeplace")]
pub(crate) struct Result(Kept);

impl Result {
    /// A result that Python keeps.
    pub(crate) fn new(kept: Kept) -> Self {
        Self(kept)
    }

    /// All runs, in the order of the result.
    fn records(&self) -> Vec<RunRecord> {
        match &self.0 {
            Kept::Comparisons(all) => all.iter().flat_map(Comparison::records).collect(),
            Kept::Studies(all) => all.iter().flat_map(study_records).collect(),
        }
    }
}

/// A form by its name on the command line.
pub(crate) fn format(name: &str) -> PyResult<Format> {
    match name {
        "human" => Ok(Format::Human),
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        "md" => Ok(Format::Md),
        _ => Err(input(format!(
            "format `{}`: expected human, json, csv or md",
            wakeplace_text::shorten(name)
        ))),
    }
}

#[pymethods]
impl Result {
    /// The result as the command line writes it with `--format`.
    fn text(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        let form = format(form)?;
        Ok(py.detach(|| match &self.0 {
            Kept::Comparisons(all) => wakeplace_report::comparisons(all, form, Style::default()),
            Kept::Studies(all) => wakeplace_report::studies(all, form, Style::default()),
        }))
    }

    /// A page for a browser, as `--export-html` writes it.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text(py, "json")?;
        let source = wakeplace_report::Source {
            name: "result",
            text: &text,
        };
        wakeplace_report::html(&[source]).map_err(input)
    }

    /// The charts of that page as JSON: Vega-Lite.
    fn charts(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text(py, "json")?;
        let source = wakeplace_report::Source {
            name: "result",
            text: &text,
        };
        wakeplace_report::charts(source).map_err(input)
    }

    /// All runs, a row each.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer leave a wish for other types alone.
        drop(requested_schema);
        frame::stream(py, &[RunTable::of(&self.records())])
    }

    /// Whether a run got stuck: what it measured is no ground for a judgement.
    #[getter]
    fn stuck(&self) -> bool {
        match &self.0 {
            Kept::Comparisons(all) => all.iter().flat_map(|c| &c.runs).any(PolicyRuns::is_stuck),
            Kept::Studies(all) => all.iter().any(wakeplace_outcome::Study::is_stuck),
        }
    }
}

/// Runs `sim` or `compare`, and gives the result.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    command: &str,
    ask: &str,
    jobs: Option<usize>,
) -> PyResult<Result> {
    let command = match command {
        "sim" => Command::Sim,
        _ => Command::Compare,
    };
    let ask = ask::read(ask)?;
    ask.check(command, 0).map_err(input)?;
    let request = ask.request(command).map_err(input)?;
    let origin = ask::origin(&ask, command);
    let jobs = crate::jobs(jobs);
    let run = move |stop: &crate::work::Stop| {
        let matrix = request.resolve()?;
        matrix.run(jobs, &|_| stop.check())
    };
    let mut comparisons = interruptible(py, run)?.map_err(input)?;
    for comparison in &mut comparisons {
        comparison.origin = origin.clone();
    }
    Ok(Result::new(Kept::Comparisons(comparisons)))
}
