//! What a store must be before anything of it is believed. It may come from anybody.
//!
//! All but the figures of a run is computed again: which cells there are, what each of them is of,
//! and its key. The figures have a sum, which tells an accident, and no forgery
//! (docs/guide/results.md, "Sweeps").
//!
//! Called when a store that is there is opened. A new column or table is added to `schema.sql`,
//! `row.rs` and here. Free: the words of refusals.
//!
//! What must stay: a file that is refused stays as it was; a refusal is one sentence with the
//! file's name and exit code 2; `VERSION` goes up with any change of the tables or sums, as older
//! stores would read as damaged. Tests by part: `what_is_none_of_a_stores_tables_is_refused`
//! (`tables`, `objects`), `what_cells_are_of_is_as_it_was` (`kind`, `sweep`, `is_of`),
//! `a_row_that_is_not_as_it_was_is_refused` (`rows`, `is_of_the_sweep`),
//! `a_row_of_another_cell_is_refused` (`is_of_the_sweep`), grown.rs::`nobody_is_disturbed`
//! (`still`), grown.rs::`what_changed_is_refused` (`is_kin_of`),
//! damage.rs::`changed_bytes_are_found_or_harmless` (all of it).
//!
//! Tests: crates/store/tests/all/forged.rs, crates/store/tests/all/damage.rs,
//! crates/store/tests/all/grown.rs

use crate::differs::differs;
use crate::error::Flaw;
use crate::sweep::expected;
use crate::{Definition, Done, Store, StoreError, leases, row};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wakeplace_study::{Points, RunRecord, json_object, json_pairs};

/// "wake" as SQLite's `application_id`.
pub(crate) const APPLICATION: i32 = 0x7761_6b65;
/// Version of the tables.
pub(crate) const VERSION: i32 = 2;
/// The tables.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");
/// Most cells of a chunk.
pub(crate) const MAX_CHUNK: usize = 64;

/// A store of this version, or else an empty file.
pub(crate) fn kind(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, error);
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
            .map_err(failed)
    };
    let any = "SELECT 1 FROM sqlite_schema LIMIT 1";
    let any = connection.query_row(any, [], |_| Ok(())).optional();
    let (kind, version) = (number("application_id")?, number("user_version")?);
    let empty = any.map_err(failed)?.is_none();
    match (kind, version) {
        (APPLICATION, VERSION) => Ok(true),
        (APPLICATION, other) => Err(StoreError::refused(
            path,
            format!("it has version {other} of the tables, and this program knows {VERSION}"),
            "another file, or the program that made it",
        )),
        (0, 0) if empty => Ok(false),
        _ => Err(StoreError::refused(
            path,
            "it is a database, but no store of runs",
            "a new file or a store",
        )),
    }
}

/// The tables are those of `schema.sql`, and there is nothing else; the file is whole.
pub(crate) fn tables(connection: &Connection) -> Result<(), Flaw> {
    let like = Connection::open_in_memory()?;
    like.execute_batch(SCHEMA)?;
    let ours = objects(&like, usize::MAX)?;
    let theirs = objects(connection, ours.len())?;
    let foreign = theirs.iter().find(|object| !ours.contains(object));
    if let Some((kind, name, ..)) = foreign {
        let name = wakeplace_text::shorten(name);
        let kind = wakeplace_text::shorten(kind);
        return Err(Flaw::Content(format!(
            "its {kind} `{name}` is none of a store's"
        )));
    }
    if theirs.len() < ours.len() {
        return Err(Flaw::Content("it lacks a table of a store".to_owned()));
    }
    let sql = "PRAGMA integrity_check(1)";
    let found: String = connection.query_row(sql, [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        _ => Err(Flaw::Content("it is damaged".to_owned())),
    }
}

/// Kind, name, table and text.
type Object = (String, String, String, Option<String>);

/// What a database has, one more than so many at most.
fn objects(connection: &Connection, most: usize) -> Result<Vec<Object>, Flaw> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    let mut statement = connection.prepare(sql)?;
    let object = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = statement.query_map([], object)?;
    Ok(rows
        .take(most.saturating_add(1))
        .collect::<Result<_, _>>()?)
}

/// What a store says it is of.
pub(crate) struct Said {
    /// [`Definition::text`].
    pub(crate) definition: String,
    said: String,
    /// Cells, and cells a chunk; None: the row is not as it was written.
    sizes: Option<(usize, usize)>,
}

/// The row of the table `sweep`.
pub(crate) fn sweep(connection: &Connection, path: &Path) -> Result<Said, StoreError> {
    let row = |row: &rusqlite::Row<'_>| {
        let texts: (String, String) = (row.get(0)?, row.get(1)?);
        let numbers: (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok((texts, numbers))
    };
    let sql = "SELECT definition, said, cells, chunk, sum FROM sweep";
    let found = connection.query_row(sql, [], row);
    let ((definition, said), (cells, chunk, sum)) =
        found.map_err(|error| StoreError::of(path, error))?;
    let size = usize::try_from(chunk).ok();
    let size = size.filter(|size| (1..=MAX_CHUNK).contains(size));
    let right = sum == row::sweep_sum(&definition, &said, cells, chunk);
    let one = connection.query_row("SELECT COUNT(*) FROM sweep", [], |row| row.get::<_, i64>(0));
    let one = one.map_err(|error| StoreError::of(path, error))? == 1;
    let all = usize::try_from(cells).ok().filter(|_| right && one);
    Ok(Said {
        definition,
        said,
        sizes: all.zip(size),
    })
}

