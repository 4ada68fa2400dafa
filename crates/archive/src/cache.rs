//! Where fetched things are kept, and how two runs keep out of each other's way (docs/guide/lab.md,
//! docs/guide/kernel.md).
//!
//! What must stay: places in the cache, or things are fetched anew; a folder appears whole or not
//! at all.
//!
//! Tests by part: `a_second_run_waits_for_the_first` (`lock`, `lock_at`),
//! `a_folder_whose_name_would_break_apts_configuration_is_refused` (`at`),
//! `a_finished_folder_replaces_the_old_one` (`install`, `scratch`, `folder`, `path`),
//! crates/kernel-tree/src/compile.rs::`the_script_has_the_lock_and_no_input` (`stdin`),
//! crates/cli/tests/all/doctor.rs::`what_is_kept_is_found_and_nothing_is_made` (`there`, `place`,
//! `closure`).
//! `of_user` and `age` have no test of their own.
//!
//! Callers: crates/lab, crates/kernel-tree, apt.rs.
//!
//! Tests: below, crates/cli/tests/all/doctor.rs

use crate::ArchiveError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};
use wakeplace_files::Scratch;

/// A folder below the user's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// Held while something is fetched; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Cache {
    /// The folder for `what`: with `lab`, `WAKEPLACE_LAB_CACHE`, else `wakeplace/lab` below
    /// `XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    /// When no folder can be named or made.
    pub fn of_user(what: &str) -> Result<Self, ArchiveError> {
        Self::at(Self::place(what)?)
    }

    /// The same where it is there already; nothing is made. None: it is not.
    #[must_use]
    pub fn there(what: &str) -> Option<Self> {
        let root = Self::place(what).ok()?;
        root.is_dir().then_some(Self { root })
    }

    /// Where the folder for `what` is, or would be made.
    ///
    /// # Errors
    /// When no folder can be named.
    pub fn place(what: &str) -> Result<PathBuf, ArchiveError> {
        let named = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let own = format!("WAKEPLACE_{}_CACHE", what.to_ascii_uppercase());
        let below = |home: PathBuf| home.join("wakeplace").join(what);
        let root = named(&own)
            .or_else(|| named("XDG_CACHE_HOME").map(below))
            .or_else(|| named("HOME").map(|home| below(home.join(".cache"))));
        root.ok_or_else(|| {
            ArchiveError::Place(format!(
                "no folder to keep downloads in: none of {own}, XDG_CACHE_HOME and HOME is an \
                 absolute path"
            ))
        })
    }

    /// A cache in a folder of its own.
    ///
    /// # Errors
    /// When the folder cannot be made, or its name cannot stand in apt's configuration.
    pub fn at(root: PathBuf) -> Result<Self, ArchiveError> {
        let clean = |text: &str| !text.contains(['"', '\n', ';', '{', '}', '\\']);
        if !root.to_str().is_some_and(clean) {
            return Err(ArchiveError::Place(format!(
                "cache {}: expected a name in UTF-8 without quotes, braces, semicolons and \
                 backslashes",
                root.display()
            )));
        }
        fs::create_dir_all(&root).map_err(ArchiveError::file(&root, "made"))?;
        Ok(Self { root })
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Where packages of an architecture are kept with all that they depend on.
    #[must_use]
    pub fn closure(&self, arch: &str, names: &[&str]) -> PathBuf {
        self.path(&format!("closures/{arch}/{}", names.join("_")))
    }

    /// A folder in it, made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, below: &str) -> Result<PathBuf, ArchiveError> {
        let path = self.path(below);
        fs::create_dir_all(&path).map_err(ArchiveError::file(&path, "made"))?;
        Ok(path)
    }

    /// A folder that is gone when dropped, on the same file system as the rest. What a run that was
    /// killed left there goes first.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<Scratch, ArchiveError> {
        let folder = self.folder("tmp")?;
        Scratch::folder_in(&folder).map_err(ArchiveError::file(&folder, "written"))
    }

    /// Waits for other runs that fetch, calling `waiting` first if there are any.
    ///
    /// # Errors
    /// When the file system has no locks.
    pub fn lock(&self, waiting: impl FnOnce()) -> Result<Lock, ArchiveError> {
        self.lock_at("lock", waiting)
    }

    /// The same for one part of the cache, whose lock has this name.
    ///
    /// # Errors
    /// As [`Self::lock`].
    pub fn lock_at(&self, below: &str, waiting: impl FnOnce()) -> Result<Lock, ArchiveError> {
        let path = self.path(below);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&path).map_err(ArchiveError::writing(&path))?;
        if file.try_lock().is_err() {
            waiting();
            file.lock().map_err(ArchiveError::file(&path, "locked"))?;
        }
        Ok(Lock { file })
    }
}

impl Lock {
    /// An empty standard input for a program. It shares the lock: whoever comes later waits until
    /// the program and all that it started have ended, even if this process is killed before.
    ///
    /// # Errors
    /// When the system has no more files to open.
    pub fn stdin(&self) -> std::io::Result<Stdio> {
        Ok(Stdio::from(self.file.try_clone()?))
    }
}

/// How long ago something was changed; a clock that was set back makes it as old as can be.
/// None: it is not there. A time in the future counts as very old.
#[must_use]
#[allow(
    clippy::disallowed_methods,
    reason = "decides what is fetched again or removed, and no result"
)]
pub fn age(path: &Path) -> Option<Duration> {
    let changed = fs::metadata(path).ok()?.modified().ok()?;
    Some(
        SystemTime::now()
            .duration_since(changed)
            .unwrap_or(Duration::MAX),
    )
}

/// Puts a finished folder of `scratch` where it belongs. What was there before goes; readers see
/// the old one or the new one, complete.
///
/// # Errors
/// When it cannot be moved there.
pub fn install(finished: &Path, at: &Path, scratch: &Scratch) -> Result<(), ArchiveError> {
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent).map_err(ArchiveError::file(parent, "made"))?;
    }
    wakeplace_files::install(finished, at, scratch).map_err(ArchiveError::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_waits_for_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("c")).expect("a cache");
        let first = cache.lock(|| panic!("nobody holds it")).expect("locked");
        let (sender, receiver) = std::sync::mpsc::channel();
        let other = cache.clone();
        let thread = std::thread::spawn(move || {
            let waiting = sender.clone();
            let lock = other.lock(move || waiting.send("waits").expect("heard"));
            sender.send("has it").expect("heard");
            drop(lock);
        });
        assert_eq!(receiver.recv(), Ok("waits"));
        assert!(receiver.try_recv().is_err());
        drop(first);
        assert_eq!(receiver.recv(), Ok("has it"));
        thread.join().expect("no panic");
    }

    #[test]
    fn a_folder_whose_name_would_break_apts_configuration_is_refused() {
        let error = Cache::at(PathBuf::from("/x\";y")).expect_err("refused");
        assert!(error.to_string().contains("without quotes"), "{error}");
    }

    #[test]
    fn a_finished_folder_replaces_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::folder_in(folder.path()).expect("a folder");
        let (new, old) = (scratch.path().join("new"), folder.path().join("a/old"));
        fs::create_dir_all(&old).expect("made");
        fs::write(old.join("stale"), "").expect("written");
        fs::create_dir_all(&new).expect("made");
        fs::write(new.join("fresh"), "").expect("written");
        install(&new, &old, &scratch).expect("installed");
        drop(scratch);
        assert!(old.join("fresh").is_file() && !old.join("stale").exists());
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "the old folder is gone");
    }
}
