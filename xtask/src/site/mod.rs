//! The site: documents of the repository as the sources of a book, and whether all links of what
//! was built lead somewhere (`cargo xtask build-site`) (CONTRIBUTING.md, "Rules that a check
//! enforces").
//!
//! The sources keep their paths, so that links between them hold. `README.md` becomes `index.md`,
//! which is what a folder shows.
//!
//! What must stay: paths of documents, so that links hold in both places. Free: how it is done, and
//! words that no test or script reads. Tests by part: `documents_keep_their_places_and_links`
//! (`on_site`, `linked`, `documents`), `links_must_lead_somewhere_on_the_site` (`files`, `check`).
//! `sources`, `broken_links` have no test of their own: `build-site` in nightly runs them.
//!
//! Callers: commands.rs (`broken_links`, `check`, `sources`), summary.rs (`on_site`).
//!
//! Tests: below

mod links;
mod summary;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::{Repo, SourceFile};
use crate::tidy;

/// The page that the site begins with. Its links are those of the site.
pub(crate) const FIRST: &str = "site/index.md";
/// Documents outside `docs`.
const OTHERS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
/// What `cargo xtask build-site` puts beside the documents.
const BESIDE: [&str; 2] = ["playground/index.html", "report.png"];

/// A document on the site.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Document {
    /// Where it is in the repository.
    path: String,
    /// Its first heading.
    title: String,
    text: String,
}

/// A path, or a link to it, as the site has it.
fn on_site(path: &str) -> String {
    path.replace("README.md", "index.md")
}

/// A text with the links to the documents' places on the site.
fn linked(text: &str) -> String {
    let ends = [("README.md)", "index.md)"), ("README.md#", "index.md#")];
    let mut text = text.to_owned();
    for (before, after) in ends {
        text = text.replace(before, after);
    }
    text
}

/// The documents that are on the site.
fn documents(repo: &Repo) -> Vec<Document> {
    let belongs = |path: &str| {
        let below = path.starts_with("docs/") || path.starts_with("studies/");
        path.ends_with(".md") && (below || OTHERS.contains(&path))
    };
    let files = repo.files.iter().filter(|file| belongs(&file.path));
    let document = |file: &crate::repo::SourceFile| {
        let heading = file.text.lines().find_map(|line| line.strip_prefix("# "));
        Document {
            path: file.path.clone(),
            title: heading.unwrap_or(&file.path).replace('`', ""),
            text: linked(&file.text),
        }
    };
    files.map(document).collect()
}

/// The book's sources, each where the site has it.
fn files(repo: &Repo) -> Result<Vec<SourceFile>> {
    let first = repo.get(FIRST).with_context(|| format!("no {FIRST}"))?;
    let documents = documents(repo);
    let mut all = vec![
        SourceFile::new("index.md", &first.text),
        SourceFile::new("SUMMARY.md", &summary::of(&documents)),
    ];
    let texts = documents.iter();
    all.extend(texts.map(|one| SourceFile::new(&on_site(&one.path), &one.text)));
    let others = repo.below("docs/").filter(|file| file.extension() != "md");
    all.extend(others.cloned());
    Ok(all)
}

/// Writes the book's sources into a folder.
///
/// # Errors
/// The repository has no first page, or a file cannot be written.
pub fn sources(repo: &Repo, folder: &Path) -> Result<Vec<Finding>> {
    for file in files(repo)? {
        let full = folder.join(&file.path);
        if let Some(parent) = full.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        fs::write(&full, &file.text).with_context(|| full.display().to_string())?;
    }
    Ok(Vec::new())
}

/// Links of the book's sources that lead to nothing that the site has.
///
/// # Errors
/// The repository has no first page.
pub fn check(repo: &Repo) -> Result<Vec<Finding>> {
    let site = Repo {
        files: files(repo)?,
        others: BESIDE.map(str::to_owned).to_vec(),
    };
    let mut findings = tidy::broken_links(&site);
    for finding in &mut findings {
        finding.what.push_str(" (on the site)");
    }
    Ok(findings)
}

/// Links of the pages in a folder that lead nowhere.
///
/// # Errors
/// A page cannot be read.
pub fn broken_links(folder: &Path) -> Result<Vec<Finding>> {
    links::broken(folder)
}

#[cfg(test)]
mod tests {
    use super::{FIRST, check, documents, linked, summary};
    use crate::repo::Repo;

    #[test]
    fn documents_keep_their_places_and_links() {
        let repo = Repo::of(&[
            (
                "docs/README.md",
                "# Documents\n[a](guide/a.md) [`s`](../studies/README.md#x)\n",
            ),
            ("docs/guide/a.md", "# The `a` page\n"),
            ("docs/guide/b.md", "no heading"),
            ("crates/x/README.md", "# no document\n"),
        ]);
        let all = documents(&repo);
        let paths: Vec<_> = all.iter().map(|d| d.path.as_str()).collect();
        assert_eq!(
            paths,
            ["docs/README.md", "docs/guide/a.md", "docs/guide/b.md"]
        );
        assert!(all[0].text.contains("(../studies/index.md#x)"));
        assert_eq!(
            linked("see README.md and [x](README.md)"),
            "see README.md and [x](index.md)"
        );
        let summary = summary::of(&all);
        let at = |text: &str| summary.find(text).expect(text);
        assert!(at("# Guide") < at("- [The a page](docs/guide/a.md)"));
        assert!(at("docs/guide/a.md") < at("docs/guide/b.md"));
    }

    #[test]
    fn links_must_lead_somewhere_on_the_site() {
        let first = "# w\n[p](playground/index.html) [d](docs/a.md) [gone](docs/gone.md)\n";
        let text = "# A\n[l](../LICENSE) [d](README.md) [b](../platforms/b.toml)\n";
        let repo = Repo::of(&[
            (FIRST, first),
            ("docs/a.md", text),
            ("docs/README.md", "# D\n"),
            ("LICENSE", "l"),
            ("platforms/b.toml", ""),
        ]);
        let found: Vec<_> = check(&repo)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected = [
            "index.md:2: link to docs/gone.md, which is not there (on the site)",
            "docs/a.md:2: link to LICENSE, which is not there (on the site)",
            "docs/a.md:2: link to platforms/b.toml, which is not there (on the site)",
        ];
        assert_eq!(found, expected);
    }
}
