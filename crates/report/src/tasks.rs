//! Tasks with their periods, below the metrics of a policy or of several (docs/guide/results.md,
//! "Tasks").
//!
//! What must stay: a task without periods has none and is not counted as punctual; JSON has all
//! tasks, people are shown some. Free: looks. Tests by part:
//! crates/cli/tests/all/results.rs::`periods_are_told_task_by_task` (`table`),
//! results.rs::`periods_are_compared_task_by_task` (`several`, by `compare` and `diff`),
//! `tasks_of_several_stand_together` (`several`, `named`).
//!
//! Callers: comparison.rs (`table`, `several`).
//!
//! Tests: below, crates/cli/tests/all/results.rs::periods_are_told_task_by_task,
//! crates/cli/tests/all/results.rs::periods_are_compared_task_by_task

use crate::{Align, Cell, Format, Style, Table, Tone, number};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_outcome::{Run, TaskPeriods};
use wakeplace_text::count;

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
        more => format!("{} more: --format json\n", count(more, "task")),
    };
    format!("\n{}{more}", table.render(format, style))
}

/// The tasks of several policies, those of one name together; a task without periods is left out.
/// Empty if none has any.
pub(crate) fn several(
    policies: &[(String, &[TaskPeriods])],
    format: Format,
    style: Style,
) -> String {
    let all = policies.iter().flat_map(|(_, tasks)| tasks.iter());
    let punctual = all.filter(|(.., periods, _)| periods.is_some());
    let mut known = BTreeSet::new();
    let names: Vec<&str> = punctual
        .map(|(name, ..)| name.as_str())
        .filter(|name| known.insert(*name))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let by_name: Vec<BTreeMap<&str, &TaskPeriods>> =
        policies.iter().map(|(_, tasks)| named(tasks)).collect();
    // For people the tasks head their groups, as metrics do.
    let grouped = format == Format::Human;
    let heads: &[&str] = if grouped {
        &["policy"]
    } else {
        &["task", "policy"]
    };
    let columns = [heads, &["threads", "run s", "periods", "missed"]].concat();
    let mut table = Table::new("tasks", &columns).as_typed().keys(heads.len());
    for column in &columns[heads.len()..] {
        table = table.align(column, Align::Right);
    }
    for name in names.iter().take(MOST_SHOWN) {
        if grouped {
            let mut heading = vec![Cell::Empty; columns.len()];
            heading[0] = Cell::Toned(Tone::Heading, (*name).to_owned());
            table.row(heading);
        }
        for ((policy, _), tasks) in policies.iter().zip(&by_name) {
            let Some((_, threads, run_s, periods, missed)) = tasks.get(name) else {
                continue;
            };
            let mut row: Vec<Cell> = match grouped {
                true => vec![format!("  {policy}").into()],
                false => vec![(*name).into(), policy.as_str().into()],
            };
            row.extend([
                number::short(*threads).into(),
                number::short(*run_s).into(),
                periods.map(number::short).into(),
                missed.map(number::short).into(),
            ]);
            table.row(row);
        }
    }
    let more = match names.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!("{} more: --format json\n", count(more, "task")),
    };
    format!("\n{}{more}", table.render(format, style))
}

/// Tasks by their names; of those of one name the first.
fn named(tasks: &[TaskPeriods]) -> BTreeMap<&str, &TaskPeriods> {
    let mut all = BTreeMap::new();
    for task in tasks {
        all.entry(task.0.as_str()).or_insert(task);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::several;
    use crate::{Format, Style};

    /// Goal: a task's figures under all policies stand together; what has no period has no row.
    #[test]
    fn tasks_of_several_stand_together() {
        let task = |name: &str, periods: Option<f64>, missed: f64| {
            let missed = periods.map(|_| missed);
            (name.to_owned(), 1.0, 0.5, periods, missed)
        };
        let base = [task("ui", Some(60.0), 1.0), task("rest", None, 0.0)];
        let other = [task("ui", Some(60.0), 7.0)];
        let both = [("a".to_owned(), &base[..]), ("b".to_owned(), &other[..])];
        let text = several(&both, Format::Human, Style::default());
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(at("ui") < at("  a ") && at("  a ") < at("  b "), "{text}");
        assert!(!text.contains("rest"), "{text}");
        let md = several(&both, Format::Md, Style::default());
        assert!(md.contains("| ui | b | 1 | 0.5000 | 60 | 7 |"), "{md}");
        assert_eq!(several(&both[..0], Format::Human, Style::default()), "");
        // The order is that of the first who has a task, and of two of one name the first counts.
        let base = [task("z", Some(3.0), 0.0), task("a", Some(4.0), 0.0)];
        let other = [task("a", Some(5.0), 0.0), task("a", Some(6.0), 0.0)];
        let both = [("p".to_owned(), &base[..]), ("q".to_owned(), &other[..])];
        let md = several(&both, Format::Md, Style::default());
        let at = |task: &str, policy: &str, periods: u32| {
            let row = format!("| {task} | {policy} | 1 | 0.5000 | {periods} | 0 |");
            md.find(&row).unwrap_or_else(|| panic!("{row}: {md}"))
        };
        assert!(at("z", "p", 3) < at("a", "p", 4), "{md}");
        assert!(at("a", "p", 4) < at("a", "q", 5), "{md}");
        assert!(!md.contains("| 6 |"), "{md}");
    }
}
