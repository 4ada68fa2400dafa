//! Events (rt-app 55cb0c0 src/rt-app_parse_config.c, `parse_task_event_data`)
//! (docs/rules/rt-app.md#rt-app-events).
//!
//! Called by `rtapp/task.rs`. Which words are events, their defaults and types are rt-app's: they
//! stay. Times are rt-app's µs. Warnings are free.
//!
//! What must stay: a key is the event of the first word of rt-app's list that it begins with; a
//! value of a wrong type is refused at its place. Tests by part:
//! `every_file_is_read_as_rtapp_reads_it` (`event_word`, `read_event`, against rt-app's answers),
//! `values_of_the_wrong_type_are_refused_at_their_place` (`read_event`),
//! `a_yield_is_an_event_whatever_its_value` (`yield`),
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (`read_timer`),
//! `warnings_name_what_may_not_be_meant` (`warn_of_prefix`), `the_dialect_suspend_ref`
//! (`read_suspend`), `resources_are_keyed_by_name_and_type` (`condition`, `share`),
//! `memory_events_that_cannot_be` (`read_memrun`).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_events.rs
use super::fields::{Fields, int, text, wrong_type};
use super::keys::{Place, warn_of_unknown};
use super::notes::Notes;
use super::structure::{Access, Action, MemRun, Step};
use crate::error::Fault;
use crate::json::{Kind, Member, Value};
use crate::script::TimerMode;
use std::collections::BTreeMap;

/// A key is an event if it begins with one of these; the first that fits decides, so the order
/// matters (`runtime` before `run`, `memrun` before `mem`).
pub(super) const WORDS: [&str; 20] = [
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer",
    "suspend", "resume", "memrun", "mem", "iorun", "yield", "barrier", "fork", "sem_post",
    "sem_wait",
];

/// The buffers that `memrun` events of several tasks share by `ref`.
pub(super) type Buffers = BTreeMap<String, Buffer>;

/// What the events that share a buffer must agree on.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Buffer {
    size: i32,
    stride: i32,
    random: bool,
}

/// The event word a key begins with.
pub(super) fn event_word(key: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| key.starts_with(word))
}

