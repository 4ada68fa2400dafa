//! The answer for people: the CPU first (docs/guide/tour.md).
//!
//! Called by `explain` for people; JSON is `wakeplace_study::explain`'s. Words and order are free.
//!
//! What must stay: figures and reasons are the core's and are not judged here. The CPU stands
//! first, or the answer to `--why-not`. A sentence that many rows share stands once (`Sentences`).
//! Tests by part: crates/cli/tests/all/explain.rs::`the_title_has_the_number_that_was_asked_for`
//! (`title`), explain.rs::`why_not_comes_first` (`answer`),
//! explain.rs::`what_costs_more_saves_nothing` (`candidates`),
//! crates/cli/tests/all/said.rs::`a_decision_says_each_reason_once` (`Sentences`, `others`),
//! explain.rs::`a_tie_keeps_the_previous_cpu` (`legend`, `task`),
//! explain.rs::`a_cost_has_no_unit` (`legend`, `candidates`),
//! crates/cli/tests/all/hostile_text.rs::`answers_show_names_harmlessly_in_every_form` (names from
//! files). No test of its own: `rule`, `waker` and `duration`.
//!
//! Tests: crates/cli/tests/all/explain.rs,
//! crates/cli/tests/all/said.rs::a_decision_says_each_reason_once,
//! crates/cli/tests/all/hostile_text.rs

use crate::page::{Form, Page};
use crate::text::{cpu_list, time};
use wakeplace_engine::Explanation;
use wakeplace_engine::observe::{Placement, PlacementKind};
use wakeplace_policy_sys::{Dropped, NoEnergy, Reason, Seen};
use wakeplace_report::{Align, Style, Table};
use wakeplace_study::Answer;

/// On machines of more CPUs only those that were looked at are listed.
const ROWS_MAX: usize = 32;

/// "wake-up 17 of `t3` at 12.345 ms: CPU 2"; "wake-up 40 of the run (17 of `t3`) at ..." where the
/// run's were counted.
pub(super) fn title(
    placement: &Placement,
    time_ns: u64,
    of_run: Option<u64>,
    number: u64,
    task: &str,
) -> String {
    let what = match (placement.kind, of_run) {
        (PlacementKind::Wake, Some(of_run)) => {
            format!("wake-up {of_run} of the run ({number} of `{task}`)")
        }
        (PlacementKind::Wake, None) => format!("wake-up {number} of `{task}`"),
        (PlacementKind::Fork | PlacementKind::Exec, _) => format!("start of `{task}`"),
    };
    format!("{what} at {}: CPU {}", time(time_ns), placement.cpu)
}

/// A page: the CPU and why, then the state, the candidates and other policies.
pub(super) fn answer(answer: &Answer, style: Style) -> String {
    let e = &answer.explanation;
    let reason = e.placement.reason;
    let why = capital(answer.reason(reason));
    let chosen = format!("{why} ({}).", reason.name());
    let first = answer.why_not.as_ref().map_or(&chosen, |(_, why)| why);
    let of_run = answer.wakeup_of_run;
    let title = title(&e.placement, e.time_ns, of_run, e.number, &e.task.name);
    let mut page = Page::new(Form::Human(style), &title, first);
    page.section("decision");
    if answer.why_not.is_some() {
        page.paragraph(&chosen);
    }
    page.paragraph(&format!(
        "{} on {} under {}, seed {}",
        answer.experiment.workload.name,
        answer.platform().name,
        answer.experiment.policies[0].name(),
        answer.experiment.seeds[0],
    ));
    page.paragraph(&rule(answer));
    page.section("task");
    page.paragraph(&task(answer));
    page.section("candidates");
    let mut reasons = Sentences::default();
    page.table(&candidates(answer, &mut reasons));
    reasons.write(&mut page);
    page.paragraph(&legend(answer));
    let hidden = e
        .explained
        .candidates
        .iter()
        .filter(|seen| !is_listed(answer, seen))
        .count();
    if hidden > 0 {
        page.paragraph(&format!("{hidden} more CPUs were not looked at."));
    }
    if !e.others.is_empty() {
        page.section("the same state under other policies");
        let mut reasons = Sentences::default();
        page.table(&others(answer, &mut reasons));
        reasons.write(&mut page);
        if e.others.iter().any(|other| !other.same_signals) {
            page.paragraph(
                "* keeps its signals in another form; it is asked about those of this run.",
            );
        }
    }
    page.finish()
}

