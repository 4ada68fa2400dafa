//! Rules over the documentation (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: the sentences of README that it counts; the page's own numbers are the truth.
//! Free: how it is done, and words that no test or script reads. Tests by part:
//! `a_page_has_one_title` (`one_heading`), `a_crate_without_a_description_is_found`
//! (`crates_are_described`), `counts_of_an_older_table_are_found` (`directions_are_counted`,
//! `sums`); `headings` is the tests' own.
//!
//! Callers: mod.rs (`one_heading`, `crates_are_described`, `directions_are_counted`).
//!
//! Tests: below

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

/// The directions that README.md counts are the sums of the table that it links to.
pub(super) fn directions_are_counted(repo: &Repo, findings: &mut Vec<Finding>) {
    const PAGE: &str = "README.md";
    let (Some(page), Some(table)) = (repo.get(PAGE), repo.get("docs/results/published.md")) else {
        return;
    };
    let [all, right, wrong, open] = sums(&table.text);
    let sentence = format!(
        "Of {all} published changes the simulated direction is right in {right} and wrong in \
         {wrong}. {open} cannot be told"
    );
    let words: Vec<&str> = page.text.split_whitespace().collect();
    if !words.join(" ").contains(&sentence) {
        let what = format!("does not say what the table counts: \"{sentence} from chance\"");
        findings.push(Finding::on(PAGE, what));
    }
}

/// Published changes, and of these right, wrong and not told, over all series.
fn sums(published: &str) -> [u32; 4] {
    let mut lines = published.lines();
    lines
        .find(|line| line.starts_with("| series | changes published | right | wrong | not told |"));
    let mut sums = [0; 4];
    for row in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells = row.split('|').skip(2).map(str::trim);
        for (sum, cell) in sums.iter_mut().zip(cells) {
            *sum += cell.parse::<u32>().unwrap_or_default();
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_an_older_table_are_found() {
        let table = "\
# A

| series | changes published | right | wrong | not told |
|---|--:|--:|--:|--:|
| eas | 18 | 11 | 2 | 5 |
| mc | 41 | 18 | 4 | 19 |

| other | 1 | 1 | 1 | 1 |
";
        let found = |readme: &str| {
            let files = [("README.md", readme), ("docs/results/published.md", table)];
            let mut findings = Vec::new();
            directions_are_counted(&Repo::of(&files), &mut findings);
            findings.len()
        };
        let told = "# B\nOf 59 published changes the simulated direction is right in 29\nand wrong \
                    in 6. 24 cannot be told from chance.\n";
        assert_eq!(found(told), 0);
        assert_eq!(found(&told.replace("29", "30")), 1);
    }

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
