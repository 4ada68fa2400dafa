//! `--export-junit`: checks as CI systems read them. A suite for each platform and workload, a case
//! for each condition and policy (the form of Apache Ant's `junitreport`, which has no standard).
//! See docs/guide/results.md, "Gates".
//!
//! What must stay: names of suites and cases, and `failure` against `skipped`, as CI systems
//! compare them between builds. The text has no times, so that equal results are equal bytes.
//! Nothing of a name is markup. Tests by part: `checks_are_a_suite` (`suite`, `case`),
//! crates/cli/tests/all/results.rs::`two_results_are_compared` (`text`, `suite_of`, `JunitExport`).
//!
//! Tests: below, crates/cli/tests/all/results.rs::two_results_are_compared

use crate::expect::{Case, Checked};
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
use quick_xml::Writer;
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

/// The whole document.
fn text(all: &[(String, Checked)]) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let suites = writer.create_element("testsuites");
    let suites = suites.with_attribute(("name", "wakeplace"));
    suites.write_inner_content(|writer| {
        for (name, checked) in all {
            suite(writer, name, checked)?;
        }
        Ok(())
    })?;
    let bytes = writer.into_inner();
    Ok(String::from_utf8_lossy(&bytes).into_owned() + "\n")
}

/// A platform and workload with all its conditions.
fn suite(writer: &mut Writer<Vec<u8>>, name: &str, checked: &Checked) -> io::Result<()> {
    let cases = checked.cases();
    let number = |holds: Option<bool>| {
        let cases = cases.iter().filter(|case| case.holds == holds);
        cases.count().to_string()
    };
    let name = printable(name);
    let attributes = [
        ("name", &*name),
        ("tests", &cases.len().to_string()),
        ("failures", &number(Some(false))),
        ("skipped", &number(None)),
    ];
    let suite = writer.create_element("testsuite");
    suite
        .with_attributes(attributes)
        .write_inner_content(|writer| cases.iter().try_for_each(|of| case(writer, of)))?;
    Ok(())
}

/// One condition under one policy: held, missed, or without a figure.
fn case(writer: &mut Writer<Vec<u8>>, case: &Case) -> io::Result<()> {
    let [policy, expected, said] = [&case.policy, &case.expected, &case.said].map(|t| printable(t));
    let attributes = [("classname", &*policy), ("name", &*expected)];
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
    use super::suite;
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
        };
        let checked = Checked::of(vec![
            case("cpu_energy_j<=+3%", "", Some(true)),
            case("energy_j<1", "2.0000 J", Some(false)),
            case("energy_j<=base", "+1.00 % [-3.0, +5.0]", None),
        ]);
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        suite(&mut writer, "board, load", &checked).expect("written");
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
}
