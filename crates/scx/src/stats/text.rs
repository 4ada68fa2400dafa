// SPDX-License-Identifier: GPL-2.0-only
//! Statistics for people: one block per interval, the result first (docs/guide/live.md, "Watch").
//!
//! What must stay: latency first. Words and widths are free but for what the test quotes. Free:
//! words and widths that the test does not quote.
//!
//! Tests by part: `a_block_says_the_result_first` (`block`, `headline`, `figures`, `table`,
//! `three_digits`), stats/tests.rs::`many_reasons_stay_within_the_lines` (`reasons`).
//!
//! Callers: crates/scx/src/stats.rs (`block`).
//!
//! Tests: crates/scx/src/stats/tests.rs::a_block_says_the_result_first

use crate::metrics::{Metrics, Part};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reasons shown, the most frequent first.
const REASONS: usize = 8;
/// Widest line, columns.
const WIDTH: usize = 100;

/// One interval's block of lines, the result first.
pub(crate) fn block(m: &Metrics) -> String {
    let mut text = headline(m);
    let _ = writeln!(
        text,
        "  decisions  {} wake-ups, {} forks, {} execs; {} to an idle CPU, {} refused",
        m.wakeups, m.forks, m.execs, m.direct, m.refused
    );
    let _ = writeln!(
        text,
        "  tasks      {} switches; {} pulled, {} pushed, {} preempted",
        m.switches, m.pulled, m.pushed, m.preempted
    );
    if !m.dur_avg_us.is_empty() {
        let figures = figures(&m.dur_avg_us);
        let _ = writeln!(
            text,
            "  run avg us {figures}, of the tasks that fell asleep"
        );
    }
    reasons(&mut text, m);
    table(&mut text, "class", &m.classes, &BTreeMap::new());
    table(&mut text, "domain", &m.domains, &m.energy_j);
    text
}

/// Shares of a histogram in one line.
fn figures(us: &BTreeMap<String, f64>) -> String {
    let shown = ["p50", "p95", "p99", "max"].iter().filter_map(|name| {
        let us = us.get(*name)?;
        Some(format!("{name} {}", three_digits(*us)))
    });
    shown.collect::<Vec<_>>().join("  ")
}

/// Latency, load and power; then what is in force.
fn headline(m: &Metrics) -> String {
    let mut text = match m.wake_latency_us.is_empty() {
        true => "no wake-ups".to_owned(),
        false => format!("wake-up latency us: {}", figures(&m.wake_latency_us)),
    };
    let per_s = |n: f64| {
        if m.interval_s > 0.0 {
            n / m.interval_s
        } else {
            0.0
        }
    };
    let _ = write!(
        text,
        "; {:.0} decisions/s; {:.2} CPUs busy",
        per_s(m.decisions as f64),
        m.busy_cpus_mean
    );
    if !m.energy_j.is_empty() {
        let watts = per_s(m.energy_j.values().sum());
        let _ = write!(text, "; {} W estimated", three_digits(watts));
    }
    let _ = write!(
        text,
        "\n  {:.1} s of {}, mode {}",
        m.interval_s, m.policy, m.mode
    );
    text.push_str(match (m.overutilized, m.energy_aware) {
        (1, _) => "; beyond the tipping point\n",
        (_, 1) => "; placing by energy\n",
        _ => "\n",
    });
    text
}

/// The most frequent ones, as shares.
fn reasons(text: &mut String, m: &Metrics) {
    let total: u64 = m.reasons.values().sum();
    if total == 0 {
        return;
    }
    let mut sorted: Vec<_> = m.reasons.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let share = |n: u64| 100.0 * n as f64 / total as f64;
    let shown = sorted.iter().take(REASONS);
    let mut words: Vec<String> = shown
        .map(|(name, n)| format!("{name} {:.1} %", share(**n)))
        .collect();
    let rest: u64 = sorted.iter().skip(REASONS).map(|(_, n)| **n).sum();
    if rest > 0 {
        words.push(format!("others {:.1} %", share(rest)));
    }
    let mut line = "  reasons    ".to_owned();
    for (at, word) in words.iter().enumerate() {
        if line.len() + word.len() + 2 > WIDTH {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(13);
        }
        line.push_str(word);
        if at + 1 < words.len() {
            line.push_str(", ");
        }
    }
    let _ = writeln!(text, "{line}");
}

/// A row per class or domain.
fn table(
    text: &mut String,
    kind: &str,
    parts: &BTreeMap<String, Part>,
    energy_j: &BTreeMap<String, f64>,
) {
    if parts.is_empty() {
        return;
    }
    let width = parts.keys().map(String::len).max().unwrap_or(0).max(14);
    let _ = write!(
        text,
        "  {kind:width$} {:>5} {:>7} {:>9}",
        "CPUs", "busy %", "placed"
    );
    let _ = write!(
        text,
        " {:>9} {:>8} {:>8} {:>9}",
        "switches", "pulled", "pushed", "p99 us"
    );
    text.push_str(if energy_j.is_empty() {
        "\n"
    } else {
        "         J\n"
    });
    for (name, p) in parts {
        let _ = write!(
            text,
            "  {name:width$} {:>5} {:>7.1} {:>9} {:>9} {:>8} {:>8}",
            p.cpus, p.busy_pct, p.placed, p.switches, p.pulled, p.pushed
        );
        let p99 = p.wake_latency_us.get("p99");
        let p99 = p99.map_or_else(|| "-".to_owned(), |us| three_digits(*us));
        let _ = write!(text, " {p99:>9}");
        if let Some(j) = energy_j.get(name) {
            let _ = write!(text, " {:>9}", three_digits(*j));
        }
        text.push('\n');
    }
}

/// Three digits at least, none of them after the point from 100 on.
fn three_digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 || v == 0.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}
