//! Calls by seccomp user notification: a filter in the loader hands them over. What a call is
//! answered must not depend on the way: `trace` does the same by ptrace (docs/guide/schedulers.md,
//! "What the loader sees").
//!
//! What must stay: each call that is handed over is answered once, or its caller waits for ever.
//! Free: how the listener is waited for.
//!
//! Tests by part: `results_do_not_depend_on_the_way` (`wait`, `received`, `respond`, `new`),
//! interception.rs::`virtual_time_does_not_depend_on_the_way` (`AddFd`: descriptors),
//! wall.rs::`nothing_of_a_loader_outlives_the_run` (`end`, `waits`).
//!
//! Callers: guard/process.rs, guard/spawn.rs (`Listener::new`), guard/way.rs (the two functions
//! without a `Listener`).
//!
//! Tests: crates/cli/tests/all/interception.rs::results_do_not_depend_on_the_way

use super::process::{Beside, polled};
use super::{Answer, Event};
use crate::wire::RawCall;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// `SECCOMP_ADDFD_FLAG_SEND`.
const SEND: u32 = 2;
/// `SECCOMP_IOCTL_NOTIF_ADDFD`: `_IOW('!', 3, struct seccomp_notif_addfd)`, 24 bytes.
const ADDFD: libc::c_ulong = 0x4018_2103;
/// `SECCOMP_IOCTL_NOTIF_RECV`: `_IOWR('!', 0, struct seccomp_notif)`, 80 bytes.
const RECV: libc::c_ulong = 0xc050_2100;
/// `SECCOMP_IOCTL_NOTIF_SEND`: `_IOWR('!', 1, struct seccomp_notif_resp)`, 24 bytes.
const RESPOND: libc::c_ulong = 0xc018_2101;

/// `SECCOMP_IOCTL_NOTIF_ID_VALID`: `_IOW('!', 2, __u64)`, and as kernels before 5.17 and 5.10.94
/// have it, `_IOR`.
const ID_VALID: [libc::c_ulong; 2] = [0x4008_2102, 0x8008_2102];

/// `SECCOMP_IOCTL_NOTIF_SET_FLAGS`: `_IOW('!', 4, __u64)`.
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`: who waits for a call or an answer is woken where it is
/// made.
const SYNC_WAKE_UP: libc::c_ulong = 1;

/// `struct seccomp_notif_addfd`.
#[repr(C)]
struct AddFd {
    id: u64,
    flags: u32,
    srcfd: u32,
    newfd: u32,
    newfd_flags: u32,
}

/// The filter's other end, and the process behind it.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) fd: OwnedFd,
    pub(super) child: Child,
}

impl Listener {
    /// `fd` is the filter's other end, which the loader has sent.
    pub(super) fn new(fd: OwnedFd, child: Child) -> Self {
        // SAFETY: the flag is passed by value. Kernels before 6.6 refuse it: then the two are woken
        // on different processors, which takes longer.
        unsafe { libc::ioctl(fd.as_raw_fd(), SET_FLAGS as _, SYNC_WAKE_UP) };
        Self { fd, child }
    }

    /// The next call. What the loader prints is taken meanwhile, so that it does not wait for that.
    pub(super) fn wait(&self, patience: Duration, beside: &mut Beside<'_>) -> io::Result<Event> {
        #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
        let began = Instant::now();
        let mut writes = true;
        loop {
            let left = patience.saturating_sub(began.elapsed());
            let mut all = [
                polled(self.fd.as_raw_fd(), libc::POLLIN),
                polled(beside.run, 0),
                polled(beside.output.pipe.as_raw_fd(), libc::POLLIN),
            ];
            let count = 2 + libc::nfds_t::from(writes);
            // SAFETY: descriptors that live.
            let ready = unsafe {
                libc::poll(
                    all.as_mut_ptr(),
                    count,
                    left.as_micros().div_ceil(1000) as i32,
                )
            };
            if ready < 0 {
                let error = io::Error::last_os_error();
                return match error.raw_os_error() {
                    Some(libc::EINTR) => Ok(Event::Nothing),
                    _ => Err(error),
                };
            }
            if all[1].revents & libc::POLLHUP != 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if all[0].revents != 0 {
                return received(&self.fd, &all[0]);
            }
            if all[2].revents != 0 {
                writes = beside.output.take();
            }
            if ready == 0 {
                return Ok(Event::Silence);
            }
        }
    }

    /// Does the caller with this number still wait?
    pub(super) fn waits(&self, id: u64) -> bool {
        ID_VALID.iter().any(|request| {
            // SAFETY: the number has the size that the request says.
            unsafe { libc::ioctl(self.fd.as_raw_fd(), *request as _, &raw const id) == 0 }
        })
    }

    /// The caller goes on with this answer.
    pub(super) fn respond(&self, call: &RawCall, answer: &Answer) {
        respond(&self.fd, call, answer);
    }

    /// The group is ended first: once the leader is waited for, its number may be another's.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        // SAFETY: the group was made by `spawn`; a signal touches no memory of ours.
        unsafe {
            libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL);
        }
        self.child.wait()
    }
}

/// Waits for a call, and for nothing else.
pub(super) fn wait(listener: &OwnedFd, patience: Duration) -> io::Result<Event> {
    let mut poll = polled(listener.as_raw_fd(), libc::POLLIN);
    // SAFETY: one descriptor, which lives.
    let ready = unsafe { libc::poll(&raw mut poll, 1, patience.as_millis() as i32) };
    match ready {
        0 => Ok(Event::Silence),
        1.. => received(listener, &poll),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What poll(2) has told of: a call, or the end of the loader.
fn received(listener: &OwnedFd, poll: &libc::pollfd) -> io::Result<Event> {
    if poll.revents & libc::POLLIN == 0 {
        return Ok(Event::Ended);
    }
    // SAFETY: numbers only; the kernel wants it zeroed.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the structure has the size that the request says.
    let received = unsafe { libc::ioctl(listener.as_raw_fd(), RECV as _, &raw mut call) };
    if received < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            // Who called is gone, or was interrupted.
            Some(libc::ENOENT | libc::EINTR) => Ok(Event::Nothing),
            _ => Err(error),
        };
    }
    Ok(Event::Call(RawCall {
        id: call.id,
        pid: call.pid,
        number: call.data.nr.into(),
        args: call.data.args,
    }))
}

/// Sends an answer. A caller that is gone meanwhile needs none.
pub(super) fn respond(listener: &OwnedFd, call: &RawCall, answer: &Answer) {
    let mut response = libc::seccomp_notif_resp {
        id: call.id,
        val: 0,
        error: 0,
        flags: 0,
    };
    match answer {
        Answer::Value(value) if *value < 0 => response.error = *value as i32,
        Answer::Value(value) => response.val = *value,
        Answer::Host => response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        Answer::File(file) => {
            let add = AddFd {
                id: call.id,
                flags: SEND,
                srcfd: file.as_raw_fd() as u32,
                newfd: 0,
                newfd_flags: libc::O_CLOEXEC as u32,
            };
            // SAFETY: the structure has the size that the request says.
            let added = unsafe { libc::ioctl(listener.as_raw_fd(), ADDFD as _, &raw const add) };
            if added >= 0 {
                return;
            }
            response.error = -libc::ENOMEM;
        }
    }
    // SAFETY: as above.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), RESPOND as _, &raw mut response);
    }
}
