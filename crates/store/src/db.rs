//! The store: one SQLite file with the runs of one sweep.

use crate::StoreError;
use crate::owner::{Owner, is_gone};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wakeplace_study::{RunRecord, json_object};

/// "wake" as SQLite's `application_id`.
const APPLICATION: i32 = 0x7761_6b65;
/// Version of the tables.
const VERSION: i32 = 1;
/// A lease holds so long after its last renewal.
const LEASE: Duration = Duration::from_secs(10);
/// Somebody else writes: wait for so long.
const BUSY: Duration = Duration::from_secs(60);

/// What a store is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Hash of the sweep and the program ([`wakeplace_study::Sweep::definition`]).
    pub hash: String,
    /// The command that began it, for messages.
    pub said: String,
    /// Cells of the sweep.
    pub cells: usize,
    /// How many will work on it at once, about: a new store's chunks are small enough for that.
    pub workers: usize,
}

/// A finished cell.
#[derive(Clone, Debug)]
pub struct Done {
    /// Number of the cell.
    pub cell: usize,
    /// Number of its point.
    pub point: usize,
    /// Hash of all that decides it.
    pub key: String,
    /// What came of it.
    pub record: RunRecord,
}

/// A store that is open.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    file: PathBuf,
    owner: Owner,
    cells: usize,
    chunk: usize,
    metrics: BTreeMap<String, i64>,
    points: BTreeSet<usize>,
}

/// A sweep has as many chunks, or as many for each worker, if it has the cells.
const MIN_CHUNKS: usize = 64;
const CHUNKS_PER_WORKER: usize = 16;
/// Most cells of a chunk.
const MAX_CHUNK: usize = 64;

/// Points that are remembered as written.
const REMEMBERED: usize = 4096;

impl Store {
    /// Opens the file, or makes it, for a sweep.
    ///
    /// # Errors
    /// It is no store, of another version, or of another sweep; the machine cannot.
    pub fn open(path: &Path, definition: &Definition) -> Result<Self, StoreError> {
        let opened = Connection::open(path);
        let connection = opened.map_err(|error| StoreError::of(path, &error))?;
        Self::begin(connection, path, definition)
    }

