//! Where the tests of a Rust source are: the head comment of each crate says it, and that of each
//! source that carries out a rule of docs/rules, as the core's sources do. `Tests:` has paths from
//! the root, `below`, or `beside its modules`.

use crate::Finding;
use crate::repo::{Repo, SourceFile};

const RULES: &str = "docs/rules/";
/// Each module has its own at its end, or in a file of its name.
const BESIDE: &str = "beside its modules";

/// Heads that name no test, or one that is not there.
pub(super) fn named(repo: &Repo, findings: &mut Vec<Finding>) {
    let rust = (repo.below("crates/")).filter(|file| file.extension() == "rs");
    for file in rust.filter(|file| file.path.contains("/src/")) {
        let head = head(&file.text);
        if !is_root(repo, file) && (!head.contains(RULES) || is_test(file)) {
            continue;
        }
        let tests = head.split_once("Tests: ").map_or("", |(_, tests)| tests);
        for test in tests.split(',').map(str::trim) {
            let folder = format!("{test}/");
            let there = match test {
                BESIDE => true,
                "below" => file.text.contains("#[test]"),
                path => repo.get(path).is_some() || repo.below(&folder).next().is_some(),
            };
            if !there {
                let what = format!(
                    "its head comment has `Tests: {test}`; expected paths from the root that are \
                     there, `below` or `{BESIDE}`"
                );
                findings.push(Finding::at(&file.path, 1, what));
            }
        }
    }
}

/// The head comment, in one line.
fn head(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.starts_with("// SPDX"));
    let head = lines.map_while(|line| line.strip_prefix("//!"));
    head.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A library's first file; a program's, where there is no library.
fn is_root(repo: &Repo, file: &SourceFile) -> bool {
    match file.path.strip_suffix("main.rs") {
        Some(src) => src.ends_with("/src/") && repo.get(&format!("{src}lib.rs")).is_none(),
        None => file.path.ends_with("/src/lib.rs"),
    }
}

/// A file of tests beside the module that they try.
fn is_test(file: &SourceFile) -> bool {
    file.path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::{RULES, named};
    use crate::repo::Repo;

    fn found(path: &str, text: &str) -> usize {
        let repo = Repo::of(&[(path, text), ("crates/a/tests/x.rs", "fn y() {}\n")]);
        let mut findings = Vec::new();
        named(&repo, &mut findings);
        findings.len()
    }

    #[test]
    fn a_rule_has_its_tests() {
        let of = |tests: &str, more: &str| {
            let head = format!("//! A ({RULES}).\n//!\n{tests}\nimpl X {{}}\n{more}");
            found("crates/a/src/x.rs", &head)
        };
        assert_eq!(of("//! Tests: crates/a/tests/x.rs", ""), 0);
        assert_eq!(of("//! Tests: crates/a/tests", ""), 0);
        assert_eq!(of("//! Tests: crates/a/tests/z.rs", ""), 1);
        assert_eq!(of("//! Tests: crates/a/tests/x.rs,\n//! below", ""), 1);
        assert_eq!(
            of("//! Tests: below", "mod tests {\n#[test]\nfn y() {}\n}\n"),
            0
        );
        assert_eq!(of("", ""), 1);
        assert_eq!(found("crates/a/src/x.rs", "//! A.\nimpl X {}\n"), 0);
    }

    #[test]
    fn a_crate_has_its_tests() {
        assert_eq!(found("crates/a/src/lib.rs", "//! A.\n"), 1);
        let program = "// SPDX\n//! A.\n//! Tests: crates/a/tests\n";
        assert_eq!(found("crates/a/src/main.rs", program), 0);
        assert_eq!(
            found(
                "crates/a/src/lib.rs",
                "//! A.\n//! Tests: beside its modules\n"
            ),
            0
        );
    }
}
