//! The drafts of this process, for whoever ends it early (docs/guide/traces.md, "What is promised
//! of files").
//!
//! Called by `draft.rs` and by handlers of signals (`crates/cli/src/interrupt.rs`).
//!
//! What must stay: after `abandon` nothing of this process comes into any place, so the lock is
//! never given back. A draft is on the list from its making until it is moved or removed. Names of
//! drafts that are removed are drafts' names, too. Free: how the list is kept. Tests by part:
//! `a_folder_in_use_goes` (`remove_in_use`),
//! crates/cli/tests/all/interrupt.rs::`nothing_is_left_of_an_interrupted_run` (`abandon`, `add`),
//! set.rs::`what_cannot_move_to_the_new_folder_is_kept` (`keep`),
//! crates/cli/tests/all/faults/mod.rs::`files_of_a_run` (`drop_draft`, `moving`, `remove`). `lock`
//! has no test of its own.
//!
//! Tests: below, crates/cli/tests/all/interrupt.rs::nothing_is_left_of_an_interrupted_run,
//! crates/cli/tests/all/faults/mod.rs

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a draft is made, moved to its place or removed, so that `abandon` finds either.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often a draft is removed in which files still appear.
const TRIES: usize = 100;
/// Extension of a draft that is removed: it is one of drafts, too (`draft::is_draft`).
const UNNAMED: &str = "removed.tmp";

/// The list; a thread that panicked with it changes nothing of it.
fn lock() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all drafts of this process, for a signal that ends it. No draft is made or moved to its
/// place from then on: a thread that tries waits for the end of the process.
pub fn abandon() {
    let drafts = lock();
    for path in drafts.iter() {
        remove_in_use(path);
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
    // What stays is removed by the next process that writes in that folder. One that is kept is no
    // longer among the drafts.
    if drafts.remove(path) {
        let _ = remove(path);
    }
}

/// The drafts, while one of them moves.
pub(crate) struct Held(MutexGuard<'static, BTreeSet<PathBuf>>);

impl Held {
    /// Takes a draft off the list, so that nobody removes it. Returns where it is by then.
    pub(crate) fn keep(&mut self, draft: &Path) -> PathBuf {
        self.0.remove(draft);
        // By its old name the next process would take it for a leftover.
        let kept = draft.with_extension("kept");
        match fs::rename(draft, &kept) {
            Ok(()) => kept,
            Err(_) => draft.to_owned(),
        }
    }
}

/// Moves a draft, or what is in it, to its place.
pub(crate) fn moving<T>(act: impl FnOnce(&mut Held) -> T) -> T {
    act(&mut Held(lock()))
}

/// Removes what other threads may still put files into. By another name they do not find it: a
/// folder that is filled faster than it is emptied would never be empty. The other name is a
/// draft's as well, so the next process removes it if this one is killed here.
fn remove_in_use(path: &Path) {
    let unnamed = path.with_extension(UNNAMED);
    if fs::rename(path, &unnamed).is_err() {
        return;
    }
    for _ in 0..TRIES {
        // A file may still appear whose folder was looked up before it was renamed.
        if remove(&unnamed).is_ok() {
            return;
        }
        std::thread::yield_now();
    }
}

/// A file, or a folder with all that is in it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: nothing is left of a folder into which other threads still write.
    #[test]
    fn a_folder_in_use_goes() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().expect("a folder");
            let draft = folder.path().join("draft");
            fs::create_dir(&draft).expect("made");
            let write = |thread: usize| {
                let draft = draft.clone();
                std::thread::spawn(move || {
                    let mut names = (0..).map(|n| draft.join(format!("{thread}-{n}")));
                    names.all(|path| fs::write(path, "").is_ok())
                })
            };
            let writers = [write(0), write(1)];
            while fs::read_dir(&draft).expect("there").take(50).count() < 50 {}
            remove_in_use(&draft);
            for writer in writers {
                writer.join().expect("it ends");
            }
            let left = fs::read_dir(folder.path()).expect("there").count();
            assert_eq!(left, 0, "something is left beside the place");
        }
    }
}
