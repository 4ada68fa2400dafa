//! Why a scheduler cannot be run.

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
    #[error("{what}: {error}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

/// A filter that is refused looks like a program that is.
fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::EBUSY | libc::EINVAL | libc::ENOSYS) => {
            " (`wakeplace doctor` says whether its system calls can be answered here)"
        }
        _ => "",
    }
}

impl ForeignError {
    pub(crate) fn host(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Host { what, error }
    }
}
