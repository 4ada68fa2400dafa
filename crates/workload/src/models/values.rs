//! The values of a model's argument, by key (`parse.rs` reads their text): what is not given has
//! the catalogue's default, and what is wrong is said with key, value and what was expected
//! (docs/guide/workloads.md). A message names the key, what was given and what can be.
//!
//! Called by all models. A key that is there stays; a new one has a default with which scripts are
//! as before.
//!
//! What must stay: a key that is not given has the catalogue's default, and an error names key,
//! value and what can be. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `times_are_said_in_whole_units` (`said`), `messaging_and_sysbench_say_what_is_expected`
//! (`number`, `time_from_zero_ns`, `time_above_zero_ns`, `word`), `the_others_say_what_is_expected`
//! (`not_both`, `only_with`, `check_warm_up`), `wrong_arguments_say_what_was_expected` (`read`,
//! `add`, `unknown_key`), `what_was_meant_is_said` (`word`, `listed`),
//! kbuild.rs::`wrong_values_say_their_range` (`times`, `share`, `outside`),
//! `mutated_arguments_never_panic` (all of it). `has`, `optional`, `text`, `time_ns`, `numbers`,
//! `wrong`, `fault_of` and `value` are what those are made of: all of these.
//!
//! Tests: below, crates/workload/tests/all/benchmark_arguments.rs,
//! crates/workload/tests/all/periodic.rs, crates/workload/tests/all/kbuild.rs,
//! crates/workload/tests/all/hostile.rs
use super::draw::Spread;
use super::parse::{self, MAX_TIME_NS};
use super::work::Share;
use super::{ModelInfo, fault, meant, split_name};
use crate::error::{ArgumentFault, WorkloadError};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wakeplace_text::nearest;

/// One `key=value` of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting<'a> {
    key: &'static str,
    value: &'a str,
}

/// The settings of an argument, with the catalogue entry that has the defaults.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    argument: &'a str,
    info: &'static ModelInfo,
    given: Vec<Setting<'a>>,
}

impl<'a> Values<'a> {
    /// Reads `NAME:key=value,...`: known keys, each at most once, each with a value.
    pub(crate) fn read(argument: &'a str, info: &'static ModelInfo) -> Result<Self, WorkloadError> {
        let mut values = Self {
            argument,
            info,
            given: Vec::new(),
        };
        let (_, text) = split_name(argument);
        if !text.trim().is_empty() {
            text.split(',').try_for_each(|part| values.add(part))?;
        }
        Ok(values)
    }

    /// Adds one `key=value`.
    fn add(&mut self, part: &'a str) -> Result<(), WorkloadError> {
        let (argument, model) = (self.argument, self.info);
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        let known = model.parameters.iter().find(|known| known.name == key);
        let Some(known) = known else {
            return Err(unknown_key(argument, model, key).into());
        };
        if value.is_empty() {
            return Err(fault(argument, format!("`{key}` has no value"))
                .expected(format!("{key}=VALUE, {}", known.unit))
                .into());
        }
        let key = known.name;
        if self.has(key) {
            return Err(fault(argument, format!("`{key}` is given twice")).into());
        }
        self.given.push(Setting { key, value });
        Ok(())
    }

