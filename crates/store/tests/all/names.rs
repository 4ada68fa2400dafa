//! What stands where a store should be.
//! Page: docs/guide/cluster.md.
//!
//! What must stay: only a file is a store, and no other file is touched beside it.
//! Tests by part (in crates/store/src): place.rs: `names_that_are_no_files_are_refused` (`check`),
//! `a_pipe_beside_a_store_is_refused` (`beside`), `a_journal_removes_no_file` (`names_another`).
//! Helpers, and who fails with them: `refused` (`names_that_are_no_files_are_refused`).

use crate::common::{Full, runs};
use std::fs;
use std::path::Path;
use wakeplace_store::StoreError;

fn refused(path: &Path, part: &str) {
    let Err(error) = runs(path) else {
        panic!("{} is not refused", path.display());
    };
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

/// Goal: a store is a file. SQLite reads these names otherwise, and nothing would be kept.
#[test]
fn names_that_are_no_files_are_refused() {
    for (name, part) in [
        ("file:uri.db?mode=memory", "as a URI"),
        ("file:/tmp/a.db", "as a URI"),
        (":memory:", "names no file"),
        ("", "names no file"),
        ("/dev/null", "/dev/null is no ordinary file"),
        ("/dev/zero", "/dev/zero is no ordinary file"),
        (".", "is no ordinary file"),
    ] {
        refused(Path::new(name), part);
    }
}

/// Goal: nothing beside a store is opened that is no file.
#[test]
fn a_pipe_beside_a_store_is_refused() {
    for end in ["-wal", "-shm", "-journal"] {
        let full = Full::new();
        let path = full.path().with_file_name(format!("runs.db{end}"));
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("a FIFO");
        full.refused("is no ordinary file");
    }
}

/// Goal: a journal that names another file is refused. SQLite would read that file and remove it.
/// The end of a journal: name, its length, the sum of its bytes, and eight bytes that say so
/// (SQLite's pager.c, `writeSuperJournal`).
#[test]
fn a_journal_removes_no_file() {
    let full = Full::new();
    let precious = full.folder.path().join("precious.txt");
    fs::write(&precious, "nothing that names a journal").expect("a file");
    let name = precious.to_str().expect("text").as_bytes();
    let sum = name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let mut journal = vec![0; 512];
    // Its head: eight bytes, pages (none), a random number, pages of the store, sector, page size.
    journal[..8].copy_from_slice(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    let head = [0, 0, full.bytes().len() as u32 / 4096, 512, 4096];
    for (at, number) in head.into_iter().enumerate() {
        journal[8 + 4 * at..12 + 4 * at].copy_from_slice(&u32::to_be_bytes(number));
    }
    journal.extend_from_slice(&(u32::MAX).to_be_bytes());
    journal.extend_from_slice(name);
    journal.extend_from_slice(&u32::to_be_bytes(name.len() as u32));
    journal.extend_from_slice(&sum.to_be_bytes());
    journal.extend_from_slice(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(full.folder.path().join("runs.db-journal"), journal).expect("a journal");
    full.refused("its journal names another file");
    assert!(precious.exists());
}