/// Reads one event; `task` is the name of its task.
pub(super) fn read_event(
    member: &Member,
    word: &'static str,
    task: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Step, Fault> {
    let (key, value) = (&member.key, &member.value);
    warn_of_prefix(member, word, notes);
    let name = || text(value, key).map(str::to_owned);
    let action = match word {
        "run" => Action::Run(int(value, key)?),
        "runtime" => Action::Runtime(int(value, key)?),
        "sleep" => Action::Sleep(int(value, key)?),
        "timer" => read_timer(member, notes)?,
        "mem" => Action::Mem(int(value, key)?),
        "iorun" => Action::IoRun(int(value, key)?),
        "memrun" => read_memrun(member, buffers, notes)?,
        "wait" => {
            let (condition, mutex) = condition(value, notes)?;
            Action::Wait { condition, mutex }
        }
        "sync" => {
            let (condition, mutex) = condition(value, notes)?;
            Action::Sync { condition, mutex }
        }
        "signal" | "broad" => Action::Signal {
            condition: name()?,
            all: word == "broad",
        },
        "lock" => Action::Lock(name()?),
        "unlock" => Action::Unlock(name()?),
        "suspend" => read_suspend(member, task, notes)?,
        "resume" => Action::Resume(name()?),
        "barrier" => Action::Barrier(name()?),
        "fork" => Action::Fork(name()?),
        "sem_post" => Action::SemPost(name()?),
        "sem_wait" => Action::SemWait(name()?),
        _ => Action::Yield,
    };
    Ok(Step {
        key: key.clone(),
        at: member.at,
        action,
    })
}

/// Since May 2025 the value is ignored; v1.0 demands a string and waits under that name, and
/// `workgen` puts the task's name where there is no value (docs/rules/rt-app.md#rt-app-dialects).
fn read_suspend(member: &Member, task: &str, notes: &mut Notes) -> Result<Action, Fault> {
    let given = match &member.value.kind {
        Kind::Text(name) => Some(name.as_str()).filter(|name| *name != task),
        Kind::Null if notes.dialect.workgen => None,
        kind if notes.dialect.suspend_ref => {
            return Err(wrong_type(member.value.at, &member.key, kind, "a string"));
        }
        _ => None,
    };
    let Some(name) = given else {
        return Ok(Action::Suspend(task.to_owned()));
    };
    let (as_read, otherwise) = match notes.dialect.suspend_ref {
        true => (name, format!("`{task}` for rt-app since May 2025")),
        false => (
            task,
            format!("`{name}` for rt-app v1.0: `--rtapp-dialect suspend-ref` reads it so"),
        ),
    };
    notes.warn_alike(member.at, "suspend", || {
        format!("`{}` waits under `{as_read}`; {otherwise}", member.key)
    });
    Ok(Action::Suspend(as_read.to_owned()))
}

/// `run0` and `run_a` are how events are repeated; `runner` may be meant otherwise.
fn warn_of_prefix(member: &Member, word: &str, notes: &mut Notes) {
    let rest = &member.key[word.len()..];
    let ending = word == "broad" && rest.starts_with("cast");
    if !ending && rest.starts_with(|c: char| c.is_alphabetic()) {
        let message = format!(
            "`{}` begins with `{word}` and is taken as that event",
            member.key
        );
        notes.warn(member.at, message);
    }
}

/// A timer without an object, or without `ref`, is the shared timer `unknown`.
fn read_timer(member: &Member, notes: &mut Notes) -> Result<Action, Fault> {
    let (mut reference, mut period_us, mut mode) = ("unknown", 0, TimerMode::Relative);
    if let Kind::Object(_) = &member.value.kind {
        let fields = Fields::of(&member.value, &member.key)?;
        warn_of_unknown(fields.object, Place::Timer, notes);
        reference = fields.text("ref")?.unwrap_or(reference);
        period_us = fields.int("period")?.unwrap_or(0);
        if fields.text("mode")? == Some("absolute") {
            mode = TimerMode::Absolute;
        }
    }
    if period_us == 0 {
        notes.warn_alike(member.at, "no period", || {
            format!("`{}` has no period: it never waits", member.key)
        });
    }
    Ok(Action::Timer {
        reference: reference.to_owned(),
        period_us,
        mode,
    })
}

/// `ref` and `mutex` of an object; whatever is missing is called `unknown`, also without an object.
fn condition(value: &Value, notes: &mut Notes) -> Result<(String, String), Fault> {
    let (mut reference, mut mutex) = ("unknown", "unknown");
    if let Kind::Object(_) = &value.kind {
        let fields = Fields::of(value, "condition")?;
        warn_of_unknown(fields.object, Place::Condition, notes);
        reference = fields.text("ref")?.unwrap_or(reference);
        mutex = fields.text("mutex")?.unwrap_or(mutex);
    }
    Ok((reference.to_owned(), mutex.to_owned()))
}

/// The event `memrun`.
fn read_memrun(member: &Member, buffers: &mut Buffers, notes: &mut Notes) -> Result<Action, Fault> {
    let fields = Fields::of(&member.value, &member.key)?;
    warn_of_unknown(fields.object, Place::MemRun, notes);
    let Some(kind) = fields.text("type")? else {
        return Err(
            Fault::invalid(fields.at, "`type` is missing").one_of("", &["read", "write", "chase"])
        );
    };
    let access = match kind {
        "read" => Access::Read,
        "write" => Access::Write,
        "chase" => Access::Chase,
        _ => {
            let member = fields.get("type");
            let at = member.map_or(fields.at, |member| member.value.at);
            return Err(Fault::invalid(at, format!("`memrun` cannot `{kind}`"))
                .one_of(kind, &["read", "write", "chase"]));
        }
    };
    let size = fields.required_int("size")?;
    let count = fields.required_int("count")?;
    let (mut stride, mut random) = (0, false);
    if access == Access::Chase {
        stride = fields.int("stride")?.unwrap_or(64);
        random = fields.text("pattern")? != Some("sequential");
    }
    let reference = fields.text("ref")?.unwrap_or("");
    if !reference.is_empty() {
        let buffer = Buffer {
            size,
            stride,
            random,
        };
        share(buffers, reference, buffer, fields)?;
    }
    Ok(Action::MemRun(MemRun {
        access,
        size,
        count,
        stride,
        random,
        reference: reference.to_owned(),
    }))
}

/// Events that name the same buffer must agree on its size, stride and pattern.
fn share(buffers: &mut Buffers, name: &str, new: Buffer, fields: Fields<'_>) -> Result<(), Fault> {
    let old = *buffers.entry(name.to_owned()).or_insert(new);
    if old == new {
        return Ok(());
    }
    let message = format!("`memrun` buffer `{name}` has another size, stride or pattern elsewhere");
    let expected = format!("size {} and stride {}", old.size, old.stride);
    Err(Fault::invalid(fields.at, message).expected(expected))
}
