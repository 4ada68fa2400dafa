//! Runs read back from a store, a part at a time: memory does not grow with the sweep
//! (docs/guide/results.md, "Sweeps").
//!
//! Called for exports and tables, also while others still write, and by `check.rs`. Free: how large
//! a part is.
//!
//! What must stay: cells come by number, each once; a damaged row, one with a number below 0 too,
//! ends the reading with an error. Tests by part: `parts_become_one_file` (`each_part`, `part`,
//! `parts`, `by_point`, `export_parquet`, `metrics`),
//! forged.rs::`a_row_that_is_not_as_it_was_is_refused` (cell -1),
//! forged.rs::`a_store_has_the_runs_that_its_cells_are` (`parts`),
//! damage.rs::`changed_bytes_are_found_or_harmless` (damage),
//! crates/cli/tests/all/sweeps.rs::`frames_come_first_and_choose_nothing` (`shown_metrics`). No
//! test of its own: `with_power`.
//!
//! Tests: below, crates/store/tests/all/forged.rs, crates/store/tests/all/damage.rs,
//! crates/cli/tests/all/sweeps.rs::frames_come_first_and_choose_nothing

use crate::error::Flaw;
use crate::row::{CELLS, Names, Reader, metric_names};
use crate::{Done, ParquetRuns, Store, StoreError, check};
use rusqlite::params;
use std::io::Write;
use wakeplace_study::{DROPPED_FRAMES, RunRecord, RunTable};

/// Rows that are in memory at once; in the test below few enough for several parts.
const PART: usize = if cfg!(test) { 3 } else { 4096 };
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

    /// The same without dropped frames, if no run has any: what tables show by themselves.
    ///
    /// # Errors
    /// As [`Store::parts`].
    pub fn shown_metrics(&self) -> Result<Vec<String>, StoreError> {
        let mut all = self.metrics()?;
        if all.iter().any(|name| name == DROPPED_FRAMES) {
            let mut some = false;
            self.each_part(|part| -> Result<(), StoreError> {
                let values =
                    { part.iter() }.filter_map(|done| done.record.metrics.get(DROPPED_FRAMES));
                some |= values.copied().any(|frames| frames > 0.0);
                Ok(())
            })?;
            all.retain(|name| some || name != DROPPED_FRAMES);
        }
        Ok(all)
    }

    /// The names of metrics by their numbers in this store.
    fn metric_names(&self) -> Result<Names, StoreError> {
        metric_names(self.reading()).map_err(|flaw| self.failed(flaw))
    }

    /// Calls `each` with the finished cells in the order of their numbers, a part of them at a
    /// time. A part has at most `PART` cells, fewer where their metrics are large.
    pub(crate) fn each_part<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(Vec<Done>) -> Result<(), E>,
    ) -> Result<(), E> {
        // From the smallest number that SQLite can hold: a row with a number below 0 is found, and
        // refused as damage.
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
        // One state of the file: another process may add cells, and names of metrics with them.
        let state = self.reading().unchecked_transaction()?;
        check::still(&state, &self.definition)?;
        let mut reader = Reader::new(&state, self.cells)?;
        let limit = (PART_BYTES / reader.names.bytes.max(1)).clamp(1, PART);
        let mut statement = state.prepare_cached(CELLS)?;
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

    /// Calls `each` with each point that has finished cells: its number, and all of its runs.
    ///
    /// # Errors
    /// As [`Store::parts`].
    pub fn by_point<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(usize, &[RunRecord]) -> Result<(), E>,
    ) -> Result<(), E> {
        // A part may end within a point.
        let mut open: Option<(usize, Vec<RunRecord>)> = None;
        self.each_part(|part| -> Result<(), E> {
            for done in part {
                let same = open
                    .as_ref()
                    .is_some_and(|(number, _)| *number == done.point);
                if !same && let Some((number, runs)) = open.take() {
                    each(number, &runs)?;
                }
                let (_, runs) = open.get_or_insert_with(|| (done.point, Vec::new()));
                runs.push(self.with_power(done.record));
            }
            Ok(())
        })?;
        open.map_or(Ok(()), |(number, runs)| each(number, &runs))
    }

    /// What is known of a run's joules beside what is stored.
    fn with_power(&self, record: RunRecord) -> RunRecord {
        let modelled = self.modelled.contains(&record.platform);
        record.with_power(modelled)
    }

    /// Writes all runs as a Parquet file, one row per run; `labels` are the varied keys. Names and
    /// metrics leave the program as they are stored: a reader of the file must expect any text.
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

#[cfg(test)]
mod tests {
    use crate::{Definition, Store, StoreError, run};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use wakeplace_study::{Axis, Design, Request, RunRecord, RunTable, Source, Sweep};

    /// Goal: a store's parts become one file, which has the columns of each run once and in order.
    /// Method: eight cells in parts of three, beside a file of the same runs made without a store.
    #[test]
    fn parts_become_one_file() {
        let base = Request {
            platforms: vec![Source::named("hikey960")],
            workloads: vec![Source::named("periodic:n=2")],
            policies: vec!["linux-7.3".to_owned()],
            seeds: vec![1, 2],
            duration_ns: Some(30_000_000),
            ..Request::default()
        };
        let axes = vec![Axis::parse("workload.n=1..4:4").expect("an axis")];
        let sweep = Sweep::new(base, axes, Design::Grid).expect("a sweep");
        let of = Definition {
            sweep: &sweep,
            program: "a test",
            said: "a test".to_owned(),
            workers: 1,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("runs.db"), &of).expect("a store");
        run(&sweep, &mut store, (1, "a test"), &|_| {}).expect("runs");
        let mut exported = Vec::new();
        let labels = sweep.labels();
        (store.export_parquet(&mut exported, &labels)).expect("an export");

        let cells: Vec<_> = (0..8)
            .map(|cell| {
                let (point, seed) = sweep.cell(cell);
                sweep.point(point).expect("a point").run(seed)
            })
            .collect();
        // Parts end within points, which are whole all the same.
        let mut points = Vec::new();
        let add = |number: usize, runs: &[RunRecord]| -> Result<(), StoreError> {
            points.push((number, runs.to_vec()));
            Ok(())
        };
        store.by_point(add).expect("all points");
        let whole: Vec<_> = cells
            .chunks(2)
            .map(<[RunRecord]>::to_vec)
            .enumerate()
            .collect();
        assert_eq!(points, whole);
        let metrics = store.metrics().expect("names");
        let table = RunTable::with_columns(&cells, &labels, &metrics);
        let whole = crate::write_parquet(&table).expect("a file");
        let (parts, rows) = read(exported);
        assert_eq!((parts, rows.len()), (3, 8));
        assert_eq!(rows, read(whole).1);
    }

    /// How many groups of rows a file has, and its rows, column by column.
    fn read(file: Vec<u8>) -> (usize, Vec<Vec<(String, String)>>) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).expect("a file");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| {
            let row = row.expect("a row");
            let columns = row.get_column_iter();
            let column = columns.map(|(name, value)| (name.clone(), value.to_string()));
            column.collect()
        });
        (reader.num_row_groups(), rows.collect())
    }
}
