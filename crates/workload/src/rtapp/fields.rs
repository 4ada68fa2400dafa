//! Typed access to the keys of an object, by rt-app's type rules: no conversion between types, and
//! `null` is absent (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by all readers of this folder. A type that rt-app refuses is refused here, at the value's
//! place.
//!
//! What must stay: no value is converted to another type, `null` is an absent key. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `values_of_the_wrong_type_are_refused_at_their_place`
//! (`wrong_type`, `text`, `int`), `what_cannot_run_here_names_its_place` (`int`: a string for a
//! number), `every_file_is_read_as_rtapp_reads_it` (`get`, `required_int`, `boolean`),
//! rtapp_keys.rs::`a_refusal_names_the_key` (messages), all (`of`).
//!
//! Tests: crates/workload/tests/all/rtapp_files.rs, crates/workload/tests/all/corpus.rs,
//! crates/workload/tests/all/rtapp_keys.rs
use crate::error::{Fault, Position};
use crate::json::{Kind, Member, Object, Value};

/// An object and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) at: Position,
    pub(super) object: &'a Object,
}

impl<'a> Fields<'a> {
    /// The fields of a value that must be an object; `what` says what it is.
    pub(super) fn of(value: &'a Value, what: &str) -> Result<Self, Fault> {
        match &value.kind {
            Kind::Object(object) => Ok(Self {
                at: value.at,
                object,
            }),
            kind => Err(wrong_type(value.at, what, kind, "an object")),
        }
    }

    /// The member of that key; `null` is absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Member> {
        self.object.get(key)
    }

    /// An integer of 32 bits, if the key is there.
    pub(super) fn int(&self, key: &str) -> Result<Option<i32>, Fault> {
        self.get(key)
            .map(|member| int(&member.value, key))
            .transpose()
    }

    /// An integer that must be there.
    pub(super) fn required_int(&self, key: &str) -> Result<i32, Fault> {
        let missing = || Fault::invalid(self.at, format!("`{key}` is missing"));
        self.int(key)?
            .ok_or_else(|| missing().expected("an integer"))
    }

    /// A truth value, else the default; numbers are none.
    pub(super) fn boolean(&self, key: &str, default: bool) -> Result<bool, Fault> {
        match self.get(key).map(|member| &member.value) {
            None => Ok(default),
            Some(Value {
                kind: Kind::Bool(value),
                ..
            }) => Ok(*value),
            Some(value) => Err(wrong_type(value.at, key, &value.kind, "true or false")),
        }
    }

    /// A string, if the key is there.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, Fault> {
        self.get(key)
            .map(|member| text(&member.value, key))
            .transpose()
    }
}

/// An integer value.
pub(super) fn int(value: &Value, key: &str) -> Result<i32, Fault> {
    match &value.kind {
        Kind::Int(number) => Ok(*number),
        kind => Err(wrong_type(value.at, key, kind, "an integer, as in 16000")),
    }
}

/// A string value.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, Fault> {
    match &value.kind {
        Kind::Text(text) => Ok(text),
        kind => Err(wrong_type(value.at, key, kind, "a string")),
    }
}

/// Says that a value has the wrong type.
pub(super) fn wrong_type(at: Position, key: &str, found: &Kind, expected: &str) -> Fault {
    Fault::invalid(at, format!("`{key}` is {}", found.name())).expected(expected)
}
