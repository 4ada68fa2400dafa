//! A table in a Parquet file, written in groups of rows.

use super::texts::{Text, Texts};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io;
use std::path::Path;
use std::slice;
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

/// Values of a column that wait.
#[derive(Debug)]
enum Column {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<Text>),
}

/// A row being filled, from the first column to the last. A row is made for every event.
pub(super) struct Row<'a>(slice::IterMut<'a, Column>);

impl Row<'_> {
    #[inline]
    pub(super) fn whole(&mut self, value: impl Into<i64>) -> &mut Self {
        match self.0.next() {
            Some(Column::Whole(values)) => values.push(value.into()),
            other => unreachable!("a whole number in {other:?}"),
        }
        self
    }

    /// A time or flags: below 2^63.
    #[inline]
    pub(super) fn unsigned(&mut self, value: u64) -> &mut Self {
        self.whole(value.cast_signed())
    }

    #[inline]
    pub(super) fn real(&mut self, value: f64) -> &mut Self {
        match self.0.next() {
            Some(Column::Real(values)) => values.push(value),
            other => unreachable!("a real number in {other:?}"),
        }
        self
    }

    #[inline]
    pub(super) fn text(&mut self, value: Text) -> &mut Self {
        match self.0.next() {
            Some(Column::Text(values)) => values.push(value),
            other => unreachable!("a text in {other:?}"),
        }
        self
    }
}

impl Column {
    fn write(&self, texts: &Texts, to: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match self {
            Self::Whole(values) => {
                to.typed::<Int64Type>().write_batch(values, None, None)?;
            }
            Self::Real(values) => {
                to.typed::<DoubleType>().write_batch(values, None, None)?;
            }
            Self::Text(values) => texts.write(values, to.typed::<ByteArrayType>())?,
        }
        Ok(())
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
        let mut row = Row(self.columns.iter_mut());
        fill(&mut row, texts);
        debug_assert!(row.0.next().is_none(), "a value for each column");
        self.rows += 1;
        match self.rows < GROUP_ROWS {
            true => Ok(()),
            false => self.flush(texts),
        }
    }

    fn flush(&mut self, texts: &Texts) -> io::Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| self.rows > 0) {
            write_group(writer, &mut self.columns, texts).map_err(system_error)?;
        }
        self.rows = 0;
        Ok(())
    }

    /// Nothing follows.
    pub(super) fn finish(&mut self, texts: &Texts) -> io::Result<()> {
        self.flush(texts)?;
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

fn write_group(
    writer: &mut SerializedFileWriter<File>,
    columns: &mut [Column],
    texts: &Texts,
) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        if let Some(mut to) = group.next_column()? {
            column.write(texts, &mut to)?;
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
