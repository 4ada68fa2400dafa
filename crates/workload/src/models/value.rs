//! Values in model arguments: percentages, CPU lists. Integers only.

use wakeplace_text::scaled;

/// The most CPUs a machine can have here (design: 1024 natively).
const MAX_CPUS: u32 = 1024;

/// A percentage such as `5%` or `0.25%`, in millionths of a percent.
pub(crate) fn percent_e6(text: &str) -> Option<u64> {
    u64::try_from(scaled(text.strip_suffix('%')?, 1_000_000)?).ok()
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
