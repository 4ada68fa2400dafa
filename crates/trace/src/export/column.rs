//! A column of a table: values that wait, and those that are encoded already (docs/guide/traces.md,
//! "The tables").
//!
//! What must stay: values stand in the order of rows, and a group's columns have as many each. How
//! much waits before it is encoded may change. Tests by part: `tables_told_by_hand` (`Values`,
//! `Encoded`). That is `new`, `add`, `clear`, `finish`, `write`, `write_page`, `flush`, `close` and
//! `lock`: a value in the wrong place is found by that test.
//!
//! Tests: crates/trace/tests/all/traces.rs::tables_told_by_hand

use super::texts::{Text, Texts};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use prost::bytes::Bytes;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Whole,
    Real,
    Text,
}

/// Values that wait.
#[derive(Debug)]
pub(super) enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<Text>),
}

impl Values {
    /// An empty column of this kind.
    pub(super) fn new(holds: Holds) -> Self {
        match holds {
            Holds::Whole => Self::Whole(Vec::new()),
            Holds::Real => Self::Real(Vec::new()),
            Holds::Text => Self::Text(Vec::new()),
        }
    }

    /// Forgets the values and keeps the memory.
    fn clear(&mut self) {
        match self {
            Self::Whole(values) => values.clear(),
            Self::Real(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

/// A column's part of a group of rows. The columns of a group stand in the file one after the
/// other, but they grow together: each is encoded in memory until the group is full.
pub(super) struct Encoded {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

impl Encoded {
    /// A column of a group of rows in the making, whose pages stay in memory until the group is
    /// written.
    pub(super) fn new(column: ColumnDescPtr, properties: WriterPropertiesPtr) -> Self {
        let pages = Pages::default();
        let to = InMemory(TrackedWrite::new(pages.clone()));
        Self {
            writer: get_column_writer(column, properties, Box::new(to)),
            pages,
        }
    }

    /// Encodes what waits.
    pub(super) fn add(&mut self, values: &mut Values, texts: &mut Texts) -> Result<()> {
        match (&mut self.writer, &*values) {
            (ColumnWriter::Int64ColumnWriter(to), Values::Whole(values)) => {
                to.write_batch(values, None, None)?;
            }
            (ColumnWriter::DoubleColumnWriter(to), Values::Real(values)) => {
                to.write_batch(values, None, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(to), Values::Text(values)) => {
                texts.write(values, to)?;
            }
            (_, values) => unreachable!("{values:?} in a column of another type"),
        }
        values.clear();
        Ok(())
    }

    /// Nothing follows in this group.
    pub(super) fn finish(self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<()> {
        let close = self.writer.close()?;
        let pages = Bytes::from(mem::take(&mut *self.pages.lock()));
        group.append_column(&pages, close)
    }
}

/// Encoded pages, one after the other.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<Vec<u8>>>);

impl Pages {
    /// The pages; a thread that panicked with them changes nothing here.
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Pages {
    /// Takes bytes of a page.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    /// Nothing waits: it is memory.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct InMemory(TrackedWrite<Pages>);

impl PageWriter for InMemory {
    /// Takes a page that is encoded.
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        SerializedPageWriter::new(&mut self.0).write_page(page)
    }

    /// Nothing follows a column's last page.
    fn close(&mut self) -> Result<()> {
        SerializedPageWriter::new(&mut self.0).close()
    }
}
