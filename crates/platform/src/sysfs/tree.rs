//! Reading the small text files of sysfs and debugfs, from a live tree or a saved copy
//! (docs/guide/import.md, "How a tree is read"). A file that is absent, one that may not be read
//! and one with nonsense are three different answers.
//!
//! Called by all readers of `sysfs`. Nothing is written.
//!
//! What must stay: the three answers apart, as `EBUSY` and an absent file mean that the kernel has
//! nothing to say; files are read to a limit and only if they are files; names from outside are
//! shown harmlessly. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `lists_of_both_forms` (`list`), `numbers_are_digits` (`number`),
//! sysfs.rs::`what_is_missing_or_no_file_is_named` (`text`, `needed`, `read_limited`),
//! hostile.rs::`strange_entries` (`read_limited`, `is_absent`),
//! archives.rs::`a_tree_below_one_folder` (`folder`, `of_archive`, `of_files`, `lead`),
//! archives.rs::`two_machines_and_names_that_lead_out` (`several`),
//! archives.rs::`a_nul_at_the_end_of_a_file` (`trimmed`, `quoted`),
//! details.rs::`the_tick_is_found_where_configurations_are` (`setting`),
//! hostile.rs::`files_that_are_missing` (`no_tree`). `new`, `shown`, `wrong`, `unreadable`,
//! `bytes`, `head`, `cpus`, `names`, `numbered`: sysfs.rs; `archive` and `names_below`:
//! archives.rs.
//!
//! Tests: below, crates/platform/tests/all/sysfs.rs, crates/platform/tests/all/import

use super::{CPUS, SysfsError, tar};
use crate::MAX_CPUS;
use crate::given::{Given, HEAD_BYTES, given};
use flate2::read::MultiGzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Largest file that is read, bytes. Sysfs hands out a page per text file; a CPU list of 1024 CPUs
/// that alternate is 3 KiB.
const MAX_FILE_BYTES: u64 = 16 << 10;

/// Most of a file of settings that is read; the configuration of a distribution's kernel is 0.3 MB.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// Most entries of a folder that are looked at: the folder of 1024 CPUs has some 20 more.
const MAX_ENTRIES: usize = 4096;

/// `EBUSY`: what the kernel answers for a cpufreq policy all of whose CPUs are offline.
const EBUSY: i32 = 16;

/// A tree below a root, or the files of an archive.
pub(crate) struct Tree {
    root: PathBuf,
    /// The files of an archive by path, its folders too (without content).
    archive: Option<BTreeMap<String, Option<Vec<u8>>>>,
}

