//! Why an experiment or a study cannot be run.

use crate::settings::SettingError;
use wakeplace_platform::PlatformError;
use wakeplace_policy_sys::PolicyError;
use wakeplace_workload::WorkloadError;

/// Longest part of a wrong word that a message repeats, characters.
const MAX_ECHO_CHARS: usize = 120;

/// An experiment or a study that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A study file breaks a rule.
    #[error("{file}:{line}:{column}: {problem}; {expected}{}", hint_text(.hint.as_deref()))]
    Invalid {
        /// File as the caller named it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
        /// What was expected.
        expected: String,
        /// Nearest valid name, if one is near.
        hint: Option<String>,
    },
    /// No study has this name.
    #[error("unknown study `{name}`; expected one of {known}{}", hint_text(.hint.as_deref()))]
    UnknownName {
        /// Name as given.
        name: String,
        /// All names, separated by commas.
        known: String,
        /// Nearest name.
        hint: Option<String>,
    },
    /// Nothing to run.
    #[error("{0}")]
    Empty(&'static str),
    /// A `--set` that neither the machine's model nor a policy knows, or with a bad value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The platform.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The workload does not fit the machine.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {reason}; try fewer (`--jobs 1`)")]
    Threads {
        /// Threads asked for.
        jobs: usize,
        /// What the system said.
        reason: String,
    },
}

fn hint_text(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |h| format!("; did you mean `{h}`?"))
}

/// A broken rule by byte offset; becomes a [`StudyError`] once file and text are known.
#[derive(Debug)]
pub(crate) struct Flaw {
    at: usize,
    problem: String,
    expected: String,
    hint: Option<String>,
}

impl Flaw {
    pub(crate) fn new(at: usize, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            at,
            problem: problem.into(),
            expected: expected.into(),
            hint: None,
        }
    }

    /// A word that is none of `valid`; the nearest of them is offered.
    pub(crate) fn unknown<'a>(
        at: usize,
        what: &str,
        word: &str,
        valid: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let valid: Vec<&str> = valid.into_iter().collect();
        Self {
            at,
            problem: format!("unknown {what} `{}`", shorten(word)),
            expected: format!("expected one of {}", valid.join(", ")),
            hint: nearest(word, valid),
        }
    }

    pub(crate) fn locate(self, file: &str, text: &str) -> StudyError {
        let before = text.get(..self.at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |p| p + 1);
        StudyError::Invalid {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: self.problem,
            expected: self.expected,
            hint: self.hint,
        }
    }

    /// A flaw from the TOML reader. Of the keys its message lists, the nearest is offered.
    pub(crate) fn from_toml(error: &toml::de::Error) -> Self {
        let message = error.message().replace('\n', ", ");
        let message = message.replace("unknown field ", "unknown key ");
        let message = message.replace("missing field ", "missing key ");
        let at = error.span().map_or(0, |span| span.start);
        let (problem, expected) = match message.split_once(", expected ") {
            Some((problem, expected)) => (problem, format!("expected {expected}")),
            None => (
                message.as_str(),
                "expected TOML as in the other studies".to_owned(),
            ),
        };
        let word = quoted(problem)
            .next()
            .filter(|_| problem.starts_with("unknown "));
        let hint = word.and_then(|word| nearest(word, quoted(&expected)));
        Self {
            at,
            problem: shorten(problem),
            expected,
            hint,
        }
    }
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text, cut if it is so long that it cannot help.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The valid word nearest to a wrong one, if it is near enough to be what was meant: few letters
/// differ, or the wrong word is a part of it.
pub(crate) fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if word.len() > MAX_ECHO_CHARS {
        return None;
    }
    let limit = (word.chars().count() / 3).max(2);
    let rank = |candidate: &'a str| {
        let distance = strsim::damerau_levenshtein(word, candidate);
        let is_part = word.len() > 2 && candidate.contains(word);
        let distance = if is_part {
            distance.min(limit)
        } else {
            distance
        };
        (distance, candidate)
    };
    let ranked = valid.into_iter().map(rank);
    ranked
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Flaw, nearest, shorten};

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let text = "a\nää = 1";
        let at = text.find('=').unwrap();
        let error = Flaw::unknown(at, "key", "b", ["bb", "c"]).locate("f", text);
        let expected = "f:2:4: unknown key `b`; expected one of bb, c; did you mean `bb`?";
        assert_eq!(error.to_string(), expected);
        let error = Flaw::new(0, "bad", "good").locate("f", "");
        assert_eq!(error.to_string(), "f:1:1: bad; good");
    }

    #[test]
    fn a_part_of_a_name_is_enough() {
        let names = [
            "energy-aware/energy-hikey960",
            "energy-aware/energy-juno-r0",
        ];
        assert_eq!(nearest("energy-juno-r0", names).as_deref(), Some(names[1]));
        assert_eq!(
            nearest("energy-aware/energy-hike960", names).as_deref(),
            Some(names[0])
        );
        assert_eq!(nearest("something-else", names), None);
        assert_eq!(shorten(&"ä".repeat(500)).chars().count(), 123);
    }
}
