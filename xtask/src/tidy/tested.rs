//! Where the tests of a Rust source are. A source has tests of its own, or its head comment says
//! who tries it. The head says so in any case of a crate's first file, and of a source that carries
//! out a rule of docs/rules or a decision of docs/decisions, as the core's sources do. `Tests:` has
//! paths from the root, `PATH::NAME` for one test of a file, `below`, or `beside its modules`; or
//! `none; WHY`. It is the head's last paragraph.
//!
//! What must stay: the form of `Tests:` as the first paragraph has it; all heads are written by it.
//! Free: how it is done, and words that no test or script reads. Tests by part:
//! `a_rule_has_its_tests` and `what_does_something_has_its_tests` (`named`, `not_there`, `head`,
//! `does_something`, `has_tests`, `is_generated`, `is_test`), `a_crate_has_its_tests` (`is_root`);
//! `found` is the tests' own.
//!
//! Callers: mod.rs (`named`).
//!
//! Tests: below

use crate::Finding;
use crate::repo::{Repo, SourceFile};

/// Who cites one of these carries out what it says.
const RULES: [&str; 2] = ["docs/rules/", "docs/decisions/"];
/// Each module has its own at its end, or in a file of its name.
const BESIDE: &str = "beside its modules";
/// Nothing tries it; the reason follows.
const NONE: &str = "none; ";

/// Heads that name no test, or one that is not there.
pub(super) fn named(repo: &Repo, findings: &mut Vec<Finding>) {
    let crates = (repo.below("crates/")).filter(|file| file.path.contains("/src/"));
    let all = crates.chain(repo.below("xtask/src/"));
    let rust = all.filter(|file| file.extension() == "rs" && !is_test(file));
    for file in rust.filter(|file| !is_generated(&file.text)) {
        let head = head(&file.text);
        let tests = head.rsplit_once("Tests: ").map(|(_, tests)| tests);
        match tests {
            Some(tests) => {
                for test in not_there(repo, file, tests) {
                    let what = format!(
                        "its head comment has `Tests: {test}`; expected paths from the root that \
                         are there (`PATH::NAME` for one test), `below`, `{BESIDE}` or `{NONE}WHY`"
                    );
                    findings.push(Finding::at(&file.path, 1, what));
                }
            }
            None if is_root(repo, file) || RULES.iter().any(|rule| head.contains(rule)) => {
                let what = "its head comment has no `Tests:`; expected the paths of its tests";
                findings.push(Finding::at(&file.path, 1, what.to_owned()));
            }
            None if does_something(&file.text) && !has_tests(&file.text) => {
                let what = "it has no tests of its own, and its head comment no `Tests:`; \
                            expected the test that fails when this code breaks";
                findings.push(Finding::at(&file.path, 1, what.to_owned()));
            }
            None => {}
        }
    }
}

/// What `Tests:` names that is not there.
fn not_there<'a>(repo: &Repo, file: &SourceFile, tests: &'a str) -> Vec<&'a str> {
    if tests.starts_with(NONE) {
        return Vec::new();
    }
    let is_there = |test: &str| match (test, test.split_once("::")) {
        (BESIDE, _) => true,
        ("below", _) => has_tests(&file.text),
        (_, Some((path, name))) => {
            // In Rust or Python.
            let forms = [format!("fn {name}("), format!("def {name}(")];
            let has = |file: &SourceFile| forms.iter().any(|form| file.text.contains(form));
            repo.get(path).is_some_and(has)
        }
        (path, None) => {
            repo.get(path).is_some() || repo.below(&format!("{path}/")).next().is_some()
        }
    };
    let tests = tests.split(',').map(str::trim);
    tests.filter(|test| !is_there(test)).collect()
}

/// Another program wrote it; what it is made of has its tests.
fn is_generated(text: &str) -> bool {
    let mut head = text.lines().take(3);
    head.any(|line| line.contains("automatically generated"))
}

/// It has a function; what only declares is tried with those who use it.
fn does_something(text: &str) -> bool {
    let code = text.lines().map(str::trim_start);
    let mut code = code.filter(|line| !line.starts_with("//"));
    code.any(|line| line.starts_with("fn ") || line.contains(" fn "))
}

/// Its own tests, at its end or in a file that it declares.
fn has_tests(text: &str) -> bool {
    text.contains("#[test]") || text.lines().any(|line| line.ends_with("mod tests;"))
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

/// A file of tests beside the module that they try, or in a folder of such files.
fn is_test(file: &SourceFile) -> bool {
    file.path.ends_with("/tests.rs") || file.path.contains("/tests/")
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
        for rules in RULES {
            let of = |tests: &str, more: &str| {
                let head = format!("//! A ({rules}).\n//!\n{tests}\nimpl X {{}}\n{more}");
                found("crates/a/src/x.rs", &head)
            };
            assert_eq!(of("//! Tests: crates/a/tests/x.rs", ""), 0);
            assert_eq!(of("//! Tests: crates/a/tests", ""), 0);
            assert_eq!(of("//! Tests: crates/a/tests/z.rs", ""), 1);
            assert_eq!(of("//! Tests: crates/a/tests/x.rs::y", ""), 0);
            assert_eq!(of("//! Tests: crates/a/tests/x.rs::z", ""), 1);
            assert_eq!(of("//! Tests: crates/a/tests/x.rs,\n//! below", ""), 1);
            let own = "mod tests {\n#[test]\nfn y() {}\n}\n";
            assert_eq!(of("//! Tests: below", own), 0);
            assert_eq!(of("", own), 1);
        }
    }

    #[test]
    fn what_does_something_has_its_tests() {
        let of = |text: &str| found("crates/a/src/x.rs", text);
        assert_eq!(
            of("//! A.\nstruct X;\n/// Of fn x.\nconst Y: u32 = 1;\n"),
            0
        );
        assert_eq!(of("//! A.\nfn x() {}\n"), 1);
        assert_eq!(of("//! A.\nimpl X {\n    pub(crate) fn x() {}\n}\n"), 1);
        assert_eq!(of("//! A.\nfn x() {}\n#[cfg(test)]\nmod tests;\n"), 0);
        assert_eq!(
            of("//! A.\n//!\n//! Tests: crates/a/tests/x.rs\nfn x() {}\n"),
            0
        );
        assert_eq!(
            of("//! A.\n//!\n//! Tests: none; it prints.\nfn x() {}\n"),
            0
        );
        assert_eq!(found("xtask/src/x.rs", "//! A.\nfn x() {}\n"), 1);
        assert_eq!(found("crates/a/src/x/tests.rs", "//! A.\nfn x() {}\n"), 0);
    }

    #[test]
    fn a_crate_has_its_tests() {
        assert_eq!(found("crates/a/src/lib.rs", "//! A.\n"), 1);
        let program = "// SPDX\n//! A.\n//! Tests: crates/a/tests\n";
        assert_eq!(found("crates/a/src/main.rs", program), 0);
        let beside = "//! A.\n//! Tests: beside its modules\n";
        assert_eq!(found("crates/a/src/lib.rs", beside), 0);
    }
}
