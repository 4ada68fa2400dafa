//! The book's table of contents: what is listed in `docs/README.md` first, in its order, then the
//! rest of each folder by name.
//!
//! What must stay: every document is listed once. Free: how it is done, and words that no test or
//! script reads. Tests by part: site/mod.rs::`documents_keep_their_places_and_links` (`of`,
//! `part`).
//!
//! Callers: mod.rs (`of`).
//!
//! Tests: xtask/src/site/mod.rs::documents_keep_their_places_and_links

use super::{Document, on_site};
use std::fmt::Write as _;

/// Folders of documents and what their parts of the book are called.
const PARTS: [(&str, &str); 6] = [
    ("docs/guide/", "Guide"),
    ("docs/results/", "Results"),
    ("docs/rules/", "Rules"),
    ("studies/", "Studies"),
    ("docs/internals/", "Internals"),
    ("docs/decisions/", "Decisions"),
];

/// The table of contents as mdBook reads it.
pub(super) fn of(documents: &[Document]) -> String {
    let mut text = "# Summary\n\n[wakeplace](index.md)\n".to_owned();
    let overview = documents.iter().find(|d| d.path == "docs/README.md");
    if let Some(overview) = overview {
        let _ = writeln!(text, "[All documents](docs/index.md)");
        for (folder, title) in PARTS {
            let _ = writeln!(text, "\n# {title}\n");
            for document in part(documents, folder, &overview.text) {
                let place = on_site(&document.path);
                let _ = writeln!(text, "- [{}]({place})", document.title);
            }
        }
    }
    text.push_str("\n# The project\n\n");
    for document in documents.iter().filter(|d| !d.path.contains('/')) {
        let _ = writeln!(text, "- [{}]({})", document.title, document.path);
    }
    text
}

/// The documents of a folder: its README, those that are listed, the rest.
fn part<'a>(documents: &'a [Document], folder: &str, overview: &str) -> Vec<&'a Document> {
    let readme = format!("{folder}README.md");
    let own = documents.iter().find(|d| d.path == readme);
    let lists = [own.map(|d| d.text.as_str()).unwrap_or_default(), overview];
    let position = |document: &Document| {
        let below = document.path.strip_prefix(folder).unwrap_or_default();
        let name = on_site(below);
        // As the folder's own README, and as the overview above it, name it.
        let short = folder.strip_prefix("docs/").unwrap_or(folder);
        let words = [format!("({name}"), format!("({short}{name}")];
        let found = lists
            .iter()
            .zip(&words)
            .filter_map(|(list, word)| list.find(word));
        found.min().unwrap_or(usize::MAX)
    };
    let all = documents.iter().filter(|d| d.path.starts_with(folder));
    let mut all: Vec<&Document> = all.collect();
    all.sort_by_key(|d| (d.path != readme, position(d), d.path.clone()));
    all
}
