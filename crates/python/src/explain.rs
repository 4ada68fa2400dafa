//! `explain`: one decision.

use crate::ask::{Ask, duration_at};
use crate::error::input;
use crate::work::interruptible;
use pyo3::prelude::*;
use wakeplace_study::{Question, Which};

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
    ask.check("explain")?;
    let which = match (about.wakeup, about.at, about.to) {
        (None, None, None) => Which::Wakeup(1),
        (Some(number), None, None) => Which::Wakeup(number),
        (None, Some(at), None) => Which::At(duration_at(&at)?),
        (None, None, Some(cpu)) => Which::To(cpu),
        _ => {
            return Err(input(
                "explain: several of wakeup, at and to are given; expected one of them",
            ));
        }
    };
    let question = Question {
        request: ask.request()?,
        task: about.task,
        which,
        others: about.compare_policy,
        why_not: about.why_not,
    };
    // Ends by itself after one run.
    let answer = interruptible(py, move |_| question.answer().map(|answer| answer.json()))?;
    answer.map_err(input)
}
