//! How a store is opened, or made (docs/guide/results.md, "Sweeps").
//!
//! Called by the command line and the Python module before the first cell.
//!
//! What must stay: a store of another sweep, program or version is refused and left as it is; the
//! size of a chunk is decided when a store is made and read from it afterwards; WAL, so that a
//! killed process loses no commit. Tests by part: forged.rs::`what_is_missing_is_made` (`begin`,
//! `prepare`), forged.rs::`what_cells_are_of_is_as_it_was` (refusals leave the bytes),
//! names.rs::`names_that_are_no_files_are_refused` (`open`), sweeps.rs::`a_killed_sweep_goes_on`
//! (`journal_mode`), test_executors.py::`test_any_executor_gives_the_same` (`in_memory`).
//!
//! Tests: crates/store/tests/all, crates/cli/tests/all/sweeps.rs,
//! crates/python/tests/test_executors.py

use crate::check::{APPLICATION, MAX_CHUNK, SCHEMA, VERSION};
use crate::error::Flaw;
use crate::owner::Owner;
use crate::{Definition, Store, StoreError, check, differs, grow, guard, place, row};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Somebody else writes: wait for so long.
const BUSY: Duration = Duration::from_secs(60);
/// A sweep has as many chunks, or as many for each worker, if it has the cells.
const MIN_CHUNKS: usize = 64;
const CHUNKS_PER_WORKER: usize = 16;

impl Store {
    /// Opens the file, or makes it, for a sweep. Every row of a file that is there is checked.
    ///
    /// # Errors
    /// It is no store, of another version, of another sweep, or has something in it that this
    /// program did not write; the machine cannot.
    pub fn open(path: &Path, definition: &Definition<'_>) -> Result<Self, StoreError> {
        place::check(path)?;
        Self::begin(Some(path), definition)
    }

    /// A store that nobody keeps.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(definition: &Definition<'_>) -> Result<Self, StoreError> {
        Self::begin(None, definition)
    }

    /// Opens the file, or makes the tables in a new one.
    fn begin(file: Option<&Path>, definition: &Definition<'_>) -> Result<Self, StoreError> {
        let path = file.unwrap_or(Path::new(":memory:"));
        let opened = guard::open(file);
        let (mut connection, steps) = opened.map_err(|error| StoreError::of(path, error))?;
        let chunk = prepare(&mut connection, path, definition)?;
        let store = Self {
            connection,
            steps,
            file: path.to_owned(),
            owner: Owner::this(),
            definition: definition.text(),
            cells: definition.sweep.cells(),
            chunk,
            metrics: BTreeMap::new(),
            points: BTreeSet::new(),
            modelled: definition.sweep.modelled_platforms(),
        };
        check::rows(&store, definition)?;
        Ok(store)
    }
}

/// The size of a chunk of a store that is of this sweep and whose tables are ours.
fn prepare(
    connection: &mut Connection,
    path: &Path,
    definition: &Definition<'_>,
) -> Result<usize, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, error);
    connection.busy_timeout(BUSY).map_err(failed)?;
    // A file that is refused stays as it is.
    let made = check::kind(connection, path)?;
    if made {
        check::tables(connection).map_err(|flaw| StoreError::of(path, flaw))?;
    }
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(failed)?;
    // With WAL a killed process loses nothing; a lost power supply the last commits.
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(failed)?;
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let change = change.map_err(failed)?;
    let version = change.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0));
    if version.map_err(failed)? == 0 {
        create(&change, definition).map_err(failed)?;
    }
    if !made {
        // By this process or by another one, just now.
        check::tables(&change).map_err(|flaw| StoreError::of(path, flaw))?;
    }
    let mut said = check::sweep(&change, path)?;
    if !said.is_of(definition) {
        if !said.is_kin_of(definition) {
            let points = row::first_points(&change, differs::MOST).unwrap_or_default();
            return Err(said.refused(path, definition, &points));
        }
        grow::grow(&change, path, definition, &said)?;
        said = check::sweep(&change, path)?;
    }
    let (cells, chunk) = said.sizes(path)?;
    if cells != definition.sweep.cells() {
        return Err(StoreError::of(path, Flaw::row("sweep", 1)));
    }
    change.commit().map_err(failed)?;
    Ok(chunk)
}

/// Makes the tables of a new store, and writes what it is of.
fn create(change: &Transaction<'_>, definition: &Definition<'_>) -> rusqlite::Result<()> {
    change.execute_batch(SCHEMA)?;
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", VERSION)?;
    put_sweep(change, definition)
}

/// Writes what a store is of.
pub(crate) fn put_sweep(
    change: &Transaction<'_>,
    definition: &Definition<'_>,
) -> rusqlite::Result<()> {
    // Small enough that workers end at about the same time, large enough that claims are rare.
    let cells = definition.sweep.cells();
    let chunks = (CHUNKS_PER_WORKER * definition.workers).max(MIN_CHUNKS);
    let chunk = (cells / chunks).clamp(1, MAX_CHUNK) as i64;
    let (text, said, cells) = (definition.text(), &definition.said, cells as i64);
    change.execute(
        "INSERT INTO sweep VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            text,
            said,
            cells,
            chunk,
            row::sweep_sum(&text, said, cells, chunk)
        ],
    )?;
    Ok(())
}
