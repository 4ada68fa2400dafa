//! The study's cases with something changed: variants and experiments (studies/README.md).
//!
//! What must stay: the order of the file; a variation changes what it names and nothing else of its
//! case, and has as many columns as the study, in the same roles. Tests by part:
//! file/tests.rs::`a_good_file_is_read` (`variation`, the workload),
//! `experiments_stand_beside_the_published_figures` (experiments),
//! `variants_have_no_published_figures` (variants),
//! study/tests.rs::`an_experiment_has_its_own_duration` (length),
//! study/tests.rs::`columns_and_cases_have_their_own_conditions` (platform and columns). That a
//! name stands once has no test of its own.
//!
//! Tests: crates/study/src/study/tests.rs, crates/study/src/file/tests.rs::a_good_file_is_read

use super::columns::{columns, settings_of};
use super::raw::{RawCase, RawVariation};
use super::read::{chosen, platform, schedule, with, workload};
use super::values::{at, count, duration_ns, sentence, token};
use super::{StudyFile, Variation};
use crate::error::Flaw;

/// All variants or experiments of the file, each name once.
pub(super) fn variations(
    list: &[RawVariation],
    raw_cases: &[RawCase],
    file: &mut StudyFile,
) -> Result<Vec<Variation>, Flaw> {
    let mut all: Vec<Variation> = Vec::new();
    for raw in list {
        let name = token(&raw.name)?;
        if all.iter().any(|v| v.name == name) {
            let problem = format!("`{name}` stands here twice");
            return Err(Flaw::new(at(&raw.name), problem, "expected each name once"));
        }
        all.push(variation(raw, name, raw_cases, file)?);
    }
    Ok(all)
}

/// One of them: its columns, and the cases with what it changes.
fn variation(
    raw: &RawVariation,
    name: String,
    raw_cases: &[RawCase],
    file: &mut StudyFile,
) -> Result<Variation, Flaw> {
    let columns = match (&raw.policies, &raw.columns) {
        (None, None) => file.columns.clone(),
        (policies, own) => columns((policies.as_ref(), own.as_ref()), at(&raw.name))?,
    };
    if columns.len() != file.columns.len() {
        let (problem, expected) = (columns.len(), file.columns.len());
        let expected = format!("expected {expected}, in the roles of the study's");
        return Err(Flaw::new(
            at(&raw.name),
            format!("{problem} policies"),
            expected,
        ));
    }
    let positions = match &raw.cases {
        None => (0..file.cases.len()).collect(),
        Some(list) => chosen(list, || file.cases.iter().map(|c| c.token.as_str()))?,
    };
    let changed = |case: usize| {
        // Of a case that is taken from another study the argument is the spec's name.
        let argument = match raw_cases.get(case) {
            Some(raw) => raw.workload.get_ref(),
            None => &file.cases[case].workload.name,
        };
        let spec = match &raw.workload {
            None => file.cases[case].workload.clone(),
            Some(extra) => {
                let argument = with(argument, extra.get_ref());
                let on = &file.platforms[file.cases[case].platform];
                workload(extra, &argument, on, file.cases[case].workload.jitter())?
            }
        };
        Ok((case, spec))
    };
    let cases = positions.into_iter().map(changed);
    let cases = cases.collect::<Result<_, _>>()?;
    let on = raw.platform.as_ref();
    Ok(Variation {
        name,
        why: sentence(&raw.why)?,
        set: settings_of(&raw.set, &columns)?,
        duration_ns: raw.duration.as_ref().map(duration_ns).transpose()?,
        hotplug: schedule(raw.hotplug.as_ref(), file.options.hotplug.clone())?,
        platform: on
            .map(|text| platform(text, &mut file.platforms))
            .transpose()?,
        cases,
        seeds: count(&raw.seeds)?,
        columns,
    })
}
