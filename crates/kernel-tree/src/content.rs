//! What is in a tree, as one sum: the key under which what was built of it is kept.
//!
//! Only files that the build reads count. Each is read once and remembered with its size, times and
//! inode; a tree of 12,000 such files is looked at again in a tenth of a second. A file whose times
//! lie so near to the look that it may have been written again within the same tick of the clock is
//! read the next time, too, as git does it (docs/guide/kernel.md, "What is kept"). A tree that
//! changed in anything that the build reads has another key.
//!
//! What must stay: the sum of equal trees, wherever they are; what is remembered is only for speed.
//! Free: the form of what is remembered.
//!
//! Tests by part: `only_what_the_build_reads_counts` (`look`, `add`, `add_file`, `sum`),
//! `a_file_that_was_written_within_a_tick_is_read_again` (`known`, `of`),
//! `a_change_with_an_old_time_is_one_that_make_would_miss` (`hides_a_change_from`),
//! `what_was_seen_is_remembered` (`save`, `load`, `parse`),
//! overlay.rs::`links_follow_the_tree_and_leave_products_out` (`paths`). `hex` is any sum's form.
//! `now_ns` has no test of its own.
//!
//! Callers: builds.rs, overlay.rs (`paths`).
//!
//! Tests: below,
//! crates/kernel-tree/tests/all/fake_tree.rs::a_tree_is_built_once_and_again_when_it_changes

use crate::TreeError;
use crate::wanted::Wanted;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Times this near to a look are not trusted, ns: file systems with seconds round to one.
const TOO_NEAR_NS: i128 = 2_000_000_000;

/// One file as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    size: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    inode: u64,
    sum: String,
}

/// The files of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    files: BTreeMap<String, Seen>,
    /// When the look began, by the system's clock.
    at_ns: i128,
}

impl Content {
    /// Looks at a tree; what `before` knows is not read again.
    pub(crate) fn look(tree: &Path, wanted: &Wanted, before: &Self) -> Result<Self, TreeError> {
        let mut content = Self {
            files: BTreeMap::new(),
            at_ns: now_ns(),
        };
        content.add(tree, "", wanted, before)?;
        Ok(content)
    }

    /// Takes in a folder and all below it that the build reads.
    fn add(
        &mut self,
        tree: &Path,
        below: &str,
        wanted: &Wanted,
        before: &Self,
    ) -> Result<(), TreeError> {
        let folder = tree.join(below);
        let entries = fs::read_dir(&folder).map_err(TreeError::reading(&folder))?;
        for entry in entries {
            let entry = entry.map_err(TreeError::reading(&folder))?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = match below {
                "" => name.clone(),
                below => format!("{below}/{name}"),
            };
            let kind = entry.file_type().map_err(TreeError::reading(&folder))?;
            if kind.is_dir() {
                if name != ".git" {
                    self.add(tree, &path, wanted, before)?;
                }
            } else if wanted.has_source(&path) {
                self.add_file(tree, path, before)?;
            }
        }
        Ok(())
    }

    /// Takes in a file; one whose size and time are as before keeps its sum.
    fn add_file(&mut self, tree: &Path, path: String, before: &Self) -> Result<(), TreeError> {
        let whole = tree.join(&path);
        // A link to nothing, or to a folder, is in some trees and read by no build.
        let Ok(found) = fs::metadata(&whole) else {
            return Ok(());
        };
        if !found.is_file() {
            return Ok(());
        }
        let mut seen = Seen::of(&found);
        match before.known(&path, &seen) {
            Some(sum) => sum.clone_into(&mut seen.sum),
            None => {
                let bytes = fs::read(&whole).map_err(TreeError::reading(&whole))?;
                seen.sum = hex(&Sha256::digest(&bytes));
            }
        }
        self.files.insert(path, seen);
        Ok(())
    }

    /// The sum of a file that is as it was. None: it has changed, or may have.
    fn known(&self, path: &str, now: &Seen) -> Option<&str> {
        let seen = self.files.get(path)?;
        let same = (seen.size, seen.mtime_ns, seen.ctime_ns, seen.inode)
            == (now.size, now.mtime_ns, now.ctime_ns, now.inode);
        let settled = seen.mtime_ns.max(seen.ctime_ns) + TOO_NEAR_NS < self.at_ns;
        (same && settled).then_some(seen.sum.as_str())
    }

    /// One sum of all names and contents.
    pub(crate) fn sum(&self) -> String {
        let mut hasher = Sha256::new();
        for (path, seen) in &self.files {
            hasher.update(format!("{} {path}\n", seen.sum));
        }
        hex(&hasher.finalize())
    }

    /// Paths of all files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Says whether make would miss a change since `built`: it compares times, and a file that was
    /// put there with an old one is other than it was, and yet not newer than what was built of it.
    pub(crate) fn hides_a_change_from(&self, built: &Self) -> bool {
        self.files.iter().any(|(path, now)| {
            let before = built.files.get(path);
            let changed = before.is_some_and(|before| before.sum != now.sum);
            changed && now.mtime_ns <= built.at_ns
        })
    }

    /// Reads what [`Self::save`] wrote; nothing if it is not there or not whole.
    pub(crate) fn load(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        Self::parse(&text).unwrap_or_default()
    }

