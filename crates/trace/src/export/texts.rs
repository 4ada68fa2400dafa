//! Texts of tables: most are names of threads and of reasons. Each is kept once, and rows have its
//! number (docs/guide/traces.md, "The tables").
//!
//! What must stay: a text has one number for the whole trace, by its first use; files have the
//! texts, not the numbers. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `tables_told_by_hand` (`of`, `write`).
//!
//! Tests: crates/trace/tests/all/traces.rs::tables_told_by_hand

use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use std::collections::BTreeMap;

/// The number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text(u32);

/// All texts so far.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<ByteArray>,
    known: BTreeMap<Box<str>, Text>,
    /// Those being written; empty between.
    batch: Vec<ByteArray>,
}

impl Texts {
    /// The number of this one. It takes a search: for what is not in every row.
    pub(super) fn of(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let number = Text(u32::try_from(self.all.len()).expect("a text of 2^32"));
        self.all.push(text.into());
        self.known.insert(text.into(), number);
        number
    }

    /// Writes values of a column.
    pub(super) fn write(
        &mut self,
        column: &[Text],
        to: &mut ColumnWriterImpl<'_, ByteArrayType>,
    ) -> Result<()> {
        let texts = column.iter().map(|text| self.all[text.0 as usize].clone());
        self.batch.extend(texts);
        let written = to.write_batch(&self.batch, None, None);
        self.batch.clear();
        written.map(drop)
    }
}
