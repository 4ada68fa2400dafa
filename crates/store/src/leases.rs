//! Leases: which process works on which chunk of cells, and until when (docs/guide/results.md,
//! "Sweeps").
//!
//! Called by `db.rs` and `check.rs`. Times are milliseconds since 1970. Free: the length of a
//! lease.
//!
//! What must stay: leases decide who runs a cell, never what is in it, as no result may depend on a
//! clock; `_executor.py` renews within `LEASE`. Tests by part: `leases_of_others_are_looked_at`
//! (`done`, `in_range`), `a_lease_of_a_wrong_clock_is_void` (`free_chunk`: `holds`),
//! `a_committed_cell_is_not_claimed_again` (`free_chunk`),
//! db.rs::`a_closed_store_gives_its_chunks_back` (`end_ms`, an owner's own leases),
//! sweeps.rs::`two_processes_share_a_store` (owners that are there),
//! sweeps.rs::`a_killed_sweep_goes_on` (an owner that is gone), grown.rs::`nobody_is_disturbed`
//! (`is_worked_on`).
//!
//! Tests: crates/store/tests/all/leases.rs, crates/store/src/db.rs, crates/cli/tests/all/sweeps.rs,
//! crates/store/tests/all/grown.rs

use crate::error::Flaw;
use crate::owner::is_gone;
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A lease holds so long after its last renewal. One that holds longer is void: a clock was wrong.
const LEASE: Duration = Duration::from_secs(10);
/// No clock is so far ahead of another.
const MOST_AHEAD: Duration = Duration::from_hours(24);

/// Milliseconds since 1970; a lease is no result, so it may read a clock.
fn now_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "leases of processes, no simulation"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as i64)
}

/// When a lease that is taken or renewed now is over.
pub(crate) fn end_ms() -> i64 {
    now_ms() + LEASE.as_millis() as i64
}

/// A chunk whose lease is void, else one that nobody had yet. `own`: leases of this store are void
/// only when they are over; a cluster's client may hold thousands.
pub(crate) fn free_chunk(
    change: &Transaction<'_>,
    own: &str,
    chunks: usize,
) -> Result<Option<usize>, Flaw> {
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
        let holds = (now..=end_ms()).contains(&until);
        if !holds || (!there.contains(&owner) && is_gone(&owner)) {
            return in_range(chunk, chunks).map(Some);
        }
        there.insert(owner);
    }
    let next = change.query_row("SELECT COALESCE(MAX(chunk) + 1, 0) FROM lease", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(usize::try_from(next).ok().filter(|next| *next < chunks))
}

/// Somebody works on a chunk now: a process that is there, whose lease is not over.
pub(crate) fn is_worked_on(connection: &Connection) -> rusqlite::Result<bool> {
    let now = now_ms();
    let mut open = connection.prepare("SELECT owner, until_ms FROM lease WHERE done = 0")?;
    let mut rows = open.query([])?;
    while let Some(row) = rows.next()? {
        let (owner, until): (String, i64) = (row.get(0)?, row.get(1)?);
        if (now..=end_ms()).contains(&until) && !is_gone(&owner) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The chunk's number if the sweep has such a chunk, else a damaged row.
fn in_range(chunk: i64, chunks: usize) -> Result<usize, Flaw> {
    let own = usize::try_from(chunk).ok().filter(|own| *own < chunks);
    own.ok_or_else(|| Flaw::row("lease", chunk))
}

/// The chunks that are done, if all leases are such as this program makes: of each of the first
/// chunks, and none for ever.
pub(crate) fn done(connection: &Connection, chunks: usize) -> Result<BTreeSet<usize>, Flaw> {
    let latest = now_ms() + MOST_AHEAD.as_millis() as i64;
    let sql = "SELECT chunk, until_ms, done FROM lease ORDER BY chunk";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut all = BTreeSet::new();
    let mut next = 0;
    while let Some(row) = rows.next()? {
        let (number, until, done): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let chunk = in_range(number, chunks)?;
        if chunk != next {
            return Err(Flaw::Content(format!("it has no lease of chunk {next}")));
        }
        if !(0..=latest).contains(&until) || !matches!(done, 0 | 1) {
            return Err(Flaw::row("lease", number));
        }
        if done == 1 {
            all.insert(chunk);
        }
        next += 1;
    }
    Ok(all)
}
