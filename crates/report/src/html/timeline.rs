//! What ran where in a window, for the page's own drawing. The page's script (`assets`) reads these
//! lists by place (docs/guide/report.md).
//!
//! What must stay: keys and places of the lists, which `assets/timeline.js` reads; times in them
//! are ns from the window's begin, so that a browser holds them exactly. The text below may change.
//! Tests by part: `the_answer_stands_first_and_everything_after_it` (`section`),
//! `what_a_result_says_is_no_markup` (`name`, `data`), `no_result_is_refused_in_a_sentence` (what
//! lies outside the window), `a_window_changes_no_run` (a run is the same with it),
//! xtask/src/tries/pages.rs (the drawing), the first also `placements`.
//!
//! Callers: compared.rs (`section`).
//!
//! Tests: crates/report/src/html/tests.rs, crates/cli/tests/all/report.rs::a_window_changes_no_run,
//! xtask/src/tries/pages.rs

use super::view::{Block, Cell, Section, Table, TimelineView};
use crate::number;
use serde_json::{Value, json};
use wakeplace_outcome::{Run, Span, Timeline};

/// Placements listed as text; the drawing has all.
const MAX_LISTED: usize = 200;

/// A drawing per run that kept its timeline; None: none did.
pub(super) fn section(id: &str, lines: &[(&Run, &Timeline)]) -> Option<Section> {
    let (_, first) = lines.first()?;
    let mut blocks = Vec::new();
    for (at, (run, line)) in lines.iter().enumerate() {
        let id = format!("{id}-timeline-{at}");
        let tasks = line.tasks.len();
        let seed = run
            .seeds
            .first()
            .map_or(String::new(), |seed| format!(", seed {seed}"));
        blocks.push(Block::Timeline(TimelineView {
            title: format!("{}{seed}", run.policy),
            alt: format!(
                "Timeline of {} CPUs from {} to {}: {} stretches of {tasks} tasks. The table below \
                 lists placements.",
                line.cpus,
                number::duration(line.from_ns),
                number::duration(line.until_ns),
                line.cpu_task_from_to_ns.len(),
            ),
            cpus: line.cpus,
            data: data(&run.policy, run.seeds.first().copied(), line),
            id: id.clone(),
        }));
        blocks.push(Block::Table(placements(&id, &run.policy, line)));
    }
    Some(Section {
        id: format!("{id}-timeline"),
        title: "What ran where".to_owned(),
        lead: format!(
            "From {} to {} of the first seed's run. Each task has a colour; grey is an idle state, \
             the stronger the deeper; a red line above marks the time in which the machine is \
             overutilized. The lines below are the frequencies.",
            number::duration(first.from_ns),
            number::duration(first.to_ns)
        ),
        blocks,
    })
}

/// The task's name as the run had it, or its number.
fn name(line: &Timeline, task: u32) -> String {
    let known = line
        .tasks
        .iter()
        .find(|(number, name)| *number == task && !name.is_empty());
    known.map_or_else(|| format!("task {task}"), |(_, name)| name.clone())
}

/// Times from the window's begin, ns: numbers that a browser holds exactly.
fn data(policy: &str, seed: Option<u64>, line: &Timeline) -> Value {
    let from = |ns: u64| ns.saturating_sub(line.from_ns);
    let spans = |all: &[Span]| -> Vec<Value> {
        let span = |&(cpu, what, begin, end): &_| json!([cpu, what, from(begin), from(end)]);
        all.iter().map(span).collect()
    };
    let tasks: Vec<Value> = { line.tasks.iter() }
        .map(|(task, _)| json!([task, name(line, *task)]))
        .collect();
    let steps = line.domain_at_ns_khz.iter();
    let steps = steps.map(|(domain, at, khz)| json!([domain, from(*at), khz]));
    let placed = line.at_ns_task_prev_cpu_reason_new.iter();
    let placed = placed.map(|p| json!([from(p.0), p.1, p.2, p.3, p.4, p.5]));
    let marks = line.overutilized_at_ns_on.iter();
    let marks = marks.map(|(at, on)| json!([from(*at), on]));
    json!({
        "policy": policy,
        "seed": seed,
        "from_ns": line.from_ns,
        "length_ns": from(line.to_ns),
        "until_ns": from(line.until_ns),
        "cpus": line.cpus,
        "clusters": line.clusters,
        "domains": line.domains,
        "idle_states": line.idle_states,
        "tasks": tasks,
        "ran": spans(&line.cpu_task_from_to_ns),
        "idle": spans(&line.cpu_idle_state_from_to_ns),
        "steps": steps.collect::<Vec<_>>(),
        "reasons": line.reasons,
        "overutilized": marks.collect::<Vec<_>>(),
        "placed": placed.collect::<Vec<_>>(),
    })
}

/// The placements of the window, the first of them if there are many.
fn placements(id: &str, policy: &str, line: &Timeline) -> Table {
    let all = &line.at_ns_task_prev_cpu_reason_new;
    let more = match all.len() > MAX_LISTED {
        true => format!(", the first {MAX_LISTED} of {}", all.len()),
        false => String::new(),
    };
    let caption = format!("Placements under {policy}{more}");
    let columns = ["#at (ms)", "task", "#previous CPU", "#chosen CPU", "reason"];
    let mut table = Table::new(format!("{id}-table"), caption, &columns).folded("Placements");
    let row = |&(at, task, prev, cpu, reason, new): &(u64, u32, u32, u32, u32, u8)| {
        let reason = line.reasons.get(reason as usize).map_or("", String::as_str);
        vec![
            Cell::head(format!("{:.3}", at as f64 / 1e6)),
            Cell::of(name(line, task)).small(if new > 0 { "new" } else { "" }),
            Cell::of(prev.to_string()),
            Cell::of(cpu.to_string()),
            Cell::of(reason),
        ]
    };
    table.rows.extend(all.iter().take(MAX_LISTED).map(row));
    table
}
