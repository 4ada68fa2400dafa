//! Figures as text (docs/guide/results.md, "Intervals").
//!
//! What must stay: `json` and `exact` give the shortest text that reads back to the same double, so
//! that CSV and JSON lose nothing. The others round for people, and nothing is computed from what
//! they give. Free: words for people that no test quotes. Tests by part: `people_get_four_digits`
//! and `small_figures_keep_their_digits` (`short`, `unit`), `what_is_not_finite_is_not_shown`
//! (`json`, `exact`, `change`, `spread`), `times_and_seeds_read_well` (`duration`, `seeds`,
//! `percent`, `bound`, `bound_pct`, `factor`, `plus`),
//! comparison/tests.rs::`csv_has_every_metric_of_every_policy` (`exact`, in CSV), the first two
//! also `small`, `times_and_seeds_read_well` also `signed`,
//! `a_change_says_from_what_to_what` (`from_to`, `plain`).
//!
//! Callers: phrase.rs (`factor`, `bound`), html/figures.rs (`bound_pct`), published.rs (`percent`),
//! table.rs (`exact`), many files (`duration`), crates/cli/src/expect.rs (`from_to`).
//!
//! Tests: below

use serde_json::{Number, Value};

/// A figure in JSON: as short as it can be read back exactly; null if it is not finite.
pub(crate) fn json(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A figure as short as it can be read back exactly; None if it is not finite.
pub(crate) fn exact(value: f64) -> Option<String> {
    value.is_finite().then(|| format!("{value}"))
}

/// A figure for people: four significant digits, of small ones two at least; whole numbers whole.
#[must_use]
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    let decimals = match magnitude {
        m if m == m.trunc() && m < 1e15 => 0,
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        m if m >= 1.0 => 3,
        m if m >= 0.001 => 4,
        m if m >= TINY => small(m),
        _ => return format!("{value:.2e}"),
    };
    format!("{value:.decimals$}")
}

/// Below this a figure has an exponent.
const TINY: f64 = 1e-9;

/// Decimals with which a small figure keeps three digits.
fn small(magnitude: f64) -> usize {
    let (mut decimals, mut shown) = (4, magnitude * 1e4);
    while shown < 100.0 {
        decimals += 1;
        shown *= 10.0;
    }
    decimals
}

/// A unit for people.
pub(crate) fn unit(unit: &str) -> &str {
    if unit == "c" { "°C" } else { unit }
}

/// What stands for the percent of a change from a base of 0.
pub(crate) const FROM_ZERO: &str = "from 0";

/// From here on a change is said as a factor: nobody pictures +50675 %.
const FACTOR_PCT: f64 = 1000.0;

/// How many times as much a large change makes; None: percent say it better.
pub(crate) fn factor(pct: f64) -> Option<String> {
    let times = 1.0 + pct / 100.0;
    let decimals = if times >= 100.0 { 0 } else { 1 };
    (pct >= FACTOR_PCT && pct.is_finite()).then(|| format!("{times:.decimals$}"))
}

/// A change with its sign: `-13.39 %`; a large one as a factor, `x 24.0`.
pub(crate) fn change(pct: f64) -> String {
    factor(pct).map_or_else(|| percent(pct), |times| format!("x {times}"))
}

/// A change in percent with its sign, however large.
pub(crate) fn percent(pct: f64) -> String {
    match pct {
        pct if pct.is_finite() => format!("{} %", signed(pct)),
        pct if pct.is_infinite() => FROM_ZERO.to_owned(),
        _ => "-".to_owned(),
    }
}

/// A number with its sign, two decimals; more digits than a hundred needs are left out.
pub(crate) fn signed(value: f64) -> String {
    let decimals = if value.abs() >= 100.0 { 0 } else { 2 };
    plus(value, decimals)
}

/// Bounds of a change, one decimal: their own uncertainty is larger than the next.
pub(crate) fn bound(value: f64) -> String {
    let decimals = if value.abs() >= 100.0 { 0 } else { 1 };
    plus(value, decimals)
}

/// From which mean to which, and the change: `0.6 -> 1.4, +133 % [-39.8, +306]`; without percent
/// `0 -> 108.6 (from 0)`.
#[must_use]
pub fn from_to([from, to]: [f64; 2], pct: f64, bounds: Option<(f64, f64)>) -> String {
    let means = format!("{} -> {}", plain(from), plain(to));
    if !pct.is_finite() {
        return format!("{means} ({})", percent(pct));
    }
    let ends = bounds.filter(|(low, high)| low.is_finite() && high.is_finite());
    let ends = ends.map(|(low, high)| format!(" [{}, {}]", bound(low), bound(high)));
    format!("{means}, {}{}", percent(pct), ends.unwrap_or_default())
}

