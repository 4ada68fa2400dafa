//! The files of the modelled machine that a loader finds, in a folder of ours
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: files that the loader reads are those of `machine_files`; nothing outside the
//! folder is written or removed. Free: how the folder is called and when leftovers are swept.
//!
//! Tests by part: `leftovers_are_removed` (`own_folder`, `sweep`),
//! `paths_are_resolved_by_their_words` (`resolved`),
//! crates/cli/tests/all/wall.rs::`a_pipe_among_temporary_files_is_not_waited_for` (`open_folder`),
//! crates/cli/tests/all/schedulers.rs::`a_loader_sees_the_modelled_machine` (`Tree::new`,
//! `answers`, `place`, `put`). What `enable` writes no test reads.
//!
//! Callers: guard/serve.rs (`new`, `enable`), guard/paths.rs (`answers`).
//!
//! Tests: below

use crate::wire::Start;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// Paths that are answered from the tree: what begins so and is not in it does not exist.
const ANSWERED: [&str; 16] = [
    // Sockets for those who want a scheduler's statistics: no place of the host's.
    "/run/scx",
    "/var/run/scx",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/devices/virtual/thermal",
    "/sys/kernel/btf",
    "/sys/kernel/sched_ext",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/class/thermal",
    "/sys/class/power_supply",
    "/proc/config.gz",
    "/proc/mounts",
    "/proc/self/mounts",
    "/proc/version_signature",
    "/boot/",
];

/// How names of trees begin, in the folder for temporary files.
const PREFIX: &str = "wakeplace-tree-";

/// The tree; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Tree {
    folder: TempDir,
    /// Locked (flock) as long as this process lives.
    _held: File,
}

/// A new folder, and the lock that says that somebody uses it.
fn own_folder(temporary: &Path) -> io::Result<(TempDir, File)> {
    sweep(temporary);
    loop {
        let mut names = tempfile::Builder::new();
        let folder = names.prefix(PREFIX).tempdir_in(temporary)?;
        // Until it is locked another process may take it for a leftover.
        let held = match open_folder(folder.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        let lost = matches!(held.try_lock(), Err(TryLockError::WouldBlock));
        if !lost && folder.path().exists() {
            return Ok((folder, held));
        }
    }
}

/// Opens a folder. What else has its name is not waited for, and no link is followed: anybody may
/// put anything into the folder for temporary files.
fn open_folder(path: &Path) -> io::Result<File> {
    let only = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_DIRECTORY;
    OpenOptions::new().read(true).custom_flags(only).open(path)
}

/// Removes what processes have left that a signal has ended: nobody holds their locks. There is
/// nobody to tell if one stays.
fn sweep(temporary: &Path) {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let Ok(held) = open_folder(&entry.path()) else {
            continue;
        };
        // Somebody else's is not ours to remove.
        // SAFETY: a plain system call.
        let own = unsafe { libc::geteuid() };
        if held.metadata().is_ok_and(|found| found.uid() == own) && held.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Tree {
    /// With the files that the loader is to find.
    pub(super) fn new(temporary: &Path, start: &Start) -> io::Result<Self> {
        let (folder, held) = own_folder(temporary)?;
        let tree = Self {
            folder,
            _held: held,
        };
        for path in &start.folders {
            fs::create_dir_all(tree.place(path)?)?;
        }
        for (path, bytes) in &start.files {
            tree.put(path, bytes)?;
        }
        Ok(tree)
    }

    /// Says where a path of the loader's is answered from; None: the host's.
    pub(super) fn answers(&self, path: &str) -> Option<PathBuf> {
        let path = &resolved(path)?;
        let ours = ANSWERED.iter().any(|prefix| {
            path.strip_prefix(prefix).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/')
            })
        });
        ours.then(|| self.folder.path().join(&path[1..]))
    }

    /// A scheduler is attached from now on.
    pub(super) fn enable(&self, name: &str) -> io::Result<()> {
        self.put("sys/kernel/sched_ext/state", b"enabled\n")?;
        self.put("sys/kernel/sched_ext/enable_seq", b"1\n")?;
        self.put("sys/kernel/sched_ext/switch_all", b"1\n")?;
        let name = format!("{name}\n");
        self.put("sys/kernel/sched_ext/root/ops", name.as_bytes())
    }

    /// Gives the place of a path that leads into the tree.
    fn place(&self, path: &str) -> io::Result<PathBuf> {
        let mut parts = Path::new(path).components();
        match parts.all(|part| matches!(part, Component::Normal(_))) {
            true => Ok(self.folder.path().join(path)),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Writes one file below the folder.
    fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.place(path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // A loader may have put a pipe there: it is not waited for.
        let careful = libc::O_NONBLOCK | libc::O_NOFOLLOW;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        options.custom_flags(careful).open(path)?.write_all(bytes)
    }
}

/// An absolute path without `.`, `..` and double slashes; `..` would lead out of the tree.
fn resolved(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.strip_prefix('/')?.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::{own_folder, resolved};
    use std::fs;

    /// Goal: what a process has left that a signal ended is removed by the next one that makes a
    /// tree; what is in use stays, and so does what is no tree.
    #[test]
    fn leftovers_are_removed() {
        let temporary = tempfile::tempdir().expect("a folder");
        let at = |name: &str| temporary.path().join(name);
        for name in ["wakeplace-tree-old/sys", "wakeplace-other"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        let (first, _held) = own_folder(temporary.path()).expect("a folder");
        assert!(!at("wakeplace-tree-old").exists());
        assert!(at("wakeplace-other").exists());
        let (second, _held_too) = own_folder(temporary.path()).expect("a folder");
        assert!(first.path().exists() && second.path().exists());
    }

    #[test]
    fn paths_are_resolved_by_their_words() {
        for (path, to) in [
            (
                "/sys/devices/system/node/../cpu/online",
                "/sys/devices/system/cpu/online",
            ),
            ("/tmp/../sys//kernel/./btf/", "/sys/kernel/btf"),
            ("/sys/kernel/btf/../../../etc/passwd", "/etc/passwd"),
            ("/../..", "/"),
        ] {
            assert_eq!(resolved(path).as_deref(), Some(to), "{path}");
        }
        assert_eq!(resolved("../sys"), None);
    }
}
