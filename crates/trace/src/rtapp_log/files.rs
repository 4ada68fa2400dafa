//! The files of one run, which change as one. What waits to be written is bounded, and no more than
//! one file is open at a time.
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wakeplace_files::{FileSet, WriteError};

/// Text that waits to be written, bytes; then all of it is.
const WAITING_BYTES: usize = 4 << 20;

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
}

impl Files {
    /// Files that will be all that is in `folder`; `is_ours` knows the names of such files.
    pub(super) fn create(
        folder: &Path,
        is_ours: impl Fn(&str) -> bool + 'static,
    ) -> Result<Self, LogError> {
        Ok(Self {
            folder: folder.to_owned(),
            set: FileSet::open(folder, is_ours)?,
            files: Vec::new(),
            waiting_bytes: 0,
            limit_bytes: WAITING_BYTES,
        })
    }

    /// One file more; its number.
    pub(super) fn add(&mut self, name: String) -> Result<usize, LogError> {
        if name.contains(['/', '\0']) {
            return Err(LogError::Name { name });
        }
        let text = Vec::new();
        self.files.push(Pending { name, text });
        Ok(self.files.len() - 1)
    }

    /// Text for the end of a file.
    pub(super) fn append(&mut self, file: usize, text: &str) -> Result<(), LogError> {
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
            let named = self.set.folder().join(&file.name);
            fs::rename(self.draft(number), named).map_err(|error| self.failed(error))?;
        }
        self.set.publish()?;
        Ok(self.files.len())
    }

    fn failed(&self, error: io::Error) -> WriteError {
        WriteError::new(&self.folder, error)
    }

    /// Where a file is until all are whole: names of two threads may be equal.
    fn draft(&self, number: usize) -> PathBuf {
        self.set.folder().join(number.to_string())
    }

    fn flush(&mut self) -> Result<(), LogError> {
        for number in 0..self.files.len() {
            let text = std::mem::take(&mut self.files[number].text);
            if !text.is_empty() {
                let path = self.draft(number);
                append(&path, &text).map_err(|error| self.failed(error))?;
            }
        }
        self.waiting_bytes = 0;
        Ok(())
    }
}

fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut files = Files::create(folder.path(), |name| name == "a").expect("folder");
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
        let mut files = Files::create(folder.path(), |name| name == "a").expect("folder");
        let a = files.add("a".into()).expect("a");
        files.append(a, &"x".repeat(WAITING_BYTES + 1)).expect("a");
        drop(files);
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn errors_name_the_place() {
        let folder = tempfile::tempdir().expect("folder");
        let missing = folder.path().join("no");
        let error = Files::create(&missing.join("logs"), |_| false).expect_err("no folder");
        assert!(
            error
                .to_string()
                .starts_with(&missing.display().to_string()),
            "{error}"
        );
        let mut files = Files::create(folder.path(), |name| name == "a").expect("folder");
        let error = files.add("../x".into()).expect_err("a path");
        assert_eq!(
            error.to_string(),
            "a log cannot be called `../x`; expected a name without `/`"
        );
    }
}
