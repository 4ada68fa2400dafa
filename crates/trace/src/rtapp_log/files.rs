//! The files of one run, which change as one. What waits to be written is bounded, and no more than
//! one file is open at a time (docs/guide/rt-app.md, "Logs").
//!
//! What must stay: files change as one: all new ones, or the old ones as they were; what waits and
//! what a run may log is bounded. How much waits may change. Tests by part:
//! `files_are_there_at_the_end_and_whole` (`append`, `flush`, `publish`),
//! `what_is_not_published_leaves_nothing` (`create`), `logs_have_an_end` (`Most`),
//! `errors_name_the_place` (`add`, `create`), `logs_change_as_one` (a faulty disk),
//! `logs_have_an_end` (`exceeded`), `errors_name_the_place` (`failed`), the first also `draft`;
//! `names` is the tests' own.
//!
//! Tests: below, crates/cli/tests/all/faults/mod.rs::logs_change_as_one
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wakeplace_files::{FileSet, Names, WriteError};

/// Text that waits to be written, bytes; then all of it is.
const WAITING_BYTES: usize = 4 << 20;
/// Most files: each fork of a thread has one, and a run can fork for ever.
const MAX_FILES: usize = 10_000;
/// Most text of one run, bytes: some 30 million lines. A loop whose passes take 1 us has as many in
/// half a minute.
const MAX_BYTES: u64 = 4 << 30;

/// Why there are no logs.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// They cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A name of a thread or `log_basename` is no file's.
    #[error("a log cannot be called `{name}`; expected a name without `/`")]
    Name {
        /// The whole name.
        name: String,
    },
    /// The run logs without end.
    #[error(
        "the logs of this run have more than {files} files or {bytes} bytes; expected a shorter \
         run (`--duration`)"
    )]
    TooMuch {
        /// Most files.
        files: usize,
        /// Most bytes.
        bytes: u64,
    },
}

/// One file in the making.
#[derive(Debug)]
struct Pending {
    name: String,
    text: Vec<u8>,
}

/// The files of one run.
#[derive(Debug)]
pub(super) struct Files {
    /// As it was asked for.
    folder: PathBuf,
    set: FileSet,
    files: Vec<Pending>,
    waiting_bytes: usize,
    limit_bytes: usize,
    bytes: u64,
    most: Most,
}

/// What a run may log.
#[derive(Clone, Copy, Debug)]
struct Most {
    files: usize,
    bytes: u64,
}

impl Most {
    /// What is said of logs past their bounds.
    fn exceeded(self) -> LogError {
        LogError::TooMuch {
            files: self.files,
            bytes: self.bytes,
        }
    }
}

impl Files {
    /// Files that will be all that is in `folder`; `names` are those of such files.
    pub(super) fn create(folder: &Path, names: Names) -> Result<Self, LogError> {
        Ok(Self {
            folder: folder.to_owned(),
            set: FileSet::open(folder, names)?,
            files: Vec::new(),
            waiting_bytes: 0,
            limit_bytes: WAITING_BYTES,
            bytes: 0,
            most: Most {
                files: MAX_FILES,
                bytes: MAX_BYTES,
            },
        })
    }

    /// One file more; its number.
    pub(super) fn add(&mut self, name: String) -> Result<usize, LogError> {
        if name.contains(['/', '\0']) {
            return Err(LogError::Name { name });
        }
        if self.files.len() >= self.most.files {
            return Err(self.most.exceeded());
        }
        let text = Vec::new();
        self.files.push(Pending { name, text });
        Ok(self.files.len() - 1)
    }

