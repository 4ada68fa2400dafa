//! `explain`: one decision.

use crate::ask::Ask;
use crate::error::input;
use crate::work::interruptible;
use pyo3::prelude::*;
use wakeplace_study::About;

/// Which decision, one item of a dict each.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WhichAsk {
    task: Option<String>,
    wakeup: Option<u64>,
    at: Option<String>,
    to: Option<u32>,
    why_not: Option<u32>,
    compare_policy: Vec<String>,
}

/// The answer as the command line's JSON.
#[pyfunction]
pub(crate) fn explain(py: Python<'_>, ask: Ask, about: WhichAsk) -> PyResult<String> {
    let about = About {
        task: about.task,
        wakeup: about.wakeup,
        at: about.at,
        to: about.to,
        why_not: about.why_not,
        compare_policy: about.compare_policy,
    };
    let question = about.question(&ask.asked()).map_err(input)?;
    // Ends by itself after one run.
    let answer = interruptible(py, move |_| match question.is_of_tree() {
        true => question.tree_answer().map(|answer| answer.json()),
        false => question.answer().map(|answer| answer.json()),
    })?;
    answer.map_err(input)
}
