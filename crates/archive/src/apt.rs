//! A private tree for apt: the same mirror as the machine's own, other suites and any architecture,
//! and nothing of the machine's own state read or changed (docs/guide/lab.md,
//! docs/guide/kernel.md).
//!
//! What must stay: nothing of the machine's own apt is written; only what signed lists name is
//! believed.
//!
//! Tests by part: `a_list_says_what_packages_are` (`listed_of`, `field`),
//! `a_source_is_known_by_its_original_archive` (`source_of`), `only_wanted_files_are_taken`
//! (`take`), `a_checksum_is_that_of_the_file` (`sha256`),
//! `a_folder_without_its_record_is_not_taken` (`write_record`, `read_record`). All that asks an
//! archive (`open`, `configuration`, `command`, `refresh`, `stamp`, `names`, `missing`, `fetch`,
//! `download`, `download_source`, `watched`, `versions`, `source_versions`, `listed`, `checked`,
//! `described`, `debs`, `closure`, `folder_bytes`, `files_by_name`) has no test without one:
//! crates/lab/tests/boot.rs and crates/kernel-tree/tests/all/real_tree.rs use it.
//!
//! Callers: crates/lab, crates/kernel-tree, xtask.
//!
//! Tests: below

use crate::cache::{Cache, age, install};
use crate::program::{output, output_watched};
use crate::sources::Mirror;
use crate::{ArchiveError, Watch};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Lists of packages are looked at again after this.
pub const LISTS_LAST: Duration = Duration::from_secs(24 * 3600);
/// How often a download is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// What the archive is asked by.
pub const PROGRAMS: [&str; 3] = ["apt-cache", "apt-get", "dpkg-deb"];
/// What was extracted says what it is in this file.
pub const RECORD: &str = "record.json";

/// Which packages a tree knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Folder of the tree below `apt/` in the cache.
    pub folder: String,
    /// Debian's name of the architecture.
    pub arch: &'static str,
    /// Names of Debian's releases.
    pub suites: &'static [&'static str],
    /// Source packages besides.
    pub sources: bool,
}

/// A package as it was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Name.
    pub package: String,
    /// Version.
    pub version: String,
    /// SHA-256 of the file it came in.
    pub sha256: String,
}

/// A folder with what was in packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Root of the files.
    pub root: PathBuf,
    /// What it was made of.
    pub packages: Vec<Package>,
}

/// A package as the signed lists describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// What it is.
    pub package: Package,
    /// Size of the file, bytes.
    pub bytes: u64,
}

/// A tree of its own for apt.
#[derive(Debug)]
pub struct AptTree {
    selection: Selection,
    cache: Cache,
    folder: PathBuf,
    mirror: Mirror,
}

