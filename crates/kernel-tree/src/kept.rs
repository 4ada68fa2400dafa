//! Trees that were fetched: sources of a version, or of a revision, in the cache
//! (docs/guide/kernel.md, "What is kept").
//!
//! What must stay: a folder is whole or not there; its record is written last. Free: how folders of
//! the cache are called.
//!
//! Tests by part: `a_revision_is_built_beside_the_work_tree` (`revision`, `folder`),
//! crates/cli/tests/all/kernel.rs::`the_list_says_what_is_here_without_an_archive` (`kept`),
//! crates/cli/tests/all/kernel.rs::`without_an_archive_a_version_cannot_be_had` (`version`,
//! `newest_kept`, `one_line`), real_tree.rs::`a_kernel_of_the_archive_boots` (`fetch`).
//!
//! Callers: builds.rs (`version`, `revision`), lib.rs (`kept`).
//!
//! Tests: crates/kernel-tree/tests/all/real_tree.rs,
//! crates/kernel-tree/tests/all/fake_tree.rs::a_revision_is_built_beside_the_work_tree,
//! crates/cli/tests/all/kernel.rs

use crate::git::Revision;
use crate::offers::{Kind, Offer, Offers};
use crate::version::Version;
use crate::wanted::Wanted;
use crate::{TreeError, git, tools, unpack};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::apt::{Package, read_record, write_record};
use wakeplace_archive::{Cache, WAITING, Watch, install};

/// Folder of the sources beside their record.
const TREE: &str = "tree";

/// Sources of a version in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// As `7.3.4`.
    pub version: Version,
    /// The package that they came in.
    pub package: Package,
    /// Where they are.
    pub root: PathBuf,
}

/// The trees of a shim's patterns: with others, other files would be there.
pub(crate) struct Trees<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) wanted: &'a Wanted,
}

impl Trees<'_> {
    /// By a sum of what is wanted of a tree: another list of files is another folder.
    fn folder(&self) -> PathBuf {
        let sum = crate::content::hex(&Sha256::digest(self.wanted.text()));
        self.cache.path(&format!("trees/{}", &sum[..8]))
    }

    /// All versions that are there, the newest last.
    pub(crate) fn kept(&self) -> Vec<Kept> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut kept: Vec<Kept> = entries.filter_map(|entry| kept(&entry.path())).collect();
        kept.sort_by(|a, b| (&a.version, &a.root).cmp(&(&b.version, &b.root)));
        kept
    }

    /// Of those that begin so. None: none is kept.
    fn newest_kept(&self, wanted: &Version) -> Option<Kept> {
        let kept = self.kept().into_iter().rev();
        let mut fit = kept.filter(|kept| wanted.begins(&kept.version));
        fit.next()
    }

    /// The sources of a version, from the cache or fetched.
    pub(crate) fn version(&self, wanted: &Version, watch: &dyn Watch) -> Result<Kept, TreeError> {
        // A whole version is what it is; the archive is asked for the newest of a series.
        let there = self.newest_kept(wanted);
        if let Some(kept) = there.as_ref().filter(|kept| kept.version == *wanted) {
            return Ok(kept.clone());
        }
        let _lock = self.cache.lock(|| watch.step(WAITING))?;
        let offers = Offers::get(self.cache, watch)?;
        match (offers.newest(wanted), there) {
            (Some(offer), _) => self.fetch(offer, watch),
            (None, Some(kept)) => {
                let (kept_version, why) = (&kept.version, offers.missing.join("; "));
                watch.remark(&format!(
                    "kernel {wanted}: {kept_version} is used, which was fetched before{}",
                    match why.is_empty() {
                        true => String::new(),
                        false => format!(" ({why})"),
                    }
                ));
                Ok(kept)
            }
            (None, None) if offers.missing.is_empty() => Err(TreeError::NoVersion {
                wanted: wanted.to_string(),
                offered: offers.series(),
            }),
            (None, None) => Err(TreeError::NoArchive {
                wanted: wanted.to_string(),
                why: one_line(&offers.missing),
            }),
        }
    }

    /// Fetches and unpacks the sources of an offer, whole or not at all.
    fn fetch(&self, offer: &Offer, watch: &dyn Watch) -> Result<Kept, TreeError> {
        let package = &offer.listed.package;
        // Debian's versions have `:` and `~` at most, which stand in names of files.
        let at = self.folder().join(&package.version);
        if let Some(kept) = kept(&at) {
            return Ok(kept);
        }
        // Before 160 MB are fetched that nothing can be made of.
        tools::require()?;
        let apt = offer.apt(self.cache)?;
        let scratch = self.cache.scratch()?;
        let (files, root) = (scratch.path().join("files"), scratch.path().join("kept"));
        fs::create_dir_all(&files).map_err(TreeError::writing(&files))?;
        let unpacked = match offer.kind {
            Kind::Package => {
                let file = apt.download(&offer.listed, &files, watch)?;
                watch.step(&format!("unpack {}", offer.version));
                unpack::package(&file, self.wanted, &root.join(TREE))
            }
            Kind::Source => {
                let file = apt.download_source(&offer.listed, &files, watch)?;
                watch.step(&format!("unpack {}", offer.version));
                unpack::archive(&file, self.wanted, &root.join(TREE))
            }
        };
        unpacked?;
        write_record(&root, std::slice::from_ref(package))?;
        install(&root, &at, &scratch)?;
        kept(&at).ok_or_else(|| {
            let why = "it is not there after it was put there".to_owned();
            TreeError::NotATree { path: at, why }
        })
    }

    /// The files of a revision, from the cache or exported into it.
    pub(crate) fn revision(
        &self,
        git: &git::Git,
        revision: &Revision,
        watch: &dyn Watch,
    ) -> Result<PathBuf, TreeError> {
        let at = self.folder().join("git").join(&revision.tree);
        let _lock = self.cache.lock(|| watch.step(WAITING))?;
        if !at.is_dir() {
            watch.step(&format!("files of {}", revision.described));
            let scratch = self.cache.scratch()?;
            let root = scratch.path().join("kept");
            git.export(revision, self.wanted, &root)?;
            install(&root, &at, &scratch)?;
        }
        Ok(at)
    }
}

/// What a folder of the cache has, if it is whole.
fn kept(at: &Path) -> Option<Kept> {
    let package = read_record(at)?.packages.into_iter().next()?;
    let root = at.join(TREE);
    Some(Kept {
        version: Version::of_debian(&package.version)?,
        package,
        root: root.is_dir().then_some(root)?,
    })
}

/// The first line of the first reason, and how many more there are.
fn one_line(reasons: &[String]) -> String {
    let first = reasons.first().map_or("", String::as_str);
    let line = first.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().to_owned()
}
