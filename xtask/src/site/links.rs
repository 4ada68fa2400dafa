//! Links within built pages: the file must be there, and the place in it. Addresses elsewhere are
//! not asked for: the site is looked at without a network (CONTRIBUTING.md, "Rules that a check
//! enforces").
//!
//! What must stay: only links within the site are followed; no network. Free: how it is done, and
//! words that no test or script reads. Tests by part: `a_link_needs_a_file_and_a_place` (`broken`,
//! `values`, `pages`, `plain`, `decoded`), `scripts_are_no_markup` (`markup`).
//!
//! Callers: mod.rs (`broken`).
//!
//! Tests: below

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use crate::Finding;

/// What is not a file of the site.
const ELSEWHERE: [&str; 5] = ["http:", "https:", "mailto:", "data:", "javascript:"];

/// Values of an attribute in the markup of a page.
fn values<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    let parts = text.split(begin.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// A page without scripts and styles, whose texts may look like links.
fn markup(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find("<script").or_else(|| rest.find("<style")) {
        let end = if rest[at..].starts_with("<script") {
            "</script>"
        } else {
            "</style>"
        };
        // The tag itself may name a file.
        let open = rest[at..]
            .find('>')
            .map_or(rest.len(), |close| at + close + 1);
        kept.push_str(&rest[..open]);
        rest = rest[open..]
            .find(end)
            .map_or("", |close| &rest[open + close..]);
    }
    kept.push_str(rest);
    kept
}

/// All pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            pages(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            found.push(path);
        }
    }
    Ok(())
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// `%20` and the like as what they stand for.
fn decoded(link: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = link.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let value = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).replace("&amp;", "&")
}

/// Links of built pages that lead nowhere.
pub(super) fn broken(folder: &Path) -> Result<Vec<Finding>> {
    let mut paths = Vec::new();
    pages(folder, &mut paths)?;
    paths.sort();
    let mut texts = BTreeMap::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        texts.insert(path, markup(&text));
    }
    let places: BTreeMap<&PathBuf, BTreeSet<&str>> = { texts.iter() }
        .map(|(path, text)| (path, values(text, "id").into_iter().collect()))
        .collect();
    let mut findings = Vec::new();
    for (page, text) in &texts {
        let links = ["href", "src"]
            .into_iter()
            .flat_map(|name| values(text, name));
        for link in links.filter(|link| !ELSEWHERE.iter().any(|begin| link.starts_with(begin))) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let file = file.split('?').next().unwrap_or_default();
            let mut target = match file {
                "" => page.clone(),
                file => plain(&page.with_file_name("").join(decoded(file))),
            };
            if target.is_dir() {
                target.push("index.html");
            }
            let shown = page
                .strip_prefix(folder)
                .unwrap_or(page)
                .display()
                .to_string();
            if !target.is_file() {
                findings.push(Finding::on(&shown, format!("`{link}` leads to no file")));
                continue;
            }
            let known = places
                .get(&target)
                .is_none_or(|all| all.contains(decoded(place).as_str()));
            if !place.is_empty() && !known {
                findings.push(Finding::on(&shown, format!("`{link}` leads to no place")));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::{broken, decoded, markup};

    #[test]
    fn a_link_needs_a_file_and_a_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let page = r##"<a href="b/index.html#here">x</a> <a href="b/"> <a href="#gone">
            <a href="b/c%20d.html"> <a href="https://example.org/"> <a id="a" href="?x">
            <script src="none.js">let text = ' href="not-a-link"';</script>"##;
        std::fs::write(folder.path().join("a.html"), page).unwrap();
        std::fs::write(folder.path().join("b/index.html"), r#"<h1 id="here">"#).unwrap();
        std::fs::write(folder.path().join("b/c d.html"), "").unwrap();
        let found = broken(folder.path()).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "a.html: `#gone` leads to no place",
            "a.html: `none.js` leads to no file",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn scripts_are_no_markup() {
        assert_eq!(
            markup("a<script>b</script>c<style>d</style>"),
            "a<script></script>c<style></style>"
        );
        assert_eq!(decoded("a%20b%2"), "a b%2");
    }
}