impl AptTree {
    /// Makes the tree, or finds it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(cache: &Cache, selection: Selection) -> Result<Self, ArchiveError> {
        let folder = cache.folder(&format!("apt/{}", selection.folder))?;
        for below in ["state/lists/partial", "cache/archives/partial"] {
            let path = folder.join(below);
            fs::create_dir_all(&path).map_err(ArchiveError::file(&path, "made"))?;
        }
        let tree = Self {
            selection,
            cache: cache.clone(),
            mirror: Mirror::of_user(),
            folder,
        };
        let write = |name: &str, text: String| {
            let path = tree.folder.join(name);
            // Other sources make the lists that are here worthless.
            if fs::read_to_string(&path).is_ok_and(|old| old == text) {
                return Ok(());
            }
            let _ = fs::remove_file(tree.stamp());
            wakeplace_files::write(&path, text.as_bytes()).map_err(ArchiveError::Write)
        };
        let Selection {
            suites, sources, ..
        } = tree.selection;
        write("sources.list", tree.mirror.list(suites, sources))?;
        write("apt.conf", tree.configuration())?;
        Ok(tree)
    }

    /// Read after the machine's own configuration, so that its proxies stay and its hooks go.
    fn configuration(&self) -> String {
        let (arch, folder) = (self.selection.arch, self.folder.display());
        format!(
            r#"APT::Architecture "{arch}";
#clear APT::Architectures;
APT::Architectures {{ "{arch}"; }};
Dir::State "{folder}/state";
Dir::State::status "/dev/null";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Debug::NoLocking "true";
"#
        )
    }

    /// A program of apt with this tree's configuration alone.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("-c").arg(self.folder.join("apt.conf"));
        command
    }

    /// When lists were fetched last.
    fn stamp(&self) -> PathBuf {
        self.folder.join("refreshed")
    }

    /// Fetches the lists of packages if they are older than a day, or at once if `now`.
    ///
    /// # Errors
    /// When there are none at all and they cannot be fetched.
    pub fn refresh(&self, now: bool, watch: &dyn Watch) -> Result<(), ArchiveError> {
        let age = age(&self.stamp());
        if !now && age.is_some_and(|age| age < LISTS_LAST) {
            return Ok(());
        }
        watch.step(&format!(
            "lists of packages for {} from {}",
            self.selection.arch, self.mirror.uri
        ));
        // A list that could not be fetched is an error, not a warning: the old one would be used.
        let fetched = output(
            self.command("apt-get")
                .args(["-qq", "--error-on=any", "update"]),
        );
        match (fetched, age) {
            (Ok(_), _) => {
                let stamp = self.stamp();
                wakeplace_files::write(&stamp, b"").map_err(ArchiveError::Write)
            }
            (Err(error), Some(_)) => {
                watch.remark(&format!("the lists of packages are old: {error}"));
                Ok(())
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Names of packages that begin with `prefix`.
    ///
    /// # Errors
    /// When apt-cache fails.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>, ArchiveError> {
        let names = output(self.command("apt-cache").args(["pkgnames", prefix]))?;
        let names = String::from_utf8_lossy(&names);
        let mut names: Vec<String> = names.lines().map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    /// That there is no such package, in this tree's words.
    #[must_use]
    pub fn missing(&self, wanted: &str) -> ArchiveError {
        ArchiveError::NoPackage {
            wanted: wanted.to_owned(),
            arch: self.selection.arch.to_owned(),
            mirror: self.mirror.uri.clone(),
            suites: self.selection.suites.join(", "),
        }
    }

    /// Fetches one package, without what it depends on, and puts the files that `wanted` takes
    /// into `root`.
    ///
    /// # Errors
    /// When it cannot be had, or is not the one that the signed lists describe.
    pub fn fetch(
        &self,
        name: &str,
        root: &Path,
        wanted: &dyn Fn(&Path) -> bool,
        watch: &dyn Watch,
    ) -> Result<Package, ArchiveError> {
        let listed = self.listed(name)?;
        let scratch = self.cache.scratch()?;
        let file = self.download(&listed, scratch.path(), watch)?;
        let whole = scratch.path().join("root");
        output(Command::new("dpkg-deb").arg("-x").arg(file).arg(&whole))?;
        take(&whole, &whole, root, wanted)?;
        Ok(listed.package)
    }

    /// Fetches the file of a package into `folder`, which is empty, and compares it with the signed
    /// list.
    ///
    /// # Errors
    /// When it cannot be had, or is not the one that the signed lists describe.
    pub fn download(
        &self,
        listed: &Listed,
        folder: &Path,
        watch: &dyn Watch,
    ) -> Result<PathBuf, ArchiveError> {
        let Package {
            package, version, ..
        } = &listed.package;
        let exact = format!("{package}={version}");
        let mut command = self.command("apt-get");
        command.args(["-q", "download", &exact]);
        self.watched(command, listed, folder, watch)?;
        match &debs(folder)?[..] {
            [file] => checked(file, listed),
            _ => {
                let why = "apt-get download left no single package file";
                Err(ArchiveError::damaged(package, why))
            }
        }
    }

    /// Fetches the files of a source package into `folder`, which is empty; returns the archive of
    /// the original sources, which is the one that `listed` describes.
    ///
    /// # Errors
    /// When it cannot be had, or is not the one that the signed lists describe.
    pub fn download_source(
        &self,
        listed: &Listed,
        folder: &Path,
        watch: &dyn Watch,
    ) -> Result<PathBuf, ArchiveError> {
        let Package {
            package, version, ..
        } = &listed.package;
        let exact = format!("{package}={version}");
        let mut command = self.command("apt-get");
        command.args([
            "-q",
            "--download-only",
            // Debian's own part may be gone from a mirror, and is not needed.
            "--tar-only",
            "--only-source",
            "source",
            &exact,
        ]);
        self.watched(command, listed, folder, watch)?;
        let orig = |name: &&String| name.contains(".orig.tar.");
        let by_name = files_by_name(folder);
        match by_name.keys().find(orig) {
            Some(name) => checked(&by_name[name], listed),
            None => Err(ArchiveError::damaged(package, "no original sources in it")),
        }
    }

    /// Runs a command that fetches, and says how far it is.
    fn watched(
        &self,
        mut command: Command,
        listed: &Listed,
        folder: &Path,
        watch: &dyn Watch,
    ) -> Result<(), ArchiveError> {
        let Package {
            package, version, ..
        } = &listed.package;
        let step = |tenths: u64| {
            let mb = listed.bytes.div_ceil(1_000_000);
            let done = match tenths {
                0 => String::new(),
                tenths => format!(", {} % of {mb} MB", tenths * 10),
            };
            watch.step(&format!("package {package} {version}{done}"));
        };
        step(0);
        let mut said = 0;
        let look = || {
            let tenths = (folder_bytes(folder) * 10 / listed.bytes.max(1)).min(10);
            if tenths > said {
                said = tenths;
                step(tenths);
            }
        };
        output_watched(command.current_dir(folder), LOOK_EVERY, look).map(drop)
    }

    /// All versions of the packages of these names that the signed lists have.
    ///
    /// # Errors
    /// When apt-cache fails.
    pub fn versions(&self, names: &[String]) -> Result<Vec<Listed>, ArchiveError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let text = output(self.command("apt-cache").arg("show").args(names))?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.split("\n\n").filter_map(listed_of).collect())
    }

    /// All versions of a source package, with the archives of their original sources.
    ///
    /// # Errors
    /// When apt-cache fails.
    pub fn source_versions(&self, name: &str) -> Result<Vec<Listed>, ArchiveError> {
        let args = ["showsrc", "--only-source", name];
        let text = output(self.command("apt-cache").args(args))?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.split("\n\n").filter_map(source_of).collect())
    }

    /// What the signed lists say of a package.
    fn listed(&self, name: &str) -> Result<Listed, ArchiveError> {
        let args = ["show", "--no-all-versions", name];
        let text = output(self.command("apt-cache").args(args)).map_err(|_| self.missing(name))?;
        let text = String::from_utf8_lossy(&text);
        // apt takes a name that no package has for an expression, and shows what it fits on.
        let found = listed_of(&text).filter(|listed| listed.package.package == name);
        found.ok_or_else(|| self.missing(name))
    }

    /// Packages with all that they depend on, extracted into one folder of the cache. What is there
    /// already is used as it is.
    ///
    /// # Errors
    /// When a package cannot be had.
    pub fn closure(&self, names: &[&str], watch: &dyn Watch) -> Result<Extracted, ArchiveError> {
        let at = self.cache.closure(self.selection.arch, names);
        if let Some(there) = read_record(&at) {
            return Ok(there);
        }
        self.refresh(false, watch)?;
        for name in names {
            self.listed(name)?;
        }
        watch.step(&format!(
            "{} for {} with what they need",
            names.join(", "),
            self.selection.arch
        ));
        let scratch = self.cache.scratch()?;
        let archives = scratch.path().join("archives");
        fs::create_dir_all(archives.join("partial"))
            .map_err(ArchiveError::file(&archives, "made"))?;
        let mut setting = std::ffi::OsString::from("Dir::Cache::archives=");
        setting.push(&archives);
        let mut command = self.command("apt-get");
        command.args([
            "-qq",
            "-y",
            "--download-only",
            "--no-install-recommends",
            "-o",
        ]);
        output(command.arg(setting).arg("install").args(names))?;
        let root = scratch.path().join("root");
        let mut packages = Vec::new();
        for file in debs(&archives)? {
            packages.push(described(&file)?);
            output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&root))?;
        }
        write_record(&root, &packages)?;
        install(&root, &at, &scratch)?;
        Ok(Extracted { root: at, packages })
    }
}

