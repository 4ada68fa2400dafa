//! Runs read back from a store, a part at a time: memory does not grow with the sweep.

use crate::{ParquetRuns, Store, StoreError};
use rusqlite::params;
use std::collections::BTreeMap;
use std::io::Write;
use wakeplace_study::{RunRecord, RunTable};

/// Rows that are in memory at once.
const PART: usize = 4096;

impl Store {
    /// Names of all metrics that some run has, in the order of the alphabet.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn metrics(&self) -> Result<Vec<String>, StoreError> {
        let mut all: Vec<String> = self.metric_names()?.into_values().collect();
        all.sort_unstable();
        Ok(all)
    }

    fn metric_names(&self) -> Result<BTreeMap<u32, String>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<u32, String>> {
            let mut statement = self.connection.prepare("SELECT metric, name FROM metric")?;
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_map([], pair)?.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// The finished cells from one on, `limit` at most, with their numbers.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn records(
        &self,
        from: usize,
        limit: usize,
    ) -> Result<Vec<(usize, RunRecord)>, StoreError> {
        let names = self.metric_names()?;
        let read = || -> rusqlite::Result<Vec<(usize, RunRecord)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT c.cell, c.seed, p.labels, p.platform, p.platform_hash, p.workload,
                        p.workload_hash, p.policy, p.settings, p.options, p.jitter, p.duration_ns,
                        r.event_hash, r.behaviour_hash, r.error, r.metrics
                 FROM cell c JOIN point p USING (point) JOIN run r USING (key)
                 WHERE c.cell >= ?1 ORDER BY c.cell LIMIT ?2",
            )?;
            let one = |row: &rusqlite::Row<'_>| record(row, &names);
            statement
                .query_map(params![from as i64, limit as i64], one)?
                .collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Calls `each` with all finished cells, part by part.
    ///
    /// # Errors
    /// The machine cannot; what `each` says.
    pub fn parts<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(&[RunRecord]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = 0;
        loop {
            let part = self.records(from, PART)?;
            let Some((last, _)) = part.last() else {
                return Ok(());
            };
            from = last + 1;
            let part: Vec<RunRecord> = part.into_iter().map(|(_, record)| record).collect();
            each(&part)?;
        }
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

fn record(
    row: &rusqlite::Row<'_>,
    names: &BTreeMap<u32, String>,
) -> rusqlite::Result<(usize, RunRecord)> {
    let bytes: Vec<u8> = row.get(15)?;
    let entry = |entry: &[u8]| {
        let number = u32::from_le_bytes(entry[..4].try_into().ok()?);
        let value = f64::from_le_bytes(entry[4..].try_into().ok()?);
        Some((names.get(&number)?.clone(), value))
    };
    let labels: String = row.get(2)?;
    let seed: String = row.get(1)?;
    let record = RunRecord {
        labels: wakeplace_study::json_pairs(&labels),
        platform: row.get(3)?,
        platform_hash: row.get(4)?,
        workload: row.get(5)?,
        workload_hash: row.get(6)?,
        policy: row.get(7)?,
        settings: row.get(8)?,
        options: row.get(9)?,
        jitter: row.get(10)?,
        duration_ns: row.get::<_, i64>(11)?.cast_unsigned(),
        seed: seed.parse().unwrap_or(0),
        event_hash: row.get(12)?,
        behaviour_hash: row.get(13)?,
        error: row.get(14)?,
        metrics: bytes.chunks_exact(12).filter_map(entry).collect(),
    };
    Ok((row.get::<_, i64>(0)? as usize, record))
}
