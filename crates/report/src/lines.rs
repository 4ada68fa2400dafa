//! The cache lines that cost a kernel's own code most, as results and as a table for people
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: shares are of all that CPUs have waited, of the lines that are not shown, too;
//! equal runs give equal lists. Free: words for people that no test quotes.
//!
//! Tests by part: `lines_are_added_up_over_runs` (`of_reports`, `add`), `people_see_shares`
//! (`table`, `uses`).
//!
//! Callers: json.rs (`of_reports`), comparison.rs (`table`), html/lines.rs (`share`, `uses`).
//!
//! Tests: below

use crate::table::{Align, Cell, Table};
use std::collections::BTreeMap;
use wakeplace_outcome::{Line, LineUse, Lines};
use wakeplace_study::{LineCost, RunReport};

/// So many uses of a line are shown to people.
const USES: usize = 3;

/// The lines that were asked for, of all runs of a policy. None: nobody asked.
pub(crate) fn of_reports(reports: &[RunReport]) -> Option<Lines> {
    let told = reports.iter().filter_map(|report| report.lines.as_ref());
    let most = told.clone().map(|told| told.most).max()?;
    let mut lines: BTreeMap<(&str, u64), Line> = BTreeMap::new();
    let mut total_ps = 0;
    for row in told.flat_map(|told| &told.uses) {
        total_ps += row.total_ps();
        let line = lines
            .entry((&row.object, row.line))
            .or_insert_with(|| Line {
                object: row.object.clone(),
                offset: row.line,
                several: false,
                transfers: 0,
                writes: 0,
                far: 0,
                transfer_ns: 0,
                wait_ns: 0,
                lock_ns: 0,
                uses: Vec::new(),
            });
        add(line, row);
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    // Until here picoseconds, so that roundings do not add up.
    for line in &mut lines {
        line.transfer_ns /= 1000;
        line.wait_ns /= 1000;
        line.lock_ns /= 1000;
        line.uses.iter_mut().for_each(|one| one.cost_ns /= 1000);
        line.uses.sort_by_key(|one| std::cmp::Reverse(one.cost_ns));
    }
    lines.sort_by_key(|line| std::cmp::Reverse(cost_ns(line)));
    lines.truncate(most);
    Some(Lines {
        total_ns: total_ps / 1000,
        lines,
    })
}

/// Adds one run's use of a line; times are ps here.
fn add(line: &mut Line, row: &LineCost) {
    line.several |= row.several;
    line.transfers += row.transfers;
    line.writes += row.writes;
    line.far += row.far;
    line.transfer_ns += row.cost_ps;
    line.wait_ns += row.wait_ps;
    line.lock_ns += row.lock_ps;
    let same = |one: &&mut LineUse| one.field == row.field && one.function == row.function;
    match line.uses.iter_mut().find(same) {
        Some(one) => one.cost_ns += row.total_ps(),
        None => line.uses.push(LineUse {
            field: row.field.clone(),
            function: row.function.clone(),
            cost_ns: row.total_ps(),
        }),
    }
}

/// All that a line has cost, ns.
pub(crate) fn cost_ns(line: &Line) -> u64 {
    line.transfer_ns + line.wait_ns + line.lock_ns
}

/// A part of the whole in tenths of a percent, as text.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> String {
    let tenths = u128::from(part_ns) * 1000 / u128::from(whole_ns.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Who has paid most: `load_avg by update_cfs_group 72.0 %`.
pub(crate) fn uses(line: &Line) -> String {
    let whole_ns = cost_ns(line);
    let shown = line.uses.iter().take(USES).map(|one| {
        let part = share(one.cost_ns, whole_ns);
        format!("{} by {} {part}", one.field, one.function)
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The lines of one policy, for people.
pub(crate) fn table(of: &Lines) -> Table {
    let columns = ["share", "line", "transfers", "waits", "lock", "who pays"];
    let mut table = Table::new("lines", &columns);
    for column in ["share", "transfers", "waits", "lock"] {
        table = table.align(column, Align::Right);
    }
    for line in &of.lines {
        let all = |ns: u64| Cell::Text(share(ns, of.total_ns));
        let each = if line.several { ", several" } else { "" };
        table.row(vec![
            all(cost_ns(line)),
            Cell::Text(format!("{} +{}{each}", line.object, line.offset)),
            all(line.transfer_ns),
            all(line.wait_ns),
            all(line.lock_ns),
            Cell::Text(uses(line)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_study::LinesTold;

    fn row(object: &str, field: &str, function: &str, ns: u64) -> LineCost {
        LineCost {
            object: object.to_owned(),
            field: field.to_owned(),
            function: function.to_owned(),
            transfers: 1,
            cost_ps: ns * 1000,
            ..LineCost::default()
        }
    }

    fn report(lines: Vec<LineCost>) -> RunReport {
        RunReport {
            lines: Some(LinesTold {
                most: 1,
                uses: lines,
            }),
            ..RunReport::default()
        }
    }

    /// Goal: lines of all runs are added up. 30 + 10 + 50 and 20 + 40 ns; all of it 150.
    #[test]
    fn lines_are_added_up_over_runs() {
        let first = vec![
            row("a", "x", "f", 30),
            row("b", "y", "g", 20),
            row("a", "x", "h", 10),
        ];
        let second = vec![row("a", "x", "h", 50), row("b", "y", "g", 40)];
        let found = of_reports(&[report(first), report(second)]).expect("asked for");
        assert_eq!((found.total_ns, found.lines.len()), (150, 1));
        let line = &found.lines[0];
        assert_eq!((&*line.object, line.transfers, cost_ns(line)), ("a", 3, 90));
        let paid: Vec<_> = line
            .uses
            .iter()
            .map(|u| (&*u.function, u.cost_ns))
            .collect();
        assert_eq!(paid, [("h", 60), ("f", 30)]);
        assert_eq!(of_reports(&[RunReport::default()]), None);
    }

    /// Goal: shares are of all that was waited: 90 of 150 ns are 60 %, 60 of 90 are 66.6.
    #[test]
    fn people_see_shares() {
        let first = vec![
            row("a", "x", "f", 30),
            row("b", "y", "g", 60),
            row("a", "x", "h", 60),
        ];
        let found = of_reports(&[report(first)]).expect("asked for");
        assert_eq!(share(cost_ns(&found.lines[0]), found.total_ns), "60.0 %");
        assert_eq!(uses(&found.lines[0]), "x by h 66.6 %, x by f 33.3 %");
        assert_eq!(table(&found).len(), 1);
    }
}
