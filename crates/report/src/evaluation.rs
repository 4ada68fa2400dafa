//! An evaluation as text and JSON (docs/guide/evaluate.md).
//!
//! What must stay: the score, or that there is none and why, stands first; figures are those of the
//! evaluation. The words and tables for people may change. Tests by part:
//! crates/cli/tests/all/evaluate.rs::`a_policy_has_a_score_and_its_parts` (`text`),
//! evaluate.rs::`a_scheduler_that_fails_has_no_score` (`failure`).
//!
//! Tests: crates/cli/tests/all/evaluate.rs

use crate::number::{duration, short};
use crate::phrase::wrap;
use crate::{Align, Cell, Format, Style, Table, json};
use wakeplace_outcome::{Both, Difference, EvaluatedCell, Evaluation, Failed};
use wakeplace_text::{count, printable, time};

/// The JSON of an evaluation, with a newline.
#[must_use]
pub fn evaluation_json(evaluation: &Evaluation) -> String {
    json::text(evaluation)
}

/// For a terminal.
#[must_use]
pub fn evaluation_text(evaluation: &Evaluation, style: Style) -> String {
    let line = |text: &str| wrap(&printable(text), style.width) + "\n";
    let mut text = line(&headline(evaluation));
    for failed in &evaluation.failures {
        text += &line(&failure(failed));
    }
    if !evaluation.parts.is_empty() {
        text += "\n";
        text += &parts(evaluation).render(Format::Human, style);
    }
    text += "\n";
    text += &cells(evaluation).render(Format::Human, style);
    text += "\n";
    if let Some(Both { base, candidate }) = evaluation.fairness_pct {
        let (base, candidate) = (short(base), short(candidate));
        text += &line(&format!("fairness {candidate} % (base {base} %)"));
    }
    if let Some(wait) = &evaluation.longest_wait {
        let of = |us: f64| duration((us * 1e3) as u64);
        text += &line(&format!(
            "longest wait {} (base {}): {} on {}",
            of(wait.us.candidate),
            of(wait.us.base),
            wait.load,
            wait.platform
        ));
    }
    text
}

/// Who, beside whom, on what, and the score.
fn headline(evaluation: &Evaluation) -> String {
    let Evaluation {
        battery,
        base,
        candidate,
        cells,
        seeds,
        ..
    } = evaluation;
    let of = format!(
        "{} beside {}, battery {battery}: {}, {}",
        candidate.name,
        base.name,
        count(cells.len(), "cell"),
        count(seeds.len(), "seed")
    );
    match evaluation.score {
        Some(score) => format!(
            "{of}. Score {}{}: {}. 1 is like the base, more is better.",
            factor(score),
            between(evaluation.score_ci95),
            evaluation.difference.map_or("not told", meaning)
        ),
        None => {
            let failed = evaluation.failures.len();
            format!("{of}. No score: the candidate failed in {failed} of the cells.")
        }
    }
}

/// What the difference of a score from 1 means.
fn meaning(difference: Difference) -> &'static str {
    match difference {
        Difference::Better => "better than the base",
        Difference::Worse => "worse than the base",
        Difference::Same => "no difference from the base that matters",
        Difference::NotTold | Difference::Other => "not told from the base; more seeds may tell",
        Difference::Unknown => "one run, nothing is told from chance",
    }
}

/// A score for people.
fn factor(score: f64) -> String {
    format!("{score:.4}")
}

/// Its interval in brackets, if there is one.
fn between(ci95: Option<(f64, f64)>) -> String {
    ci95.map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", factor(low), factor(high))
    })
}

/// A failure in a line.
fn failure(failed: &Failed) -> String {
    let wakeup = failed.wakeup.as_ref().map_or_else(String::new, |wakeup| {
        let to = match wakeup.cpu {
            Some(cpu) => format!(" to CPU {cpu}"),
            None => String::new(),
        };
        let waits = match wakeup.waits_ns {
            Some(ns) => format!(", after which it waited for {}", time(ns)),
            None => String::new(),
        };
        format!(
            "; `{}` was woken at {}{to}{waits}",
            wakeup.task,
            time(wakeup.time_ns)
        )
    });
    format!(
        "- {} in {} on {}, seed {}: {}{wakeup}",
        failed.kind.word(),
        failed.load,
        failed.platform,
        failed.seed,
        failed.reason
    )
}

/// The goals.
fn parts(evaluation: &Evaluation) -> Table {
    let columns = ["goal", "score", "95 % interval", "cells"];
    let mut table = Table::new("parts", &columns).keys(1);
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    for part in &evaluation.parts {
        let interval =
            { part.ci95 }.map(|(low, high)| format!("{} to {}", factor(low), factor(high)));
        table.row(vec![
            part.goal.as_str().into(),
            factor(part.score).into(),
            interval.into(),
            part.cells.into(),
        ]);
    }
    table
}

/// The cells, with the score of each goal.
fn cells(evaluation: &Evaluation) -> Table {
    let parts = evaluation.parts.iter();
    let mut goals: Vec<&str> = parts.map(|part| part.goal.as_str()).collect();
    for figure in evaluation.cells.iter().flat_map(|cell| &cell.figures) {
        let goal = figure.goal.as_deref();
        goals.extend(goal.filter(|goal| !goals.contains(goal)));
    }
    let columns: Vec<&str> = [&["platform", "load", "score"], goals.as_slice()].concat();
    let mut table = Table::new("cells", &columns).keys(2);
    for column in &columns[2..] {
        table = table.align(column, Align::Right);
    }
    for cell in &evaluation.cells {
        let mut row: Vec<Cell> = vec![cell.platform.as_str().into(), cell.load.as_str().into()];
        row.push(cell.score.map(factor).into());
        row.extend(goals.iter().map(|goal| of_goal(cell, goal)));
        table.row(row);
    }
    table
}

/// The score of a goal in a cell.
fn of_goal(cell: &EvaluatedCell, goal: &str) -> Cell {
    let mut figures = cell.figures.iter();
    let figure = figures.find(|figure| figure.goal.as_deref() == Some(goal));
    figure.and_then(|figure| figure.score).map(factor).into()
}