/// A field of a paragraph of a list, of one line. None: it is not there.
fn field<'a>(paragraph: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':');
    paragraph.lines().find_map(value).map(str::trim)
}

/// A package, of its paragraph. None: a field that is needed is not there.
fn listed_of(paragraph: &str) -> Option<Listed> {
    let owned = |name| field(paragraph, name).map(str::to_owned);
    Some(Listed {
        package: Package {
            package: owned("Package")?,
            version: owned("Version")?,
            sha256: owned("SHA256")?,
        },
        bytes: field(paragraph, "Size")?.parse().ok()?,
    })
}

/// A source package, of its paragraph. Sums stand on lines that begin with a blank: sum, size,
/// name.
fn source_of(paragraph: &str) -> Option<Listed> {
    let (_, sums) = paragraph.split_once("\nChecksums-Sha256:")?;
    let mut sums = sums
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with(' '));
    let (sha256, bytes) = sums.find_map(|line| {
        let mut words = line.split_whitespace();
        let (sum, size, name) = (words.next()?, words.next()?, words.next()?);
        let is_orig = name.contains(".orig.tar.") && !name.ends_with(".asc");
        is_orig.then_some((sum, size))
    })?;
    Some(Listed {
        package: Package {
            package: field(paragraph, "Package")?.to_owned(),
            version: field(paragraph, "Version")?.to_owned(),
            sha256: sha256.to_owned(),
        },
        bytes: bytes.parse().ok()?,
    })
}

