//! A sweep in the language of studies: TOML with a table `vary` (docs/guide/results.md, "Sweeps").
//!
//! What must stay: keys are those of arguments, and `vary`, `design` and `base` beside them; what a
//! file says is what the options say; a text is a sweep if it has a table `vary`. `sweep FILE` and
//! `study run FILE` read by it. Tests by part: `a_file_says_the_same` (`read`, `parts`, `axis`,
//! `is_sweep`, `place`), sweeps.rs::`study_run_takes_a_file` (by the command). A file's `design`
//! has no test of its own.
//!
//! Tests: crates/study/src/sweep/tests.rs::a_file_says_the_same,
//! crates/cli/tests/all/sweeps.rs::study_run_takes_a_file

use super::{Axis, Design, Sweep};
use crate::error::Flaw;
use crate::file::{count, split};
use crate::{Command, Request, StudyError};
use std::fmt::Display;
use toml::Spanned;
use wakeplace_text::shorten;

type Text = Spanned<String>;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    /// What it is about, for people.
    title: Option<Text>,
    #[serde(default)]
    policies: Vec<Text>,
    /// How many; they are numbered from 1.
    seeds: Spanned<u64>,
    design: Option<RawDesign>,
    /// What points are compared with: key and value.
    #[serde(default)]
    base: toml::Table,
    /// Key and values, as text or as a list.
    vary: toml::Table,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDesign {
    latin_hypercube: Spanned<usize>,
    seed: Option<u64>,
}

/// The text is a sweep and no study.
#[must_use]
pub fn is_sweep(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("vary"))
}

/// A sweep's file.
pub(super) fn read(text: &str, file: &str) -> Result<Sweep, StudyError> {
    let mut base = Request::default();
    let parts = split(text, Command::SweepFile, &mut base)
        .and_then(|raw| parts(&raw, text, &mut base))
        .map_err(|flaw| flaw.locate(file, text));
    let Parts { axes, design, from } = parts?;
    let sweep = Sweep::new(base, axes, design).map_err(|error| StudyError::InFile {
        file: shorten(file),
        error: Box::new(error),
    })?;
    let sweep = Sweep { from, ..sweep };
    match sweep.base_point() {
        Ok(_) => Ok(sweep),
        Err(error) => Err(flaw(place(text, "base"), error).locate(file, text)),
    }
}

/// What a sweep is beside its request.
struct Parts {
    axes: Vec<Axis>,
    design: Design,
    from: Vec<(String, String)>,
}

/// The axes, the design and the base; the rest goes into the request.
fn parts(raw: &Raw, text: &str, base: &mut Request) -> Result<Parts, Flaw> {
    let _about = raw.title.as_ref();
    base.seeds = (1..=count(&raw.seeds)? as u64).collect();
    let policies = raw.policies.iter().map(|policy| policy.get_ref().clone());
    base.policies.extend(policies);
    let at = place(text, "vary");
    let mut axes = Vec::with_capacity(raw.vary.len());
    for (key, value) in &raw.vary {
        let axis = axis(key, value).map_err(|error| flaw(at, error))?;
        axes.push(axis);
    }
    let design = match &raw.design {
        None => Design::Grid,
        Some(design) => Design::LatinHypercube {
            points: *design.latin_hypercube.get_ref(),
            seed: design.seed.unwrap_or(1),
        },
    };
    let from = raw
        .base
        .iter()
        .map(|(key, value)| (key.clone(), plain(value)));
    Ok(Parts {
        axes,
        design,
        from: from.collect(),
    })
}

/// Where a table stands; its entries have no places of their own.
fn place(text: &str, table: &str) -> usize {
    let head = text.find(&format!("[{table}]"));
    head.or_else(|| text.find(table)).unwrap_or(0)
}

/// An error of an axis, the design or the base at its place in the file.
fn flaw(at: usize, error: impl Display) -> Flaw {
    Flaw::from_message(at, &error.to_string())
}

/// A key with one value, a list, or a range as text.
fn axis(key: &str, value: &toml::Value) -> Result<Axis, StudyError> {
    match value {
        toml::Value::String(text) => Axis::of(key, text),
        toml::Value::Array(all) => Axis::list(key, all.iter().map(plain).collect()),
        other => Axis::list(key, vec![plain(other)]),
    }
}

/// A value as it is typed on the command line.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
