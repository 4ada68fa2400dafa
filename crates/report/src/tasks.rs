//! Tasks with their periods, below the metrics of one policy (docs/guide/results.md, "Tasks").
//!
//! What must stay: a task without periods has none and is not counted as punctual; JSON has all
//! tasks, people are shown some. Free: looks. Tests by part:
//! crates/cli/tests/all/results.rs::`periods_are_told_task_by_task` (`table`).
//!
//! Tests: crates/cli/tests/all/results.rs::periods_are_told_task_by_task

use crate::{Align, Cell, Format, Style, Table, number};
use wakeplace_outcome::Run;

/// Tasks that people are shown.
const MOST_SHOWN: usize = 40;

/// The tasks of a policy's runs as a table; empty if none has periods.
pub(crate) fn table(run: &Run, format: Format, style: Style) -> String {
    let Some(tasks) = run
        .details
        .as_ref()
        .map(|of| &of.task_threads_run_s_periods_missed)
    else {
        return String::new();
    };
    if tasks.is_empty() {
        return String::new();
    }
    let columns = ["task", "threads", "run s", "periods", "missed"];
    let mut table = Table::new("tasks", &columns).as_typed();
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    for (name, threads, run_s, periods, missed) in tasks.iter().take(MOST_SHOWN) {
        table.row(vec![
            name.as_str().into(),
            number::short(*threads).into(),
            number::short(*run_s).into(),
            periods.map(number::short).into(),
            missed.map_or(Cell::Empty, |missed| number::short(missed).into()),
        ]);
    }
    let more = match tasks.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!("{more} tasks more: --format json\n"),
    };
    format!("\n{}{more}", table.render(format, style))
}
