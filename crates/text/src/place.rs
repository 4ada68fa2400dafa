//! A wrong word: how much of it is repeated, and where it stands.
//!
//! Callers: crates/policy-sys/src/policy.rs and 50 more files (`shorten`),
//! crates/store/src/check.rs (`shorten_to`), crates/platform/src/error.rs and
//! crates/study/src/error.rs (`whereabouts`, `split_toml_message`), crates/cli/src/repeat.rs
//! (`shell_word`).
//!
//! What must stay: lines and columns count from 1, columns in characters; the bytes of
//! `shell_word`, as results have the command that gives them again. Free: how long an echo is, and
//! words of hints. Tests by part: `columns_count_characters_and_both_start_at_one` (`whereabouts`),
//! `long_echoes_are_cut_at_a_character` (`shorten`, `shorten_to`),
//! `a_key_that_is_nearly_right_is_offered` (`split_toml_message`, `quoted`),
//! test_results.py::`test_compare_gives_the_bytes_of_its_command` (`shell_word`: the command runs).
//!
//! Tests: below, crates/python/tests/test_results.py

/// Longest part of a wrong word that a message repeats, characters.
const MAX_ECHO_CHARS: usize = 120;

/// The text, cut if it is so long that it cannot help.
#[must_use]
pub fn shorten(text: &str) -> String {
    shorten_to(text, MAX_ECHO_CHARS)
}

/// The text, cut after `chars` characters.
#[must_use]
pub fn shorten_to(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Line and column (in characters) of a byte offset, both from 1.
#[must_use]
pub fn whereabouts(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let newline = before.iter().rposition(|&b| b == b'\n');
    let line_start = newline.map_or(0, |p| p + 1);
    // Continuation bytes of UTF-8 do not start a character.
    let starts = |&&b: &&u8| b & 0xC0 != 0x80;
    let columns = before[line_start..].iter().filter(starts).count();
    let lines = before.iter().filter(|&&b| b == b'\n').count();
    (lines + 1, columns + 1)
}

/// The words between backticks.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What a TOML reader's message says is wrong, what was expected, and the nearest of the keys that
/// it lists. `like` ends "expected TOML as in ...".
#[must_use]
pub fn split_toml_message(message: &str, like: &str) -> (String, String, Option<String>) {
    /// Lists of keys are long and help as a whole; what is longer than this is no list of keys.
    const MAX_LIST_CHARS: usize = 4 * MAX_ECHO_CHARS;
    let message = message
        .replace('\n', ", ")
        .replacen(" field `", " key `", 1);
    let (problem, expected) = if let Some((problem, expected)) = message.split_once(", expected ") {
        (problem, expected.to_owned())
    } else if let Some(key) = message.strip_prefix("missing key ") {
        (message.as_str(), format!("{key} in this table"))
    } else if message == "wanted string or table" {
        ("the value is no word", "a word in quotes".to_owned())
    } else {
        (message.as_str(), format!("TOML as in {like}"))
    };
    let is_unknown = |_: &&str| problem.starts_with("unknown ");
    let word = quoted(problem).next().filter(is_unknown);
    let hint = word.and_then(|word| crate::nearest(word, quoted(&expected)));
    let hint = hint.map(str::to_owned);
    let expected = match expected.chars().count() {
        0..=MAX_LIST_CHARS => expected,
        _ => shorten(&expected),
    };
    (shorten(problem), format!("expected {expected}"), hint)
}

/// A word of a command as a shell takes it.
#[must_use]
pub fn shell_word(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{shorten, split_toml_message, whereabouts};

    #[test]
    fn columns_count_characters_and_both_start_at_one() {
        let text = "a\nää = 1";
        let at = text.find('=').unwrap();
        assert_eq!(whereabouts(text.as_bytes(), at), (2, 4));
        assert_eq!(whereabouts(b"", 7), (1, 1));
    }

    #[test]
    fn long_echoes_are_cut_at_a_character() {
        assert_eq!(shorten(&"ä".repeat(500)).chars().count(), 123);
        assert_eq!(shorten("ä"), "ä");
    }

    #[test]
    fn a_key_that_is_nearly_right_is_offered() {
        let message = "unknown field `khs`, expected one of `khz`, `mv`";
        let (problem, expected, hint) = split_toml_message(message, "others");
        assert_eq!(problem, "unknown key `khs`");
        assert_eq!(expected, "expected one of `khz`, `mv`");
        assert_eq!(hint.as_deref(), Some("khz"));
        let (_, expected, hint) = split_toml_message("missing field `khz`", "others");
        assert_eq!(
            (expected.as_str(), hint),
            ("expected `khz` in this table", None)
        );
        let (_, expected, _) = split_toml_message("invalid escape", "the others");
        assert_eq!(expected, "expected TOML as in the others");
    }
}
