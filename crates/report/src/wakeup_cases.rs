//! `--export-wakeup-cases`: the table of the capacity-aware series, per policy and seed.
//!
//! What must stay: columns and keys in their order, which are those of the series' own tables
//! (docs/rules/capacity-aware.md#wakeup-cases); rows are policies, seeds, cases 1 to 8; counts are
//! whole wake-ups. Free: words for people that no test quotes. Tests by part:
//! `csv_and_the_run_itself` (`csv`), `invariants_of_the_published_tables` (`object`, `counters`),
//! both also `wakeup_cases` and `runs`.
//!
//! Callers: crates/cli/src/wakeup_cases.rs (`wakeup_cases`), fuzz/src/whole.rs (`wakeup_cases`).
//!
//! Tests: crates/cli/tests/all/wakeup_cases.rs::csv_and_the_run_itself,
//! crates/cli/tests/all/wakeup_cases.rs::invariants_of_the_published_tables

use crate::{Cell, Format, SCHEMA_VERSION, Style, Table, json};
use serde_json::{Map, Value, json};
use wakeplace_metrics::{CaseCounts, WakeupCases};
use wakeplace_study::Comparison;

/// Every case of every run, as JSON or else as CSV.
#[must_use]
pub fn wakeup_cases(comparison: &Comparison, format: Format) -> String {
    match format {
        Format::Json => json::text(&object(comparison)),
        _ => csv(comparison),
    }
}

/// Policy, seed and counts of all runs.
fn runs(comparison: &Comparison) -> impl Iterator<Item = (&str, u64, &WakeupCases)> {
    comparison.runs.iter().flat_map(|runs| {
        let of_seed = comparison.seeds.iter().zip(&runs.metrics);
        of_seed.map(|(seed, metrics)| (runs.policy.as_str(), *seed, &metrics.wakeup_cases))
    })
}

/// A row for each policy, seed and case; sizes of task and CPUs in words, then the counters.
fn csv(comparison: &Comparison) -> String {
    let mut columns = vec!["policy", "seed", "case", "task", "prev", "waker"];
    columns.extend(CaseCounts::NAMES);
    let mut table = Table::new("wakeup_cases", &columns);
    for (policy, seed, cases) in runs(comparison) {
        for (number, counts) in (1usize..).zip(cases.cases()) {
            let mut row: Vec<Cell> = vec![policy.into(), seed.into(), number.into()];
            row.extend(WakeupCases::sizes(number).map(Cell::from));
            row.extend(counts.values().map(Cell::from));
            table.row(row);
        }
    }
    table.render(Format::Csv, Style::default())
}

/// The counters of one case, by name, in the order of `CaseCounts::NAMES`.
fn counters(counts: &CaseCounts) -> Map<String, Value> {
    let pairs = CaseCounts::NAMES.into_iter().zip(counts.values());
    pairs
        .map(|(name, count)| (name.to_owned(), json!(count)))
        .collect()
}

/// The table as JSON. Its keys stay.
fn object(comparison: &Comparison) -> Value {
    let run = |(policy, seed, cases): (&str, u64, &WakeupCases)| {
        let case = |(number, counts): (usize, &CaseCounts)| {
            let [task, prev, waker] = WakeupCases::sizes(number);
            let mut row = counters(counts);
            row.insert("case".to_owned(), json!(number));
            row.insert("task".to_owned(), json!(task));
            row.insert("prev".to_owned(), json!(prev));
            row.insert("waker".to_owned(), json!(waker));
            Value::Object(row)
        };
        json!({
            "policy": policy,
            "seed": seed,
            "cases": (1..).zip(cases.cases()).map(case).collect::<Vec<_>>(),
            "sum": counters(&cases.sum()),
        })
    };
    json!({
        "schema_version": SCHEMA_VERSION,
        "platform": comparison.platform,
        "workload": comparison.workload,
        "duration_ns": comparison.duration_ns,
        "runs": runs(comparison).map(run).collect::<Vec<_>>(),
    })
}
