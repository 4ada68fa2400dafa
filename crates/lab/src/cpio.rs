//! Archives in the kernel's initramfs format (`newc`: Documentation/driver-api/early-userspace/
//! buffer-format.rst), written in order and without times, so that equal files give equal bytes.
//!
//! What must stay: equal files, equal bytes: no times, numbers of inodes by order. Free: how bytes
//! are gathered.
//!
//! Tests by part: `what_is_written_is_read_back` (`folder`, `file`, `link`, `device`, `entry`,
//! `above`, `pad`, `finish`), `an_empty_archive_is_its_end` (`finish`).
//!
//! Callers: initramfs.rs, packages.rs, run.rs, scheduler.rs. The page is docs/guide/lab.md.
//!
//! Tests: below

use std::collections::BTreeSet;

const MAGIC: &str = "070701";
const DIRECTORY: u32 = 0o040_755;
const SYMLINK: u32 = 0o120_777;
const CHARACTER: u32 = 0o020_600;
const REGULAR: u32 = 0o100_000;

/// An archive in the making. Folders of a file are added by themselves.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    /// A folder and those above it.
    pub(crate) fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || self.folders.contains(path) {
            return;
        }
        self.above(path);
        self.folders.insert(path.to_owned());
        self.entry(path, DIRECTORY, (0, 0), &[]);
    }

    /// A file; `executable` for everyone.
    pub(crate) fn file(&mut self, path: &str, contents: &[u8], executable: bool) {
        let mode = REGULAR | if executable { 0o755 } else { 0o644 };
        let path = path.trim_matches('/');
        self.above(path);
        self.entry(path, mode, (0, 0), contents);
    }

    /// Adds a symbolic link to the archive.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        let path = path.trim_matches('/');
        self.above(path);
        self.entry(path, SYMLINK, (0, 0), target.as_bytes());
    }

    /// A character device.
    pub(crate) fn device(&mut self, path: &str, major: u32, minor: u32) {
        let path = path.trim_matches('/');
        self.above(path);
        self.entry(path, CHARACTER, (major, minor), &[]);
    }

    /// The whole archive; another one may follow it.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entries = u32::MAX;
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    /// All folders above a path, each once.
    fn above(&mut self, path: &str) {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.folder(folder);
        }
    }

    /// One entry in the `newc` form.
    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), contents: &[u8]) {
        // The last entry has number 0, which no other has.
        self.entries = self.entries.wrapping_add(1);
        let size = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        let name_size = u32::try_from(path.len() + 1).unwrap_or(u32::MAX);
        let links = if mode & 0o170_000 == 0o040_000 { 2 } else { 1 };
        self.bytes.extend(MAGIC.as_bytes());
        // ino mode uid gid nlink mtime filesize maj min rmaj rmin namesize chksum
        for field in [
            self.entries,
            mode,
            0,
            0,
            links,
            0,
            size,
            0,
            0,
            device.0,
            device.1,
            name_size,
            0,
        ] {
            self.bytes.extend(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(contents);
        self.pad();
    }

    /// To four bytes, as the format has it.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as a reader of the format sees it: path, mode, device, contents.
    type Entry = (String, u32, (u32, u32), Vec<u8>);

    /// Reads an archive by the document, not by the writer.
    fn read(mut bytes: &[u8]) -> Vec<Entry> {
        let mut entries = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |index: usize| {
                let at = 6 + index * 8;
                let text = std::str::from_utf8(&bytes[at..at + 8]).expect("hexadecimal");
                u32::from_str_radix(text, 16).expect("hexadecimal")
            };
            let (name_size, size) = (field(11) as usize, field(6) as usize);
            let name = String::from_utf8(bytes[110..110 + name_size - 1].to_vec()).expect("UTF-8");
            assert_eq!(bytes[110 + name_size - 1], 0);
            let data = (110 + name_size).next_multiple_of(4);
            let contents = bytes[data..data + size].to_vec();
            let (mode, device) = (field(1), (field(9), field(10)));
            bytes = &bytes[(data + size).next_multiple_of(4)..];
            if name == "TRAILER!!!" {
                assert!(bytes.is_empty());
                return entries;
            }
            entries.push((name, mode, device, contents));
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut archive = Archive::default();
        archive.file("/usr/bin/tool", b"12345", true);
        archive.file("usr/note", b"", false);
        archive.link("bin", "usr/bin");
        archive.device("dev/console", 5, 1);
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let entry = |path: &str, mode, device, contents: &[u8]| {
            (path.to_owned(), mode, device, contents.to_vec())
        };
        let expected = vec![
            entry("usr", 0o040_755, (0, 0), b""),
            entry("usr/bin", 0o040_755, (0, 0), b""),
            entry("usr/bin/tool", 0o100_755, (0, 0), b"12345"),
            entry("usr/note", 0o100_644, (0, 0), b""),
            entry("bin", 0o120_777, (0, 0), b"usr/bin"),
            entry("dev", 0o040_755, (0, 0), b""),
            entry("dev/console", 0o020_600, (5, 1), b""),
        ];
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn an_empty_archive_is_its_end() {
        assert_eq!(read(&Archive::default().finish()), []);
    }
}
