//! The guard of a loader: it starts it, hands its calls to the run and the answers back, looks into
//! its memory for the run, and ends it with all that it has started.
//!
//! A run asks by messages ([`crate::wire`]) and needs no right of its own to any of it. Beside a
//! walled run the guard is a process ([`crate::wall`]); else it is a thread
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: the answer to a call does not depend on the way (`notify`, `trace`):
//! `results_do_not_depend_on_the_way`. `nothing_of_a_loader_outlives_the_run` (wall.rs) tries the
//! end. Free: how the guard's parts are divided into files.
//!
//! Tests by part: wall.rs, interception.rs (all that is in its files); of what is here:
//! schedulers.rs::`a_loader_sees_the_modelled_machine` (`failed`: a file that is not there),
//! interception.rs::`virtual_time_does_not_depend_on_the_way` (`refused`: pidfd_getfd(2) in a
//! container), wall.rs::`nothing_of_a_loader_outlives_the_run` (`pidfd`). Every start runs
//! `checked`.
//!
//! Tests: crates/cli/tests/all/interception.rs, crates/cli/tests/all/wall.rs

mod kin;
mod memory;
mod notify;
mod output;
pub(crate) mod passing;
mod paths;
mod process;
mod registers;
mod run_folder;
mod serve;
mod spawn;
mod trace;
pub(crate) mod trapped;
mod tree;
mod vdso;
mod way;

pub(crate) use kin::{Kin, adopt_orphans};
pub(crate) use process::polled;
pub(crate) use serve::{Guard, Rights, on_thread};
pub(crate) use spawn::allow_descriptors;
pub(crate) use way::chosen;
pub use way::{Interception, Way};

use crate::wire::RawCall;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// What a call returns.
#[derive(Debug)]
enum Answer {
    /// This; negative: an errno.
    Value(i64),
    /// A descriptor of this file.
    File(OwnedFd),
    /// What the host says.
    Host,
}

impl Answer {
    /// Makes an errno the answer to a call.
    fn error(errno: i32) -> Self {
        Self::Value(-i64::from(errno))
    }

    /// That of a call which we have made for the caller.
    fn of(result: io::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Value(0),
            Err(error) => Self::failed(&error),
        }
    }

    /// The errno of one that failed.
    fn failed(error: &io::Error) -> Self {
        Self::error(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// What a system call of ours returned; negative: see errno.
pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// A process, whatever becomes of its number.
pub(crate) fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else has.
    unsafe {
        let fd = checked(libc::syscall(libc::SYS_pidfd_open, pid, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

/// Is it a call that is not allowed here at all?
fn refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}

/// What waiting for a call brought.
#[derive(Debug)]
enum Event {
    Call(RawCall),
    /// All processes behind the filter have ended.
    Ended,
    /// Nothing, for so long.
    Silence,
    /// A call that its caller has given up.
    Nothing,
}
