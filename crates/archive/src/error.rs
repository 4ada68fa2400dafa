//! What can go wrong while something is fetched or kept (docs/guide/lab.md, docs/guide/kernel.md).
//!
//! What must stay: one sentence with the path or program at fault.
//!
//! Tests by part: `without_an_archive_a_version_cannot_be_had` (what is said without an archive),
//! program.rs::`a_failing_program_is_quoted` (a program's words),
//! cache.rs::`a_folder_whose_name_would_break_apts_configuration_is_refused`. `reading`, `writing`,
//! `file` and `damaged` are constructors.
//!
//! Callers: all of the crate; crates/lab and crates/kernel-tree pass them on.
//!
//! Tests: crates/cli/tests/all/kernel.rs::without_an_archive_a_version_cannot_be_had,
//! crates/kernel-tree/src/error.rs

use std::path::PathBuf;

/// Why something cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The folder that was named for the cache cannot be one.
    #[error("{0}")]
    Place(String),
    /// A file of this machine cannot be read or written.
    #[error("{path}: cannot be {what}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What was tried, as `read`.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder of the cache cannot be written.
    #[error(transparent)]
    Write(wakeplace_files::WriteError),
    /// A program of this machine is missing or failed.
    #[error("{program}: {why}")]
    Program {
        /// Which.
        program: String,
        /// What happened, with the end of what it said.
        why: String,
    },
    /// The archive has no such package.
    #[error("no package {wanted} for {arch} in {mirror} ({suites})")]
    NoPackage {
        /// What was looked for.
        wanted: String,
        /// Debian's name of the architecture.
        arch: String,
        /// Where.
        mirror: String,
        /// In which suites.
        suites: String,
    },
    /// Something that was fetched is not what it should be.
    #[error("{what}: {why}")]
    Damaged {
        /// A file or a package.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ArchiveError {
    /// A file that cannot be read.
    pub fn reading(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        Self::file(path, "read")
    }

    /// A file that cannot be written.
    pub fn writing(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        Self::file(path, "written")
    }

    /// A file with which something cannot be done.
    pub fn file(
        path: impl Into<PathBuf>,
        what: &'static str,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, what, source }
    }

    /// Something that is not what it should be.
    pub fn damaged(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            why: why.into(),
        }
    }
}
