//! Deadlines of chains of tasks, as a file says them (docs/guide/workloads.md, Deadlines): under
//! `_deadlines` of an rt-app file, which rt-app passes over, or in a file of their own.
//!
//! Called for `_deadlines` of a file and for `--deadlines`. The language stays. Times are µs in
//! files, ns here. Chains stand in the order of the file: metrics name them. Scripts change by
//! marks only: no step takes other time.
//!
//! What must stay: scripts change by marks only, no step takes other time; chains stand in the
//! order of the file, as metrics name them; a file of its own wins over `_deadlines`; times are µs
//! in files and ns here. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part:
//! `frames_begin_with_work_and_end_before_a_wait` (`apply`, `insert`, `events`),
//! `a_round_without_a_wait_is_no_end` (`end_with_the_last_pass`), `a_file_of_its_own_wins`
//! (`parse`, `with_deadlines`, all threads of a task, a task that is not there),
//! trace/tests/all/replay/frames.rs::`a_file_of_deadlines_wins` (`begins_a_frame`),
//! `what_is_wrong_is_said_with_its_place` (`declared`, `wrong_kind`, `named`), all (`read`, `work`,
//! `waits`, `waits_for_time`).
//!
//! Callers: crates/study/src/request.rs (`with_deadlines`).
//!
//! Tests: crates/workload/src/deadline/tests.rs

mod marked;
mod tasks;

pub use tasks::{ChainTasks, chain_tasks};

use crate::error::{Fault, Position, WorkloadError};
use crate::json::{self, Extensions, Kind, Value};
use crate::script::{Chain, Event, Loops, SLEEPS_ON_NS, TaskScript, Workload, task_of_thread};
use crate::{Spec, input};
use std::collections::BTreeSet;
use wakeplace_text::nearest;

/// The key of an rt-app file.
pub(crate) const KEY: &str = "_deadlines";
/// Most names of tasks in a message.
const MAX_NAMES: usize = 8;
/// Most chains: a thread has a bit for each.
pub const MAX_CHAINS: usize = 64;
/// What is said of a chain.
const KEYS: [&str; 3] = ["from", "to", "deadline"];

/// Deadlines of a file of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    file: String,
    chains: Vec<Declared>,
}

/// A chain as it was declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    name: String,
    from: (String, Position),
    to: (String, Position),
    deadline_ns: u64,
}

impl Deadlines {
    /// Reads a file: `{"NAME": {"from": "TASK", "to": "TASK", "deadline": 16667}}`, microseconds.
    /// Without `to` the first task is the last one, too.
    ///
    /// # Errors
    /// It cannot be read, or what is wrong in it, with its place.
    pub fn read(file: &str) -> Result<Self, WorkloadError> {
        Self::parse(&input::read(file)?, file)
    }

    /// The same of a text; `file` is its name in messages.
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn parse(text: &[u8], file: &str) -> Result<Self, WorkloadError> {
        let document = json::parse(text, Extensions::default());
        let chains = document.and_then(|document| declared(&document.root, "the root"));
        Ok(Self {
            file: file.to_owned(),
            chains: chains.map_err(|fault| fault.in_file(file))?,
        })
    }

    /// The file that they are from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Gives a workload these chains instead of its own; an error names their file.
    pub(crate) fn apply(&self, workload: &mut Workload) -> Result<(), WorkloadError> {
        apply(&self.chains, workload).map_err(|fault| fault.in_file(&self.file))
    }
}

impl Spec {
    /// The same with these deadlines, instead of those that its file has.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = Some(deadlines);
        self
    }
}

/// Reads chains by name.
pub(crate) fn declared(value: &Value, what: &str) -> Result<Vec<Declared>, Fault> {
    let Kind::Object(object) = &value.kind else {
        return Err(wrong_kind(value, what, "an object of chains"));
    };
    let members = object.collapsed();
    if let Some(over) = members.get(MAX_CHAINS) {
        let message = format!("more than {MAX_CHAINS} chains");
        return Err(Fault::unusable(over.at, message));
    }
    let mut chains = Vec::new();
    for member in members {
        let of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if member.key.is_empty() || !member.key.bytes().all(of_a_name) {
            let message = format!("`{}` is no name of a chain", member.key);
            return Err(Fault::unusable(member.at, message)
                .expected("letters, digits, `_` and `-`: it is part of metrics' names"));
        }
        let Kind::Object(chain) = &member.value.kind else {
            return Err(wrong_kind(&member.value, &member.key, "an object"));
        };
        let other = chain.members.iter().find(|one| !KEYS.contains(&&*one.key));
        if let Some(other) = other {
            let message = format!("unknown key `{}` of a chain", other.key);
            return Err(Fault::unusable(other.at, message).one_of(&other.key, &KEYS));
        }
        let missing = |key: &str| {
            let message = format!("`{key}` of chain `{}` is missing", member.key);
            Fault::unusable(member.at, message)
        };
        let task = |key: &str| match chain.get(key).map(|one| &one.value) {
            None => Ok(None),
            Some(value) => match &value.kind {
                Kind::Text(name) => Ok(Some((name.clone(), value.at))),
                _ => Err(wrong_kind(value, key, "the name of a task")),
            },
        };
        let from = task("from")?.ok_or_else(|| missing("from").expected("the name of a task"))?;
        let deadline = chain.get("deadline");
        let deadline = deadline.ok_or_else(|| missing("deadline").expected("microseconds"))?;
        let us = match deadline.value.kind {
            // The reader cuts longer numbers to the last one.
            Kind::Int(us) if us > 0 && us < i32::MAX => us.unsigned_abs(),
            _ => {
                let expected = "whole microseconds above 0 and up to 2147 s, as 16667";
                return Err(wrong_kind(&deadline.value, "deadline", expected));
            }
        };
        chains.push(Declared {
            name: member.key.clone(),
            to: task("to")?.unwrap_or_else(|| from.clone()),
            from,
            deadline_ns: u64::from(us) * 1000,
        });
    }
    Ok(chains)
}

