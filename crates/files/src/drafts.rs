//! The drafts of this process, for whoever ends it early.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a draft is made, moved to its place or removed, so that `abandon` finds either.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn lock() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all drafts of this process, for a signal that ends it. No draft is made or moved to its
/// place from then on: a thread that tries waits for the end of the process.
pub fn abandon() {
    let drafts = lock();
    for path in drafts.iter() {
        let _ = remove(path);
    }
    std::mem::forget(drafts);
}

/// Makes a draft.
pub(crate) fn add<T>(make: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, PathBuf)> {
    let mut drafts = lock();
    let (made, path) = make()?;
    drafts.insert(path.clone());
    Ok((made, path))
}

/// Removes a draft, if it is still there.
pub(crate) fn drop_draft(path: &Path) {
    let mut drafts = lock();
    // What stays is removed by the next process that writes in that folder.
    let _ = remove(path);
    drafts.remove(path);
}

/// Moves a draft, or what is in it, to its place.
pub(crate) fn moving<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let _held = lock();
    act()
}

/// A file, or a folder with all that is in it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
