//! Reading the values of options: times, seeds, settings.

/// Longest simulated time: 1,000,000 s, far beyond use, and no sum of nanoseconds overflows.
const MAX_DURATION_NS: u64 = 1_000_000_000_000_000;

/// Most seeds of one run.
const MAX_SEEDS: u64 = 100_000;

/// A simulated time of more than 0, in nanoseconds, with an optional decimal point: `1.5s`.
pub(crate) fn duration_ns(text: &str) -> Result<u64, String> {
    let expected = "expected a time above 0 with its unit (ns, us, ms, s, m), as `30s` or `500ms`";
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ns: u64 = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "" => return Err(format!("it has no unit; {expected}")),
        _ => return Err(format!("`{unit}` is no unit of time; {expected}")),
    };
    let ns =
        scaled(number, unit_ns).ok_or_else(|| format!("`{number}` is no number; {expected}"))?;
    match u64::try_from(ns) {
        Ok(0) => Err(format!("nothing can happen in a duration of 0; {expected}")),
        Ok(ns) if ns <= MAX_DURATION_NS => Ok(ns),
        _ => Err("it is too long; expected at most 1000000s".to_owned()),
    }
}

/// `number * unit`, exactly; `None` if the text is no plain decimal number.
fn scaled(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || whole.len() > 18 || fraction.len() > 9 {
        return None;
    }
    let parts: u128 = fraction.parse::<u64>().ok()?.into();
    let whole: u128 = whole.parse::<u64>().ok()?.into();
    let unit = u128::from(unit);
    Some(whole * unit + parts * unit / 10u128.pow(fraction.len() as u32))
}

/// A list of seeds, so that clap takes it as one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

/// `N` = 1 to N, `A..B` with both ends, or a list `1,5,9`.
pub(crate) fn seeds(text: &str) -> Result<Seeds, String> {
    let expected = "expected N for the seeds 1 to N, A..B, or a list as 1,5,9";
    let number = |part: &str| {
        let part = part.trim();
        part.parse::<u64>()
            .map_err(|_| format!("`{part}` is no seed; {expected}"))
    };
    if text.contains(',') {
        let list = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        let mut sorted = list.clone();
        sorted.sort_unstable();
        return match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("seed {} is named twice; {expected}", pair[0])),
            None => Ok(Seeds(list)),
        };
    }
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (
            number(first)?,
            number(last.strip_prefix('=').unwrap_or(last))?,
        ),
        None => (1, number(text)?),
    };
    if first > last {
        return Err(format!("there is no seed in it; {expected}"));
    }
    if last - first >= MAX_SEEDS {
        return Err(format!("it has more than {MAX_SEEDS} seeds; {expected}"));
    }
    Ok(Seeds((first..=last).collect()))
}

/// `KEY=VALUE`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE, as `energy_margin_shift=4`".to_owned()),
    }
}

/// A number of threads.
pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    let jobs = text
        .parse::<usize>()
        .ok()
        .filter(|jobs| (1..=1024).contains(jobs));
    jobs.ok_or_else(|| "expected a number of threads from 1 to 1024".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Seeds, duration_ns, jobs, seeds, setting};

    #[test]
    fn times_are_exact() {
        for (text, ns) in [
            ("30s", 30_000_000_000),
            ("1.5s", 1_500_000_000),
            ("500ms", 500_000_000),
            ("0.000000001s", 1),
            ("7ns", 7),
            ("2us", 2_000),
            ("2m", 120_000_000_000),
        ] {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", "0", "0s", "0.4ns", "s", "-1s", "1h", "1 s", "1.s", ".5s", "1e3s",
        ] {
            let error = duration_ns(text).expect_err(text);
            assert!(error.contains("expected a time above 0"), "{text}: {error}");
        }
        assert!(
            duration_ns("1000000.1s")
                .expect_err("too long")
                .contains("at most")
        );
        assert!(duration_ns("999999999999999999m").is_err());
    }

    #[test]
    fn seeds_come_in_three_forms() {
        assert_eq!(seeds("3"), Ok(Seeds(vec![1, 2, 3])));
        assert_eq!(seeds("4..6"), Ok(Seeds(vec![4, 5, 6])));
        assert_eq!(seeds("9,1,5"), Ok(Seeds(vec![9, 1, 5])));
        for text in [
            "",
            "0",
            "x",
            "6..4",
            "1,1",
            "1,",
            "1..999999999",
            "..",
            "-1",
        ] {
            let error = seeds(text).expect_err(text);
            assert!(
                error.contains("expected N for the seeds 1 to N"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn settings_and_jobs() {
        assert_eq!(setting("a = b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(setting("a").is_err() && setting("=b").is_err() && setting("a=").is_err());
        assert_eq!(jobs("2"), Ok(2));
        assert!(jobs("0").is_err() && jobs("many").is_err());
    }
}
