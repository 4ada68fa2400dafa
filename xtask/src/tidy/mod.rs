//! The style check: what rustfmt and clippy do not look at (CONTRIBUTING.md, "Rules that a check
//! enforces").
//!
//! What must stay: the order of findings: by rule, then by file. Each rule only reads. Free: how it
//! is done, and words that no test or script reads. Tests by part: repo.rs::`the_style_holds`
//! (`check`), site/mod.rs::`links_must_lead_somewhere_on_the_site` (`broken_links`).
//!
//! Callers: commands.rs (`check`).
//!
//! Tests: xtask/tests/all/repo.rs::the_style_holds

mod coverage;
mod docs;
mod lines;
mod links;
mod rules;
mod sizes;
mod test_programs;
mod tested;

use crate::Finding;
use crate::repo::Repo;

/// Everything the style check finds, by rule and then by file.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repo.files {
        lines::too_wide(file, &mut findings);
        lines::leftovers(file, &mut findings);
        lines::machine_paths(file, &mut findings);
        sizes::long_file(file, &mut findings);
        sizes::long_functions(file, &mut findings);
        docs::one_heading(file, &mut findings);
    }
    docs::crates_are_described(repo, &mut findings);
    docs::directions_are_counted(repo, &mut findings);
    links::relative(repo, &mut findings);
    rules::citations(repo, &mut findings);
    coverage::names(repo, &mut findings);
    test_programs::one_test_program(repo, &mut findings);
    tested::named(repo, &mut findings);
    findings
}

/// Relative links of Markdown files that lead to no file or to no heading.
#[must_use]
pub fn broken_links(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    links::of_documents(repo, repo.files.iter(), &mut findings);
    findings
}
