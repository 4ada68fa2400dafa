//! Rules over the documentation.

use crate::Finding;
use crate::repo::{Repo, SourceFile};

/// Exactly one first-level heading in a Markdown file.
pub(super) fn one_heading(file: &SourceFile, findings: &mut Vec<Finding>) {
    if file.extension() != "md" {
        return;
    }
    let mut fenced = false;
    let mut headings = 0;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && line.starts_with("# ") {
            headings += 1;
            if headings > 1 {
                let what = "a second first-level heading: one title to a page";
                findings.push(Finding::at(&file.path, index + 1, what));
            }
        }
    }
    if headings == 0 {
        findings.push(Finding::on(&file.path, "no first-level heading"));
    }
}

/// Every crate has its place in ARCHITECTURE.md.
pub(super) fn crates_are_described(repo: &Repo, findings: &mut Vec<Finding>) {
    const PAGE: &str = "ARCHITECTURE.md";
    let Some(page) = repo.get(PAGE) else {
        findings.push(Finding::on(
            PAGE,
            "missing: it says what each crate is and may know",
        ));
        return;
    };
    for file in &repo.files {
        if let Some(folder) = file.path.strip_suffix("/Cargo.toml") {
            // Named by its whole folder, not as the beginning of a longer name.
            let named = page.text.match_indices(folder).any(|(at, _)| {
                let after = page.text[at + folder.len()..].chars().next();
                !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            });
            if !named {
                findings.push(Finding::on(PAGE, format!("does not describe `{folder}`")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> usize {
        let mut findings = Vec::new();
        one_heading(&SourceFile::new("a.md", text), &mut findings);
        findings.len()
    }

    #[test]
    fn a_page_has_one_title() {
        assert_eq!(headings("# A\n\n## B\n```sh\n# a comment\n```\n"), 0);
        assert_eq!(headings("# A\n\n# B\n"), 1);
        assert_eq!(headings("text\n"), 1);
    }

    #[test]
    fn a_crate_without_a_description_is_found() {
        let crates = [
            ("crates/host/Cargo.toml", ""),
            ("crates/scx/Cargo.toml", ""),
            (
                "ARCHITECTURE.md",
                "# A\n`crates/host`: x; `crates/scx-next`\n",
            ),
        ];
        let mut findings = Vec::new();
        crates_are_described(&Repo::of(&crates), &mut findings);
        assert_eq!(
            findings,
            [Finding::on(
                "ARCHITECTURE.md",
                "does not describe `crates/scx`"
            )]
        );
        findings.clear();
        crates_are_described(&Repo::of(&crates[..2]), &mut findings);
        assert_eq!(findings.len(), 1);
    }
}
