//! What can go wrong, and whose fault it is (docs/guide/lab.md).
//!
//! What must stay: classes become exit codes: 2 what was asked for, 3 what the machine lacks. Free:
//! words, and further errors, each with its class.
//!
//! Tests by part: `all_kernels_that_were_tried_are_named` (`List`, `fmt`, `class`),
//! `a_version_that_no_archive_has_is_a_mistake_of_who_named_it` (`class`). What `reading`,
//! `writing`, `file`, `damaged`, `write` and `program` make is seen in the tests of who calls them.
//!
//! Callers: all of the crate; crates/cli/src/failure.rs makes exit codes of `class`.
//!
//! Tests: below

use std::fmt;
use std::path::PathBuf;
use wakeplace_archive::ArchiveError;

/// Whose fault an error is; the command line makes the exit code of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// What was asked for makes no sense or is not possible.
    Input,
    /// This machine or the archive lacks something.
    Environment,
    /// The guest did not do what it should have done.
    Guest,
}

/// A kernel that was looked at and not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The version, as `7.3.4`.
    pub version: String,
    /// Why it was not taken.
    pub why: String,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The request cannot be carried out as it stands.
    #[error("{0}")]
    Request(String),
    /// The platform cannot be modelled in a guest.
    #[error("platform {platform}: {why}")]
    Platform {
        /// Its name.
        platform: String,
        /// The reason, with what was expected.
        why: String,
    },
    /// Something cannot be fetched, kept, read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The archive has no kernel of a version.
    #[error("{missing}; expected a whole version, as {}", crate::kernels::WANTED.join(", "))]
    NoVersion {
        /// What was looked for.
        missing: Box<ArchiveError>,
    },
    /// None of the kernels can be used.
    #[error("no usable kernel for {arch}: {}", List(.tried))]
    NoKernel {
        /// The guest's architecture.
        arch: String,
        /// All that were looked at.
        tried: Vec<Tried>,
    },
    /// A program of this project that runs in the guest is not built.
    #[error(
        "`{name}` for {arch} is not there; looked for in {searched}; run `make lab` in the source \
         tree, or name its folder in WAKEPLACE_LAB_BIN"
    )]
    NotBuilt {
        /// The program.
        name: String,
        /// The guest's architecture.
        arch: String,
        /// Places.
        searched: String,
    },
    /// The guest did not end in time.
    #[error(
        "the guest was still running after {seconds} s and was ended; its console ended with:\n\
         {console}"
    )]
    Timeout {
        /// How long it was given.
        seconds: u64,
        /// The last lines of its console.
        console: String,
    },
    /// The kernel of a guest lacks an option of its configuration, as its console said.
    #[error("kernel {kernel}: a guest needs {option}; its console ended with:\n{console}")]
    Kernel {
        /// Its file or package.
        kernel: String,
        /// As `CONFIG_DEVTMPFS`.
        option: String,
        /// The last lines of the console.
        console: String,
    },
    /// The guest ended and brought nothing back.
    #[error("the guest ended without a result: {why}; its console ended with:\n{console}")]
    NoResult {
        /// What is missing.
        why: String,
        /// The last lines of its console.
        console: String,
    },
    /// The guest did not run under the scheduler that was asked for.
    #[error("asked for scheduler {asked}, but {why}: this run has no result{details}")]
    OtherScheduler {
        /// As asked.
        asked: String,
        /// What happened.
        why: String,
        /// The end of what the scheduler and the kernel said, on lines of its own.
        details: String,
    },
}

impl LabError {
    /// Whose fault it is: exit codes follow (crates/cli/src/failure.rs).
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Request(_)
            | Self::Platform { .. }
            | Self::Kernel { .. }
            | Self::NoVersion { .. }
            | Self::Archive(ArchiveError::Place(_)) => Class::Input,
            Self::Archive(_) | Self::NoKernel { .. } | Self::NotBuilt { .. } => Class::Environment,
            Self::Timeout { .. } | Self::NoResult { .. } | Self::OtherScheduler { .. } => {
                Class::Guest
            }
        }
    }

    /// For `map_err`, with the path.
    pub(crate) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        Self::file(path, "read")
    }

    /// For `map_err`, with the path.
    pub(crate) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        Self::file(path, "written")
    }

    /// For `map_err`: what could not be done with the path.
    pub(crate) fn file(
        path: impl Into<PathBuf>,
        what: &'static str,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let wrap = ArchiveError::file(path, what);
        move |source| wrap(source).into()
    }

    /// Something fetched is not what it should be.
    pub(crate) fn damaged(what: impl Into<String>, why: impl Into<String>) -> Self {
        ArchiveError::damaged(what, why).into()
    }

    /// A file or folder of this machine cannot be written as a whole.
    pub(crate) fn write(error: wakeplace_files::WriteError) -> Self {
        ArchiveError::Write(error).into()
    }

    /// A program of this machine is missing or failed.
    pub(crate) fn program(program: impl Into<String>, why: impl Into<String>) -> Self {
        let (program, why) = (program.into(), why.into());
        ArchiveError::Program { program, why }.into()
    }
}

/// A list of kernels in a sentence.
struct List<'a>(&'a [Tried]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, tried) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", tried.version, tried.why)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_that_were_tried_are_named() {
        let tried = |version: &str, why: &str| Tried {
            version: version.to_owned(),
            why: why.to_owned(),
        };
        let error = LabError::NoKernel {
            arch: "x86_64".to_owned(),
            tried: vec![tried("7.3.4", "no such package"), tried("7.0.13", "no BTF")],
        };
        assert_eq!(
            error.to_string(),
            "no usable kernel for x86_64: 7.3.4: no such package; 7.0.13: no BTF"
        );
        assert_eq!(error.class(), Class::Environment);
    }

    #[test]
    fn a_version_that_no_archive_has_is_a_mistake_of_who_named_it() {
        let missing = Box::new(ArchiveError::NoPackage {
            wanted: "linux-image 1.2.3".to_owned(),
            arch: "amd64".to_owned(),
            mirror: "M".to_owned(),
            suites: "S".to_owned(),
        });
        let error = LabError::NoVersion { missing };
        assert_eq!(error.class(), Class::Input);
        assert!(error.to_string().contains("as 7."), "{error}");
    }
}
