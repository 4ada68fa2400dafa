//! The way that a loader's calls take (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: both ways offer the same methods; callers do not ask which it is. Free: further
//! methods, for both ways.
//!
//! Tests by part: `results_do_not_depend_on_the_way` (`wait`, `waits`, `respond`),
//! interception.rs::`virtual_time_does_not_depend_on_the_way` (`descriptor`),
//! interception.rs::`what_goes_wrong_is_named_by_ptrace_too` (`end`),
//! wall.rs::`nothing_of_a_loader_outlives_the_run` (`look`, `polled`).
//!
//! Callers: guard/serve.rs; `Beside` is looked at by guard/notify.rs and guard/trace.rs while they
//! wait.
//!
//! Tests: crates/cli/tests/all/interception.rs::results_do_not_depend_on_the_way

use super::notify::Listener;
use super::output::Output;
use super::trace::Tracer;
use super::{Answer, Event, checked, refused};
use crate::wire::RawCall;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::process::ExitStatus;
use std::time::Duration;

/// The way that calls take.
#[derive(Debug)]
pub(super) enum Calls {
    Notified(Listener),
    Traced(Tracer),
}

/// What is looked after while a call is waited for.
pub(super) struct Beside<'a> {
    pub(super) output: &'a mut Output,
    /// The run's end: if it is closed nobody waits for the call.
    pub(super) run: RawFd,
}

impl Beside<'_> {
    /// Is the run still there? What the loader has printed is taken.
    pub(super) fn look(&mut self) -> io::Result<()> {
        self.output.take();
        let mut poll = polled(self.run, 0);
        // SAFETY: one descriptor, which lives.
        unsafe { libc::poll(&raw mut poll, 1, 0) };
        match poll.revents & libc::POLLHUP {
            0 => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// What poll(2) is asked of a descriptor.
pub(crate) fn polled(fd: RawFd, events: libc::c_short) -> libc::pollfd {
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

impl Calls {
    /// Waits for the next call of the loader.
    pub(super) fn wait(&self, patience: Duration, beside: &mut Beside<'_>) -> io::Result<Event> {
        match self {
            Self::Notified(listener) => listener.wait(patience, beside),
            Self::Traced(tracer) => tracer.wait(patience, beside),
        }
    }

    /// Does its caller still wait for an answer? (One that is traced stands still.)
    pub(super) fn waits(&self, call: &RawCall) -> bool {
        match self {
            Self::Notified(listener) => listener.waits(call.id),
            Self::Traced(_) => true,
        }
    }

    /// Sends an answer. A caller that is gone meanwhile needs none.
    pub(super) fn respond(&self, call: &RawCall, answer: &Answer) {
        match self {
            Self::Notified(listener) => listener.respond(call, answer),
            Self::Traced(tracer) => tracer.respond(call, answer),
        }
    }

    /// A copy of a descriptor of the caller's, who waits for its answer. None: it has none of this
    /// number.
    pub(super) fn descriptor(
        &self,
        process: Option<&OwnedFd>,
        call: &RawCall,
        fd: u32,
    ) -> Option<OwnedFd> {
        let process = process.map_or(-1, |process| process.as_raw_fd());
        // SAFETY: a new descriptor, which nobody else has.
        let copy = unsafe {
            let copy = checked(libc::syscall(libc::SYS_pidfd_getfd, process, fd, 0));
            copy.map(|copy| OwnedFd::from_raw_fd(copy as i32))
        };
        match (copy, self) {
            (Ok(copy), _) => Some(copy),
            // Containers refuse that.
            (Err(error), Self::Traced(tracer)) if refused(&error) => tracer.take(call, fd),
            (Err(_), _) => None,
        }
    }

    /// Ends the process and its group, and says how it ended; a process that has ended already
    /// keeps its exit code.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Notified(listener) => listener.end(),
            Self::Traced(tracer) => tracer.end(),
        }
    }
}
