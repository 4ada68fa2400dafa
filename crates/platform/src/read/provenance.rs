//! Where the figures come from, collected while the tables are read (docs/guide/platforms.md, "What
//! the words mean").
//!
//! Called by every reader of tables. Order: that of the file. `platform show`, pages and
//! `assumed.rs` read the entries by how they begin: their words stay.
//!
//! Tests:
//! crates/platform/tests/all/builtin.rs::assumed_figures_are_marked_and_published_ones_named,
//! crates/platform/tests/all/bad_files.rs::every_table_needs_a_source_and_a_standing

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
