//! Stores with bytes that an accident changed.
//! Page: docs/guide/cluster.md.
//!
//! What must stay: a damaged store ends with the right runs or is refused: nothing in between.
//! Tests by part (in crates/store/src): error.rs: `changed_bytes_are_found_or_harmless` (`of`);
//! guard.rs: `changed_bytes_are_found_or_harmless` (`open`); check.rs and read.rs:
//! `a_store_that_is_cut_off`.
//! Helpers, and who fails with them: `is_right` (all tests).

use crate::common::{Full, right, runs};
use wakeplace_store::StoreError;
use wakeplace_workload::Stream;

/// Goal: whatever bytes of a store an accident changes, it ends with the right runs or is refused
/// with a sentence. `WAKEPLACE_FLIPS` asks for more.
#[test]
fn changed_bytes_are_found_or_harmless() {
    let full = Full::new();
    let whole = full.bytes();
    let rounds = std::env::var("WAKEPLACE_FLIPS").map_or(60, |n| n.parse().expect("a number"));
    let mut random = Stream::for_task(1, "flips");
    let mut harmless = 0;
    for round in 0..rounds {
        let mut bytes = whole.clone();
        // Up to twenty anywhere; every third time in the first page, where all is decided.
        let most = if round % 3 == 0 {
            4096
        } else {
            bytes.len() as u64
        };
        for _ in 0..=random.below(20) {
            bytes[random.below(most) as usize] = random.below(256) as u8;
        }
        harmless += u32::from(is_right(&full, &bytes, round));
    }
    assert!(harmless < rounds / 2, "{harmless} of {rounds}");
}

/// Goal: a store that was cut off anywhere is refused, or has the right runs.
#[test]
fn a_store_that_is_cut_off() {
    let full = Full::new();
    let whole = full.bytes();
    for part in 1..8 {
        is_right(&full, &whole[..whole.len() * part / 8], part as u32);
    }
}

/// They are the right ones; or it is refused.
fn is_right(full: &Full, bytes: &[u8], round: u32) -> bool {
    for end in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(full.path().with_file_name(format!("runs.db{end}")));
    }
    std::fs::write(full.path(), bytes).expect("written");
    match runs(&full.path()) {
        Ok((all, _)) => {
            assert!(all == right(), "round {round}: other runs");
            true
        }
        Err(error @ StoreError::Refused { .. }) => {
            assert!(error.to_string().contains("; expected "), "{error}");
            false
        }
        Err(error) => panic!("round {round}: {error}"),
    }
}
