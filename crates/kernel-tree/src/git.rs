//! The git history of a tree: read, never written (docs/guide/kernel.md, "Names").
//!
//! What must stay: the tree and its index are never written. Labels have git's words. Free: which
//! commands of git are asked.
//!
//! Tests by part: `folders_stand_for_their_files` (`two_levels`),
//! crates/kernel-tree/tests/all/fake_tree.rs::`a_revision_is_built_beside_the_work_tree` (`of`,
//! `command`, `describe`, `described`, `revision`, `export`, `no`).
//!
//! Callers: builds.rs (labels), kept.rs (`export`).
//!
//! Tests: below

use crate::wanted::Wanted;
use crate::{TreeError, unpack};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wakeplace_archive::ArchiveError;
use wakeplace_archive::program::output;

/// A tree with its own history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Git {
    root: PathBuf,
}

/// A revision that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    /// The object of its files: equal files have an equal one.
    pub(crate) tree: String,
    /// As `git describe` says, or the commit's short name.
    pub(crate) described: String,
}

impl Git {
    /// The history of the tree at `root`; none if it has none of its own. One that the folder
    /// merely lies in says nothing of it.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let own = root.join(".git").exists();
        own.then(|| Self {
            root: root.to_owned(),
        })
    }

    /// git with nothing written behind the user's back.
    fn command(&self) -> Command {
        let mut command = Command::new("git");
        // Nothing is refreshed behind the user's back, and a tree of another user is read, too.
        let mut safe = std::ffi::OsString::from("safe.directory=");
        safe.push(&self.root);
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .args(["-c", "core.fsmonitor=false", "-c"])
            .arg(safe)
            .arg("-C")
            .arg(&self.root);
        command
    }

    /// The files as they are, in git's words: `v7.3-12-gabc-dirty`. None: git cannot say.
    pub(crate) fn describe(&self) -> Option<String> {
        self.described(&["--dirty"])
    }

    /// None: git fails, or there is no tag.
    fn described(&self, what: &[&str]) -> Option<String> {
        let mut command = self.command();
        command.args(["describe", "--tags", "--always", "--match", "v[0-9]*"]);
        let said = output(command.args(what)).ok()?;
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        (!said.is_empty()).then_some(said)
    }

    /// A revision by any name that git takes.
    pub(crate) fn revision(&self, name: &str) -> Result<Revision, TreeError> {
        let mut command = self.command();
        let tree = format!("{name}^{{tree}}");
        command.args([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &tree,
        ]);
        let found = output(&mut command).map_err(|error| {
            let why = match error {
                ArchiveError::Program { ref why, .. } if why.starts_with("cannot be started") => {
                    error.to_string()
                }
                _ => "git knows no such revision".to_owned(),
            };
            self.no(name, why)
        })?;
        Ok(Revision {
            tree: String::from_utf8_lossy(&found).trim().to_owned(),
            described: self.described(&[name]).unwrap_or_else(|| name.to_owned()),
        })
    }

    /// A revision that cannot be had, and why.
    fn no(&self, name: &str, why: String) -> TreeError {
        TreeError::Revision {
            path: self.root.clone(),
            revision: name.to_owned(),
            why,
        }
    }

    /// Writes the files of a revision that are wanted into a folder.
    pub(crate) fn export(
        &self,
        revision: &Revision,
        wanted: &Wanted,
        to: &Path,
    ) -> Result<(), TreeError> {
        let mut command = self.command();
        command.args(["ls-tree", "-r", "-z", "--name-only", &revision.tree]);
        let names = output(&mut command)?;
        let names = names.split(|byte| *byte == 0);
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        // git is asked for folders: the names of all files are more than a command line takes.
        let folders: BTreeSet<&str> = names
            .filter(|name| wanted.has(name))
            .map(two_levels)
            .collect();
        if folders.is_empty() {
            let why = "there is nothing of a kernel in it".to_owned();
            return Err(self.no(&revision.described, why));
        }
        let mut command = self.command();
        command.args(["archive", "--format=tar", &revision.tree, "--"]);
        command.args(folders.iter().map(|folder| format!(":(literal){folder}")));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| self.no(&revision.described, error.to_string()))?;
        let stream = child
            .stdout
            .take()
            .ok_or_else(|| self.no(&revision.described, "git has no output".to_owned()))?;
        let unpacked = unpack::tar(stream, wanted, 0, to);
        let ended = child.wait();
        unpacked?;
        match ended {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.no(&revision.described, "git archive failed".to_owned())),
        }
    }
}

/// The folder of a file, at most two levels deep, or the file where it has none.
fn two_levels(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    match (slashes.next(), slashes.next()) {
        (_, Some(second)) => &path[..second],
        (Some(first), None) if !path.starts_with("drivers/") && !path.starts_with("arch/") => {
            &path[..first]
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_their_files() {
        for (path, folder) in [
            ("Makefile", "Makefile"),
            ("kernel/fork.c", "kernel"),
            ("kernel/sched/fair.c", "kernel/sched"),
            ("drivers/net/ethernet/x/Kconfig", "drivers/net"),
            // All drivers would be a gigabyte.
            ("drivers/Makefile", "drivers/Makefile"),
        ] {
            assert_eq!(two_levels(path), folder, "{path}");
        }
    }
}
