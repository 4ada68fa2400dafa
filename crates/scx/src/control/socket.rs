// SPDX-License-Identifier: GPL-2.0-only
//! A Unix socket that only the right people reach: how it comes into being, who is at its other
//! end, and whether one that is there may be trusted (docs/guide/live.md, "Steer").
//!
//! What must stay: nobody else can put a socket in its place or reach it without the right. Who may
//! speak is checked by the kernel's word (SO_PEERCRED). Free: words of refusals. Tests beside it:
//! crates/scx/src/control/socket/tests.rs.
//!
//! Tests by part (crates/scx/src/control/socket/tests.rs):
//! `it_has_its_permissions_and_leaves_nothing_else` (`bind`, `create`, `make`, `drop`),
//! `a_dead_servers_socket_is_replaced` (`vacant`), `a_live_server_keeps_its_socket` (`lock`),
//! `a_successors_socket_outlives_its_predecessor` (`replace`, `drop`),
//! `a_file_that_is_no_socket_stays` (`vacant`),
//! `a_folder_where_others_may_write_is_refused_by_both_sides` (`check_folder`, `folder_of`,
//! `connect`), `a_socket_or_folder_of_somebody_else_is_not_spoken_to` (`connect`), `who_may_speak`
//! (`objection`), `the_kernel_says_who_is_there` (`peer`, `socket_option`, `own_uid`, `own_gid`),
//! `groups_by_name_and_number` (`group_number`, `group_in`). `io_error` has no test of its own.
//!
//! Callers: control.rs and stats.rs (`bind`, `replace`), client.rs (`connect`), control/lines.rs
//! (`objection`).
//!
//! Tests: below

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{
    DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Others may write: then they may also replace what is in there.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why there is no socket.
#[derive(Debug, Error)]
pub(crate) enum SocketError {
    /// A server is alive there.
    #[error("another scx_wakeplace runs: it holds {0}; end it, or choose another --socket")]
    Taken(PathBuf),
    /// Something else has the name.
    #[error("{0} is no socket; remove it or choose another --socket")]
    NoSocket(PathBuf),
    /// Somebody could put another socket in its place.
    #[error("{path}: {problem}; expected a folder of root or yours where nobody else may write")]
    Unsafe {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// `--socket-group` names nobody.
    #[error("no group `{0}` in /etc/group (--socket-group); its number serves as well")]
    NoGroup(String),
    /// The file system or the kernel said no.
    #[error("{path}: {error}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// For `map_err`, with the path.
fn io_error(path: &Path) -> impl Fn(io::Error) -> SocketError + '_ {
    move |error| SocketError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Who may connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Permissions of the socket file.
    pub(crate) mode: u32,
    /// Its group; `None`: the server's own.
    pub(crate) group: Option<u32>,
}

/// A listening socket; dropped, its file is gone.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    pub(crate) path: PathBuf,
    access: Access,
    inode: u64,
    /// Held as long as the server lives; the kernel lets go of it however that ends.
    _lock: Option<File>,
}

impl Socket {
    /// A socket that no other process serves: a dead server's file is replaced.
    pub(crate) fn bind(path: &Path, access: Access) -> Result<Self, SocketError> {
        let folder = folder_of(path);
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(folder)
            .map_err(io_error(folder))?;
        check_folder(folder)?;
        let lock = lock(path)?;
        vacant(path)?;
        if UnixStream::connect(path).is_ok() {
            return Err(SocketError::Taken(path.to_owned()));
        }
        Self::create(path, access, Some(lock))
    }

    /// A socket that takes the name from whoever had it, as the servers of the scx tools do.
    pub(crate) fn replace(path: &Path, access: Access) -> Result<Self, SocketError> {
        let folder = folder_of(path);
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        check_folder(folder)?;
        vacant(path)?;
        Self::create(path, access, None)
    }

    /// Made in a folder that nobody else may enter, and moved to its place when its owner and
    /// permissions are right: it is never open to anybody else, and the umask of this process,
    /// which all threads share, stays as it is.
    fn create(path: &Path, access: Access, lock: Option<File>) -> Result<Self, SocketError> {
        let private = folder_of(path).join(format!(".{}", std::process::id()));
        let _ = fs::remove_dir_all(&private);
        DirBuilder::new()
            .mode(0o700)
            .create(&private)
            .map_err(io_error(&private))?;
        let made = Self::make(&private.join("s"), path, access, lock);
        let _ = fs::remove_dir_all(&private);
        made
    }

    /// A socket with its rights, made beside the place and then renamed into it.
    fn make(
        new: &Path,
        path: &Path,
        access: Access,
        lock: Option<File>,
    ) -> Result<Self, SocketError> {
        let here = io_error(path);
        let listener = UnixListener::bind(new).map_err(&here)?;
        if access.group.is_some() {
            chown(new, None, access.group).map_err(&here)?;
        }
        fs::set_permissions(new, Permissions::from_mode(access.mode)).map_err(&here)?;
        let inode = fs::symlink_metadata(new).map_err(&here)?.ino();
        fs::rename(new, path).map_err(&here)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            access,
            inode,
            _lock: lock,
        })
    }

    /// What keeps this client from being heard. None: nothing does.
    pub(crate) fn objection(&self, stream: &UnixStream) -> Option<String> {
        match peer(stream) {
            Ok(peer) => self.access.objection(&peer),
            Err(error) => Some(format!("cannot tell who you are: {error}")),
        }
    }
}

