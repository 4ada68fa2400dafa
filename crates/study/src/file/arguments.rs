//! The arguments that a file of a study or a sweep may have at its top: those of the command line.

use crate::error::Flaw;
use crate::{About, Ask, AskError, Command, Request, argument};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file in two parts: the arguments that `command` takes, and the rest.
pub(crate) fn split<'t, T: Deserialize<'t>>(
    text: &'t str,
    command: Command,
    request: &mut Request,
) -> Result<T, Flaw> {
    let mut table = DeTable::parse(text).map_err(|error| Flaw::from_toml(&error, &[]))?;
    let names: Vec<&str> = { crate::ARGUMENTS.iter() }
        .filter(|one| one.is_taken_by(command))
        .map(|one| one.name)
        .collect();
    let own = |key: &str| names.contains(&key);
    let keys: Vec<_> = { table.get_ref().keys() }
        .filter(|key| own(key.get_ref()))
        .cloned()
        .collect();
    for key in keys {
        if let Some(value) = table.get_mut().remove(&key) {
            take(key.get_ref(), &value, request)?;
        }
    }
    T::deserialize(toml::de::Deserializer::from(table))
        .map_err(|error| Flaw::from_toml(&error, &names))
}

/// Changes the request by an argument.
fn take(name: &str, value: &Spanned<DeValue<'_>>, request: &mut Request) -> Result<(), Flaw> {
    let all = match value.get_ref() {
        DeValue::Array(all) => all.iter().collect(),
        _ => vec![value],
    };
    for one in all {
        let place = one.span().start;
        let mut ask = Ask::default();
        let argument = argument(name).expect("a name of the list");
        match one.get_ref() {
            DeValue::String(text) => ask.give(argument, text.as_ref()),
            DeValue::Boolean(true) if argument.is_flag() => ask.give(argument, ""),
            DeValue::Boolean(false) if argument.is_flag() => {}
            _ => {
                let expected = match argument.is_flag() {
                    true => "expected true or false",
                    false => "expected a text in quotes",
                };
                return Err(Flaw::new(
                    place,
                    format!("`{name}` is no such value"),
                    expected,
                ));
            }
        }
        let applied = ask.apply(request, &mut About::default());
        applied.map_err(|error| match error {
            AskError::Value { argument, why } => {
                Flaw::from_message(place, &format!("{argument}: {why}"))
            }
            other => Flaw::from_message(place, &other.to_string()),
        })?;
    }
    Ok(())
}
