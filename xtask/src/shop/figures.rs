//! Figures of runs and how a table shows them (ARCHITECTURE.md, "The workshop").
//!
//! What must stay: rounding: figures of pages are compared as text. Free: how it is done, and words
//! that no test or script reads. Tests by part: `rows_keep_their_order` (`middle`, `median`,
//! `percentile`, `ordered`, `read`, `add`, `rows`, `of`), `four_digits_are_those_of_c` (`four`).
//!
//! Callers: live/waits.rs (`percentile`), measure/eras.rs (`four`).
//!
//! Tests: below

use std::collections::BTreeMap;

/// A figure with four digits that count, as C's `%.4g` has it.
#[must_use]
pub fn four(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = format!("{value:.3e}");
    let (digits, exponent) = exponent.split_once('e').unwrap_or((&exponent, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    let shorter = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..4).contains(&power) {
        let decimals = usize::try_from(3 - power).unwrap_or_default();
        return shorter(&format!("{value:.decimals$}"));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", shorter(digits), power.abs())
}

/// The middle one; of two, the lower.
#[must_use]
pub fn middle(values: &[f64]) -> f64 {
    let ordered = ordered(values);
    ordered
        .get(ordered.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(f64::NAN)
}

/// The mean of the middle ones.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let ordered = ordered(values);
    match ordered.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => ordered[n / 2],
        n => f64::midpoint(ordered[n / 2 - 1], ordered[n / 2]),
    }
}

/// The value below which a share of them lies.
#[must_use]
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let ordered = ordered(values);
    let at = (ordered.len() as f64 * share) as usize;
    ordered
        .get(at.min(ordered.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

/// Ascending; NaN last.
fn ordered(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// Repeated measurements by row, in the order in which rows first came.
#[derive(Clone, Debug, Default)]
pub struct Series {
    order: Vec<String>,
    values: BTreeMap<String, Vec<f64>>,
}

impl Series {
    /// Lines `WORD: ROW VALUE...` of a text; `column` is that of the values, from 0.
    #[must_use]
    pub fn read(text: &str, word: &str, column: usize) -> Self {
        let mut series = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if words.next() != Some(word) {
                continue;
            }
            let (Some(row), Some(value)) = (words.next(), words.nth(column)) else {
                continue;
            };
            if let Ok(value) = value.parse() {
                series.add(row, value);
            }
        }
        series
    }

    /// Rows keep the order in which they come first.
    fn add(&mut self, row: &str, value: f64) {
        if !self.values.contains_key(row) {
            self.order.push(row.to_owned());
        }
        self.values.entry(row.to_owned()).or_default().push(value);
    }

    /// The rows in their order.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.order
    }

    /// The repeats of a row.
    #[must_use]
    pub fn of(&self, row: &str) -> &[f64] {
        self.values.get(row).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::{Series, four, median, middle, percentile};

    /// Source: `printf %.4g` of the GNU C library.
    #[test]
    fn four_digits_are_those_of_c() {
        let cases = [
            (0.0, "0"),
            (1.759_34, "1.759"),
            (377.44, "377.4"),
            (2743.4, "2743"),
            (728.0, "728"),
            (12_345.0, "1.234e+04"),
            (100_000.0, "1e+05"),
            (0.000_123_456, "0.0001235"),
            (0.000_012_3, "1.23e-05"),
            (-10.5, "-10.5"),
            (9_999.6, "1e+04"),
        ];
        for (value, text) in cases {
            assert_eq!(four(value), text, "{value}");
        }
    }

    #[test]
    fn rows_keep_their_order() {
        let series = Series::read("a: x 3\ncost: b 1\ncost: a 5 7\ncost: b 2\n", "cost:", 0);
        assert_eq!(series.rows(), ["b", "a"]);
        assert_eq!(series.of("b"), [1.0, 2.0]);
        let second = Series::read("cost: a 5 7\n", "cost:", 1);
        assert_eq!(second.of("a"), [7.0]);
        assert_eq!(
            (middle(&[3.0, 1.0, 2.0, 4.0]), median(&[3.0, 1.0, 2.0, 4.0])),
            (2.0, 2.5)
        );
        assert_eq!(percentile(&[4.0, 1.0, 3.0, 2.0], 0.5), 3.0);
    }
}
