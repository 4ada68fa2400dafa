//! The form of a platform file: strings within the line width, numbers, sources.

use super::found::Origin;
use crate::Standing;
use std::fmt::Write;

/// Widest line of a file.
const WIDTH: usize = 100;

/// `source` and `standing`.
pub(super) fn source(origin: &Origin) -> String {
    let text = entry("source", &origin.text);
    let word = match origin.standing {
        Standing::Published => "published",
        Standing::Derived => "derived",
        Standing::Assumed => "assumed",
        Standing::Calibrated => "calibrated",
    };
    format!("{text}standing = \"{word}\"\n")
}

/// `key = "text"`, over several lines where it does not fit.
pub(super) fn entry(key: &str, text: &str) -> String {
    format!("{}\n", string(&format!("{key} = "), text, 0))
}

/// A string after `lead`; `tail` columns stay free behind it. Text from outside may hold anything.
pub(super) fn string(lead: &str, text: &str, tail: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let plain = !text.contains('\\');
    if plain && lead.chars().count() + text.chars().count() + 2 + tail <= WIDTH {
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

/// A comment within the width.
pub(super) fn comment(text: &str) -> String {
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
pub(super) fn number(value: u64) -> String {
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

/// A name as platform and cluster names must be: `a-z`, `0-9`, `-`, a letter first.
pub(super) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.to_ascii_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches('-');
    let name: String = name.chars().take(48).collect();
    match name.chars().next() {
        Some(c) if c.is_ascii_lowercase() => name,
        _ => format!("machine-{name}").trim_end_matches('-').to_owned(),
    }
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
    fn names_of_anything() {
        assert_eq!(slug("Pixel 6 (gs101).tree"), "pixel-6-gs101-tree");
        assert_eq!(slug("2-socket"), "machine-2-socket");
        assert_eq!(slug("///"), "machine");
    }
}
