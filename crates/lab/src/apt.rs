//! A private tree for apt: the same mirror as the machine's own, other suites and any architecture,
//! and nothing of the machine's own state read or changed.

use crate::cache::{Cache, age, install};
use crate::program::output;
use crate::sources::Mirror;
use crate::{Arch, LabError, Watch};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where kernels that take schedulers are, and programs of the same age.
pub const SUITES: [&str; 2] = ["trixie", "trixie-backports"];
/// Lists of packages are looked at again after this.
const LISTS_LAST: Duration = Duration::from_secs(24 * 3600);
/// What was extracted says what it is in this file.
pub(crate) const RECORD: &str = "record.json";

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

/// The tree of one architecture.
#[derive(Debug)]
pub struct AptTree {
    arch: Arch,
    cache: Cache,
    folder: PathBuf,
    mirror: Mirror,
}

impl AptTree {
    /// Makes the tree, or finds it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(cache: &Cache, arch: Arch) -> Result<Self, LabError> {
        let folder = cache.folder(&format!("apt/{}", arch.debian()))?;
        for below in ["state/lists/partial", "cache/archives/partial"] {
            let path = folder.join(below);
            fs::create_dir_all(&path).map_err(LabError::file(&path, "made"))?;
        }
        let tree = Self {
            arch,
            cache: cache.clone(),
            mirror: Mirror::of_machine(Path::new("/etc/apt")),
            folder,
        };
        let write = |name: &str, text: String| {
            let path = tree.folder.join(name);
            // Other sources make the lists that are here worthless.
            if fs::read_to_string(&path).is_ok_and(|old| old == text) {
                return Ok(());
            }
            let _ = fs::remove_file(tree.stamp());
            wakeplace_files::write(&path, text.as_bytes()).map_err(LabError::Write)
        };
        write("sources.list", tree.mirror.list(&SUITES))?;
        write("apt.conf", tree.configuration())?;
        Ok(tree)
    }

    /// Read after the machine's own configuration, so that its proxies stay and its hooks go.
    fn configuration(&self) -> String {
        let (arch, folder) = (self.arch.debian(), self.folder.display());
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

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("-c").arg(self.folder.join("apt.conf"));
        command
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("refreshed")
    }

    /// Fetches the lists of packages if they are older than a day, or at once if `now`.
    ///
    /// # Errors
    /// When there are none at all and they cannot be fetched.
    pub fn refresh(&self, now: bool, watch: &dyn Watch) -> Result<(), LabError> {
        let age = age(&self.stamp());
        if !now && age.is_some_and(|age| age < LISTS_LAST) {
            return Ok(());
        }
        watch.step(&format!(
            "lists of packages for {} from {}",
            self.arch, self.mirror.uri
        ));
        // A list that could not be fetched is an error, not a warning: the old one would be used.
        let fetched = output(
            self.command("apt-get")
                .args(["-qq", "--error-on=any", "update"]),
        );
        match (fetched, age) {
            (Ok(_), _) => {
                let stamp = self.stamp();
                wakeplace_files::write(&stamp, b"").map_err(LabError::Write)
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
    pub fn names(&self, prefix: &str) -> Result<Vec<String>, LabError> {
        let names = output(self.command("apt-cache").args(["pkgnames", prefix]))?;
        let names = String::from_utf8_lossy(&names);
        let mut names: Vec<String> = names.lines().map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    /// That there is no such package, in this tree's words.
    #[must_use]
    pub fn missing(&self, wanted: &str) -> LabError {
        LabError::NoPackage {
            wanted: wanted.to_owned(),
            arch: self.arch.debian().to_owned(),
            mirror: self.mirror.uri.clone(),
            suites: SUITES.join(", "),
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
    ) -> Result<Package, LabError> {
        let listed = self.listed(name)?;
        watch.step(&format!("package {name} {}", listed.version));
        let scratch = self.cache.scratch()?;
        let exact = format!("{name}={}", listed.version);
        output(
            self.command("apt-get")
                .current_dir(scratch.path())
                .args(["-q", "download", &exact]),
        )?;
        let [file] = &debs(scratch.path())?[..] else {
            return Err(LabError::damaged(
                name,
                "apt-get download left no single package file",
            ));
        };
        let found = sha256(file)?;
        if found != listed.sha256 {
            let why = format!(
                "its SHA-256 is {found}, the signed list says {}",
                listed.sha256
            );
            return Err(LabError::damaged(name, why));
        }
        let whole = scratch.path().join("root");
        output(Command::new("dpkg-deb").arg("-x").arg(file).arg(&whole))?;
        take(&whole, &whole, root, wanted)?;
        Ok(listed)
    }

    /// What the signed lists say of a package.
    fn listed(&self, name: &str) -> Result<Package, LabError> {
        let args = ["show", "--no-all-versions", name];
        let text = output(self.command("apt-cache").args(args)).map_err(|_| self.missing(name))?;
        let text = String::from_utf8_lossy(&text);
        let field = |wanted: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(wanted));
            value.map(|value| value.trim().to_owned())
        };
        // apt takes a name that no package has for an expression, and shows what it fits on.
        if field("Package:").as_deref() != Some(name) {
            return Err(self.missing(name));
        }
        match (field("Version:"), field("SHA256:")) {
            (Some(version), Some(sha256)) => Ok(Package {
                package: name.to_owned(),
                version,
                sha256,
            }),
            _ => Err(self.missing(name)),
        }
    }

    /// Packages with all that they depend on, extracted into one folder of the cache. What is there
    /// already is used as it is.
    ///
    /// # Errors
    /// When a package cannot be had.
    pub fn closure(&self, names: &[&str], watch: &dyn Watch) -> Result<Extracted, LabError> {
        let at = self.cache.path(&format!(
            "closures/{}/{}",
            self.arch.debian(),
            names.join("_")
        ));
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
            self.arch
        ));
        let scratch = self.cache.scratch()?;
        let archives = scratch.path().join("archives");
        fs::create_dir_all(archives.join("partial")).map_err(LabError::file(&archives, "made"))?;
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

/// What the package file says of itself.
fn described(file: &Path) -> Result<Package, LabError> {
    let field = |name: &str| {
        let value = output(Command::new("dpkg-deb").arg("-f").arg(file).arg(name))?;
        Ok::<_, LabError>(String::from_utf8_lossy(&value).trim().to_owned())
    };
    Ok(Package {
        package: field("Package")?,
        version: field("Version")?,
        sha256: sha256(file)?,
    })
}

/// Package files in a folder, by name.
fn debs(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let entries = fs::read_dir(folder).map_err(LabError::reading(folder))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    Ok(files)
}

fn sha256(file: &Path) -> Result<String, LabError> {
    let mut hasher = Sha256::new();
    let mut reader = fs::File::open(file).map_err(LabError::reading(file))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer).map_err(LabError::reading(file))? {
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
) -> Result<(), LabError> {
    for entry in fs::read_dir(folder)
        .map_err(LabError::reading(folder))?
        .flatten()
    {
        let path = entry.path();
        let below = path.strip_prefix(whole).unwrap_or(&path).to_owned();
        if path.is_dir() && !path.is_symlink() {
            take(&path, whole, root, wanted)?;
        } else if wanted(&below) {
            let to = root.join(&below);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(LabError::file(parent, "made"))?;
            }
            fs::rename(&path, &to).map_err(LabError::writing(&to))?;
        }
    }
    Ok(())
}

/// Notes beside extracted files what they came from.
pub(crate) fn write_record(root: &Path, packages: &[Package]) -> Result<(), LabError> {
    let path = root.join(RECORD);
    let text = serde_json::to_string_pretty(packages).unwrap_or_default();
    fs::create_dir_all(root).map_err(LabError::file(root, "made"))?;
    fs::write(&path, text + "\n").map_err(LabError::writing(&path))
}

/// What a folder of the cache was made of; none if it is not there or not whole.
pub(crate) fn read_record(at: &Path) -> Option<Extracted> {
    let text = fs::read_to_string(at.join(RECORD)).ok()?;
    Some(Extracted {
        root: at.to_owned(),
        packages: serde_json::from_str(&text).ok()?,
    })
}

/// Where every file below a folder is, by its name; among equal names the one nearest to the root.
pub(crate) fn files_by_name(folder: &Path) -> BTreeMap<String, PathBuf> {
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