    /// A store that nobody keeps.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(definition: &Definition) -> Result<Self, StoreError> {
        let path = Path::new(":memory:");
        let opened = Connection::open_in_memory();
        let connection = opened.map_err(|error| StoreError::of(path, &error))?;
        Self::begin(connection, path, definition)
    }

    fn begin(
        mut connection: Connection,
        path: &Path,
        definition: &Definition,
    ) -> Result<Self, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(path, &error);
        connection.busy_timeout(BUSY).map_err(failed)?;
        check_kind(&connection, path)?;
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .map_err(failed)?;
        // With WAL a killed process loses nothing; a lost power supply the last commits.
        connection
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(failed)?;
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let change = change.map_err(failed)?;
        if version(&change).map_err(failed)? == 0 {
            create(&change, definition).map_err(failed)?;
        }
        change.commit().map_err(failed)?;
        let chunk = same_sweep(&connection, path, definition)?;
        Ok(Self {
            connection,
            file: path.to_owned(),
            owner: Owner::this(),
            cells: definition.cells,
            chunk,
            metrics: BTreeMap::new(),
            points: BTreeSet::new(),
        })
    }

    /// Cells that are done.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn done(&self) -> Result<usize, StoreError> {
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let found = self
            .connection
            .query_row("SELECT COUNT(*) FROM cell", [], count);
        Ok(found.map_err(|e| self.failed(&e))? as usize)
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::of(&self.file, error)
    }

    /// Takes the next chunk that nobody works on: its number, and its cells that are not done.
    /// None: all are done, or others work on them.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn claim(&mut self) -> Result<Option<(usize, Vec<usize>)>, StoreError> {
        let claimed = self.try_claim();
        claimed.map_err(|error| self.failed(&error))
    }

    fn try_claim(&mut self) -> rusqlite::Result<Option<(usize, Vec<usize>)>> {
        let (cells, size) = (self.cells, self.chunk);
        let change = immediate(&mut self.connection)?;
        let owner = self.owner.text();
        let Some(chunk) = free_chunk(&change, owner, cells.div_ceil(size))? else {
            return Ok(None);
        };
        change.execute(
            "INSERT INTO lease (chunk, owner, until_ms) VALUES (?1, ?2, ?3)
             ON CONFLICT (chunk) DO UPDATE SET owner = ?2, until_ms = ?3",
            params![chunk as i64, owner, lease_end()],
        )?;
        let (from, to) = (chunk * size, ((chunk + 1) * size).min(cells));
        let done: BTreeSet<usize> = change
            .prepare_cached("SELECT cell FROM cell WHERE cell >= ?1 AND cell < ?2")?
            .query_map(params![from as i64, to as i64], |row| row.get::<_, i64>(0))?
            .map(|cell| cell.map(|cell| cell as usize))
            .collect::<rusqlite::Result<_>>()?;
        change.commit()?;
        Ok(Some((
            chunk,
            (from..to).filter(|cell| !done.contains(cell)).collect(),
        )))
    }

    /// All chunks are done.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn is_complete(&self) -> Result<bool, StoreError> {
        let chunks = self.cells.div_ceil(self.chunk);
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let sql = "SELECT COUNT(*) FROM lease WHERE done = 1";
        let done = self.connection.query_row(sql, [], count);
        Ok(done.map_err(|e| self.failed(&e))? as usize >= chunks)
    }

    /// Writes finished cells in one commit, ends the chunks that are done, and renews the leases of
    /// the others.
    ///
    /// # Errors
    /// The machine cannot; nothing of it is written then.
    pub fn commit(&mut self, done: &[Done], ended: &[usize]) -> Result<(), StoreError> {
        let written = self.try_commit(done, ended);
        written.map_err(|error| self.failed(&error))
    }

    /// Gives back the chunks that are not done: others may take them at once.
    ///
    /// # Errors
    /// The machine cannot; the leases come to their end by themselves then.
    pub fn release(&mut self) -> Result<(), StoreError> {
        let given = self.connection.execute(
            "UPDATE lease SET until_ms = 0 WHERE done = 0 AND owner = ?1",
            [self.owner.text()],
        );
        given.map(drop).map_err(|error| self.failed(&error))
    }

    fn try_commit(&mut self, done: &[Done], ended: &[usize]) -> rusqlite::Result<()> {
        let change = immediate(&mut self.connection)?;
        if self.points.len() > REMEMBERED {
            self.points.clear();
        }
        for done in done {
            if self.points.insert(done.point) {
                put_point(&change, done.point, &done.record)?;
            }
            put_run(&change, done, &mut self.metrics)?;
        }
        for chunk in ended {
            change.execute(
                "UPDATE lease SET done = 1 WHERE chunk = ?1",
                [*chunk as i64],
            )?;
        }
        change.execute(
            "UPDATE lease SET until_ms = ?1 WHERE done = 0 AND owner = ?2",
            params![lease_end(), self.owner.text()],
        )?;
        change.commit()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // There is nobody to tell, and leases end.
        let _ = self.release();
    }
}

fn immediate(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Milliseconds since 1970; a lease is no result, so it may read a clock.
fn now_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "leases of processes, no simulation"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as i64)
}

fn lease_end() -> i64 {
    now_ms() + LEASE.as_millis() as i64
}

/// A chunk whose lease is void, else one that nobody had yet. `own`: leases of this store are void
/// only when they are over; a cluster's client may hold thousands.
fn free_chunk(
    change: &Transaction<'_>,
    own: &str,
    chunks: usize,
) -> rusqlite::Result<Option<usize>> {
    let now = now_ms();
    let mut open = change.prepare_cached(
        "SELECT chunk, owner, until_ms FROM lease
         WHERE done = 0 AND (owner != ?1 OR until_ms < ?2)",
    )?;
    let mut rows = open.query(params![own, now])?;
    // To look for a process takes longer than to read a lease of it.
    let mut there: BTreeSet<String> = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (chunk, owner, until): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if until < now || (!there.contains(&owner) && is_gone(&owner)) {
            return Ok(Some(chunk as usize));
        }
        there.insert(owner);
    }
    let next = change.query_row("SELECT COALESCE(MAX(chunk) + 1, 0) FROM lease", [], |row| {
        row.get::<_, i64>(0)
    })? as usize;
    Ok((next < chunks).then_some(next))
}

