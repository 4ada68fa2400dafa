//! A decision of a tree's own code, for people: the CPU first (docs/guide/kernel.md, "In a run").
//!
//! Called by `explain` for people, and by `kernel diff` for examples; JSON is
//! `wakeplace_study::explain`'s. Words are free.
//!
//! What must stay: figures are the tree's own, in its own units, which differ between versions;
//! nothing is converted. What the core says stands beside them, never in their place. Tests by
//! part: crates/cli/tests/all/kernel_runs.rs::`a_decision_is_explained_by_the_trees_own_figures`
//! (that there is an answer; it reads the JSON). No test of its own: the words of all parts of the
//! page.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_decision_is_explained_by_the_trees_own_figures

use super::text::{Sentences, title};
use crate::page::{Form, Page};
use crate::text::cpu_list;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_report::{Align, Style, Table};
use wakeplace_study::TreeAnswer;

/// A page: the CPU, the state that the tree found, and what the core says to it.
pub(super) fn answer(answer: &TreeAnswer, style: Style) -> String {
    let told = &answer.told;
    let of_run = answer.wakeup_of_run;
    let title = title(
        &told.placement,
        told.time_ns,
        of_run,
        told.number,
        &told.task,
    );
    let mut page = Page::new(Form::Human(style), &title, &verdict(answer));
    page.section("decision");
    if let Some(cpu) = answer.why_not {
        page.paragraph(&why_not(answer, cpu));
    }
    page.paragraph(&format!(
        "{} on {} under {}, seed {}",
        answer.experiment.workload.name,
        answer.experiment.platform.name,
        answer.tree(),
        answer.experiment.seeds[0],
    ));
    page.paragraph(&circumstances(answer));
    page.section("task");
    page.paragraph(&task(answer));
    page.section("allowed CPUs, as the tree has them");
    let mut reasons = Sentences::default();
    page.table(&candidates(answer, &mut reasons));
    reasons.write(&mut page);
    if !told.decided.energies.is_empty() {
        page.section("energy of each performance domain, by the tree's em_cpu_energy()");
        page.table(&energies(answer));
    }
    if !answer.core.is_empty() {
        page.section("the same question to policies of the core");
        let mut reasons = Sentences::default();
        page.table(&others(answer, &mut reasons));
        reasons.write(&mut page);
    }
    page.finish()
}

/// A decision as an example: circumstances, the task and its CPUs.
pub(crate) fn example(page: &mut Page, answer: &TreeAnswer) {
    page.paragraph(&circumstances(answer));
    page.paragraph(&task(answer));
    let mut reasons = Sentences::default();
    page.table(&candidates(answer, &mut reasons));
    reasons.write(page);
}

/// What our model says to it.
fn verdict(answer: &TreeAnswer) -> String {
    let chosen = answer.told.placement.cpu;
    let Some(core) = answer.core.first() else {
        return "No policy of the core can be asked on this machine.".to_owned();
    };
    let choice = &core.explained.choice;
    let why = choice.reason.doc();
    match choice.cpu == chosen {
        true => format!("{} chooses it, too: {why}.", core.policy),
        false => format!("{} chooses CPU {}: {why}.", core.policy, choice.cpu),
    }
}

/// Why the tree did not take a CPU, as far as what it told says so.
fn why_not(answer: &TreeAnswer, cpu: u32) -> String {
    let chosen = answer.told.placement.cpu;
    if cpu == chosen {
        return format!("CPU {cpu} was chosen.");
    }
    if !answer.allowed().any(|choice| choice.cpu == cpu) {
        return format!("CPU {cpu} was not chosen: the task may not use it.");
    }
    let core = answer.core.first().map_or("", |core| core.policy.as_str());
    match answer.dropped(cpu) {
        Some(why) => format!("CPU {cpu} was not chosen. {core} would not take it: {why}."),
        None => format!("CPU {cpu} was not chosen, and {core} would take it."),
    }
}

/// The kernel's own flags (hexadecimal) and whether energy-aware placement was in force.
fn circumstances(answer: &TreeAnswer) -> String {
    let facts = &answer.told.decided.facts;
    let energy = match (facts.energy_aware != 0, facts.overutilized != 0) {
        (true, _) => "energy-aware placement is in force",
        (_, true) => "not energy-aware: a CPU is overutilized",
        _ => "not energy-aware: the root domain has no performance domains",
    };
    format!("flags {:#x} (the kernel's); {energy}", facts.flags)
}

