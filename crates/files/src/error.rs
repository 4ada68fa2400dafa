//! Why a file is not in its place, and whose fault that is (docs/guide/traces.md, "What is promised
//! of files").
//!
//! Made by place.rs, set.rs, swap.rs and elsewhere.rs; crates/cli/src/failure.rs asks `fault`; the
//! crate cli makes exit codes of faults: a place 2, the machine 3.
//!
//! What must stay: which errors are whose fault, as docs/guide/traces.md has them by exit codes. A
//! message begins with the path. It says what is in the place where that is not what was there
//! before. Words are free but for those that tests read. Free: words that no test reads, and how an
//! error is kept. Tests by part: `faults_are_told_apart` (`fault`),
//! set.rs::`what_cannot_move_to_the_new_folder_is_kept` (`Why::Left`),
//! swap.rs::`an_old_folder_that_cannot_go_back_is_kept` (`Why::Aside`),
//! crates/cli/tests/all/faults/mod.rs::`files_of_a_run` (exit codes),
//! crates/cli/tests/all/faults/tmpfs.rs::`a_full_disk` (`Why::System`). No test of its own: `Told`
//! (`told`, `into_told`). `refused`, `unsynced` and `because` make the messages that faults/mod.rs
//! reads.
//!
//! Tests: below, crates/cli/tests/all/faults/mod.rs,
//! crates/cli/tests/all/faults/tmpfs.rs::a_full_disk

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Whose fault it is that something cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The place that was named: another one may do.
    Place,
    /// The machine: a full disk, a faulty or read-only one.
    Machine,
}

/// Whose fault an error of the system is.
#[must_use]
pub fn fault(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput
        | ErrorKind::PermissionDenied => Fault::Place,
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Fault::Place,
        _ => Fault::Machine,
    }
}

/// Why a file or a folder is not in its place. What was there before is still there, unless the
/// message says otherwise.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct WriteError {
    path: PathBuf,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Why {
    #[error("cannot be written: {0}")]
    Refused(String),
    #[error("cannot be written: {0}")]
    System(#[from] io::Error),
    #[error(
        "it is written, but its folder cannot be synced ({0}): after a power failure the old \
         content may be back"
    )]
    Unsynced(io::Error),
    /// The draft is kept, with the files of others that could not move to the new folder.
    #[error(
        "it is written, but what came into the old folder meanwhile is left in {}: {what}",
        at.display()
    )]
    Left { what: String, at: PathBuf },
    /// The draft is kept, with the old folder.
    #[error(
        "cannot be written: {error}; what was there is now {}, since it could not be put back",
        at.display()
    )]
    Aside { error: io::Error, at: PathBuf },
    /// What another process says that tried.
    #[error("{}", .0.why)]
    Told(Told),
}

/// Why another process could not write something, in its words.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    why: String,
    of_machine: bool,
}

impl WriteError {
    /// The error that the system cannot write a place.
    #[must_use]
    pub fn new(path: &Path, error: io::Error) -> Self {
        Self::because(path, Why::System(error))
    }

    /// The error that the place cannot be taken.
    pub(crate) fn refused(path: &Path, why: impl Into<String>) -> Self {
        Self::because(path, Why::Refused(why.into()))
    }

    /// The error of what is in its place, and may not be there after a crash.
    pub(crate) fn unsynced(path: &Path, error: io::Error) -> Self {
        Self::because(path, Why::Unsynced(error))
    }

    /// The error of a place, with the reason.
    pub(crate) fn because(path: &Path, why: Why) -> Self {
        let path = path.to_owned();
        Self { path, why }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match &self.why {
            Why::Refused(_) => Fault::Place,
            Why::System(error) => fault(error),
            Why::Unsynced(_) | Why::Left { .. } | Why::Aside { .. } => Fault::Machine,
            Why::Told(told) if told.of_machine => Fault::Machine,
            Why::Told(_) => Fault::Place,
        }
    }

    /// The error that another process says of a place.
    pub(crate) fn told(path: &Path, told: Told) -> Self {
        Self::because(path, Why::Told(told))
    }

    /// The error as it is told to another process.
    pub(crate) fn into_told(self) -> Told {
        Told {
            of_machine: self.fault() == Fault::Machine,
            why: self.why.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    /// Goal: full, faulty and read-only disks are the machine's fault, wrong names the user's.
    #[test]
    fn faults_are_told_apart() {
        let of = |errno: Errno| fault(&errno.into());
        for errno in [
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::IO,
            Errno::ROFS,
            Errno::FBIG,
        ] {
            assert_eq!(of(errno), Fault::Machine, "{errno}");
        }
        for errno in [
            Errno::NOENT,
            Errno::NOTDIR,
            Errno::ISDIR,
            Errno::ACCESS,
            Errno::NAMETOOLONG,
            Errno::LOOP,
        ] {
            assert_eq!(of(errno), Fault::Place, "{errno}");
        }
    }
}