/// As [`short`], without zeros behind the last digit that says something.
fn plain(value: f64) -> String {
    let text = short(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A change, one decimal: `-13.4 %`, `x 24.0`.
pub(crate) fn bound_pct(pct: f64) -> String {
    factor(pct).map_or_else(
        || format!("{} %", plus(pct, 1)),
        |times| format!("x {times}"),
    )
}

/// A number with its sign; what rounds to nothing is not negative.
fn plus(value: f64, decimals: usize) -> String {
    let shown = format!("{value:+.decimals$}");
    match shown.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        _ => shown,
    }
}

/// A relative spread: `±1.2 %`.
pub(crate) fn spread(rsd_pct: f64) -> String {
    if rsd_pct.is_finite() {
        format!("±{rsd_pct:.1} %")
    } else {
        "-".to_owned()
    }
}

/// A time for people, from ns: `30 s`, `1.5 ms`.
pub(crate) fn duration(ns: u64) -> String {
    let (value, unit) = match ns {
        1_000_000_000.. => (ns as f64 / 1e9, "s"),
        1_000_000.. => (ns as f64 / 1e6, "ms"),
        1_000.. => (ns as f64 / 1e3, "us"),
        _ => (ns as f64, "ns"),
    };
    format!("{value} {unit}")
}

/// Seeds for people: `10 seeds (1-10)`.
pub(crate) fn seeds(seeds: &[u64]) -> String {
    let consecutive = seeds.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]));
    match seeds {
        [] => "no seeds".to_owned(),
        [one] => format!("seed {one}"),
        [first, .., last] if consecutive => format!("{} seeds ({first}-{last})", seeds.len()),
        _ => {
            let words: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!("{} seeds ({})", seeds.len(), words.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        FROM_ZERO, bound, bound_pct, change, duration, exact, from_to, json, percent, seeds, short,
        spread, unit,
    };

    #[test]
    fn people_get_four_digits() {
        let shown: Vec<_> = [
            0.0, 0.012_345, 1.234_56, 33.451, 110.14, 12_345.6, 7.0, -2.5,
        ]
        .iter()
        .map(|v| short(*v))
        .collect();
        let expected = [
            "0", "0.0123", "1.235", "33.45", "110.1", "12346", "7", "-2.500",
        ];
        assert_eq!(shown, expected);
    }

    /// Goal: what is small is not shown as nothing.
    #[test]
    fn small_figures_keep_their_digits() {
        let shown = [0.005, 0.000_012_345, -0.000_4, 0.01, 1.5e-9, 1.234e-12].map(short);
        let expected = [
            "0.0050",
            "0.0000123",
            "-0.000400",
            "0.0100",
            "0.00000000150",
            "1.23e-12",
        ];
        assert_eq!(shown, expected);
        assert_eq!((unit("c"), unit("us")), ("°C", "us"));
    }

    #[test]
    fn what_is_not_finite_is_not_shown() {
        assert!(json(f64::INFINITY).is_null() && json(f64::NAN).is_null());
        assert_eq!(exact(f64::NAN), None);
        assert_eq!(
            (change(f64::NAN), spread(f64::INFINITY)),
            ("-".into(), "-".into())
        );
        assert_eq!(
            [change(f64::INFINITY), change(f64::NEG_INFINITY)],
            [FROM_ZERO; 2]
        );
    }

    /// Goal: both means stand there, and what has no percent has none. 0.6 to 1.4 is +133.3 %.
    #[test]
    fn a_change_says_from_what_to_what() {
        let said = from_to([0.6, 1.4], 133.333, Some((-39.84, 306.2)));
        assert_eq!(said, "0.6 -> 1.4, +133 % [-39.8, +306]");
        assert_eq!(from_to([2.0, 1.95], -2.5, None), "2 -> 1.95, -2.50 %");
        let none = f64::INFINITY;
        let said = from_to([0.0, 108.6], none, Some((none, none)));
        assert_eq!(said, "0 -> 108.6 (from 0)");
    }

    #[test]
    fn times_and_seeds_read_well() {
        assert_eq!(duration(30_000_000_000), "30 s");
        assert_eq!(duration(1_500_000), "1.5 ms");
        assert_eq!(seeds(&[1, 2, 3]), "3 seeds (1-3)");
        assert_eq!(seeds(&[7]), "seed 7");
        assert_eq!(seeds(&[1, 5]), "2 seeds (1, 5)");
        assert_eq!(change(-13.391), "-13.39 %");
        assert_eq!([change(999.0), percent(2500.0)], ["+999 %", "+2500 %"]);
        // 2500 % more are 26 times as much, 50675 % 507.75 times.
        assert_eq!([change(2500.0), change(50_675.0)], ["x 26.0", "x 508"]);
        assert_eq!(bound_pct(1000.0), "x 11.0");
        assert_eq!([change(-0.004), change(-0.0)], ["0.00 %"; 2]);
        assert_eq!(
            [bound(-0.04), bound(-0.06), bound(0.04)],
            ["0.0", "-0.1", "+0.0"]
        );
    }
}
