//! Why an experiment or a study cannot be run.
//!
//! What must stay: a message is one sentence and says what was expected; lines and columns count
//! from 1, columns in characters; the command line makes exit code 2 of all of these. Words may
//! change. Tests by part: `columns_count_characters_and_lines_start_at_one` (`locate`, `unknown`,
//! `new`), file/tests.rs::`errors_name_place_expectation_and_nearest` (`from_toml`, `Invalid`),
//! file/tests.rs::`rules_hold` (`from_message`), sweep/tests.rs::`each_point_stands_once` (`Vary`),
//! request.rs::`what_is_missing_or_wrong_is_named` (`Twice`, `Several`).
//!
//! Tests: below, crates/study/src/file/tests.rs,
//! crates/study/src/request.rs::what_is_missing_or_wrong_is_named

use crate::settings::SettingError;
use wakeplace_engine::RunError;
use wakeplace_platform::PlatformError;
use wakeplace_policy_sys::PolicyError;
use wakeplace_text::{
    did_you_mean, did_you_mean_first, nearest, shorten, split_toml_message, time, whereabouts,
};
use wakeplace_workload::WorkloadError;

/// An experiment or a study that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A sched_ext scheduler cannot be loaded.
    #[error("scheduler `{name}`: {reason}")]
    Scheduler {
        /// As the caller named it.
        name: String,
        /// Why.
        reason: String,
    },
    /// A kernel tree's own code cannot run.
    #[error("policy `{name}`: {reason}")]
    Tree {
        /// The tree's label.
        name: String,
        /// Why.
        reason: String,
    },
    /// A study file breaks a rule.
    #[error("{file}:{line}:{column}: {problem}; {expected}{}", did_you_mean(.hint.as_deref()))]
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
    /// What a file of a sweep asks for cannot be run.
    #[error("{file}: {error}")]
    InFile {
        /// As the caller named it.
        file: String,
        /// Why.
        error: Box<StudyError>,
    },
    /// A load of a battery.
    #[error("load `{load}`: {error}")]
    Load {
        /// Its name in the battery.
        load: String,
        /// Why.
        error: Box<StudyError>,
    },
    /// A file that is no study, sweep or battery.
    #[error("{file}: {reason}; expected a file of a study, sweep, battery or claims")]
    File {
        /// As the caller named it.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// No study has this name.
    #[error(
        "unknown study `{name}`{}",
        did_you_mean_first(.near.as_slice(), "expected a name from `wakeplace study list`")
    )]
    UnknownName {
        /// Name as given.
        name: String,
        /// Nearest names (or families, as `sis-short/*`), the best first.
        near: Vec<String>,
    },
    /// No battery has this name.
    #[error(
        "unknown battery `{name}`; expected one of {known}, or a TOML file{}",
        did_you_mean(.near.as_deref())
    )]
    UnknownBattery {
        /// Name as given.
        name: String,
        /// All names.
        known: String,
        /// The nearest of them.
        near: Option<String>,
    },
    /// Arguments that cannot be read, or do not go together.
    #[error(transparent)]
    Ask(#[from] crate::AskError),
    /// A candidate cannot be evaluated.
    #[error("{0}")]
    Evaluate(String),
    /// The platform has no energy optimum.
    #[error("--oracle: there is no optimum on `{platform}`: {refusal}")]
    NoOracle {
        /// Its name.
        platform: String,
        /// Why.
        refusal: wakeplace_optimum::Refusal,
    },
    /// Nothing to run, or things that do not go together.
    #[error("{0}")]
    Empty(&'static str),
    /// A timeline that goes on after the run: its end and the run's, ns.
    #[error(
        "--timeline: it ends at {} and the run takes {}; expected a window within the run",
        time(*.0),
        time(*.1)
    )]
    Timeline(u64, u64),
    /// A list of names where one is expected.
    #[error("{0}")]
    Several(String),
    /// Something that cannot be varied so.
    #[error("vary {what}: {why}")]
    Vary {
        /// Key, or the argument.
        what: String,
        /// What is wrong and what was expected.
        why: String,
    },
    /// What the points of a sweep are to be compared with is none of them.
    #[error("base {what}: {why}")]
    Base {
        /// Key and value.
        what: String,
        /// What is wrong and what was expected.
        why: String,
    },
    /// A platform, workload or policy that stands twice: its runs would count twice.
    #[error("{key}: `{}` stands twice; expected each {key} once", shorten(.name))]
    Twice {
        /// Which of them.
        key: &'static str,
        /// Its name.
        name: String,
    },
    /// A decision that there is not.
    #[error("{0}")]
    Explain(String),
    /// A margin that is none.
    #[error("margin {0} %: expected a percentage of 0 or more")]
    Margin(f64),
    /// Jitter for a workload that draws by itself.
    #[error("{0}")]
    Jitter(String),
    /// A key that nobody takes.
    #[error("{0}")]
    UnknownSetting(String),
    /// A recording.
    #[error(transparent)]
    Trace(#[from] wakeplace_trace::TraceError),
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
    /// Machine, policy, workload and model are each valid but do not go together.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {reason}; try fewer (`--jobs 1`)")]
    Threads {
        /// Threads asked for.
        jobs: usize,
        /// What the system said.
        reason: String,
    },
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
    /// `at`: byte offset in the text, made a line and a column by `locate`.
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
            hint: nearest(word, valid).map(str::to_owned),
        }
    }

    /// A message has what is wrong, and after `; ` what was expected.
    pub(crate) fn from_message(at: usize, message: &str) -> Self {
        let (problem, expected) = message.split_once("; ").unwrap_or((message, ""));
        Self::new(at, problem, expected)
    }

    /// The flaw as an error with the file's name, line and column.
    pub(crate) fn locate(self, file: &str, text: &str) -> StudyError {
        let (line, column) = whereabouts(text.as_bytes(), self.at);
        StudyError::Invalid {
            file: file.to_owned(),
            line,
            column,
            problem: self.problem,
            expected: self.expected,
            hint: self.hint,
        }
    }

    /// A flaw from the TOML reader. Of the keys its message lists, the nearest is offered.
    /// `more`: keys that may stand there, too.
    pub(crate) fn from_toml(error: &toml::de::Error, more: &[&str]) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        let message = PlatformError::in_words(error.message(), "a table");
        let more: String = more.iter().map(|key| format!("`{key}`, ")).collect();
        let message = message.replacen("expected one of ", &format!("expected one of {more}"), 1);
        let (problem, expected, hint) = split_toml_message(&message, "the other studies");
        Self {
            at,
            problem,
            expected,
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Flaw;

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
}
