//! Files that grow for long (docs/guide/traces.md, "What is promised of files").
//!
//! Callers: crates/trace/src/export/ftrace.rs and perfetto.rs (`WriteBehind`).
//!
//! What must stay: the file holds what was written, in order. What the disk does not take is said
//! by whoever syncs; nothing here hides an error of a write. Free: when bytes go to the disk. Tests
//! by part: `all_that_is_written_is_there` (`write_all`, `write_all_vectored`, `wrote`).
//!
//! Tests: below

use std::fs::File;
use std::io::{self, IoSlice, Write as _};

/// Bytes after which the disk is given work.
const STEP_BYTES: u64 = 1 << 22;

/// A file whose bytes go to the disk while others are still made: who syncs it at the end waits for
/// the last of them only. What the disk does not take is said then.
#[derive(Debug)]
pub struct WriteBehind {
    file: File,
    /// Bytes written, and those of them that were given to the disk.
    written: u64,
    given: u64,
}

impl WriteBehind {
    /// An empty file, open for writing.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self {
            file,
            written: 0,
            given: 0,
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.wrote(bytes.len());
        Ok(())
    }

    /// Appends all of these, one after the other.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write_all_vectored(&mut self, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        while !parts.is_empty() {
            match self.file.write_vectored(parts) {
                Ok(0) if parts.iter().all(|part| part.is_empty()) => break,
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    IoSlice::advance_slices(&mut parts, written);
                    self.wrote(written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// So many bytes more: after some of them the disk is given work.
    fn wrote(&mut self, bytes: usize) {
        self.written += bytes as u64;
        let new = self.written - self.given;
        if new >= STEP_BYTES {
            give_to_disk(&self.file, self.given, new);
            self.given = self.written;
        }
    }
}

/// Begins to write these bytes to the disk. It waits for none of them, but for a place in the
/// disk's queue. What cannot be written is left to who syncs: no error is taken from them.
#[cfg(target_os = "linux")]
fn give_to_disk(file: &File, from: u64, bytes: u64) {
    use std::os::fd::AsRawFd as _;
    let (Ok(from), Ok(bytes)) = (from.try_into(), bytes.try_into()) else {
        return;
    };
    // SAFETY: the file is open; no memory is passed.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), from, bytes, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Elsewhere than on Linux the system decides by itself.
#[cfg(not(target_os = "linux"))]
fn give_to_disk(_file: &File, _from: u64, _bytes: u64) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Goal: all bytes, in order, whether or not some were given to the disk meanwhile.
    #[test]
    fn all_that_is_written_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let mut file = WriteBehind::new(File::create(&path).expect("a file"));
        let part = vec![b'a'; STEP_BYTES as usize - 1];
        file.write_all(&part).expect("written");
        assert_eq!(file.given, 0);
        let parts = &mut [b"bc".as_slice(), b"", b"d"].map(IoSlice::new);
        file.write_all_vectored(parts).expect("written");
        assert_eq!(file.given, STEP_BYTES + 2);
        file.write_all_vectored(&mut [IoSlice::new(b"")])
            .expect("nothing");
        let expected = [part.as_slice(), b"bcd"].concat();
        assert!(fs::read(&path).expect("there") == expected);
    }
}
