//! What can be wrong with a platform file, and where.

use std::io;

/// Longest part of a wrong word that a message repeats, characters.
const MAX_ECHO_CHARS: usize = 120;

/// A platform could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The text breaks a rule.
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
    #[error(
        "unknown platform `{name}`; expected one of {known}, or a path with `/` or ending in \
         `.toml`{}", hint_text(.hint.as_deref())
    )]
    UnknownName {
        /// Name as given.
        name: String,
        /// All names, separated by commas.
        known: String,
        /// Nearest name.
        hint: Option<String>,
    },
}

fn hint_text(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |h| format!("; did you mean `{h}`?"))
}

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
        let before = &bytes[..self.at.min(bytes.len())];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |p| p + 1);
        // Continuation bytes of UTF-8 do not start a character.
        let columns = before[line_start..]
            .iter()
            .filter(|&&b| b & 0xC0 != 0x80)
            .count();
        PlatformError::Invalid {
            file: file.to_owned(),
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: columns + 1,
            problem: self.problem,
            expected: self.expected,
            hint: self.hint,
        }
    }

    /// A flaw from the TOML reader. Of the keys its message lists, the nearest is offered.
    pub(crate) fn from_toml(error: &toml::de::Error) -> Self {
        let message = error
            .message()
            .replace('\n', ", ")
            .replacen(" field `", " key `", 1);
        let at = error.span().map_or(0, |span| span.start);
        let (problem, expected) = split_message(&message);
        let wrong_word = quoted(&problem)
            .next()
            .filter(|_| problem.starts_with("unknown "));
        let hint = wrong_word.and_then(|word| nearest(word, quoted(&expected)));
        Self::new(at, shorten(&problem), shorten_list(&expected)).with_hint(hint)
    }
}

/// What is wrong, and what was expected.
fn split_message(message: &str) -> (String, String) {
    let (problem, expected) = if let Some((problem, expected)) = message.split_once(", expected ") {
        (problem, expected.to_owned())
    } else if let Some(key) = message.strip_prefix("missing key ") {
        (message, format!("{key} in this table"))
    } else if message == "wanted string or table" {
        ("the value is no word", "a word in quotes".to_owned())
    } else {
        (message, "TOML as in the built-in platforms".to_owned())
    };
    (problem.to_owned(), format!("expected {expected}"))
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn shorten_list(text: &str) -> String {
    if text.chars().count() > 4 * MAX_ECHO_CHARS {
        shorten(text)
    } else {
        text.to_owned()
    }
}

/// The text, cut if it is so long that it cannot help.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The valid word nearest to a wrong one, if it is near enough to be what was meant: few letters
/// differ, or the wrong word is its beginning.
pub(crate) fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if word.len() > MAX_ECHO_CHARS {
        return None;
    }
    let limit = (word.chars().count() / 3).max(2);
    valid
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(word, candidate);
            let is_beginning = word.len() > 2 && candidate.starts_with(word);
            (
                if is_beginning {
                    distance.min(limit)
                } else {
                    distance
                },
                candidate,
            )
        })
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
        let at = text.find('=').expect("the text has one");
        let error = Flaw::new(at, "bad", "good").locate("f.toml", text.as_bytes());
        assert_eq!(error.to_string(), "f.toml:2:4: bad; good");
        let error = Flaw::new(0, "bad", "good")
            .with_hint(Some("x".into()))
            .locate("f", b"");
        assert_eq!(error.to_string(), "f:1:1: bad; good; did you mean `x`?");
    }

    #[test]
    fn nearest_offers_only_what_is_near() {
        let names = ["capacity", "cpus", "kind"];
        assert_eq!(nearest("capasity", names).as_deref(), Some("capacity"));
        assert_eq!(nearest("capa", names).as_deref(), Some("capacity"));
        assert_eq!(nearest("completely-else", names), None);
        assert_eq!(nearest(&"c".repeat(1000), names), None);
    }

    #[test]
    fn long_echoes_are_cut_at_a_character() {
        assert_eq!(shorten(&"ä".repeat(500)).chars().count(), 123);
    }
}
