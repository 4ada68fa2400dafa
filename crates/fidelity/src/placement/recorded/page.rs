//! The recorded part of the page: a sentence and tables in Markdown, or one object
//! (docs/results/fidelity.md).
//!
//! What must stay: the sentence's counts are those of the tables; keys of JSON. Free: what leaves
//! the tables of pages as they are. Tests by part: `names_are_harmless` (`markdown`, `summary`,
//! `not_comparable`, `jobs`, `shares`), `the_object_has_names_as_they_are` (`object`); `odd` is the
//! tests' own.
//!
//! Tests: below

use super::{Comparison, POINTS_MAX, Row, Rules};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wakeplace_text::{markdown as plain, markdown_cell};

/// The sentence and the tables.
pub(super) fn markdown(comparison: &Comparison) -> String {
    let mut text = summary(comparison);
    let first = plain(&comparison.clusters.names[0]);
    let _ = write!(
        text,
        "\nShare of a task's run time on {first}, percent, by repeat; the rest was on {}. \
         Difference: the largest of a repeat, simulated - kernel.\n\n\
         | rules | set | task | job | kernel | simulator | difference | within {POINTS_MAX:.0} |\n\
         |---|---|---|---:|---|---|---:|---|\n",
        plain(&comparison.clusters.names[1..].join(", ")),
    );
    for row in comparison.rows.iter().filter(|row| row.comparable()) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:+.1} | {} |",
            row.rules.name(),
            markdown_cell(&row.set),
            markdown_cell(&row.task),
            jobs(row),
            shares(&row.kernel),
            shares(&row.simulated),
            row.difference(),
            if row.within() { "yes" } else { "**no**" },
        );
    }
    not_comparable(&mut text, comparison);
    text
}

/// What agrees, by rules.
fn summary(comparison: &Comparison) -> String {
    let recorded = &comparison.recorded;
    let mut parts = Vec::new();
    for rules in Rules::ALL {
        let of: Vec<&Row> = comparison.rows_of(rules).collect();
        let comparable = of.iter().filter(|row| row.comparable());
        let within = comparable.clone().filter(|row| row.within()).count();
        let worst = comparable
            .clone()
            .map(|row| row.difference().abs())
            .fold(0.0, f64::max);
        let mut part = format!(
            "under `{}` (`{}`) {within} of {} tasks, largest difference {worst:.1} points",
            rules.name(),
            rules.policy(),
            comparable.count(),
        );
        let apart = of.iter().filter(|row| !row.comparable()).count();
        if apart > 0 {
            let _ = write!(part, ", {apart} not comparable");
        }
        parts.push(part);
    }
    format!(
        "Run time by cluster within {POINTS_MAX:.0} points of kernel {} on {}: {}.\n",
        plain(&recorded.kernel),
        plain(&recorded.platform),
        parts.join("; "),
    )
}

/// The rows that cannot be compared, with the reason.
fn not_comparable(text: &mut String, comparison: &Comparison) {
    let mut rows = comparison
        .rows
        .iter()
        .filter(|row| !row.comparable())
        .peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = write!(
        text,
        "\nNot comparable, since the kernel's own repeats are more than {POINTS_MAX:.0} points \
         apart:\n\n\
         | rules | set | task | job | kernel | points apart | simulator |\n\
         |---|---|---|---:|---|---:|---|\n"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.1} | {} |",
            row.rules.name(),
            markdown_cell(&row.set),
            markdown_cell(&row.task),
            jobs(row),
            shares(&row.kernel),
            row.spread(),
            shares(&row.simulated),
        );
    }
}

/// Sizes of the jobs, smallest to largest.
fn jobs(row: &Row) -> String {
    let ms = |ns: Option<&u64>| format!("{:.2}", ns.copied().unwrap_or(0) as f64 / 1e6);
    let (low, high) = (ms(row.job_ns.iter().min()), ms(row.job_ns.iter().max()));
    match low == high {
        true => format!("{low} ms"),
        false => format!("{low} to {high} ms"),
    }
}

/// Share on the first cluster, by repeat.
fn shares(repeats: &[Vec<f64>]) -> String {
    let each = repeats.iter().map(|shares| format!("{:.1}", shares[0]));
    each.collect::<Vec<_>>().join(", ")
}

