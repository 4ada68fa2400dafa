//! The studies that are built into the program (studies/README.md).
//!
//! What must stay: names, which results and documents cite, and their order by family and name,
//! which `study list` and patterns have; a text is at most 1 MiB, and an unknown name comes with
//! the nearest. Tests by part: `every_built_in_study_is_valid_and_explained` (`studies`,
//! `builtin`), `the_nearest_name_is_offered` (`load`, `near`), `stars_stand_for_anything`
//! (`matches`), `patterns_choose_each_study_once` (`select`, `unmatched`),
//! `cases_come_from_other_studies` (`study_text`), request.rs::`what_is_missing_or_wrong_is_named`
//! (`workload_named`), study/column_tests.rs::`a_case_may_have_jitter` (`workload`,
//! `workload_file`), sweeps.rs::`study_run_takes_a_file` (`from_file`),
//! `every_built_in_file_says_what_it_is` (`workload_files`, `first_sentence`).
//!
//! Tests: below, crates/study/src/promise/tests.rs::cases_come_from_other_studies,
//! crates/cli/tests/all/results.rs::a_pattern_runs_several_studies

use crate::{Source, Study, StudyError};
use std::fs::File;
use std::io::Read;
use wakeplace_platform::Platform;
use wakeplace_text::{nearest_few, shorten};
use wakeplace_workload::{Jitter, LoadOptions, Spec};

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// An rt-app file of the repository's `workloads/`, by its path there: studies are run where that
/// folder is not.
fn workload_file(path: &str) -> Option<&'static str> {
    let found = WORKLOADS.iter().find(|(known, _)| *known == path);
    found.map(|(_, text)| *text)
}

/// The same, where there is no such file here.
pub(crate) fn builtin_file(path: &str) -> Option<&'static str> {
    workload_file(path).filter(|_| !std::path::Path::new(path).exists())
}

/// The rt-app files that are built in, and what each is: the first sentence of its head.
pub fn workload_files() -> impl Iterator<Item = (&'static str, String)> {
    WORKLOADS
        .iter()
        .map(|(path, text)| (*path, first_sentence(text)))
}

/// The first sentence of the comment that opens a file, in one line; empty: there is none.
fn first_sentence(text: &str) -> String {
    let head = text
        .strip_prefix("/*")
        .and_then(|text| text.split_once("*/"));
    let lines = head.map_or("", |(head, _)| head).lines();
    let words = lines.flat_map(|line| {
        let line = line.trim();
        line.strip_prefix('*').unwrap_or(line).split_whitespace()
    });
    let mut sentence = String::new();
    for word in words {
        let between = if sentence.is_empty() { "" } else { " " };
        sentence.push_str(between);
        sentence.push_str(word);
        if word.ends_with('.') {
            break;
        }
    }
    sentence
}

/// The path of the file that is called so without folder and ending.
pub(crate) fn workload_named(name: &str) -> Option<String> {
    let called = |path: &&str| {
        path.strip_prefix("workloads/")?
            .strip_suffix(".json")
            .map(|own| own == name)
    };
    let mut paths = WORKLOADS.iter().map(|(path, _)| *path);
    paths
        .find(|path| called(path) == Some(true))
        .map(str::to_owned)
}

/// What a study calls a workload, for who asks by a [`Source`].
pub(crate) fn workload_source(argument: &str) -> Source {
    match workload_file(argument) {
        Some(text) => Source::Text {
            name: argument.to_owned(),
            text: text.to_owned(),
        },
        None => Source::named(argument),
    }
}

/// What a study calls a workload: what `--workload` takes, and the files that are built in. `on`:
/// the case's platform, by which recordings are scaled where nothing says more.
pub(crate) fn workload(
    argument: &str,
    on: &Platform,
    jitter: Option<Jitter>,
) -> Result<Spec, StudyError> {
    let spec = workload_source(argument).workload(&LoadOptions::default(), on)?;
    match jitter {
        None => Ok(spec),
        Some(jitter) => spec.with_jitter(jitter).map_err(StudyError::Jitter),
    }
}

/// A study in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyInfo {
    /// `FAMILY/NAME`.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// Runs of the reduced size.
    pub quick_runs: usize,
    /// Runs of the full size, without experiments.
    pub full_runs: usize,
    /// It has published figures to compare with.
    pub published: bool,
}

/// All built-in studies, by name.
///
/// # Panics
/// If a built-in study is invalid: an error of the program, which a test looks for.
#[must_use]
pub fn studies() -> Vec<StudyInfo> {
    let info = |name: &str| match Study::load(name) {
        Ok(study) => study.info(),
        Err(error) => panic!("built-in study: {error}"),
    };
    BUILTIN.iter().map(|(name, _, _)| info(name)).collect()
}

/// File and README of a built-in study.
fn builtin(name: &str) -> Result<(&'static str, &'static str), StudyError> {
    let names = || BUILTIN.iter().map(|(known, _, _)| *known);
    let found = BUILTIN.iter().find(|(known, _, _)| *known == name);
    found
        .map(|(_, text, readme)| (*text, *readme))
        .ok_or_else(|| StudyError::UnknownName {
            name: shorten(name),
            near: near(name, names()),
        })
}

/// The nearest names: several studies differ in the board alone.
fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    const OFFERED: usize = 3;
    let near = nearest_few(name, names, OFFERED);
    near.into_iter().map(str::to_owned).collect()
}

