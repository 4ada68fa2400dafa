//! Values in model arguments: times, percentages, CPU lists. Integers only.

/// The most CPUs a machine can have here (design: 1024 natively).
const MAX_CPUS: u32 = 1024;

/// Units of time, ns.
const UNITS: [(&str, u64); 4] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// A time such as `16ms` or `1.5us`, in ns; a fraction must be whole nanoseconds.
pub(crate) fn time_ns(text: &str) -> Option<u64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let (_, unit_ns) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    scaled(number, unit_ns)
}

/// A percentage such as `5%` or `0.25%`, in millionths of a percent.
pub(crate) fn percent_e6(text: &str) -> Option<u64> {
    scaled(text.strip_suffix('%')?, 1_000_000)
}

/// A decimal number times `scale` (a power of ten); None if that is not whole or too big.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut weight = scale;
    for digit in fraction.trim_end_matches('0').bytes() {
        if weight < 10 {
            return None;
        }
        weight /= 10;
        value = value.checked_add(u64::from(digit - b'0') * weight)?;
    }
    Some(value)
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
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain {
        text.parse().ok()?
    } else {
        return None;
    };
    (number < MAX_CPUS).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_whole_nanoseconds() {
        for (text, ns) in [
            ("16ms", 16_000_000),
            ("800us", 800_000),
            ("1s", 1_000_000_000),
            ("100ns", 100),
            ("1.5us", 1_500),
            ("0.000000001s", 1),
            ("0ms", 0),
        ] {
            assert_eq!(time_ns(text), Some(ns), "{text}");
        }
        for text in [
            "", "16", "ms", "1.5ns", "-1ms", "1 ms", "1e3us", "1.us", "16m", "+1s",
        ] {
            assert_eq!(time_ns(text), None, "{text}");
        }
        assert_eq!(time_ns("99999999999999999999s"), None);
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