/// A file that is the one of the signed list.
fn checked(file: &Path, listed: &Listed) -> Result<PathBuf, ArchiveError> {
    let (found, expected) = (sha256(file)?, &listed.package.sha256);
    if found == *expected {
        return Ok(file.to_owned());
    }
    let why = format!("its SHA-256 is {found}, the signed list says {expected}");
    Err(ArchiveError::damaged(&listed.package.package, why))
}

/// Bytes of all files in a folder and in those below it, as far as they can be seen.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// What the package file says of itself.
fn described(file: &Path) -> Result<Package, ArchiveError> {
    let field = |name: &str| {
        let value = output(Command::new("dpkg-deb").arg("-f").arg(file).arg(name))?;
        Ok::<_, ArchiveError>(String::from_utf8_lossy(&value).trim().to_owned())
    };
    Ok(Package {
        package: field("Package")?,
        version: field("Version")?,
        sha256: sha256(file)?,
    })
}

/// Package files in a folder, by name.
fn debs(folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let entries = fs::read_dir(folder).map_err(ArchiveError::reading(folder))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    Ok(files)
}

/// SHA-256 of a file, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(file: &Path) -> Result<String, ArchiveError> {
    let mut hasher = Sha256::new();
    let mut reader = fs::File::open(file).map_err(ArchiveError::reading(file))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader
            .read(&mut buffer)
            .map_err(ArchiveError::reading(file))?
        {
            0 => break,
            got => hasher.update(&buffer[..got]),
        }
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Moves the files that are wanted, by their path below `whole`.
fn take(
    folder: &Path,
    whole: &Path,
    root: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(), ArchiveError> {
    for entry in fs::read_dir(folder)
        .map_err(ArchiveError::reading(folder))?
        .flatten()
    {
        let path = entry.path();
        let below = path.strip_prefix(whole).unwrap_or(&path).to_owned();
        if path.is_dir() && !path.is_symlink() {
            take(&path, whole, root, wanted)?;
        } else if wanted(&below) {
            let to = root.join(&below);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(ArchiveError::file(parent, "made"))?;
            }
            fs::rename(&path, &to).map_err(ArchiveError::writing(&to))?;
        }
    }
    Ok(())
}

