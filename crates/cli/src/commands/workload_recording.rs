//! `workload check trace:FILE`: what was found in a recording (docs/guide/traces-in.md).
//!
//! Called by `workload check` for `trace:`. Free: the page.
//!
//! What must stay: keys of `answer`; times are ns. What every run would refuse is refused here, too
//! (`refused_somewhere`). Sums count a phase once, not its repetitions. Tests by part:
//! crates/cli/tests/all/recordings.rs::`recordings_are_workloads_everywhere` (`check`, `answer`,
//! `Does`, `describe`), recordings.rs::`what_is_wrong_with_a_recording_is_said_everywhere`
//! (`refused_somewhere`), crates/cli/tests/all/streams.rs::`warnings_go_to_standard_error`
//! (warnings), recordings.rs::`a_check_lists_chains` (`chains`, `chain_json`),
//! recordings.rs::`a_check_takes_deadlines` (`beside`),
//! crates/cli/tests/all/said.rs::`a_check_names_what_is_no_rtapp_file` (pipes). No test of its own:
//! `class`.
//!
//! Tests: crates/cli/tests/all/recordings.rs,
//! crates/cli/tests/all/streams.rs::warnings_go_to_standard_error,
//! crates/cli/tests/all/said.rs::a_check_names_what_is_no_rtapp_file