/// A store of this version, or an empty file.
fn check_kind(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, &error);
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
            .map_err(failed)
    };
    let tables = connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| {
        row.get::<_, i64>(0)
    });
    let (kind, version) = (number("application_id")?, number("user_version")?);
    let empty = tables.map_err(failed)? == 0;
    match (kind, version) {
        (APPLICATION, VERSION) => Ok(()),
        (APPLICATION, other) => Err(StoreError::refused(
            path,
            format!("it has version {other} of the tables, and this program knows {VERSION}"),
            "another file, or the program that made it",
        )),
        (0, 0) if empty => Ok(()),
        _ => Err(StoreError::refused(
            path,
            "it is a database, but no store of runs",
            "a new file or a store",
        )),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn create(change: &Transaction<'_>, definition: &Definition) -> rusqlite::Result<()> {
    change.execute_batch(include_str!("schema.sql"))?;
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", VERSION)?;
    // Small enough that workers end at about the same time, large enough that claims are rare.
    let chunks = (CHUNKS_PER_WORKER * definition.workers).max(MIN_CHUNKS);
    let chunk = (definition.cells / chunks).clamp(1, MAX_CHUNK);
    change.execute(
        "INSERT INTO sweep (definition, said, cells, chunk) VALUES (?1, ?2, ?3, ?4)",
        params![
            definition.hash,
            definition.said,
            definition.cells as i64,
            chunk as i64
        ],
    )?;
    Ok(())
}

/// The size of a chunk, if the store is of this sweep.
fn same_sweep(
    connection: &Connection,
    path: &Path,
    definition: &Definition,
) -> Result<usize, StoreError> {
    let row = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, i64>(2)?,
        ))
    };
    let found = connection.query_row("SELECT definition, said, chunk FROM sweep", [], row);
    let (hash, said, chunk) = found.map_err(|error| StoreError::of(path, &error))?;
    if hash != definition.hash {
        return Err(StoreError::refused(
            path,
            format!(
                "it has the runs of another sweep or program, or of files that changed: {said}"
            ),
            "the same sweep with the same program and files, or another store",
        ));
    }
    Ok((chunk as usize).max(1))
}

fn put_point(change: &Transaction<'_>, point: usize, record: &RunRecord) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(
        "INSERT OR IGNORE INTO point VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    insert.execute(params![
        point as i64,
        json_object(&record.labels),
        record.platform,
        record.platform_hash,
        record.workload,
        record.workload_hash,
        record.policy,
        record.settings,
        record.options,
        record.jitter,
        record.duration_ns as i64,
    ])?;
    Ok(())
}

fn put_run(
    change: &Transaction<'_>,
    done: &Done,
    names: &mut BTreeMap<String, i64>,
) -> rusqlite::Result<()> {
    let record = &done.record;
    change
        .prepare_cached("INSERT OR IGNORE INTO cell VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            done.cell as i64,
            done.point as i64,
            record.seed.to_string(),
            done.key
        ])?;
    let mut bytes = Vec::with_capacity(record.metrics.len() * 12);
    for (name, value) in &record.metrics {
        let number = metric(change, name, names)?;
        bytes.extend_from_slice(&u32::try_from(number).unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    change
        .prepare_cached("INSERT OR IGNORE INTO run VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            done.key,
            record.event_hash,
            record.behaviour_hash,
            record.error,
            bytes
        ])?;
    Ok(())
}

/// The number of a metric's name; other processes add to the list, too.
fn metric(
    change: &Transaction<'_>,
    name: &str,
    names: &mut BTreeMap<String, i64>,
) -> rusqlite::Result<i64> {
    if let Some(known) = names.get(name) {
        return Ok(*known);
    }
    change
        .prepare_cached("INSERT OR IGNORE INTO metric (name) VALUES (?1)")?
        .execute([name])?;
    let number = change
        .prepare_cached("SELECT metric FROM metric WHERE name = ?1")?
        .query_row([name], |row| row.get(0))?;
    names.insert(name.to_owned(), number);
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::{Definition, Store};

    /// Goal: what a store of this process had claimed is free when it is closed, so that a sweep
    /// that was interrupted goes on without waiting; one that is open keeps what it has.
    #[test]
    fn a_closed_store_gives_its_chunks_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.sqlite");
        let definition = Definition {
            hash: "of a test".to_owned(),
            said: "a test".to_owned(),
            cells: 3,
            workers: 1,
        };
        let open = || Store::open(&path, &definition).expect("a store");
        let chunk = |store: &mut Store| store.claim().expect("a claim").map(|(chunk, _)| chunk);
        let (mut first, mut second) = (open(), open());
        assert_eq!(chunk(&mut first), Some(0));
        assert_eq!(chunk(&mut second), Some(1));
        drop(first);
        // Renews its own leases only.
        second.commit(&[], &[]).expect("a commit");
        assert_eq!(chunk(&mut second), Some(0));
        assert_eq!(chunk(&mut second), Some(2));
        assert_eq!(chunk(&mut second), None);
        second.release().expect("given back");
        assert_eq!(chunk(&mut open()), Some(0));
    }
}