/// Sentences that many rows of a table share: each stands once, below it.
#[derive(Default)]
pub(super) struct Sentences(Vec<&'static str>);

impl Sentences {
    /// What stands for a sentence in the table.
    pub(super) fn mark(&mut self, sentence: &'static str) -> String {
        let known = self.0.iter().position(|known| *known == sentence);
        let at = known.unwrap_or_else(|| {
            self.0.push(sentence);
            self.0.len() - 1
        });
        format!("({})", at + 1)
    }

    /// The sentences below the table, numbered as the table names them.
    pub(super) fn write(&self, page: &mut Page) {
        for (at, sentence) in self.0.iter().enumerate() {
            page.paragraph(&format!("({}) {sentence}", at + 1));
        }
    }
}

/// The text with its first letter large.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Which rule decided, and why the one before it did not.
fn rule(answer: &Answer) -> String {
    let e = &answer.explanation;
    let choice = &e.explained.choice;
    let mut text = format!("rule {}: {}", choice.rule.name(), choice.rule.doc());
    if let Some(target) = e.explained.target {
        text += &format!(
            "; around CPU {target}, {} CPUs searched",
            e.explained.scanned
        );
    }
    let energy = e.explained.no_energy;
    if energy != NoEnergy::Asked && energy != NoEnergy::Kind {
        let why = e.energy_inactive.unwrap_or(energy.doc());
        text += &format!("; not energy-aware: {why}");
    }
    if e.placement.reason != choice.reason {
        text += &format!("; the CPU is gone: {}", Reason::NotAllowed.doc());
    }
    text
}

/// Who woke or made it, and where.
fn waker(e: &wakeplace_engine::Explanation) -> String {
    let cpu = e.placement.waker_cpu;
    let done = match e.placement.kind {
        PlacementKind::Wake => "woken",
        PlacementKind::Fork | PlacementKind::Exec => "made",
    };
    match &e.waker {
        Some(ran) if e.interrupt => {
            format!(
                "{done} by an interrupt on CPU {cpu}, which ran `{}`",
                ran.name
            )
        }
        Some(waker) => {
            let sync = if e.sync { ", about to sleep" } else { "" };
            format!("{done} by `{}` on CPU {cpu}{sync}", waker.name)
        }
        None if e.placement.kind == PlacementKind::Fork => {
            format!("{done} on CPU {cpu} by the thread that makes all others")
        }
        None => format!("{done} by an interrupt on CPU {cpu}"),
    }
}

/// The woken task's state in one sentence.
fn task(answer: &Answer) -> String {
    let e = &answer.explanation;
    let r = &e.task.record;
    let waker = waker(e);
    let cpus: Vec<u32> = (0..answer.platform().cpus.len() as u32)
        .filter(|cpu| r.allowed[*cpu as usize / 64] >> (cpu % 64) & 1 != 0)
        .collect();
    let runnable = answer.runnable(&e.task);
    let runnable = runnable.map_or_else(String::new, |signal| format!(", runnable {signal}"));
    format!(
        "`{}`: utilisation {} (estimate {}){runnable}, load {}, weight {}, hints {} to {}, may use \
         CPUs {}; runs {}; last on CPU {}; {waker}",
        e.task.name,
        r.avg.util_avg,
        e.task.util_est,
        r.avg.load_avg,
        r.weight,
        r.uclamp_min,
        r.uclamp_max,
        cpu_list(&cpus),
        duration(e),
        e.placement.prev_cpu,
    )
}

/// Whether a CPU has a row: all on small machines, else those that were looked at or asked for.
fn is_listed(answer: &Answer, seen: &Seen) -> bool {
    let few = answer.platform().cpus.len() <= ROWS_MAX;
    let asked = answer
        .why_not
        .as_ref()
        .is_some_and(|(cpu, _)| *cpu == seen.cpu);
    few || asked || seen.order > 0 || seen.dropped == Dropped::None
}

/// The CPUs that were looked at, in their order, with what spoke against each.
fn candidates(answer: &Answer, reasons: &mut Sentences) -> Table {
    let e = &answer.explanation;
    let unit = answer.power_unit();
    let energy = unit.map_or_else(|| "cost".to_owned(), |unit| format!("energy_{unit}"));
    let columns = [
        "cpu",
        "util",
        "runnable",
        "capacity",
        "spare",
        "fits",
        "idle_state",
        "clock_khz",
        &energy,
        "dropped",
    ];
    let mut table = Table::new("candidates", &columns).keys(1).optional("spare");
    for column in ["cpu", "util", "runnable", "capacity", "spare", "clock_khz"] {
        table = table.align(column, Align::Right);
    }
    table = table.align(&energy, Align::Right);
    let figure = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |n| n.to_string());
    for seen in e
        .explained
        .candidates
        .iter()
        .filter(|seen| is_listed(answer, seen))
    {
        let state = e.idle[seen.cpu as usize];
        let state = state.map(|at| answer.platform().idle_states[at as usize].name.as_str());
        table.row(vec![
            u64::from(seen.cpu).into(),
            u64::from(seen.util).into(),
            figure(seen.runnable).into(),
            u64::from(seen.capacity).into(),
            u64::from(seen.spare).into(),
            match seen.fits {
                0 => "no",
                1.. => "yes",
                _ => "but for its hint",
            }
            .into(),
            state.unwrap_or("-").into(),
            figure(seen.clock_khz).into(),
            seen.energy
                .map_or_else(|| "-".to_owned(), |energy| answer.shown_power(energy))
                .into(),
            if seen.cpu == e.placement.cpu {
                "chosen".into()
            } else {
                reasons.mark(answer.dropped(seen)).into()
            },
        ]);
    }
    table
}

