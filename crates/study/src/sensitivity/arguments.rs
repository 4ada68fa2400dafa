//! Arguments of workload models whose values can be halved and doubled (studies/README.md).
//!
//! What must stay: what is changed is the text of the workload's argument, so that a reader can run
//! it; an argument without a number or time, or with 0, is none that can be changed. Tests by part:
//! `numbers_times_shares_and_ranges_change` (`scaled`, `one`), `an_argument_is_replaced_or_added`
//! (`value`, `changed`, `arguments`).
//!
//! Tests: below

use wakeplace_platform::Factor;
use wakeplace_text::parse_duration_or_zero_ns;
use wakeplace_workload::Spec;

/// Names of all arguments of these workloads with a number or a time, each once.
pub(crate) fn arguments<'a>(workloads: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for workload in workloads {
        let model = Spec::catalogue().find(|model| model.name == model_of(workload).0);
        for parameter in model.iter().flat_map(|model| model.parameters) {
            let known = names.iter().any(|name| name == parameter.name);
            if !known && changed(workload, parameter.name, Factor::Double).is_some() {
                names.push(parameter.name.to_owned());
            }
        }
    }
    names
}

/// The name of the model and what it is told.
fn model_of(workload: &str) -> (&str, &str) {
    workload.split_once(':').unwrap_or((workload, ""))
}

/// The value an argument has, given or the model's own.
pub(crate) fn value(workload: &str, name: &str) -> Option<String> {
    let (model, given) = model_of(workload);
    let given = given.split(',').filter_map(|pair| pair.split_once('='));
    if let Some((_, value)) = given.rev().find(|(key, _)| key.trim() == name) {
        return Some(value.trim().to_owned());
    }
    let model = Spec::catalogue().find(|info| info.name == model)?;
    let parameter = model.parameters.iter().find(|p| p.name == name)?;
    (!parameter.default.is_empty()).then(|| parameter.default.to_owned())
}

/// The workload with one argument changed; None if it has none of this name that can be.
pub(crate) fn changed(workload: &str, name: &str, factor: Factor) -> Option<String> {
    let value = scaled(&value(workload, name)?, factor)?;
    let (model, given) = model_of(workload);
    let others = given.split(',').filter(|pair| {
        let key = pair.split('=').next().unwrap_or("");
        !pair.trim().is_empty() && key.trim() != name
    });
    let new = format!("{name}={value}");
    let all: Vec<&str> = others.chain([new.as_str()]).collect();
    Some(format!("{model}:{}", all.join(",")))
}

/// A number, percentage, time or range of them, changed; None for anything else and for 0.
fn scaled(value: &str, factor: Factor) -> Option<String> {
    let parts: Option<Vec<String>> = value.split('-').map(|part| one(part, factor)).collect();
    let text = parts?.join("-");
    (text != value).then_some(text)
}

/// A number, percentage or time times the factor; None: it is none of these.
fn one(text: &str, factor: Factor) -> Option<String> {
    let (digits, suffix) = match text.strip_suffix('%') {
        Some(digits) => (digits, "%"),
        None => (text, ""),
    };
    if digits.is_empty() {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && suffix.is_empty() {
        return Some(factor.of(digits.parse().ok()?).to_string());
    }
    if digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        /// Finest step of a fraction.
        const PARTS: f64 = 1e6;
        let number: f64 = digits.parse().ok()?;
        let changed = (number * factor.value() * PARTS).round() / PARTS;
        return Some(format!("{changed}{suffix}"));
    }
    let ns = parse_duration_or_zero_ns(text).ok()?;
    Some(format!("{}ns", factor.of(ns)))
}

#[cfg(test)]
mod tests {
    use super::{arguments, changed, scaled, value};
    use wakeplace_platform::Factor::{Double, Half};

    #[test]
    fn numbers_times_shares_and_ranges_change() {
        let words = |text, factor| scaled(text, factor).unwrap_or_default();
        assert_eq!(
            (words("10", Half), words("10", Double)),
            ("5".into(), "20".into())
        );
        assert_eq!(
            (words("5%", Half), words("5%", Double)),
            ("2.5%".into(), "10%".into())
        );
        assert_eq!(words("0.25%", Half), "0.125%");
        assert_eq!(
            (words("16ms", Half), words("1.5us", Double)),
            ("8000000ns".into(), "3000ns".into())
        );
        assert_eq!(words("1us-2us", Double), "2000ns-4000ns");
        // Nothing to change: words, 0, and half of 1.
        for (text, factor) in [
            ("cpu0", Half),
            ("0", Double),
            ("1", Half),
            ("", Half),
            ("0-3+5", Half),
        ] {
            assert_eq!(scaled(text, factor), None, "{text}");
        }
    }

    #[test]
    fn an_argument_is_replaced_or_added() {
        let workload = "periodic:n=10,period=16ms,duty=5%";
        assert_eq!(value(workload, "period").as_deref(), Some("16ms"));
        assert_eq!(
            changed(workload, "period", Half).as_deref(),
            Some("periodic:n=10,duty=5%,period=8000000ns")
        );
        assert_eq!(changed(workload, "phase", Half), None);
        assert_eq!(changed("some/file.json", "period", Half), None);
        let names = arguments([workload, workload].into_iter());
        assert_eq!(names.iter().filter(|name| *name == "period").count(), 1);
        assert!(!names.iter().any(|name| name == "cal"));
    }
}