    /// Text for the end of a file.
    pub(super) fn append(&mut self, file: usize, text: &str) -> Result<(), LogError> {
        self.bytes += text.len() as u64;
        if self.bytes > self.most.bytes {
            return Err(self.most.exceeded());
        }
        self.files[file].text.extend_from_slice(text.as_bytes());
        self.waiting_bytes += text.len();
        if self.waiting_bytes > self.limit_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits and moves the files to their place; how many they are.
    pub(super) fn publish(mut self) -> Result<usize, LogError> {
        self.flush()?;
        for (number, file) in self.files.iter().enumerate() {
            self.set.rename(&draft(number), &file.name)?;
        }
        self.set.publish()?;
        Ok(self.files.len())
    }

    /// The error with the folder's name.
    fn failed(&self, error: io::Error) -> WriteError {
        WriteError::new(&self.folder, error)
    }

    /// Writes what waits, file by file.
    fn flush(&mut self) -> Result<(), LogError> {
        for number in 0..self.files.len() {
            let text = std::mem::take(&mut self.files[number].text);
            if !text.is_empty() {
                let mut file = self.set.append(&draft(number))?;
                file.write_all(&text).map_err(|error| self.failed(error))?;
            }
        }
        self.waiting_bytes = 0;
        Ok(())
    }
}

/// What a file is called until all are whole: names of two threads may be equal.
fn draft(number: usize) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("folder");
        let names = entries.map(|entry| entry.expect("entry").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_there_at_the_end_and_whole() {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("a"), "old").expect("a file of before");
        let mut files = Files::create(folder.path(), Names::exactly(["a"])).expect("folder");
        files.limit_bytes = 5;
        let (a, b) = (
            files.add("a".into()).expect("a"),
            files.add("b".into()).expect("b"),
        );
        files.append(a, "one\n").expect("a");
        files.append(b, "two\n").expect("b");
        assert_eq!(
            files.waiting_bytes, 0,
            "more than five bytes were written out"
        );
        files.append(a, "three\n").expect("a");
        assert_eq!(
            fs::read_to_string(folder.path().join("a")).expect("a"),
            "old"
        );
        assert!(!folder.path().join("b").exists());
        assert_eq!(files.publish().expect("moved"), 2);
        let read = |name| fs::read_to_string(folder.path().join(name)).expect("file");
        assert_eq!(
            (read("a"), read("b")),
            ("one\nthree\n".into(), "two\n".into())
        );
        assert_eq!(names(folder.path()), ["a", "b"], "the workshop is gone");
    }

    #[test]
    fn what_is_not_published_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let mut files = Files::create(folder.path(), Names::exactly(["a"])).expect("folder");
        let a = files.add("a".into()).expect("a");
        files.append(a, &"x".repeat(WAITING_BYTES + 1)).expect("a");
        drop(files);
        assert_eq!(names(folder.path()), [""; 0]);
    }

    /// Goal: a run that logs for ever, or forks for ever, ends in a message and leaves nothing.
    #[test]
    fn logs_have_an_end() {
        let folder = tempfile::tempdir().expect("folder");
        let open = || {
            let mut files = Files::create(folder.path(), Names::ending("")).expect("folder");
            files.limit_bytes = 5;
            files.most = Most {
                files: 2,
                bytes: 12,
            };
            files
        };
        let mut files = open();
        let a = files.add("a".into()).expect("a");
        files.append(a, "four").expect("four of twelve");
        files.append(a, "four-and").expect("twelve of twelve");
        let error = files.append(a, "\n").expect_err("thirteen");
        assert!(
            error
                .to_string()
                .contains("12 bytes; expected a shorter run")
        );
        drop(files);
        let mut files = open();
        for name in ["a", "b"] {
            files.add(name.into()).expect("one of two");
        }
        let error = files.add("c".into()).expect_err("a third");
        assert!(error.to_string().contains("more than 2 files"), "{error}");
        drop(files);
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn errors_name_the_place() {
        let folder = tempfile::tempdir().expect("folder");
        let missing = folder.path().join("no");
        let error = Files::create(&missing.join("logs"), Names::default()).expect_err("no folder");
        assert!(
            error
                .to_string()
                .starts_with(&missing.display().to_string()),
            "{error}"
        );
        let mut files = Files::create(folder.path(), Names::exactly(["a"])).expect("folder");
        let error = files.add("../x".into()).expect_err("a path");
        assert_eq!(
            error.to_string(),
            "a log cannot be called `../x`; expected a name without `/`"
        );
    }
}
