//! docs/internals/coverage.md: the tests, fixtures and functions that its tables name are there.
//!
//! What must stay: only words that look like a test's name are looked for; the page stays free
//! text. Tests by part: `names_must_be_there` (`names`, `is_name`); `found` is the tests' own.
//!
//! Callers: mod.rs (`names`).
//!
//! Tests: below

use std::collections::BTreeSet;

use crate::Finding;
use crate::repo::Repo;

const PAGE: &str = "docs/internals/coverage.md";

/// Names of the page that lead nowhere.
pub(super) fn names(repo: &Repo, findings: &mut Vec<Finding>) {
    let Some(page) = repo.get(PAGE) else { return };
    let of = |ends: &[&str]| -> Vec<&str> {
        let files = repo
            .files
            .iter()
            .filter(|file| ends.contains(&file.extension()));
        files.map(|file| file.text.as_str()).collect()
    };
    let words = |texts: &[&str]| -> BTreeSet<String> {
        let split = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let all = texts.iter().flat_map(|text| text.split(split));
        all.map(str::to_owned).collect()
    };
    let known = words(&of(&["rs", "c", "h"]));
    let fixtures: Vec<&str> = repo
        .files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates/policy-sys/tests/fixtures/"))
        .collect();
    for (at, line) in page
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with('|'))
    {
        let mut wrong = |what: String| findings.push(Finding::at(PAGE, at + 1, what));
        for name in line
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| is_name(name))
        {
            if !known.contains(name) {
                wrong(format!("`{name}` is no name of a source"));
            }
        }
        let is_end = |c: char| c.is_whitespace() || ",;|()".contains(c);
        for path in line.split("fixtures/").skip(1) {
            let path = path
                .split(is_end)
                .next()
                .unwrap_or_default()
                .replace('\\', "");
            let start = path
                .split(['*', '`'])
                .next()
                .unwrap_or_default()
                .trim_end_matches('.');
            if !fixtures.iter().any(|fixture| fixture.starts_with(start)) {
                wrong(format!("fixtures/{path}: there is none"));
            }
        }
        for word in line
            .split([' ', '('])
            .filter_map(|word| word.strip_suffix(".rs:"))
        {
            let file = format!("/{word}.rs");
            if !repo.files.iter().any(|own| own.path.ends_with(&file)) {
                wrong(format!("{word}.rs: there is no such file"));
            }
        }
    }
}

/// A test's or function's name: words of small letters, joined by underscores.
fn is_name(text: &str) -> bool {
    let is_of = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.contains('_')
        && text.chars().all(is_of)
        && text.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{PAGE, names};
    use crate::repo::Repo;

    fn found(line: &str) -> usize {
        let page = format!("# P\n{line}\n");
        let repo = Repo::of(&[
            (PAGE, &page),
            ("crates/policy-sys/tests/all/a.rs", "fn the_first() {}"),
            ("policy/src/x/b.c", "wp_do(ctx)"),
            ("crates/policy-sys/tests/fixtures/short/a-1.toml", ""),
        ]);
        let mut findings = Vec::new();
        names(&repo, &mut findings);
        findings.len()
    }

    #[test]
    fn names_must_be_there() {
        assert_eq!(
            found("| x | `wp_do` | a.rs: `the_first`; fixtures/short/a-*; 5 `A=on` |"),
            0
        );
        assert_eq!(found("| x | `wp_done` | a.rs: `the_second` |"), 2);
        assert_eq!(
            found("| x | `wp_do` | fixtures/short/b, c.rs: `the_first` |"),
            2
        );
        assert_eq!(found("no table: `wp_done`"), 0);
    }
}
