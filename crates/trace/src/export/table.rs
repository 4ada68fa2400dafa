//! A table in a Parquet file, written in groups of rows.

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows that wait to be written.
const GROUP_ROWS: usize = 1 << 16;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Whole,
    Real,
    Text,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Whole(i64),
    Real(f64),
    Text(&'a str),
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<i32> for Cell<'_> {
    fn from(value: i32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Self::Whole(value.cast_signed()) // times and flags: below 2^63
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

/// Values of a column that wait.
#[derive(Debug)]
enum Column {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// Texts that were written before. Most are names of threads: each is kept once, and its copies
/// point to it.
#[derive(Debug, Default)]
#[allow(
    clippy::disallowed_types,
    reason = "looked up only, several times for each row"
)]
struct Texts(std::collections::HashMap<Box<str>, ByteArray, BuildHasherDefault<Fnv>>);

/// FNV-1a, for short texts that nobody chooses to collide.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

impl Texts {
    fn of(&mut self, text: &str) -> ByteArray {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new = ByteArray::from(text);
        self.0.insert(text.into(), new.clone());
        new
    }
}

impl Column {
    fn write(&self, to: &mut SerializedColumnWriter<'_>) -> Result<usize> {
        match self {
            Self::Whole(values) => to.typed::<Int64Type>().write_batch(values, None, None),
            Self::Real(values) => to.typed::<DoubleType>().write_batch(values, None, None),
            Self::Text(values) => to.typed::<ByteArrayType>().write_batch(values, None, None),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Whole(values) => values.clear(),
            Self::Real(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

/// A table.
pub(super) struct Table {
    columns: Vec<Column>,
    texts: Texts,
    rows: usize,
    /// None: finished.
    writer: Option<SerializedFileWriter<File>>,
}

impl Table {
    /// `NAME.parquet` in a folder that is there.
    pub(super) fn create(folder: &Path, name: &str, columns: &[(&str, Holds)]) -> io::Result<Self> {
        let file = File::create_new(folder.join(file_name(name)))?;
        let writer = schema(columns).and_then(|schema| {
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties(columns)))
        });
        Ok(Self {
            columns: columns.iter().map(|(_, holds)| holds.column()).collect(),
            texts: Texts::default(),
            rows: 0,
            writer: Some(writer.map_err(system_error)?),
        })
    }

    /// One row more, with a value for each column.
    pub(super) fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Column::Whole(values), Cell::Whole(value)) => values.push(value),
                (Column::Real(values), Cell::Real(value)) => values.push(value),
                (Column::Text(values), Cell::Text(value)) => values.push(self.texts.of(value)),
                (column, cell) => unreachable!("{cell:?} in {column:?}"),
            }
        }
        self.rows += 1;
        match self.rows < GROUP_ROWS {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| self.rows > 0) {
            write_group(writer, &mut self.columns).map_err(system_error)?;
        }
        self.rows = 0;
        Ok(())
    }

    /// Nothing follows.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
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

fn write_group(writer: &mut SerializedFileWriter<File>, columns: &mut [Column]) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        if let Some(mut to) = group.next_column()? {
            column.write(&mut to)?;
            column.clear();
            to.close()?;
        }
    }
    group.close()?;
    Ok(())
}

impl Holds {
    fn column(self) -> Column {
        match self {
            Self::Whole => Column::Whole(Vec::new()),
            Self::Real => Column::Real(Vec::new()),
            Self::Text => Column::Text(Vec::new()),
        }
    }
}

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
