//! The shim's files, written out where the compiler finds them (docs/guide/kernel.md, "What it
//! needs").
//!
//! What must stay: the sum over names and texts is part of an object's key; the order of files is
//! free. Free: where the files are written to.
//!
//! Tests by part: `a_changed_file_is_another_shim` (`sum`), `the_files_are_written_as_they_are`
//! (`put`, `of_folder`, `collect`),
//! crates/kernel-tree/tests/all/fake_tree.rs::`kinds_of_machines_options_and_shims_are_built_apart`
//! (`of_folder`, `wanted`, `text`), real_tree.rs::`a_kernel_of_the_archive_boots` (`of_user`,
//! `of_program`).
//!
//! Callers: builds.rs; crates/kernel-run/src/trees.rs and crates/cli/src/commands/kernel.rs
//! (`of_user`).
//!
//! Tests: below

use crate::TreeError;
use crate::content::hex;
use crate::wanted::Wanted;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::{ArchiveError, Cache};

/// Says which files of a tree are read.
const WANTED: &str = "unpacked";
/// What builds a tree.
pub(crate) const BUILD: &str = "build.sh";

/// The shim that a kernel is built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    files: Vec<(String, String)>,
}

impl Shim {
    /// The one of this program; `WAKEPLACE_KERNEL_SHIM` names a folder with another one, for those
    /// who work on it.
    ///
    /// # Errors
    /// When that folder cannot be read.
    pub fn of_user() -> Result<Self, TreeError> {
        match std::env::var_os("WAKEPLACE_KERNEL_SHIM").filter(|folder| !folder.is_empty()) {
            Some(folder) => Self::of_folder(Path::new(&folder)),
            None => Ok(Self::of_program()),
        }
    }

    /// The files that were built into this program.
    fn of_program() -> Self {
        let files = wakeplace_kernel_shim::FILES.iter();
        Self {
            files: files
                .map(|file| (file.path.to_owned(), file.text.to_owned()))
                .collect(),
        }
    }

    /// One that is in a folder.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self, TreeError> {
        let mut files = Vec::new();
        collect(folder, "", &mut files)?;
        files.sort();
        Ok(Self { files })
    }

    /// A sum of all names and contents.
    #[must_use]
    pub fn sum(&self) -> String {
        let mut hasher = Sha256::new();
        for (path, text) in &self.files {
            hasher.update(format!("{path} {}\n", text.len()));
            hasher.update(text);
        }
        hex(&hasher.finalize())
    }

    /// None: the shim has no such file.
    fn text(&self, path: &str) -> Option<&str> {
        let mut files = self.files.iter();
        let found = files.find(|(name, _)| name == path);
        found.map(|(_, text)| text.as_str())
    }

    /// Which files of a tree are read.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted::parse(self.text(WANTED).unwrap_or_default())
    }

    /// The files in a folder of the cache, whole.
    pub(crate) fn put(&self, cache: &Cache) -> Result<PathBuf, TreeError> {
        let at = cache.path(&format!("shim/{}", &self.sum()[..16]));
        if at.is_dir() {
            return Ok(at);
        }
        let scratch = cache.scratch()?;
        let root = scratch.path().join("shim");
        for (path, text) in &self.files {
            let file = root.join(path);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent).map_err(TreeError::writing(parent))?;
            }
            fs::write(&file, text).map_err(TreeError::writing(&file))?;
        }
        wakeplace_archive::install(&root, &at, &scratch)?;
        Ok(at)
    }
}

/// All files below a folder, but for those that cargo reads and those of tests.
fn collect(folder: &Path, below: &str, files: &mut Vec<(String, String)>) -> Result<(), TreeError> {
    const LEFT_OUT: [&str; 5] = ["Cargo.toml", "README.md", "build.rs", "src", "tests"];
    for entry in fs::read_dir(folder)
        .map_err(TreeError::reading(folder))?
        .flatten()
    {
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') || below.is_empty() && LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let below = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        if path.is_dir() {
            collect(&path, &below, files)?;
        } else {
            let text = fs::read(&path).map_err(TreeError::reading(&path))?;
            let text = String::from_utf8(text)
                .map_err(|_| ArchiveError::damaged(path.display().to_string(), "no text"))?;
            files.push((below, text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_another_shim() {
        let shim = |text: &str| Shim {
            files: vec![("a".to_owned(), text.to_owned())],
        };
        assert_eq!(shim("x").sum(), shim("x").sum());
        assert_ne!(shim("x").sum(), shim("y").sum());
    }

    #[test]
    fn the_files_are_written_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("c")).expect("a cache");
        let shim = Shim {
            files: vec![("arch/wpsim/Kbuild".to_owned(), "x\n".to_owned())],
        };
        let at = shim.put(&cache).expect("written");
        assert_eq!(Shim::of_folder(&at).expect("read"), shim);
        assert_eq!(shim.put(&cache).expect("there"), at);
    }
}
