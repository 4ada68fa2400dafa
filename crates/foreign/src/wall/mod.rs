//! The wall around foreign code: what a scheduler's programs run in has no rights.
//!
//! A command with a scheduler is four kinds of process, all of this program:
//!
//! ```text
//! main     waits, writes the files that the user named, says how the run ended
//! worker   holds the whole simulation, and nothing else: no files, network or processes
//! keeper   starts a guard for each loader
//! guard    starts a loader, answers its calls for the worker, ends all that it has started
//! ```
//!
//! [`run`] makes them out of one process, before it has threads. The worker goes on with the
//! command, and gives its rights up before foreign code is run ([`lock_down`]). The end of each is
//! noticed by another: the kernel ends the worker with main, and a guard whose worker is gone ends
//! its loader with all descendants. Keeper and guards are a session of their own, which no Ctrl-C
//! reaches. Orphans become children of the guard, the keeper or main, whichever lives
//! (docs/guide/schedulers.md, "How it ends").
//!
//! What must stay: rights are given up before foreign code runs, in this order; each process has
//! somebody who notices its end. Free: how processes speak to each other (wire.rs).
//!
//! Tests by part: `nothing_of_a_loader_outlives_the_run` (`guarded`, `lock_down`: the worker is
//! known by its filter), wall.rs::`results_and_traces_are_written_through_the_wall` (`is_worker`,
//! `no_more_loaders`: bare objects), wall.rs::`a_broken_run_is_an_outcome` (`run`).
//!
//! Callers: crates/cli/src/commands/schedulers.rs (`lock_down`, `no_more_loaders`),
//! crates/cli/src/interrupt.rs (`is_worker`), load/calls.rs (`guarded`).
//!
//! Tests: crates/cli/tests/all/wall.rs

mod filter;
mod keeper;
mod limits;
mod main_process;

pub use limits::Limits;
pub use main_process::{Files, Outcome, run};

use crate::guard::{on_thread, passing};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

pub use crate::wire::Wire;

/// In a worker: the way to its keeper.
static KEEPER: OnceLock<Mutex<Option<UnixStream>>> = OnceLock::new();
/// A guard answers within so long: it waits for a call, or for the end of a process, less long.
const ANSWER: Duration = Duration::from_secs(120);

/// Is this process a worker?
#[must_use]
pub fn is_worker() -> bool {
    KEEPER.get().is_some()
}

/// Gives all rights up for good, in a worker; elsewhere it does nothing.
///
/// # Errors
/// When the kernel does not take them: then nothing foreign may run.
pub fn lock_down(limits: Limits) -> io::Result<()> {
    if !is_worker() {
        return Ok(());
    }
    limits.set()?;
    filter::install()
}

/// From now on no loader can be started, in a worker. With bare objects there is nothing left then
/// through which anything could be reached.
pub fn no_more_loaders() {
    if let Some(keeper) = KEEPER.get() {
        keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A wire to a new guard.
pub(crate) fn guarded() -> io::Result<Wire> {
    let (ours, theirs) = UnixStream::pair()?;
    match KEEPER.get() {
        None => on_thread(Wire::new(theirs))?,
        Some(keeper) => {
            let keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let keeper = keeper.as_ref().ok_or(io::ErrorKind::PermissionDenied)?;
            passing::send(keeper.as_raw_fd(), theirs.as_raw_fd())?;
        }
    }
    ours.set_read_timeout(Some(ANSWER))?;
    Ok(Wire::new(ours))
}
