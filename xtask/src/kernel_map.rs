//! docs/rules/kernel-map.md: which function of the kernel a function of the core stands for, and
//! which tests pin each file, written from the head comments in policy/src.
//!
//! ```text
//!  * Kernel: NAME(), NAME() as wp_OTHER(), FILE, VERSIONS; NAME(), FILE
//!  * Tests: PATH, PATH
//! ```
//!
//! `NAME()` alone stands for `wp_NAME`, or for `wp_NAME_5_4` where that form ended with 5.4; the
//! kernel's leading underscores are left out. VERSIONS may be missing. A path is below
//! crates/policy-sys/tests.
//!
//! What must stay: the form above, and the page's order: folders and files as they stand.
//! Paragraphs without a label are left alone. Free: how it is done, and words that no test or
//! script reads. Tests by part: `a_head_goes_both_ways` (`defined`, `stands_for`, `item`, `head`,
//! `heads`, `quoted`, `page`), `what_is_not_there_is_found` (`check`),
//! repo.rs::`the_kernel_map_is_of_these_files` (`is_labelled`, `paragraph`, the real page);
//! `findings` is the tests' own. `write` has no test of its own: the page that it writes is then
//! checked.
//!
//! Callers: commands.rs (`check`, `write`), glue.rs (`paragraph`).
//!
//! Tests: below

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::{Repo, SourceFile};

const PAGE: &str = "docs/rules/kernel-map.md";
const COMMAND: &str = "run `cargo xtask kernel-map`";
const SOURCES: &str = "policy/src/";
const TESTS: &str = "crates/policy-sys/tests/";

/// A function of the kernel and what stands for it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    kernel: String,
    /// Names of the core; none: none is there.
    ours: Vec<String>,
    /// The kernel's file.
    file: String,
    versions: String,
}

/// What the head comment of a file says.
#[derive(Debug, Default)]
struct Head {
    kernel: Vec<Entry>,
    /// Items of `Kernel:` that name no function.
    nameless: Vec<String>,
    tests: Vec<String>,
}

/// Does a line of a head comment begin something else, as `Tests:` does?
fn is_labelled(line: &str) -> bool {
    let label = line.split_once(':').map(|(label, _)| label);
    label.is_some_and(|label| {
        label.starts_with(|c: char| c.is_ascii_uppercase())
            && label.chars().all(|c| c.is_ascii_alphabetic())
    })
}

/// The text after `Kernel:` or `Tests:` in the head comment, on one line.
pub(crate) fn paragraph(text: &str, word: &str) -> String {
    let head = text.split("*/").next().unwrap_or_default();
    let lines = head.lines().map(|line| line.trim_start_matches([' ', '*']));
    let mut rest = lines.skip_while(|line| !line.starts_with(word));
    let first = rest.next().unwrap_or_default();
    let first = first.trim_start_matches(word);
    let more = rest.take_while(|line| !line.is_empty() && !is_labelled(line));
    let lines: Vec<&str> = std::iter::once(first).chain(more).map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// The functions that a file of the core defines.
fn defined(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("WP_"));
    let names = lines.filter_map(|line| line.split_once('('));
    let names = names.filter_map(|(before, _)| before.rsplit([' ', '*']).next());
    names.filter(|name| name.starts_with("wp_")).collect()
}

/// Is `name` that of the kernel's function with `wp_`, or with a version behind it?
fn stands_for(name: &str, kernel: &str) -> bool {
    let kernel = kernel.trim_start_matches('_');
    let rest = name.strip_prefix("wp_").unwrap_or(name);
    rest.strip_prefix(kernel).is_some_and(|version| {
        let version = version.strip_prefix('_').unwrap_or(version);
        version.split('_').all(|part| part.parse::<u32>().is_ok()) || rest == kernel
    })
}

