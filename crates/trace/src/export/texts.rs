//! Texts of tables: most are names of threads and of reasons. Each is kept once, and rows have its
//! number.

use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use std::collections::BTreeMap;

/// The number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text(u32);

/// Texts handed to the writer at once.
const BATCH: usize = 1 << 10;

/// All texts so far.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<ByteArray>,
    known: BTreeMap<Box<str>, Text>,
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

    /// Writes a column.
    pub(super) fn write(
        &self,
        column: &[Text],
        to: &mut ColumnWriterImpl<'_, ByteArrayType>,
    ) -> Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        for numbers in column.chunks(BATCH) {
            let texts = numbers.iter().map(|text| self.all[text.0 as usize].clone());
            batch.extend(texts);
            to.write_batch(&batch, None, None)?;
            batch.clear();
        }
        Ok(())
    }
}
