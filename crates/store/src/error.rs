//! Why a store cannot be used.

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
    pub(crate) fn refused(file: &Path, problem: impl Into<String>, expected: &str) -> Self {
        Self::Refused {
            file: file.display().to_string(),
            problem: problem.into(),
            expected: expected.to_owned(),
        }
    }

    /// What SQLite said, in words.
    pub(crate) fn of(file: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let machine = |problem: String| Self::Machine {
            file: file.display().to_string(),
            problem,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::refused(file, "it is no store of runs", "a new file or a store")
            }
            Some(ErrorCode::DiskFull) => machine(
                "the disk is full; what was committed is kept, and the same command goes on"
                    .to_owned(),
            ),
            Some(ErrorCode::CannotOpen) if is_read_only(file) => {
                machine("the file system is read-only".to_owned())
            }
            Some(ErrorCode::CannotOpen) => Self::refused(
                file,
                "it cannot be opened or made",
                "a file in a folder that exists and may be written to",
            ),
            Some(ErrorCode::ReadOnly) => machine("it may not be written to".to_owned()),
            _ => machine(error.to_string()),
        }
    }
}

/// SQLite does not tell it from a folder that is missing. Only asks: nothing is made.
fn is_read_only(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| *folder != "");
    let asked = rustix::fs::access(folder.unwrap_or(Path::new(".")), Access::WRITE_OK);
    asked == Err(Errno::ROFS)
}
