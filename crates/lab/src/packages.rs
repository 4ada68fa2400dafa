//! Debian packages that a run adds to its guest, whole, with what they need (docs/guide/lab.md).
//!
//! What must stay: packages are unpacked, never installed; order by names, so that archives are
//! equal. Free: how the archive is asked.
//!
//! Tests by part: `names_are_those_that_debian_allows` (`from_str`, `as_str`),
//! `files_have_their_place_below_usr` (`place`), `a_package_is_taken_whole` (`add_folder`,
//! `is_executable`), crates/lab/tests/boot.rs::`a_guest_has_packages_and_systemd` (`archive`).
//!
//! Callers: run.rs (`archive`).
//!
//! Tests: below

use crate::cpio::Archive;
use crate::initramfs::add;
use crate::{Arch, Cache, LabError, Watch, apt};
use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use wakeplace_archive::apt::{Extracted, Package};

/// What nobody reads in a guest; its memory holds all of the rest.
const LEFT_OUT: [&str; 5] = [
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
];
/// Folders that are links into `usr` in the guest. A package may have files in them; as folders of
/// their own they would take the links' place.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];

/// The name of a Debian package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageName(Cow<'static, str>);

impl PackageName {
    /// What a guest with systemd needs: also the program of the unit `ldconfig.service`, which
    /// every Debian machine has.
    pub(crate) const SYSTEMD: [Self; 2] = [
        Self(Cow::Borrowed("systemd")),
        Self(Cow::Borrowed("libc-bin")),
    ];

    /// As a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PackageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PackageName {
    type Err = String;

    /// By Debian Policy 5.6.1: lower case, digits, plus, minus, dot; at least two of them, the
    /// first a letter or a digit.
    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let rest = |c: u8| plain(c) || b"+-.".contains(&c);
        if let [first, more @ ..] = text.as_bytes()
            && plain(*first)
            && !more.is_empty()
            && more.iter().all(|c| rest(*c))
        {
            return Ok(Self(Cow::Owned(text.to_owned())));
        }
        Err(format!(
            "`{}` is no name of a Debian package; expected lower-case letters, digits and `+-.`",
            wakeplace_text::shorten(text)
        ))
    }
}

/// What a guest has of packages; nothing if none are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packages {
    /// Those that were asked for, by name.
    pub(crate) asked: Vec<Package>,
    /// The files of them and of all they depend on, as an archive for the guest.
    pub(crate) files: Vec<u8>,
}

/// Fetches packages. Their own install scripts are not run.
///
/// # Errors
/// When a package cannot be had.
pub(crate) fn archive(
    cache: &Cache,
    arch: Arch,
    names: &[PackageName],
    watch: &dyn Watch,
) -> Result<Packages, LabError> {
    let mut names: Vec<&str> = names.iter().map(PackageName::as_str).collect();
    // In one order, once: what was fetched is kept under the names.
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Packages::default());
    }
    let Extracted { root, mut packages } = apt(cache, arch)?.closure(&names, watch)?;
    let mut archive = Archive::default();
    add_folder(&mut archive, &root, &root)?;
    packages.retain(|package| names.contains(&package.package.as_str()));
    packages.sort_by(|a, b| a.package.cmp(&b.package));
    Ok(Packages {
        asked: packages,
        files: archive.finish(),
    })
}

/// Adds what is in a folder below `root`, in the order of names.
fn add_folder(archive: &mut Archive, root: &Path, folder: &Path) -> Result<(), LabError> {
    let entries = fs::read_dir(folder).map_err(LabError::reading(folder))?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(LabError::reading(folder))?;
    paths.sort();
    for path in paths {
        let below = path.strip_prefix(root).ok().and_then(Path::to_str);
        let below = below.ok_or_else(|| {
            LabError::damaged(path.display().to_string(), "its name is not in UTF-8")
        })?;
        let Some(place) = place(below) else { continue };
        let about = fs::symlink_metadata(&path).map_err(LabError::reading(&path))?;
        if about.is_symlink() {
            let target = fs::read_link(&path).map_err(LabError::reading(&path))?;
            let target = target.to_str().ok_or_else(|| {
                LabError::damaged(path.display().to_string(), "where it leads is not in UTF-8")
            })?;
            archive.link(&place, target);
        } else if about.is_dir() {
            archive.folder(&place);
            add_folder(archive, root, &path)?;
        } else if is_executable(&about) {
            add(archive, &place, &path)?;
        } else {
            let contents = fs::read(&path).map_err(LabError::reading(&path))?;
            archive.file(&place, &contents, false);
        }
    }
    Ok(())
}

/// Says whether anybody may execute it.
fn is_executable(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o111 != 0
}

/// Gives where a path of a package is in the guest; none if it is left out.
fn place(below: &str) -> Option<String> {
    let in_or_at = |folder: &&str| {
        let rest = below.strip_prefix(*folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if below == wakeplace_archive::apt::RECORD || LEFT_OUT.iter().any(&in_or_at) {
        return None;
    }
    Some(match MERGED.iter().any(&in_or_at) {
        true => format!("usr/{below}"),
        false => below.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_debian_allows() {
        for name in ["systemd", "libc6", "g++", "0ad", "python3.13-dev"] {
            let parsed = name.parse::<PackageName>().expect(name);
            assert_eq!(parsed.as_str(), name);
        }
        for name in [
            "", "a", "-y", "../x", "Systemd", "a b", "a/b", "a=1", "+a", "ä1",
        ] {
            assert!(name.parse::<PackageName>().is_err(), "{name}");
        }
    }

    #[test]
    fn files_have_their_place_below_usr() {
        let at = |below: &str| place(below);
        assert_eq!(at("usr/bin/x").as_deref(), Some("usr/bin/x"));
        assert_eq!(at("lib/systemd/x").as_deref(), Some("usr/lib/systemd/x"));
        assert_eq!(at("sbin").as_deref(), Some("usr/sbin"));
        assert_eq!(at("library/x").as_deref(), Some("library/x"));
        assert_eq!(at("usr/share/doc/x/copyright"), None);
        assert_eq!(at("usr/share/man"), None);
        assert_eq!(at("usr/share/manual").as_deref(), Some("usr/share/manual"));
        assert_eq!(at("record.json"), None);
    }

    #[test]
    fn a_package_is_taken_whole() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for below in ["usr/bin", "lib/x", "etc/empty", "usr/share/man"] {
            fs::create_dir_all(root.join(below)).expect("made");
        }
        fs::write(root.join("usr/bin/tool"), "t").expect("written");
        let mode = fs::Permissions::from_mode(0o4755);
        fs::set_permissions(root.join("usr/bin/tool"), mode).expect("set");
        fs::write(root.join("lib/x/data"), "d").expect("written");
        fs::write(root.join("usr/share/man/page"), "p").expect("written");
        fs::write(root.join("record.json"), "[]").expect("written");
        symlink("/lib/x/data", root.join("etc/link")).expect("linked");
        let mut taken = Archive::default();
        add_folder(&mut taken, root, root).expect("taken");
        let mut expected = Archive::default();
        expected.folder("etc");
        expected.folder("etc/empty");
        expected.link("etc/link", "/lib/x/data");
        expected.folder("usr/lib");
        expected.file("usr/lib/x/data", b"d", false);
        expected.file("usr/bin/tool", b"t", true);
        expected.folder("usr/share");
        assert_eq!(taken.finish(), expected.finish());
    }
}
