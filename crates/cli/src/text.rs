//! Small pieces of text that several commands print. What it joins and wraps has been made harmless
//! by its caller.
//!
//! Lengths are columns of a terminal. Free: how text looks.
//!
//! What must stay: `cpu_list` has the kernel's form, which `platform show` prints and people type
//! back. A word is never cut, so that a command can be copied. Without a terminal lines are
//! `PIPE_WIDTH` wide, so that output does not depend on the window. Tests by part:
//! `cpu_lists_join_neighbours` (`cpu_list`), `messages_hang` (`hung`),
//! `words_are_wrapped_and_never_cut` (`wrapped`, `folded`), readme.rs::`pages_fit_a_terminal`
//! (`prose_width`, `heading`),
//! crates/cli/tests/all/hostile_text.rs::`answers_show_names_harmlessly_in_every_form` (`folded`,
//! `json`), crates/cli/tests/all/streams.rs::`files_and_no_color_get_none` (`style`, `plain`).
//!
//! Tests: below, crates/cli/tests/all/hostile_text.rs, crates/cli/src/readme.rs,
//! crates/cli/tests/all/streams.rs::files_and_no_color_get_none

use crate::args::FormatName;
use crate::terminal::Terminal;
use std::fmt::Write as _;
use wakeplace_report::{Format, Style};
use wakeplace_text::printable;
pub(crate) use wakeplace_text::time;

/// The report crate's name of a format.
pub(crate) fn format(name: FormatName) -> Format {
    match name {
        FormatName::Human => Format::Human,
        FormatName::Json => Format::Json,
        FormatName::Csv => Format::Csv,
        FormatName::Md => Format::Md,
    }
}

/// How text on standard output looks.
pub(crate) fn style(terminal: Terminal) -> Style {
    Style {
        color: terminal.stdout_color(),
        width: terminal.width().unwrap_or(PIPE_WIDTH),
    }
}

/// How text in a file looks.
pub(crate) fn plain() -> Style {
    Style {
        color: false,
        width: PIPE_WIDTH,
    }
}

/// Columns where no terminal says how many there are.
const PIPE_WIDTH: usize = 100;

/// Widest column of running text.
const PROSE_WIDTH: usize = 96;

/// CPU numbers as the kernel writes them: `0-3,6`.
pub(crate) fn cpu_list(cpus: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = cpus;
    while let [first, ..] = rest {
        let length = rest
            .iter()
            .zip(*first..=u32::MAX)
            .take_while(|(cpu, next)| *cpu == next)
            .count();
        let last = rest[length - 1];
        rest = &rest[length..];
        if !text.is_empty() {
            text.push(',');
        }
        let _ = match length {
            1 => write!(text, "{first}"),
            _ => write!(text, "{first}-{last}"),
        };
    }
    text
}

/// Columns for running text.
pub(crate) fn prose_width(style: Style) -> usize {
    style.width.clamp(40, PROSE_WIDTH)
}

/// Text broken at blanks into lines of at most so many columns, the first of at most `first`; a
/// word is never cut. At least one line.
pub(crate) fn folded(text: &str, first: usize, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = printable(word);
        let room = if lines.len() == 1 { first } else { width };
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + word.chars().count() > room {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(&word);
        }
    }
    lines
}

/// Text, perhaps from a file, wrapped at blanks, every line behind `indent`; ends with a newline.
pub(crate) fn wrapped(text: &str, indent: &str, style: Style) -> String {
    let width = prose_width(style) - indent.len();
    indented(&(folded(text, width, width).join("\n") + "\n"), indent)
}

/// Lines that are too long for a terminal are wrapped at blanks, and what is wrapped is set in;
/// without a width, and where they fit, they stay as they are.
pub(crate) fn hung(text: &str, width: Option<usize>) -> String {
    let one = |line: &str| {
        let Some(width) = width.filter(|width| line.chars().count() > *width) else {
            return line.to_owned();
        };
        let words = line.trim_start();
        let blanks = " ".repeat(line.len() - words.len());
        let room = width.saturating_sub(blanks.len());
        let lines = folded(words, room, room.saturating_sub(2));
        format!("{blanks}{}", lines.join(&format!("\n{blanks}  ")))
    };
    text.split('\n').map(one).collect::<Vec<_>>().join("\n")
}

/// A heading of human output, perhaps with a name from a file in it.
pub(crate) fn heading(text: &str, style: Style) -> String {
    let text = hung(
        &printable(text),
        Some(style.width).filter(|width| *width > 0),
    );
    if style.color {
        format!("\x1b[1m{text}\x1b[0m\n")
    } else {
        format!("{text}\n")
    }
}

/// Every line behind `indent`.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    text.lines()
        .map(|line| format!("{indent}{line}").trim_end().to_owned() + "\n")
        .collect()
}

/// A JSON object as text.
pub(crate) fn json(value: &serde_json::Value) -> String {
    wakeplace_text::json(&format!("{value:#}\n")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{cpu_list, hung, plain, wrapped};

    #[test]
    fn cpu_lists_join_neighbours() {
        assert_eq!(cpu_list(&[]), "");
        assert_eq!(cpu_list(&[0, 1, 2, 3, 6, 8, 9]), "0-3,6,8-9");
        assert_eq!(cpu_list(&[u32::MAX]), u32::MAX.to_string());
    }

    /// Goal: a long message is indented where it goes on, a short one is as it was, and without a
    /// terminal nothing changes.
    #[test]
    fn messages_hang() {
        let text = "error: one two three four\n  | as  it is\n  five six seven eight nine";
        let expected =
            "error: one two three\n  four\n  | as  it is\n  five six seven\n    eight nine";
        assert_eq!(hung(text, Some(20)), expected);
        assert_eq!(hung(text, None), text);
        assert_eq!(hung(&"x".repeat(50), Some(40)), "x".repeat(50));
    }

    #[test]
    fn words_are_wrapped_and_never_cut() {
        let text = wrapped(&"word ".repeat(40), "  ", plain());
        assert!(
            text.lines()
                .all(|line| line.len() <= 96 && line.starts_with("  word"))
        );
        assert_eq!(text.matches("word").count(), 40);
        let long = "x".repeat(300);
        assert_eq!(wrapped(&long, "", plain()), format!("{long}\n"));
    }
}
