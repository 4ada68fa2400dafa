//! Calls with paths that are answered from the files of the modelled machine
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a path of the tree never reaches the host's file of that name; errors are errno
//! values as the call has them. Free: further calls with paths, each with its errno.
//!
//! Tests by part: `a_loader_sees_the_modelled_machine` (`path_of`, `path_argument`, `answer`,
//! `open`, `access` or `stat` by `test -e`, `statx`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`open`, `stat`, `written`, `bytes_of`:
//! libbpf reads the types). `is_tracepoint`, `tracepoint` and `read_link` have no test of their
//! own.
//!
//! Callers: guard/serve.rs (`path_of` for each call that comes, `answer` where the run answers
//! `Reply::Tree`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_sees_the_modelled_machine,
//! crates/cli/tests/all/interception.rs::results_do_not_depend_on_the_way

use super::memory::Caller;
use super::tree::Tree;
use super::{Answer, run_folder};
use crate::load::memory_file::memory_file;
use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{Seek as _, Write as _};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The bytes of a structure of the C library's.
fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: only structures that a system call has filled come here; they are read as bytes.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// Which argument of a call is the path; None: it has none.
fn path_argument(number: i64) -> Option<usize> {
    Some(match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open | libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => 0,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink | libc::SYS_mkdir | libc::SYS_unlink => 0,
        libc::SYS_openat
        | libc::SYS_newfstatat
        | libc::SYS_statx
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat
        | libc::SYS_mkdirat
        | libc::SYS_unlinkat => 1,
        _ => return None,
    })
}

/// The path that a call names; None: it names none.
pub(super) fn path_of(caller: &Caller<'_>) -> Option<String> {
    match caller.call.number {
        libc::SYS_bind | libc::SYS_connect => run_folder::socket_path(caller),
        number => caller.string(caller.call.args[path_argument(number)?]),
    }
}

/// The answer to a call whose path is one of the tree's.
pub(super) fn answer(caller: &Caller<'_>, tree: &Tree, process: Option<&OwnedFd>) -> Answer {
    let ours = path_of(caller).and_then(|path| Some((tree.answers(&path)?, path)));
    let Some((ours, text)) = ours else {
        return Answer::error(libc::ENOENT);
    };
    let [a, b, c, d, e, f] = caller.call.args;
    let rest = match path_argument(caller.call.number) {
        Some(0) => [b, c, d, e],
        _ => [c, d, e, f],
    };
    if is_tracepoint(&text) && caller.call.number == libc::SYS_openat {
        return tracepoint();
    }
    match caller.call.number {
        libc::SYS_bind | libc::SYS_connect => run_folder::socket(caller, &ours, process, a as u32),
        libc::SYS_openat => open(&ours, rest[0]),
        libc::SYS_newfstatat => stat(caller, &ours, rest[0]),
        libc::SYS_statx => statx(caller, &ours, rest),
        libc::SYS_faccessat | libc::SYS_faccessat2 => access(&ours, rest[0]),
        libc::SYS_readlinkat => read_link(caller, &ours, rest[0], rest[1]),
        libc::SYS_mkdirat => run_folder::make(&ours),
        libc::SYS_unlinkat => run_folder::remove(&ours),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir => run_folder::make(&ours),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink => run_folder::remove(&ours),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => open(&ours, rest[0]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_stat | libc::SYS_lstat => stat(caller, &ours, rest[0]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_access => access(&ours, rest[0]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink => read_link(caller, &ours, rest[0], rest[1]),
        _ => Answer::Host,
    }
}

/// Answers stat(2) and its kind.
fn stat(caller: &Caller<'_>, path: &Path, to: u64) -> Answer {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return Answer::error(libc::ENOENT);
    };
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the structure is as large as the call fills.
    if unsafe { libc::stat(name.as_ptr(), found.as_mut_ptr()) } < 0 {
        return Answer::failed(&std::io::Error::last_os_error());
    }
    // SAFETY: zeroed before, filled now.
    let found = unsafe { found.assume_init() };
    written(caller, to, bytes_of(&found))
}

/// The number of a tracepoint: any of them is there, none is ever hit.
fn is_tracepoint(path: &str) -> bool {
    path.contains("/tracing/events/") && path.ends_with("/id")
}

/// A file that says 1, the number of every tracepoint.
fn tracepoint() -> Answer {
    let made = memory_file(0).and_then(|file| {
        let mut file = fs::File::from(file);
        file.write_all(b"1\n")?;
        file.rewind()?;
        Ok(file)
    });
    made.map_or(Answer::error(libc::ENOMEM), |file| {
        Answer::File(file.into())
    })
}

/// EFAULT if the caller's memory cannot be written.
fn written(caller: &Caller<'_>, to: u64, bytes: &[u8]) -> Answer {
    match caller.write(to, bytes) {
        true => Answer::Value(0),
        false => Answer::error(libc::EFAULT),
    }
}

/// Reading is from the tree; what is written goes nowhere, as far as the file is there.
fn open(path: &Path, flags: u64) -> Answer {
    let flags = flags as i32;
    if flags & libc::O_ACCMODE != libc::O_RDONLY {
        let scratch = path.exists().then(|| memory_file(0));
        return match scratch {
            Some(Ok(file)) => Answer::File(file),
            _ => Answer::error(libc::ENOENT),
        };
    }
    // A loader may put anything into the tree: a pipe is not waited for.
    let careful = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let custom = flags & (libc::O_DIRECTORY | libc::O_CLOEXEC) | careful;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(custom)
        .open(path);
    match opened.and_then(|file| Ok((file.metadata()?, file))) {
        Ok((found, file)) if found.is_file() || found.is_dir() => Answer::File(file.into()),
        Ok(_) => Answer::error(libc::ENXIO),
        Err(error) => Answer::failed(&error),
    }
}

/// Any file of the tree may be used as the loader wants.
fn access(path: &Path, _mode: u64) -> Answer {
    match path.exists() {
        true => Answer::Value(0),
        false => Answer::error(libc::ENOENT),
    }
}

/// Answers readlink(2).
fn read_link(caller: &Caller<'_>, path: &Path, to: u64, room: u64) -> Answer {
    match fs::read_link(path) {
        Ok(target) => {
            let bytes = target.as_os_str().as_bytes();
            let bytes = &bytes[..bytes.len().min(room as usize)];
            match caller.write(to, bytes) {
                true => Answer::Value(bytes.len() as i64),
                false => Answer::error(libc::EFAULT),
            }
        }
        Err(error) => Answer::failed(&error),
    }
}

/// Answers statx(2) for a path below the folder of the modelled machine.
fn statx(caller: &Caller<'_>, path: &Path, rest: [u64; 4]) -> Answer {
    let [flags, mask, to, _] = rest;
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return Answer::error(libc::ENOENT);
    };
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the structure is as large as the call fills.
    let done = unsafe {
        let flags = flags as i32 & libc::AT_SYMLINK_NOFOLLOW;
        libc::statx(
            libc::AT_FDCWD,
            name.as_ptr(),
            flags,
            mask as u32,
            found.as_mut_ptr(),
        )
    };
    if done < 0 {
        return Answer::failed(&std::io::Error::last_os_error());
    }
    // SAFETY: zeroed before, filled now.
    let found = unsafe { found.assume_init() };
    written(caller, to, bytes_of(&found))
}
