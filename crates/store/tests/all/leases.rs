//! Leases that nobody gives back.
//! Page: docs/guide/cluster.md, "A thousand workers".
//!
//! What must stay: a committed cell is never handed out again; a wrong clock voids a lease.
//! Tests by part (in crates/store/src): leases.rs: `leases_of_others_are_looked_at` (`done`,
//! `in_range`), `a_lease_of_a_wrong_clock_is_void` (`free_chunk`, `holds`),
//! `a_committed_cell_is_not_claimed_again` (`free_chunk`); owner.rs:
//! `a_lease_of_a_wrong_clock_is_void` (an owner without a begin); db.rs:
//! `a_committed_cell_is_not_claimed_again` (`try_claim`, `try_commit`, `is_complete`).

use crate::common::{CELLS, Full, definition, right, runs, sweep};
use std::time::{Duration, SystemTime};
use wakeplace_store::{Store, run_cell};

/// Goal: no lease is waited for that this program would not have made.
#[test]
fn leases_of_others_are_looked_at() {
    let init = "1:1:0";
    for (set, part) in [
        ("done = 0, until_ms = 9223372036854775807", "table `lease`"),
        ("done = 0, until_ms = -1", "table `lease`"),
        ("done = 2", "table `lease`"),
        ("done = -1", "table `lease`"),
        ("chunk = -5", "table `lease`"),
        ("chunk = 9223372036854775807", "table `lease`"),
        ("chunk = 8", "table `lease`"),
    ] {
        let full = Full::new();
        full.change(&format!(
            "UPDATE lease SET {set}, owner = '{init}' WHERE chunk = 7"
        ));
        full.refused(part);
    }
    // The last chunk is there, and none before it: nobody would ever take those.
    let full = Full::new();
    full.change("DELETE FROM lease WHERE chunk < 7; DELETE FROM cell WHERE cell < 7");
    full.refused("no lease of chunk 0");
}

/// Goal: a lease of a process that is there, but that ends later than any lease may, is void: its
/// clock, or ours, was wrong.
#[test]
fn a_lease_of_a_wrong_clock_is_void() {
    #[allow(
        clippy::disallowed_methods,
        reason = "leases are a matter of wall time"
    )]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let hour = now.expect("after 1970") + Duration::from_secs(3600);
    let full = Full::new();
    // An owner without a time of beginning counts as there.
    full.change(&format!(
        "DELETE FROM cell WHERE cell = 7;
         UPDATE lease SET done = 0, owner = '1::0', until_ms = {} WHERE chunk = 7",
        hour.as_millis()
    ));
    let (all, made) = runs(&full.path()).expect("a store");
    assert_eq!(made, 1);
    assert!(all == right(), "other runs");
}

/// Goal: a cell that is committed is never handed out again, also after a process that was killed
/// with a chunk half done.
#[test]
fn a_committed_cell_is_not_claimed_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    let sweep = sweep();
    let open = || Store::open(&path, &definition(sweep)).expect("a store");
    let mut known: Vec<usize> = Vec::new();
    loop {
        let mut store = open();
        let Some((chunk, cells)) = store.claim().expect("a claim") else {
            break;
        };
        assert!(cells.iter().all(|cell| !known.contains(cell)), "{cells:?}");
        let Some(cell) = cells.first().copied() else {
            store.commit(&[], &[chunk]).expect("a commit");
            continue;
        };
        let (number, seed) = sweep.cell(cell);
        let point = Ok(sweep.point(number).expect("a point"));
        let done = run_cell(&point, (cell, number, seed), "a test");
        store.commit(&[done], &[]).expect("a commit");
        known.push(cell);
        // The chunk is not ended, as by a process that was killed.
    }
    known.sort_unstable();
    assert_eq!(known, (0..CELLS).collect::<Vec<_>>());
    assert!(open().is_complete().expect("an answer"));
}