/// What the columns count: with the task, or as it stands.
fn legend(answer: &Answer) -> String {
    let all = &answer.explanation.explained.candidates;
    let mut text = "util and spare are with the task on the CPU".to_owned();
    if all.iter().any(|seen| seen.runnable.is_some()) {
        text += "; runnable is the queue's own signal, without the task but for what it has left \
                 behind where it was last";
    }
    if all.iter().any(|seen| seen.clock_khz.is_some()) {
        text += match answer.power_unit() {
            Some(_) => {
                "; clock and energy are what the rule's estimate assumes with the task there"
            }
            None => {
                "; clock and cost are what the rule's estimate assumes with the task there; the \
                 cost has no unit, since the energy model has no powers"
            }
        };
    }
    text + "."
}

/// What other policies would have done.
fn others(answer: &Answer, reasons: &mut Sentences) -> Table {
    let mut table = Table::new("others", &["policy", "cpu", "reason"])
        .keys(1)
        .align("cpu", Align::Right);
    for other in &answer.explanation.others {
        let mark = if other.same_signals { "" } else { " *" };
        table.row(vec![
            format!("{}{mark}", other.policy).into(),
            u64::from(other.choice.cpu).into(),
            reasons.mark(answer.reason(other.choice.reason)).into(),
        ]);
    }
    table
}

/// A run's length with what is short, for people.
fn duration(e: &Explanation) -> String {
    let average = match e.task.record.dur_avg_ns {
        0 => "for a time not known yet".to_owned(),
        ns => format!("{} at a time", time(ns)),
    };
    match e.explained.short {
        None => average,
        Some(short) => format!(
            "{average}, {} (limit {})",
            if short.short { "short" } else { "not short" },
            time(short.limit_ns)
        ),
    }
}
