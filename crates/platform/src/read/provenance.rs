//! Where the figures come from, collected while the tables are read (docs/guide/platforms.md, "What
//! the words mean").
//!
//! Called by every reader of tables.
//!
//! What must stay: the order is the file's; words of entries, by whose beginnings `platform show`,
//! `known.rs` and `assumed.rs` find them. Free: what leaves each file's machine as it is
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `assumed_figures_are_marked_and_published_ones_named` (`note`, `in_file_order`: the
//! kernel first), bad_files.rs::`every_table_needs_a_source_and_a_standing` (an empty source),
//! `every_table_is_known_in_one_way` (the words).
//!
//! Tests: crates/platform/tests/all/builtin.rs, crates/platform/tests/all/bad_files.rs

use super::raw::{RawStanding, Text};
use super::values::at;
use crate::Source;
use crate::error::Flaw;

/// Entries with the byte offset of their table.
#[derive(Default)]
pub(super) struct Provenance {
    entries: Vec<(usize, String, Source)>,
}

impl Provenance {
    /// Records the source of one table and returns it.
    pub(super) fn note(
        &mut self,
        table_at: usize,
        what: String,
        source: &Text,
        standing: RawStanding,
    ) -> Result<Source, Flaw> {
        let text = source.get_ref().trim().to_owned();
        if text.is_empty() {
            let problem = "`source` is empty";
            let expected = "expected a document, a kernel file or the reasoning";
            return Err(Flaw::new(at(source), problem, expected));
        }
        let source = Source {
            standing: standing.into(),
            text,
        };
        self.entries.push((table_at, what, source.clone()));
        Ok(source)
    }

    /// All entries as the file orders them.
    pub(super) fn in_file_order(mut self) -> Vec<(String, Source)> {
        self.entries.sort_by_key(|(at, _, _)| *at);
        self.entries
            .into_iter()
            .map(|(_, what, source)| (what, source))
            .collect()
    }
}
