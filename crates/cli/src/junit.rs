//! `--export-junit`: checks as CI systems read them. A suite for each platform and workload, a case
//! for each condition and policy (the form of Apache Ant's `junitreport`, which has no standard).
//! See docs/guide/results.md, "Gates".
//!
//! What must stay: names of suites and cases, and `failure` against `skipped`, as CI systems
//! compare them between builds. The text has no times, so that equal results are equal bytes.
//! Nothing of a name is markup. CI systems take what has one name for one: no two suites of a file
//! have the same, and no two cases of a suite. Tests by part: `checks_are_a_suite` (`suite`,
//! `case`), `no_two_have_one_name` (`apart`, `is_new`, `numbered`),
//! `a_name_with_a_number_is_a_name_too` (`add`, `free`),
//! crates/cli/tests/all/results.rs::`two_results_are_compared` (`text`, `suite_of`, `JunitExport`).
//!
//! Tests: below, crates/cli/tests/all/results.rs::two_results_are_compared

use crate::expect::{Case, Checked};
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
use quick_xml::Writer;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use wakeplace_study::Comparison;
use wakeplace_text::printable;

/// Place for the file, found to be writable before anything is simulated.
#[derive(Debug)]
pub(crate) struct JunitExport(Output);

impl JunitExport {
    /// Opens the place before any run. `None`: the option was not given. An error is exit code 2.
    pub(crate) fn prepare(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        Ok(Output::beside("--export-junit", path)?.map(Self))
    }

    /// Writes the checks, a suite for each name.
    pub(crate) fn write(
        &self,
        all: &[(String, Checked)],
        terminal: Terminal,
    ) -> Result<(), Failure> {
        let text = text(all).map_err(Failure::input)?;
        self.0.write(&text, terminal)
    }
}

/// What a suite is called.
pub(crate) fn suite_of(comparison: &Comparison) -> String {
    format!("{}, {}", comparison.platform, comparison.workload)
}

/// Checks under one name.
struct Suite<'a> {
    name: String,
    /// By policy and condition the last number that was given.
    cases: BTreeMap<[String; 2], usize>,
    /// By policy the names that were given.
    given: BTreeSet<[String; 2]>,
    /// Each with its name.
    named: Vec<(String, &'a Case)>,
}

/// The checks as suites that differ in their names: those of one name are one suite, as the
/// policies of a difference are, unless a condition and policy stands in both.
fn apart(all: &[(String, Checked)]) -> Vec<Suite<'_>> {
    let mut suites: Vec<Suite<'_>> = Vec::new();
    // Where the last suite of each name stands, and its number.
    let mut known: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut given: BTreeSet<String> = BTreeSet::new();
    for (name, checked) in all {
        let name = printable(name).into_owned();
        let (at, nth) = known.get(&name).copied().unwrap_or((suites.len(), 0));
        let joins = nth > 0 && checked.cases().iter().all(|case| suites[at].is_new(case));
        let at = match joins {
            true => at,
            false => {
                let (own, nth) = free(&name, nth + 1, |own| given.contains(own));
                given.insert(own.clone());
                known.insert(name, (suites.len(), nth));
                suites.push(Suite {
                    name: own,
                    cases: BTreeMap::new(),
                    given: BTreeSet::new(),
                    named: Vec::new(),
                });
                suites.len() - 1
            }
        };
        let suite = &mut suites[at];
        for case in checked.cases() {
            suite.add(case);
        }
    }
    suites
}

impl<'a> Suite<'a> {
    /// What a case is called, as the file has it.
    fn key(case: &Case) -> [String; 2] {
        [&case.policy, &case.expected].map(|text| printable(text).into_owned())
    }

    /// It has no case of this name.
    fn is_new(&self, case: &Case) -> bool {
        !self.cases.contains_key(&Self::key(case))
    }

    /// Adds a case by a name that no other of its policy has.
    fn add(&mut self, case: &'a Case) {
        let key = Self::key(case);
        let nth = self.cases.get(&key).map_or(1, |nth| nth + 1);
        let [policy, expected] = &key;
        let is_given = |own: &str| self.given.contains(&[policy.clone(), own.to_owned()]);
        let (name, nth) = free(expected, nth, is_given);
        self.given.insert([policy.clone(), name.clone()]);
        self.cases.insert(key, nth);
        self.named.push((name, case));
    }
}

/// The first name that is not given, by numbers from `nth` on, and its number.
fn free(name: &str, mut nth: usize, is_given: impl Fn(&str) -> bool) -> (String, usize) {
    loop {
        let own = numbered(name, nth);
        if !is_given(&own) {
            return (own, nth);
        }
        nth += 1;
    }
}

/// A name that stood before gets a number.
fn numbered(name: &str, nth: usize) -> String {
    match nth {
        1 => name.to_owned(),
        _ => format!("{name} ({nth})"),
    }
}

/// The whole document.
fn text(all: &[(String, Checked)]) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let suites = writer.create_element("testsuites");
    let suites = suites.with_attribute(("name", "wakeplace"));
    suites.write_inner_content(|writer| apart(all).iter().try_for_each(|of| suite(writer, of)))?;
    let bytes = writer.into_inner();
    Ok(String::from_utf8_lossy(&bytes).into_owned() + "\n")
}