/// One item between semicolons: names, then a file, then versions.
fn item(item: &str, names: &[&str], entries: &mut Vec<Entry>) {
    let from = entries.len();
    let (mut file, mut versions, mut listed) = (String::new(), Vec::new(), false);
    for part in item
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (kernel, other) = part.split_once(" as ").unwrap_or((part, ""));
        match (kernel.strip_suffix("()"), other.strip_suffix("()")) {
            (Some(kernel), other) => {
                let known = |name: &&&str| match other {
                    Some(other) => **name == other,
                    None => stands_for(name, kernel),
                };
                entries.push(Entry {
                    kernel: kernel.to_owned(),
                    ours: names
                        .iter()
                        .filter(known)
                        .map(|n| (*n).to_owned())
                        .collect(),
                    file: String::new(),
                    versions: String::new(),
                });
                listed = true;
            }
            _ if listed && file.is_empty() => file = part.to_owned(),
            _ => versions.push(part),
        }
    }
    for entry in &mut entries[from..] {
        entry.file.clone_from(&file);
        entry.versions = versions.join(", ");
    }
}

/// What a head comment says, with what of it has no name of ours.
fn head(file: &SourceFile) -> Head {
    let names = defined(&file.text);
    let mut head = Head::default();
    for text in paragraph(&file.text, "Kernel:").split(';').map(str::trim) {
        let before = head.kernel.len();
        item(text, &names, &mut head.kernel);
        if head.kernel.len() == before && !text.is_empty() {
            head.nameless.push(text.to_owned());
        }
    }
    let tests = paragraph(&file.text, "Tests:");
    let tests = tests.split(',').map(|test| test.trim().to_owned());
    head.tests = tests.filter(|test| !test.is_empty()).collect();
    head
}

/// Of all sources of the core.
fn heads(repo: &Repo) -> Vec<(&SourceFile, Head)> {
    let files = repo.below(SOURCES).filter(|file| file.extension() == "c");
    files.map(|file| (file, head(file))).collect()
}

/// In backquotes, joined by commas.
fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The page as the head comments have it.
#[must_use]
pub fn page(repo: &Repo) -> String {
    let heads = heads(repo);
    let mut page = format!(
        "# Kernel functions and where they are here\n\nWritten by `cargo xtask kernel-map` from \
         the head comments in `{SOURCES}`; do not edit. A name that ends in a\nversion is that of \
         an old form: the version is the last kernel that is known to have it.\n\n## From the \
         kernel to the core\n\n| kernel | its file | versions | here | file |\n\
         |:--|:--|:--|:--|:--|\n"
    );
    let mut rows = Vec::new();
    for (file, head) in &heads {
        let room = file.path.trim_start_matches(SOURCES);
        for entry in &head.kernel {
            let Entry {
                kernel,
                file,
                versions,
                ..
            } = entry;
            let ours = quoted(&entry.ours);
            let order = kernel.trim_start_matches('_').to_owned();
            let row = format!("| `{kernel}()` | {file} | {versions} | {ours} | `{room}` |\n");
            rows.push((order, row));
        }
    }
    rows.sort();
    page.extend(rows.into_iter().map(|(_, row)| row));
    let _ = write!(
        page,
        "\n## From the core to the kernel and to tests\n\nTests are below `{TESTS}`.\n\n\
         | file | kernel | tests |\n|:--|:--|:--|\n"
    );
    for (file, head) in &heads {
        let room = file.path.trim_start_matches(SOURCES);
        let mut kernel: Vec<String> = Vec::new();
        for entry in &head.kernel {
            let name = format!("{}()", entry.kernel);
            kernel.extend(Some(name).filter(|name| !kernel.contains(name)));
        }
        let (kernel, tests) = (quoted(&kernel), quoted(&head.tests));
        let _ = writeln!(page, "| `{room}` | {kernel} | {tests} |");
    }
    page
}

