//! The table of wake-up cases in a study, as it was published: a row per case, a column per
//! counter, `published > simulated` in each cell (docs/guide/report.md, "In the JSON").
//!
//! What must stay: the names `wakeup_CASE_COUNTER_total`, which are those of `wakeplace_metrics`,
//! and `published > simulated`, the form of the mails (docs/rules/capacity-aware.md#wakeup-cases),
//! so that both can be laid side by side. Nothing is computed here; words of the title may change.
//! Tests by part: `the_tables_of_a_study_have_a_legend` (`tables`, `holds`),
//! html/tests.rs::`counted_cases_have_a_table` (`holds`, for pages). The figures (`cell`) have no
//! test of their own: the first test only runs them. `metric` and `table` by the first one, too.
//!
//! Callers: study.rs (`holds`, `tables`).
//!
//! Tests: crates/cli/tests/all/wakeup_cases.rs::the_tables_of_a_study_have_a_legend

use crate::{Align, Cell, Table, number};
use wakeplace_metrics::{CaseCounts, WakeupCases};
use wakeplace_outcome::{Row, Study};

/// The cell `wakeup_CASE_COUNTER_total`.
fn metric(case: &str, counter: &str) -> String {
    format!("wakeup_{case}_{counter}_total")
}

/// It is a cell of these tables, so it needs none of its own.
pub(crate) fn holds(metric: &str) -> bool {
    metric.starts_with("wakeup_case") && metric.ends_with("_total")
}

/// One table for each case of the study and policy that counted wake-up cases.
pub(crate) fn tables(result: &Study, kind: &str, rows: &[&Row]) -> Vec<(String, Table)> {
    let mut named: Vec<(&str, Option<&str>, &str)> = Vec::new();
    for row in rows.iter().filter(|row| holds(&row.metric)) {
        let key = (row.token(), row.experiment(), row.policy.as_str());
        if !named.contains(&key) {
            named.push(key);
        }
    }
    let one = |(case, experiment, policy): (&str, Option<&str>, &str)| {
        let own = |row: &&&Row| {
            row.token() == case && row.experiment() == experiment && row.policy == policy
        };
        let own: Vec<&Row> = rows.iter().filter(own).copied().collect();
        let experiment = experiment.map_or_else(String::new, |name| format!(", {name}"));
        let both = own.iter().any(|row| row.published.is_some());
        let legend = if both { " (published > simulated)" } else { "" };
        let title = format!("wake-up cases{kind}: {case}{experiment}, {policy}{legend}");
        (title, table(result, &own))
    };
    named.into_iter().map(one).collect()
}

/// One policy's table: counters that some case has.
fn table(result: &Study, rows: &[&Row]) -> Table {
    let shown = |counter: &&str| {
        let of_counter = |name: &String| name.ends_with(&format!("_{counter}_total"));
        result
            .metrics
            .iter()
            .any(|name| holds(name) && of_counter(name))
    };
    let counters: Vec<&str> = CaseCounts::NAMES.into_iter().filter(shown).collect();
    let mut columns = vec!["case", "task", "prev", "waker"];
    columns.extend(&counters);
    let mut table = Table::new("cases", &columns).keys(4);
    for counter in &counters {
        table = table.align(counter, Align::Right);
    }
    for number in 1..=8 {
        let mut cells: Vec<Cell> = vec![number.to_string().into()];
        cells.extend(WakeupCases::sizes(number).map(Cell::from));
        let of = |counter: &&str| cell(rows, &metric(&format!("case{number}"), counter));
        cells.extend(counters.iter().map(of));
        table.row(cells);
    }
    let mut sum: Vec<Cell> = vec!["sum".into(), "".into(), "".into(), "".into()];
    sum.extend(
        counters
            .iter()
            .map(|counter| cell(rows, &metric("cases", counter))),
    );
    table.row(sum);
    table
}

/// What was published, and what was simulated.
fn cell(rows: &[&Row], metric: &str) -> Cell {
    let Some(row) = rows.iter().find(|row| row.metric == metric) else {
        return "".into();
    };
    let simulated = number::short(row.simulated.mean);
    match row.published {
        Some(published) => format!("{} > {simulated}", number::short(published.mean)).into(),
        None => simulated.into(),
    }
}