/// Notes beside extracted files what they came from.
///
/// # Errors
/// When it cannot be written.
pub fn write_record(root: &Path, packages: &[Package]) -> Result<(), ArchiveError> {
    let path = root.join(RECORD);
    let text = serde_json::to_string_pretty(packages).unwrap_or_default();
    fs::create_dir_all(root).map_err(ArchiveError::file(root, "made"))?;
    fs::write(&path, text + "\n").map_err(ArchiveError::writing(&path))
}

/// What a folder of the cache was made of; none if it is not there or not whole.
#[must_use]
pub fn read_record(at: &Path) -> Option<Extracted> {
    let text = fs::read_to_string(at.join(RECORD)).ok()?;
    Some(Extracted {
        root: at.to_owned(),
        packages: serde_json::from_str(&text).ok()?,
    })
}

/// Where every file below a folder is, by its name; among equal names the one nearest to the root.
#[must_use]
pub fn files_by_name(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut level = vec![folder.to_owned()];
    while !level.is_empty() {
        let mut next = Vec::new();
        for folder in &level {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() && !path.is_symlink() {
                    next.push(path);
                } else if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
                    found.entry(name.to_owned()).or_insert(path);
                }
            }
        }
        level = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_its_record_is_not_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read_record(folder.path()), None);
        let package = Package {
            package: "busybox-static".to_owned(),
            version: "1:1.37.0-6".to_owned(),
            sha256: "00ff".to_owned(),
        };
        write_record(folder.path(), std::slice::from_ref(&package)).expect("written");
        let there = read_record(folder.path()).expect("a record");
        assert_eq!(there.packages, [package]);
        fs::write(folder.path().join(RECORD), "[{").expect("written");
        assert_eq!(read_record(folder.path()), None);
    }

    #[test]
    fn a_list_says_what_packages_are() {
        let text = "Package: linux-source-6.1\nSource: linux\nVersion: 6.1.176-1\nSize: 139131140\n\
                    SHA256: 9305\nDescription: x\n";
        let listed = listed_of(text).expect("whole");
        assert_eq!(listed.package.version, "6.1.176-1");
        assert_eq!(listed.bytes, 139_131_140);
        assert_eq!(listed_of("Package: a\nVersion: 1\n"), None);
    }

    #[test]
    fn a_source_is_known_by_its_original_archive() {
        let text = "Package: linux\nVersion: 6.18.15-1~bpo13+1\nChecksums-Sha1:\n \
                    aa 1 linux_6.18.15.orig.tar.xz\nChecksums-Sha256:\n bb 2 linux.dsc\n \
                    cc 3 linux_6.18.15.orig.tar.xz\nFiles:\n dd 4 linux_6.18.15.orig.tar.xz\n";
        let listed = source_of(text).expect("whole");
        assert_eq!((listed.package.sha256.as_str(), listed.bytes), ("cc", 3));
        assert_eq!(source_of("Package: linux\nVersion: 1\n"), None);
    }

    #[test]
    fn only_wanted_files_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let (whole, root) = (folder.path().join("whole"), folder.path().join("root"));
        fs::create_dir_all(whole.join("boot/x")).expect("made");
        fs::write(whole.join("boot/vmlinuz-1"), "k").expect("written");
        fs::write(whole.join("boot/x/y"), "").expect("written");
        take(&whole, &whole, &root, &|path| path.ends_with("vmlinuz-1")).expect("taken");
        assert_eq!(
            fs::read_to_string(root.join("boot/vmlinuz-1")).expect("there"),
            "k"
        );
        assert!(!root.join("boot/x").exists());
    }

    #[test]
    fn a_checksum_is_that_of_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a");
        fs::write(&file, "abc").expect("written");
        // FIPS 180-4, the example of one block.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).expect("read"), expected);
    }
}
