//! A store that goes on with other values of its sweep's axes, or with other seeds
//! (docs/guide/results.md, "Sweeps").
//!
//! Called while a store is opened, within the change that opens it. Runs are found by their keys;
//! cells get the numbers that the sweep has now. Runs that no cell has any more stay: their values
//! may come back.
//!
//! What must stay: a run is taken over by its key alone, which is computed anew; a store that is
//! refused stays as it was; no process that works on the store loses its cells' numbers. Tests by
//! part: grown.rs::`values_come_and_go` (`grow`, `take_over`), grown.rs::`what_changed_is_refused`
//! (`same_files`, damage), grown.rs::`nobody_is_disturbed` (a store that is worked on).
//!
//! Tests: crates/store/tests/all/grown.rs

use crate::check::Said;
use crate::error::Flaw;
use crate::open::put_sweep;
use crate::sweep::expected;
use crate::{Definition, Done, StoreError, differs, leases, row};
use rusqlite::Transaction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wakeplace_study::{Points, RunRecord, json_object};

/// Makes it the store of this sweep, which differs in values of axes and in seeds alone.
pub(crate) fn grow(
    change: &Transaction<'_>,
    path: &Path,
    definition: &Definition<'_>,
    said: &Said,
) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, error);
    said.sizes(path)?;
    if leases::is_worked_on(change).map_err(failed)? {
        return Err(StoreError::refused(
            path,
            "another command works on it now, with other values of what is varied",
            "one command at a time, or another store",
        ));
    }
    let read = |flaw: Flaw| StoreError::of(path, flaw);
    let mut points = BTreeMap::new();
    row::each_point(change, |record| {
        points.insert(named(&record), record);
    })
    .map_err(read)?;
    // Of a cell that cannot be run the key is its number, which another one may have now.
    let whole = "DELETE FROM run WHERE key GLOB 'cell *'";
    change.execute(whole, []).map_err(failed)?;
    let mut keys = BTreeSet::new();
    row::each_run(change, |key, _| {
        keys.insert(key.to_owned());
    })
    .map_err(read)?;
    let emptied = "DELETE FROM cell; DELETE FROM point; DELETE FROM lease; DELETE FROM sweep";
    change.execute_batch(emptied).map_err(failed)?;
    put_sweep(change, definition).map_err(failed)?;
    match take_over(change, definition, &points, &keys).map_err(failed)? {
        true => Ok(()),
        false => {
            let points: Vec<RunRecord> = points.into_values().take(differs::MOST).collect();
            Err(said.refused(path, definition, &points))
        }
    }
}

/// Enters the cells whose runs are there; false: what a point is of has changed.
fn take_over(
    change: &Transaction<'_>,
    definition: &Definition<'_>,
    known: &BTreeMap<String, RunRecord>,
    keys: &BTreeSet<String>,
) -> rusqlite::Result<bool> {
    let sweep = definition.sweep;
    let mut points = Points::default();
    for cell in 0..sweep.cells() {
        let (point, seed) = sweep.cell(cell);
        let made = points.get(sweep, point);
        let (key, like) = expected(&made, (cell, seed), definition.program);
        if made.is_ok() && !same_files(known.get(&named(like)), like) {
            return Ok(false);
        }
        if keys.contains(&key) {
            row::put_point(change, point, like)?;
            let record = RunRecord {
                seed,
                ..like.clone()
            };
            let done = Done {
                cell,
                point,
                key,
                record,
            };
            row::put_cell(change, &done)?;
        }
    }
    Ok(true)
}

/// What names say of a point.
fn named(record: &RunRecord) -> String {
    let names = [&record.platform, &record.workload, &record.policy];
    format!("{}{names:?}", json_object(&record.labels))
}

/// A point with the same names is of the same files.
fn same_files(known: Option<&RunRecord>, now: &RunRecord) -> bool {
    let hashes = |of: &RunRecord| [of.platform_hash.clone(), of.workload_hash.clone()];
    known.is_none_or(|known| known.platform_hash.is_empty() || hashes(known) == hashes(now))
}