impl Said {
    /// Cells, and cells a chunk.
    pub(crate) fn sizes(&self, path: &Path) -> Result<(usize, usize), StoreError> {
        let wrong = || StoreError::of(path, Flaw::row("sweep", 1));
        self.sizes.ok_or_else(wrong)
    }

    /// The store is of this sweep.
    pub(crate) fn is_of(&self, definition: &Definition<'_>) -> bool {
        self.definition == definition.text()
    }

    /// It is of a sweep that differs in the values of axes and in seeds alone.
    pub(crate) fn is_kin_of(&self, definition: &Definition<'_>) -> bool {
        let kin = self.definition.split(' ').next();
        kin == Some(&definition.sweep.kin(definition.program))
    }

    /// The program that it was made by, if it says so.
    pub(crate) fn program(&self) -> Option<&str> {
        self.definition.splitn(3, ' ').nth(2)
    }

    /// The refusal of a store of something else, of which these are points.
    pub(crate) fn refused(
        &self,
        path: &Path,
        definition: &Definition<'_>,
        points: &[RunRecord],
    ) -> StoreError {
        let said = wakeplace_text::shorten_to(&self.said, MAX_SAID);
        let differs = differs(self.program(), definition, points);
        StoreError::refused(
            path,
            format!("it has the runs of {differs}; it was made by: {said}"),
            "the same sweep with the same program and files, or another store",
        )
    }
}

/// It is still the store that was opened: nobody has given its sweep other values since.
pub(crate) fn still(connection: &Connection, definition: &str) -> Result<(), Flaw> {
    let sql = "SELECT definition FROM sweep";
    let mut statement = connection.prepare_cached(sql)?;
    let now: String = statement.query_row([], |row| row.get(0))?;
    match now == definition {
        true => Ok(()),
        false => Err(Flaw::Grown),
    }
}

/// Characters of the command that made a store, in a message.
const MAX_SAID: usize = 400;

/// Every row is one that the sweep has: leases, cells with their keys, and what they are of. A
/// chunk that is done has all of its cells, and there is no name of a metric that no run has.
pub(crate) fn rows(store: &Store, definition: &Definition<'_>) -> Result<(), StoreError> {
    let (chunk, cells) = (store.chunk, store.cells);
    let failed = |flaw: Flaw| store.failed(flaw);
    let ended = leases::done(store.reading(), cells.div_ceil(chunk)).map_err(failed)?;
    let mut points = Points::default();
    let mut unused: BTreeSet<String> = store.metrics()?.into_iter().collect();
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    store.each_part(|part| -> Result<(), StoreError> {
        for done in part {
            is_of_the_sweep(&done, definition, &mut points).map_err(failed)?;
            *found.entry(done.cell / chunk).or_default() += 1;
            if !unused.is_empty() {
                for name in done.record.metrics.keys() {
                    unused.remove(name);
                }
            }
        }
        Ok(())
    })?;
    let lacks = |chunk_number: &&usize| {
        let last = cells - (*chunk_number * chunk).min(cells);
        found.get(*chunk_number).copied().unwrap_or(0) < last.min(chunk)
    };
    if let Some(number) = ended.iter().find(lacks) {
        let problem = format!("chunk {number} is said to be done, and lacks cells");
        return Err(failed(Flaw::Content(problem)));
    }
    if !unused.is_empty() {
        // Runs of values that were dropped may have it.
        let of_run = |_: &str, record: &RunRecord| {
            for name in record.metrics.keys() {
                unused.remove(name);
            }
        };
        row::each_run(store.reading(), of_run).map_err(failed)?;
    }
    match unused.first() {
        None => Ok(()),
        Some(name) => {
            let name = wakeplace_text::shorten(name);
            let problem = format!("no run has its metric `{name}`");
            Err(failed(Flaw::Content(problem)))
        }
    }
}

/// The cell's point, seed and key are the sweep's, and so is all that its run is said to be of.
fn is_of_the_sweep(
    done: &Done,
    definition: &Definition<'_>,
    points: &mut Points,
) -> Result<(), Flaw> {
    let (number, seed) = definition.sweep.cell(done.cell);
    let made = points.get(definition.sweep, number);
    let (key, like) = expected(&made, (done.cell, seed), definition.program);
    let stored = &done.record;
    // A run has figures, or the reason why it has none. A point that cannot be made has its own.
    let like = RunRecord {
        labels: json_pairs(&json_object(&like.labels)),
        seed,
        event_hash: stored.event_hash.clone(),
        behaviour_hash: stored.behaviour_hash.clone(),
        error: match &*made {
            Ok(_) => stored.error.clone(),
            Err(record) => record.error.clone(),
        },
        metrics: stored.metrics.clone(),
        ..like.clone()
    };
    let right = done.point == number && done.key == key && *stored == like;
    let hashes = [&stored.event_hash, &stored.behaviour_hash];
    let ran = hashes.iter().all(|hash| is_hash(hash));
    let never_ran = made.is_err() || !stored.error.is_empty();
    let none = hashes.iter().all(|hash| hash.is_empty()) && stored.metrics.is_empty();
    match right && ((ran && made.is_ok()) || (never_ran && none)) {
        true => Ok(()),
        false => Err(Flaw::row("cell", done.cell as i64)),
    }
}

/// 64 bits as results show them.
fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}
