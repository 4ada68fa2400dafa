//! A battery's file (docs/guide/review.md, "A battery of your own").
//!
//! What must stay: keys of files, since people have files of their own; unknown keys are refused,
//! with the nearest. A load that names boards runs on those alone. Tests by part:
//! `what_is_wrong_is_named` (all rules of `read`), `loads_have_deadlines_and_hints` (`hints`),
//! `cells_stand_by_boards_then_loads` (`runs_on`).
//!
//! Tests: crates/study/src/battery/tests.rs

use super::{Battery, sized};
use crate::StudyError;
use crate::error::Flaw;
use crate::file::{count, settings};
use crate::settings::split_hints;
use serde::Deserialize;
use toml::Spanned;
use wakeplace_text::{parse_duration_ns, shorten};
use wakeplace_workload::Jitter;

type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    /// What it is, in one line.
    title: Text,
    /// How many; they are numbered from 1.
    seeds: Spanned<u64>,
    /// Of each run, where a load has no own.
    duration: Spanned<toml::Value>,
    /// Platforms: names or paths.
    boards: Spanned<Vec<Text>>,
    load: Vec<RawLoad>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLoad {
    name: Text,
    /// What `--workload` takes, with `{cpus}` for the board's CPUs.
    workload: Text,
    duration: Option<Spanned<toml::Value>>,
    /// What the seed draws of a recording or an rt-app file, as for `--jitter`.
    jitter: Option<Text>,
    /// A file of deadlines, as for `--deadlines`.
    deadlines: Option<Text>,
    /// Hints of tasks of an rt-app file or a recording, `KEY=VALUE` each, as for `--set`.
    #[serde(default)]
    set: Vec<Text>,
    /// Absent: all.
    boards: Option<Vec<Text>>,
}

/// What runs on a board.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) name: String,
    /// Not yet sized.
    pub(super) workload: String,
    pub(super) duration_ns: Option<u64>,
    pub(super) jitter: Option<Jitter>,
    /// Path of the file, as it stands in the battery's.
    pub(super) deadlines: Option<String>,
    /// Hints of tasks, key and value.
    pub(super) set: Vec<(String, String)>,
    /// None: on all.
    boards: Option<Vec<String>>,
}

impl Load {
    /// An error of its workload.
    pub(super) fn named(&self, error: StudyError) -> StudyError {
        StudyError::Load {
            load: self.name.clone(),
            error: Box::new(error),
        }
    }

    /// Does the battery run it on this one of its boards?
    pub(super) fn runs_on(&self, board: &str) -> bool {
        let own = self.boards.as_ref();
        own.is_none_or(|boards| boards.iter().any(|own| own == board))
    }
}

/// A battery from its text; `name` is what it is called.
pub(super) fn read(text: &str, name: &str) -> Result<Battery, Flaw> {
    let raw: Raw = toml::from_str(text).map_err(|error| Flaw::from_toml(&error, &[]))?;
    let boards: Vec<String> = plain(raw.boards.get_ref());
    if boards.is_empty() {
        let at = raw.boards.span().start;
        return Err(Flaw::new(at, "no board", "expected at least one platform"));
    }
    if raw.load.is_empty() {
        return Err(Flaw::new(0, "no load", "expected at least one `[[load]]`"));
    }
    let mut loads: Vec<Load> = Vec::new();
    for load in &raw.load {
        let one = read_load(load, &boards)?;
        if loads.iter().any(|other| other.name == one.name) {
            let at = load.name.span().start;
            let problem = format!("load `{}` stands twice", one.name);
            return Err(Flaw::new(at, problem, "expected each name once"));
        }
        loads.push(one);
    }
    let seeds = count(&raw.seeds)?;
    Ok(Battery {
        name: name.to_owned(),
        title: raw.title.get_ref().clone(),
        sha256: None,
        seeds: (1..=seeds as u64).collect(),
        duration_ns: duration(&raw.duration)?,
        boards,
        loads,
    })
}

/// One load; its boards are among the battery's.
fn read_load(raw: &RawLoad, boards: &[String]) -> Result<Load, Flaw> {
    let workload = raw.workload.get_ref();
    let bad = |why: String| Flaw::from_message(raw.workload.span().start, &why);
    sized(workload, 1).map_err(|why| bad(format!("`{workload}` has a `{{`; {why}")))?;
    if raw.boards.as_ref().is_some_and(Vec::is_empty) {
        let at = raw.name.span().start;
        let problem = format!("load `{}` runs on no board", raw.name.get_ref());
        return Err(Flaw::new(at, problem, "expected boards, or no `boards`"));
    }
    for board in raw.boards.iter().flatten() {
        if !boards.contains(board.get_ref()) {
            let at = board.span().start;
            let known = boards.iter().map(String::as_str);
            return Err(Flaw::unknown(at, "board", board.get_ref(), known));
        }
    }
    Ok(Load {
        name: raw.name.get_ref().clone(),
        workload: workload.clone(),
        duration_ns: raw.duration.as_ref().map(duration).transpose()?,
        jitter: raw.jitter.as_ref().map(jitter).transpose()?,
        deadlines: raw.deadlines.as_ref().map(|path| path.get_ref().clone()),
        set: hints(&raw.set)?,
        boards: raw.boards.as_deref().map(plain),
    })
}

/// What the seed draws.
fn jitter(text: &Text) -> Result<Jitter, Flaw> {
    let at = text.span().start;
    Jitter::parse(text.get_ref()).map_err(|why| Flaw::from_message(at, &why))
}

/// Settings that are hints of tasks: those of policies are what is tried, not a load's.
fn hints(list: &[Text]) -> Result<Vec<(String, String)>, Flaw> {
    let set = settings(list)?;
    for (text, pair) in list.iter().zip(&set) {
        let at = text.span().start;
        let (_, others) = split_hints(std::slice::from_ref(pair))
            .map_err(|why| Flaw::from_message(at, &why.to_string()))?;
        if !others.is_empty() {
            let problem = format!("`{}` is no hint of a task", shorten(&pair.0));
            let expected = "expected `task.NAME.util_min=VALUE` or `task.NAME.util_max=VALUE`";
            return Err(Flaw::new(at, problem, expected));
        }
    }
    Ok(set)
}

/// Simulated time with its unit.
fn duration(value: &Spanned<toml::Value>) -> Result<u64, Flaw> {
    let at = value.span().start;
    let Some(text) = value.get_ref().as_str() else {
        let problem = "`duration` is no text";
        return Err(Flaw::new(
            at,
            problem,
            "expected a time with its unit, as \"1s\"",
        ));
    };
    parse_duration_ns(text).map_err(|why| Flaw::from_message(at, &why))
}

/// Texts without their places.
fn plain(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.get_ref().clone()).collect()
}
