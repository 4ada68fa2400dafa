//! Rules over single lines: width, leftover markers, paths of one machine.
//!
//! What must stay: limits of CONTRIBUTING.md; quoted data are exempt. Free: how it is done, and
//! words that no test or script reads. Tests by part:
//! `a_line_of_101_columns_is_found_and_one_of_100_is_not` and `urls_and_quotations_may_be_wide`
//! (`too_wide`), `a_tab_is_eight_columns_in_c` (`columns`),
//! `every_marker_is_found_and_words_around_them_are_not` (`markers`, `leftovers`),
//! `a_path_of_one_machine_is_found_outside_tests` (`machine_paths`); `run` is the tests' own.
//!
//! Callers: mod.rs (`too_wide`, `leftovers`, `machine_paths`).
//!
//! Tests: below

use crate::Finding;
use crate::lexer::has_word;
use crate::repo::SourceFile;

/// Columns a line may have.
const WIDTH: usize = 100;
/// Columns to the next stop of a tab, as C here is indented.
const TAB: usize = 8;

/// Lines of code wider than the limit. A URL may be long, and so may a quotation in a data file.
pub(super) fn too_wide(file: &SourceFile, findings: &mut Vec<Finding>) {
    if !matches!(file.extension(), "rs" | "c" | "h" | "sh" | "toml") || file.is_generated() {
        return;
    }
    // clippy.toml and deny.toml hold reasons as strings that TOML cannot break.
    let strings_excused = file.extension() == "toml";
    for (index, line) in file.text.lines().enumerate() {
        let excused = line.contains("://") || (strings_excused && line.contains('"'));
        let width = columns(line);
        if width > WIDTH && !excused {
            let what = format!("{width} columns wide, {WIDTH} at most");
            findings.push(Finding::at(&file.path, index + 1, what));
        }
    }
}

/// A tab goes to the next multiple of eight.
fn columns(line: &str) -> usize {
    line.chars().fold(0, |at, c| {
        if c == '\t' {
            (at / TAB + 1) * TAB
        } else {
            at + 1
        }
    })
}

/// Words that say a thing is unfinished, put together here so that this file holds none of them.
/// Those with a capital are looked for as written, the others in any case.
fn markers() -> Vec<String> {
    [
        ("TO", "DO"),
        ("FIX", "ME"),
        ("XX", "X"),
        ("HA", "CK"),
        ("ST", "UB"),
        ("to", "do!("),
        ("unimple", "mented!("),
        ("for ", "now"),
        ("not yet ", "implemented"),
        ("tempo", "rarily"),
    ]
    .map(|(head, tail)| [head, tail].concat())
    .into()
}

/// Signs of unfinished work, in any text but quoted data.
pub(super) fn leftovers(file: &SourceFile, findings: &mut Vec<Finding>) {
    if file.extension() == "json" || file.is_generated() {
        return;
    }
    let markers = markers();
    for (index, line) in file.text.lines().enumerate() {
        // A loop over a time called `now` is no promise.
        let small = line
            .to_lowercase()
            .replace(&["for ", "now in "].concat(), "");
        let found = markers.iter().find(|marker| {
            let as_written = marker.starts_with(char::is_uppercase);
            has_word(if as_written { line } else { &small }, marker)
        });
        if let Some(marker) = found {
            let what = format!("`{marker}`: finish it, or say what is so and why");
            findings.push(Finding::at(&file.path, index + 1, what));
        }
    }
}

/// Paths that exist on one machine only, in files that are neither tests nor CI's.
pub(super) fn machine_paths(file: &SourceFile, findings: &mut Vec<Finding>) {
    if file.is_test() || file.path.starts_with(".ci/") || file.extension() == "json" {
        return;
    }
    let paths = [["/wo", "rk/"], ["/ro", "ot/"], ["../sh", "ared"]].map(|halves| halves.concat());
    for (index, line) in file.text.lines().take(file.product_lines()).enumerate() {
        // `sched_ext` has a folder of that name: only the beginning of a path counts.
        let begins = |at: usize| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '~'))
        };
        for path in &paths {
            if line.match_indices(path.as_str()).any(|(at, _)| begins(at)) {
                let what = format!("`{path}` exists on one machine only");
                findings.push(Finding::at(&file.path, index + 1, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        rule: fn(&SourceFile, &mut Vec<Finding>),
        path: &str,
        text: &str,
    ) -> Vec<(usize, String)> {
        let mut findings = Vec::new();
        rule(&SourceFile::new(path, text), &mut findings);
        findings
            .into_iter()
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_line_of_101_columns_is_found_and_one_of_100_is_not() {
        let text = format!("{}\n{}\n", "x".repeat(100), "y".repeat(101));
        assert_eq!(
            run(too_wide, "a.rs", &text),
            [(2, "101 columns wide, 100 at most".to_owned())]
        );
        assert_eq!(run(too_wide, "a.md", &text), []);
    }

    #[test]
    fn a_tab_is_eight_columns_in_c() {
        assert_eq!(
            run(too_wide, "a.c", &format!("\t{}", "x".repeat(93))).len(),
            1
        );
        assert_eq!(run(too_wide, "a.c", &format!("\t{}", "x".repeat(92))), []);
    }

    #[test]
    fn urls_and_quotations_may_be_wide() {
        let url = format!("// https://a.example/{}", "x".repeat(100));
        assert_eq!(run(too_wide, "a.rs", &url), []);
        let quotation = format!("source = \"{}\"", "x".repeat(100));
        assert_eq!(run(too_wide, "platforms/a.toml", &quotation), []);
        assert_eq!(
            run(
                too_wide,
                "platforms/a.toml",
                &format!("# {}", "x".repeat(100))
            )
            .len(),
            1
        );
    }

    #[test]
    fn every_marker_is_found_and_words_around_them_are_not() {
        for marker in markers() {
            assert_eq!(
                run(leftovers, "a.rs", &format!("// {marker} x)")).len(),
                1,
                "{marker}"
            );
        }
        assert_eq!(
            run(leftovers, "a.rs", &["// ", "For ", "now, this"].concat()).len(),
            1
        );
        assert_eq!(
            run(
                leftovers,
                "a.rs",
                "hackbench; for nowhere; UNSTUBBED; todos"
            ),
            []
        );
    }

    #[test]
    fn a_path_of_one_machine_is_found_outside_tests() {
        let text = ["see /wo", "rk/x"].concat();
        assert_eq!(run(machine_paths, "docs/a.md", &text).len(), 1);
        assert_eq!(run(machine_paths, "crates/a/tests/a.rs", &text), []);
        assert_eq!(run(machine_paths, ".ci/run", &text), []);
        assert_eq!(
            run(machine_paths, "a.rs", &["sched_ext/ro", "ot/ops"].concat()),
            []
        );
        assert_eq!(
            run(machine_paths, "a.rs", &["\"../sh", "ared/x\""].concat()).len(),
            1
        );
    }
}
