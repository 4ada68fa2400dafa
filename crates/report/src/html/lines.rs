//! The cache lines that cost a kernel's own code most, as a section of a page
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: the figures are those of the JSON, in its order. Free: words.
//!
//! Tests by part: tests.rs: `cache_lines_are_a_section` (`section`).
//!
//! Callers: compared.rs (`section`).
//!
//! Tests: crates/report/src/html/tests.rs::cache_lines_are_a_section

use super::view::{Block, Cell, Section, Table};
use crate::lines::{cost_ns, share, uses};
use wakeplace_outcome::Run;

/// A table for each policy that was asked for its lines. None: none was.
pub(super) fn section(id: &str, runs: &[Run]) -> Option<Section> {
    let mut blocks = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let Some(told) = &run.lines else { continue };
        let columns = [
            "line",
            "#share",
            "#transfers",
            "#waits",
            "#lock",
            "who pays",
        ];
        let of = format!("{id}-lines-{at}");
        let mut table = Table::new(of, format!("{}, all its runs", run.policy), &columns);
        for line in &told.lines {
            let all = |ns: u64| Cell::of(share(ns, told.total_ns));
            let each = if line.several { ", several" } else { "" };
            table.rows.push(vec![
                Cell::head(format!("{} +{}{each}", line.object, line.offset)),
                all(cost_ns(line)),
                all(line.transfer_ns),
                all(line.wait_ns),
                all(line.lock_ns),
                Cell::of(uses(line)),
            ]);
        }
        blocks.push(Block::Table(table));
    }
    (!blocks.is_empty()).then(|| Section {
        id: format!("{id}-lines"),
        title: "Cache lines".to_owned(),
        lead: "What CPUs waited for in the kernel's own code: transfers of a line to a core that \
               did not have it, waits until the line was free for that, and waits for a lock in \
               it. Shares are of all of it."
            .to_owned(),
        blocks,
    })
}