/// The same as one object.
pub(super) fn object(comparison: &Comparison) -> Value {
    let recorded = &comparison.recorded;
    let set_what = |name: &str| {
        let set = recorded.sets.iter().find(|set| set.name == name);
        set.map(|set| set.what.clone())
    };
    let rows: Vec<Value> = comparison
        .rows
        .iter()
        .map(|row| {
            json!({
                "rules": row.rules.name(),
                "policy": row.rules.policy(),
                "set": row.set,
                "what": set_what(&row.set),
                "task": row.task,
                "period_us": row.period_us,
                "job_ns": row.job_ns,
                "kernel_share_pct": row.kernel,
                "simulated_share_pct": row.simulated,
                "kernel_spread_points": row.spread(),
                "comparable": row.comparable(),
                "difference_points": row.difference(),
                "within": row.within(),
            })
        })
        .collect();
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "platform": recorded.platform,
        "kernel": recorded.kernel,
        "source": recorded.source,
        "standing": recorded.standing,
        "clusters": comparison.clusters.names,
        "points_max": POINTS_MAX,
        "rows": rows,
    })
}

#[cfg(test)]
mod tests {
    use super::super::data;
    use super::*;
    use crate::placement::agree::Clusters;
    use wakeplace_platform::Platform;

    /// A bar, HTML, an escape sequence, a line of its own, and a link.
    const ODD: &str = "a|b<script>\x1b[2J\n| c |[d](e)";
    const IN_TEXT: &str = "a|b&lt;script>\u{fffd}[2J | c |[d]\\(e)";
    const IN_A_CELL: &str = "a\\|b&lt;script>\u{fffd}[2J \\| c \\|[d]\\(e)";

    /// A row that can be compared and one that cannot, everything in it called as badly as can be.
    fn odd() -> Comparison {
        let row = |kernel: [[f64; 2]; 2]| Row {
            rules: Rules::Eas,
            set: ODD.to_owned(),
            task: ODD.to_owned(),
            period_us: 16_000,
            job_ns: vec![800_000; 2],
            kernel: kernel.iter().map(|shares| shares.to_vec()).collect(),
            simulated: vec![vec![40.0, 60.0]; 2],
        };
        let mut recorded = data::recorded().expect("valid");
        let names = [&mut recorded.platform, &mut recorded.kernel];
        names.into_iter().for_each(|name| *name = ODD.to_owned());
        let platform = Platform::load("juno-r0").expect("built in");
        let mut clusters = Clusters::of(&platform);
        clusters.names = vec![ODD.to_owned(); 2];
        Comparison {
            recorded,
            clusters,
            rows: vec![
                row([[40.0, 60.0], [40.0, 60.0]]),
                row([[0.0, 100.0], [40.0, 60.0]]),
            ],
        }
    }

    /// Goal: names of files are one cell or one word of the page, no HTML and no control.
    #[test]
    fn names_are_harmless() {
        let text = markdown(&odd());
        for expected in [
            format!("points of kernel {IN_TEXT} on {IN_TEXT}: under"),
            format!("run time on {IN_TEXT}, percent, by repeat; the rest was on {IN_TEXT}."),
            format!("\n| eas | {IN_A_CELL} | {IN_A_CELL} | 0.80 ms | 40.0, 40.0 | 40.0, 40.0 |"),
            format!("\n| eas | {IN_A_CELL} | {IN_A_CELL} | 0.80 ms | 0.0, 40.0 | 40.0 | 40.0,"),
        ] {
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
        assert!(
            !text.contains(['\x1b']) && !text.contains("<script"),
            "{text}"
        );
        assert!(!text.contains("](") && !text.contains("\n| c |"), "{text}");
    }

    /// Goal: the object has names exactly.
    #[test]
    fn the_object_has_names_as_they_are() {
        let object = object(&odd());
        for name in [
            "/platform",
            "/kernel",
            "/clusters/0",
            "/rows/0/set",
            "/rows/0/task",
        ] {
            assert_eq!(object.pointer(name), Some(&json!(ODD)), "{name}");
        }
    }
}