impl Tree {
    /// A folder that is a tree's root, unchecked.
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            archive: None,
        }
    }

    /// The tree in a folder: the folder itself, or the one in it that has `sys`.
    pub(crate) fn folder(root: &Path) -> Result<Self, SysfsError> {
        let tree = Self::new(root);
        if root.join(CPUS).exists() {
            return Ok(tree);
        }
        if let Some((found, expected)) = no_tree(root) {
            return Err(SysfsError::Wrong {
                path: root.display().to_string(),
                found: found.to_owned(),
                expected,
            });
        }
        let below = tree.names(".")?.unwrap_or_default();
        let has = |name: &String| root.join(name).join(CPUS).is_dir();
        let leads: Vec<String> = below.into_iter().filter(has).collect();
        match &leads[..] {
            [] => Ok(tree),
            [lead] => Ok(Self::new(&root.join(lead))),
            leads => Err(several(root, leads)),
        }
    }

    /// The files of a tar archive, which `root` names in messages.
    pub(crate) fn archive(root: &Path) -> Result<Self, SysfsError> {
        let read = File::open(root).map_err(|error| error.to_string());
        Self::of_archive(root, read.map(io::BufReader::new))
    }

    /// The same of an archive that is already open, or could not be opened.
    pub(crate) fn of_archive(
        root: &Path,
        from: Result<impl Read, String>,
    ) -> Result<Self, SysfsError> {
        let path = root.display().to_string();
        let unreadable = |why: String| SysfsError::Unreadable {
            path: path.clone(),
            expected: "a tar archive that `platform capture` made, or a folder".to_owned(),
            why,
        };
        let mut from = from.map_err(unreadable)?;
        let mut head = Vec::new();
        let beginning = from.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
        beginning.map_err(|error| unreadable(error.to_string()))?;
        let whole = head.chain(from);
        let files = match given(&head) {
            Some(Given::Gzip) => tar::files(MultiGzDecoder::new(whole), MAX_FILE_BYTES),
            _ => tar::files(whole, MAX_FILE_BYTES),
        };
        match (files, given(&head)) {
            (Ok(files), _) => Self::of_files(root, files),
            (Err(_), Some(given)) if given != Given::Gzip => Err(SysfsError::Wrong {
                path,
                found: given.is().to_owned(),
                expected: given.instead().to_owned(),
            }),
            (Err(why), _) => Err(unreadable(why)),
        }
    }

    /// The tree in an archive: at its top, or below the one folder that has `sys`.
    fn of_files(
        root: &Path,
        mut files: BTreeMap<String, Option<Vec<u8>>>,
    ) -> Result<Self, SysfsError> {
        let leads: BTreeSet<String> = files.keys().filter_map(|name| lead(name)).collect();
        let leads: Vec<String> = leads.into_iter().collect();
        let mut root = root.to_path_buf();
        match &leads[..] {
            [first, ..] if first.is_empty() => {}
            [] => {}
            [lead] => {
                let below = |(name, bytes): (String, _)| {
                    Some((
                        name.strip_prefix(lead)?.strip_prefix('/')?.to_owned(),
                        bytes,
                    ))
                };
                files = files.into_iter().filter_map(below).collect();
                root.push(lead);
            }
            leads => return Err(several(&root, leads)),
        }
        Ok(Self {
            root,
            archive: Some(files),
        })
    }

    /// The whole path, for messages.
    fn shown(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    /// What a file says is impossible.
    pub(crate) fn wrong(
        &self,
        path: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> SysfsError {
        SysfsError::Wrong {
            path: self.shown(path),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// A file that is there and cannot be read.
    fn unreadable(&self, path: &str, expected: &str, why: &io::Error) -> SysfsError {
        SysfsError::Unreadable {
            path: self.shown(path),
            expected: expected.to_owned(),
            why: why.to_string(),
        }
    }

    /// The text of a file without white space and NULs around it; `None` where there is no such
    /// file.
    pub(crate) fn text(&self, path: &str, expected: &str) -> Result<Option<String>, SysfsError> {
        match self.bytes(path) {
            Ok(bytes) if bytes.len() as u64 > MAX_FILE_BYTES => {
                let found = format!("more than {MAX_FILE_BYTES} bytes");
                Err(self.wrong(path, found, expected))
            }
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(trimmed(&text).to_owned())),
                Err(_) => Err(self.wrong(path, "bytes that are no text", expected)),
            },
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.unreadable(path, expected, &error)),
        }
    }

    /// A file's bytes, at most one more than the limit.
    fn bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        let Some(files) = &self.archive else {
            return read_limited(&self.root.join(path));
        };
        match files.get(path) {
            Some(Some(bytes)) => Ok(bytes.clone()),
            Some(None) => Err(io::Error::other("it is no file")),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// The beginning of a file that may be long, as text; `None` where there is none.
    pub(crate) fn head(&self, path: &str) -> Option<String> {
        let bytes = self.bytes(path).ok()?;
        Some(trimmed(&String::from_utf8_lossy(&bytes)).to_owned())
    }

    /// What stands behind `KEY=` in a file of settings, which may be long.
    pub(crate) fn setting(&self, path: &str, key: &str) -> Option<String> {
        let bytes = match &self.archive {
            Some(_) => self.bytes(path).ok()?,
            None => {
                let mut bytes = Vec::new();
                let file = File::open(self.root.join(path)).ok()?;
                let mut from: Box<dyn Read> = match path.ends_with(".gz") {
                    true => Box::new(flate2::read::GzDecoder::new(file)),
                    false => Box::new(file),
                };
                from.as_mut()
                    .take(MAX_SETTINGS_BYTES)
                    .read_to_end(&mut bytes)
                    .ok()?;
                bytes
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let value = |line: &str| Some(line.trim().strip_prefix(key)?.strip_prefix('=')?.to_owned());
        text.lines().find_map(value)
    }

    /// A file that must be there.
    pub(crate) fn needed(&self, path: &str, expected: &str) -> Result<String, SysfsError> {
        let text = self.text(path, expected)?;
        text.ok_or_else(|| self.wrong(path, "no such file", expected))
    }

    /// A number within limits, from a file that may be absent.
    pub(crate) fn number(
        &self,
        path: &str,
        range: std::ops::RangeInclusive<u64>,
        what: &str,
    ) -> Result<Option<u64>, SysfsError> {
        let expected = format!("{what} from {} to {}", range.start(), range.end());
        let Some(text) = self.text(path, &expected)? else {
            return Ok(None);
        };
        match number(&text) {
            Some(value) if range.contains(&value) => Ok(Some(value)),
            _ => Err(self.wrong(path, quoted(&text), expected)),
        }
    }

    /// The CPUs of a list (`0-3,8`, or as cpufreq writes them `0 1 2 3`), ascending, each once.
    /// `None` where there is no such file.
    pub(crate) fn cpus(&self, path: &str, nr_cpus: usize) -> Result<Option<Vec<u16>>, SysfsError> {
        let expected = format!("a list of CPUs from 0 to {}, as 0-3,8", nr_cpus - 1);
        let Some(text) = self.text(path, &expected)? else {
            return Ok(None);
        };
        match list(&text, nr_cpus) {
            Some(cpus) => Ok(Some(cpus)),
            None => Err(self.wrong(path, quoted(&text), expected)),
        }
    }

    /// The names of a folder's entries, sorted; `None` where there is no such folder.
    pub(crate) fn names(&self, path: &str) -> Result<Option<Vec<String>>, SysfsError> {
        const EXPECTED: &str = "a readable folder";
        if let Some(files) = &self.archive {
            let names = names_below(files, path);
            if names.len() > MAX_ENTRIES {
                let found = format!("more than {MAX_ENTRIES} entries");
                return Err(self.wrong(path, found, EXPECTED));
            }
            return Ok(Some(names).filter(|names| !names.is_empty()));
        }
        let entries = match fs::read_dir(self.root.join(path)) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.unreadable(path, EXPECTED, &error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.unreadable(path, EXPECTED, &error))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
            if names.len() > MAX_ENTRIES {
                let found = format!("more than {MAX_ENTRIES} entries");
                return Err(self.wrong(path, found, EXPECTED));
            }
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    /// The numbers N of the entries `PREFIXN` of a folder, ascending.
    pub(crate) fn numbered(&self, path: &str, prefix: &str) -> Result<Vec<u32>, SysfsError> {
        let names = self.names(path)?.unwrap_or_default();
        let number = |name: &String| number(name.strip_prefix(prefix)?)?.try_into().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// A file's text without what stands around it: white space, and the NUL that ends what some
/// kernels copied out of a buffer.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}

/// The folder that has the `sys` of a name, empty for the top; none: the name is of no CPU.
fn lead(name: &str) -> Option<String> {
    let at = format!("/{name}").find(&format!("/{CPUS}/"))?;
    Some(name[..at.saturating_sub(1)].to_owned())
}

/// Why nothing at `root` can be a tree, and what to give instead.
fn no_tree(root: &Path) -> Option<(&'static str, String)> {
    let expected = "a folder that holds `sys`, or a tar archive that `platform capture` made";
    if !root.exists() {
        return Some(("there is no such folder", expected.to_owned()));
    }
    if !root.is_dir() {
        return Some(("it is neither a folder nor an archive", expected.to_owned()));
    }
    let whole = std::path::absolute(root).ok()?;
    let holds =
        |folder: &&Path| folder.join(CPUS).is_dir() && whole.starts_with(folder.join("sys"));
    let holder = whole.ancestors().skip(1).find(holds)?;
    let expected = format!("the folder that holds `sys`: {}", holder.display());
    Some(("it lies within `sys`", expected))
}

/// What is said of an archive with more than one machine.
fn several(root: &Path, leads: &[String]) -> SysfsError {
    let names: Vec<String> = leads.iter().take(3).map(|lead| quoted(lead)).collect();
    let more = if leads.len() > 3 { " and others" } else { "" };
    SysfsError::Wrong {
        path: root.display().to_string(),
        found: format!("`sys` in several folders: {}{more}", names.join(", ")),
        expected: "the tree of one machine".to_owned(),
    }
}

/// The entries of an archive's folder, sorted.
fn names_below(files: &BTreeMap<String, Option<Vec<u8>>>, path: &str) -> Vec<String> {
    let lead = if path == "." {
        String::new()
    } else {
        format!("{path}/")
    };
    let below = files
        .range(lead.clone()..)
        .take_while(|(name, _)| name.starts_with(&lead));
    let mut names: Vec<String> = below
        .filter_map(|(name, _)| name[lead.len()..].split('/').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    names
}

/// At most one byte more than the limit. A saved tree may hold anything: a pipe would block.
fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The file is not there, or the kernel says that it has nothing to say (`EBUSY`).
fn is_absent(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(EBUSY)
}

/// Digits and nothing else: no sign, no space.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The CPUs of a list, all below `limit`; an empty text is the empty list.
pub(crate) fn list(text: &str, limit: usize) -> Option<Vec<u16>> {
    let mut chosen = vec![false; limit.min(MAX_CPUS)];
    for part in text.split([',', ' ', '\t', '\n']).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first = usize::try_from(number(first)?).ok()?;
        let last = usize::try_from(number(last)?).ok()?;
        chosen.get_mut(first..last.checked_add(1)?)?.fill(true);
    }
    let numbers = (0u16..).zip(chosen).filter(|(_, chosen)| *chosen);
    Some(numbers.map(|(cpu, _)| cpu).collect())
}

/// A text from outside as it may stand in a message.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() {
        "nothing".to_owned()
    } else {
        format!(
            "`{}`",
            wakeplace_text::printable(&wakeplace_text::shorten(text))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{list, number};

    #[test]
    fn lists_of_both_forms() {
        assert_eq!(list("0-2,5", 6), Some(vec![0, 1, 2, 5]));
        assert_eq!(list("4 1 0", 6), Some(vec![0, 1, 4]));
        assert_eq!(list("", 6), Some(vec![]));
        for wrong in [
            "6",
            "0-6",
            "3-1",
            "x",
            "1-",
            "-1",
            "0-18446744073709551615",
            "+1",
        ] {
            assert_eq!(list(wrong, 6), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(number("007"), Some(7));
        for wrong in ["", "+7", "-7", "7 ", "0x7", "99999999999999999999"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
