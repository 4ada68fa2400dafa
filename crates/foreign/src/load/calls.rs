//! Calls of the loader: they come in, and answers go out. What a call is answered is not said here,
//! and does not depend on the way that it takes (`notify`, `trace`).

use super::memory_file::{FileId, file_id};
use super::notify::Listener;
use super::trace::Tracer;
use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::process::ExitStatus;
use std::time::Duration;
use wakeplace_bpf_vm::budget;

/// A system call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The notification's number; 0: there is none.
    pub(super) id: u64,
    pub(super) pid: u32,
    pub(super) number: libc::c_long,
    pub(super) args: [u64; 6],
}

/// What becomes of a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// It returns this; negative: an errno.
    Value(i64),
    /// It returns a descriptor of this file.
    File(OwnedFd),
    /// The host answers it.
    Host,
}

impl Answer {
    /// An errno.
    pub(super) fn error(errno: i32) -> Self {
        Self::Value(-i64::from(errno))
    }

    /// That of a call which we have made for the caller.
    pub(super) fn of(result: io::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Value(0),
            Err(error) => Self::failed(&error),
        }
    }

    /// The errno of one that failed.
    pub(super) fn failed(error: &io::Error) -> Self {
        Self::error(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// What a system call of ours returned; negative: see errno.
pub(super) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Is it a call that is not allowed here at all?
fn refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}

/// What waiting brought.
pub(super) enum Event {
    Call(Call),
    /// All processes behind the filter have ended.
    Ended,
    /// Nothing, for so long.
    Silence,
    /// A call that its caller has given up.
    Nothing,
}

/// The way that calls take.
#[derive(Debug)]
pub(super) enum Calls {
    Notified(Listener),
    Traced(Tracer),
    /// They are made here (`own`): which files were given for them.
    Own(RefCell<Vec<FileId>>),
}

impl Calls {
    /// The next call.
    pub(super) fn wait(&self, patience: Duration) -> io::Result<Event> {
        match self {
            Self::Notified(listener) => listener.wait(patience),
            Self::Traced(tracer) => tracer.wait(patience),
            Self::Own(_) => Ok(Event::Ended),
        }
    }

    /// Sends an answer. A caller that is gone meanwhile needs none.
    pub(super) fn respond(&self, call: &Call, answer: &Answer) {
        match self {
            Self::Notified(listener) => listener.respond(call, answer),
            Self::Traced(tracer) => tracer.respond(call, answer),
            Self::Own(_) => {}
        }
    }

    /// Which file a descriptor of the caller's is.
    pub(super) fn file_id(&self, call: &Call, fd: u32) -> Option<FileId> {
        match self {
            Self::Own(given) => given.borrow().get((fd as usize).checked_sub(1)?).copied(),
            Self::Notified(_) | Self::Traced(_) => call.file_id(fd),
        }
    }

    /// Gives a caller here a file; its number.
    pub(super) fn give(&self, file: &OwnedFd) -> Option<i64> {
        let Self::Own(given) = self else {
            return None;
        };
        let mut given = given.borrow_mut();
        given.push(file_id(file.as_fd()).ok()?);
        Some(given.len() as i64)
    }

    /// A copy of a descriptor of the caller's, who waits for its answer.
    pub(super) fn descriptor(
        &self,
        process: Option<&OwnedFd>,
        call: &Call,
        fd: u32,
    ) -> Option<OwnedFd> {
        let process = process.map_or(-1, AsRawFd::as_raw_fd);
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

    /// Ends the process and all that it has started, and says how it ended; a process that has
    /// ended already keeps its exit code.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Notified(listener) => listener.end(),
            Self::Traced(tracer) => tracer.end(),
            Self::Own(_) => Err(io::Error::from_raw_os_error(libc::ECHILD)),
        }
    }
}

/// Copies between the caller's memory and ours; false: it has none there.
fn transfer(pid: u32, addr: u64, ours: *mut u8, len: usize, read: bool) -> bool {
    if len == 0 {
        return true;
    }
    let local = libc::iovec {
        iov_base: ours.cast(),
        iov_len: len,
    };
    let remote = libc::iovec {
        iov_base: addr as usize as *mut _,
        iov_len: len,
    };
    let pid = pid as libc::pid_t;
    // SAFETY: `ours` is valid for `len` bytes; the kernel checks the other side.
    let copied = unsafe {
        match read {
            true => libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0),
            false => libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0),
        }
    };
    if copied < 0 && refused(&io::Error::last_os_error()) {
        return transfer_by_file(pid, addr, ours, len, read).is_ok();
    }
    usize::try_from(copied).is_ok_and(|copied| copied == len)
}

/// The same by `/proc`, where a profile does not allow the call for it.
fn transfer_by_file(
    pid: libc::pid_t,
    addr: u64,
    ours: *mut u8,
    len: usize,
    read: bool,
) -> io::Result<()> {
    let path = format!("/proc/{pid}/mem");
    let memory = fs::OpenOptions::new().read(true).write(!read).open(path)?;
    // SAFETY: `ours` is valid for `len` bytes, which nobody else uses meanwhile.
    let ours = unsafe { std::slice::from_raw_parts_mut(ours, len) };
    match read {
        true => memory.read_exact_at(ours, addr),
        false => memory.write_all_at(ours, addr),
    }
}

/// Most bytes that one call may hand over.
const MAX_BYTES: u64 = 64 << 20;

impl Call {
    /// Bytes of the caller.
    pub(super) fn read(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        self.read_most(addr, len, MAX_BYTES)
    }

    /// The same for what is longer: a value of a map has the map's room.
    pub(super) fn read_value(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        self.read_most(addr, len, budget::BYTES)
    }

    fn read_most(&self, addr: u64, len: u64, most: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len.min(most)).ok()?];
        let whole = len <= most && transfer(self.pid, addr, bytes.as_mut_ptr(), bytes.len(), true);
        whole.then_some(bytes)
    }

    /// Writes to the caller.
    pub(super) fn write(&self, addr: u64, bytes: &[u8]) -> bool {
        let from = bytes.as_ptr().cast_mut();
        transfer(self.pid, addr, from, bytes.len(), false)
    }

    /// A C string of the caller.
    pub(super) fn string(&self, addr: u64) -> Option<String> {
        let mut text = Vec::new();
        let mut at = addr;
        while text.len() < 4096 {
            // Up to the end of a page: the next one may not be there.
            let chunk = self.read(at, 256 - at % 256)?;
            if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
                text.extend(&chunk[..end]);
                return String::from_utf8(text).ok();
            }
            at += chunk.len() as u64;
            text.extend(chunk);
        }
        None
    }

    /// The file behind a descriptor of the caller.
    fn file_id(&self, fd: u32) -> Option<FileId> {
        let path = format!("/proc/{}/fd/{fd}", self.pid);
        Some(FileId::of(&fs::metadata(path).ok()?))
    }

    /// Where the caller has mapped a file.
    pub(super) fn mapped(&self, file: FileId) -> Option<u64> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid)).ok()?;
        let line = maps
            .lines()
            .find(|line| FileId::in_maps(line) == Some(file))?;
        u64::from_str_radix(line.split('-').next()?, 16).ok()
    }
}
