//! A sweep in the language of studies: TOML with a table `vary`.

use super::{Axis, Design, Sweep};
use crate::error::Flaw;
use crate::file::count;
use crate::{Request, Source, StudyError, parse_hotplug};
use std::fmt::Display;
use toml::Spanned;
use wakeplace_text::{parse_duration_ns, shorten};
use wakeplace_workload::Jitter;

type Text = Spanned<String>;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    /// What it is about, for people.
    title: Option<Text>,
    /// One or several, as `workload` and `policies`.
    #[serde(default)]
    platform: Option<OneOrMore>,
    #[serde(default)]
    workload: Option<OneOrMore>,
    #[serde(default)]
    policies: Vec<Text>,
    duration: Option<Text>,
    /// How many; they are numbered from 1.
    seeds: Spanned<u64>,
    /// `KEY=VALUE` each.
    #[serde(default)]
    set: Vec<Text>,
    hotplug: Option<Text>,
    jitter: Option<Text>,
    design: Option<RawDesign>,
    /// Key and values, as text or as a list.
    vary: toml::Table,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
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

pub(super) fn read(text: &str, file: &str) -> Result<Sweep, StudyError> {
    let raw: Raw =
        toml::from_str(text).map_err(|error| Flaw::from_toml(&error).locate(file, text))?;
    let (base, axes, design) = parts(&raw, text).map_err(|flaw| flaw.locate(file, text))?;
    Sweep::new(base, axes, design).map_err(|error| StudyError::InFile {
        file: shorten(file),
        error: Box::new(error),
    })
}

fn parts(raw: &Raw, text: &str) -> Result<(Request, Vec<Axis>, Design), Flaw> {
    let _about = raw.title.as_ref();
    let seeds = count(&raw.seeds)? as u64;
    let base = Request {
        platforms: sources(raw.platform.as_ref()),
        workloads: sources(raw.workload.as_ref()),
        policies: raw.policies.iter().map(|p| p.get_ref().clone()).collect(),
        set: raw.set.iter().map(setting).collect::<Result<_, _>>()?,
        seeds: (1..=seeds).collect(),
        duration_ns: said(raw.duration.as_ref(), parse_duration_ns)?,
        hotplug: said(raw.hotplug.as_ref(), parse_hotplug)?.unwrap_or_default(),
        jitter: said(raw.jitter.as_ref(), Jitter::parse)?,
        ..Request::default()
    };
    // Where the table stands; its entries have no places of their own.
    let at = text
        .find("[vary]")
        .or_else(|| text.find("vary"))
        .unwrap_or(0);
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
    Ok((base, axes, design))
}

fn flaw(at: usize, error: impl Display) -> Flaw {
    let message = error.to_string();
    let (problem, expected) = message.split_once("; ").unwrap_or((&message, ""));
    Flaw::new(at, problem, expected)
}

fn axis(key: &str, value: &toml::Value) -> Result<Axis, StudyError> {
    match value {
        toml::Value::String(text) => Axis::of(key, text),
        toml::Value::Array(all) => Axis::list(key, all.iter().map(plain).collect()),
        other => Axis::list(key, vec![plain(other)]),
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn sources(raw: Option<&OneOrMore>) -> Vec<Source> {
    match raw {
        None => Vec::new(),
        Some(OneOrMore::One(name)) => vec![Source::named(name)],
        Some(OneOrMore::More(names)) => names.iter().map(Source::named).collect(),
    }
}

fn said<T, E: Display>(
    text: Option<&Text>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, Flaw> {
    let one = |text: &Text| parse(text.get_ref()).map_err(|e| flaw(text.span().start, e));
    text.map(one).transpose()
}

fn setting(text: &Text) -> Result<(String, String), Flaw> {
    match text.get_ref().split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Flaw::new(
            text.span().start,
            "no setting",
            "expected KEY=VALUE",
        )),
    }
}
