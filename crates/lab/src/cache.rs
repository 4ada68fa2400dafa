//! Where fetched things are kept, and how two runs keep out of each other's way.

use crate::LabError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wakeplace_files::Scratch;

/// The folder of the lab below the user's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// Held while something is fetched; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Cache {
    /// `WAKEPLACE_LAB_CACHE`, else `wakeplace/lab` below `XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    /// When no folder can be named or made.
    pub fn of_user() -> Result<Self, LabError> {
        let named = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let root = named("WAKEPLACE_LAB_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|home| home.join("wakeplace/lab")))
            .or_else(|| named("HOME").map(|home| home.join(".cache/wakeplace/lab")));
        match root {
            Some(root) => Self::at(root),
            None => Err(LabError::Request(
                "no folder to keep downloads in: none of WAKEPLACE_LAB_CACHE, XDG_CACHE_HOME and \
                 HOME is an absolute path"
                    .to_owned(),
            )),
        }
    }

    /// A cache in a folder of its own.
    ///
    /// # Errors
    /// When the folder cannot be made, or its name cannot stand in apt's configuration.
    pub fn at(root: PathBuf) -> Result<Self, LabError> {
        let clean = |text: &str| !text.contains(['"', '\n', ';', '{', '}', '\\']);
        if !root.to_str().is_some_and(clean) {
            return Err(LabError::Request(format!(
                "cache {}: expected a name in UTF-8 without quotes, braces, semicolons and \
                 backslashes",
                root.display()
            )));
        }
        fs::create_dir_all(&root).map_err(LabError::file(&root, "made"))?;
        Ok(Self { root })
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// A folder in it, made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, below: &str) -> Result<PathBuf, LabError> {
        let path = self.path(below);
        fs::create_dir_all(&path).map_err(LabError::file(&path, "made"))?;
        Ok(path)
    }

    /// A folder that is gone when dropped, on the same file system as the rest. What a run that was
    /// killed left there goes first.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<Scratch, LabError> {
        let folder = self.folder("tmp")?;
        Scratch::folder_in(&folder).map_err(LabError::file(&folder, "written"))
    }

    /// Waits for other runs that fetch, calling `waiting` first if there are any.
    ///
    /// # Errors
    /// When the file system has no locks.
    pub fn lock(&self, waiting: impl FnOnce()) -> Result<Lock, LabError> {
        let path = self.path("lock");
        let file = File::create(&path).map_err(LabError::writing(&path))?;
        if file.try_lock().is_err() {
            waiting();
            file.lock().map_err(LabError::file(&path, "locked"))?;
        }
        Ok(Lock { _file: file })
    }
}

/// How long ago something was changed; a clock that was set back makes it as old as can be.
#[allow(
    clippy::disallowed_methods,
    reason = "decides what is fetched again or removed, and no result"
)]
pub(crate) fn age(path: &Path) -> Option<Duration> {
    let changed = fs::metadata(path).ok()?.modified().ok()?;
    Some(
        SystemTime::now()
            .duration_since(changed)
            .unwrap_or(Duration::MAX),
    )
}

/// Puts a finished folder of `scratch` where it belongs. What was there before goes; readers see
/// the old one or the new one, complete.
pub(crate) fn install(finished: &Path, at: &Path, scratch: &Scratch) -> Result<(), LabError> {
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent).map_err(LabError::file(parent, "made"))?;
    }
    wakeplace_files::install(finished, at, scratch).map_err(LabError::Write)
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
