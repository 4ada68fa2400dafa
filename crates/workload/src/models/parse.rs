//! What the text of one value says, whichever model and key it is of (`values.rs` knows those):
//! numbers, times, percentages, ranges to draw from, CPU lists. Integers only
//! (docs/guide/workloads.md).
//!
//! Called by `values.rs`. Pure; `None` is a text that is no such value. What is accepted stays
//! accepted. Times are ns, shares exact in millionths.
//!
//! What must stay: a number has no sign, a time has a unit, a percentage is exact to a millionth or
//! refused. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `numbers_have_no_sign` (`number`, `time`),
//! `two_values_are_a_range` (`spread`), `percentages_are_exact` (`percent_e6`, `share`),
//! `cpu_lists_join_with_plus` (`cpu_list`), periodic.rs::`performance_hints` (`hint`),
//! periodic.rs::`every_key_is_obeyed` (`cpu`), `the_others_say_what_is_expected` (what is refused).
//!
//! Tests: below, crates/workload/tests/all/periodic.rs,
//! crates/workload/tests/all/benchmark_arguments.rs
use super::draw::Spread;
use super::work::Share;
use std::str::FromStr;
use wakeplace_text::{parse_duration_or_zero_ns, scaled};

/// The most CPUs a machine can have here (design: 1024 natively).
const MAX_CPUS: u32 = 1024;

/// A bound on all times: 1000 s, far above any, and no sum of these overflows.
pub(crate) const MAX_TIME_NS: u64 = 1_000_000_000_000;

/// A whole number, digits only: no sign.
pub(crate) fn number<T: FromStr>(text: &str) -> Option<T> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// A time such as `16ms`, at most 1000 s, ns.
pub(crate) fn time(text: &str) -> Option<u64> {
    let time = parse_duration_or_zero_ns(text).ok();
    time.filter(|&ns| ns <= MAX_TIME_NS)
}

/// `A` or `A-B`, A not above B.
pub(crate) fn spread(text: &str, read: impl Fn(&str) -> Option<u64>) -> Option<Spread> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    Spread::new(read(least)?, read(most)?)
}

/// A percentage such as `5%` or `0.25%`, at most 100 %.
pub(crate) fn share(text: &str) -> Option<Share> {
    percent_e6(text).and_then(Share::from_percent_e6)
}

/// A percentage in millionths of a percent.
pub(crate) fn percent_e6(text: &str) -> Option<u64> {
    u64::try_from(scaled(text.strip_suffix('%')?, 1_000_000)?).ok()
}

/// A performance hint. Percentages are rounded to the nearest, as those of `cpu.uclamp.min`.
pub(crate) fn hint(text: &str) -> Result<u16, &'static str> {
    const ALL_E6: u64 = 100_000_000;
    let hint = match percent_e6(text).filter(|e6| *e6 <= ALL_E6) {
        Some(e6) => u16::try_from((e6 * 1024 + ALL_E6 / 2) / ALL_E6).ok(),
        None => number(text),
    };
    hint.filter(|hint| *hint <= 1024)
        .ok_or("a number from 0 to 1024, or a percentage such as 50%")
}

/// A list such as `0-3+5`, ascending and without repetitions.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.split('+') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu(first)?, cpu(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
        cpus.sort_unstable();
        cpus.dedup();
    }
    Some(cpus)
}

/// The number of a CPU.
pub(crate) fn cpu(text: &str) -> Option<u32> {
    number(text).filter(|&cpu| cpu < MAX_CPUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_sign() {
        assert_eq!(number::<u32>("05"), Some(5));
        for text in ["+5", "-5", "", " 5", "5.0", "4294967296"] {
            assert_eq!(number::<u32>(text), None, "{text}");
        }
    }

    #[test]
    fn two_values_are_a_range() {
        let read = |text| spread(text, time);
        assert_eq!(read("5ms"), Spread::new(5_000_000, 5_000_000));
        assert_eq!(read("1us-2ms"), Spread::new(1_000, 2_000_000));
        for text in ["2ms-1us", "1us-", "-1us", "1us-2us-3us", "1us 2us"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn percentages_are_exact() {
        assert_eq!(percent_e6("5%"), Some(5_000_000));
        assert_eq!(percent_e6("0.25%"), Some(250_000));
        assert_eq!(percent_e6("5"), None);
        assert_eq!(percent_e6("0.0000001%"), None);
    }

    #[test]
    fn cpu_lists_join_with_plus() {
        assert_eq!(cpu_list("0-3+5"), Some(vec![0, 1, 2, 3, 5]));
        assert_eq!(cpu_list("5+0+5"), Some(vec![0, 5]));
        for text in ["", "3-1", "0,1", "a", "1024", "0-", "+"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }
}
