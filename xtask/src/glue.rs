//! The head comments of the live scheduler's kernel side (crates/scx/src/bpf): each file names the
//! rule that it carries out and what tries it, and of the kernel's callbacks all that it has.
//!
//! ```text
//!  * Kernel: CALLBACK(), CALLBACK(), FILE
//!  * Rule: a citation of docs/rules or docs/decisions
//!  * Tests: PATH, PATH
//!  * Covers: what these see of it
//!  * Untried: what nothing tries
//! ```
//!
//! What must stay: the five labels, in this form; a file without them is a finding. Free: how it is
//! done, and words that no test or script reads. Tests by part: `a_head_names_what_its_file_does`
//! (`check`, each label), repo.rs::`the_kernel_map_is_of_these_files` (`check` of the real files);
//! `found` is the test's own.
//!
//! Callers: commands.rs (`check`).
//!
//! Tests: below

use crate::Finding;
use crate::kernel_map::paragraph;
use crate::repo::Repo;

const FOLDER: &str = "crates/scx/src/bpf/";

/// What a head comment lacks, or names that is not there.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.below(FOLDER) {
        let mut wrong = |what: String| findings.push(Finding::on(&file.path, what));
        // A source's first line is its licence, in a comment of its own.
        let text = file.text.split_once('\n').map_or("", |(_, rest)| rest);
        let rule = paragraph(text, "Rule:");
        if !rule.contains("docs/") {
            wrong("the head comment has no `Rule: docs/...`".to_owned());
        }
        let tests = paragraph(text, "Tests:");
        for test in tests.split(',').map(str::trim) {
            let folder = format!("{test}/");
            if test.is_empty() || (repo.get(test).is_none() && repo.below(&folder).next().is_none())
            {
                wrong(format!(
                    "`Tests: {test}`: expected paths from the root that are there"
                ));
            }
        }
        let kernel = paragraph(text, "Kernel:");
        let callbacks = text.lines().filter_map(|line| line.strip_prefix("OPS"));
        let names = callbacks.filter_map(|line| line.split_once('(')?.1.split_once(')'));
        for (name, _) in names {
            if !kernel.contains(&format!("{name}()")) {
                wrong(format!("`Kernel:` does not name {name}()"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repo::Repo;

    const TEXT: &str = "/* SPDX */
/*
 * A.
 *
 * Kernel: ops tick(), kernel/sched/ext.c
 * Rule: docs/guide/live.md
 * Tests: scripts/a.sh
 */
OPS(tick) void f(u64 *args)
";

    fn found(text: &str) -> usize {
        check(&Repo::of(&[
            ("crates/scx/src/bpf/a.h", text),
            ("scripts/a.sh", ""),
        ]))
        .len()
    }

    #[test]
    fn a_head_names_what_its_file_does() {
        assert_eq!(found(TEXT), 0);
        assert_eq!(found(&TEXT.replace("Rule:", "Rules:")), 1);
        assert_eq!(found(&TEXT.replace("a.sh", "b.sh")), 1);
        assert_eq!(found(&TEXT.replace("Tests:", "Test:")), 1);
        assert_eq!(found(&TEXT.replace("OPS(tick)", "OPS(stop)")), 1);
    }
}
