//! The tables over the starts in Markdown, or as one object (docs/results/fidelity.md).
//!
//! What must stay: the form of tables, keys of JSON. Free: what leaves the tables of pages as they
//! are. Tests by part: `tables_say_how_many_starts_agree` (`markdown`, `summary`, `tables`,
//! `agreeing`, `disagreeing`, `within`, `shares`, `mainly`, `policy`, `starts`),
//! `the_object_has_all_starts` (`object`, `row_object`, `set_objects`, `start_object`).
//!
//! Tests: crates/fidelity/src/placement/starts/tests.rs

use super::{Count, POINTS_MAX, Row, Rules, Runs, Start, WAKEUPS_MIN_PCT, rows};
use crate::placement::page::pct;
use crate::placement::{CAPACITY_POLICY, KERNEL_POLICY, MachineResult};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wakeplace_text::{markdown as plain, markdown_cell};

impl Rules {
    /// The simulator's policy.
    fn policy(self) -> &'static str {
        match self {
            Self::EnergyAware => KERNEL_POLICY,
            Self::CapacityAware => CAPACITY_POLICY,
        }
    }
}

/// Counts of all machines, then the tables of each.
pub(in crate::placement) fn markdown(results: &[MachineResult]) -> String {
    let mut text = summary(results);
    for result in results {
        for rules in Rules::ALL {
            tables(&mut text, result, rules);
        }
    }
    text
}

/// How many tasks agree, over all machines.
fn summary(results: &[MachineResult]) -> String {
    let mut text = String::from("## Over the starts\n\n");
    for rules in Rules::ALL {
        let mut all = Count::default();
        let mut parts = Vec::new();
        for result in results {
            let rows = rows(result, rules);
            if rows.is_empty() {
                continue;
            }
            let count = Count::of(&rows);
            all.add(count);
            let name = plain(&result.platform.name);
            parts.push(format!("{name} {} in {}", within(count), starts(&rows)));
        }
        if !parts.is_empty() {
            let _ = writeln!(
                text,
                "Under `{}` (`{}`) {} of the tasks whose kernel repeats agree are within \
                 {POINTS_MAX:.0} points of the kernel's share and have {WAKEUPS_MIN_PCT:.0} % of \
                 their wake-ups on the same cluster ({}). Of the others ({}) the simulator's mean \
                 share lies in the kernel's range for {}.\n",
                rules.name(),
                rules.policy(),
                within(all),
                parts.join(", "),
                all.tasks - all.agree,
                all.in_range,
            );
        }
    }
    text
}

/// Of how many starts the tasks are: sets may have been recorded more or less often.
fn starts(rows: &[Row]) -> String {
    let counts = rows.iter().map(|row| row.kernel.shares.len());
    match (counts.clone().min(), counts.max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most} starts"),
        (_, most) => format!("{} starts", most.unwrap_or(0)),
    }
}

/// How many of how many.
fn within(count: Count) -> String {
    format!("{} of {}", count.within, count.agree)
}

/// The tables of one machine.
fn tables(text: &mut String, result: &MachineResult, rules: Rules) {
    let (agree, others): (Vec<Row>, Vec<Row>) = rows(result, rules)
        .into_iter()
        .partition(Row::repeats_agree);
    let big = plain(&result.clusters.names[result.big()]);
    let title = format!("{} under {}", plain(&result.platform.name), rules.name());
    if !agree.is_empty() {
        let _ = write!(
            text,
            "\n### {title}: tasks whose kernel repeats agree\n\n\
             Share of the run time on {big} over the starts, percent: smallest, mean, largest. \
             Difference: of the means, simulator - kernel. Wake-ups on the same cluster: of each \
             start and its simulation, and of each of the kernel's starts and the next.\n\n\
             | set | task | kernel | simulator | difference | same cluster | kernel with itself \
             | within |\n|---|---|---|---|---:|---:|---:|---|\n"
        );
        agree.iter().for_each(|row| agreeing(text, row));
    }
    if !others.is_empty() {
        let _ = write!(
            text,
            "\n### {title}: tasks whose kernel repeats do not agree\n\n\
             Starts by the cluster with most of the task's run time ({}); the shares as above. \
             Difference: of the means, with its 95 % interval from start to start.\n\n\
             | set | task | kernel, starts | simulator, starts | kernel | simulator | difference \
             | mean in range | same cluster | kernel with itself |\n\
             |---|---|---|---|---|---|---:|---|---:|---:|\n",
            plain(&result.clusters.names.join(" / ")),
        );
        others.iter().for_each(|row| disagreeing(text, row));
    }
}