    /// Is the key in the argument?
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given.iter().any(|setting| setting.key == key)
    }

    /// A key without a default: None if it is not given, else what `read` makes of it.
    pub(crate) fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Self, &'static str) -> Result<T, WorkloadError>,
    ) -> Result<Option<T>, WorkloadError> {
        self.has(key).then(|| read(self, key)).transpose()
    }

    /// What `read` makes of the text; its error is what was expected.
    pub(crate) fn text<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Result<T, WorkloadError> {
        read(self.value(key)).map_err(|expected| self.wrong(key, expected))
    }

    /// A number.
    pub(crate) fn number<T: FromStr + PartialOrd + Display>(
        &self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<T, WorkloadError> {
        let number = parse::number(self.value(key)).filter(|n| range.contains(n));
        number.ok_or_else(|| self.outside(key, "a number", range.start(), range.end()))
    }

    /// A time in a range, ns.
    pub(crate) fn time_ns(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, WorkloadError> {
        let time = parse::time(self.value(key)).filter(|ns| range.contains(ns));
        let (least, most) = (said(*range.start()), said(*range.end()));
        time.ok_or_else(|| self.wrong(key, &format!("a time from {least} to {most}{UNIT}")))
    }

    /// A time, 0 or more, ns.
    pub(crate) fn time_from_zero_ns(&self, key: &'static str) -> Result<u64, WorkloadError> {
        self.time_ns(key, 0..=MAX_TIME_NS)
    }

    /// A time above 0, ns.
    pub(crate) fn time_above_zero_ns(&self, key: &'static str) -> Result<u64, WorkloadError> {
        let time = parse::time(self.value(key)).filter(|&ns| ns > 0);
        let expected = format!("a time above 0ns, at most {}{UNIT}", said(MAX_TIME_NS));
        time.ok_or_else(|| self.wrong(key, &expected))
    }

    /// A time, or two joined by `-` between which times are drawn, ns.
    pub(crate) fn times(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Spread, WorkloadError> {
        let spread = parse::spread(self.value(key), parse::time);
        let spread = spread.filter(|spread| spread.is_within(&range));
        let what = "a time, or two such as 50us-200us,";
        spread.ok_or_else(|| self.outside(key, what, said(*range.start()), said(*range.end())))
    }

    /// A number, or two joined by `-` between which numbers are drawn.
    pub(crate) fn numbers(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Spread, WorkloadError> {
        let spread = parse::spread(self.value(key), parse::number);
        let spread = spread.filter(|spread| spread.is_within(&range));
        let what = "a number, or two such as 18-20,";
        spread.ok_or_else(|| self.outside(key, what, range.start(), range.end()))
    }

    /// A percentage from 0% to 100%.
    pub(crate) fn share(&self, key: &'static str) -> Result<Share, WorkloadError> {
        let share = parse::share(self.value(key));
        share.ok_or_else(|| self.outside(key, "a percentage", "0%", "100%"))
    }

    /// What goes with one of these words.
    pub(crate) fn word<T: Copy, const N: usize>(
        &self,
        key: &'static str,
        words: [(&str, T); N],
    ) -> Result<T, WorkloadError> {
        let value = self.value(key);
        let found = words.iter().find(|(word, _)| *word == value);
        let found = found.map(|(_, meant)| *meant);
        let known = words.map(|(word, _)| word);
        found.ok_or_else(|| {
            let near = nearest(value, known);
            self.fault_of(key, &listed(&known)).nearest(near).into()
        })
    }

    /// A key says something only where `other` has one of these values.
    pub(crate) fn only_with(
        &self,
        key: &str,
        other: &'static str,
        values: &[&str],
    ) -> Result<(), WorkloadError> {
        let value = self.value(other);
        if !self.has(key) || values.contains(&value) {
            return Ok(());
        }
        let message = format!("`{key}` with `{other}={value}`");
        let wanted: Vec<String> = values.iter().map(|v| format!("{other}={v}")).collect();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        Err(fault(self.argument, message)
            .expected(listed(&wanted))
            .into())
    }

    /// Two keys that say the same must not both be given.
    pub(crate) fn not_both(&self, a: &str, b: &str, what: &str) -> Result<(), WorkloadError> {
        if !(self.has(a) && self.has(b)) {
            return Ok(());
        }
        let message = format!("`{a}` and `{b}` both say {what}");
        Err(fault(self.argument, message).expected("one of them").into())
    }

    /// The warm-up must end before the run does; both in ns.
    pub(crate) fn check_warm_up(&self, warm_up_ns: u64, time_ns: u64) -> Result<(), WorkloadError> {
        if warm_up_ns < time_ns {
            return Ok(());
        }
        let message = "`warmup` is not shorter than `time`";
        let expected = format!("a shorter one, `time` being {}", said(time_ns));
        Err(fault(self.argument, message).expected(expected).into())
    }

    /// Says that the model does not take this value of a key.
    fn wrong(&self, key: &'static str, expected: &str) -> WorkloadError {
        self.fault_of(key, expected).into()
    }

    /// The fault of a value: the key, what was given, and what can be.
    fn fault_of(&self, key: &'static str, expected: &str) -> ArgumentFault {
        let message = format!("`{key}={}` is not possible", self.value(key));
        fault(self.argument, message).expected(expected)
    }

    /// As given, else the default.
    fn value(&self, key: &'static str) -> &str {
        let given = self.given.iter().find(|setting| setting.key == key);
        let known = self.info.parameters.iter().find(|known| known.name == key);
        let default = known.map_or("", |parameter| parameter.default);
        given.map_or(default, |setting| setting.value)
    }

    /// The same of a value beyond its range.
    fn outside(
        &self,
        key: &'static str,
        what: &str,
        least: impl Display,
        most: impl Display,
    ) -> WorkloadError {
        self.wrong(key, &format!("{what} from {least} to {most}"))
    }
}

/// Says that the model has no such key: the one that was meant, or that a workload begins there.
fn unknown_key(argument: &str, model: &ModelInfo, key: &str) -> ArgumentFault {
    let message = format!("`{}` has no key `{key}`", model.name);
    let (name, _) = split_name(key);
    if super::find(name).is_some() {
        return fault(argument, message).expected(format!(
            "one workload; `{name}` is another one, in an option of its own"
        ));
    }
    let names: Vec<&str> = model.parameters.iter().map(|known| known.name).collect();
    let known = model
        .parameters
        .iter()
        .map(|known| (known.name, known.also));
    fault(argument, message)
        .expected(format!("one of {}", names.join(", ")))
        .nearest(meant(key, known))
}

/// The end of what is expected of a time.
const UNIT: &str = ", with its unit, as 16ms";

/// `a`, `a or b`, `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// A time in the largest unit that has it whole.
fn said(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units
        .iter()
        .find(|(each, _)| ns > 0 && ns.is_multiple_of(*each));
    let (each, name) = unit.unwrap_or(&(1, "ns"));
    format!("{}{name}", ns / each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_whole_units() {
        for (ns, text) in [
            (0, "0ns"),
            (1_500, "1500ns"),
            (2_000, "2us"),
            (39_505_000, "39505us"),
            (3_000_000_000, "3s"),
        ] {
            assert_eq!(said(ns), text);
        }
    }
}
