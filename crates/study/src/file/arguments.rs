//! The arguments that a file of a study or a sweep may have at its top: those of the command line
//! (studies/README.md).
//!
//! What must stay: a key means what the option of that name means, with a value of its kind; errors
//! carry the byte offset of the value, which `error.rs` makes a line of. A new argument needs
//! nothing here. Tests by part: `a_value_of_another_kind_is_refused` (`take`, `kind`, `split`),
//! file/tests.rs::`errors_name_place_expectation_and_nearest` (keys of both kinds),
//! sweep/tests.rs::`a_file_says_the_same` (a sweep's file).
//!
//! Tests: below, crates/study/src/file/tests.rs,
//! crates/study/src/sweep/tests.rs::a_file_says_the_same

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
    let argument = argument(name).expect("a name of the list");
    let all = match value.get_ref() {
        DeValue::Array(all) if argument.takes_several() => all.iter().collect(),
        _ => vec![value],
    };
    for one in all {
        let mut ask = Ask::default();
        let place = one.span().start;
        match (argument.is_flag(), one.get_ref()) {
            (true, DeValue::Boolean(true)) => ask.give(argument, ""),
            (true, DeValue::Boolean(false)) => {}
            (false, DeValue::String(text)) => ask.give(argument, text.as_ref()),
            (is_flag, other) => {
                let expected = match is_flag {
                    true => "expected true or false",
                    false => "expected a text in quotes",
                };
                let problem = format!("`{name}` is {}", kind(other));
                return Err(Flaw::new(place, problem, expected));
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

/// What a value is, for people.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::{Command, Request};

    fn error(text: &str) -> String {
        let mut request = Request::default();
        let found = split::<toml::Table>(text, Command::SweepFile, &mut request);
        found.expect_err(text).locate("f.toml", text).to_string()
    }

    /// Goal: an argument in a file has the kind of value that it has anywhere else.
    #[test]
    fn a_value_of_another_kind_is_refused() {
        for (text, said) in [
            ("allow_unmodelled = \"no\"", "`allow_unmodelled` is a text"),
            ("allow_unmodelled = [true]", "expected true or false"),
            ("duration = [\"50ms\", \"9ms\"]", "`duration` is a list"),
            ("duration = 5", "`duration` is a number"),
            ("hotplug = [\"0s:1=off\"]", "expected a text in quotes"),
            ("set = [5]", "`set` is a number"),
        ] {
            let error = error(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        let text = "set = [\"a=1\", \"b=2\"]\nallow_unmodelled = true\nown = 1";
        let mut request = Request::default();
        let rest: toml::Table = split(text, Command::SweepFile, &mut request).ok().unwrap();
        assert_eq!((request.set.len(), rest.len()), (2, 1));
        assert!(request.load.allow_unmodelled);
    }
}
