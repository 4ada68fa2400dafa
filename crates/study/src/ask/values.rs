//! Reading values of arguments that nothing else reads (CONTRIBUTING.md, "Add an argument").
//!
//! What must stay: what is accepted, since commands, files and notebooks have it; times become ns;
//! an error says what was expected. The words of errors may change. Tests by part:
//! `windows_have_a_length` (`window`), `settings_have_a_key_and_a_value` (`setting`),
//! `numbers_say_their_range` (`seed`, `cpu`, `whole`),
//! ask/tests.rs::`the_same_question_in_two_languages` (`margin` with `%`),
//! bad_input.rs::`numbers_say_what_is_expected` (`wakeup`, by the command).
//!
//! Tests: below, crates/cli/tests/all/bad_input.rs::numbers_say_what_is_expected

use std::fmt::Display;
use std::str::FromStr;
use wakeplace_metrics::Window;
use wakeplace_platform::MAX_CPUS;
use wakeplace_text::shorten;

/// `FROM..TO`, times of a run.
pub(super) fn window(text: &str) -> Result<Window, String> {
    let form = "expected FROM..TO with FROM before TO, as 1s..1200ms";
    let (from, to) = text
        .split_once("..")
        .ok_or_else(|| format!("no `..` between two times; {form}"))?;
    let time = |part: &str| {
        wakeplace_text::parse_duration_or_zero_ns(part.trim())
            .map_err(|error| format!("{error}; {form}"))
    };
    let (from_ns, to_ns) = (time(from)?, time(to)?);
    if from_ns >= to_ns {
        return Err(format!("it has no length; {form}"));
    }
    Ok(Window { from_ns, to_ns })
}

/// How many lines are told: a whole number above 0.
///
/// # Errors
/// What was expected.
pub(super) fn lines(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        let text = shorten(text);
        format!("`{text}`; expected a whole number, 1 or more, as `20`")
    })
}

/// A percentage of 0 or more.
///
/// # Errors
/// What was expected.
pub fn margin(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    let margin = number.ok().filter(|n| n.is_finite() && *n >= 0.0);
    margin.ok_or_else(|| {
        let text = shorten(text);
        format!("`{text}`; expected a percentage of 0 or more, as `1`")
    })
}

/// `KEY=VALUE`, as `--set` takes it.
///
/// # Errors
/// What is wrong, and what was expected.
pub fn setting(text: &str) -> Result<(String, String), String> {
    let assigns = |part: &str| part.contains('=');
    if text
        .split_once(',')
        .is_some_and(|(_, rest)| rest.split(',').any(assigns))
    {
        return Err(format!(
            "`{}` are several settings; expected one, and the option once for each",
            shorten(text)
        ));
    }
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("no setting; expected KEY=VALUE, as `energy_margin_shift=4`".to_owned()),
    }
}

/// A seed, as `--seed` takes it.
///
/// # Errors
/// What is wrong, and what was expected.
pub fn seed(text: &str) -> Result<u64, String> {
    let seed = whole(text, "a whole number", (0, u64::MAX));
    seed.map_err(|expected| match crate::parse_seeds(text) {
        Ok(_) => format!("{expected}; several are `--seeds {text}`"),
        Err(_) => expected,
    })
}

/// The number of a wake-up.
pub(super) fn wakeup(text: &str) -> Result<u64, String> {
    whole(text, "the number of a wake-up", (0, u64::MAX))
}

/// The number of a CPU of some platform: whether it has the CPU is asked later.
pub(super) fn cpu(text: &str) -> Result<u32, String> {
    whole(text, "the number of a CPU,", (0, MAX_CPUS as u32 - 1))
}

/// A whole number from `from` to `to`.
///
/// # Errors
/// What was expected.
pub fn whole<T: FromStr + PartialOrd + Display>(
    text: &str,
    what: &str,
    (from, to): (T, T),
) -> Result<T, String> {
    let number = { text.parse::<T>().ok() }.filter(|number| (&from..=&to).contains(&number));
    number.ok_or_else(|| format!("expected {what} from {from} to {to}"))
}

#[cfg(test)]
mod tests {
    use super::{cpu, seed, setting, window};

    #[test]
    fn windows_have_a_length() {
        let found = window("0s..1200us").unwrap();
        assert_eq!((found.from_ns, found.to_ns), (0, 1_200_000));
        for text in ["", "1s", "1s..", "2s..1s", "1s..1s", "a..b"] {
            let error = window(text).expect_err(text);
            assert!(error.contains("expected FROM..TO"), "{text}: {error}");
        }
    }

    #[test]
    fn settings_have_a_key_and_a_value() {
        assert_eq!(setting("a = b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        let list = setting("a=b,c=d").unwrap_err();
        assert!(list.contains("several settings"), "{list}");
        assert!(setting("a").is_err() && setting("=b").is_err() && setting("a=").is_err());
    }

    #[test]
    fn numbers_say_their_range() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(cpu("1023"), Ok(1023));
        let range = "expected a whole number from 0 to 18446744073709551615";
        for text in ["-1", "x", "", "1.5", "18446744073709551616"] {
            assert_eq!(seed(text), Err(range.to_owned()), "{text}");
        }
        let several = format!("{range}; several are `--seeds 1,2`");
        assert_eq!(seed("1,2"), Err(several));
        let cpu = cpu("1024").unwrap_err();
        assert_eq!(cpu, "expected the number of a CPU, from 0 to 1023");
    }
}
