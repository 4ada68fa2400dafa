//! Figures as pages show them: with true minus signs, and units that stay with their values
//! (docs/guide/report.md).
//!
//! What must stay: rounding is `number.rs`'; here only signs and blanks differ, so that page and
//! terminal have the same digits. A hyphen within a name is no minus. Free: words for people that
//! no test quotes. Tests by part: `negative_numbers_have_a_true_minus` (`minus`, `change`,
//! `interval`, `unit`), `nothing_is_not_negative` (what rounds to 0),
//! html/tests.rs::`the_json_of_a_study_is_read_back` (`spread`).
//!
//! Callers: compared.rs (`minus`, `change`, `interval`), rows.rs (`change`, `interval`, `spread`),
//! study.rs (`minus`, `change`, `interval`), sensitivity.rs (`change`, `interval`), tables.rs
//! (`interval`, `spread`).
//!
//! Tests: below, crates/report/src/html/tests.rs::the_json_of_a_study_is_read_back

use crate::comparison::with_unit;
use crate::{number, phrase};

/// A blank at which no line ends.
const STAY: char = '\u{a0}';

/// Text whose negative numbers have a true minus sign: a hyphen before a digit, where a word
/// begins.
pub(super) fn minus(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let begins = matches!(before, ' ' | STAY | '[' | '(' | '±');
        let number = begins && rest.peek().is_some_and(char::is_ascii_digit);
        shown.push(if c == '-' && number { '−' } else { c });
        before = c;
    }
    shown
}

/// A change in percent, one decimal.
pub(super) fn change(pct: f64) -> String {
    minus(&number::bound_pct(pct)).replace(' ', &STAY.to_string())
}

/// Both ends of an interval.
pub(super) fn interval(ends: Option<(f64, f64)>) -> Option<String> {
    phrase::interval(ends).map(|shown| minus(&shown).replace(" %", &format!("{STAY}%")))
}

/// A relative spread.
pub(super) fn spread(rsd_pct: f64) -> String {
    number::spread(rsd_pct).replace(' ', &STAY.to_string())
}

/// A figure with its unit; µs as people write it.
pub(super) fn unit(value: f64, unit: &str) -> String {
    let shown = with_unit(value, if unit == "us" { "µs" } else { unit });
    minus(&shown).replace(' ', &STAY.to_string())
}

#[cfg(test)]
mod tests {
    use super::{change, interval, minus, unit};

    /// Goal: one sign for all that is negative, and no other hyphen is taken for one.
    #[test]
    fn negative_numbers_have_a_true_minus() {
        let text = "linux-4.17 -10 % [95 % CI -3.0 to -2.0 %], +3 (-1), sis-2, a - b, x=-1";
        let shown = "linux-4.17 −10 % [95 % CI −3.0 to −2.0 %], +3 (−1), sis-2, a - b, x=-1";
        assert_eq!(minus(text), shown);
        assert_eq!(change(-10.0), "−10.0\u{a0}%");
        assert_eq!(
            interval(Some((-2.0, -1.0))).as_deref(),
            Some("−2.0 to −1.0\u{a0}%")
        );
        assert_eq!(unit(-2.5, "us"), "−2.500\u{a0}µs");
    }

    #[test]
    fn nothing_is_not_negative() {
        assert_eq!(
            [change(-0.04), change(0.0)],
            ["0.0\u{a0}%", "+0.0\u{a0}%"],
            "what rounds to nothing has no minus"
        );
        assert_eq!(
            interval(Some((-0.01, 0.3))).as_deref(),
            Some("0.0 to +0.3\u{a0}%")
        );
    }
}
