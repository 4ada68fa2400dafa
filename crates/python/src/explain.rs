//! `explain`: one decision (docs/guide/python.md).
//!
//! What must stay: bytes are those of `wakeplace explain --format json`, of a kernel tree's policy
//! too. Free: how the answer is passed on. Tests by part:
//! `test_explain_gives_the_bytes_of_its_command` (`explain`),
//! test_kernels.py::`test_explain_gives_the_bytes_of_its_command` (`tree_answer`).
//!
//! Tests: crates/python/tests/test_results.py, crates/python/tests/test_kernels.py

use crate::ask;
use crate::error::input;
use crate::work::interruptible;
use pyo3::prelude::*;

/// The answer as the command line's JSON.
#[pyfunction]
pub(crate) fn explain(py: Python<'_>, ask: &str) -> PyResult<String> {
    let question = ask::read(ask)?.question(0).map_err(input)?;
    // Ends by itself after one run.
    let answer = interruptible(py, move |_| match question.is_of_tree() {
        true => question.tree_answer().map(|answer| answer.json()),
        false => question.answer().map(|answer| answer.json()),
    })?;
    answer.map_err(input)
}