impl Drop for Socket {
    /// The file goes only if it is still this socket's.
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode);
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Access {
    /// Why somebody may not be served; None: he may.
    fn objection(&self, peer: &Peer) -> Option<String> {
        let owner = [0, own_uid()].contains(&peer.uid);
        let group = self.group.unwrap_or_else(own_gid);
        let member = self.mode & 0o020 != 0 && peer.groups.contains(&group);
        let anybody = self.mode & 0o002 != 0;
        let refused = !(owner || member || anybody);
        refused.then(|| {
            format!(
                "user {} may not steer this scheduler: expected root, its owner, or with \
                 --socket-group and --socket-mode 0660 a member of the group",
                peer.uid
            )
        })
    }
}

/// The folder that holds a path.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Nobody else may put something in the socket's place.
fn check_folder(folder: &Path) -> Result<(), SocketError> {
    let meta = fs::metadata(folder).map_err(io_error(folder))?;
    let problem = if ![0, own_uid()].contains(&meta.uid()) {
        format!("it belongs to user {}", meta.uid())
    } else if meta.mode() & WRITABLE_BY_OTHERS != 0 {
        format!("others may write there (mode {:04o})", meta.mode() & 0o7777)
    } else {
        return Ok(());
    };
    Err(SocketError::Unsafe {
        path: folder.to_owned(),
        problem,
    })
}

/// The lock file beside the socket, held; it stays where it is, so that all lock the same file.
fn lock(path: &Path) -> Result<File, SocketError> {
    let lock_path = path.with_added_extension("lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(&lock_path)
        .map_err(io_error(&lock_path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SocketError::Taken(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(io_error(&lock_path)(error)),
    }
}

/// Nothing is there, or a socket, which may be replaced.
fn vacant(path: &Path) -> Result<(), SocketError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_socket() => Ok(()),
        Ok(_) => Err(SocketError::NoSocket(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// What a client looks at before it speaks: a socket of root or of the same user, in a folder
/// where nobody else could have put it. A server that is not there is an I/O error.
pub(crate) fn connect(path: &Path) -> Result<UnixStream, SocketError> {
    let here = io_error(path);
    let meta = fs::symlink_metadata(path).map_err(&here)?;
    if !meta.file_type().is_socket() {
        return Err(SocketError::NoSocket(path.to_owned()));
    }
    check_folder(folder_of(path))?;
    let trusted = |uid: u32| [0, own_uid()].contains(&uid);
    let foreign = |uid: u32| SocketError::Unsafe {
        path: path.to_owned(),
        problem: format!("the socket belongs to user {uid}"),
    };
    if !trusted(meta.uid()) {
        return Err(foreign(meta.uid()));
    }
    let stream = UnixStream::connect(path).map_err(&here)?;
    let server = peer(&stream).map_err(&here)?;
    if !trusted(server.uid) {
        return Err(foreign(server.uid));
    }
    Ok(stream)
}

/// Number of a group: its name in this machine's own list, or the number itself. The C library's
/// search in other lists does not work in a static program.
pub(crate) fn group_number(name: &str) -> Result<u32, SocketError> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let path = Path::new("/etc/group");
    let list = fs::read_to_string(path).map_err(io_error(path))?;
    group_in(&list, name).ok_or_else(|| SocketError::NoGroup(name.to_owned()))
}

/// `NAME:PASSWORD:NUMBER:MEMBERS`, group(5). None: another group, or no such line.
fn group_in(list: &str, name: &str) -> Option<u32> {
    let mut groups = list.lines().map(|line| line.split(':'));
    let mut group =
        groups.find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
    group.nth(1)?.parse().ok()
}

/// Who is at the other end.
#[derive(Debug)]
struct Peer {
    uid: u32,
    /// All groups it is in.
    groups: Vec<u32>,
}

/// Who is at the other end, with all groups.
fn peer(stream: &UnixStream) -> io::Result<Peer> {
    let mut who = [libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    }];
    socket_option(stream, libc::SO_PEERCRED, &mut who)?;
    let [who] = who;
    // NGROUPS_MAX of the kernel.
    let mut groups = vec![0; 65_536];
    let bytes = socket_option(stream, libc::SO_PEERGROUPS, &mut groups)?;
    groups.truncate(bytes / size_of::<u32>());
    groups.push(who.gid);
    Ok(Peer {
        uid: who.uid,
        groups,
    })
}

/// Reads a socket option of plain integers; returns how many bytes there were.
fn socket_option<T: Copy>(stream: &UnixStream, name: i32, to: &mut [T]) -> io::Result<usize> {
    let mut bytes = libc::socklen_t::try_from(size_of_val(to)).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `bytes` bytes, all within the slice; every pattern of bits
    // is a value of the integers asked for here.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            to.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    match result {
        0 => Ok(bytes as usize),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Who this process acts as.
fn own_uid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// The group that this process acts as.
fn own_gid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getegid() }
}

#[cfg(test)]
mod tests;
