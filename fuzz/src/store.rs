//! A store of a sweep that somebody changed: with SQL, with other bytes, or both.
//!
//! What must stay: the form of inputs. A changed store gives the runs that were made or is refused,
//! and no other file is reached. Free: limits, and the sweep of `whole`. Tests by part:
//! kept.rs::`every_kept_input_keeps_the_promises` (`store`, `change`, `flip`: kept stores of
//! fuzz/corpus/store must be read, those of fuzz/regressions/store were findings),
//! mutations.rs::`store` of `keep_the_promises` (other runs, or an error that is not the store's),
//! both `whole` and `runs`: without them no input passes.
//!
//! Callers: fuzz/src/lib.rs (`store`, as a target's body). Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all

use crate::{Reached, refused};
use rusqlite::Connection;
use rusqlite::limits::Limit;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use wakeplace_store::{Definition, Store, StoreError, run};
use wakeplace_study::{Axis, Design, Request, RunRecord, Source, Sweep};

/// Looks at the clock of SQLite's machine that changes by SQL may have, each after 1,000 steps.
const MOST_LOOKS: u32 = 2_000;

/// The sweep, its store as a file, and its runs.
struct Whole {
    sweep: Sweep,
    bytes: Vec<u8>,
    runs: Vec<RunRecord>,
}

/// The target: lines of SQL, and of `flip PLACE BYTE`, change a store that has all runs. What is
/// read from it is these runs, or it is refused.
pub(crate) fn store(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Reached::Refused;
    };
    static WHOLE: OnceLock<Whole> = OnceLock::new();
    let whole = WHOLE.get_or_init(whole);
    let folder = tempfile::tempdir().expect("a folder for the store");
    let path = folder.path().join("runs.db");
    std::fs::write(&path, &whole.bytes).expect("a store");
    let (flips, sql): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("flip "));
    change(&path, &sql);
    flip(&path, &flips);
    match runs(&whole.sweep, &path) {
        Ok(runs) => {
            assert!(runs == whole.runs, "other runs");
            Reached::Simulated
        }
        Err(error @ StoreError::Refused { .. }) => refused(&error),
        Err(error) => panic!("not the store's fault: {error}"),
    }
}

/// A store with all its runs, made once a process.
fn whole() -> Whole {
    let base = Request {
        platforms: vec![Source::named("juno-r0")],
        workloads: vec![Source::named("periodic:n=2,period=2ms")],
        policies: vec!["linux-7.3".to_owned()],
        seeds: vec![1, 2],
        duration_ns: Some(10_000_000),
        ..Request::default()
    };
    let axes = vec![Axis::parse("workload.n=1..4:4").expect("an axis")];
    let sweep = Sweep::new(base, axes, Design::Grid).expect("a sweep");
    let folder = tempfile::tempdir().expect("a folder for the store");
    let path = folder.path().join("runs.db");
    let runs = runs(&sweep, &path).expect("a store");
    let bytes = std::fs::read(path).expect("the store");
    Whole { sweep, bytes, runs }
}

/// Runs a sweep into a store and reads all of it again.
fn runs(sweep: &Sweep, path: &Path) -> Result<Vec<RunRecord>, StoreError> {
    let definition = Definition {
        sweep,
        program: "fuzz",
        said: "fuzz".to_owned(),
        workers: 1,
    };
    let mut store = Store::open(path, &definition)?;
    run(sweep, &mut store, (1, "fuzz"), &|_| {})?;
    let mut all = Vec::new();
    store.parts(|part| -> Result<(), StoreError> {
        all.extend_from_slice(part);
        Ok(())
    })?;
    Ok(all)
}

/// Changes the store by these lines, as far as SQLite takes them; no other file is reached, and
/// it ends.
fn change(path: &Path, sql: &[&str]) {
    let store = Connection::open(path).expect("the store");
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, 1 << 24),
    ] {
        store.set_limit(limit, most).expect("a limit");
    }
    let looks = AtomicU32::new(0);
    let over = move || looks.fetch_add(1, Ordering::Relaxed) > MOST_LOOKS;
    store.progress_handler(1000, Some(over)).expect("a handler");
    // What is no SQL changes nothing.
    for line in sql {
        let _ = store.execute_batch(line);
    }
}

/// Changes bytes of the store by lines `flip PLACE BYTE`; a place counts round the file's end.
fn flip(path: &Path, flips: &[&str]) {
    if flips.is_empty() {
        return;
    }
    let mut bytes = std::fs::read(path).expect("the store");
    for line in flips {
        let mut numbers = line.split(' ').skip(1).map(str::parse::<usize>);
        if let (Some(Ok(place)), Some(Ok(byte))) = (numbers.next(), numbers.next()) {
            let place = place % bytes.len().max(1);
            bytes[place] = byte as u8;
        }
    }
    std::fs::write(path, bytes).expect("the store");
}
