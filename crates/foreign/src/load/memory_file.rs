//! Files in memory: what a loader has of maps and programs, and how they are told apart.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

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
    pub(super) fn of(file: &fs::Metadata) -> Self {
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
