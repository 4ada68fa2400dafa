//! `--policy-at 10s=power-policy=powersaving`: parameters that change in a run, as people write
//! them (docs/guide/results.md, "Settings").
//!
//! What must stay: what is typed and what `shown` gives are one language, since results hold the
//! text and commands are made of it; times are ns from the begin of the run. Which parameters can
//! change in a run is marked ANYTIME in their table (docs/guide/parameters.md), and the engine
//! refuses others. Tests by part: `a_change_is_read_and_shown_alike` (`parse_policy_at`, `shown`),
//! `what_is_no_change_is_named` (errors), `a_change_after_the_run_is_refused` (by the command).
//!
//! Tests: below, crates/cli/tests/all/bad_input.rs::a_change_after_the_run_is_refused

use wakeplace_engine::PolicyChange;
use wakeplace_text::{parse_duration_or_zero_ns, shorten};

/// `TIME=KEY=VALUE`.
///
/// # Errors
/// What is wrong and what was expected. Whether the key can change is checked with the policy.
pub fn parse_policy_at(text: &str) -> Result<PolicyChange, String> {
    let form = "expected TIME=KEY=VALUE, as `10s=power-policy=powersaving`";
    let mut parts = text.trim().splitn(3, '=').map(str::trim);
    let mut next = || parts.next().filter(|part| !part.is_empty());
    let (Some(time), Some(key), Some(value)) = (next(), next(), next()) else {
        return Err(format!("`{}`: {form}", shorten(text)));
    };
    let at_ns = parse_duration_or_zero_ns(time).map_err(|error| format!("{error}; {form}"))?;
    Ok(PolicyChange {
        at_ns,
        key: key.to_owned(),
        value: value.to_owned(),
    })
}

/// The changes as typed, in one line; None without one.
pub(crate) fn shown(changes: &[PolicyChange]) -> Option<(String, String)> {
    let words: Vec<String> = changes.iter().map(PolicyChange::to_string).collect();
    (!words.is_empty()).then(|| ("policy-at".to_owned(), words.join(",")))
}

#[cfg(test)]
mod tests {
    use super::{parse_policy_at, shown};

    #[test]
    fn a_change_is_read_and_shown_alike() {
        let change = parse_policy_at("1.5s = power-policy = balance\n").unwrap();
        assert_eq!(change.at_ns, 1_500_000_000);
        let words = "1500ms=power-policy=balance".to_owned();
        assert_eq!(shown(&[change]), Some(("policy-at".to_owned(), words)));
        assert_eq!(shown(&[]), None);
    }

    #[test]
    fn what_is_no_change_is_named() {
        for text in [
            "",
            "10s",
            "10s=",
            "10s=power-policy",
            "10s==x",
            "=a=b",
            "10=a=b",
            "x=a=b",
        ] {
            let error = parse_policy_at(text).expect_err(text);
            assert!(error.contains("expected TIME=KEY=VALUE"), "{text}: {error}");
        }
    }
}
