//! What SQLite may do with a file that may be from anybody: nothing beside the statements that it
//! is given, and of those no more steps than the file's size explains.
//!
//! What is switched off and why: <https://www.sqlite.org/security.html>, "Untrusted SQLite Database
//! Files".
//!
//! Called for every connection. Free: the bound on steps, if it still grows with the file.
//!
//! What must stay: what is switched off stays off, and so before the first statement, as a store
//! may be from anybody; rows are at most `MAX_ROW`, which error.rs names. Tests by part:
//! `a_row_that_is_not_as_it_was_is_refused` (`MAX_ROW`), `a_store_has_the_runs_that_its_cells_are`
//! (`begin`: a sound store has the steps it needs),
//! damage.rs::`changed_bytes_are_found_or_harmless` (`open`). No test of its own: the switches of
//! `restrict`, as check.rs refuses first what they would stop.
//!
//! Tests: crates/store/tests/all/forged.rs, crates/store/tests/all/damage.rs,
//! fuzz/tests/all/mutations.rs

use crate::place::beside;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of SQLite's machine between two looks at what is left.
const LOOK: i32 = 1000;
/// Steps that every call has, and for each byte of the file. A row takes at most some hundred steps
/// and at least ten bytes. The statements that take longest look at each row a few times.
const STEPS: u64 = 20_000_000;
const STEPS_PER_BYTE: u64 = 30;
/// The largest row, bytes: `cyclictest` with 100,000 threads has 300,000 metrics of 12 bytes.
pub(crate) const MAX_ROW: i32 = 16 << 20;

/// How many steps the current call has left.
#[derive(Debug)]
pub(crate) struct Steps {
    left: Arc<AtomicU64>,
    /// None: the store is in memory.
    file: Option<PathBuf>,
}

impl Steps {
    /// A call begins.
    pub(crate) fn begin(&self) {
        let size = |path: PathBuf| path.metadata().map_or(0, |is| is.len());
        let steps = self.file.as_ref().map_or(u64::MAX, |file| {
            let bytes = size(file.clone()) + size(beside(file, "-wal"));
            STEPS + bytes.saturating_mul(STEPS_PER_BYTE)
        });
        self.left.store(steps, Ordering::Relaxed);
    }
}

/// A connection, and what watches it. None: in memory.
pub(crate) fn open(file: Option<&Path>) -> rusqlite::Result<(Connection, Steps)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match file {
        Some(file) => Connection::open_with_flags(file, flags)?,
        None => Connection::open_in_memory_with_flags(flags)?,
    };
    let steps = Steps {
        left: Arc::default(),
        file: file.map(Path::to_owned),
    };
    steps.begin();
    // Before the first statement: to read the tables' definitions takes steps, too.
    let left = steps.left.clone();
    let over = move || {
        let now = left.load(Ordering::Relaxed);
        let next = now.saturating_sub(LOOK.unsigned_abs().into());
        // Another thread has no part in it: a connection is used by one at a time.
        left.store(next, Ordering::Relaxed);
        next == 0
    };
    connection.progress_handler(LOOK, Some(over))?;
    restrict(&connection)?;
    Ok((connection, steps))
}

/// Switches off all that a file could make SQLite do.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    for (switch, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(switch, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, MAX_ROW),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 14),
        (Limit::SQLITE_LIMIT_COLUMN, 32),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 16),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 2),
        (Limit::SQLITE_LIMIT_VDBE_OP, 10_000),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    // SQLite's usual 2 MB, whatever the file says.
    connection.pragma_update(None, "cache_size", -2000)
}
