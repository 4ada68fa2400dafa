//! docs/guide/reasons.md: the words for why a CPU was chosen or not, written from the core's
//! headers.
//!
//! What must stay: order and words are the headers'. Free: how it is done, and words that no test
//! or script reads. Tests by part: `an_old_page_is_found` (`page`, `check`),
//! `comments_become_meanings` (`values`). `write` has no test of its own: the page that it writes
//! is then checked.
//!
//! Callers: commands.rs (`check`, `write`).
//!
//! Tests: below

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::Repo;

const PAGE: &str = "docs/guide/reasons.md";
const COMMAND: &str = "run `cargo xtask reasons`";

/// The enums, in the order of the page: header, enum, prefix of its values, title, sentence.
const ENUMS: [(&str, &str, &str, &str, &str); 3] = [
    (
        "policy/include/wakeplace/reasons.h",
        "wp_rule",
        "WP_RULE_",
        "Rules",
        "Which part of the policy decided.",
    ),
    (
        "policy/include/wakeplace/reasons.h",
        "wp_reason",
        "WP_REASON_",
        "Why a CPU was chosen",
        "One value per outcome. It is the same in `explain`, results and the live scheduler's \
         counters.",
    ),
    (
        "policy/include/wakeplace/explain.h",
        "wp_drop",
        "WP_DROP_",
        "Why a CPU was not chosen",
        "What the rule that decided found last about a CPU, in `explain` only.",
    ),
];

/// The values of an enum with their comments, a comment of several lines joined.
fn values(header: &str, name: &str, prefix: &str) -> Vec<(String, String)> {
    let begin = format!("enum {name} {{");
    let body = header.split_once(&begin).map_or("", |(_, rest)| rest);
    let body = body.split_once("\n};").map_or(body, |(body, _)| body);
    let mut values: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in body.lines().map(str::trim) {
        let comment = match line.split_once("/*") {
            Some((_, comment)) => Some(comment),
            None => open.then(|| line.trim_start_matches('*')),
        };
        if let Some(value) = line.strip_prefix(prefix)
            && !open
        {
            let end = value.find(',').unwrap_or(value.len());
            let word = value[..end].to_ascii_lowercase().replace('_', "-");
            values.push((word, String::new()));
        }
        if let (Some(comment), Some((_, text))) = (comment, values.last_mut()) {
            open = !comment.contains("*/");
            let comment = comment.trim_end_matches("*/").trim();
            let blank = if text.is_empty() { "" } else { " " };
            *text += &format!("{blank}{comment}");
        }
    }
    values.retain(|(word, _)| word != "count");
    values
}

/// The page as the headers have it.
#[must_use]
pub fn page(repo: &Repo) -> String {
    let mut page = String::from(
        "# Reasons\n\nWritten by `cargo xtask reasons` from `policy/include/wakeplace/reasons.h` \
         and `explain.h`; do not edit.\n`wakeplace explain` prints what they mean for one \
         decision. `--format json` has the words.\n",
    );
    for (header, name, prefix, title, sentence) in ENUMS {
        let text = repo.get(header).map_or("", |file| file.text.as_str());
        let _ = write!(
            page,
            "\n## {title}\n\n{sentence}\n\n| word | meaning |\n|:--|:--|\n"
        );
        for (word, meaning) in values(text, name, prefix) {
            let _ = writeln!(page, "| `{word}` | {meaning} |");
        }
    }
    page
}

/// Whether the page is of these headers.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    match repo.get(PAGE) {
        None => vec![Finding::on(PAGE, format!("missing: {COMMAND}"))],
        Some(file) if file.text != page(repo) => {
            vec![Finding::on(
                PAGE,
                format!("not of these headers: {COMMAND}"),
            )]
        }
        Some(_) => Vec::new(),
    }
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

    const HEADER: &str = "enum wp_drop {\n\tWP_DROP_NONE, /* chosen */\n\tWP_DROP_TOO_FAR, /* it \
                          is\n\t\t\t  * far */\n\tWP_DROP_COUNT\n};\n";

    #[test]
    fn comments_become_meanings() {
        let found = values(HEADER, "wp_drop", "WP_DROP_");
        let expected = [("none", "chosen"), ("too-far", "it is far")];
        let found: Vec<_> = found
            .iter()
            .map(|(w, m)| (w.as_str(), m.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_old_page_is_found() {
        let header = "policy/include/wakeplace/explain.h";
        let page = page(&Repo::of(&[(header, HEADER)]));
        assert_eq!(check(&Repo::of(&[(header, HEADER), (PAGE, &page)])), []);
        let changed = HEADER.replace("chosen", "taken");
        assert_eq!(
            check(&Repo::of(&[(header, &changed), (PAGE, &page)])).len(),
            1
        );
        assert_eq!(check(&Repo::of(&[(header, HEADER)])).len(), 1);
    }
}
