//! Paths in texts: the relative links of a Markdown file lead to a file or folder that is there,
//! and to a heading or an anchor of it where they name one; `docs/PAGE.md` in any file is a page.
//! Anchors of the rules have a stricter check of their own (`rules.rs`).
//!
//! What must stay: anchors are made as GitHub makes them. Free: how it is done, and words that no
//! test or script reads. Tests by part: `links_that_lead_somewhere` and `links_that_lead_nowhere`
//! (`relative`, `of_documents`, `targets`, `link`, `resolved`, `is_there`, `anchors`),
//! `a_page_is_named_by_where_it_is` (`pages`); `found` is the tests' own.
//!
//! Callers: mod.rs (`relative`, `of_documents`), rules.rs (`targets`, `resolved`).
//!
//! Tests: below

use std::collections::{BTreeMap, BTreeSet};

use crate::Finding;
use crate::repo::{Repo, SourceFile};

const DOCS: &str = "docs/";
const RULES: &str = "docs/rules/";

/// Links, and pages named by their path, that lead nowhere.
pub(super) fn relative(repo: &Repo, findings: &mut Vec<Finding>) {
    let is_document = |file: &&SourceFile| file.path != crate::site::FIRST;
    of_documents(repo, repo.files.iter().filter(is_document), findings);
    for file in &repo.files {
        for (index, line) in file.text.lines().enumerate() {
            let at = |what| Finding::at(&file.path, index + 1, what);
            findings.extend(pages(repo, file, line).into_iter().map(at));
        }
    }
}

/// Links of Markdown files that lead nowhere, by file and line.
pub(super) fn of_documents<'a>(
    repo: &Repo,
    files: impl Iterator<Item = &'a SourceFile>,
    findings: &mut Vec<Finding>,
) {
    let documents: Vec<_> = files.filter(|file| file.extension() == "md").collect();
    let anchors: BTreeMap<&str, BTreeSet<String>> = { documents.iter() }
        .map(|file| (file.path.as_str(), anchors(&file.text)))
        .collect();
    for file in documents {
        for (index, line) in file.text.lines().enumerate() {
            let wrong = targets(line).filter_map(|target| link(repo, file, target, &anchors));
            findings.extend(wrong.map(|what| Finding::at(&file.path, index + 1, what)));
        }
    }
}

/// The relative targets of the links of a line.
pub(super) fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .map(|rest| rest.split([')', ' ']).next().unwrap_or_default())
        .filter(|target| !target.contains("://"))
}

/// What is wrong with one link. None: nothing.
fn link(
    repo: &Repo,
    file: &SourceFile,
    target: &str,
    anchors: &BTreeMap<&str, BTreeSet<String>>,
) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match path {
        "" => file.path.clone(),
        path => resolved(&file.path, path),
    };
    if !is_there(repo, &path) {
        // A page of the rules is looked for by their own check, which knows the nearest name.
        let is_rule = path.starts_with(RULES);
        return (!is_rule).then(|| format!("link to {path}, which is not there"));
    }
    let known = anchors.get(path.as_str())?;
    let is_wrong = !anchor.is_empty() && !known.contains(anchor) && !path.starts_with(RULES);
    is_wrong.then(|| format!("{path} has no heading `{anchor}`"))
}

/// What is wrong with the pages that a line names by their path from the root.
fn pages(repo: &Repo, file: &SourceFile, line: &str) -> Vec<String> {
    if file.path.starts_with("xtask/") || file.path.starts_with("fuzz/corpus/") {
        return Vec::new(); // They have paths of files that are made up.
    }
    line.match_indices(DOCS)
        .filter_map(|(at, _)| {
            let before = line[..at].chars().next_back();
            let is_start = !before.is_some_and(|c| c.is_alphanumeric() || "/_-.".contains(c));
            let word = &line[at..];
            let end = word.find(".md")? + 3;
            let path = &word[..end];
            let is_path = path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let is_other = path.starts_with(RULES) || path.ends_with("PAGE.md");
            let is_missing = is_start && is_path && !is_other && repo.get(path).is_none();
            is_missing.then(|| format!("no page {path}"))
        })
        .collect()
}

/// A link's path from the repository's root.
pub(super) fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A text, a folder, or a file of another kind.
fn is_there(repo: &Repo, path: &str) -> bool {
    repo.get(path).is_some()
        || repo.below(&format!("{path}/")).next().is_some()
        || repo.others.iter().any(|other| other == path)
}

/// The headings of a page in the form that links have, and its anchors.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut all = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let anchors = line.split("<a id=\"").skip(1);
        all.extend(anchors.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        let title = line.trim_start_matches('#');
        if !fenced && title.starts_with(' ') && title.len() < line.len() {
            let kept = |c: char| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
                _ => None,
            };
            all.insert(title.trim().chars().filter_map(kept).collect());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let page = "# Live\n## What it `costs`, and why\n<a id=\"here\"></a>\n```\n# no\n```\n";
        let files = [("docs/guide/live.md", page), ("a/b.toml", ""), (path, text)];
        let mut findings = Vec::new();
        relative(&Repo::of(&files), &mut findings);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere() {
        let text = "# A\n[a](../guide/live.md) [b](../../a) [c](../../a/b.toml)\n\
                    [d](../guide/live.md#what-it-costs-and-why) [e](../guide/live.md#here)\n\
                    [f](#a) [g](https://example.org/x.md) docs/guide/live.md, docs/rules/PAGE.md\n";
        assert_eq!(found("docs/internals/x.md", text), [""; 0]);
        // A link to a page of the rules is the rules' own matter.
        assert_eq!(found("docs/x.md", "# A\n[a](rules/none.md#b)"), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere() {
        let wrong = found("docs/internals/x.md", "# A\n[a](live.md)");
        assert_eq!(
            wrong,
            ["docs/internals/x.md:2: link to docs/internals/live.md, which is not there"]
        );
        let wrong = found("b.md", "# A\n[a](docs/guide/live.md#no) [b](#b)");
        assert_eq!(
            wrong,
            [
                "b.md:2: docs/guide/live.md has no heading `no`",
                "b.md:2: b.md has no heading `b`"
            ]
        );
    }

    #[test]
    fn a_page_is_named_by_where_it_is() {
        for path in ["a.rs", "a.toml", "a.md"] {
            let wrong = found(path, "# see docs/live.md, ../../docs/live.md");
            assert_eq!(wrong, [format!("{path}:1: no page docs/live.md")]);
        }
        assert_eq!(
            found("a.rs", "// x/docs/live.md, https://a.org/docs/live.md"),
            [""; 0]
        );
    }
}
