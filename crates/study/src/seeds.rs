//! Seeds as people write them: `5`, `4..6`, `1,5,9` (docs/guide/results.md, "What a result holds").
//!
//! What must stay: the order is as written, and results keep it; a seed that stands twice is
//! refused; `--seeds` and keys of files have one limit. The words of errors may change. Tests by
//! part: `seeds_come_in_three_forms` (`parse_seeds`).
//!
//! Tests: below

/// Most seeds, by option and in files of studies and sweeps.
pub(crate) const MAX_SEEDS: u64 = 100_000;

/// `N` = 1 to N, `A..B` with both ends, or a list `1,5,9`.
///
/// # Errors
/// What is wrong and what was expected.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let expected = format!(
        "expected N for the seeds 1 to N (N from 1 to {MAX_SEEDS}), A..B, or a list as 1,5,9"
    );
    let number = |part: &str| {
        let part = part.trim();
        part.parse::<u64>()
            .map_err(|_| format!("`{part}` is no seed; {expected}"))
    };
    if text.contains(',') {
        let list = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        if list.len() as u64 > MAX_SEEDS {
            return Err(format!("it has more than {MAX_SEEDS} seeds; {expected}"));
        }
        let mut sorted = list.clone();
        sorted.sort_unstable();
        return match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("seed {} is named twice; {expected}", pair[0])),
            None => Ok(list),
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
    Ok((first..=last).collect())
}

#[cfg(test)]
mod tests {
    use super::parse_seeds;

    #[test]
    fn seeds_come_in_three_forms() {
        assert_eq!(parse_seeds("3"), Ok(vec![1, 2, 3]));
        assert_eq!(parse_seeds("4..6"), Ok(vec![4, 5, 6]));
        assert_eq!(parse_seeds("9,1,5"), Ok(vec![9, 1, 5]));
        assert!(parse_seeds("100000").is_ok() && parse_seeds("100001").is_err());
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
            let error = parse_seeds(text).expect_err(text);
            assert!(
                error.contains("expected N for the seeds 1 to N"),
                "{text}: {error}"
            );
        }
    }
}
