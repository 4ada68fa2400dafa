//! policy/mutants.toml: changes that no input can tell from the original, each with the reason
//! (CONTRIBUTING.md, "Break it on purpose").
//!
//! What must stay: an entry that matches no mutation is a finding: the code has changed. Free: how
//! it is done, and words that no test or script reads. Tests by part:
//! `one_change_is_justified_and_no_other` (`is`, `parse`, `justified`),
//! `what_matches_nothing_is_found` (`check`), repo.rs::`every_justified_mutation_can_be_made`
//! (`load`); `mutation` is the tests' own.
//!
//! Callers: mod.rs (`justified`).
//!
//! Tests: below

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Mutation;
use crate::Finding;

/// Where they are.
pub(super) const FILE: &str = "policy/mutants.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    equivalent: Vec<Equivalent>,
}

/// One change that changes nothing.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(super) struct Equivalent {
    /// The file below policy/src: its room and its name.
    file: String,
    function: String,
    /// The lines that it touches, on one line.
    before: String,
    after: String,
    /// Why no input can tell them apart.
    why: String,
}

impl Equivalent {
    /// In the same file and function, word for word.
    fn is(&self, mutation: &Mutation) -> bool {
        self.file == mutation.file
            && self.function == mutation.function
            && self.before == mutation.before
            && self.after == mutation.after
    }
}

/// A file of another form is an error.
fn parse(text: &str) -> Result<Vec<Equivalent>> {
    let page: Page = toml::from_str(text).with_context(|| FILE.to_owned())?;
    Ok(page.equivalent)
}

/// What the file says.
///
/// # Errors
/// When it cannot be read.
pub(super) fn load(root: &Path) -> Result<Vec<Equivalent>> {
    let text = std::fs::read_to_string(root.join(FILE)).with_context(|| FILE.to_owned())?;
    parse(&text)
}

/// Is the mutation one of them?
pub(super) fn justified(known: &[Equivalent], mutation: &Mutation) -> bool {
    known.iter().any(|known| known.is(mutation))
}

/// Those that justify a change which cannot be made, or not in so many words.
pub(super) fn check(known: &[Equivalent], mutations: &[Mutation]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for known in known {
        let place = format!("{}, {}: `{}`", known.file, known.function, known.before);
        if !mutations.iter().any(|mutation| known.is(mutation)) {
            let what = format!(
                "{place} cannot become `{}`: take the entry out",
                known.after
            );
            findings.push(Finding::on(FILE, what));
        }
        if known.why.split_whitespace().count() < 5 {
            findings.push(Finding::on(FILE, format!("{place}: `why` says too little")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{check, justified, parse};
    use crate::mutants::Mutation;

    const TEXT: &str = r#"
        [[equivalent]]
        file = "a.c"
        function = "f"
        before = "if (a < b)"
        after = "if (a <= b)"
        why = "of two that are equal either is the smaller one"
    "#;

    fn mutation(after: &str) -> Mutation {
        Mutation {
            file: "a.c".into(),
            function: "f".into(),
            line: 7,
            before: "if (a < b)".into(),
            after: after.into(),
        }
    }

    #[test]
    fn one_change_is_justified_and_no_other() {
        let known = parse(TEXT).unwrap();
        assert!(justified(&known, &mutation("if (a <= b)")));
        assert!(!justified(&known, &mutation("if (a >= b)")));
        assert_eq!(check(&known, &[mutation("if (a <= b)")]), []);
    }

    #[test]
    fn what_matches_nothing_is_found() {
        let known = parse(TEXT).unwrap();
        let findings = check(&known, &[mutation("if (a >= b)")]);
        assert!(findings[0].what.contains("`if (a < b)` cannot become"));
        let known = parse(&TEXT.replace("of two that are equal either is", "")).unwrap();
        let findings = check(&known, &[mutation("if (a <= b)")]);
        assert!(findings[0].what.contains("says too little"));
    }
}
