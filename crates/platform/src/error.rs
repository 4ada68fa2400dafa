//! What can be wrong with a platform file, and where.

use std::io;
use wakeplace_text::{did_you_mean, did_you_mean_first, split_toml_message, whereabouts};

/// A platform could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The text breaks a rule.
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
    /// The file is larger than any platform.
    #[error("{file}: the file is larger than {limit} bytes; expected a platform description")]
    TooLarge {
        /// File as the caller named it.
        file: String,
        /// Limit, bytes.
        limit: usize,
    },
    /// The operating system refused to read it.
    #[error("{file}: cannot be read: {source}; expected a readable platform file")]
    Read {
        /// File as the caller named it.
        file: String,
        /// Reason.
        source: io::Error,
    },
    /// No built-in platform has this name.
    #[error("unknown platform `{name}`{}", did_you_mean_first(.near.as_slice(), EXPECTED))]
    UnknownName {
        /// Name as given.
        name: String,
        /// Nearest names, the best first.
        near: Vec<String>,
    },
}

/// What can name a platform; there are too many to list.
const EXPECTED: &str = "expected a name from `wakeplace platform list`, or a path with `/` or \
                        ending in `.toml`";

/// A broken rule, by byte offset; becomes a `PlatformError` once file and text are known.
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

    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The flaw as an error, with line and column looked up in the file's bytes.
    pub(crate) fn locate(self, file: &str, bytes: &[u8]) -> PlatformError {
        let (line, column) = whereabouts(bytes, self.at);
        PlatformError::Invalid {
            file: file.to_owned(),
            line,
            column,
            problem: self.problem,
            expected: self.expected,
            hint: self.hint,
        }
    }

    /// A flaw from the TOML reader. Of the keys its message lists, the nearest is offered.
    pub(crate) fn from_toml(error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        let (problem, expected, hint) =
            split_toml_message(error.message(), "the built-in platforms");
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
        let at = text.find('=').expect("the text has one");
        let error = Flaw::new(at, "bad", "good").locate("f.toml", text.as_bytes());
        assert_eq!(error.to_string(), "f.toml:2:4: bad; good");
        let error = Flaw::new(0, "bad", "good")
            .with_hint(Some("x".into()))
            .locate("f", b"");
        assert_eq!(error.to_string(), "f:1:1: bad; good; did you mean `x`?");
    }
}
