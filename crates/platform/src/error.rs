//! What can be wrong with a platform file, and where (docs/guide/platforms.md, "What the words
//! mean").
//!
//! Called by every reader of this crate. Free: words, but a message says what was expected.
//!
//! What must stay: `FILE:LINE:COLUMN: what; expected what`, where lines and columns count from 1
//! and columns are characters; the command line makes exit code 2 of all of these. `in_words`
//! serves the JSON reader of `crates/report`, too. Tests by part: `types_have_plain_words`
//! (`in_words`), `columns_count_characters_and_lines_start_at_one` (`locate`, `with_hint`),
//! bad_files.rs::`place_is_line_and_column` (the whole message), bad_files.rs::`keys_and_words`
//! (`from_toml`), hostile.rs::`names_and_paths_do_not_shadow_each_other` (`UnknownName`, `Read`),
//! all (`new`).
//!
//! Tests: below, crates/platform/tests/all/bad_files.rs, crates/platform/tests/all/hostile.rs

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

impl PlatformError {
    /// A reader's message with plain words for what it expected, instead of types of the program;
    /// `object`: what something with keys is called in the file's language. Other files' readers
    /// use it, too.
    #[must_use]
    pub fn in_words(message: &str, object: &str) -> String {
        // What a file holds stands before: it may have the word, too.
        let Some((before, expected)) = message.rsplit_once("expected ") else {
            return message.to_owned();
        };
        let (kind, after) = match expected.split_once('\n') {
            Some((kind, after)) => (kind, format!("\n{after}")),
            None => (expected, String::new()),
        };
        let words = match kind {
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number from 0".to_owned(),
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".to_owned(),
            "f32" | "f64" => "a number".to_owned(),
            "a sequence" => "a list".to_owned(),
            "a map" => object.to_owned(),
            _ if kind.starts_with("struct ") => object.to_owned(),
            _ => match kind.strip_prefix("a tuple of size ") {
                Some(size) => format!("a list of {size} values"),
                None => return message.to_owned(),
            },
        };
        format!("{before}expected {words}{after}")
    }
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
    /// `at`: byte offset in the file's text, made a line and a column by `locate`.
    pub(crate) fn new(at: usize, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            at,
            problem: problem.into(),
            expected: expected.into(),
            hint: None,
        }
    }

    /// Adds the nearest name, if there is one.
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
        let message = PlatformError::in_words(error.message(), "a table");
        let (problem, expected, hint) = split_toml_message(&message, "the built-in platforms");
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
    use super::{Flaw, PlatformError};

    /// Goal: nobody has to know the program's types; what a file says stays as it is.
    #[test]
    fn types_have_plain_words() {
        for (message, words) in [
            (
                "invalid type: string \"expected u64\", expected u64",
                "invalid type: string \"expected u64\", expected a whole number from 0",
            ),
            (
                "invalid value: -1, expected f64",
                "invalid value: -1, expected a number",
            ),
            ("x, expected i64", "x, expected a whole number"),
            ("x, expected struct Metric", "x, expected a table"),
            (
                "x, expected struct Metric with 4 elements",
                "x, expected a table",
            ),
            ("x, expected a map", "x, expected a table"),
            ("x, expected a sequence", "x, expected a list"),
            (
                "invalid length 3, expected a tuple of size 4",
                "invalid length 3, expected a list of 4 values",
            ),
            ("x, expected a string", "x, expected a string"),
            ("x, expected `u64`", "x, expected `u64`"),
            (
                "expected u8\nin `a`",
                "expected a whole number from 0\nin `a`",
            ),
            ("EOF", "EOF"),
        ] {
            assert_eq!(PlatformError::in_words(message, "a table"), words);
        }
    }

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
