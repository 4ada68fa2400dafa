//! The filter's other end: calls come in, answers go out; and the memory of who called.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

/// A system call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    id: u64,
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
    usize::try_from(copied).is_ok_and(|copied| copied == len)
}

/// Most bytes that one call may hand over.
const MAX_BYTES: u64 = 64 << 20;

impl Call {
    /// Bytes of the caller.
    pub(super) fn read(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len.min(MAX_BYTES)).ok()?];
        let whole =
            len <= MAX_BYTES && transfer(self.pid, addr, bytes.as_mut_ptr(), bytes.len(), true);
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
    pub(super) fn file_id(&self, fd: u32) -> Option<FileId> {
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

/// A new file in memory. One that has a size keeps it: whoever shares its pages could otherwise be
/// ended by a loader that makes it shorter.
pub(super) fn memory_file(bytes: u64) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd as _;
    let name = c"bpf";
    // SAFETY: a new descriptor, which nobody else has.
    let file = unsafe {
        let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    if bytes == 0 {
        return Ok(file);
    }
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: plain system calls on our descriptor.
    let sized = unsafe {
        libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) == 0
            && libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) == 0
    };
    if !sized {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

/// Which file it is: an inode's number alone is that of one file on each file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId {
    major: u32,
    minor: u32,
    inode: u64,
}

impl FileId {
    fn of(file: &fs::Metadata) -> Self {
        Self {
            major: libc::major(file.dev()),
            minor: libc::minor(file.dev()),
            inode: file.ino(),
        }
    }

    /// Of a line of `/proc/PID/maps`: range, rights, offset, device (two hexadecimal numbers),
    /// inode.
    fn in_maps(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(3);
        let (major, minor) = words.next()?.split_once(':')?;
        Some(Self {
            major: u32::from_str_radix(major, 16).ok()?,
            minor: u32::from_str_radix(minor, 16).ok()?,
            inode: words.next()?.parse().ok()?,
        })
    }
}

/// Which file one of ours is.
pub(super) fn file_id(file: BorrowedFd<'_>) -> io::Result<FileId> {
    let file = fs::File::from(file.try_clone_to_owned()?);
    Ok(FileId::of(&file.metadata()?))
}

/// Pages of a file that hold data.
pub(super) fn pages_with_data(file: BorrowedFd<'_>, page: u64) -> Vec<u64> {
    let mut pages = Vec::new();
    let mut at: libc::off_t = 0;
    loop {
        // SAFETY: plain system calls on our descriptor.
        let (from, to) = unsafe {
            let from = libc::lseek(file.as_raw_fd(), at, libc::SEEK_DATA);
            if from < 0 {
                return pages;
            }
            (from, libc::lseek(file.as_raw_fd(), from, libc::SEEK_HOLE))
        };
        if to <= from {
            return pages;
        }
        pages.extend(from as u64 / page..(to as u64).div_ceil(page));
        at = to;
    }
}

#[cfg(test)]
mod tests {
    use super::FileId;

    #[test]
    fn a_line_of_maps_names_a_file() {
        let line = "7f00-7f01 rw-s 00000000 fd:1a 77 /memfd:bpf (deleted)";
        let file = FileId {
            major: 0xfd,
            minor: 0x1a,
            inode: 77,
        };
        assert_eq!(FileId::in_maps(line), Some(file));
        assert_eq!(FileId::in_maps("7f00-7f01 rw-s"), None);
    }
}
