//! Which keys rt-app looks up in which object, and what is said of others. rt-app passes over a key
//! that it does not know, and so do runs here (docs/rules/rt-app.md#rt-app-json): the file may say
//! less than its author meant. The lists are those of rt-app's parser
//! (docs/rules/rt-app.md#rt-app-global, docs/rules/rt-app.md#rt-app-task); `start_spread` alone is
//! not rt-app's.
//!
//! Called by all readers of this folder. Only warnings come from here: no key changes a run.
//!
//! What must stay: a key that this folder reads is in a list here, or a good file gets a warning;
//! comments and `_` keys are silent. Free: what leaves scripts as they are (ARCHITECTURE.md, "What
//! a change may touch"), and words of messages that no test quotes. Tests by part:
//! `a_key_that_nothing_reads_is_named` (`unknown`, `hint`, `meant`, `has_events`),
//! `a_key_beside_the_tasks_that_nothing_reads_is_named` (`warn_of_unknown`, `name`),
//! `known_keys_and_remarks_are_silent` (`keys`, `without_number`, `is_comment`; it lacks
//! `resources`, `start_spread`, `nodes_membind`, `phases` and the keys of a `memrun`),
//! `equal_warnings_are_one` (warnings of a sort), said.rs::`refusals_of_rtapp_files_name_the_key`
//! (`first_unknown`).
//!
//! Tests: crates/workload/tests/all/rtapp_keys.rs, crates/cli/tests/all/said.rs
use super::event::{WORDS, event_word};
use super::notes::Notes;
use crate::error::Position;
use crate::json::{Member, Object};
use wakeplace_text::{did_you_mean, nearest};

/// An object of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Global,
    Task,
    Phase,
    Timer,
    Condition,
    MemRun,
}

const ROOT: [&str; 3] = ["tasks", "global", "resources"];

const GLOBAL: [&str; 14] = [
    "duration",
    "default_policy",
    "calibration",
    "log_size",
    "logdir",
    "log_basename",
    "ftrace",
    "gnuplot",
    "lock_pages",
    "pi_enabled",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
    "start_spread",
];

/// Keys of tasks and phases, besides their events.
const SHARED: [&str; 11] = [
    "loop",
    "cpus",
    "nodes_membind",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "util_min",
    "util_max",
    "taskgroup",
];

/// Keys that only a task has.
const TASK: [&str; 6] = [
    "instance", "delay", "phases", "runtime", "period", "deadline",
];

/// Names that other versions and other programs have for a key: rt-app before 2015 (`exec`, and
/// `iterations` of its descendant rt-bench), the kernel (`uclamp_min`, `nice`), taskset.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("exec", "run"),
    ("exec_time", "run"),
    ("iterations", "loop"),
    ("repeat", "loop"),
    ("uclamp_min", "util_min"),
    ("uclamp_max", "util_max"),
    ("nice", "priority"),
    ("affinity", "cpus"),
    ("cpumask", "cpus"),
    ("cgroup", "taskgroup"),
];

impl Place {
    /// The keys that rt-app looks up in such an object.
    fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Root => ROOT.to_vec(),
            Self::Global => GLOBAL.to_vec(),
            Self::Task => [&SHARED[..], &TASK].concat(),
            Self::Phase => SHARED.to_vec(),
            Self::Timer => vec!["ref", "period", "mode"],
            Self::Condition => vec!["ref", "mutex"],
            Self::MemRun => vec!["type", "size", "count", "stride", "pattern", "ref"],
        }
    }

    /// Keys that begin with the word of an event are events here.
    fn has_events(self) -> bool {
        matches!(self, Self::Task | Self::Phase)
    }

    /// The object in the words of a warning.
    fn name(self) -> &'static str {
        match self {
            Self::Root => "the file",
            Self::Global => "`global`",
            Self::Task => "a task",
            Self::Phase => "a phase",
            Self::Timer => "a `timer`",
            Self::Condition => "a `wait` or `sync`",
            Self::MemRun => "a `memrun`",
        }
    }
}

/// Warns of the keys of an object that rt-app passes over.
pub(super) fn warn_of_unknown(object: &Object, place: Place, notes: &mut Notes) {
    let keys = place.keys();
    for member in unknown(object, place, &keys) {
        let key = member.key.as_str();
        notes.warn_alike(member.at, &format!("{place:?} {key}"), || {
            let end = hint(key, place, &keys);
            format!("`{key}` is ignored: it is no key of {}{end}", place.name())
        });
    }
}

/// The keys that rt-app passes over.
fn unknown<'a>(
    object: &'a Object,
    place: Place,
    keys: &[&str],
) -> impl Iterator<Item = &'a Member> {
    object.members.iter().filter(move |member| {
        let key = member.key.as_str();
        let event = place.has_events() && event_word(key).is_some();
        !(event || keys.contains(&key) || is_comment(key))
    })
}

/// Where the first of them is, and what may be meant by it: it can be why a task has no event.
pub(super) fn first_unknown(object: &Object, place: Place) -> Option<Unknown> {
    let keys = place.keys();
    let member = unknown(object, place, &keys).next()?;
    let (elsewhere, nearest) = meant(&member.key, place, &keys);
    let but = elsewhere.map_or_else(String::new, |of| format!(", but of {}", of.name()));
    Some(Unknown {
        at: member.at,
        said: format!("`{}` is no key of {}{but}", member.key, place.name()),
        nearest,
    })
}

/// A key that rt-app passes over.
pub(super) struct Unknown {
    pub(super) at: Position,
    /// That it is none here.
    pub(super) said: String,
    /// What may be meant.
    pub(super) nearest: Option<&'static str>,
}

/// What may be meant by a key, as the end of a message.
fn hint(key: &str, place: Place, keys: &[&'static str]) -> String {
    match meant(key, place, keys) {
        (Some(elsewhere), _) => format!(", but of {}", elsewhere.name()),
        (None, name) => did_you_mean(name),
    }
}

/// What may be meant by a key: one of another place, or one of another name, or a slip.
fn meant(key: &str, place: Place, keys: &[&'static str]) -> (Option<Place>, Option<&'static str>) {
    let events: &[&str] = if place.has_events() { &WORDS } else { &[] };
    let here = || keys.iter().chain(events).copied();
    let lower = key.to_lowercase();
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == lower);
    let other = other.map(|(_, name)| *name);
    let other = other.filter(|name| here().any(|key| key == *name));
    let of = |place: &&Place| {
        let event = place.has_events() && WORDS.contains(&without_number(key));
        event || place.keys().contains(&key)
    };
    let elsewhere = [Place::Root, Place::Global, Place::Task];
    let elsewhere = elsewhere.iter().find(of).filter(|_| other.is_none());
    match elsewhere {
        Some(elsewhere) => (Some(*elsewhere), None),
        None => (None, other.or_else(|| nearest(key, here()))),
    }
}

/// Keys are numbered where a name is taken, as `run1` and `sleep_2`.
fn without_number(key: &str) -> &str {
    key.trim_end_matches(|last: char| last.is_ascii_digit() || last == '_')
}

/// JSON has no comments of its own: keys like these are remarks of the author.
fn is_comment(key: &str) -> bool {
    let sign = key.starts_with(|first: char| !first.is_alphanumeric());
    let words = ["comment", "comments", "description", "note", "notes"];
    sign || words.contains(&without_number(key).to_lowercase().as_str())
}
