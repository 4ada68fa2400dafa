//! The memory of a caller, who waits for the answer to a call.
//!
//! A caller may be ended at any time, and its number may then be another process's. So its memory
//! is opened first, then it is asked whether the caller still waits: if it does, what was opened is
//! its memory and nobody else's (docs/guide/schedulers.md, "What the loader sees"). What is read of
//! a caller counts only if the caller still waits.
//!
//! What must stay: memory is opened before the caller is asked whether it waits. None and false
//! mean: the caller is gone, or the address is none of its. Free: how bytes are transferred.
//!
//! Tests by part: `a_line_of_maps_names_a_file` (`in_maps`),
//! schedulers.rs::`a_loader_runs_in_virtual_time` (`with`, `read`, `read_at_once`, `write`),
//! schedulers.rs::`a_loader_sees_the_modelled_machine` (`string`: paths),
//! wall.rs::`a_process_that_shares_maps_is_refused` (`file_id`, `lines_of_maps`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` with arena.bpf.c (`mapped`),
//! interception.rs::`results_do_not_depend_on_the_way` (`memory_of`, where process_vm_readv(2) is
//! refused).
//!
//! Callers: guard/serve.rs (all that a run asks for), guard/paths.rs, guard/kin.rs and
//! guard/vdso.rs (`lines_of_maps`).
//!
//! Tests: below, crates/cli/tests/all/wall.rs

use super::process::Calls;
use crate::wire::{FileId, MAX_BYTES, RawCall};
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// Most bytes of `/proc/PID/maps` that are looked at.
const MAX_MAPS_BYTES: u64 = 16 << 20;
/// So many bytes are read without opening a caller's memory.
const AT_ONCE: u64 = 256;
/// The longest path, bytes.
const MAX_PATH_BYTES: usize = 4096;

/// The memory that was opened last, by the caller's call.
#[derive(Debug, Default)]
pub(super) struct Opened(RefCell<Option<((u64, u32), File)>>);

/// Who made a call, and waits.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) call: RawCall,
    pub(super) calls: &'a Calls,
    pub(super) opened: &'a Opened,
}

impl Caller<'_> {
    /// Runs something with the caller's memory.
    fn with<T>(&self, act: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let who = (self.call.id, self.call.pid);
        let mut opened = self.opened.0.borrow_mut();
        // Without a number (ptrace) a caller stands still, but may be another program by its next
        // call.
        let known = opened
            .as_ref()
            .is_some_and(|(of, _)| *of == who && who.0 != 0);
        if !known {
            *opened = Some((who, memory_of(who.1)?));
        }
        if !self.calls.waits(&self.call) {
            *opened = None;
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        match opened.as_ref() {
            Some((_, file)) => act(file),
            None => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    /// Bytes of the caller; None: they are not there, or the caller is gone.
    pub(super) fn read(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        if len > MAX_BYTES {
            return None;
        }
        let mut bytes = vec![0; len as usize];
        if len <= AT_ONCE && self.read_at_once(addr, &mut bytes) {
            return Some(bytes);
        }
        self.with(|memory| memory.read_exact_at(&mut bytes, addr))
            .ok()?;
        Some(bytes)
    }

    /// A few bytes, without opening anything. The caller still waits after that, so they are its.
    fn read_at_once(&self, addr: u64, bytes: &mut [u8]) -> bool {
        let [local, remote] = [
            bytes.as_mut_ptr().cast(),
            addr as usize as *mut libc::c_void,
        ];
        let [local, remote] = [local, remote].map(|iov_base| libc::iovec {
            iov_base,
            iov_len: bytes.len(),
        });
        let pid = self.call.pid.cast_signed();
        // SAFETY: `local` is as long as it says; the kernel checks the other side.
        let read =
            unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
        usize::try_from(read).is_ok_and(|read| read == bytes.len()) && self.calls.waits(&self.call)
    }

    /// Writes to the caller.
    pub(super) fn write(&self, addr: u64, bytes: &[u8]) -> bool {
        self.with(|memory| memory.write_all_at(bytes, addr)).is_ok()
    }

    /// A C string of the caller. None: it is not there, or the caller is gone.
    pub(super) fn string(&self, addr: u64) -> Option<String> {
        let mut text = Vec::new();
        let mut at = addr;
        while text.len() < MAX_PATH_BYTES {
            // Up to the end of a page: the next one may not be there.
            let chunk = self.read(at, 256 - at % 256)?;
            if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
                text.extend(&chunk[..end]);
                return String::from_utf8(text).ok();
            }
            at = at.checked_add(chunk.len() as u64)?;
            text.extend(chunk);
        }
        None
    }

    /// The file behind a descriptor of the caller. None: there is none, or the caller is gone.
    pub(super) fn file_id(&self, fd: u32) -> Option<FileId> {
        let path = format!("/proc/{}/fd/{fd}", self.call.pid);
        let id = FileId::of(&fs::metadata(path).ok()?);
        self.calls.waits(&self.call).then_some(id)
    }

    /// Gives the address where the caller has mapped a file. None: it has not.
    pub(super) fn mapped(&self, file: FileId) -> Option<u64> {
        let start = lines_of_maps(self.call.pid)?.find_map(|line| {
            let found = FileId::in_maps(&line) == Some(file);
            found.then(|| u64::from_str_radix(line.split('-').next()?, 16).ok())?
        });
        start.filter(|_| self.calls.waits(&self.call))
    }
}

/// The memory of a process, to be read and written.
pub(super) fn memory_of(pid: u32) -> io::Result<File> {
    let path = format!("/proc/{pid}/mem");
    OpenOptions::new().read(true).write(true).open(path)
}

/// The mappings of a process, as far as they are looked at. None: the caller is gone.
pub(super) fn lines_of_maps(pid: u32) -> Option<impl Iterator<Item = String>> {
    use std::io::Read as _;
    let maps = File::open(format!("/proc/{pid}/maps")).ok()?;
    let lines = BufReader::new(maps.take(MAX_MAPS_BYTES)).split(b'\n');
    Some(lines.map_while(|line| Some(String::from_utf8_lossy(&line.ok()?).into_owned())))
}

impl FileId {
    /// As `/proc/PID/maps` names a file: device and inode.
    pub(crate) fn of(file: &fs::Metadata) -> Self {
        Self {
            major: libc::major(file.dev()),
            minor: libc::minor(file.dev()),
            inode: file.ino(),
        }
    }

    /// Of a line of `/proc/PID/maps`: range, rights, offset, device (two hexadecimal numbers),
    /// inode.
    pub(super) fn in_maps(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(3);
        let (major, minor) = words.next()?.split_once(':')?;
        Some(Self {
            major: u32::from_str_radix(major, 16).ok()?,
            minor: u32::from_str_radix(minor, 16).ok()?,
            inode: words.next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::FileId;

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
