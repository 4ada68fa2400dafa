//! Files and folders in the making, and what others left of theirs (docs/guide/traces.md, "What is
//! promised of files"). A draft that another process still writes is left alone.
//!
//! Called by `place.rs` and `set.rs`.
//!
//! What must stay: the form of a draft's name (`.wakeplace-*.tmp`), since later processes find
//! leftovers by it. A draft is locked as long as its writer lives. Only unlocked drafts of the same
//! user are removed, and no link is followed. Free: what stands between prefix and suffix, and how
//! leftovers are looked for. Tests by part: `only_leftovers_of_this_user_go` (`remove_if_left`),
//! `a_draft_is_made_beside_who_removes_leftovers` (`in_folder`, `is_at`),
//! crates/cli/tests/all/faults/leftovers.rs::`only_the_drafts_of_the_dead_go` (`sweep`, `is_draft`,
//! `open_to_lock`), faults/mod.rs::`tables_without_exchange` (that the sweep puts a folder back),
//! faults/mod.rs::`files_of_a_run` (`file_in`, `drop`), faults/mod.rs::`tables_change_as_one`
//! (`folder_in`). `path` and `file` only hand out.
//!
//! Tests: below, crates/cli/tests/all/faults/leftovers.rs

use crate::drafts;
use crate::swap;
use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const PREFIX: &str = ".wakeplace-";
const SUFFIX: &str = ".tmp";

/// A file or a folder in the making; removed when dropped, unless it was moved to its place.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    /// Locked (flock) as long as this process lives; closed after the draft is gone.
    held: File,
}

impl Draft {
    /// A new empty file in a folder, with the rights that a new file gets.
    pub(crate) fn file_in(folder: &Path) -> io::Result<Self> {
        Self::in_folder(folder, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })
    }

    /// A new empty folder in a folder, for this user alone.
    pub(crate) fn folder_in(folder: &Path) -> io::Result<Self> {
        Self::in_folder(folder, |path| {
            DirBuilder::new().mode(0o700).create(path)?;
            // Another process may have taken it for a leftover before it could be opened and
            // locked: as if the name had been in use, another one is tried.
            File::open(path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => io::ErrorKind::AlreadyExists.into(),
                _ => error,
            })
        })
    }

    /// A new draft that is locked as long as it is in the making.
    fn in_folder(folder: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        sweep(folder);
        loop {
            let (held, path) = drafts::add(|| {
                let mut names = tempfile::Builder::new();
                let made = names.prefix(PREFIX).suffix(SUFFIX);
                let (file, path) = made.make_in(folder, &make)?.into_parts();
                Ok((file, path.keep()?))
            })?;
            let draft = Self { path, held };
            // Between its making and its locking another process may have taken it for a leftover.
            // Where the file system has no locks nobody can: leftovers stay there.
            let lost = matches!(draft.held.try_lock(), Err(TryLockError::WouldBlock));
            if !lost && is_at(&draft.held, &draft.path) {
                return Ok(draft);
            }
        }
    }

    /// Where it is until it is moved.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.held
    }
}

impl Drop for Draft {
    /// Removes it, unless it was moved to its place.
    fn drop(&mut self) {
        drafts::drop_draft(&self.path);
    }
}

/// A folder for what is needed on the way to a file; gone when dropped.
#[derive(Debug)]
pub struct Scratch(Draft);

impl Scratch {
    /// A draft folder in a folder that is there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder_in(folder: &Path) -> io::Result<Self> {
        Draft::folder_in(folder).map(Self)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Whether the open file is the one that has this name.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Whether the name is one that drafts have.
fn is_draft(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Removes the drafts of this user's processes that live no longer. What cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_draft(&entry.file_name()) {
            let _ = remove_if_left(&entry.path());
        }
    }
}

/// Removes a draft whose process is gone; one that is locked stays.
fn remove_if_left(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let kind = found.file_type();
    // Somebody else's may say what it likes.
    let is_ours = found.uid() == geteuid().as_raw();
    if !is_ours || !kind.is_file() && !kind.is_dir() {
        return Ok(());
    }
    let file = open_to_lock(path)?;
    // Locked: its writer is at work.
    if file.try_lock().is_err() || !is_at(&file, path) {
        return Ok(());
    }
    if kind.is_dir() {
        swap::put_back(path)?;
    }
    drafts::remove(path)
}

/// Follows no link and waits for no pipe, whatever has come to that name by now.
fn open_to_lock(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Goal: a leftover of another user stays as it is; one of this user goes.
    #[test]
    fn only_leftovers_of_this_user_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let (ours, other) = (path(".wakeplace-a.tmp"), path(".wakeplace-b.tmp"));
        fs::write(&ours, "").expect("written");
        fs::write(&other, "").expect("written");
        // Only root can give a file away.
        let given = chown(&other, Some(geteuid().as_raw() + 1), None).is_ok();
        sweep(folder.path());
        assert!(!ours.exists());
        assert_eq!(other.exists(), given);
    }

    /// Goal: who makes a draft beside a process that removes leftovers gets one. A new folder looks
    /// like a leftover until it is locked.
    #[test]
    fn a_draft_is_made_beside_who_removes_leftovers() {
        let folder = tempfile::tempdir().expect("a folder");
        let done = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    sweep(folder.path());
                }
            });
            let made = (0..1_000).map(|_| Draft::folder_in(folder.path()).map(drop));
            let failed = made.filter_map(Result::err).count();
            // Before anything can panic: the thread is waited for.
            done.store(true, Ordering::Relaxed);
            assert_eq!(failed, 0);
        });
    }
}
