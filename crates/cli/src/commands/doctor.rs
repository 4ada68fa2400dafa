//! `doctor`: what this machine has and lacks (docs/guide/live.md, "Run"). It changes nothing of the
//! machine; keys of its JSON stay.
//!
//! The order of checks is `wakeplace_host`'s. Words of the page are free.
//!
//! What must stay: keys of `object`, and names of checks. Exit code 3 only where the simulator
//! itself cannot run. Of another machine's tree nothing is tried (`--root`). What is missing but
//! only wished for is not red. Tests by part:
//! `the_sum_names_what_stops_it_and_what_it_does_without` (`sum`, `runs_without`),
//! crates/cli/tests/all/results.rs::`doctor_says_what_is_there` (`object`, `page`),
//! crates/cli/tests/all/interception.rs::`doctor_says_which_way_calls_take` (`interception`),
//! crates/cli/tests/all/kernel.rs::`missing_tools_are_named`,
//! crates/cli/tests/all/doctor.rs::`of_another_machine_nothing_is_looked_for` (`of_this_machine`),
//! crates/cli/tests/all/help.rs::`colour_only_where_it_is_wanted` (`mark`),
//! crates/cli/tests/all/hostile_text.rs::`what_doctor_found_is_harmless` (`fact`),
//! crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (`--root`).
//!
//! Tests: below, crates/cli/tests/all/results.rs::doctor_says_what_is_there,
//! crates/cli/tests/all/interception.rs, crates/cli/tests/all/kernel.rs::missing_tools_are_named,
//! crates/cli/tests/all/help.rs, crates/cli/tests/all/hostile_text.rs,
//! crates/cli/tests/all/bad_input.rs, crates/cli/tests/all/doctor.rs

use crate::args::{AnswerFormat, DoctorArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::terminal::Terminal;
use crate::text::{heading, json, style, wrapped};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use wakeplace_host::{Check, NeededFor, Probe, State, WORSE, can_run};
use wakeplace_report::Style;

/// Columns of the name and the mark before a fact.
const NAME_WIDTH: usize = 18;

/// What is found of programs and caches of a machine that is not this one.
const ELSEWHERE: &str = "another machine's: this one's programs and caches say nothing of it";

/// `doctor`.
pub(crate) fn run(args: &DoctorArgs, terminal: Terminal) -> Outcome {
    if !args.root.is_dir() {
        let root = args.root.display();
        return Err(Failure::Input(format!(
            "{root}: is no folder; expected the root of a tree"
        )));
    }
    let mut checks = Probe::new(&args.root).checks();
    checks.push(interception(&args.root));
    checks.extend(of_this_machine(
        &args.root,
        wakeplace_kernel_tree::doctor::checks,
    ));
    checks.extend(of_this_machine(&args.root, wakeplace_lab::doctor::checks));
    let text = match args.form.format {
        AnswerFormat::Human => page(&checks, style(terminal)),
        AnswerFormat::Json => json(&object(&checks)),
    };
    terminal.print(&text)?;
    if can_run(&checks, NeededFor::Simulator) {
        return Ok(Verdict::Ok);
    }
    Err(Failure::Environment(
        "the simulator cannot run on this machine; see above".to_owned(),
    ))
}

/// Can the system calls of a loader be answered? Tried out, on this machine only.
fn interception(root: &Path) -> Check {
    let (state, found) = match root == Path::new("/") {
        false => (
            State::Unknown,
            "another machine's: cannot be tried here".to_owned(),
        ),
        true => match wakeplace_foreign::probe_interception() {
            Ok(interception) => (State::Ok, interception.to_string()),
            Err(error) => (State::Missing, error.to_string()),
        },
    };
    let remedy = match state {
        State::Missing => {
            "allow seccomp filters with user notification, or ptrace, in the container's profile"
        }
        _ => "",
    };
    Check {
        name: "interception",
        state,
        found,
        remedy: remedy.to_owned(),
        needed_for: NeededFor::ForeignSchedulers,
        required: true,
        without: WORSE,
    }
}

/// Programs and what was fetched, which are looked for on this machine only: they say nothing of
/// another one, and nothing is asked of it.
fn of_this_machine(root: &Path, checks: fn() -> Vec<Check>) -> Vec<Check> {
    let mut checks = checks();
    if root != Path::new("/") {
        for check in &mut checks {
            check.state = State::Unknown;
            ELSEWHERE.clone_into(&mut check.found);
            check.remedy.clear();
            check.required = false;
        }
    }
    checks
}

/// For people: per home what is there, what is missing, and what to do about it.
fn page(checks: &[Check], look: Style) -> String {
    let mut text = String::new();
    for (home, title, what) in [
        (
            NeededFor::Simulator,
            "Simulator",
            "`wakeplace sim`, `compare` and `study run`",
        ),
        (
            NeededFor::LiveScheduler,
            "Live scheduler",
            "`scx_wakeplace`",
        ),
        (
            NeededFor::ForeignSchedulers,
            "Schedulers of others",
            "`--scheduler` of `sim` and `compare`",
        ),
        (
            NeededFor::KernelTrees,
            "Kernel trees",
            "`wakeplace kernel build`",
        ),
        (NeededFor::Lab, "Lab", "`wakeplace lab run`"),
    ] {
        text.push_str(&heading(&format!("{title}: {what}"), look));
        let own = checks.iter().filter(|check| check.needed_for == home);
        own.for_each(|check| text.push_str(&fact(check, look)));
        text.push_str(&format!("  => {}\n\n", sum(checks, home)));
    }
    text.trim_end().to_owned() + "\n"
}

/// One fact, and what to do about it.
fn fact(check: &Check, look: Style) -> String {
    let mark = mark(check, look);
    let indent = " ".repeat(NAME_WIDTH + 12);
    let found = wrapped(&check.found, &indent, look);
    let mut text = format!(
        "  {mark}{:<NAME_WIDTH$}  {}",
        check.name,
        found.trim_start()
    );
    if !check.remedy.is_empty() {
        let remedy = wrapped(&format!("to do: {}", check.remedy), &indent, look);
        let _ = write!(text, "{remedy}");
    }
    text
}

/// `ok`, `missing`, `unknown`; what is missing but only wished for is `absent`.
fn word(check: &Check) -> &'static str {
    match (check.state, check.required) {
        (State::Ok, _) => "ok",
        (State::Missing, true) => "missing",
        (State::Missing, false) => "absent",
        (State::Unknown, _) => "unknown",
    }
}

