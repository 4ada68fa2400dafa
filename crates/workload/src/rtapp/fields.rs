//! Typed access to the keys of an object, by rt-app's type rules: no conversion between types, and
//! `null` is absent.
use crate::Dialect;
use crate::error::{Fault, Position};
use crate::json::{Kind, Member, Object, Value};
use wakeplace_text::nearest;

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

    pub(super) fn get(&self, key: &str) -> Option<&'a Member> {
        self.object.get(key)
    }

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

/// Unknown keys of one file that are compared with the known ones: each costs some microseconds.
const MAX_EXAMINED: u32 = 10_000;

/// Warnings of one file that are kept; a bound on memory.
const MAX_KEPT: usize = 1_000;

/// What is collected while a file is read, besides its structure.
#[derive(Default)]
pub(super) struct Notes {
    /// CPUs of the machine that `cpus` are checked against; None: not now.
    pub(super) nr_cpus: Option<u32>,
    /// How the file is to be read.
    pub(super) dialect: Dialect,
    /// Unknown keys compared with the known ones so far.
    pub(super) examined: u32,
    /// Remarks that stop nothing.
    pub(super) warnings: Vec<(Position, String)>,
    /// Warnings beyond `MAX_KEPT`, only counted.
    pub(super) more_warnings: usize,
    /// What rt-app runs and the simulator has no model of.
    pub(super) unmodelled: Vec<(Position, String)>,
}

impl Notes {
    pub(super) fn warn(&mut self, at: Position, message: impl Into<String>) {
        if self.warnings.len() < MAX_KEPT {
            self.warnings.push((at, message.into()));
        } else {
            self.more_warnings += 1;
        }
    }

    pub(super) fn unmodelled(&mut self, at: Position, what: impl Into<String>) {
        self.unmodelled.push((at, what.into()));
    }

    /// Warns of ignored keys that look like misspelt ones.
    pub(super) fn near_misses<'a>(
        &mut self,
        ignored: impl Iterator<Item = &'a Member>,
        names: &[&str],
    ) {
        for member in ignored {
            if names.contains(&member.key.as_str()) {
                continue;
            }
            self.examined += 1;
            if self.examined > MAX_EXAMINED {
                return;
            }
            if let Some(name) = nearest(&member.key, names.iter().copied()) {
                let message = format!("`{}` is ignored; did you mean `{name}`?", member.key);
                self.warn(member.at, message);
            }
        }
    }
}
