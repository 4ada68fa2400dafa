//! An ask as JSON: one key per argument. Other programs and languages hand it over so
//! (CONTRIBUTING.md, "Add an argument").
//!
//! What must stay: keys are names of arguments, and the playground and the Python module write
//! them; null, and false of a flag, are no value. An unknown key or a value of a wrong kind is
//! refused by name, with the nearest name or what was expected. Tests by part:
//! `json_is_the_same_question` (`deserialize`, `values`, `value`).
//!
//! Tests: crates/study/src/ask/tests.rs::json_is_the_same_question

use super::{Argument, Ask, Kind, Value, argument};
use crate::Source;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value as Json};

impl<'de> Deserialize<'de> for Ask {
    /// An object with a key per argument. The order of keys decides nothing between arguments.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Map::deserialize(deserializer)?;
        let mut ask = Self::default();
        for (name, json) in all {
            let argument = argument(&name).map_err(D::Error::custom)?;
            for value in values(argument, json).map_err(D::Error::custom)? {
                ask.give(argument, value);
            }
        }
        Ok(ask)
    }
}

/// The values of an argument. Null, and false of a flag, are none.
fn values(argument: &Argument, json: Json) -> Result<Vec<Value>, String> {
    match (argument.kind, json) {
        (_, Json::Null) | (Kind::Flag, Json::Bool(false)) => Ok(Vec::new()),
        (Kind::Flag, Json::Bool(true)) => Ok(vec![Value::from("")]),
        (Kind::Sources | Kind::Texts | Kind::Pairs, Json::Array(all)) => {
            all.iter().map(|one| value(argument, one)).collect()
        }
        (_, one) => Ok(vec![value(argument, &one)?]),
    }
}

/// A value in JSON for what the argument is; else what was expected.
fn value(argument: &Argument, json: &Json) -> Result<Value, String> {
    let pair = match json {
        Json::Array(pair) => match pair.as_slice() {
            [Json::String(first), Json::String(second)] => Some((first, second)),
            _ => None,
        },
        _ => None,
    };
    let wrong = |expected: &str| {
        let value = json.to_string();
        let value = wakeplace_text::shorten(&value);
        Err(format!("{}: {value}; expected {expected}", argument.name))
    };
    match (argument.kind, json, pair) {
        (Kind::Flag, ..) => wrong("true or false"),
        (_, Json::String(text), _) => Ok(Value::from(text.as_str())),
        (_, Json::Number(number), _) => Ok(Value::Text(number.to_string())),
        (Kind::Pairs, _, Some((key, value))) => Ok(Value::Text(format!("{key}={value}"))),
        (Kind::Sources, _, Some((name, text))) => Ok(Value::Source(Source::Text {
            name: name.clone(),
            text: text.clone(),
        })),
        _ => wrong(argument.expected),
    }
}
