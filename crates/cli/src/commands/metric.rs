//! `metric list`: what is measured of a run (docs/guide/results.md, "What a result holds").
//!
//! What must stay: names, units and directions are those of `wakeplace_metrics::METRICS`, in its
//! order; columns of the list. Free: words for people. Tests by part:
//! crates/cli/tests/all/results.rs::`lists_have_every_form` (`run`, `names`).
//!
//! Tests: crates/cli/tests/all/results.rs::lists_have_every_form

use crate::args::MetricCommand;
use crate::failure::{Outcome, Verdict};
use crate::terminal::Terminal;
use crate::text::{format, style};
use wakeplace_metrics::{Better, METRICS};
use wakeplace_report::Table;

/// `metric ...`.
pub(crate) fn run(command: &MetricCommand, terminal: Terminal) -> Outcome {
    let MetricCommand::List(args) = command;
    terminal.print(&names().render(format(args.format), style(terminal)))?;
    Ok(Verdict::Ok)
}

/// A metric a row; `{cluster}` and the like stand for a name of the platform's or the workload's.
fn names() -> Table {
    let mut table = Table::new("metrics", &["name", "unit", "better", "meaning"]).part("meaning");
    for metric in METRICS {
        let better = match metric.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "neither",
        };
        table.row(vec![
            metric.name.into(),
            metric.unit.into(),
            better.into(),
            metric.doc.into(),
        ]);
    }
    table
}
