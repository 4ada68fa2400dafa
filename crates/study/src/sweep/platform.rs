//! A platform with one value of its file changed (docs/guide/results.md, "Sweeps").
//!
//! What must stay: nothing but the value at the path changes, and it keeps its type; the changed
//! text is read and checked like any platform file; an error names the change, never a line of a
//! text that nobody has seen. Tests by part: `wrong_keys_and_values_are_named` (`changed`, `find`,
//! `like`, `refused`), `cells_are_points_by_seeds` (`changed`).
//!
//! Tests: crates/study/src/sweep/tests.rs

use super::vary;
use crate::{Source, StudyError};
use toml::Value;
use wakeplace_platform::{Platform, PlatformError};
use wakeplace_text::{did_you_mean, nearest};

/// Keys of a value in a platform's file begin with this.
pub(super) const PREFIX: &str = "platform.";

/// Why a changed platform is refused. The changes are named: a place would be one in a text that
/// nobody has seen. `unchanged`: what was changed; if it is wrong by itself, that is why.
pub(super) fn refused(
    error: PlatformError,
    unchanged: &[Source],
    labels: &[(String, String)],
) -> StudyError {
    let of_platform = labels.iter().filter(|(key, _)| key.starts_with(PREFIX));
    let changes: Vec<String> = of_platform.map(|(k, v)| format!("{k}={v}")).collect();
    if changes.is_empty() {
        return error.into();
    }
    if let Some(own) = unchanged.iter().find_map(|source| source.platform().err()) {
        return own;
    }
    match error {
        PlatformError::Invalid {
            problem,
            expected,
            hint,
            ..
        } => {
            let hint = did_you_mean(hint.as_deref());
            vary(&changes.join(", "), &format!("{problem}; {expected}{hint}"))
        }
        error => error.into(),
    }
}

/// The platform with the value at a path: keys joined by dots; an entry of a list by its number
/// from 0 or by its `name`.
pub(super) fn changed(source: &Source, path: &str, value: &str) -> Result<Source, StudyError> {
    let key = format!("{PREFIX}{path}");
    let (name, text) = match source {
        Source::Text { name, text } => (name.clone(), text.clone()),
        Source::File { name, bytes } => (name.clone(), String::from_utf8_lossy(bytes).into_owned()),
        Source::Named(name) => (name.clone(), Platform::source_text(name)?),
    };
    let mut table: Value = toml::from_str::<toml::Table>(&text)
        .map(Value::Table)
        .map_err(|error| vary(&key, error.message()))?;
    let place = find(&mut table, &key, path)?;
    *place = like(place, value).ok_or_else(|| {
        vary(
            &key,
            &format!(
                "`{value}` is no {} as the platform has it",
                place.type_str()
            ),
        )
    })?;
    let text = toml::to_string(&table).map_err(|error| vary(&key, &error.to_string()))?;
    Ok(Source::Text { name, text })
}

/// The value at a path of keys; a key that is not there is named with the nearest.
fn find<'a>(table: &'a mut Value, key: &str, path: &str) -> Result<&'a mut Value, StudyError> {
    let mut at = table;
    for part in path.split('.') {
        let known: Vec<String> = match &*at {
            Value::Table(table) => table.keys().cloned().collect(),
            Value::Array(all) => {
                let named = all.iter().filter_map(|entry| entry.get("name")?.as_str());
                named
                    .map(str::to_owned)
                    .chain((0..all.len()).map(|n| n.to_string()))
                    .collect()
            }
            _ => Vec::new(),
        };
        let wrong = || {
            let near = nearest(part, known.iter().map(String::as_str));
            let hint = match near {
                None if known.is_empty() => "; it has no parts".to_owned(),
                None => format!("; expected one of {}", known.join(", ")),
                near => did_you_mean(near),
            };
            vary(
                key,
                &format!("the platform's file has no `{part}` there{hint}"),
            )
        };
        let found = match at {
            Value::Table(table) => table.get_mut(part),
            Value::Array(all) => {
                let named = |entry: &Value| entry.get("name").and_then(Value::as_str) == Some(part);
                let by_name = all.iter().position(named);
                let index = by_name.or_else(|| part.parse().ok());
                index.and_then(|index| all.get_mut(index))
            }
            _ => None,
        };
        at = found.ok_or_else(wrong)?;
    }
    Ok(at)
}

/// The text as a value of the kind that stands there.
fn like(old: &Value, text: &str) -> Option<Value> {
    match old {
        Value::String(_) => Some(Value::String(text.to_owned())),
        Value::Integer(_) => text.parse().ok().map(Value::Integer),
        Value::Float(_) => text.parse().ok().map(Value::Float),
        Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
