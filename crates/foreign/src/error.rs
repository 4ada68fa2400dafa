//! Why a scheduler cannot be run (docs/guide/schedulers.md).
//!
//! What must stay: one message per reason, for the user, exit 2. Words are free but for those that
//! tests quote. Free: words, and further reasons.
//!
//! Tests by part: `the_limit_of_descriptors_is_named` (`host`, `said`, `hint`),
//! crates/cli/tests/all/schedulers.rs::`what_is_no_scheduler_is_refused` (the messages of what
//! cannot be loaded).
//!
//! Callers: load/ and guard/ (`host`, `said`); crates/cli shows the text.
//!
//! Tests: below

use std::io;

/// What is wrong with a scheduler, or with this machine.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The loader cannot be started.
    #[error("scheduler `{program}` cannot be started: {error}{}", hint(error))]
    Start {
        /// Its path.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// It ended before it had loaded a scheduler.
    #[error("scheduler `{program}` {how} before it attached a scheduler{said}")]
    Ended {
        /// Its path.
        program: String,
        /// Its exit code or signal.
        how: String,
        /// What it was refused, and its last words.
        said: String,
    },
    /// It does not get on.
    #[error("scheduler `{program}` attached no scheduler: {why}{said}")]
    Hangs {
        /// Its path.
        program: String,
        /// What it does instead.
        why: String,
        /// What it was refused, and its last words.
        said: String,
    },
    /// What it has attached cannot be run.
    #[error("scheduler `{program}`: {why}")]
    Refused {
        /// Its path.
        program: String,
        /// Why.
        why: String,
    },
    /// The kernel's type information.
    #[error("type information of {kernel}: {why}")]
    Kernel {
        /// Which kernel's.
        kernel: String,
        /// Why it cannot be used.
        why: String,
    },
    /// Something on this machine.
    #[error("{what}: {}", said(error))]
    Host {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

/// What an error of this process's own means that says "too many open files".
const DESCRIPTORS: &str = " (the limit of open descriptors, `ulimit -Hn`)";

/// An error of the host's in words.
pub(crate) fn said(error: &io::Error) -> String {
    let limit = match error.raw_os_error() {
        Some(libc::EMFILE) => DESCRIPTORS,
        _ => "",
    };
    format!("{error}{limit}")
}

/// A filter that is refused looks like a program that is.
fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => DESCRIPTORS,
        Some(libc::EPERM | libc::EACCES | libc::EBUSY | libc::EINVAL | libc::ENOSYS) => {
            " (`wakeplace doctor` says whether its system calls can be answered here)"
        }
        _ => "",
    }
}

impl ForeignError {
    /// For `map_err`: what was tried when the host's error came.
    pub(crate) fn host(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Host { what, error }
    }
}

#[cfg(test)]
mod tests {
    use super::ForeignError;
    use std::io;

    /// Goal: who has too few descriptors reads so, not that memory is full.
    #[test]
    fn the_limit_of_descriptors_is_named() {
        let full = || io::Error::from_raw_os_error(libc::EMFILE);
        let host = ForeignError::host("a temporary file")(full());
        let start = ForeignError::Start {
            program: "loader".to_owned(),
            error: full(),
        };
        for error in [host, start] {
            let text = error.to_string();
            assert!(text.contains("`ulimit -Hn`"), "{text}");
        }
    }
}
