//! Events (rt-app 55cb0c0 src/rt-app_parse_config.c, `parse_task_event_data`).
use super::fields::{Fields, Notes, int, text};
use super::structure::{Action, Step};
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
    let none = |names: String| Action::Unmodelled {
        word,
        names,
        count: 0,
    };
    let action = match word {
        "run" => Action::Run(int(value, key)?),
        "runtime" => Action::Runtime(int(value, key)?),
        "sleep" => Action::Sleep(int(value, key)?),
        "timer" => read_timer(member, notes)?,
        "mem" | "iorun" => Action::Unmodelled {
            word,
            names: String::new(),
            count: int(value, key)?,
        },
        "memrun" => read_memrun(member, buffers)?,
        "wait" | "sync" => none(condition(value)?),
        "suspend" => none(format!("{task}:{task}")),
        "yield" => Action::Yield,
        _ => none(text(value, key)?.to_owned()),
    };
    if matches!(action, Action::Unmodelled { .. }) {
        notes.unmodelled(member.at, format!("event `{key}` ({word})"));
    }
    Ok(Step {
        key: key.clone(),
        at: member.at,
        action,
    })
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
        notes.near_misses(fields.object.members.iter(), &["ref", "period", "mode"]);
        reference = fields.text("ref")?.unwrap_or(reference);
        period_us = fields.int("period")?.unwrap_or(0);
        if fields.text("mode")? == Some("absolute") {
            mode = TimerMode::Absolute;
        }
    }
    if period_us == 0 {
        let message = format!("`{}` has no period: it never waits", member.key);
        notes.warn(member.at, message);
    }
    Ok(Action::Timer {
        reference: reference.to_owned(),
        period_us,
        mode,
    })
}

/// `ref:mutex` of an object; whatever is missing is called `unknown`, also without an object.
fn condition(value: &Value) -> Result<String, Fault> {
    let Kind::Object(_) = &value.kind else {
        return Ok("unknown:unknown".to_owned());
    };
    let fields = Fields::of(value, "condition")?;
    let reference = fields.text("ref")?.unwrap_or("unknown");
    let mutex = fields.text("mutex")?.unwrap_or("unknown");
    Ok(format!("{reference}:{mutex}"))
}

fn read_memrun(member: &Member, buffers: &mut Buffers) -> Result<Action, Fault> {
    let fields = Fields::of(&member.value, &member.key)?;
    let Some(kind) = fields.text("type")? else {
        return Err(
            Fault::invalid(fields.at, "`type` is missing").one_of("", &["read", "write", "chase"])
        );
    };
    if !["read", "write", "chase"].contains(&kind) {
        let at = fields
            .get("type")
            .map_or(fields.at, |member| member.value.at);
        return Err(Fault::invalid(at, format!("`memrun` cannot `{kind}`"))
            .one_of(kind, &["read", "write", "chase"]));
    }
    let size = fields.required_int("size")?;
    let count = fields.required_int("count")?;
    let (mut stride, mut random) = (0, false);
    if kind == "chase" {
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
    Ok(Action::Unmodelled {
        word: "memrun",
        names: reference.to_owned(),
        count,
    })
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
