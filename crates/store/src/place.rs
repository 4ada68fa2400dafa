//! What stands where a store is to be: an ordinary file, or nothing yet (docs/guide/results.md,
//! "Sweeps").
//!
//! Called before a file is opened. Free: the words of refusals.
//!
//! What must stay: nothing is made, changed or opened by SQLite before `check` has passed: SQLite
//! would remove the file that a journal names, and wait for a pipe. Tests by part:
//! `names_that_are_no_files_are_refused` (`check`: names), `a_pipe_beside_a_store_is_refused`
//! (`beside`), `a_journal_removes_no_file` (`names_another`).
//!
//! Tests: crates/store/tests/all/names.rs

use crate::StoreError;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Files that SQLite keeps beside a store, by what their names end in.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// What a journal ends with that names a file of several databases (SQLite's file format,
/// "The rollback journal"). SQLite removes the file that it names.
const NAMES_ANOTHER: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses what SQLite reads as something else than the name of a file, and what is no file.
pub(crate) fn check(path: &Path) -> Result<(), StoreError> {
    let refused = |problem: &str, expected: &str| Err(StoreError::refused(path, problem, expected));
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() || bytes == b":memory:" {
        return refused("it names no file", "the name of a file");
    }
    if bytes.starts_with(b"file:") {
        return refused(
            "SQLite reads this as a URI, not as the name of a file",
            "the name of a file; one that begins with `file:` needs `./` before it",
        );
    }
    let all = std::iter::once(path.to_owned()).chain(BESIDE.map(|end| beside(path, end)));
    for file in all {
        // What is missing, or cannot be looked at, SQLite's own messages are about.
        if file.metadata().is_ok_and(|is| !is.is_file()) {
            let problem = format!("{} is no ordinary file", file.display());
            return refused(&problem, "a store or a new file");
        }
    }
    if names_another(&beside(path, "-journal")).unwrap_or(false) {
        return refused(
            "its journal names another file, which a store's never does",
            "the store without the file that ends in -journal",
        );
    }
    Ok(())
}

/// The store's name with something after it.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The journal ends with the mark by which SQLite names another file, which it would then remove.
fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file = File::open(journal)?;
    file.seek(SeekFrom::End(-(NAMES_ANOTHER.len() as i64)))?;
    let mut end = [0; NAMES_ANOTHER.len()];
    file.read_exact(&mut end)?;
    Ok(end == NAMES_ANOTHER)
}
