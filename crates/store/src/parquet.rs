//! A table of runs as a Parquet file, which Polars, pandas, DuckDB and Arrow read
//! (docs/guide/python.md, "Tables").
//!
//! Called by `read.rs` and `--export-parquet`.
//!
//! What must stay: names and types of columns, which programs read and `frame.rs` of the Python
//! module has as well; rows stand in the order in which tables come, each table a group of rows; a
//! value that is missing is null. Tests by part: `a_table_is_read_back` (`schema`, `group`,
//! `optional`, `write_parquet`), read.rs::`parts_become_one_file` (`new`, `add`, `finish`),
//! test_results.py::`test_sweep_gives_the_bytes_of_its_command` (as Arrow has it). No test of its
//! own: `system_error`.
//!
//! Tests: below, crates/store/src/read.rs, crates/python/tests/test_results.py

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;
use wakeplace_study::{RunTable, RunValues};

/// A file in the making; each table that it is given becomes a group of rows.
pub struct ParquetRuns<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> std::fmt::Debug for ParquetRuns<W> {
    /// The name alone: a writer has nothing to show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRuns").finish_non_exhaustive()
    }
}

impl<W: Write + Send> ParquetRuns<W> {
    /// For tables with the columns of this one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W, like: &RunTable) -> io::Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let writer = schema(like).and_then(|schema| {
            SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build()))
        });
        Ok(Self {
            writer: writer.map_err(system_error)?,
        })
    }

    /// Adds the rows of a table.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, table: &RunTable) -> io::Result<()> {
        self.group(table).map_err(system_error)
    }

    /// Writes a table as a group of rows.
    fn group(&mut self, table: &RunTable) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in &table.columns {
            match &column.values {
                RunValues::Text(values) => {
                    let bytes = |text: &String| ByteArray::from(text.as_str());
                    let values: Vec<_> = values.iter().map(|v| v.as_ref().map(bytes)).collect();
                    optional::<ByteArrayType>(&mut group, values)?;
                }
                RunValues::Real(values) => optional::<DoubleType>(&mut group, values.clone())?,
                RunValues::Whole(values) => {
                    let values: Vec<i64> = values.iter().map(|v| v.cast_signed()).collect();
                    if let Some(mut to) = group.next_column()? {
                        to.typed::<Int64Type>().write_batch(&values, None, None)?;
                        to.close()?;
                    }
                }
            }
        }
        group.close()?;
        Ok(())
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.writer.close().map(drop).map_err(system_error)
    }
}

/// A column some of whose rows have no value.
fn optional<D: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: Vec<Option<D::T>>,
) -> Result<()> {
    let there: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let values: Vec<D::T> = values.into_iter().flatten().collect();
    if let Some(mut to) = group.next_column()? {
        to.typed::<D>().write_batch(&values, Some(&there), None)?;
        to.close()?;
    }
    Ok(())
}

/// A field for each column. Names and types stay: programs read them.
fn schema(table: &RunTable) -> Result<Type> {
    let field = |column: &wakeplace_study::RunColumn| {
        let (physical, logical, needed) = match &column.values {
            // A seed may need all 64 bits.
            RunValues::Whole(_) => (
                Physical::INT64,
                Some(LogicalType::integer(64, false)),
                Repetition::REQUIRED,
            ),
            RunValues::Real(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            RunValues::Text(_) => (
                Physical::BYTE_ARRAY,
                Some(LogicalType::String),
                Repetition::OPTIONAL,
            ),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(needed)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = table
        .columns
        .iter()
        .map(field)
        .collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("run").with_fields(fields).build()
}

/// The whole of a table as a file's bytes.
///
/// # Errors
/// Memory that cannot be written.
pub fn write_parquet(table: &RunTable) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = ParquetRuns::new(&mut bytes, table)?;
    file.add(table)?;
    file.finish()?;
    Ok(bytes)
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

#[cfg(test)]
mod tests {
    use super::write_parquet;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use wakeplace_study::{RunRecord, RunTable};

    /// Goal: what was written is read back, with nothing where a run has no value, and a seed of 64
    /// bits.
    #[test]
    fn a_table_is_read_back() {
        let record = |seed: u64, metric: &str| RunRecord {
            policy: "linux-7.3".to_owned(),
            seed,
            metrics: [(metric.to_owned(), 0.1)].into(),
            ..RunRecord::default()
        };
        let table = RunTable::of(&[record(u64::MAX, "energy_j"), record(7, "runtime_s")]);
        let bytes = write_parquet(&table).expect("written");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a file");
        let rows = reader.get_row_iter(None).expect("rows");
        let rows: Vec<_> = rows.map(|row| row.expect("a row")).collect();
        let get = |row: usize, name: &str| {
            let mut columns = rows[row].get_column_iter();
            columns.find(|(own, _)| *own == name).expect(name).1.clone()
        };
        assert_eq!(rows.len(), 2);
        assert_eq!(get(0, "seed"), Field::ULong(u64::MAX));
        assert_eq!(get(1, "seed"), Field::ULong(7));
        assert_eq!(get(0, "policy"), Field::Str("linux-7.3".to_owned()));
        assert_eq!(get(0, "energy_j"), Field::Double(0.1));
        assert_eq!(get(1, "energy_j"), Field::Null);
    }
}
