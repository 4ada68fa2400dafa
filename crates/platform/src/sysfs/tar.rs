//! The files of a tar archive, in memory. Links are left out: nothing that is read stands behind
//! one. The `tar` crate keeps names of any length, so the archive is read through a budget
//! (docs/guide/import.md, "How a tree is read").
//!
//! Called by `tree.rs`. Order of files: by path.
//!
//! What must stay: memory and time are bounded whatever the archive says, by the four limits below;
//! no name leads out; links are never followed. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `files_folders_and_long_names` (`files`, `content`), `what_is_no_archive` (`why`,
//! `damaged`), `sizes_that_lie` (`stored`, `Metered`), `damaged_archives` (every byte),
//! archives.rs::`two_machines_and_names_that_lead_out` (names), archives.rs::`links_are_left_out`
//! (links), archives.rs::`a_packed_archive_that_never_ends` (`MAX_READ_BYTES`),
//! `a_packed_archive_that_never_ends` (`read`, `too_long`); `header` and `archive` below are the
//! tests' own.
//!
//! Tests: below, crates/platform/tests/all/import/archives.rs

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use tar::{Archive, Entry, EntryType};

/// Most entries: 1024 CPUs have some 60 files each.
const MAX_ENTRIES: usize = 200_000;
/// Most bytes that are kept.
const MAX_KEPT_BYTES: u64 = 256 << 20;
/// Most bytes of headers between two files: a long name of either kind and a long link.
const MAX_HEADER_BYTES: u64 = 16 << 10;
/// Most bytes that are read, also of what is left out: a packed archive may stand for any number.
const MAX_READ_BYTES: u64 = 512 << 20;

/// The files by path without `./` at the front; of each at most one byte more than `limit`.
pub(super) fn files(
    from: impl Read,
    limit: u64,
) -> Result<BTreeMap<String, Option<Vec<u8>>>, String> {
    let budget = Budget {
        left: Cell::new(MAX_HEADER_BYTES),
        of_all: Cell::new(MAX_READ_BYTES),
        spent: Cell::new(false),
        failed: Cell::new(false),
        at_end: Cell::new(false),
    };
    let mut archive = Archive::new(Metered {
        from,
        budget: &budget,
    });
    let entries = archive.entries().map_err(|error| error.to_string())?;
    let mut files = BTreeMap::new();
    let (mut kept, mut count) = (0, 0);
    for entry in entries {
        let mut entry = entry.map_err(|error| budget.why(&error))?;
        count += 1;
        if count > MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES} entries"));
        }
        let kind = entry.header().entry_type();
        let stored = stored(&entry)?;
        budget.left.set(stored.saturating_add(MAX_HEADER_BYTES));
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if name.starts_with('/') || name.split('/').any(|part| part == "..") {
            let name = super::quoted(&name);
            return Err(format!("it has {name}, a name that leads out of it"));
        }
        let name = name.trim_start_matches("./").trim_matches('/').to_owned();
        match kind {
            EntryType::Regular => {
                let bytes = content(&mut entry, stored, limit + 1)?;
                kept += bytes.len() as u64;
                if kept > MAX_KEPT_BYTES {
                    return Err(format!("its files have more than {MAX_KEPT_BYTES} bytes"));
                }
                files.insert(name, Some(bytes));
            }
            EntryType::Directory => {
                files.insert(name, None);
            }
            _ => {}
        }
    }
    Ok(files)
}

/// What an entry takes in the archive. A sparse file is longer, and is not read.
fn stored(entry: &Entry<'_, impl Read>) -> Result<u64, String> {
    match entry.header().entry_type() {
        EntryType::Regular => Ok(entry.size()),
        _ => entry.header().entry_size().map_err(|error| damaged(&error)),
    }
}

/// The first bytes of a file.
fn content(entry: &mut impl Read, size: u64, keep: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let kept = keep.min(size);
    let read = entry.take(kept).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match bytes.len() as u64 == kept {
        true => Ok(bytes),
        false => Err(CUT_SHORT.to_owned()),
    }
}

const CUT_SHORT: &str = "it ends inside a file or header";

/// What is said of an archive past the limit.
fn too_long() -> String {
    format!("it has more than {MAX_READ_BYTES} bytes")
}

/// What is said of bytes that are no archive, without bytes of the file.
fn damaged(error: &io::Error) -> String {
    let why = error.to_string();
    // what follows a colon is the file's own bytes
    let why = wakeplace_text::shorten(why.split(':').next().unwrap_or_default());
    format!("it is no tar archive ({why})")
}

/// What may still be read, and how reading ended.
struct Budget {
    /// Until the next header.
    left: Cell<u64>,
    /// Of the whole archive.
    of_all: Cell<u64>,
    spent: Cell<bool>,
    failed: Cell<bool>,
    at_end: Cell<bool>,
}

