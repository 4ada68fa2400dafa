//! The form of a platform file: strings and comments within the line width, numbers
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called for every platform file that is written. Free: where lines break.
//!
//! What must stay: what is written reads back as the same text, whatever a source holds; no line is
//! wider than `WIDTH`, as xtask checks of all files of the repository. Tests by part:
//! `strings_of_any_text_are_toml` (`string`, `escaped`),
//! `long_strings_keep_their_words_and_the_width` (`entry`), `numbers_have_their_thousands_apart`
//! (`number`), mod.rs::`a_board_with_an_energy_model_is_the_one_that_comes_with_the_program`
//! (`comment`: no line is wider).
//!
//! Tests: below, crates/platform/tests/all/import/mod.rs,
//! crates/platform/tests/all/import/round_trip.rs

use std::fmt::Write;

/// Widest line of a file.
const WIDTH: usize = 100;

/// `key = "text"`, over several lines where it does not fit.
#[must_use]
pub fn entry(key: &str, text: &str) -> String {
    format!("{}\n", string(&format!("{key} = "), text, 0))
}

/// A string after `lead`; `tail` columns stay free behind it. Text from outside may hold anything.
#[must_use]
pub fn string(lead: &str, text: &str, tail: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).collect();
    let text = escaped(text.trim());
    if !text.contains(['"', '\\'])
        && lead.chars().count() + text.chars().count() + 2 + tail <= WIDTH
    {
        return format!("{lead}\"{text}\"");
    }
    let indent: String = lead.chars().take_while(|c| *c == ' ').collect();
    let mut out = format!("{lead}\"\"\"");
    let mut column = out.chars().count();
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        // A line ends with a space and a backslash, the last one with quotes and the tail.
        if index > 0 && column + 1 + length + 3 + tail > WIDTH {
            let _ = write!(out, " \\\n{indent}");
            column = indent.len();
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push_str("\"\"\"");
    out
}

/// Within three quotes each a single one stands as it is.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\\' || c == '"' && rest.peek() == Some(&'"') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A comment within the width.
#[must_use]
pub fn comment(text: &str) -> String {
    let mut out = String::from("#");
    let mut column = 1;
    for word in text.split_whitespace() {
        if column + 1 + word.chars().count() > WIDTH {
            out.push_str("\n#");
            column = 1;
        }
        let _ = write!(out, " {word}");
        column += 1 + word.chars().count();
    }
    out.push('\n');
    out
}

/// A number with its thousands apart.
#[must_use]
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_any_text_are_toml() {
        for text in [
            "plain",
            "a \"quoted\" \\ word\nand a line",
            &"word ".repeat(60),
            "\u{0}\u{7f}\"\"\"",
        ] {
            let written = entry("a", text);
            let table: toml::Table = written.parse().expect("TOML");
            let read = table["a"].as_str().expect("a string").to_owned();
            let words = |text: &str| {
                let plain = text.replace(|c: char| c.is_control(), " ");
                plain
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(&read), words(text));
            assert!(written.lines().all(|line| line.chars().count() <= WIDTH));
        }
    }

    #[test]
    fn long_strings_keep_their_words_and_the_width() {
        let text = "word ".repeat(60);
        let text = text.trim_end();
        let written = entry("source", text);
        assert!(written.lines().all(|line| line.chars().count() <= WIDTH));
        let joined = written.replace(" \\\n", " ");
        assert_eq!(joined, format!("source = \"\"\"{text}\"\"\"\n"));
        assert_eq!(entry("a", "x"), "a = \"x\"\n");
        assert_eq!(entry("a", "a \"x\" b"), "a = \"\"\"a \"x\" b\"\"\"\n");
    }

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!(number(0), "0");
        assert_eq!(number(1_000), "1_000");
        assert_eq!(number(64_000_000), "64_000_000");
    }
}