/// What a head comment names that is not there, and whether the page is of the head comments.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, head) in heads(repo) {
        let mut wrong = |what: String| findings.push(Finding::on(&file.path, what));
        if head.tests.is_empty() {
            wrong("the head comment has no `Tests: PATH`".to_owned());
        }
        for test in &head.tests {
            let path = format!("{TESTS}{test}");
            if repo.get(&path).is_none() && repo.below(&format!("{path}/")).next().is_none() {
                wrong(format!("`Tests: {test}`: there is no {path}"));
            }
        }
        for item in &head.nameless {
            wrong(format!("`Kernel: {item}`: no name with `()` behind it"));
        }
        for entry in &head.kernel {
            if entry.ours.is_empty() {
                wrong(format!(
                    "`Kernel: {}()`: nothing here stands for it",
                    entry.kernel
                ));
            }
            if entry.versions.contains('/') {
                let versions = &entry.versions;
                wrong(format!(
                    "`Kernel: {}()`: `{versions}` is no version",
                    entry.kernel
                ));
            }
            if !entry.file.contains('/') {
                wrong(format!("`Kernel: {}()`: in which file?", entry.kernel));
            }
        }
    }
    match repo.get(PAGE) {
        None => findings.push(Finding::on(PAGE, format!("missing: {COMMAND}"))),
        Some(file) if file.text != page(repo) => {
            findings.push(Finding::on(PAGE, format!("not of these heads: {COMMAND}")));
        }
        Some(_) => {}
    }
    findings
}

/// Writes the page anew.
///
/// # Errors
/// When it cannot be written.
pub fn write(root: &Path) -> Result<Vec<Finding>> {
    let text = page(&Repo::load(root)?);
    fs::write(root.join(PAGE), text).context(PAGE)?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "policy/src/room/a.c";
    const TEXT: &str = "/*
 * What it does.
 *
 * Kernel: __find(), cost() as wp_price(),
 *         kernel/sched/fair.c, to 5.4; walk(), kernel/sched/rt.c
 * Tests: fixtures/a, all/b.rs
 */
WP_FN int wp_find_5_4(u32 cpu)
WP_INLINE u32 wp_price(void)
WP_FN struct x *wp_walk(void)
";
    const FIXTURE: (&str, &str) = ("crates/policy-sys/tests/fixtures/a/x.toml", "");
    const TEST: (&str, &str) = ("crates/policy-sys/tests/all/b.rs", "");

    /// The repository of one file, with its page.
    fn findings(text: &str) -> Vec<Finding> {
        let files = [(PATH, text), FIXTURE, TEST];
        let page = page(&Repo::of(&files));
        check(&Repo::of(&[files[0], files[1], files[2], (PAGE, &page)]))
    }

    #[test]
    fn a_head_goes_both_ways() {
        assert_eq!(findings(TEXT), []);
        let page = page(&Repo::of(&[(PATH, TEXT)]));
        let row = "| `__find()` | kernel/sched/fair.c | to 5.4 | `wp_find_5_4` | `room/a.c` |";
        assert!(page.contains(row), "{page}");
        let back = "| `room/a.c` | `__find()`, `cost()`, `walk()` | `fixtures/a`, `all/b.rs` |";
        assert!(page.contains(back), "{page}");
    }

    #[test]
    fn what_is_not_there_is_found() {
        assert_eq!(
            findings(&TEXT.replace("wp_find_5_4", "wp_finder_5_4")).len(),
            1
        );
        assert_eq!(
            findings(&TEXT.replace("as wp_price", "as wp_prize")).len(),
            1
        );
        assert_eq!(findings(&TEXT.replace("fixtures/a", "fixtures/b")).len(), 1);
        assert_eq!(findings(&TEXT.replace("Tests:", "Test:")).len(), 1);
        assert_eq!(findings(&TEXT.replace(", kernel/sched/rt.c", "")).len(), 1);
        assert_eq!(findings(&TEXT.replace("walk()", "walk")).len(), 1);
        let two_files = TEXT.replace("rt.c", "rt.c, kernel/sched/core.c");
        assert_eq!(findings(&two_files).len(), 1);
        let stale = Repo::of(&[(PATH, TEXT), FIXTURE, TEST, (PAGE, "old")]);
        assert_eq!(check(&stale).len(), 1);
    }
}