impl Budget {
    /// Why there is no next entry: the crate's own message says it least well for a file that was
    /// cut short.
    fn why(&self, error: &io::Error) -> String {
        if self.of_all.get() == 0 {
            return too_long();
        }
        if self.spent.get() {
            return format!("a name or header has more than {MAX_HEADER_BYTES} bytes");
        }
        match (self.failed.get(), self.at_end.get()) {
            (true, _) => error.to_string(),
            (false, true) => CUT_SHORT.to_owned(),
            (false, false) => damaged(error),
        }
    }
}

struct Metered<'a, R> {
    from: R,
    budget: &'a Budget,
}

impl<R: Read> Read for Metered<'_, R> {
    /// Reads no more than the budget; past it an error, so that no archive can fill memory.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.budget.left.get();
        if left == 0 && !into.is_empty() {
            self.budget.spent.set(true);
            return Err(io::Error::other("more than the budget"));
        }
        if self.budget.of_all.get() == 0 {
            return Err(io::Error::other(too_long()));
        }
        let most = left.min(self.budget.of_all.get());
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(into.len());
        let got = self.from.read(&mut into[..most]);
        match &got {
            Ok(0) if most > 0 => self.budget.at_end.set(true),
            Ok(count) => {
                let count = *count as u64;
                self.budget.left.set(left - count);
                self.budget.of_all.set(self.budget.of_all.get() - count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.budget.failed.set(true),
        }
        got
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};

    const LIMIT: u64 = 100;

    fn header(kind: EntryType, size: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header
    }

    /// A folder, a file, one with a name of `name_bytes`, and a link.
    fn archive(name_bytes: usize) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        let mut put = |kind, name: &str, bytes: &[u8]| {
            let mut header = header(kind, bytes.len() as u64);
            let put = builder.append_data(&mut header, name, bytes);
            put.expect("an entry");
        };
        put(EntryType::Directory, "./a", b"");
        put(EntryType::Regular, "./a/b", b"text");
        put(
            EntryType::Regular,
            &"n/".repeat(name_bytes / 2),
            &[b'x'; 600],
        );
        let mut link = header(EntryType::Symlink, 0);
        builder
            .append_link(&mut link, "c", "/dev/zero")
            .expect("a link");
        builder.into_inner().expect("an archive")
    }

    #[test]
    fn files_folders_and_long_names() {
        let read = files(&archive(400)[..], LIMIT).expect("an archive");
        assert_eq!(read.len(), 3, "{read:?}");
        assert_eq!(read["a"], None);
        assert_eq!(read["a/b"].as_deref(), Some(&b"text"[..]));
        let long = "n/".repeat(200);
        let kept = read[long.trim_matches('/')].as_ref().expect("a file");
        assert_eq!(kept.len() as u64, LIMIT + 1);
        assert!(files(&b""[..], LIMIT).expect("nothing").is_empty());
    }

    #[test]
    fn what_is_no_archive() {
        let refused = |bytes: &[u8]| files(bytes, LIMIT).expect_err("refused");
        let text = b"many\nlines\nof text\n".repeat(100);
        let why = "it is no tar archive (numeric field was not a number)";
        assert_eq!(refused(&text), why);
        let whole = archive(40);
        assert_eq!(refused(&whole[..700]), CUT_SHORT);
        assert_eq!(refused(&whole[..1030]), CUT_SHORT);
        assert!(refused(&archive(40_000)).contains("a name or header has more than"));
    }

    /// Goal: a size that the file does not have costs neither time nor memory.
    #[test]
    fn sizes_that_lie() {
        for kind in [EntryType::Regular, EntryType::GNULongName, EntryType::Fifo] {
            for size in [1 << 20, 1 << 40, u64::MAX >> 1, u64::MAX] {
                let mut header = header(kind, size);
                header.set_path("a").expect("a name");
                header.set_cksum();
                let mut bytes = header.as_bytes().to_vec();
                bytes.extend([b'x'; 600]);
                assert!(files(&bytes[..], LIMIT).is_err(), "{kind:?} {size}");
            }
        }
        // A name without an end is not kept: the reader behind it would never end.
        let mut header = header(EntryType::GNULongName, 1 << 40);
        header.set_path("a").expect("a name");
        header.set_cksum();
        let endless = header.as_bytes().chain(io::repeat(b'x'));
        let error = files(endless, LIMIT).expect_err("no end");
        assert!(error.contains("a name or header has more than"), "{error}");
    }

    /// Goal: every beginning and every changed byte ends in files or in a message.
    #[test]
    fn damaged_archives() {
        let whole = archive(300);
        for end in 0..whole.len() {
            let _ = files(&whole[..end], LIMIT);
        }
        for at in 0..whole.len() {
            for value in [0, b'7', 0x7f, 0xff] {
                let mut other = whole.clone();
                other[at] = value;
                let start = at / 512 * 512;
                // With a sum that fits, so that the rest of the header is looked at.
                if at % 512 < 148 || at % 512 >= 156 {
                    let mut block = Header::new_old();
                    block
                        .as_mut_bytes()
                        .copy_from_slice(&other[start..start + 512]);
                    block.set_cksum();
                    other[start..start + 512].copy_from_slice(block.as_bytes());
                }
                let _ = files(&other[..], LIMIT);
            }
        }
    }
}
