//! The store: one SQLite file with the runs of one sweep (docs/guide/results.md, "Sweeps").
//!
//! Called by `sweep.rs`, the command line and the Python module, by one process or several at once.
//! Numbers of cells and chunks are those of the sweep.
//!
//! What must stay: a cell is committed once and never changed; what a store holds does not depend
//! on who ran what; a claim and a commit take the right to write at their beginning (`Immediate`),
//! or two processes would take one chunk. Tests by part: `a_closed_store_gives_its_chunks_back`
//! (`claim`, `commit`, `release`, `drop`), leases.rs::`a_committed_cell_is_not_claimed_again`
//! (`try_claim`, `try_commit`, `is_complete`), sweeps.rs::`a_killed_sweep_goes_on` (a process that
//! is killed), sweeps.rs::`two_processes_share_a_store` (`change`).
//!
//! Tests: below, crates/store/tests/all/leases.rs, crates/cli/tests/all/sweeps.rs

use crate::error::Flaw;
use crate::guard::Steps;
use crate::owner::Owner;
use crate::{StoreError, check, leases, row};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use wakeplace_study::{RunRecord, Sweep};

/// What a store is for.
#[derive(Clone, Debug)]
pub struct Definition<'a> {
    /// What is swept.
    pub sweep: &'a Sweep,
    /// The program that does, in the keys of cells.
    pub program: &'a str,
    /// The command that began it, for messages.
    pub said: String,
    /// How many will work on it at once, about: a new store's chunks are small enough for that.
    pub workers: usize,
}

impl Definition<'_> {
    /// What a store says of its sweep: the hash of what it shares with those that have other values
    /// of its axes, the hash of all of it, and the program. Stores of equal texts go on with each
    /// other's work.
    pub(crate) fn text(&self) -> String {
        let (sweep, program) = (self.sweep, self.program);
        format!(
            "{} {} {program}",
            sweep.kin(program),
            sweep.definition(program)
        )
    }
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
    pub(crate) steps: Steps,
    pub(crate) file: PathBuf,
    pub(crate) owner: Owner,
    /// [`Definition::text`] of the sweep that it was opened for.
    pub(crate) definition: String,
    pub(crate) cells: usize,
    pub(crate) chunk: usize,
    pub(crate) metrics: BTreeMap<String, i64>,
    pub(crate) points: BTreeSet<usize>,
    /// Names of the platforms of which nobody measured the power.
    pub(crate) modelled: BTreeSet<String>,
}

/// Points that are remembered as written.
const REMEMBERED: usize = 4096;

impl Store {
    /// The connection for one call.
    pub(crate) fn reading(&self) -> &Connection {
        self.steps.begin();
        &self.connection
    }

    /// A transaction that takes the right to write at once, so that two processes cannot both read
    /// and then write.
    fn change(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.steps.begin();
        let immediate = TransactionBehavior::Immediate;
        self.connection.transaction_with_behavior(immediate)
    }

    /// The error with the store's file in it.
    pub(crate) fn failed(&self, flaw: impl Into<Flaw>) -> StoreError {
        StoreError::of(&self.file, flaw)
    }

    /// A count that a statement gives.
    fn count(&self, sql: &str) -> Result<usize, StoreError> {
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let found = self.reading().query_row(sql, [], count);
        Ok(found.map_err(|error| self.failed(error))? as usize)
    }

