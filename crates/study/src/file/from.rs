//! Cases that a study takes from others (studies/README.md).
//!
//! What must stay: cases stand in the order of the table, then of the other study; columns are this
//! study's; a case is named `STUDY:CASE`; a study that takes cases gives none, so there are no
//! cycles. Tests by part: `cases_come_from_other_studies` (`cases`, `taken`),
//! promise/tests.rs::`wrong_names_are_told` (`other`, columns left out),
//! promise/tests.rs::`what_is_kept_is_a_share_of_the_best_gain` (`goals`).
//!
//! Tests: crates/study/src/promise/tests.rs

use super::columns::settings_of;
use super::raw::{RawFrom, Text};
use super::read::{chosen, with, workload};
use super::values::{at, duration_ns, metric, position};
use super::{Case, Column, StudyFile};
use crate::catalogue::study_text;
use crate::error::Flaw;
use std::sync::Arc;
use wakeplace_platform::Platform;

/// Adds them to the cases, each once, named `STUDY:CASE` by the last part of the study's name.
pub(super) fn cases(
    list: &[RawFrom],
    columns: &[Column],
    platforms: &mut Vec<Arc<Platform>>,
    all: &mut Vec<Case>,
) -> Result<(), Flaw> {
    for raw in list {
        let file = other(&raw.study)?;
        let tokens = || file.cases.iter().map(|case| case.token.as_str());
        let positions = match &raw.cases {
            None => (0..file.cases.len()).collect(),
            Some(list) => chosen(list, tokens)?,
        };
        for case in positions {
            let case = taken(raw, &file, &file.cases[case], (columns, platforms))?;
            if all.iter().any(|other| other.token == case.token) {
                let problem = format!("case `{}` stands here twice", case.token);
                return Err(Flaw::new(
                    at(&raw.study),
                    problem,
                    "expected each case once",
                ));
            }
            all.push(case);
        }
    }
    Ok(())
}

/// The other study; one that takes cases itself is none to take from.
fn other(name: &Text) -> Result<StudyFile, Flaw> {
    let flaw = |problem: String| Flaw::new(at(name), problem, "expected a built-in study");
    let text = study_text(name.get_ref()).map_err(|e| flaw(e.to_string()))?;
    // Whatever else is wrong with it is told below.
    let table: toml::Table = toml::from_str(text).map_err(|e| flaw(e.to_string()))?;
    if table.contains_key("from") {
        let problem = format!("`{}` takes its cases from others", name.get_ref());
        return Err(Flaw::new(
            at(name),
            problem,
            "expected a study with cases of its own",
        ));
    }
    let path = format!("studies/{}/study.toml", name.get_ref());
    StudyFile::read(text, &path).map_err(|e| flaw(e.to_string()))
}

/// A case of another study with this study's columns.
fn taken(
    raw: &RawFrom,
    file: &StudyFile,
    case: &Case,
    (columns, platforms): (&[Column], &mut Vec<Arc<Platform>>),
) -> Result<Case, Flaw> {
    let study = file.name.rsplit('/').next().unwrap_or_default();
    let of_case = &file.platforms[case.platform];
    let found = platforms.iter().position(|p| p.name == of_case.name);
    let platform = found.unwrap_or_else(|| {
        platforms.push(Arc::clone(of_case));
        platforms.len() - 1
    });
    let mut set = file.set.clone();
    set.extend(case.set.iter().cloned());
    set.extend(settings_of(&raw.set, columns)?);
    let name = |text: &Text| position(text, "column", columns.iter().map(|c| c.name.as_str()));
    let hotplug = (!file.options.hotplug.is_empty()).then(|| file.options.hotplug.clone());
    Ok(Case {
        token: format!("{study}:{}", case.token),
        workload: match &raw.workload {
            None => case.workload.clone(),
            Some(extra) => {
                let argument = with(&case.workload.name, extra.get_ref());
                workload(extra, &argument, of_case, case.workload.jitter())?
            }
        },
        params: case.params.clone(),
        platform,
        seeds: None,
        duration_ns: match &raw.duration {
            None => case.duration_ns,
            Some(text) => duration_ns(text)?,
        },
        set,
        hotplug,
        without: raw.without.iter().map(name).collect::<Result<_, _>>()?,
        goals: goals(raw, file)?,
    })
}

/// The metrics that are to be gained.
fn goals(raw: &RawFrom, file: &StudyFile) -> Result<Vec<String>, Flaw> {
    let named: Vec<String> = raw.goals.iter().map(metric).collect::<Result<_, _>>()?;
    Ok(match named.is_empty() {
        true => file
            .metrics
            .iter()
            .take(1)
            .map(|m| m.name.clone())
            .collect(),
        false => named,
    })
}
