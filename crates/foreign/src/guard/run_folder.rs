//! `/run/scx`: where loaders offer their statistics. It is a folder of ours: two loaders do not
//! meet there, no right to write on the host is needed, and nothing is left behind
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: nothing of the host below `/run` is written; sockets' paths fit a socket's
//! address. Free: where the folder is and how it is called.
//!
//! Tests by part: none of its own for `make`, `remove`, `socket_path` and `socket`: no loader of
//! the tests offers statistics. A fault shows with a loader of scx (docs/guide/schedulers.md,
//! "Which schedulers"). What the tests below see is that the folder goes and that another's pipe is
//! no harm.
//!
//! Callers: guard/paths.rs, for paths below /run/scx and sockets' addresses.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/wall.rs::a_pipe_among_temporary_files_is_not_waited_for

use super::memory::Caller;
use super::{Answer, checked};
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// `mkdir`. The folders above it are there, too.
pub(super) fn make(path: &Path) -> Answer {
    match path.exists() {
        true => Answer::error(libc::EEXIST),
        false => Answer::of(fs::create_dir_all(path)),
    }
}

/// Removes a file of the folder, as `unlink` does.
pub(super) fn remove(path: &Path) -> Answer {
    Answer::of(fs::remove_file(path))
}

/// The path of the address that `bind` or `connect` is given; None: it is no path.
pub(super) fn socket_path(caller: &Caller<'_>) -> Option<String> {
    let [_, at, bytes, ..] = caller.call.args;
    let address = caller.read(at, bytes.min(110))?;
    let is_unix = address.get(..2) == Some(&(libc::AF_UNIX as u16).to_ne_bytes()[..]);
    let path = address.get(2..).unwrap_or_default();
    let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
    is_unix.then(|| String::from_utf8_lossy(path).into_owned())
}

/// `bind` and `connect` with a path that is answered from the tree: done with a copy of the
/// descriptor.
pub(super) fn socket(
    caller: &Caller<'_>,
    ours: &Path,
    process: Option<&OwnedFd>,
    fd: u32,
) -> Answer {
    let Some(socket) = caller.calls.descriptor(process, &caller.call, fd) else {
        return Answer::Host;
    };
    let mut address = libc::sockaddr_un {
        sun_family: libc::AF_UNIX as libc::sa_family_t,
        sun_path: [0; 108],
    };
    let path = ours.as_os_str().as_bytes();
    if path.len() >= address.sun_path.len() {
        return Answer::error(libc::ENAMETOOLONG);
    }
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    let bytes = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    let address = (&raw const address).cast();
    // SAFETY: our descriptor, and an address of the length that is said. A server that takes nobody
    // in is not waited for.
    let result = unsafe {
        let flags = libc::fcntl(socket.as_raw_fd(), libc::F_GETFL);
        libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK);
        let result = match caller.call.number {
            libc::SYS_bind => libc::bind(socket.as_raw_fd(), address, bytes),
            _ => libc::connect(socket.as_raw_fd(), address, bytes),
        };
        let result = checked(result.into()).map(drop);
        libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, flags);
        result
    };
    Answer::of(result)
}
