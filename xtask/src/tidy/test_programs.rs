//! Where integration tests are (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: one integration-test program a crate: linking takes most of the time. Free: how
//! it is done, and words that no test or script reads. Tests by part:
//! `one_program_of_many_modules_is_right` and `a_second_program_is_found` (`one_test_program`);
//! `found` is the tests' own.
//!
//! Callers: mod.rs (`one_test_program`).
//!
//! Tests: below

use std::collections::BTreeMap;

use crate::Finding;
use crate::repo::Repo;

/// A crate has one integration-test program: linking one more takes longer than running it.
pub(super) fn one_test_program(repo: &Repo, findings: &mut Vec<Finding>) {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in &repo.files {
        let Some((krate, inside)) = file.path.split_once("/tests/") else {
            continue;
        };
        // What cargo takes for a program: tests/NAME.rs and tests/NAME/main.rs.
        let is_program = match inside.split_once('/') {
            None => inside.ends_with(".rs"),
            Some((_, rest)) => rest == "main.rs",
        };
        if is_program {
            programs.entry(krate).or_default().push(&file.path);
        }
    }
    for paths in programs.values().filter(|paths| paths.len() > 1) {
        findings.push(Finding::on(
            paths[1],
            format!(
                "a second integration-test program beside {}: make it a module of that one",
                paths[0]
            ),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> usize {
        let mut findings = Vec::new();
        one_test_program(&Repo::of(files), &mut findings);
        findings.len()
    }

    #[test]
    fn one_program_of_many_modules_is_right() {
        let files = [
            ("crates/a/tests/all/main.rs", ""),
            ("crates/a/tests/all/some.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/b/tests/some.rs", ""),
        ];
        assert_eq!(found(&files), 0);
    }

    #[test]
    fn a_second_program_is_found() {
        let main = ("crates/a/tests/all/main.rs", "");
        assert_eq!(found(&[main, ("crates/a/tests/some.rs", "")]), 1);
        assert_eq!(found(&[main, ("crates/a/tests/other/main.rs", "")]), 1);
    }
}