/// A platform and workload with all its conditions.
fn suite(writer: &mut Writer<Vec<u8>>, of: &Suite<'_>) -> io::Result<()> {
    let number = |holds: Option<bool>| {
        let cases = of.named.iter().filter(|(_, case)| case.holds == holds);
        cases.count().to_string()
    };
    let attributes = [
        ("name", of.name.as_str()),
        ("tests", &of.named.len().to_string()),
        ("failures", &number(Some(false))),
        ("skipped", &number(None)),
    ];
    let suite = writer.create_element("testsuite");
    suite
        .with_attributes(attributes)
        .write_inner_content(|writer| {
            let mut cases = of.named.iter();
            cases.try_for_each(|(name, of)| case(writer, name, of))
        })?;
    Ok(())
}

/// One condition under one policy: held, missed, or without a figure.
fn case(writer: &mut Writer<Vec<u8>>, name: &str, case: &Case) -> io::Result<()> {
    let [policy, said] = [&case.policy, &case.said].map(|t| printable(t));
    let attributes = [("classname", &*policy), ("name", name)];
    let element = writer
        .create_element("testcase")
        .with_attributes(attributes);
    let outcome = match case.holds {
        Some(true) => return element.write_empty().map(drop),
        Some(false) => "failure",
        None => "skipped",
    };
    element.write_inner_content(|writer| {
        let why = writer.create_element(outcome);
        why.with_attribute(("message", &*said)).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{apart, suite};
    use crate::expect::{Case, Checked};
    use quick_xml::Writer;

    /// Goal: the elements and attributes that Ant's report has, and nothing of a name is markup.
    #[test]
    fn checks_are_a_suite() {
        let case = |expected: &str, said: &str, holds| Case {
            expected: expected.to_owned(),
            policy: "a<b>&\"c\"".to_owned(),
            said: said.to_owned(),
            holds,
            ..Case::default()
        };
        let checked = Checked::of(vec![
            case("cpu_energy_j<=+3%", "", Some(true)),
            case("energy_j<1", "2.0000 J", Some(false)),
            case("energy_j<=base", "+1.00 % [-3.0, +5.0]", None),
        ]);
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        let all = [("board, load".to_owned(), checked)];
        suite(&mut writer, &apart(&all)[0]).expect("written");
        let text = String::from_utf8(writer.into_inner()).expect("text");
        let name = r#"classname="a&lt;b&gt;&amp;&quot;c&quot;""#;
        let expected = format!(
            r#"<testsuite name="board, load" tests="3" failures="1" skipped="1">
  <testcase {name} name="cpu_energy_j&lt;=+3%"/>
  <testcase {name} name="energy_j&lt;1">
    <failure message="2.0000 J"/>
  </testcase>
  <testcase {name} name="energy_j&lt;=base">
    <skipped message="+1.00 % [-3.0, +5.0]"/>
  </testcase>
</testsuite>"#
        );
        assert_eq!(text, expected);
    }

    /// Goal: two loads of one name are two suites, as a condition that is given twice is two cases;
    /// two policies of one load are one suite, as in a comparison.
    #[test]
    fn no_two_have_one_name() {
        let of = |suite: &str, policy: &str, conditions: &[&str]| {
            let case = |expected: &&str| Case {
                expected: (*expected).to_owned(),
                policy: policy.to_owned(),
                holds: Some(true),
                ..Case::default()
            };
            let cases = conditions.iter().map(case).collect();
            (suite.to_owned(), Checked::of(cases))
        };
        let all = [
            of("board, load", "a", &["x<1", "x<1"]),
            of("board, load", "b", &["x<1"]),
            of("board, load", "a", &["x<1"]),
            of("board, other", "a", &["x<1"]),
            of("board, load", "c", &["x<1"]),
        ];
        let found = apart(&all);
        let named = |suite: &super::Suite<'_>| {
            let cases = suite.named.iter();
            let cases = cases.map(|(name, case)| format!("{} {name}", case.policy));
            (suite.name.clone(), cases.collect::<Vec<_>>().join(", "))
        };
        let found: Vec<(String, String)> = found.iter().map(named).collect();
        let expected = [
            ("board, load", "a x<1, a x<1 (2), b x<1"),
            ("board, load (2)", "a x<1, c x<1"),
            ("board, other", "a x<1"),
        ];
        assert_eq!(
            found,
            expected.map(|(name, cases)| (name.to_owned(), cases.to_owned()))
        );
    }

    /// Goal: names differ where one of them looks like a numbered one, before or behind it.
    #[test]
    fn a_name_with_a_number_is_a_name_too() {
        let case = |expected: &&str| Case {
            expected: (*expected).to_owned(),
            policy: "p".to_owned(),
            ..Case::default()
        };
        let of = |suite: &str, conditions: &[&str]| {
            let cases = conditions.iter().map(case).collect();
            (suite.to_owned(), Checked::of(cases))
        };
        let all = [
            of("s", &["a", "a", "a (2)", "a"]),
            of("s (2)", &["a", "a (2)", "a"]),
            of("s", &["a"]),
        ];
        let found = apart(&all);
        let suites: Vec<&str> = found.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(suites, ["s", "s (2)", "s (3)"]);
        let names = |at: usize| -> Vec<&str> {
            let named = found[at].named.iter();
            named.map(|(name, _)| name.as_str()).collect()
        };
        assert_eq!(names(0), ["a", "a (2)", "a (2) (2)", "a (3)"]);
        assert_eq!(names(1), ["a", "a (2)", "a (3)"]);
    }
}
