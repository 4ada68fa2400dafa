//! Reading a file tree that may be live or saved, where absent and forbidden are different facts.
//! It reads below its root alone (docs/guide/live.md, "Run").
//!
//! What must stay: only files are read; absent and unreadable are told apart, since remedies
//! differ. Free: further readers, of files only.
//!
//! Tests by part: `cpu_lists_are_counted` (`cpu_list_len`), `numbers_sort_as_numbers`
//! (`natural_key`, `names`), probe.rs::`debugfs_without_models_differs_from_no_debugfs` (`absent`),
//! probe.rs::`a_program_that_is_not_installed_is_a_lack` (`is_program`, `is_live`),
//! probe.rs::`a_board_with_everything_lacks_nothing` (`bytes`, `text`, `numbered`, `at`). `new` has
//! no test of its own.
//!
//! Callers: the checks of this crate.
//!
//! Tests: below, crates/host/tests/probe.rs

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Why nothing was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// No such file or folder.
    NotThere,
    /// It is there, or may be, and cannot be read; the system's own words.
    Unreadable(String),
}

/// A file tree below a root.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The tree below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    /// Says whether this is the running machine itself, not a saved tree.
    pub(crate) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Says whether there is a file that may be run.
    pub(crate) fn is_program(&self, path: &Path) -> bool {
        let metadata = fs::metadata(self.root.join(path));
        metadata.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }

    /// Paths are below the root, without a leading slash.
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Reads a whole file.
    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>, Absent> {
        fs::read(self.at(path)).map_err(|error| absent(path, &error))
    }

    /// A text file without the white space around it.
    pub(crate) fn text(&self, path: &str) -> Result<String, Absent> {
        let bytes = self.bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The names in a folder, sorted as people do: `policy2` before `policy10`.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, Absent> {
        let entries = fs::read_dir(self.at(path)).map_err(|error| absent(path, &error))?;
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into())
            .collect();
        names.sort_by(|a, b| natural_key(a).cmp(&natural_key(b)));
        Ok(names)
    }

    /// The numbers N of the entries `PREFIXN` in a folder, ascending.
    pub(crate) fn numbered(&self, path: &str, prefix: &str) -> Result<Vec<u32>, Absent> {
        let names = self.names(path)?;
        Ok(names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect())
    }
}

/// Splits `policy10` into `policy` and 10.
fn natural_key(name: &str) -> (&str, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().unwrap_or(0))
}

/// Not there and not readable are told apart.
fn absent(path: &str, error: &std::io::Error) -> Absent {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Absent::NotThere,
        _ => Absent::Unreadable(format!("/{path}: {error}")),
    }
}

/// How many CPUs a list like `0-3,8` names, `None` when it is no such list.
pub(crate) fn cpu_list_len(list: &str) -> Option<u32> {
    let mut count = 0;
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(cpu_list_len("0"), Some(1));
        assert_eq!(cpu_list_len("0-3,8,10-11\n"), Some(7));
        assert_eq!(cpu_list_len(""), None);
        assert_eq!(cpu_list_len("3-1"), None);
        assert_eq!(cpu_list_len("all"), None);
    }

    #[test]
    fn numbers_sort_as_numbers() {
        let mut names = ["policy10", "policy2", "boost", "policy0"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["boost", "policy0", "policy2", "policy10"]);
    }
}
