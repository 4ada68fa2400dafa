//! What there is, and what was meant (docs/guide/python.md).
//!
//! Callers: lib.rs gives them to Python; python/wakeplace calls them for lists and messages. Words
//! of errors are free.
//!
//! What must stay: the order is that of the command line's lists; what a dict becomes is the text
//! of a file, read as one. Free: how lists are built, and words of errors. Tests by part:
//! `test_policies_are_those_of_the_command_line` (`policies`),
//! `test_study_gives_the_bytes_of_its_command` (`studies`), `test_platforms_of_a_dict`
//! (`toml_of_json`, `check_platform`), `test_what_is_wrong_is_said` (`unknown`). No test of its
//! own: `platforms`, `check_workload`.
//!
//! Tests: crates/python/tests/test_results.py

use crate::ask::SourceArg;
use crate::error::input;
use pyo3::prelude::*;
use wakeplace_platform::{Platform, builtin_names};
use wakeplace_policy_sys::Policy;
use wakeplace_text::{did_you_mean, nearest, shorten};
use wakeplace_workload::LoadOptions;

/// Names of the platforms that are built in.
#[pyfunction]
pub(crate) fn platforms() -> Vec<&'static str> {
    builtin_names().collect()
}

/// Names and titles of the studies.
#[pyfunction]
pub(crate) fn studies() -> Vec<(String, String)> {
    let all = wakeplace_study::studies().into_iter();
    all.map(|study| (study.name, study.title)).collect()
}

/// Name, versions and description of eras and of features, which begin with `+`.
#[pyfunction]
pub(crate) fn policies() -> PyResult<Vec<(String, Vec<String>, String)>> {
    let features = wakeplace_study::any_policy().map_err(input)?.features();
    let one = |(name, doc): (String, &str)| {
        let mut own = features.iter();
        let own = own.find(|f| Some(f.name) == name.strip_prefix('+'));
        let versions = own.map_or(&[][..], |feature| feature.versions);
        let versions = versions.iter().map(|v| (*v).to_owned()).collect();
        (name, versions, doc.to_owned())
    };
    Ok(Policy::catalogue().into_iter().map(one).collect())
}

/// Reads a platform: its name, and how many CPUs it has.
#[pyfunction]
pub(crate) fn check_platform(source: SourceArg) -> PyResult<(String, usize)> {
    let platform = source.source().platform().map_err(input)?;
    Ok((platform.name.clone(), platform.cpus.len()))
}

/// Reads a workload for a platform: its name.
#[pyfunction]
pub(crate) fn check_workload(source: SourceArg, platform: SourceArg) -> PyResult<String> {
    let platform: Platform = platform.source().platform().map_err(input)?;
    let spec = source.source().workload(&LoadOptions::default(), &platform);
    Ok(spec.map_err(input)?.name.clone())
}

/// What is said of an argument that a function does not have, or of another kind of name.
#[pyfunction]
#[pyo3(signature = (function, word, valid, kind="argument"))]
pub(crate) fn unknown(function: &str, word: &str, valid: Vec<String>, kind: &str) -> PyErr {
    let names = || valid.iter().map(String::as_str);
    let hint = did_you_mean(nearest(word, names()));
    let expected = names().collect::<Vec<_>>().join(", ");
    input(format!(
        "{function}: unknown {kind} `{}`; expected one of {expected}{hint}",
        shorten(word)
    ))
}

/// A platform that was a dict, as the text of a file.
#[pyfunction]
pub(crate) fn toml_of_json(text: &str) -> PyResult<String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(input)?;
    toml::to_string(&value).map_err(input)
}
