//! What is compared: policies, each with what belongs to it alone (studies/README.md).
//!
//! What must stay: the first column is the base, from which changes are counted; names are in
//! results and in `STUDY/CASE/COLUMN`, so each stands once and has no `/`. Tests by part:
//! `columns_and_their_cases_are_read` (`columns`, `column`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`add`, `label`, `settings_of`, `policy`),
//! `rules_hold` (`plain`, too few).
//!
//! Tests: crates/study/src/file/tests.rs

use super::Column;
use super::raw::{RawColumn, Text};
use super::values::{at, hotplug, settings};
use crate::apply_settings;
use crate::error::Flaw;
use toml::Spanned;
use wakeplace_engine::Options;
use wakeplace_policy_sys::Policy;
use wakeplace_text::shorten;

/// Fewest columns: something and what it is compared with.
const LEAST: usize = 2;

type Names<'a> = Option<&'a Spanned<Vec<Text>>>;
type Tables<'a> = Option<&'a Spanned<Vec<RawColumn>>>;

/// The columns of a list of policies, or of tables; the base first. `start`: where neither is.
pub(super) fn columns((names, tables): (Names, Tables), start: usize) -> Result<Vec<Column>, Flaw> {
    let mut all: Vec<Column> = Vec::new();
    let place = match (names, tables) {
        (Some(names), None) => {
            for name in names.get_ref() {
                add(plain(name)?, ("policy", name), &mut all)?;
            }
            at(names)
        }
        (None, Some(tables)) => {
            for raw in tables.get_ref() {
                let (column, name) = column(raw)?;
                add(column, ("column", name), &mut all)?;
            }
            at(tables)
        }
        (Some(_), Some(tables)) => {
            let problem = "policies and columns";
            return Err(Flaw::new(at(tables), problem, "expected one of the two"));
        }
        (None, None) => {
            let expected = "expected `policies`, or [[column]] tables, the base first";
            return Err(Flaw::new(start, "nothing to compare", expected));
        }
    };
    if all.len() < LEAST {
        let what = if names.is_some() {
            "policies"
        } else {
            "columns"
        };
        let problem = format!("{} {what}", all.len());
        let expected = format!("expected at least {LEAST}, the base first");
        return Err(Flaw::new(place, problem, expected));
    }
    Ok(all)
}

/// Adds a column whose name is not there yet; `what` is the word for it in the error.
fn add(column: Column, (what, place): (&str, &Text), all: &mut Vec<Column>) -> Result<(), Flaw> {
    if all.iter().any(|other| other.name == column.name) {
        let problem = format!("{what} `{}` stands here twice", column.name);
        let expected = format!("expected each {what} once");
        return Err(Flaw::new(at(place), problem, expected));
    }
    all.push(column);
    Ok(())
}

/// The policy of a name, or where and why it is none.
fn policy(name: &Text) -> Result<Policy, Flaw> {
    Policy::parse(name.get_ref())
        .map_err(|e| Flaw::new(at(name), e.to_string(), "expected a policy"))
}

/// A policy and nothing else.
fn plain(name: &Text) -> Result<Column, Flaw> {
    let policy = policy(name)?;
    Ok(Column {
        name: policy.name().to_owned(),
        policy,
        set: Vec::new(),
        hotplug: None,
        workload: None,
    })
}

/// A column with the place of its name.
fn column(raw: &RawColumn) -> Result<(Column, &Text), Flaw> {
    let plain = plain(&raw.policy)?;
    let place = raw.name.as_ref().unwrap_or(&raw.policy);
    let column = Column {
        name: match &raw.name {
            None => plain.name.clone(),
            Some(name) => label(name)?,
        },
        set: settings_of(&raw.set, std::slice::from_ref(&plain))?,
        hotplug: raw.hotplug.as_ref().map(hotplug).transpose()?,
        workload: raw.workload.as_ref().map(|text| text.get_ref().clone()),
        ..plain
    };
    Ok((column, place))
}

/// What a column is shown as: it stands in tables and in `STUDY/CASE/COLUMN`.
fn label(text: &Text) -> Result<String, Flaw> {
    let word = text.get_ref();
    if word.trim() != word || word.is_empty() || word.contains(|c: char| c.is_control() || c == '/')
    {
        let problem = format!("`{}` is no name of a column", shorten(word));
        let expected = "expected words on one line, without `/`";
        return Err(Flaw::new(at(text), problem, expected));
    }
    Ok(word.clone())
}

/// Settings that the model or every column's policy takes.
pub(super) fn settings_of(
    list: &[Text],
    columns: &[Column],
) -> Result<Vec<(String, String)>, Flaw> {
    let set = settings(list)?;
    let mut policies: Vec<Policy> = columns.iter().map(|c| c.policy.clone()).collect();
    let mut options = Options::default();
    for (text, pair) in list.iter().zip(&set) {
        apply_settings(std::slice::from_ref(pair), &mut options, &mut policies)
            .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a setting"))?;
    }
    Ok(set)
}
