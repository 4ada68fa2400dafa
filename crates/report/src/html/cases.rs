//! Wake-ups by sizes of task and CPUs, where they were counted (docs/guide/report.md).
//!
//! What must stay: rows are cases 1 to 8 and their sum, as in `wakeup_cases.rs`; counts are those
//! of the result, and nothing is computed; a result that counted none has no section. Words may
//! change. Tests by part: `counted_cases_have_a_table` (`of_runs`, `table`, `section`), the same
//! also `holds`. `of_rows`, for studies, has no test of its own.
//!
//! Callers: compared.rs (`of_runs`), study.rs (`of_rows`).
//!
//! Tests: crates/report/src/html/tests.rs::counted_cases_have_a_table

use super::charts::once;
use super::view::{Block, Cell, Section, Table};
use crate::number;
use wakeplace_metrics::{CaseCounts, WakeupCases};
use wakeplace_outcome::{Row, Run};

/// It is a cell of these tables.
pub(super) fn holds(metric: &str) -> bool {
    crate::case_table::holds(metric)
}

/// Where a table's figures come from: by the metric's name, figure and what was published.
type Figure<'a> = &'a dyn Fn(&str) -> Option<(Option<f64>, Option<f64>)>;

/// A row per case of sizes, a column per counter that was counted; None: none was.
fn table(id: String, caption: String, figure: Figure<'_>) -> Option<Table> {
    let name = |case: &str, counter: &str| format!("wakeup_{case}_{counter}_total");
    let any = |counter: &&str| {
        let cases = (1..=8).map(|number| format!("case{number}"));
        { cases.chain(["cases".to_owned()]) }.any(|case| figure(&name(&case, counter)).is_some())
    };
    let counters: Vec<&str> = CaseCounts::NAMES.into_iter().filter(any).collect();
    if counters.is_empty() {
        return None;
    }
    let figures: Vec<String> = counters
        .iter()
        .map(|counter| format!("#{counter}"))
        .collect();
    let columns = ["case", "task", "prev", "waker"].into_iter();
    let columns: Vec<&str> = columns.chain(figures.iter().map(String::as_str)).collect();
    let mut table = Table::new(id, caption, &columns);
    let cell = |case: &str, counter: &str| match figure(&name(case, counter)) {
        Some((simulated, Some(published))) => {
            let simulated = simulated.map_or_else(|| "–".to_owned(), number::short);
            Cell::of(simulated).small(format!("published {}", number::short(published)))
        }
        Some((Some(simulated), None)) => Cell::of(number::short(simulated)),
        _ => Cell::default(),
    };
    for number in 1..=8 {
        let case = format!("case{number}");
        let mut row = vec![Cell::head(number.to_string())];
        row.extend(WakeupCases::sizes(number).map(Cell::of));
        row.extend(counters.iter().map(|counter| cell(&case, counter)));
        table.rows.push(row);
    }
    let mut sum = vec![
        Cell::head("sum"),
        Cell::default(),
        Cell::default(),
        Cell::default(),
    ];
    sum.extend(counters.iter().map(|counter| cell("cases", counter)));
    table.rows.push(sum);
    Some(table)
}

/// The tables below a heading that says what cases and counters mean; `None` without tables.
fn section(id: &str, tables: Vec<Table>) -> Option<Section> {
    (!tables.is_empty()).then(|| Section {
        id: format!("{id}-cases"),
        title: "Wake-up cases".to_owned(),
        lead: "Wake-ups by whether the task, its previous CPU and the waker's are little or big: \
               the chosen CPU is little or big; the fast path (sis) or the slow path (figc) chose \
               it; of the latter, wake_wide was true (ww), it was a wake-up (bw)."
            .to_owned(),
        blocks: tables.into_iter().map(Block::Table).collect(),
    })
}

/// Of `sim` and `compare`.
pub(super) fn of_runs(id: &str, runs: &[Run]) -> Option<Section> {
    let one = |(at, run): (usize, &Run)| {
        let figure = |name: &str| Some((run.metrics.value(name)?.mean, None));
        table(
            format!("{id}-cases-{at}"),
            format!("{}, mean of the runs", run.policy),
            &figure,
        )
    };
    section(id, runs.iter().enumerate().filter_map(one).collect())
}

/// Of a study.
pub(super) fn of_rows(id: &str, rows: &[Row]) -> Option<Section> {
    let ours: Vec<&Row> = rows.iter().filter(|row| holds(&row.metric)).collect();
    let mut tables = Vec::new();
    for case in once(ours.iter().map(|row| &row.case)) {
        let of_case = || ours.iter().filter(|row| row.case == case);
        for policy in once(of_case().map(|row| &row.policy)) {
            let figure = |name: &str| {
                let own = |row: &&&Row| row.policy == policy && row.metric == name;
                let row = of_case().find(own)?;
                Some((Some(row.simulated.mean), row.published.map(|p| p.mean)))
            };
            let id = format!("{id}-cases-{}", tables.len());
            tables.extend(table(id, format!("Case {case}, {policy}"), &figure));
        }
    }
    section(id, tables)
}
