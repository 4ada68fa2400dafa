//! Sources and names in a platform file (docs/guide/import.md, "What is read").
//!
//! Called by `write.rs` and `import/mod.rs`.
//!
//! What must stay: a name made here passes `platform_name` of `read/mod.rs`, whatever a file is
//! called; the words of standings are those of `read/raw.rs`. Free: what leaves the files of
//! imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `names_of_anything` (`slug`),
//! round_trip.rs::`every_platform_comes_back` (`source`: the written file is read).
//!
//! Tests: below, crates/platform/tests/all/import/round_trip.rs

use super::found::Origin;
use crate::Standing;
use crate::form::entry;

/// `source` and `standing`.
pub(super) fn source(origin: &Origin) -> String {
    let text = entry("source", &origin.text);
    let word = match origin.standing {
        Standing::Published => "published",
        Standing::Derived => "derived",
        Standing::Assumed => "assumed",
        Standing::Calibrated => "calibrated",
    };
    format!("{text}standing = \"{word}\"\n")
}

/// A name as platform and cluster names must be: `a-z`, `0-9`, `-`, a letter first.
pub(super) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.to_ascii_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches('-');
    let name: String = name.chars().take(48).collect();
    match name.chars().next() {
        Some(c) if c.is_ascii_lowercase() => name,
        _ => format!("machine-{name}").trim_end_matches('-').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_anything() {
        assert_eq!(slug("Pixel 6 (gs101).tree"), "pixel-6-gs101-tree");
        assert_eq!(slug("2-socket"), "machine-2-socket");
        assert_eq!(slug("///"), "machine");
    }
}
