//! This project's own programs for the guest: static, built by `make lab` (docs/guide/lab.md).
//!
//! What must stay: names of the programs, which the guest's scripts call. Free: where the programs
//! are looked for.
//!
//! Tests by part: `the_first_folder_that_has_it_counts` (`find_in`),
//! `what_is_not_built_is_said_with_the_way_out` (`require`, `find`, `folders`).
//!
//! Callers: run.rs.
//!
//! Tests: below

use crate::{Arch, LabError};
use std::path::{Path, PathBuf};

/// The live scheduler.
pub(crate) const SCHEDULER: &str = "scx_wakeplace";
/// Load and stress.
pub(crate) const LOAD: &str = "wakeplace-guest";

/// Folders in which the programs of an architecture may be.
fn folders(arch: Arch) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let named = std::env::var_os("WAKEPLACE_LAB_BIN").filter(|value| !value.is_empty());
    folders.extend(named.map(PathBuf::from));
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    for below in ["lib/wakeplace", "lab"] {
        folders.extend(own.map(|own| own.join(below)));
    }
    folders
        .into_iter()
        .map(|folder| folder.join(arch.name()))
        .collect()
}

/// A program, if it is built.
pub(crate) fn find(arch: Arch, name: &str) -> Option<PathBuf> {
    find_in(&folders(arch), name)
}

/// A program that a run cannot do without.
///
/// # Errors
/// When it is not built.
pub(crate) fn require(arch: Arch, name: &str) -> Result<PathBuf, LabError> {
    find(arch, name).ok_or_else(|| {
        let folders = folders(arch);
        let searched: Vec<_> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        LabError::NotBuilt {
            name: name.to_owned(),
            arch: arch.name().to_owned(),
            searched: searched.join(", "),
        }
    })
}

/// The first folder that has it. None: none has it.
fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_that_has_it_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let folders: Vec<_> = ["a", "b", "c"]
            .map(|name| folder.path().join(name))
            .to_vec();
        for there in &folders[1..] {
            std::fs::create_dir(there).expect("made");
            std::fs::write(there.join("tool"), "").expect("written");
        }
        assert_eq!(find_in(&folders, "tool"), Some(folders[1].join("tool")));
        assert_eq!(find_in(&folders, "other"), None);
    }

    #[test]
    fn what_is_not_built_is_said_with_the_way_out() {
        let error = require(Arch::Arm64, "no-such-program").expect_err("not there");
        let text = error.to_string();
        assert!(
            text.contains("make lab") && text.contains("/arm64"),
            "{text}"
        );
    }
}
