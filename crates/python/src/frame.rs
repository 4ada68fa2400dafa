//! Tables of runs as Arrow's stream in a capsule, which pyarrow, Polars, pandas and DuckDB take
//! without a copy (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).
//!
//! Callers: result.rs and sweep.rs (`stream`).
//!
//! What must stay: names, types and order of columns are those of Parquet files of runs
//! (crates/store/src/parquet.rs); a seed has all 64 bits. Free: how arrays are built. Tests by
//! part: `test_tables_hold_what_the_json_holds` (`schema`, `array`),
//! `test_a_stream_may_be_dropped_or_taken_once` (`stream`),
//! `test_sweep_gives_the_bytes_of_its_command` (as the Parquet file).
//!
//! Tests: crates/python/tests/test_results.py

use crate::error::input;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use wakeplace_study::{RunColumn, RunTable, RunValues};

/// Columns and their types, as in Parquet files of runs.
fn schema(table: &RunTable) -> Schema {
    let field = |column: &RunColumn| {
        let (kind, may_lack) = match column.values {
            RunValues::Text(_) => (DataType::Utf8, true),
            // A seed may need all 64 bits.
            RunValues::Whole(_) => (DataType::UInt64, false),
            RunValues::Real(_) => (DataType::Float64, true),
        };
        Field::new(&column.name, kind, may_lack)
    };
    Schema::new(table.columns.iter().map(field).collect::<Vec<_>>())
}

/// A column's values; one that is missing is null.
fn array(column: &RunColumn) -> ArrayRef {
    match &column.values {
        RunValues::Text(values) => Arc::new(values.iter().cloned().collect::<StringArray>()),
        RunValues::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
        RunValues::Real(values) => Arc::new(Float64Array::from(values.clone())),
    }
}

/// Tables with the same columns, at least one, as one stream.
pub(crate) fn stream<'py>(py: Python<'py>, parts: &[RunTable]) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = Arc::new(parts.first().map_or_else(Schema::empty, schema));
    let batch = |table: &RunTable| {
        let columns = table.columns.iter().map(array).collect();
        RecordBatch::try_new(schema.clone(), columns)
    };
    let batches = parts.iter().map(batch).collect::<Result<Vec<_>, _>>();
    let batches = batches.map_err(input)?.into_iter().map(Ok);
    let reader = RecordBatchIterator::new(batches, schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
