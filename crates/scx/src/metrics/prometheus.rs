// SPDX-License-Identifier: GPL-2.0-only
//! The exposition text in the format that Prometheus had before OpenMetrics, 0.0.4: what the node
//! exporter's textfile collector reads. It knows neither units nor infos nor an end mark, and names
//! a counter as its samples are named (docs/guide/live.md, "Watch").
//!
//! What must stay: samples and names are those of the OpenMetrics text; only the form differs.
//! Free: how the text is rewritten.
//!
//! Tests by part: `the_older_format_has_the_same_samples` (`text`),
//! metrics/tests.rs::`the_dashboard_reads_what_there_is` (names, beside packaging/grafana).
//!
//! Callers: client.rs (`status --format prometheus`).
//!
//! Tests: crates/scx/src/metrics/tests.rs::the_older_format_has_the_same_samples,
//! xtask/src/tries/metrics.rs

use super::{Status, openmetrics};

/// The same metrics as the OpenMetrics text.
pub(crate) fn text(status: &Status) -> String {
    let modern = openmetrics::text(status);
    let mut text = String::with_capacity(modern.len());
    // HELP stands before TYPE, which says what the family is called here.
    let mut help = None;
    for line in modern.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", _, what] => help = Some(what),
            ["#", "TYPE", name, kind] => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    _ => ("", kind),
                };
                if let Some(what) = help.take() {
                    text.push_str(&format!("# HELP {name}{suffix} {what}\n"));
                }
                text.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
            }
            ["#", ..] => {}
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}
