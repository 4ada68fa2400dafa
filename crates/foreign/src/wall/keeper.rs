//! The keeper: it has one thread and nothing of the run, so that a guard can be made of it at any
//! time (docs/guide/schedulers.md, "How it ends").
//!
//! What must stay: one thread, no state of the run; a guard is made by fork, which a second thread
//! would make unsafe. Free: how requests are read.
//!
//! Tests by part: `nothing_of_a_loader_outlives_the_run` (`keep`, `readable`, `start`),
//! `a_guard_that_is_killed_ends_the_run` (`reap`, `end_children_but`).
//!
//! Callers: wall/main_process.rs.
//!
//! Tests: crates/cli/tests/all/wall.rs::a_guard_that_is_killed_ends_the_run,
//! crates/cli/tests/all/wall.rs::nothing_of_a_loader_outlives_the_run

use crate::guard::{Guard, Kin, Rights, adopt_orphans, passing, polled};
use crate::wire::Wire;
use std::collections::BTreeSet;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// So often it looks after guards that have ended, ms.
const LOOK_MS: libc::c_int = 100;

/// ... once no worker is left.
const NAP: Duration = Duration::from_millis(2);

/// Starts a guard for each socket that comes, until there is no worker and no guard any more;
/// `most` of them live at once.
pub(super) fn keep(worker: UnixStream, rights: &Rights, most: usize) {
    // Where it is refused, orphans are main's.
    let _ = adopt_orphans();
    // Signals for the command's group, as Ctrl-C is one, are not for those who clean up after it.
    // SAFETY: a plain system call.
    unsafe { libc::setsid() };
    let mut guards = BTreeSet::new();
    let mut worker = Some(worker);
    while worker.is_some() || !guards.is_empty() {
        if let Some(socket) = worker.take() {
            worker = match readable(&socket) {
                false => Some(socket),
                true => start(&socket, rights, most, &mut guards).then_some(socket),
            };
        } else {
            std::thread::sleep(NAP);
        }
        if reap(&mut guards) {
            // What a guard that was ended has left.
            end_children_but(&guards);
        }
    }
    Kin::of(std::process::id()).end();
}

/// Waits up to `LOOK_MS` for a message.
fn readable(socket: &UnixStream) -> bool {
    let mut poll = polled(socket.as_raw_fd(), libc::POLLIN);
    // SAFETY: one descriptor, which lives.
    unsafe { libc::poll(&raw mut poll, 1, LOOK_MS) > 0 }
}

/// False: the worker is gone.
fn start(socket: &UnixStream, rights: &Rights, most: usize, guards: &mut BTreeSet<u32>) -> bool {
    let Ok(theirs) = passing::receive(socket.as_fd()) else {
        return false;
    };
    if guards.len() >= most {
        // The worker finds its wire closed.
        return true;
    }
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        0 => {
            // It hears of its worker's end by its own socket.
            // SAFETY: nothing here uses the descriptor any more.
            unsafe { libc::close(socket.as_raw_fd()) };
            let _ = adopt_orphans();
            let wire = Wire::new(UnixStream::from(theirs));
            Guard::new(wire, rights.clone(), true).serve();
            // SAFETY: it ends this process, without what the others have in their buffers.
            unsafe { libc::_exit(0) }
        }
        // The worker finds its wire closed.
        ..0 => true,
        guard => guards.insert(guard.cast_unsigned()),
    }
}

/// Has a guard ended by something else than its own end?
fn reap(guards: &mut BTreeSet<u32>) -> bool {
    let mut bad = false;
    loop {
        let mut status = 0;
        // SAFETY: the status is a number of ours.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if pid <= 0 {
            return bad;
        }
        bad |= guards.remove(&pid.cast_unsigned()) && status != 0;
    }
}

/// Ends all children of this process but these, with all that descends from them.
pub(super) fn end_children_but(these: &BTreeSet<u32>) {
    let own = std::process::id();
    let mut others = Kin::children(own);
    others.retain(|pid| !these.contains(pid));
    for pid in others {
        Kin::of(pid).end();
        Kin::of(own).end_one(pid);
    }
}
