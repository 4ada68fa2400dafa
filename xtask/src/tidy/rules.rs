//! Citations of rules: `docs/rules/PAGE.md#anchor` names an anchor that is there, once, a
//! decision's number has its page, and no other form of citation is left. A rule that cannot be
//! found in the repository is no rule.
//!
//! What must stay: an anchor's name never changes its meaning; each is unique over all pages. Free:
//! how it is done, and words that no test or script reads. Tests by part:
//! `a_citation_that_resolves_is_none`, `only_the_placeholder_stands_for_a_citation` and
//! `an_anchor_goes_on_to_the_end_of_the_word` (`citations`, `cited`, `words_in`, `ends_word`,
//! `parted`, `is_of_anchor`), `a_path_from_another_folder_is_looked_at` (`linked`),
//! `a_decision_has_its_page` (`decided`), `a_broken_citation_names_the_nearest_anchor`,
//! `an_anchor_of_another_page_is_said_to_be_there` and `a_missing_page_is_found` (`missing`),
//! `a_doubled_anchor_is_found` (`anchors`), `old_forms_are_found` (`old_forms`, `old_form`,
//! `is_number`); `found` is the tests' own.
//!
//! Callers: mod.rs (`citations`).
//!
//! Tests: below

use std::collections::{BTreeMap, BTreeSet};

use crate::Finding;
use crate::repo::{Repo, SourceFile};
use crate::tidy::links;
use wakeplace_text::{did_you_mean, nearest};

/// Where the pages of rules are.
const FOLDER: &str = "docs/rules/";

/// Where the pages of decisions are, each by a number and its title.
const DECISIONS: &str = "docs/decisions/";

/// What stands for any citation where the form itself is described.
const PLACEHOLDERS: [&str; 2] = ["PAGE.md", "PAGE.md#anchor"];

/// The anchors of each page, by its path.
type Anchors = BTreeMap<String, BTreeSet<String>>;

/// Citations that lead nowhere, anchors that are there twice, and forms of citation of the past.
pub(super) fn citations(repo: &Repo, findings: &mut Vec<Finding>) {
    let anchors = anchors(repo, findings);
    let old = old_forms();
    for file in &repo.files {
        for (index, line) in file.text.lines().enumerate() {
            let mut wrong = cited(file, line, &anchors);
            wrong.extend(decided(repo, line));
            if file.extension() == "md" {
                wrong.extend(linked(file, line, &anchors));
            }
            wrong.extend(old_form(file, line, &old));
            findings.extend(
                wrong
                    .into_iter()
                    .map(|what| Finding::at(&file.path, index + 1, what)),
            );
        }
    }
}

/// Every `<a id="NAME"></a>` of the pages. A name stands once in all of them, so that a citation
/// that is moved to another page cannot come to mean something else.
fn anchors(repo: &Repo, findings: &mut Vec<Finding>) -> Anchors {
    let mut all = Anchors::new();
    let mut seen = BTreeMap::new();
    for page in repo.below(FOLDER).filter(|file| file.extension() == "md") {
        let names = all.entry(page.path.clone()).or_default();
        for (index, line) in page.text.lines().enumerate() {
            for name in line.split("<a id=\"").skip(1) {
                let name = name.split('"').next().unwrap_or_default();
                let place = format!("{}:{}", page.path, index + 1);
                if name.is_empty() || !name.chars().all(is_of_anchor) {
                    let what = format!("anchor `{name}`: lower case letters, digits and hyphens");
                    findings.push(Finding::at(&page.path, index + 1, what));
                } else if let Some(first) = seen.insert(name.to_owned(), place) {
                    let what = format!("anchor `{name}` is there already, at {first}");
                    findings.push(Finding::at(&page.path, index + 1, what));
                }
                names.insert(name.to_owned());
            }
        }
    }
    all
}

