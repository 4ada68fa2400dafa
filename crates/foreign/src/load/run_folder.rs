//! `/run/scx`: where loaders offer their statistics. It is a folder of ours: two loaders do not
//! meet there, no right to write on the host is needed, and nothing is left behind.

use super::calls::{Answer, Call, checked};
use super::serve::Session;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// `mkdir`. The folders above it are there, too.
pub(super) fn make(path: &Path) -> Answer {
    match path.exists() {
        true => Answer::error(libc::EEXIST),
        false => Answer::of(fs::create_dir_all(path)),
    }
}

/// `unlink`.
pub(super) fn remove(path: &Path) -> Answer {
    Answer::of(fs::remove_file(path))
}

impl Session<'_> {
    /// `bind` and `connect` with a path that is answered from the tree: done with a copy of the
    /// descriptor.
    pub(super) fn socket_path(&self, call: &Call) -> Answer {
        let [fd, at, bytes, ..] = call.args;
        let Some(address) = call.read(at, bytes.min(110)) else {
            return Answer::Host;
        };
        let is_unix = address.get(..2) == Some(&(libc::AF_UNIX as u16).to_ne_bytes()[..]);
        let path = address.get(2..).unwrap_or_default();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(path);
        let ours = self.known.tree.answers(&text).filter(|_| is_unix);
        let (Some(ours), Some(socket)) = (ours, self.descriptor(call, fd as u32)) else {
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
        // SAFETY: our descriptor, and an address of the length that is said.
        let result = unsafe {
            match call.number {
                libc::SYS_bind => libc::bind(socket.as_raw_fd(), address, bytes),
                _ => libc::connect(socket.as_raw_fd(), address, bytes),
            }
        };
        Answer::of(checked(result.into()).map(drop))
    }
}
