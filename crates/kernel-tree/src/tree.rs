//! A tree on disk: is it one of a kernel, which version, how is it called (docs/guide/kernel.md,
//! "Names").
//!
//! What must stay: only the tree's own Makefile is believed; nothing is run. Free: words of
//! refusals, but for those that tests quote.
//!
//! Tests by part: `a_makefile_says_the_version` (`version`), `what_is_missing_is_said` (`open`),
//! fake_tree.rs::`what_is_no_tree_is_refused` (`open`).
//!
//! Callers: builds.rs.
//!
//! Tests: below

use crate::TreeError;
use crate::git::Git;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that every tree of a kernel has.
const MARKS: [&str; 4] = [
    "Makefile",
    "Kconfig",
    "kernel/sched/core.c",
    "kernel/sched/fair.c",
];

/// A folder with the sources of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// By its own name, without links on the way.
    pub(crate) root: PathBuf,
    /// As its Makefile says: `7.3.4`, `7.4.0-rc2`.
    pub(crate) version: String,
    /// Its history.
    pub(crate) git: Option<Git>,
}

impl Tree {
    /// Looks at a folder; an error says why it is no tree of a kernel.
    pub(crate) fn open(path: &Path) -> Result<Self, TreeError> {
        let no = |why: String| TreeError::NotATree {
            path: path.to_owned(),
            why,
        };
        let root = fs::canonicalize(path).map_err(|error| no(error.to_string()))?;
        if !root.is_dir() {
            return Err(no("it is no folder".to_owned()));
        }
        if let Err(error) = fs::read_dir(&root) {
            return Err(no(error.to_string()));
        }
        for mark in MARKS {
            // What may not be looked at is not said to be missing.
            if let Err(error) = fs::metadata(root.join(mark)) {
                let why = match error.kind() {
                    std::io::ErrorKind::NotFound => format!("it has no {mark}"),
                    _ => format!("{mark}: {error}"),
                };
                return Err(no(why));
            }
        }
        let makefile = root.join("Makefile");
        let text = fs::read_to_string(&makefile).map_err(|error| no(error.to_string()))?;
        let version = version(&text);
        let version = version.ok_or_else(|| no("its Makefile names no version".to_owned()))?;
        Ok(Self {
            git: Git::of(&root),
            root,
            version,
        })
    }
}

/// The version of a tree's own Makefile. None: it says none.
fn version(makefile: &str) -> Option<String> {
    let value = |name: &str| {
        let lines = makefile.lines().take(30);
        let mut values = lines.filter_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
        values.next().map(str::trim)
    };
    let numbers = ["VERSION", "PATCHLEVEL", "SUBLEVEL"].map(value);
    let [Some(version), Some(level), Some(sub)] = numbers else {
        return None;
    };
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let extra = value("EXTRAVERSION").unwrap_or_default();
    let clean = numeric(version) && numeric(level) && numeric(sub) && extra.len() < 40;
    clean.then(|| format!("{version}.{level}.{sub}{extra}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_says_the_version() {
        let text = "# SPDX\nVERSION = 7\nPATCHLEVEL = 4\nSUBLEVEL = 0\nEXTRAVERSION = -rc2\n";
        assert_eq!(version(text).as_deref(), Some("7.4.0-rc2"));
        let text = text.replace("-rc2", "");
        assert_eq!(version(&text).as_deref(), Some("7.4.0"));
        assert_eq!(version("all:\n\tcc x.c\n"), None);
    }

    #[test]
    fn what_is_missing_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Tree::open(folder.path()).expect_err("empty");
        assert!(error.to_string().ends_with("it has no Makefile"), "{error}");
        let file = folder.path().join("x");
        fs::write(&file, "").expect("written");
        let error = Tree::open(&file).expect_err("a file");
        assert!(
            error.to_string().contains("is no tree of a kernel"),
            "{error}"
        );
    }
}