/// Small letters, digits and hyphens.
fn is_of_anchor(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

/// What is wrong with the citations of a line: `docs/rules/PAGE.md`, with or without an anchor. A
/// Markdown link is resolved by its own check.
fn cited(file: &SourceFile, line: &str, anchors: &Anchors) -> Vec<String> {
    let is_page = file.extension() == "md";
    words_in(line, FOLDER)
        .filter(|(before, word)| {
            let is_link = is_page && before.contains("](");
            !is_link && !PLACEHOLDERS.contains(word)
        })
        .filter_map(|(_, word)| {
            let (page, anchor) = parted(word);
            missing(&format!("{FOLDER}{page}"), anchor, anchors)
        })
        .collect()
}

/// What is wrong with the decisions that a line names, by number or by a page's whole name.
fn decided(repo: &Repo, line: &str) -> Vec<String> {
    words_in(line, DECISIONS)
        .filter_map(|(_, word)| {
            let (page, _) = parted(word);
            let path = format!("{DECISIONS}{page}");
            let is_number = page.len() == 3 && page.chars().all(|c| c.is_ascii_digit());
            let is_there = match is_number {
                true => repo.below(&format!("{path}-")).next().is_some(),
                false => repo.get(&path).is_some(),
            };
            (!is_there).then(|| format!("no decision {path}"))
        })
        .collect()
}

/// What follows `folder` in a line, to the end of the word, each time that something does; with the
/// part of the word before it. Addresses of other places are left out.
fn words_in<'a>(line: &'a str, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    line.match_indices(folder).filter_map(move |(at, _)| {
        let before = line[..at].rsplit(char::is_whitespace).next();
        let before = before.unwrap_or_default();
        let rest = &line[at + folder.len()..];
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        let word = word.trim_end_matches(['.', ':', '!', '?', '*']);
        let is_address = before.contains("://");
        (!is_address && !word.is_empty()).then_some((before, word))
    })
}

/// Does a citation end before this character? A full stop may be within it.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>,;|\\".contains(c)
}

/// A page and its anchor.
fn parted(word: &str) -> (&str, Option<&str>) {
    match word.split_once('#') {
        Some((page, anchor)) => (page, Some(anchor)),
        None => (word, None),
    }
}

/// What is wrong with the Markdown links of a line that lead to the rules.
fn linked(file: &SourceFile, line: &str, anchors: &Anchors) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in links::targets(line) {
        let (path, anchor) = parted(target);
        let path = if path.is_empty() {
            file.path.clone()
        } else {
            links::resolved(&file.path, path)
        };
        if path.starts_with(FOLDER) {
            wrong.extend(missing(&path, anchor, anchors));
        }
    }
    wrong
}

/// Says what is missing of a page and an anchor in it, and what comes nearest.
fn missing(page: &str, anchor: Option<&str>, anchors: &Anchors) -> Option<String> {
    let hint = |name: &str, known: Vec<&str>| did_you_mean(nearest(name, known));
    let Some(names) = anchors.get(page) else {
        let known = anchors.keys().map(String::as_str).collect();
        return Some(format!("no page {page}{}", hint(page, known)));
    };
    let anchor = anchor?;
    if names.contains(anchor) {
        return None;
    }
    let elsewhere = anchors.iter().find(|(_, names)| names.contains(anchor));
    let hint = match elsewhere {
        Some((other, _)) => format!("; {other} has it"),
        None => hint(anchor, names.iter().map(String::as_str).collect()),
    };
    Some(format!("{page} has no anchor `{anchor}`{hint}"))
}

/// Names of pages that were cited by number once. Put together here so that this file cites none.
fn old_forms() -> Vec<String> {
    let names = [
        ("capacity", "-aware"),
        ("energy", "-aware"),
        ("power", "-aware"),
        ("sis", "-short"),
        ("sched", "-mc"),
        ("contended", "-lines"),
        ("S", "B"),
        ("sp", "ec"),
        ("sp", "ecs"),
        ("specifi", "cation"),
    ];
    names.map(|(head, tail)| [head, tail].concat()).into()
}

