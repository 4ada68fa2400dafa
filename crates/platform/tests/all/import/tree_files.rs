//! Trees of files out of their short form (tests/import/trees/README.md).
//!
//! What must stay: the trees are of facts in fixtures, not of the importer. Callers: import/mod.rs,
//! archives.rs, hostile.rs, architectures.rs, round_trip.rs; a fault here fails there. `named`
//! reads a kept tree; `line`, `expanded`, `filled` and `whole` its short form; `put` and `remove`
//! change it; `folder`, `archive` and `tar` write it. Page: docs/guide/import.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a tree.
#[derive(Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, String>);

impl Files {
    /// A tree of `tests/import/trees`.
    pub(crate) fn named(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/trees");
        let text = fs::read_to_string(folder.join(name)).expect("a tree");
        let mut files = Self::default();
        for line in text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            files.line(line);
        }
        files
    }

    fn line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("include ") {
            self.0.extend(Self::named(name).0);
        } else if let Some(path) = line.strip_prefix("remove ") {
            for (path, _) in expanded(path) {
                let below = format!("{path}/");
                self.0.retain(|own, _| !own.starts_with(&below));
            }
        } else if let Some(numbers) = line.strip_prefix("clusters ") {
            let mut numbers = numbers
                .split(' ')
                .map(|n| n.parse::<usize>().expect("a number"));
            let (size, count) = (
                numbers.next().expect("size"),
                numbers.next().expect("count"),
            );
            for cpu in 0..count {
                let first = cpu / size * size;
                let list = format!("{first}-{}", first + size - 1);
                self.put(&format!("cpu{cpu}/topology/cluster_cpus_list"), &list);
            }
        } else {
            let (path, text) = line.split_once(" = ").expect("PATH = TEXT");
            for (path, number) in expanded(path) {
                self.put(&path, &filled(text, number));
            }
        }
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.0.insert(whole(path), text.to_owned());
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.0.remove(&whole(path));
    }

    /// Writes them below a folder.
    pub(crate) fn write(&self, root: &Path) {
        for (path, text) in &self.0 {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, format!("{text}\n")).expect("a file");
        }
    }

    /// The bytes of an archive with them, each name behind `lead`.
    pub(crate) fn tar(&self, lead: &str) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, text) in &self.0 {
            let text = format!("{text}\n");
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            // As it is: the crate refuses what leads out of an archive.
            let name = format!("{lead}{path}");
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, text.as_bytes()).expect("an entry");
        }
        archive.into_inner().expect("an archive")
    }

    /// An archive with them: one file instead of thousands.
    pub(crate) fn archive(&self, name: &str) -> (tempfile::TempDir, PathBuf) {
        let bytes = self.tar("");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("{name}.tar"));
        fs::write(&path, bytes).expect("an archive");
        (folder, path)
    }

    /// A folder with them, called as the platform shall be.
    pub(crate) fn folder(&self, name: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join(name);
        self.write(&root);
        (folder, root)
    }
}

fn whole(path: &str) -> String {
    let lead = match path {
        _ if path.starts_with("cpu") => "sys/devices/system/cpu/",
        _ if path.starts_with("node") => "sys/devices/system/node/",
        _ if path.starts_with("em/") => {
            return path.replacen("em/", "sys/kernel/debug/energy_model/", 1);
        }
        _ => "",
    };
    format!("{lead}{path}")
}

/// The paths of a line, each with its number.
fn expanded(path: &str) -> Vec<(String, i64)> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![(whole(path), 0)];
    };
    let (range, after) = rest.split_once('}').expect("a closing brace");
    let (first, last) = range.split_once('-').expect("A-B");
    let (first, last): (i64, i64) = (first.parse().expect("A"), last.parse().expect("B"));
    (first..=last)
        .map(|n| (whole(&format!("{before}{n}{after}")), n))
        .collect()
}

fn filled(text: &str, number: i64) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (offset, after) = after.split_once('}').expect("a closing brace");
        let offset: i64 = if offset.is_empty() {
            0
        } else {
            offset.parse().expect("an offset")
        };
        out += &format!("{before}{}", number + offset);
        rest = after;
    }
    out + rest
}
