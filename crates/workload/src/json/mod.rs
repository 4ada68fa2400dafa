//! JSON as json-c's non-strict tokener reads it, with the place of every value
//! (docs/rules/rt-app.md#rt-app-json).
//!
//! This is a reader of its own because the dialect is: json-c takes `010` as ten, `True`, `'text'`,
//! and anything after the closing brace, collapses duplicate keys, stops at 32 levels, and refuses
//! `#`, `0x10`, `+5` and unquoted keys. No JSON library for Rust reads that, and rt-app files that
//! mean one thing to rt-app must not mean another here. Source: json-c 0.16 json_tokener.c
//! (non-strict), with the results recorded from rt-app 55cb0c0.
//!
//! Called by `rtapp`, `deadline.rs` and `limits.rs`. What is accepted and what it means is json-c's
//! to say; only words of faults are free.
//!
//! What must stay: of equal keys the first has the place and the last the value; members keep the
//! order of the file, as rt-app makes tasks and events in it. Tests by part:
//! `duplicate_keys_keep_the_first_place_and_the_last_value` (`collapsed`, `get`),
//! `every_file_is_read_as_rtapp_reads_it` (the dialect, against rt-app's recorded answers),
//! `mutated_files_never_panic` and `large_inputs_are_refused_or_read_at_once` (harmful texts),
//! `what_cannot_run_here_names_its_place` (`name`).
//!
//! Tests: crates/workload/src/json/tests.rs, crates/workload/tests/all/corpus.rs,
//! crates/workload/tests/all/hostile.rs, crates/workload/tests/all/rtapp_files.rs
mod reader;
mod text;

use crate::error::Position;
pub(crate) use reader::{Document, Extensions, parse};
use std::collections::BTreeMap;
pub(crate) use text::Text;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) at: Position,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// An integer, saturated to 32 bits as `json_object_get_int` does.
    Int(i32),
    Float(f64),
    Text(String),
    Array(Vec<Value>),
    Object(Object),
}

impl Kind {
    /// The kind's name in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Int(_) => "an integer",
            Kind::Float(_) => "a floating-point number",
            Kind::Text(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }
}

/// One key of an object with its value; `at` is where the key stands (the last one of duplicates).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) at: Position,
    pub(crate) value: Value,
}

/// An object: its keys in the order in which each first appeared, with the value it had last; with
/// `Extensions::keep_duplicates` all keys as they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) members: Vec<Member>,
}

impl Object {
    /// The member of that name; like json-c, `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&Member> {
        let member = self.members.iter().rfind(|member| member.key == key)?;
        (member.value.kind != Kind::Null).then_some(member)
    }

    /// The members as json-c has them even if duplicates were kept.
    pub(crate) fn collapsed(&self) -> Vec<&Member> {
        let mut places = BTreeMap::new();
        let mut members: Vec<&Member> = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let place = *places.entry(&*member.key).or_insert(members.len());
            match members.get_mut(place) {
                Some(old) => *old = member,
                None => members.push(member),
            }
        }
        members
    }
}
