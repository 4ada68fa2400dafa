//! What a sched_ext scheduler's callbacks did for a wake-up, for people (docs/guide/schedulers.md).
//!
//! Called by `explain` for people; JSON is `wakeplace_study::explain`'s. Words are free.
//!
//! What must stay: steps stand in the order in which callbacks made them, and a callback that did
//! nothing has a row. Queues and flags are told by the kernel's own numbers
//! (`wakeplace_sched_ext::consts`). Tests by part:
//! crates/cli/tests/all/schedulers.rs::`explain_says_what_callbacks_did` (`answer`, `callbacks`,
//! `step`, `queue`). No test of its own: `kick`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::explain_says_what_callbacks_did

use super::text::title;
use crate::page::{Form, Page};
use crate::text::time;
use wakeplace_engine::observe::SchedExtStep;
use wakeplace_report::{Align, Style, Table};
use wakeplace_sched_ext::consts as scx;
use wakeplace_study::SchedulerAnswer;

/// A page: the CPU, then callback by callback what the scheduler did.
pub(super) fn answer(answer: &SchedulerAnswer, style: Style) -> String {
    let told = &answer.told;
    let of_run = answer.wakeup_of_run;
    let title = title(
        &told.placement,
        told.time_ns,
        of_run,
        told.number,
        &told.task,
    );
    let first = match told.start {
        Some((at, cpu)) => {
            let waited = time(at - told.time_ns);
            format!("It began to run on CPU {cpu} after {waited}.")
        }
        None => "The run was over before it ran.".to_owned(),
    };
    let mut page = Page::new(Form::Human(style), &title, &first);
    page.section("wake-up");
    page.paragraph(&format!(
        "{} on {} under {} (kernel {}), seed {}",
        answer.experiment.workload.name,
        answer.experiment.platform.name,
        answer.scheduler(),
        answer.fact("scheduler.kernel").unwrap_or("unknown"),
        answer.experiment.seeds[0],
    ));
    page.paragraph(&format!(
        "Woken or made on CPU {}; last on CPU {}.",
        told.placement.waker_cpu, told.placement.prev_cpu
    ));
    page.section("callbacks");
    page.table(&callbacks(answer));
    page.finish()
}

/// A row for each thing that a callback did; one that did nothing has a row, too.
fn callbacks(answer: &SchedulerAnswer) -> Table {
    let columns = ["after", "callback", "cpu", "did"];
    let mut table = Table::new("callbacks", &columns).align("cpu", Align::Right);
    table = table.align("after", Align::Right);
    for callback in &answer.told.callbacks {
        let mut steps: Vec<String> = callback.steps.iter().map(|s| step(answer, s)).collect();
        if steps.is_empty() {
            steps.push("-".to_owned());
        }
        for (at, did) in steps.into_iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            let after = callback.time_ns.saturating_sub(answer.told.time_ns);
            table.row(vec![
                first(time(after)).into(),
                first(callback.callback.name().to_owned()).into(),
                first(callback.cpu.to_string()).into(),
                did.into(),
            ]);
        }
    }
    table
}

/// One step in words.
fn step(answer: &SchedulerAnswer, step: &SchedExtStep) -> String {
    match *step {
        SchedExtStep::Callback { callback, cpu, .. } => {
            format!("{} began on CPU {cpu}", callback.name())
        }
        SchedExtStep::Selected { cpu, .. } => format!("answered CPU {cpu}"),
        SchedExtStep::Picked { cpu } if cpu < 0 => {
            format!("looked for an idle CPU and got none (errno {})", -cpu)
        }
        SchedExtStep::Picked { cpu } => format!("claimed CPU {cpu}, which idled"),
        SchedExtStep::Inserted {
            task,
            dsq,
            vtime,
            slice_ns,
        } => {
            let vtime = vtime.map_or(String::new(), |vtime| format!(" at virtual time {vtime}"));
            let slice = match slice_ns {
                scx::SCX_SLICE_INF => "a slice without end".to_owned(),
                ns => format!("a slice of {}", time(ns)),
            };
            let task = answer.task(task);
            format!("inserted `{task}` into {}{vtime}, {slice}", queue(dsq))
        }
        SchedExtStep::Taken { task, dsq, cpu, by } => {
            let from = dsq.map_or("the scheduler's hands".to_owned(), queue);
            let by = match by == cpu {
                true => String::new(),
                false => format!(", as CPU {by} decided"),
            };
            let task = answer.task(task);
            format!("moved `{task}` from {from} to the local queue of CPU {cpu}{by}")
        }
        SchedExtStep::Kicked { cpu, flags } => format!("kicked CPU {cpu}{}", kick(flags)),
    }
}

/// A queue as the scheduler names it.
fn queue(dsq: u64) -> String {
    if dsq & scx::SCX_DSQ_LOCAL_ON == scx::SCX_DSQ_LOCAL_ON {
        let cpu = dsq & scx::SCX_DSQ_LOCAL_CPU_MASK;
        return format!("the local queue of CPU {cpu}");
    }
    match dsq {
        scx::SCX_DSQ_LOCAL => "the local queue".to_owned(),
        scx::SCX_DSQ_GLOBAL => "the global queue".to_owned(),
        own => format!("DSQ {own:#x}"),
    }
}

/// What a kick asks of a CPU, in words.
fn kick(flags: u64) -> String {
    let names = [
        (scx::SCX_KICK_IDLE, "if it idles"),
        (scx::SCX_KICK_PREEMPT, "ending the slice there"),
        (scx::SCX_KICK_WAIT, "waiting for it"),
    ];
    let told: Vec<&str> = names
        .into_iter()
        .filter(|(flag, _)| flags & flag != 0)
        .map(|(_, name)| name)
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!(" ({})", told.join(", ")),
    }
}
