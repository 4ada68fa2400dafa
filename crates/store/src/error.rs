//! Why a store cannot be used (docs/guide/results.md, "Sweeps").
//!
//! Called for everything that goes wrong with a store. Free: words.
//!
//! What must stay: a file's fault is `Refused` (exit code 2 of the crate cli), the machine's is
//! `Machine` (3): a full disk must not read as a bad store. Tests by part:
//! damage.rs::`changed_bytes_are_found_or_harmless` (`of`: damage is refused, with what was
//! expected), forged.rs::`a_row_that_is_not_as_it_was_is_refused` (`row`, `TooBig`),
//! sweeps.rs::`a_store_of_anybodys_ends_with_a_sentence` (exit code and sentence),
//! sweeps.rs::`a_store_of_something_else_is_refused` (`refused`),
//! crates/cli/tests/all/faults/tmpfs.rs::`a_disk_that_gets_full_during_a_sweep` (`of`: a full disk
//! is `Machine`; where a tmpfs may be mounted). No test of its own: a read-only file system.
//!
//! Tests: crates/store/tests/all/damage.rs, crates/store/tests/all/forged.rs,
//! crates/cli/tests/all/sweeps.rs,
//! crates/cli/tests/all/faults/tmpfs.rs::a_disk_that_gets_full_during_a_sweep

use crate::guard::MAX_ROW;
use rusqlite::ErrorCode;
use rustix::fs::Access;
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// A store that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else, or belongs to another sweep: bad input.
    #[error("store {file}: {problem}; expected {expected}")]
    Refused {
        /// As the caller named it.
        file: String,
        /// What is wrong.
        problem: String,
        /// What was expected.
        expected: String,
    },
    /// The machine cannot: a full disk, a folder that is gone.
    #[error("store {file}: {problem}")]
    Machine {
        /// As the caller named it.
        file: String,
        /// What the system said.
        problem: String,
    },
    /// What is exported cannot be written.
    #[error("{0}")]
    Export(#[from] io::Error),
}

impl StoreError {
    /// `problem`: what is wrong with the file; `expected`: what would do.
    pub(crate) fn refused(file: &Path, problem: impl Into<String>, expected: &str) -> Self {
        Self::Refused {
            file: file.display().to_string(),
            problem: problem.into(),
            expected: expected.to_owned(),
        }
    }

    /// What is wrong, in words.
    pub(crate) fn of(file: &Path, flaw: impl Into<Flaw>) -> Self {
        let sqlite = match flaw.into() {
            Flaw::Content(problem) => return Self::refused(file, problem, AS_IT_WAS),
            Flaw::Grown => return Self::refused(file, GROWN, "the same command again"),
            Flaw::Sqlite(error) => error,
        };
        let machine = |problem: &str| Self::Machine {
            file: file.display().to_string(),
            problem: problem.to_owned(),
        };
        match sqlite.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => machine(
                "the disk is full; what was committed is kept, and the same command goes on",
            ),
            Some(ErrorCode::CannotOpen) if is_read_only(file) => {
                machine("the file system is read-only")
            }
            Some(ErrorCode::CannotOpen) => Self::refused(
                file,
                "it cannot be opened or made",
                "a file in a folder that exists and may be written to",
            ),
            // A file may claim so itself: then it may be written to.
            Some(ErrorCode::ReadOnly) if !may_write(file) => machine("it may not be written to"),
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => machine(&sqlite.to_string()),
            Some(ErrorCode::OperationInterrupted) => Self::refused(
                file,
                "to read it takes more steps than its size explains",
                AS_IT_WAS,
            ),
            Some(ErrorCode::TooBig) => Self::refused(
                file,
                format!("it has a row of more than {} MiB", MAX_ROW >> 20),
                AS_IT_WAS,
            ),
            // The rest says what SQLite found in the file, or that a value is none of its column's.
            _ => Self::refused(file, "it is no store of runs, or is damaged", AS_IT_WAS),
        }
    }
}

/// What a store should be that has something else in it.
pub(crate) const AS_IT_WAS: &str = "the store as it was, or a new file";

/// Another process has opened it for other values.
const GROWN: &str = "another command has given its sweep other values meanwhile";

/// What went wrong with a store's file.
pub(crate) enum Flaw {
    /// SQLite says.
    Sqlite(rusqlite::Error),
    /// What is in it is not what this program writes: what.
    Content(String),
    /// It is of another sweep than when it was opened.
    Grown,
}

impl Flaw {
    /// A row that is not as it was written.
    pub(crate) fn row(table: &str, number: i64) -> Self {
        Self::Content(format!(
            "row {number} of its table `{table}` is not as this program wrote it"
        ))
    }
}

impl From<rusqlite::Error> for Flaw {
    /// SQLite's own error, judged by `of`.
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// As far as the system says.
fn may_write(file: &Path) -> bool {
    rustix::fs::access(file, Access::WRITE_OK).is_ok()
}

/// SQLite does not tell it from a folder that is missing. Only asks: nothing is made.
fn is_read_only(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| *folder != "");
    let asked = rustix::fs::access(folder.unwrap_or(Path::new(".")), Access::WRITE_OK);
    asked == Err(Errno::ROFS)
}
