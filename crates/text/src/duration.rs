//! Times as people write them: `30s`, `1.5ms`. Integers only.
//!
//! Callers: crates/study/src/ask/arguments.rs (`parse_duration_ns`), crates/cli/src/args/values.rs
//! (`parse_duration_or_zero_ns`), crates/engine/src/options.rs (`time`).
//!
//! What must stay: what is accepted stays accepted, as files and scripts have it; no floating point
//! in parsing, so that every build reads the same; 0 only where it means something. Free: words of
//! refusals, and new units. Tests by part: `times_are_exact`, `what_is_no_time_is_refused`
//! (`parse_duration_ns`, `parse_duration_or_zero_ns`, `parse`), `products_are_whole_or_none`
//! (`scaled`), `times_have_a_fitting_unit` (`time`).
//!
//! Tests: below

/// Longest time, 1,000,000 s: far beyond use, and no sum of a few of them overflows.
const MAX_NS: u64 = 1_000_000_000_000_000;

/// A time above 0 with its unit, in nanoseconds; a fraction must be whole nanoseconds.
///
/// # Errors
/// What is wrong and what was expected.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    let expected = "expected a time above 0 with its unit (ns, us, ms, s, m), as `30s` or `1.5ms`, \
                    up to 1000000s";
    match parse(text, expected)? {
        0 => Err(format!("`{}` is no time; {expected}", crate::shorten(text))),
        ns => Ok(ns),
    }
}

/// A time with its unit, in nanoseconds, where 0 means something.
///
/// # Errors
/// What is wrong and what was expected.
pub fn parse_duration_or_zero_ns(text: &str) -> Result<u64, String> {
    parse(
        text,
        "expected a time of 0 or more with its unit (ns, us, ms, s, m), as `16ms` or `1.5us`, up \
         to 1000000s",
    )
}

/// A number with its unit in ns, exact.
fn parse(text: &str, expected: &str) -> Result<u64, String> {
    let shown = crate::shorten(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit_ns = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "" => return Err(format!("`{shown}` has no unit; {expected}")),
        _ => return Err(format!("`{shown}` is no time; {expected}")),
    };
    if number.is_empty() {
        return Err(format!("`{shown}` has no number; {expected}"));
    }
    let ns = scaled(number, unit_ns)
        .ok_or_else(|| format!("`{shown}` is no whole number of nanoseconds; {expected}"))?;
    match u64::try_from(ns) {
        Ok(ns) if ns <= MAX_NS => Ok(ns),
        _ => Err(format!("`{shown}` is too long; expected at most 1000000s")),
    }
}

/// A decimal number times `scale`; None if the text is none, or the product not whole or too big.
#[must_use]
pub fn scaled(number: &str, scale: u64) -> Option<u128> {
    /// Digits before the point, and after it without zeros at the end: no product overflows.
    const MAX_DIGITS: usize = 18;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let (whole, fraction) = (
        whole.trim_start_matches('0'),
        fraction.trim_end_matches('0'),
    );
    let value = |digits: &str| match digits.len() {
        0 => Some(0),
        1..=MAX_DIGITS => digits.parse::<u128>().ok(),
        // More than any time has: the caller calls it too long.
        _ => None,
    };
    let scale = u128::from(scale);
    let parts = value(fraction)? * scale;
    let ten = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    (parts % ten == 0).then_some(value(whole)? * scale + parts / ten)
}

/// A time for people: the largest unit in which it is at least 1.
#[must_use]
pub fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => (ns as f64, "ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    format!("{value} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{parse_duration_ns, parse_duration_or_zero_ns, scaled, time};

    #[test]
    fn times_have_a_fitting_unit() {
        assert_eq!(time(0), "0 ns");
        assert_eq!(time(1_500), "1.5 us");
        assert_eq!(time(30_000_000_000), "30 s");
    }

    #[test]
    fn times_are_exact() {
        for (text, ns) in [
            ("30s", 30_000_000_000),
            ("1.5s", 1_500_000_000),
            ("500ms", 500_000_000),
            ("0.000000001s", 1),
            ("1.50us", 1_500),
            ("7ns", 7),
            ("2m", 120_000_000_000),
            ("0.5m", 30_000_000_000),
            ("1000000s", 1_000_000_000_000_000),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
            assert_eq!(parse_duration_or_zero_ns(text), Ok(ns), "{text}");
        }
        assert_eq!(parse_duration_or_zero_ns("0ms"), Ok(0));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", "0", "0s", "16", "0.4ns", "1.5ns", "s", "ms", "-1s", "+1s", "1h", "1 s", "1.s",
            ".5s", "1..5s", "1e3s", "1Ms", "٣s",
        ] {
            let error = parse_duration_ns(text).expect_err(text);
            assert!(error.contains("expected a time above 0"), "{text}: {error}");
        }
        for text in ["1000000.1s", "1000001s", "99999999999m"] {
            let error = parse_duration_ns(text).expect_err(text);
            assert!(error.contains("at most 1000000s"), "{text}: {error}");
        }
        assert!(parse_duration_ns(&format!("{}m", "9".repeat(500))).is_err());
    }

    #[test]
    fn products_are_whole_or_none() {
        assert_eq!(scaled("0.25", 1_000_000), Some(250_000));
        assert_eq!(scaled("007", 2), Some(14));
        assert_eq!(scaled("0.0000001", 1_000_000), None);
        assert_eq!(scaled("", 1), None);
        assert_eq!(
            scaled(&"9".repeat(18), u64::MAX),
            Some(999_999_999_999_999_999 * u128::from(u64::MAX))
        );
    }
}
