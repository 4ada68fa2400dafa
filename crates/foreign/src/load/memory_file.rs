//! Files in memory: what a loader has of maps and programs, and how they are told apart
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a file of ours is known by device and inode; its size cannot change. Free: how a
//! file is made.
//!
//! Tests by part: `a_process_that_shares_maps_is_refused` (`file_id`: the map is found in another
//! process), schedulers.rs::`runs_are_the_same_twice_and_interpreted` with arena.bpf.c
//! (`memory_file`, `pages_with_data`), `a_loader_runs_in_virtual_time` (`fstat`, by way of
//! `can_wait`).
//!
//! Callers: load/bpf.rs for maps and the arena, load/clocks.rs and guard/paths.rs for files that
//! are made for the loader.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! crates/cli/tests/all/wall.rs::a_process_that_shares_maps_is_refused

use crate::guard::checked;
use crate::wire::FileId;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

/// A new file in memory. One that has a size keeps it: whoever shares its pages could otherwise be
/// ended by a loader that makes it shorter.
pub(crate) fn memory_file(bytes: u64) -> io::Result<OwnedFd> {
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

/// What the kernel says of an open file. This is the one call for it that needs no path: a process
/// without rights may make no other.
pub(super) fn fstat(file: BorrowedFd<'_>) -> io::Result<libc::stat> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the structure is as large as the call fills: on machines of 64 bits it is the
    // kernel's own. It is zeroed before.
    unsafe {
        let to = found.as_mut_ptr();
        checked(libc::syscall(libc::SYS_fstat, file.as_raw_fd(), to))?;
        Ok(found.assume_init())
    }
}

/// Which file one of ours is.
pub(super) fn file_id(file: BorrowedFd<'_>) -> io::Result<FileId> {
    let found = fstat(file)?;
    Ok(FileId {
        major: libc::major(found.st_dev),
        minor: libc::minor(found.st_dev),
        inode: found.st_ino,
    })
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