/// The value is of another kind than the key takes.
fn wrong_kind(value: &Value, what: &str, expected: &str) -> Fault {
    let message = match value.kind {
        Kind::Int(number) => format!("`{what}` is {number}"),
        _ => format!("`{what}` is {}", value.kind.name()),
    };
    Fault::unusable(value.at, message).expected(expected)
}

/// Gives a workload the chains instead of its own: their events to the scripts of its first and
/// last tasks. Frames that a recording marks stay, with the new deadline.
pub(crate) fn apply(declared: &[Declared], workload: &mut Workload) -> Result<(), Fault> {
    let marked = marked::of(declared, workload)?;
    let judged = marked::judge(&marked, workload);
    for ((new, marked), own) in declared.iter().zip(&marked).zip(judged) {
        let chain = workload.chains.len() as u32;
        workload.chains.push(Chain {
            name: new.name.clone(),
            deadline_ns: new.deadline_ns,
            known: None,
            recorded: own.and_then(|own| own.recorded),
        });
        let firsts = match marked {
            Some(_) => Vec::new(),
            None => named(workload, &new.from)?,
        };
        for script in firsts {
            let script = &mut workload.tasks[script];
            if !events(script).any(begins_a_frame) {
                let message = format!("task `{}` has no timer and no sleep", new.from.0);
                return Err(Fault::unusable(new.from.1, message)
                    .expected("a first task that has: a frame begins when one of them ends"));
            }
            if events(script).any(|event| matches!(event, Event::FrameBegin { .. })) {
                return Err(marked::begins_another(new));
            }
            insert(script, |event| {
                work(event).then_some(Event::FrameBegin { chain, woken: None })
            });
        }
        let lasts = match marked {
            Some(marked) if marked.ends => Vec::new(),
            _ => named(workload, &new.to)?,
        };
        for script in lasts {
            let script = &mut workload.tasks[script];
            if !events(script).any(work) {
                let message = format!("task `{}` does nothing", new.to.0);
                return Err(Fault::unusable(new.to.1, message).expected("a last task that runs"));
            }
            insert(script, |event| {
                waits(event).then_some(Event::FrameEnd { chain, frame: None })
            });
            end_with_the_last_pass(script, chain);
        }
    }
    Ok(())
}

/// A script that ends has no wait after its last pass. Where the last phase goes round without one,
/// its end is not that of a pass.
fn end_with_the_last_pass(script: &mut TaskScript, chain: u32) {
    let Some(last) = script.phases.last_mut() else {
        return;
    };
    let mut steps = last
        .events
        .iter()
        .filter(|event| waits(**event) || work(**event));
    let begins_with_a_wait = steps.next().is_some_and(|event| waits(*event));
    if begins_with_a_wait || last.loops == Loops::Times(1) {
        last.events.push(Event::FrameEnd { chain, frame: None });
    }
}

/// All steps of a script, each once, whatever is repeated.
fn events(script: &TaskScript) -> impl Iterator<Item = Event> + '_ {
    script
        .phases
        .iter()
        .flat_map(|phase| phase.events.iter().copied())
}

/// Puts what a step asks for before the step.
fn insert(script: &mut TaskScript, before: impl Fn(Event) -> Option<Event>) {
    for phase in &mut script.phases {
        let with = |event: &Event| before(*event).into_iter().chain([*event]);
        phase.events = phase.events.iter().flat_map(with).collect();
    }
}

/// The step is work of the task itself.
fn work(event: Event) -> bool {
    matches!(
        event,
        Event::Run { .. } | Event::Runtime { .. } | Event::Stall { .. }
    )
}

/// The step waits for a time.
fn waits_for_time(event: Event) -> bool {
    matches!(event, Event::Timer { .. } | Event::Sleep { .. })
}

/// A frame can begin when the step is over; a recorded task's last sleep never is.
fn begins_a_frame(event: Event) -> bool {
    let sleeps_on = Event::Sleep {
        duration_ns: SLEEPS_ON_NS,
    };
    waits_for_time(event) && event != sleeps_on
}

/// The step waits for anything.
fn waits(event: Event) -> bool {
    let for_others = matches!(
        event,
        Event::Wait { .. } | Event::Await { .. } | Event::Barrier { .. } | Event::Io { .. }
    );
    for_others || waits_for_time(event)
}

/// The scripts of a task: of that name, or of that name with a thread's number.
fn named(workload: &Workload, (name, at): &(String, Position)) -> Result<Vec<usize>, Fault> {
    let scripts = || workload.tasks.iter().map(|task| &*task.name);
    let all = scripts().enumerate();
    let found = all.filter(|(_, script)| *script == name || task_of_thread(script) == name);
    let found: Vec<usize> = found.map(|(index, _)| index).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let fault = Fault::unusable(*at, format!("there is no task `{name}`"));
    let kinds: BTreeSet<&str> = scripts().map(task_of_thread).collect();
    let few: Vec<&str> = kinds.iter().take(MAX_NAMES).copied().collect();
    let more = if kinds.len() > few.len() { ", ..." } else { "" };
    let mut fault = fault.expected(format!("one of {}{more}", few.join(", ")));
    fault.nearest = nearest(name, kinds.iter().copied()).map(str::to_owned);
    Err(fault)
}

#[cfg(test)]
mod tests;