/// A citation in a form of the past: a page's name and a number, or a path beside the repository.
/// None: it is none.
fn old_form(file: &SourceFile, line: &str, names: &[String]) -> Option<String> {
    let wanted = "cite a rule as docs/rules/PAGE.md#anchor";
    let numbered = names.iter().find(|name| {
        line.match_indices(name.as_str()).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let is_word = !before.is_some_and(|c| c.is_alphanumeric() || "-_+./".contains(c));
            let after = &line[at + name.len()..];
            // After the name of a page; elsewhere a comma parts two arguments.
            let after = match after.strip_prefix(".md").unwrap_or(after) {
                rest if name.contains('-') => rest.strip_prefix(',').unwrap_or(rest),
                rest => rest,
            };
            is_word && is_number(after)
        })
    });
    if let Some(name) = numbered {
        return Some(format!("`{name}` with a number: {wanted}"));
    }
    let whole = ["signals-and-", "baseline"].concat();
    if line.contains(&whole) {
        return Some(format!("`{whole}`: {wanted}"));
    }
    // Tests compare with what lies beside the checkout where it is there.
    let beside = ["../", "shared"].concat();
    let is_test = file.is_test() || file.path.contains("/tests/");
    (line.contains(&beside) && !is_test)
        .then(|| format!("`{beside}`: what a rule needs is in the repository"))
}

