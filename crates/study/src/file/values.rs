//! Single values of a study file. A message has file, line, what was expected and the nearest name
//! (studies/README.md).
//!
//! What must stay: ranges here are the limits of the file format: a wider one is free, a narrower
//! one refuses files that were valid. Times become ns. A message has the place of the value. Tests
//! by part: `rules_hold` (`duration_ns`, `count`, `up_to`, `token`, `sentence`, `settings`),
//! `errors_name_place_expectation_and_nearest` (`position`, `metric`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`hotplug`),
//! study/column_tests.rs::`a_case_may_have_jitter` (`jitter`),
//! promise/tests.rs::`what_is_kept_is_a_share_of_the_best_gain` (`percent` is read). Refusals of
//! `percent` and `drawn` have no test of their own.
//!
//! Tests: crates/study/src/file/tests.rs,
//! crates/study/src/study/column_tests.rs::a_case_may_have_jitter

use super::raw::Text;
use crate::error::Flaw;
use crate::hotplug::parse_hotplug;
use crate::seeds::MAX_SEEDS;
use toml::Spanned;
use wakeplace_engine::Hotplug;
use wakeplace_metrics::find_metric;
use wakeplace_text::{parse_duration_ns, shorten};
use wakeplace_workload::Jitter;

/// Most machines and workloads that are drawn.
const MAX_DRAWN: u64 = 1000;

/// Byte offset of a value.
pub(super) fn at<T>(value: &Spanned<T>) -> usize {
    value.span().start
}

/// What a parser makes of a text. Its message has the problem and what was expected.
fn parsed<T>(text: &Text, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Flaw> {
    parse(text.get_ref()).map_err(|message| Flaw::from_message(at(text), &message))
}

/// A time such as `30s`, more than 0.
pub(super) fn duration_ns(text: &Text) -> Result<u64, Flaw> {
    parsed(text, parse_duration_ns)
}

/// CPUs that leave and come back.
pub(super) fn hotplug(text: &Text) -> Result<Vec<Hotplug>, Flaw> {
    parsed(text, |text| {
        parse_hotplug(text).map_err(|message| format!("hotplug: {message}"))
    })
}

/// What the seed draws of a recording or an rt-app file.
pub(super) fn jitter(text: &Text) -> Result<Jitter, Flaw> {
    parsed(text, Jitter::parse)
}

/// A number of seeds; as many as by `--seeds`.
pub(crate) fn count(value: &Spanned<u64>) -> Result<usize, Flaw> {
    up_to(value, MAX_SEEDS, "seeds")
}

/// A number of drawn cases.
pub(super) fn drawn(value: &Spanned<u64>) -> Result<usize, Flaw> {
    up_to(value, MAX_DRAWN, "cases")
}

/// A whole number from 1 to `most`; `what` is the word for it in the error.
fn up_to(value: &Spanned<u64>, most: u64, what: &str) -> Result<usize, Flaw> {
    let number = *value.get_ref();
    if (1..=most).contains(&number) {
        return Ok(usize::try_from(number).expect("few of them"));
    }
    let expected = format!("expected 1 to {most}");
    Err(Flaw::new(at(value), format!("{number} {what}"), expected))
}

/// A share, 0 to 100 percent.
pub(super) fn percent(value: &Spanned<f64>) -> Result<f64, Flaw> {
    let number = *value.get_ref();
    if (0.0..=100.0).contains(&number) {
        return Ok(number);
    }
    let problem = format!("{number} percent");
    Err(Flaw::new(at(value), problem, "expected 0.0 to 100.0"))
}

/// The name of a metric that there is.
pub(super) fn metric(text: &Text) -> Result<String, Flaw> {
    find_metric(text.get_ref())
        .map(|def| def.name.to_owned())
        .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a metric"))
}

/// A text with at least one letter.
pub(super) fn sentence(text: &Text) -> Result<String, Flaw> {
    let words = text.get_ref().trim();
    if words.is_empty() {
        return Err(Flaw::new(
            at(text),
            "the text is empty",
            "expected a sentence",
        ));
    }
    Ok(words.to_owned())
}

/// A name without blanks and slashes: it stands in commands and in `STUDY/CASE/POLICY`.
pub(super) fn token(text: &Text) -> Result<String, Flaw> {
    let word = text.get_ref();
    let bad = |c: char| c.is_whitespace() || c.is_control() || c == '/';
    if word.is_empty() || word.contains(bad) {
        let problem = format!("`{}` is no token", shorten(word));
        return Err(Flaw::new(
            at(text),
            problem,
            "expected a word without blanks and `/`",
        ));
    }
    Ok(word.clone())
}

/// `KEY=VALUE` settings.
pub(crate) fn settings(list: &[Text]) -> Result<Vec<(String, String)>, Flaw> {
    let pair = |text: &Text| {
        let split = text.get_ref().split_once('=');
        let (key, value) = split.ok_or_else(|| {
            let problem = format!("`{}` is no setting", shorten(text.get_ref()));
            Flaw::new(at(text), problem, "expected `KEY=VALUE`")
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    };
    list.iter().map(pair).collect()
}

/// Position of a word among the names it may be.
pub(super) fn position<'a>(
    text: &Text,
    what: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<usize, Flaw> {
    let names: Vec<&str> = names.into_iter().collect();
    let word = text.get_ref();
    let found = names.iter().position(|name| name == word);
    found.ok_or_else(|| Flaw::unknown(at(text), what, word, names))
}