    /// What an earlier look has left; None: it is of another form.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let at_ns = lines.next()?.parse().ok()?;
        let file = |line: &str| {
            let mut words = line.splitn(6, ' ');
            let seen = Seen {
                size: words.next()?.parse().ok()?,
                mtime_ns: words.next()?.parse().ok()?,
                ctime_ns: words.next()?.parse().ok()?,
                inode: words.next()?.parse().ok()?,
                sum: words.next()?.to_owned(),
            };
            Some((words.next()?.to_owned(), seen))
        };
        let files: Option<_> = lines.map(file).collect();
        Some(Self {
            files: files?,
            at_ns,
        })
    }

    /// Remembers what was seen.
    pub(crate) fn save(&self, file: &Path) -> Result<(), TreeError> {
        let mut text = format!("{}\n", self.at_ns).into_bytes();
        // A name with a line in it would be two.
        for (path, seen) in self.files.iter().filter(|(path, _)| !path.contains('\n')) {
            let Seen {
                size,
                mtime_ns,
                ctime_ns,
                inode,
                sum,
            } = seen;
            let _ = writeln!(text, "{size} {mtime_ns} {ctime_ns} {inode} {sum} {path}");
        }
        let written = wakeplace_files::write(file, &text);
        written.map_err(|error| wakeplace_archive::ArchiveError::Write(error).into())
    }
}

impl Seen {
    /// Times in ns; the sum is still to be made.
    fn of(found: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            size: found.len(),
            mtime_ns: ns(found.mtime(), found.mtime_nsec()),
            ctime_ns: ns(found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
            sum: String::new(),
        }
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Wall time: it says only whether a file's time is too near.
#[allow(
    clippy::disallowed_methods,
    reason = "decides which files are read again, and no result"
)]
fn now_ns() -> i128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("kernel/sched")).expect("made");
        fs::create_dir_all(tree.join("fs")).expect("made");
        fs::write(tree.join("kernel/sched/fair.c"), "a").expect("written");
        fs::write(tree.join("fs/x.c"), "a").expect("written");
        (folder, tree)
    }

    fn look(tree: &Path, before: &Content) -> Content {
        Content::look(tree, &Wanted::parse("kernel/\n"), before).expect("seen")
    }

    /// Moves both the file's time and the look's to a settled past.
    fn age(file: &Path, seconds: u64) {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = fs::File::options().append(true).open(file).expect("opened");
        file.set_modified(long_ago).expect("set");
    }

    #[test]
    fn only_what_the_build_reads_counts() {
        let (_folder, tree) = tree();
        let first = look(&tree, &Content::default());
        fs::write(tree.join("fs/x.c"), "b").expect("written");
        assert_eq!(look(&tree, &first).sum(), first.sum());
        fs::write(tree.join("kernel/sched/fair.c"), "b").expect("written");
        let changed = look(&tree, &first);
        assert_ne!(changed.sum(), first.sum());
        // The same content again is the same key.
        fs::write(tree.join("kernel/sched/fair.c"), "a").expect("written");
        assert_eq!(look(&tree, &changed).sum(), first.sum());
        // A new name is another tree.
        fs::rename(tree.join("kernel/sched/fair.c"), tree.join("kernel/x.c")).expect("moved");
        assert_ne!(look(&tree, &changed).sum(), first.sum());
    }

    #[test]
    fn a_file_that_was_written_within_a_tick_is_read_again() {
        let (_folder, tree) = tree();
        let file = tree.join("kernel/sched/fair.c");
        let first = look(&tree, &Content::default());
        // As if the clock had not moved: same size, and what was seen agrees in all but the sum.
        fs::write(&file, "b").expect("written");
        let mut before = first.clone();
        let found = Seen::of(&fs::metadata(&file).expect("there"));
        let seen = before.files.values_mut().next().expect("one");
        *seen = Seen {
            sum: seen.sum.clone(),
            ..found
        };
        assert_ne!(look(&tree, &before).sum(), first.sum());
        // Long after, such an entry is trusted.
        before.at_ns += 10 * TOO_NEAR_NS;
        assert_eq!(look(&tree, &before).sum(), first.sum());
    }

    #[test]
    fn a_change_with_an_old_time_is_one_that_make_would_miss() {
        let (_folder, tree) = tree();
        let file = tree.join("kernel/sched/fair.c");
        let built = look(&tree, &Content::default());
        // The clock of file systems stands still for some milliseconds at a time.
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&file, "other").expect("written");
        let newer = look(&tree, &built);
        assert!(!newer.hides_a_change_from(&built));
        age(&file, 1_000_000_000);
        assert!(look(&tree, &built).hides_a_change_from(&built));
        fs::write(&file, "a").expect("written");
        age(&file, 1_000_000_000);
        // Its content is the same, so nothing is missed.
        assert!(!look(&tree, &built).hides_a_change_from(&built));
    }

    #[test]
    fn what_was_seen_is_remembered() {
        let (folder, tree) = tree();
        let content = look(&tree, &Content::default());
        let file = folder.path().join("seen");
        content.save(&file).expect("written");
        assert_eq!(Content::load(&file), content);
        fs::write(&file, "5\n1 2 3\n").expect("written");
        assert_eq!(Content::load(&file), Content::default());
    }
}