/// Does a text begin with a section's number: ` 8.6`, ` section 2`, ` P11`?
fn is_number(text: &str) -> bool {
    let Some(text) = text.strip_prefix(' ') else {
        return false;
    };
    let words = ["sections ", "section "];
    let named = words.iter().find_map(|word| text.strip_prefix(word));
    let text = named.unwrap_or(text);
    text.strip_prefix('P')
        .unwrap_or(text)
        .starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands for the folder of the rules, so that the texts below are no citations of this file.
    const AT: char = '@';

    /// A repository of one page with two anchors, and one more file.
    fn found(path: &str, text: &str) -> Vec<String> {
        let page = "# A\n<a id=\"wake-wide\"></a>\n<a id=\"race-window\"></a>\n";
        let mut findings = Vec::new();
        let [first, path, text] = ["@wake-ups.md", path, text].map(|s| s.replace(AT, FOLDER));
        citations(&Repo::of(&[(&first, page), (&path, &text)]), &mut findings);
        findings
            .iter()
            .map(|finding| finding.to_string().replace(FOLDER, "@"))
            .collect()
    }

    #[test]
    fn a_citation_that_resolves_is_none() {
        assert!(found("a.rs", "// @wake-ups.md#wake-wide, @wake-ups.md.").is_empty());
        let links = "[a](rules/wake-ups.md#race-window) [b](rules/wake-ups.md) [c](other.md#d)";
        assert!(found("docs/a.md", links).is_empty());
        assert!(found("@b.md", "[a](wake-ups.md#wake-wide)").is_empty());
        assert!(found("a.md", "`@PAGE.md#anchor`").is_empty());
    }

    #[test]
    fn only_the_placeholder_stands_for_a_citation() {
        assert!(found("a.md", "`@PAGE.md`, in @.").is_empty());
        for (word, page) in [
            ("@wake_ups.md#wake-wide", "@wake_ups.md"),
            ("@Wake-ups.md", "@Wake-ups.md"),
            ("@PAGES.md#anchor", "@PAGES.md"),
            ("@wake-ups#wake-wide", "@wake-ups"),
        ] {
            let wrong = found("a.rs", word);
            let says = format!("a.rs:1: no page {page}");
            assert!(wrong.len() == 1 && wrong[0].starts_with(&says), "{wrong:?}");
        }
        let other = found("a.rs", "@PAGE.md#race-window");
        assert_eq!(other.len(), 1, "{other:?}");
    }

    #[test]
    fn an_anchor_goes_on_to_the_end_of_the_word() {
        for anchor in [
            "race-window_2",
            "race-windoW",
            "race-window.2",
            "race-window/2",
        ] {
            let wrong = found("a.rs", &format!("// (@wake-ups.md#{anchor}).")).concat();
            let says = format!("a.rs:1: @wake-ups.md has no anchor `{anchor}`");
            assert!(wrong.starts_with(&says), "{wrong}");
        }
        for end in [
            " x", ")", "]", ",", ";", ".", ":", "?", "!", "\"", "'", "`", "**", ").", "\\n",
        ] {
            let text = format!("// @wake-ups.md#race-window{end}");
            assert!(found("a.rs", &text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_path_from_another_folder_is_looked_at() {
        assert_eq!(found("a.rs", "// ../../@wake-ups.md#wide").len(), 1);
        assert_eq!(found("a.md", "see /@wake-ups.md#wide").len(), 1);
        // A link is found once, by its own check; what another place has is not ours.
        assert_eq!(found("docs/a.md", "[a](../@wake-ups.md#wide)").len(), 1);
        assert!(found("a.rs", "// https://example.org/@wake-ups.md#wide").is_empty());
    }

    #[test]
    fn a_decision_has_its_page() {
        let page = format!("{DECISIONS}021-ends.md");
        let wrong = |text: &str| {
            let text = text.replace(AT, DECISIONS);
            let mut findings = Vec::new();
            let files = [(page.as_str(), "# A\n"), ("a.toml", text.as_str())];
            citations(&Repo::of(&files), &mut findings);
            findings.len()
        };
        assert_eq!(wrong("\"@021 Yield\" (@021), @021-ends.md, @"), 0);
        for text in ["@022", "@21", "@021-end.md", "@021x", "../@022"] {
            assert_eq!(wrong(text), 1, "{text}");
        }
    }

    #[test]
    fn a_broken_citation_names_the_nearest_anchor() {
        assert_eq!(
            found("a.rs", "\n// @wake-ups.md#wake-wied\n"),
            ["a.rs:2: @wake-ups.md has no anchor `wake-wied`; did you mean `wake-wide`?"]
        );
        assert_eq!(
            found("docs/a.md", "[a](rules/wake-ups.md#race-windov)"),
            ["docs/a.md:1: @wake-ups.md has no anchor `race-windov`; \
                 did you mean `race-window`?"]
        );
    }

    #[test]
    fn an_anchor_of_another_page_is_said_to_be_there() {
        let page = "<a id=\"nohz\"></a>\n[a](#wake-wide)\n";
        assert_eq!(
            found("@b.md", page),
            ["@b.md:2: @b.md has no anchor `wake-wide`; \
                 @wake-ups.md has it"]
        );
    }

    #[test]
    fn a_missing_page_is_found() {
        assert_eq!(
            found("a.c", "/* @wake-up.md#wake-wide */"),
            ["a.c:1: no page @wake-up.md; \
              did you mean `@wake-ups.md`?"]
        );
    }

    #[test]
    fn a_doubled_anchor_is_found() {
        let twice = "@b.md:1: anchor `wake-wide` is there already, at \
                     @wake-ups.md:2";
        // The page that comes first in the list is the one that has it.
        assert_eq!(found("@b.md", "<a id=\"wake-wide\"></a>"), [twice]);
        let form = found("@b.md", "<a id=\"Wake\"></a>");
        assert_eq!(form.len(), 1, "{form:?}");
    }

    #[test]
    fn old_forms_are_found() {
        let old = |head: &str, tail: &str| found("a.rs", &format!("// {head}{tail}"));
        for (head, tail) in [
            ("S", "B 8.6"),
            ("sp", "ec 2.7"),
            ("energy", "-aware, section 2"),
            ("power", "-aware.md P11"),
            ("signals-and-", "baseline"),
            ("../", "shared/x"),
        ] {
            assert_eq!(old(head, tail).len(), 1, "{head}{tail}");
        }
        for (head, tail) in [
            ("linux-6.2+sis", "-short 5 x"),
            ("sched", "-mc: 4.2"),
            ("energy", "-aware placement"),
            ("", "spec: 3"),
        ] {
            assert!(old(head, tail).is_empty(), "{head}{tail}");
        }
        let beside = ["../", "shared"].concat();
        assert!(found("crates/a/tests/all/x.rs", &beside).is_empty());
    }
}
