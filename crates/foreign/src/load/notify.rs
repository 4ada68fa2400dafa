//! Calls by seccomp user notification: a filter in the loader hands them over.

use super::calls::{Answer, Call, Event};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// `SECCOMP_ADDFD_FLAG_SEND`.
const SEND: u32 = 2;
/// `SECCOMP_IOCTL_NOTIF_ADDFD`: `_IOW('!', 3, struct seccomp_notif_addfd)`, 24 bytes.
const ADDFD: libc::c_ulong = 0x4018_2103;
/// `SECCOMP_IOCTL_NOTIF_RECV`: `_IOWR('!', 0, struct seccomp_notif)`, 80 bytes.
const RECV: libc::c_ulong = 0xc050_2100;
/// `SECCOMP_IOCTL_NOTIF_SEND`: `_IOWR('!', 1, struct seccomp_notif_resp)`, 24 bytes.
const RESPOND: libc::c_ulong = 0xc018_2101;

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
    pub(super) fn wait(&self, patience: Duration) -> io::Result<Event> {
        wait(&self.fd, patience)
    }

    pub(super) fn respond(&self, call: &Call, answer: &Answer) {
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

/// Waits for a call.
pub(super) fn wait(listener: &OwnedFd, patience: Duration) -> io::Result<Event> {
    let mut poll = libc::pollfd {
        fd: listener.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one descriptor, which lives.
    let ready = unsafe { libc::poll(&raw mut poll, 1, patience.as_millis() as i32) };
    if ready == 0 {
        return Ok(Event::Silence);
    }
    if ready < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EINTR) => Ok(Event::Nothing),
            _ => Err(error),
        };
    }
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
    Ok(Event::Call(Call {
        id: call.id,
        pid: call.pid,
        number: call.data.nr.into(),
        args: call.data.args,
    }))
}

/// Sends an answer. A caller that is gone meanwhile needs none.
pub(super) fn respond(listener: &OwnedFd, call: &Call, answer: &Answer) {
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
