//! A folder of links to a tree's sources, for trees in which something was built: what such a build
//! left would be taken for this one's (docs/guide/kernel.md, "What is kept").
//!
//! What must stay: links only to sources; products of another build never come along. Free: how
//! links are made and compared.
//!
//! Tests by part: `links_follow_the_tree_and_leave_products_out` (`link`, `remove_others`),
//! fake_tree.rs::`a_tree_in_which_something_was_built_is_read_without_that` (a build of such a
//! folder).
//!
//! Callers: builds.rs (`source`).
//!
//! Tests: below

use crate::TreeError;
use crate::content::Content;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Links for all files of `content`, and no others.
pub(crate) fn link(tree: &Path, content: &Content, to: &Path) -> Result<(), TreeError> {
    let paths: BTreeSet<&str> = content.paths().collect();
    fs::create_dir_all(to).map_err(TreeError::writing(to))?;
    remove_others(to, "", &paths)?;
    let mut folder = None;
    for path in paths {
        let link = to.join(path);
        let parent = link.parent();
        if parent.map(Path::to_owned) != folder {
            if let Some(parent) = parent {
                fs::create_dir_all(parent).map_err(TreeError::writing(parent))?;
            }
            folder = parent.map(Path::to_owned);
        }
        match symlink(tree.join(path), &link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => linked.map_err(TreeError::writing(&link))?,
        }
    }
    Ok(())
}

/// Removes links to files that are there no more.
fn remove_others(to: &Path, below: &str, paths: &BTreeSet<&str>) -> Result<(), TreeError> {
    let folder = to.join(below);
    for entry in fs::read_dir(&folder).map_err(TreeError::reading(&folder))? {
        let entry = entry.map_err(TreeError::reading(&folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        let kind = entry.file_type().map_err(TreeError::reading(&folder))?;
        if kind.is_dir() {
            remove_others(to, &path, paths)?;
        } else if !paths.contains(path.as_str()) {
            let link = entry.path();
            fs::remove_file(&link).map_err(TreeError::writing(&link))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wanted::Wanted;

    #[test]
    fn links_follow_the_tree_and_leave_products_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, to) = (folder.path().join("tree"), folder.path().join("links"));
        let sched = tree.join("kernel/sched");
        fs::create_dir_all(&sched).expect("made");
        for name in ["fair.c", "old.c", "fair.o"] {
            fs::write(sched.join(name), name).expect("written");
        }
        let wanted = Wanted::parse("kernel/\n");
        let look = || Content::look(&tree, &wanted, &Content::default()).expect("seen");
        link(&tree, &look(), &to).expect("linked");
        let there = |name: &str| to.join("kernel/sched").join(name).exists();
        assert!(there("fair.c") && there("old.c") && !there("fair.o"));
        fs::rename(sched.join("old.c"), sched.join("new.c")).expect("moved");
        link(&tree, &look(), &to).expect("linked");
        assert!(there("fair.c") && there("new.c"));
        assert!(fs::symlink_metadata(to.join("kernel/sched/old.c")).is_err());
    }
}