/// Who woke or made it, and where.
fn waker(answer: &TreeAnswer) -> String {
    let (told, facts) = (&answer.told, &answer.told.decided.facts);
    let done = match told.placement.kind {
        PlacementKind::Wake => "woken",
        PlacementKind::Fork | PlacementKind::Exec => "placed",
    };
    let sync = if facts.sync != 0 {
        ", about to sleep"
    } else {
        ""
    };
    match (&told.waker, facts.in_interrupt != 0) {
        (Some(ran), true) => {
            let cpu = facts.cpu;
            format!("{done} by an interrupt on CPU {cpu}, which ran `{ran}`")
        }
        (Some(waker), false) => format!("{done} by `{waker}` on CPU {}{sync}", facts.cpu),
        (None, true) => format!("{done} by an interrupt on CPU {}", facts.cpu),
        (None, false) => format!("{done} by a thread of the kernel on CPU {}", facts.cpu),
    }
}

/// The woken task's state in one sentence, by the tree's own figures.
fn task(answer: &TreeAnswer) -> String {
    let (told, facts) = (&answer.told, &answer.told.decided.facts);
    let party = &told.decided.party;
    let cpus: Vec<u32> = answer.allowed().map(|choice| choice.cpu).collect();
    format!(
        "`{}`: utilisation {} (estimate {}), load {}, weight {}, hints {} to {}, may use CPUs {}; \
         last on CPU {}; {}",
        told.task,
        facts.util,
        facts.util_est,
        party.load,
        party.weight,
        facts.uclamp_min,
        facts.uclamp_max,
        cpu_list(&cpus),
        facts.prev,
        waker(answer),
    )
}

/// The CPUs that the task may use, with the tree's own figures and what the core says of each.
fn candidates(answer: &TreeAnswer, reasons: &mut Sentences) -> Table {
    let core = answer.core.first().map_or("core", |core| &core.policy);
    let numbers = ["cpu", "util", "util_est", "runnable", "capacity", "queued"];
    let columns: Vec<&str> = numbers.into_iter().chain(["idle_state", core]).collect();
    let mut table = Table::new("candidates", &columns).keys(1);
    for column in numbers {
        table = table.align(column, Align::Right);
    }
    for choice in answer.allowed() {
        let number = |value: u32| u64::from(value).into();
        let awake = if choice.idle != 0 { "awake" } else { "busy" };
        let state = answer.idle[choice.cpu as usize].as_deref();
        let verdict = match answer.dropped(choice.cpu) {
            None => "would choose it".to_owned(),
            Some(why) => reasons.mark(why),
        };
        table.row(vec![
            number(choice.cpu),
            number(choice.util),
            number(choice.util_est),
            number(choice.runnable),
            number(choice.capacity),
            number(choice.nr_running),
            state.unwrap_or(awake).into(),
            verdict.into(),
        ]);
    }
    table
}

/// In the tree's own unit, which differs between versions.
fn energies(answer: &TreeAnswer) -> Table {
    let columns = ["first_cpu", "without", "roomiest_cpu", "with", "more"];
    let mut table = Table::new("energies", &columns).keys(1);
    for column in columns {
        table = table.align(column, Align::Right);
    }
    for energy in &answer.told.decided.energies {
        let best = energy.best();
        let of_best = |text: u64| best.map_or("-".to_owned(), |_| text.to_string());
        table.row(vec![
            u64::from(energy.first_cpu).into(),
            energy.without.into(),
            best.map_or("-".to_owned(), |cpu| cpu.to_string()).into(),
            of_best(energy.with).into(),
            of_best(energy.with.saturating_sub(energy.without)).into(),
        ]);
    }
    table
}

/// What policies of the core answer to the same question.
fn others(answer: &TreeAnswer, reasons: &mut Sentences) -> Table {
    let mut table = Table::new("core", &["policy", "cpu", "reason"])
        .keys(1)
        .align("cpu", Align::Right);
    for core in &answer.core {
        let choice = &core.explained.choice;
        table.row(vec![
            core.policy.as_str().into(),
            u64::from(choice.cpu).into(),
            reasons.mark(choice.reason.doc()).into(),
        ]);
    }
    table
}