/// The word of a check in its colour: red only for what is missing and required. Eight columns
/// wide.
fn mark(check: &Check, look: Style) -> String {
    let word = format!("{:<8}", word(check));
    let color = match (check.state, check.required) {
        (State::Ok, _) => "32",
        (State::Missing, true) => "31",
        _ => "33",
    };
    if look.color {
        format!("\x1b[{color}m{word}\x1b[0m")
    } else {
        word
    }
}

/// One sentence: can this home run here?
fn sum(checks: &[Check], home: NeededFor) -> String {
    let all = || checks.iter().filter(|check| check.needed_for == home);
    if all().all(|check| check.state == State::Unknown && !check.required) {
        return "not known here".to_owned();
    }
    let own = || all().filter(|check| check.required);
    let names = |state: State| {
        let found = own()
            .filter(|check| check.state == state)
            .map(|check| check.name);
        found.collect::<Vec<_>>().join(", ")
    };
    let (missing, unknown) = (names(State::Missing), names(State::Unknown));
    match (can_run(checks, home), unknown.is_empty()) {
        (false, _) => format!("cannot run here, for lack of {missing}"),
        (true, true) => format!("can run here{}", runs_without(checks, home)),
        (true, false) => format!("may run here; not known: {unknown}"),
    }
}

/// What it runs without, and what happens then: those of which the same is said together.
fn runs_without(checks: &[Check], home: NeededFor) -> String {
    let absent = checks
        .iter()
        .filter(|c| c.needed_for == home && !c.required && c.state == State::Missing);
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for check in absent {
        match parts.iter_mut().find(|(words, _)| *words == check.without) {
            Some((_, names)) => names.push(check.name),
            None => parts.push((check.without, vec![check.name])),
        }
    }
    let parts = parts.iter();
    let parts = parts.map(|(words, names)| format!("{words} {}", names.join(", ")));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(", {}", parts.join("; ")),
    }
}

/// As JSON: one object per check. Its keys stay.
fn object(checks: &[Check]) -> Value {
    let check = |check: &Check| {
        json!({
            "name": check.name,
            "state": match check.state {
                State::Ok => "ok",
                State::Missing => "missing",
                State::Unknown => "unknown",
            },
            "found": check.found,
            "remedy": (!check.remedy.is_empty()).then_some(&check.remedy),
            "needed_for": match check.needed_for {
                NeededFor::Simulator => "simulator",
                NeededFor::LiveScheduler => "live-scheduler",
                NeededFor::ForeignSchedulers => "schedulers",
                NeededFor::KernelTrees => "kernel-trees",
                NeededFor::Lab => "lab",
            },
            "required": check.required,
        })
    };
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "simulator": can_run(checks, NeededFor::Simulator),
        "live_scheduler": can_run(checks, NeededFor::LiveScheduler),
        "schedulers": can_run(checks, NeededFor::ForeignSchedulers),
        "kernel_trees": can_run(checks, NeededFor::KernelTrees),
        "lab": can_run(checks, NeededFor::Lab),
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::sum;
    use wakeplace_host::{Check, NeededFor, State, WORSE};

    fn check(name: &'static str, state: State, required: bool) -> Check {
        Check {
            name,
            state,
            found: String::new(),
            remedy: String::new(),
            needed_for: NeededFor::LiveScheduler,
            required,
            without: WORSE,
        }
    }

    #[test]
    fn the_sum_names_what_stops_it_and_what_it_does_without() {
        let sum = |checks: &[Check]| sum(checks, NeededFor::LiveScheduler);
        let model = || check("energy-model", State::Missing, false);
        let btf = |state| check("btf", state, true);
        assert_eq!(sum(&[btf(State::Ok)]), "can run here");
        assert_eq!(
            sum(&[btf(State::Ok), model()]),
            "can run here, only worse without energy-model"
        );
        assert_eq!(
            sum(&[btf(State::Missing), model()]),
            "cannot run here, for lack of btf"
        );
        assert_eq!(sum(&[btf(State::Unknown)]), "may run here; not known: btf");
        let named = |name| check(name, State::Missing, false).without("fetched at first use:");
        assert_eq!(
            sum(&[named("sources"), model(), named("objects")]),
            "can run here, fetched at first use: sources, objects; only worse without energy-model"
        );
        let elsewhere = check("sources", State::Unknown, false);
        assert_eq!(sum(&[elsewhere]), "not known here");
    }
}
