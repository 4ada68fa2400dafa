//! Stores that somebody changed with SQL.
//! Page: docs/guide/cluster.md.
//!
//! What must stay: nothing of a store is believed that its sums do not say; no code of others runs.
//! Tests by part (in crates/store/src): guard.rs: `a_store_has_the_runs_that_its_cells_are`
//! (`begin`); read.rs: `a_store_has_the_runs_that_its_cells_are` (`parts`); check.rs:
//! `what_is_none_of_a_stores_tables_is_refused` (`tables`, `objects`),
//! `a_row_that_is_not_as_it_was_is_refused` (`rows`, `is_of_the_sweep`),
//! `what_cells_are_of_is_as_it_was` (`kind`, `same_sweep`), `a_row_of_another_cell_is_refused`
//! (`is_of_the_sweep`); error.rs: `a_row_that_is_not_as_it_was_is_refused` (`row`, `TooBig`);
//! row.rs: `what_cells_are_of_is_as_it_was` (`point_sum`, `metric_sum`, `sweep_sum`); open.rs:
//! `what_is_missing_is_made`.

use crate::common::{CELLS, Full, right, runs};

#[test]
fn a_store_has_the_runs_that_its_cells_are() {
    let full = Full::new();
    let (all, made) = runs(&full.path()).expect("a store");
    assert_eq!(made, 0);
    assert!(all == right(), "other runs");
}

/// Goal: a store has our tables and nothing else: no code of others runs, and no query of ours is
/// answered by something else than the table it names.
#[test]
fn what_is_none_of_a_stores_tables_is_refused() {
    for (sql, part) in [
        // All figures would be empty.
        (
            "CREATE TRIGGER empty AFTER UPDATE ON lease BEGIN UPDATE run SET metrics = x''; END",
            "trigger `empty`",
        ),
        // Rows without end.
        (
            "CREATE VIEW more AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
             SELECT x FROM n",
            "view `more`",
        ),
        (
            "ALTER TABLE cell RENAME TO own;
             CREATE VIEW cell AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
             SELECT x AS cell, 0 AS point, '1' AS seed, 'k' AS key, 0 AS sum FROM n",
            "table `own`",
        ),
        ("CREATE TABLE extra (x)", "table `extra`"),
        ("CREATE INDEX other ON cell (key)", "index `other`"),
        // What the planner would believe.
        ("ANALYZE", "table `sqlite_stat"),
        ("DROP INDEX lease_open", "lacks a table"),
        ("ALTER TABLE run ADD COLUMN more TEXT", "table `run`"),
        ("DELETE FROM sweep", "no store of runs"),
        ("INSERT INTO sweep SELECT * FROM sweep", "table `sweep`"),
    ] {
        let full = Full::new();
        full.change(sql);
        full.refused(part);
    }
}

/// Goal: a number out of range, a row that was changed, moved or taken away is found, wherever it
/// is.
#[test]
fn a_row_that_is_not_as_it_was_is_refused() {
    for (sql, part) in [
        (
            "UPDATE cell SET cell = 9223372036854775807 WHERE cell = 7",
            "table `cell`",
        ),
        ("UPDATE cell SET cell = -1 WHERE cell = 0", "table `cell`"),
        ("UPDATE cell SET point = 1 WHERE cell = 7", "table `cell`"),
        ("UPDATE cell SET seed = '1' WHERE cell = 7", "table `cell`"),
        (
            "UPDATE cell SET sum = sum + 1 WHERE cell = 7",
            "table `cell`",
        ),
        // Cell 7 with the runs of cell 1.
        (
            "UPDATE cell SET key = (SELECT key FROM cell WHERE cell = 1) WHERE cell = 7",
            "row 7 of its table `cell`",
        ),
        (
            "UPDATE cell SET (seed, key, sum) = (SELECT seed, key, sum FROM cell WHERE cell = 1)
             WHERE cell = 7",
            "row 7 of its table `cell`",
        ),
        // The figures of two runs exchanged.
        (
            "UPDATE run SET metrics = (SELECT metrics FROM run WHERE key =
                 (SELECT key FROM cell WHERE cell = 1))
             WHERE key = (SELECT key FROM cell WHERE cell = 7)",
            "table `cell`",
        ),
        ("UPDATE run SET metrics = x''", "table `cell`"),
        (
            "UPDATE run SET metrics = zeroblob(20000000)",
            "more than 16 MiB",
        ),
        ("UPDATE run SET metrics = zeroblob(13)", "table `cell`"),
        ("UPDATE run SET error = 'stuck'", "table `cell`"),
        (
            "UPDATE run SET event_hash = '0123456789abcdef'",
            "table `cell`",
        ),
        ("DELETE FROM run", "has no run"),
        ("DELETE FROM point", "lacks point 0"),
        ("DELETE FROM cell WHERE cell = 3", "lacks cells"),
    ] {
        let full = Full::new();
        full.change(sql);
        full.refused(part);
    }
}

/// Goal: the same of what cells are of: points, names of metrics, and the sweep itself.
#[test]
fn what_cells_are_of_is_as_it_was() {
    for (sql, part) in [
        ("UPDATE point SET policy = 'linux-5.0'", "table `point`"),
        ("UPDATE point SET duration_ns = -1", "table `point`"),
        (
            "UPDATE metric SET name = name || '2' WHERE metric = 1",
            "table `metric`",
        ),
        (
            "UPDATE metric SET (name, sum) = ('x', 0) WHERE metric = 1",
            "table `metric`",
        ),
        (
            "UPDATE metric SET metric = 4294967297 WHERE metric = 1",
            "table `metric`",
        ),
        (
            "INSERT INTO metric VALUES (999, 'mine', 0)",
            "table `metric`",
        ),
        ("UPDATE sweep SET chunk = 0", "table `sweep`"),
        (
            "UPDATE sweep SET chunk = 9223372036854775807",
            "table `sweep`",
        ),
        ("UPDATE sweep SET cells = 7", "table `sweep`"),
        (
            "UPDATE sweep SET definition = 'other'",
            "another sweep, an earlier program, or files that changed",
        ),
        ("PRAGMA user_version = 1", "version 1 of the tables"),
        ("PRAGMA application_id = 1", "no store of runs"),
    ] {
        let full = Full::new();
        full.change(sql);
        full.refused(part);
    }
}

/// Goal: a row with a right sum of its own is not believed where it is another cell's. The sums are
/// those of two sweeps of this program.
#[test]
fn a_row_of_another_cell_is_refused() {
    let full = Full::new();
    // Both have points 0 and 3 with seed 2, under numbers that are exchanged with all their sums.
    full.change(
        "UPDATE point SET point = 99 WHERE point = 0; UPDATE point SET point = 0 WHERE point = 3;
         UPDATE point SET point = 3 WHERE point = 99",
    );
    full.refused("row 0 of its table `point`");
}

/// Goal: cells that a store lacks are run, and only they.
#[test]
fn what_is_missing_is_made() {
    let full = Full::new();
    full.change("DELETE FROM cell WHERE cell >= 5; DELETE FROM lease WHERE chunk >= 5");
    let (all, made) = runs(&full.path()).expect("a store");
    assert_eq!(made, CELLS - 5);
    assert!(all == right(), "other runs");
}