/// The file of a built-in study, for one that takes cases from it.
pub(crate) fn study_text(name: &str) -> Result<&'static str, StudyError> {
    builtin(name).map(|(text, _)| text)
}

impl Study {
    /// A built-in study.
    ///
    /// # Errors
    /// The name is unknown; the nearest is offered.
    pub fn load(name: &str) -> Result<Study, StudyError> {
        let (text, readme) = builtin(name)?;
        let study = Study::from_toml(text, &format!("studies/{name}/study.toml"))?;
        Ok(study.with_readme(readme))
    }

    /// A study file of somebody's own.
    ///
    /// # Errors
    /// It cannot be read, or is no study.
    pub fn from_file(path: &str) -> Result<Study, StudyError> {
        Study::from_toml(&read_file(path)?, path)
    }
}

/// It is a study file of somebody's own, not the name of a built-in study.
fn is_file(name: &str) -> bool {
    name.ends_with(".toml")
}

/// The built-in studies that match one of the patterns, each once, in the order of their names;
/// then those of the files that are named. `*` stands for any characters in a name.
///
/// # Errors
/// A pattern that no study matches; the nearest name is offered. A file that is no study.
pub fn select(patterns: &[String]) -> Result<Vec<Study>, StudyError> {
    let mut chosen = vec![false; BUILTIN.len()];
    for pattern in patterns.iter().filter(|pattern| !is_file(pattern)) {
        let mut found = false;
        for ((name, _, _), chosen) in BUILTIN.iter().zip(&mut chosen) {
            if matches(pattern, name) {
                (*chosen, found) = (true, true);
            }
        }
        if !found {
            return Err(unmatched(pattern));
        }
    }
    let named = BUILTIN.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    let named = named.map(|((name, _, _), _)| Study::load(name));
    let files = patterns.iter().filter(|pattern| is_file(pattern));
    named
        .chain(files.map(|file| Study::from_file(file)))
        .collect()
}

/// The text of a file of at most a megabyte.
pub(crate) fn read_file(path: &str) -> Result<String, StudyError> {
    const MOST_BYTES: u64 = 1 << 20;
    let failed = |reason: String| StudyError::File {
        file: shorten(path),
        reason,
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(format!("it is larger than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is no UTF-8 text".to_owned()))
}

/// Whether a name is what the pattern says. Each `*` takes as little as leaves the rest a match.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*');
    let last = parts.next_back().unwrap_or("");
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Nothing is called like this: the nearest study or family is offered.
fn unmatched(pattern: &str) -> StudyError {
    let names = BUILTIN.iter().map(|(name, _, _)| (*name).to_owned());
    let families = BUILTIN
        .iter()
        .filter_map(|(name, _, _)| name.split_once('/'));
    let families = families.map(|(family, _)| format!("{family}/*"));
    let mut all: Vec<String> = if pattern.contains('*') {
        families.collect()
    } else {
        names.collect()
    };
    all.dedup();
    StudyError::UnknownName {
        name: shorten(pattern),
        near: near(pattern, all.iter().map(String::as_str)),
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN, first_sentence, matches, select, studies, workload_files};
    use crate::Study;

    #[test]
    fn every_built_in_study_is_valid_and_explained() {
        assert_eq!(studies().len(), BUILTIN.len());
        for (name, _, readme) in BUILTIN {
            assert!(
                readme.contains(&format!("wakeplace study run {name}")),
                "{name}"
            );
            assert!(
                readme.contains("## Distance to the published figure"),
                "{name}"
            );
        }
    }

    #[test]
    fn every_built_in_file_says_what_it_is() {
        let all: Vec<_> = workload_files().collect();
        assert!(all.iter().any(|(path, _)| *path == "workloads/media.json"));
        for (path, what) in all {
            assert!(what.len() > 20 && what.ends_with('.'), "{path}: {what}");
            assert!(!what.contains(['*', '\n']), "{path}: {what}");
        }
        let text = "/*\n * Two of a.json, one\n * more. Then this.\n */\n{}";
        assert_eq!(first_sentence(text), "Two of a.json, one more.");
        assert_eq!(first_sentence("{}"), "");
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let error = Study::load("energy-hikey960").unwrap_err().to_string();
        assert!(
            error.contains("did you mean `energy-aware/energy-hikey960`?"),
            "{error}"
        );
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/b", true),
            ("a/*", "b/a/c", false),
            ("*", "a/b", true),
            ("*b", "a/b", true),
            ("*b", "a/bc", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("*aba", "aba", true),
            ("ab*ba", "aba", false),
            ("**", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_choose_each_study_once() {
        let names = |patterns: &[&str]| -> Vec<String> {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            let chosen = select(&patterns).unwrap().into_iter();
            chosen.map(|study| study.info().name).collect()
        };
        let both = names(&["energy-aware/energy-*"]);
        assert_eq!(
            both,
            [
                "energy-aware/energy-hikey960",
                "energy-aware/energy-juno-r0"
            ]
        );
        assert_eq!(
            names(&["energy-aware/energy-juno-r0", "energy-aware/energy-*"]),
            both
        );
        let error = select(&["enrgy-aware/*".to_owned()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean `energy-aware/*`?"), "{error}");
    }
}