    /// Cells that are done.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn done(&self) -> Result<usize, StoreError> {
        self.count("SELECT COUNT(*) FROM cell")
    }

    /// Takes the next chunk that nobody works on: its number, and its cells that are not done.
    /// None: all are done, or others work on them.
    ///
    /// # Errors
    /// The machine cannot.
    pub fn claim(&mut self) -> Result<Option<(usize, Vec<usize>)>, StoreError> {
        let claimed = self.try_claim();
        claimed.map_err(|flaw| self.failed(flaw))
    }

    /// The next chunk that nobody works on, leased; None: there is none now.
    fn try_claim(&mut self) -> Result<Option<(usize, Vec<usize>)>, Flaw> {
        let (cells, size) = (self.cells, self.chunk);
        let (owner, definition) = (self.owner.clone(), self.definition.clone());
        let change = self.change()?;
        check::still(&change, &definition)?;
        let Some(chunk) = leases::free_chunk(&change, owner.text(), cells.div_ceil(size))? else {
            return Ok(None);
        };
        change.execute(
            "INSERT INTO lease (chunk, owner, until_ms) VALUES (?1, ?2, ?3)
             ON CONFLICT (chunk) DO UPDATE SET owner = ?2, until_ms = ?3",
            params![chunk as i64, owner.text(), leases::end_ms()],
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
        Ok(self.count("SELECT COUNT(*) FROM lease WHERE done = 1")? >= chunks)
    }

    /// Writes finished cells in one commit, ends the chunks that are done, and renews the leases of
    /// the others.
    ///
    /// # Errors
    /// The machine cannot; nothing of it is written then.
    pub fn commit(&mut self, done: &[Done], ended: &[usize]) -> Result<(), StoreError> {
        let written = self.try_commit(done, ended);
        if written.is_err() {
            // What was to be in the store is not.
            self.points.clear();
            self.metrics.clear();
        }
        written.map_err(|flaw| self.failed(flaw))
    }

    /// Gives back the chunks that are not done: others may take them at once.
    ///
    /// # Errors
    /// The machine cannot; the leases come to their end by themselves then.
    pub fn release(&mut self) -> Result<(), StoreError> {
        let given = self.reading().execute(
            "UPDATE lease SET until_ms = 0 WHERE done = 0 AND owner = ?1",
            [self.owner.text()],
        );
        given.map(drop).map_err(|error| self.failed(error))
    }

    /// Writes finished cells and ends leases in one transaction.
    fn try_commit(&mut self, done: &[Done], ended: &[usize]) -> Result<(), Flaw> {
        self.steps.begin();
        let immediate = TransactionBehavior::Immediate;
        let change = self.connection.transaction_with_behavior(immediate)?;
        check::still(&change, &self.definition)?;
        if self.points.len() > REMEMBERED {
            self.points.clear();
        }
        for done in done {
            if self.points.insert(done.point) {
                row::put_point(&change, done.point, &done.record)?;
            }
            row::put_run(&change, done, &mut self.metrics)?;
        }
        for chunk in ended {
            change.execute(
                "UPDATE lease SET done = 1 WHERE chunk = ?1",
                [*chunk as i64],
            )?;
        }
        change.execute(
            "UPDATE lease SET until_ms = ?1 WHERE done = 0 AND owner = ?2",
            params![leases::end_ms(), self.owner.text()],
        )?;
        Ok(change.commit()?)
    }
}

impl Drop for Store {
    /// Gives leases back, so that another process need not wait until they end.
    fn drop(&mut self) {
        // There is nobody to tell, and leases end.
        let _ = self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::{Definition, Store};
    use wakeplace_study::{Axis, Design, Request, Source, Sweep};

    /// Goal: what a store of this process had claimed is free when it is closed, so that a sweep
    /// that was interrupted goes on without waiting; one that is open keeps what it has.
    #[test]
    fn a_closed_store_gives_its_chunks_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.sqlite");
        let base = Request {
            platforms: vec![Source::named("hikey960")],
            workloads: vec![Source::named("periodic:n=1")],
            policies: vec!["linux-7.3".to_owned()],
            seeds: vec![1, 2, 3],
            ..Request::default()
        };
        let axes = vec![Axis::parse("busy_factor=4").expect("an axis")];
        let definition = Definition {
            sweep: &Sweep::new(base, axes, Design::Grid).expect("a sweep"),
            program: "a test",
            said: "a test".to_owned(),
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