/// A task whose starts agree, in one line.
fn agreeing(text: &mut String, row: &Row) {
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {:+.1} | {} | {} | {} |",
        markdown_cell(&row.set),
        markdown_cell(&row.task),
        shares(&row.kernel),
        shares(&row.simulated),
        row.difference(),
        pct(row.wakeups.pct()),
        pct(row.own_wakeups.pct()),
        if row.within() { "yes" } else { "**no**" },
    );
}

/// A task whose starts do not agree with each other, in one line.
fn disagreeing(text: &mut String, row: &Row) {
    let uncertainty = row.uncertainty();
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} | {:+.1}{} | {} | {} | {} |",
        markdown_cell(&row.set),
        markdown_cell(&row.task),
        mainly(&row.kernel),
        mainly(&row.simulated),
        shares(&row.kernel),
        shares(&row.simulated),
        row.difference(),
        uncertainty.map_or_else(String::new, |width| format!(" ± {width:.1}")),
        if row.mean_in_range() { "yes" } else { "no" },
        pct(row.wakeups.pct()),
        pct(row.own_wakeups.pct()),
    );
}

/// Least, mean and most.
fn shares(runs: &Runs) -> String {
    let share = &runs.share;
    format!("{:.1}, {:.1}, {:.1}", share.min, share.mean, share.max)
}

/// How many starts were mainly on each cluster.
fn mainly(runs: &Runs) -> String {
    let starts = runs.mainly.iter().map(ToString::to_string);
    starts.collect::<Vec<_>>().join(" / ")
}

/// All starts of a machine.
pub(in crate::placement) fn object(result: &MachineResult) -> Value {
    let each = Rules::ALL.iter().map(|rules| {
        let rows = rows(result, *rules);
        let count = Count::of(&rows);
        let value = json!({
            "policy": rules.policy(),
            "tasks": count.tasks,
            "repeats_agree": count.agree,
            "within": count.within,
            "others_mean_in_range": count.in_range,
            "rows": rows.iter().map(row_object).collect::<Vec<_>>(),
            "sets": set_objects(result, *rules),
        });
        (rules.name().to_owned(), value)
    });
    Value::Object(each.collect())
}

/// A task as JSON.
fn row_object(row: &Row) -> Value {
    let runs = |runs: &Runs| json!({ "share_pct": runs.shares, "starts_mainly": runs.mainly });
    json!({
        "set": row.set,
        "task": row.task,
        "kernel": runs(&row.kernel),
        "simulator": runs(&row.simulated),
        "repeats_agree": row.repeats_agree(),
        "difference_points": row.difference(),
        "difference_ci95_points": row.uncertainty(),
        "same_cluster_pct": row.wakeups.pct(),
        "kernel_same_cluster_pct": row.own_wakeups.pct(),
        "within": row.repeats_agree().then(|| row.within()),
        "mean_in_range": row.mean_in_range(),
    })
}

/// Every wake-up of every start.
fn set_objects(result: &MachineResult, rules: Rules) -> Vec<Value> {
    let sets = result.sets.iter();
    sets.map(|set| {
        let starts = rules.starts(set).iter();
        json!({
            "set": set.set.name,
            "starts": starts.map(|start| start_object(result, start)).collect::<Vec<_>>(),
        })
    })
    .collect()
}

/// A start as JSON.
fn start_object(result: &MachineResult, start: &Start) -> Value {
    let tasks = start.kernel.tasks.iter().zip(&start.simulated.tasks);
    let tasks = tasks.map(|(kernel, simulated)| {
        let run = |run: &super::TaskRun| {
            json!({
                "run_share_pct": run.shares(&result.clusters),
                "wakeups": run.wakeups.iter().collect::<Vec<_>>(),
            })
        };
        json!({
            "job_ns": kernel.job_ns,
            "kernel": run(kernel),
            "simulator": run(simulated),
        })
    });
    json!({ "offset_ns": start.offset_ns, "tasks": tasks.collect::<Vec<_>>() })
}
