//! What can go wrong between a name and a kernel that is loaded, and whose fault it is
//! (docs/guide/kernel.md, "What it needs").
//!
//! What must stay: classes become exit codes: 2 what the user gave, 3 what the machine lacks. Free:
//! words, and further errors, each with its class.
//!
//! Tests by part: `a_cache_that_may_not_be_written_is_a_mistake_of_who_named_it` (`class_of`,
//! `writing`), `what_a_machine_lacks_is_not_the_users_mistake` (`class`),
//! crates/cli/tests/all/kernel.rs::`what_may_not_be_read_or_written_is_refused` (`reading`,
//! `writing`).
//!
//! Callers: all of the crate; crates/kernel-run and crates/cli/src/failure.rs read `class`.
//!
//! Tests: below

use std::io::ErrorKind;
use std::path::PathBuf;
use wakeplace_archive::ArchiveError;
use wakeplace_files::Fault;

/// Whose fault an error is; the command line makes the exit code of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// What was asked for makes no sense, or the user's tree cannot be built.
    Input,
    /// This machine or the archive lacks something.
    Environment,
}

/// Why there is no kernel. Each message is one sentence; the compiler's own follow on lines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The name of a kernel cannot be understood.
    #[error("{0}")]
    Spec(String),
    /// A folder is no tree of a kernel.
    #[error("{} is no tree of a kernel: {why}", .path.display())]
    NotATree {
        /// Which.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
    /// A revision cannot be had.
    #[error("{}@{revision}: {why}", .path.display())]
    Revision {
        /// The tree.
        path: PathBuf,
        /// As it was asked for.
        revision: String,
        /// What git said, or what is missing.
        why: String,
    },
    /// The archive has no such version.
    #[error("no kernel {wanted} in the package archive; it has {offered}")]
    NoVersion {
        /// As it was asked for.
        wanted: String,
        /// What can be had.
        offered: String,
    },
    /// Nothing that was fetched before helps, and the archive cannot be reached.
    #[error("kernel {wanted} has to be fetched, and the package archive cannot be reached: {why}")]
    NoArchive {
        /// As it was asked for.
        wanted: String,
        /// What apt said.
        why: String,
    },
    /// Programs that a build needs are not here.
    #[error("{} not here, which a kernel is built with; {}", .missing, crate::tools::REMEDY)]
    Tools {
        /// Which.
        missing: String,
    },
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The tree does not compile, or the shim does not with it.
    #[error("{tree}: {what}:\n{messages}")]
    Compiler {
        /// The tree.
        tree: String,
        /// Which of the two.
        what: String,
        /// The compiler's, with files named from the tree's root.
        messages: String,
    },
    /// The tree uses something that the shim does not have.
    #[error(
        "{tree} uses what the simulator's half of the kernel does not have: {symbols}; to add it, \
         see `A new version` in docs/guide/kernel.md"
    )]
    Symbols {
        /// The tree.
        tree: String,
        /// Their names.
        symbols: String,
    },
    /// The built object is not what it should be.
    #[error("{}: {why}", .path.display())]
    Object {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Something cannot be fetched, kept, read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl TreeError {
    /// Whose fault it is: exit codes follow (crates/cli/src/failure.rs).
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::NoArchive { .. } | Self::Tools { .. } | Self::Object { .. } => Class::Environment,
            Self::Archive(error) => class_of(error),
            _ => Class::Input,
        }
    }

    /// For `map_err`, with the path.
    pub(crate) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let wrap = ArchiveError::reading(path);
        move |source| wrap(source).into()
    }

    /// For `map_err`, with the path.
    pub(crate) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let wrap = ArchiveError::writing(path);
        move |source| wrap(source).into()
    }
}

/// A place that may not be written to is the choice of who named it.
fn class_of(error: &ArchiveError) -> Class {
    match error {
        ArchiveError::Place(_) => Class::Input,
        ArchiveError::Write(error) if error.fault() == Fault::Place => Class::Input,
        ArchiveError::File { source, .. } => match source.kind() {
            ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists => Class::Input,
            _ => Class::Environment,
        },
        _ => Class::Environment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_cache_that_may_not_be_written_is_a_mistake_of_who_named_it() {
        let class = |kind: ErrorKind| TreeError::writing("/x")(io::Error::from(kind)).class();
        assert_eq!(class(ErrorKind::PermissionDenied), Class::Input);
        assert_eq!(class(ErrorKind::StorageFull), Class::Environment);
    }

    #[test]
    fn what_a_machine_lacks_is_not_the_users_mistake() {
        let missing = "flex, bc".to_owned();
        let error = TreeError::Tools { missing };
        assert_eq!(error.class(), Class::Environment);
        assert!(
            error.to_string().starts_with("flex, bc not here"),
            "{error}"
        );
        let messages = "kernel/sched/fair.c:1:1: error: x".to_owned();
        let tree = "/linux".to_owned();
        let what = "the tree does not compile".to_owned();
        let error = TreeError::Compiler {
            tree,
            what,
            messages,
        };
        assert_eq!(error.class(), Class::Input);
    }
}
