//! Built objects in the cache, each whole or not there (docs/guide/kernel.md, "What is kept"). An
//! object that is half written is never found.
//!
//! What must stay: the form of the record, or objects of earlier builds are built anew; what is in
//! use is never pruned. Free: how much is kept before something is pruned.
//!
//! Tests by part: `an_object_is_found_by_its_key_and_only_whole` (`find`, `read`, `put`, `list`),
//! `the_longest_unused_go` (`prune`, `prune_objects`). `now` has no test of its own.
//!
//! Callers: builds.rs, crates/cli/src/commands/kernel.rs (`list`, exported as `built`).
//!
//! Tests: below, crates/kernel-tree/tests/all/fake_tree.rs

use crate::{TreeError, compile};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::{Cache, age, install};

/// Folder of built objects.
const BUILT: &str = "built";
/// What each of them is.
const RECORD: &str = "kernel.json";
/// So many objects are kept, of 10 MB each: those that were not used for the longest time go.
const MAX_BUILT: usize = 40;
/// And so many folders of what they were linked from, of 100 MB each.
const MAX_OBJECTS: usize = 8;

/// A built object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// By which it is kept: of the tree's content, the configuration, the shim and the compiler.
    pub key: String,
    /// The file.
    #[serde(skip)]
    pub object: PathBuf,
    /// As the tree's Makefile says.
    pub version: String,
    /// How results call it.
    pub label: String,
    /// Where the tree came from.
    pub origin: String,
    /// Which kind of machine it is for.
    pub like: String,
    /// With a configuration fragment of the user's.
    pub config: bool,
    /// It was built now; else it was there.
    #[serde(skip)]
    pub fresh: bool,
}

/// An object that is there. None: it is not, or not whole.
pub(crate) fn find(cache: &Cache, key: &str) -> Option<Built> {
    let folder = cache.path(&format!("{BUILT}/{key}"));
    let built = read(&folder)?;
    // Its time says when it was last used.
    if let Ok(file) = fs::File::options().append(true).open(folder.join(RECORD)) {
        let _ = file.set_modified(now());
    }
    Some(built)
}

/// None: the object is not whole.
fn read(folder: &Path) -> Option<Built> {
    let text = fs::read_to_string(folder.join(RECORD)).ok()?;
    let built: Built = serde_json::from_str(&text).ok()?;
    let object = folder.join(compile::OBJECT);
    object.is_file().then_some(Built { object, ..built })
}

/// Keeps a copy of what was built.
pub(crate) fn put(cache: &Cache, built: Built) -> Result<Built, TreeError> {
    let at = cache.path(&format!("{BUILT}/{}", built.key));
    let scratch = cache.scratch()?;
    let root = scratch.path().join("built");
    fs::create_dir_all(&root).map_err(TreeError::writing(&root))?;
    let copy = root.join(compile::OBJECT);
    fs::copy(&built.object, &copy).map_err(TreeError::writing(&copy))?;
    let record = root.join(RECORD);
    let text = serde_json::to_string_pretty(&built).unwrap_or_default() + "\n";
    fs::write(&record, text).map_err(TreeError::writing(&record))?;
    install(&root, &at, &scratch)?;
    prune(&cache.path(BUILT), RECORD, MAX_BUILT, &at);
    Ok(Built {
        object: at.join(compile::OBJECT),
        ..built
    })
}

/// All objects that are there, by label.
#[must_use]
pub fn list(cache: &Cache) -> Vec<Built> {
    let entries = fs::read_dir(cache.path(BUILT))
        .into_iter()
        .flatten()
        .flatten();
    let mut all: Vec<Built> = entries.filter_map(|entry| read(&entry.path())).collect();
    all.sort_by(|a, b| (&a.label, &a.like, &a.key).cmp(&(&b.label, &b.like, &b.key)));
    all
}

/// Makes room for another folder of objects. One whose lock is held is in use.
pub(crate) fn prune_objects(cache: &Cache, own: &Path) {
    prune(&cache.path("objects"), compile::CONTENT, MAX_OBJECTS, own);
}

/// Removes the folders whose `mark` is oldest; `own` stays, and so does what is locked.
fn prune(folder: &Path, mark: &str, most: usize, own: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let folders = paths.filter(|path| path.is_dir() && path != own);
    let mut by_age: Vec<_> = folders.map(|path| (age(&path.join(mark)), path)).collect();
    by_age.sort();
    // None is oldest: such a folder is not whole, and somebody may be at work in it.
    let known = by_age
        .into_iter()
        .filter_map(|(age, path)| Some((age?, path)));
    for (_, path) in known.skip(most.saturating_sub(1)) {
        let lock = path.with_extension("lock");
        let held = fs::File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
        if !held {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Wall time: which folder was used last.
#[allow(
    clippy::disallowed_methods,
    reason = "decides which object is removed first, and no result"
)]
fn now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn built(key: &str, object: &Path) -> Built {
        Built {
            key: key.to_owned(),
            object: object.to_owned(),
            version: "7.3.4".to_owned(),
            label: format!("label {key}"),
            origin: "/linux".to_owned(),
            like: "arm64".to_owned(),
            config: false,
            fresh: true,
        }
    }

    #[test]
    fn an_object_is_found_by_its_key_and_only_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("c")).expect("a cache");
        let object = folder.path().join("kernel.so");
        fs::write(&object, "x").expect("written");
        assert_eq!(find(&cache, "k"), None);
        let put = put(&cache, built("k", &object)).expect("kept");
        let found = find(&cache, "k").expect("there");
        assert_eq!(
            found,
            Built {
                fresh: false,
                ..put
            }
        );
        assert_eq!(list(&cache), std::slice::from_ref(&found));
        fs::remove_file(&found.object).expect("removed");
        assert_eq!(find(&cache, "k"), None);
    }

    #[test]
    fn the_longest_unused_go() {
        let folder = tempfile::tempdir().expect("a folder");
        for (at, name) in ["a", "b", "c", "d"].iter().enumerate() {
            let mark = folder.path().join(name).join(RECORD);
            fs::create_dir_all(folder.path().join(name)).expect("made");
            fs::write(&mark, "").expect("written");
            let file = fs::File::options()
                .append(true)
                .open(&mark)
                .expect("opened");
            let day = Duration::from_secs(86_400 * (at as u64 + 1));
            file.set_modified(now() - day).expect("set");
        }
        // Under way: it has no mark.
        fs::create_dir_all(folder.path().join("e")).expect("made");
        prune(folder.path(), RECORD, 3, &folder.path().join("d"));
        let there = |name: &str| folder.path().join(name).exists();
        assert!(there("a") && there("b") && there("d") && there("e"));
        assert!(!there("c"));
    }
}
