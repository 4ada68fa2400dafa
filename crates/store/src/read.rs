//! Runs read back from a store, a part at a time: memory does not grow with the sweep.

use crate::error::Flaw;
use crate::row::{CELLS, Names, Reader, metric_names};
use crate::{Done, ParquetRuns, Store, StoreError};
use rusqlite::params;
use std::io::Write;
use wakeplace_study::{RunRecord, RunTable};

/// Rows that are in memory at once.
const PART: usize = 4096;
/// Bytes of the metrics of such a part, about.
const PART_BYTES: usize = 1 << 28;

impl Store {
    /// Names of all metrics that some run has, in the order of the alphabet.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn metrics(&self) -> Result<Vec<String>, StoreError> {
        let mut all: Vec<String> = self.metric_names()?.by_number.into_values().collect();
        all.sort_unstable();
        Ok(all)
    }

    fn metric_names(&self) -> Result<Names, StoreError> {
        metric_names(self.reading()).map_err(|flaw| self.failed(flaw))
    }

    /// Calls `each` with all finished cells, part by part.
    pub(crate) fn each_part<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(Vec<Done>) -> Result<(), E>,
    ) -> Result<(), E> {
        // From the first number that a row can have: what is out of range is seen.
        let mut from = i64::MIN;
        loop {
            let part = self.part(from).map_err(|flaw| self.failed(flaw))?;
            let Some(last) = part.last() else {
                return Ok(());
            };
            from = last.cell as i64 + 1;
            each(part)?;
        }
    }

    /// The next finished cells from one on.
    fn part(&self, from: i64) -> Result<Vec<Done>, Flaw> {
        let connection = self.reading();
        let mut reader = Reader::new(connection, self.cells)?;
        let limit = (PART_BYTES / reader.names.bytes.max(1)).clamp(1, PART);
        let mut statement = connection.prepare_cached(CELLS)?;
        let mut rows = statement.query(params![from, limit as i64])?;
        let mut part = Vec::new();
        while let Some(one) = rows.next()? {
            part.push(reader.done(one)?);
        }
        Ok(part)
    }

    /// Calls `each` with all finished cells, part by part.
    ///
    /// # Errors
    /// The machine cannot; a row is not as it was written; what `each` says.
    pub fn parts<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(&[RunRecord]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_part(|part| {
            let part = part.into_iter().map(|done| self.with_power(done.record));
            each(&part.collect::<Vec<_>>())
        })
    }

    /// What is known of a run's joules beside what is stored.
    fn with_power(&self, record: RunRecord) -> RunRecord {
        let modelled = self.modelled.contains(&record.platform);
        record.with_power(modelled)
    }

    /// Writes all runs as a Parquet file, one row per run; `labels` are the varied keys.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn export_parquet(
        &self,
        to: impl Write + Send,
        labels: &[String],
    ) -> Result<(), StoreError> {
        let metrics = self.metrics()?;
        let mut file = ParquetRuns::new(to, &RunTable::with_columns(&[], labels, &metrics))?;
        self.parts(|part| -> Result<(), StoreError> {
            Ok(file.add(&RunTable::with_columns(part, labels, &metrics))?)
        })?;
        Ok(file.finish()?)
    }
}
