//! A table in a Parquet file, written in groups of rows (docs/guide/traces.md, "The tables").
//!
//! What must stay: columns stand as in `columns.rs`, each row has a value for each, of its type;
//! the system's own error reaches the user. How many rows a group has and how values are encoded
//! may change. Tests by part: `tables_told_by_hand` (`create`, `row`, `encode`, `finish`,
//! `schema`), xtask/src/tries/traces.rs (`properties`, other readers). Groups that are full
//! (`write_group`) and `system_error` have no test of their own. `whole`, `unsigned`, `real`,
//! `text` and `file_name` by the first one, too.
//!
//! Tests: crates/trace/tests/all/traces.rs::tables_told_by_hand, xtask/src/tries/traces.rs

use super::column::{Encoded, Holds, Values};
use super::texts::{Text, Texts};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};
use std::fs::File;
use std::io;
use std::mem;
use std::slice;
use std::sync::Arc;

/// Rows that wait to be encoded: few, so that they are still in the caches then.
const BATCH_ROWS: usize = 1 << 10;
/// Rows of a group.
const GROUP_ROWS: usize = 1 << 16;

/// A row being filled, from the first column to the last. A row is made for every event.
pub(super) struct Row<'a>(slice::IterMut<'a, Values>);

impl Row<'_> {
    /// The next column's value, a whole number.
    #[inline]
    pub(super) fn whole(&mut self, value: impl Into<i64>) -> &mut Self {
        match self.0.next() {
            Some(Values::Whole(values)) => values.push(value.into()),
            other => unreachable!("a whole number in {other:?}"),
        }
        self
    }

    /// A time or flags: below 2^63.
    #[inline]
    pub(super) fn unsigned(&mut self, value: u64) -> &mut Self {
        self.whole(value.cast_signed())
    }

    /// The next column's value, a real number.
    #[inline]
    pub(super) fn real(&mut self, value: f64) -> &mut Self {
        match self.0.next() {
            Some(Values::Real(values)) => values.push(value),
            other => unreachable!("a real number in {other:?}"),
        }
        self
    }

    /// The next column's value, the number of a text.
    #[inline]
    pub(super) fn text(&mut self, value: Text) -> &mut Self {
        match self.0.next() {
            Some(Values::Text(values)) => values.push(value),
            other => unreachable!("a text in {other:?}"),
        }
        self
    }
}

/// A table.
pub(super) struct Table {
    values: Vec<Values>,
    /// Rows that wait.
    waiting: usize,
    /// Columns of the group under way, and its rows; empty: there is none.
    group: Vec<Encoded>,
    rows: usize,
    /// None: finished.
    writer: Option<SerializedFileWriter<File>>,
}

impl Table {
    /// In a new file.
    pub(super) fn create(file: File, columns: &[(&str, Holds)]) -> io::Result<Self> {
        let writer = schema(columns).and_then(|schema| {
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(columns)))
        });
        Ok(Self {
            values: columns
                .iter()
                .map(|(_, holds)| Values::new(*holds))
                .collect(),
            waiting: 0,
            group: Vec::new(),
            rows: 0,
            writer: Some(writer.map_err(system_error)?),
        })
    }

    /// One row more, with a value for each column.
    #[inline]
    pub(super) fn row(
        &mut self,
        texts: &mut Texts,
        fill: impl FnOnce(&mut Row<'_>, &mut Texts),
    ) -> io::Result<()> {
        let mut row = Row(self.values.iter_mut());
        fill(&mut row, texts);
        debug_assert!(row.0.next().is_none(), "a value for each column");
        self.waiting += 1;
        match self.waiting < BATCH_ROWS {
            true => Ok(()),
            false => self.encode(texts).map_err(system_error),
        }
    }

    /// Encodes the rows that wait, and writes the group if it is full.
    fn encode(&mut self, texts: &mut Texts) -> Result<()> {
        let Some(writer) = self.writer.as_ref().filter(|_| self.waiting > 0) else {
            return Ok(());
        };
        if self.group.is_empty() {
            let columns = writer.schema_descr().columns().iter();
            let start = |column: &ColumnDescPtr| {
                Encoded::new(Arc::clone(column), Arc::clone(writer.properties()))
            };
            self.group = columns.map(start).collect();
        }
        for (column, values) in self.group.iter_mut().zip(&mut self.values) {
            column.add(values, texts)?;
        }
        self.rows += mem::take(&mut self.waiting);
        match self.rows < GROUP_ROWS {
            true => Ok(()),
            false => self.write_group(),
        }
    }

    /// Writes what waits as a group of rows.
    fn write_group(&mut self) -> Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| !self.group.is_empty()) {
            let mut group = writer.next_row_group()?;
            for column in self.group.drain(..) {
                column.finish(&mut group)?;
            }
            group.close()?;
        }
        self.rows = 0;
        Ok(())
    }

    /// Nothing follows.
    pub(super) fn finish(&mut self, texts: &mut Texts) -> io::Result<()> {
        let rest = self.encode(texts).and_then(|()| self.write_group());
        rest.map_err(system_error)?;
        match self.writer.take() {
            Some(writer) => writer.close().map(drop).map_err(system_error),
            None => Ok(()),
        }
    }
}

/// The file of a table.
pub(super) fn file_name(table: &str) -> String {
    format!("{table}.parquet")
}

/// What the system said, where it was the system that failed.
fn system_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

/// Whole numbers are written as differences: times grow, numbers of CPUs and threads are small. A
/// dictionary would take as much room and most of the time. It is for texts, which repeat; their
/// least and greatest say nothing.
fn properties(columns: &[(&str, Holds)]) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, holds) in columns {
        let path = ColumnPath::from(*name);
        properties = match holds {
            Holds::Whole => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Holds::Text => properties.set_column_statistics_enabled(path, EnabledStatistics::None),
            Holds::Real => properties,
        };
    }
    properties.build()
}

/// A field for each column.
fn schema(columns: &[(&str, Holds)]) -> Result<Type> {
    let field = |(name, holds): &(&str, Holds)| {
        let (physical, logical) = match holds {
            Holds::Whole => (Physical::INT64, None),
            Holds::Real => (Physical::DOUBLE, None),
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("row").with_fields(fields).build()
}