use crate::args::{AnswerFormat, FormatName, WorkloadCheckArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::terminal::Terminal;
use crate::text::{format, json, style};
use serde_json::{Value, json};
use wakeplace_platform::{Platform, builtin_names};
use wakeplace_report::{Align, Cell, Style, Table};
use wakeplace_text::count;
use wakeplace_trace::TraceError;
use wakeplace_workload::{Chain, Dialect, Event, MachineFacts, TaskScript, Workload};

/// `workload check trace:FILE`.
pub(super) fn check(args: &WorkloadCheckArgs, terminal: Terminal) -> Outcome {
    if args.rtapp_dialect != Dialect::default() {
        let problem = "--rtapp-dialect: a recording has no dialect; expected an rt-app file";
        return Err(Failure::input(problem));
    }
    let deadlines = super::workload::deadlines(args)?;
    let spec = wakeplace_trace::load(&args.file, None).map_err(Failure::input)?;
    let warnings = spec.warnings.clone();
    let machine = MachineFacts::alike(args.cpus);
    let mut workload = spec.expand(1, machine).map_err(Failure::input)?;
    // Of recorded frames it is known what became of them, by whichever deadline.
    let own = match deadlines {
        None => None,
        Some(given) => {
            let own = std::mem::take(&mut workload.chains);
            let spec = spec.with_deadlines(given);
            workload = spec.expand(1, machine).map_err(Failure::input)?;
            Some(own)
        }
    };
    if let Some(refused) = refused_somewhere(&args.file, &workload) {
        return Err(Failure::input(refused));
    }
    match args.form.format {
        AnswerFormat::Json => {
            let mut found = answer(args, &workload, &warnings);
            if let Some(own) = &own {
                found["own_chains"] = own.iter().map(chain_json).collect();
            }
            terminal.print(&json(&found))?;
        }
        AnswerFormat::Human => {
            let look = style(terminal);
            let mut text = describe(&workload, look);
            text.push_str(&beside(own.as_deref().unwrap_or_default(), look));
            terminal.print(&text)?;
            warnings.iter().for_each(|warning| terminal.warn(warning));
        }
    }
    Ok(Verdict::Ok)
}

/// So little work that what the simulator adds by itself can be all of it, ns.
const HARDLY_ANY_NS: u64 = 1_000_000;

/// Why runs refuse it on a machine like the recording's: the platform's own costs are taken off the
/// work, and nothing is left.
fn refused_somewhere(file: &str, workload: &Workload) -> Option<TraceError> {
    let work_ns: u64 = workload
        .tasks
        .iter()
        .map(|task| Does::of(task).work_ns)
        .sum();
    if work_ns > HARDLY_ANY_NS {
        return None;
    }
    let platforms = builtin_names().filter_map(|name| Platform::load(name).ok());
    let mut refused = platforms.filter_map(|p| wakeplace_trace::load(file, Some(&p)).err());
    refused.next()
}

/// What a task of a recording does.
#[derive(Default)]
struct Does {
    work_ns: u64,
    /// Sleeps that end at a time of their own, that another task ends, and for devices.
    timed: u64,
    woken: u64,
    device: u64,
    wakes: u64,
    forks: u64,
}

impl Does {
    /// Sums and counts over all phases of a task once, not over their repetitions; work in ns.
    fn of(task: &TaskScript) -> Self {
        let mut found = Self::default();
        for event in task.phases.iter().flat_map(|phase| &phase.events) {
            match event {
                Event::Run { work_ns } => found.work_ns += work_ns,
                Event::Timer { .. } => found.timed += 1,
                Event::Wait { .. } => found.woken += 1,
                Event::Io { .. } => found.device += 1,
                Event::Post { .. } => found.wakes += 1,
                Event::Fork { .. } => found.forks += 1,
                _ => {}
            }
        }
        found
    }
}

/// What orders tasks at one priority.
fn class(task: &TaskScript) -> String {
    match task.attributes.realtime {
        None => format!("nice {}", task.nice),
        Some(_) => "real-time".to_owned(),
    }
}

/// For people: what each task of the recording does.
fn describe(workload: &Workload, look: Style) -> String {
    let length_ms = workload.duration_ns.unwrap_or(0) as f64 / 1e6;
    let tasks = count(workload.tasks.len(), "task");
    let mut text = format!("a recording of {length_ms:.3} ms with {tasks}\n\n");
    let columns = [
        "task",
        "class",
        "work ms",
        "timed sleeps",
        "sleeps ended by tasks",
        "waits for devices",
        "wakes others",
        "makes tasks",
    ];
    let mut table = Table::new("tasks", &columns);
    for task in &workload.tasks {
        let does = Does::of(task);
        let mut row = vec![
            Cell::from(task.name.clone()),
            Cell::from(class(task)),
            Cell::from(format!("{:.3}", does.work_ns as f64 / 1e6)),
        ];
        let counts = [does.timed, does.woken, does.device, does.wakes, does.forks];
        row.extend(counts.map(|count| Cell::from(count.to_string())));
        table.row(row);
    }
    text.push_str(&table.render(format(FormatName::Human), look));
    if !workload.chains.is_empty() {
        text.push('\n');
        text.push_str(&chains(&workload.chains).render(format(FormatName::Human), look));
    }
    text
}

/// For people: the recording's own chains, beside those that were given.
fn beside(own: &[Chain], look: Style) -> String {
    if own.is_empty() {
        return String::new();
    }
    let table = chains(own).render(format(FormatName::Human), look);
    format!("\nwhat the recording says itself, which does not count beside --deadlines:\n{table}")
}

/// Chains with their deadlines, and what became of their frames in the recording.
pub(super) fn chains(all: &[Chain]) -> Table {
    let mut columns = vec!["chain", "deadline us"];
    let is_recorded = all.iter().any(|chain| chain.recorded.is_some());
    let recorded = [
        "known by",
        "frames",
        "missed",
        "dropped",
        "lateness us p50",
        "p95",
        "p99",
    ];
    columns.extend(recorded.iter().filter(|_| is_recorded));
    let mut table = Table::new("chains", &columns).keys(1);
    for column in columns
        .iter()
        .filter(|column| !["chain", "known by"].contains(column))
    {
        table = table.align(column, Align::Right);
    }
    let us = |ns: f64| format!("{:.1}", ns / 1e3);
    for chain in all {
        let mut row = vec![
            Cell::from(chain.name.clone()),
            Cell::from(us(chain.deadline_ns as f64)),
        ];
        if is_recorded {
            let found = chain.recorded_figures().unwrap_or_default();
            let known = chain.known.as_deref().unwrap_or("--deadlines");
            row.push(Cell::from(known.to_owned()));
            let counts = [found.frames, found.missed, found.dropped];
            row.extend(counts.map(|count| Cell::from(count.to_string())));
            let late = found
                .lateness_ns
                .map(|late_ns| late_ns.map(|ns| us(ns as f64)));
            let late = late.unwrap_or_else(|| ["-", "-", "-"].map(str::to_owned));
            row.extend(late.map(Cell::from));
        }
        table.row(row);
    }
    table
}

/// A chain as JSON. Its keys stay.
pub(super) fn chain_json(chain: &Chain) -> Value {
    let recorded = chain.recorded_figures().map(|found| {
        let lateness = |at: usize| found.lateness_ns.map(|late_ns| late_ns[at]);
        json!({
            "frames": found.frames,
            "missed": found.missed,
            "dropped": found.dropped,
            "streak_max": found.streak_max,
            "lateness_ns_p50": lateness(0),
            "lateness_ns_p95": lateness(1),
            "lateness_ns_p99": lateness(2),
        })
    });
    json!({
        "name": chain.name,
        "deadline_ns": chain.deadline_ns,
        "known": chain.known,
        "recorded": recorded,
    })
}

/// The same as JSON. Its keys stay.
fn answer(args: &WorkloadCheckArgs, workload: &Workload, warnings: &[String]) -> Value {
    let task = |task: &TaskScript| {
        let does = Does::of(task);
        json!({
            "name": task.name,
            "class": class(task),
            "work_ns": does.work_ns,
            "timed_sleeps": does.timed,
            "sleeps_ended_by_tasks": does.woken,
            "waits_for_devices": does.device,
            "wakes": does.wakes,
            "forks": does.forks,
        })
    };
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "file": args.file,
        "cpus": args.cpus,
        "accepted": true,
        "exit_code": 0,
        "duration_ns": workload.duration_ns,
        "warnings": warnings,
        "tasks": workload.tasks.iter().map(task).collect::<Vec<_>>(),
        "chains": workload.chains.iter().map(chain_json).collect::<Vec<_>>(),
    })
}
