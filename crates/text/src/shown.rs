//! Text from outside (names of platforms, clusters, tasks, files, what a user typed) on its way
//! out. It may hold anything: here it becomes harmless for the place where it is shown. JSON
//! keeps it exactly.
//!
//! Callers: crates/cli/src/terminal.rs (`printable_lines`), crates/report/src/table.rs
//! (`markdown_cell`, `csv_cell`), crates/report/src/comparison.rs (`markdown`),
//! crates/report/src/number.rs (`json`). A text is made harmless once, for the place where it is
//! shown.
//!
//! What must stay: what steers a terminal, is markup or a formula never passes; ordinary text and
//! figures come out as they are; JSON means the same. Free: what stands in place of a character.
//! Tests by part: `ordinary_text_stays_as_it_is` (`replaced`), `what_steers_a_terminal_is_replaced`
//! (`steers`, `printable`, `printable_lines`), `markdown_has_no_html_no_links_and_one_line`
//! (`markdown`, `markdown_cell`), `csv_has_figures_and_no_formulas` (`csv_cell`),
//! `json_means_the_same` (`json`), hostile_text.rs::`results_show_names_harmlessly_in_every_form`
//! (the callers).
//!
//! Tests: below, crates/cli/tests/all/hostile_text.rs

use std::borrow::Cow;

/// Does it steer a terminal, or change what the characters beside it look like?
///
/// C0 and C1 controls (ESC and CSI among them), line and paragraph separators, the directional
/// formatting characters of Unicode's UAX 9, and the invisible operators, which the report's tables
/// use as marks.
fn steers(c: char) -> bool {
    let formatting = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
    );
    c.is_control() || formatting || matches!(c, '\u{2061}'..='\u{206f}')
}

/// The text with each character that steers replaced, but for those kept. Borrowed if there is
/// none.
fn replaced<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let bad = |c: char| steers(c) && !kept.contains(&c);
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let shown = |c| {
        if bad(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// The text on one line, with `�` for each character that would steer a terminal.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, &[])
}

/// The text made printable as a text of several lines: newlines and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, &['\n', '\t'])
}

/// The text as a part of a line of Markdown: no HTML, no link or image, no line of its own.
///
/// A `<` begins HTML only before a letter, `/`, `!` or `?` (CommonMark 6.6), and a link needs `](`.
#[must_use]
pub fn markdown(text: &str) -> String {
    let text = text.replace(['\n', '\t'], " ");
    let text = printable(&text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let begins_html = |next: &char| next.is_ascii_alphabetic() || "/!?".contains(*next);
        match (c, rest.peek()) {
            ('<', Some(next)) if begins_html(next) => out.push_str("&lt;"),
            (']', Some('(')) => out.push_str("]\\"),
            _ => out.push(c),
        }
    }
    out
}

/// The text as a cell of a Markdown table.
#[must_use]
pub fn markdown_cell(text: &str) -> String {
    // `\|` is a bar; a backslash before it would take its backslash away.
    markdown(text).replace("\\|", "\\\\|").replace('|', "\\|")
}

/// The text as a cell of CSV, not quoted yet: a spreadsheet must not take it for a formula. A
/// figure stays one; other text that begins as a formula does gets a `'` before it, which
/// spreadsheets take for "this is text".
#[must_use]
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    /// By OWASP's page on CSV injection; tabs and carriage returns are replaced before.
    const BEGINS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let shown = printable(text);
    let is_formula = shown.starts_with(BEGINS) && shown.chars().nth(1).is_some();
    if is_formula && shown.parse::<f64>().is_err() {
        return Cow::Owned(format!("'{shown}"));
    }
    shown
}

/// JSON whose strings have `\u` escapes for what would steer a terminal; it means the same.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    // Between strings there is nothing of the kind but newlines.
    let bad = |c: char| steers(c) && c != '\n';
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // All such characters have one unit of UTF-16.
            c if bad(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{csv_cell, json, markdown, markdown_cell, printable, printable_lines};
    use std::borrow::Cow;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["big", "Krait 300 (é, 中, ±3 %)", "a-b_c.d/e", ""] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(csv_cell(text), Cow::Borrowed(same) if same == text));
            assert_eq!(markdown_cell(text), text);
        }
        assert_eq!(printable_lines("a\n\tb"), "a\n\tb");
    }

    #[test]
    fn what_steers_a_terminal_is_replaced() {
        for bad in [
            '\u{1b}', '\u{9b}', '\u{7f}', '\0', '\r', '\n', '\t', '\u{202e}', '\u{2066}',
            '\u{200f}', '\u{61c}', '\u{2028}', '\u{2063}',
        ] {
            assert_eq!(printable(&format!("a{bad}b")), "a\u{fffd}b", "{bad:?}");
        }
        assert_eq!(
            printable_lines("a\u{1b}[31m\nb\r"),
            "a\u{fffd}[31m\nb\u{fffd}"
        );
    }

    #[test]
    fn markdown_has_no_html_no_links_and_one_line() {
        assert_eq!(markdown("<script>x</script>"), "&lt;script>x&lt;/script>");
        assert_eq!(markdown("a <= b < 3"), "a <= b < 3");
        assert_eq!(markdown("![x](http://y)"), "![x]\\(http://y)");
        assert_eq!(markdown("a\n# b\u{1b}"), "a # b\u{fffd}");
        assert_eq!(markdown_cell("a|b"), "a\\|b");
        // A backslash of the text's own, and a bar.
        assert_eq!(markdown_cell("a\\|b"), "a\\\\\\|b");
    }

    #[test]
    fn csv_has_figures_and_no_formulas() {
        for figure in ["-3.5", "+1e9", "-0", "-"] {
            assert_eq!(csv_cell(figure), figure);
        }
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(csv_cell("-2+3"), "'-2+3");
        assert_eq!(csv_cell("+A1"), "'+A1");
        assert_eq!(csv_cell("\t=1"), "\u{fffd}=1");
    }

    #[test]
    fn json_means_the_same() {
        assert_eq!(
            json("{\n  \"a\u{9b}\": \"\u{202e}\"\n}"),
            "{\n  \"a\\u009b\": \"\\u202e\"\n}"
        );
        assert!(matches!(json("{}"), Cow::Borrowed("{}")));
    }
}
