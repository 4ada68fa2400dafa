//! Packages of Debian, unpacked below target: libraries to link with, programs of other machines.
//! The host's own apt and dpkg know nothing of them, and it needs no root (ARCHITECTURE.md, "The
//! workshop").
//!
//! What must stay: nothing of the host's own packages is read or changed. Free: how it is done, and
//! words that no test or script reads. Tests by part: `step`, `remark`, `unpack`, `arm64_libraries`
//! have no test of their own: nightly shows a fault of theirs.
//!
//! Callers: playground.rs (`unpack`), programs.rs (`arm64_libraries`), python.rs (`unpack`),
//! tries/kernel_schedulers.rs (`arm64_libraries`).
//!
//! Tests: none; nightly uses it for programs of arm64.

use std::path::Path;

use anyhow::{Context, Result};
use wakeplace_archive::apt::{AptTree, Selection};
use wakeplace_archive::{ArchiveError, Cache, Watch};

use crate::shop::{Shop, missing};

struct Aloud;

impl Watch for Aloud {
    /// Said on standard error.
    fn step(&self, what: &str) {
        eprintln!("{what}");
    }

    /// Said on standard error.
    fn remark(&self, what: &str) {
        eprintln!("{what}");
    }
}

/// Unpacks packages of a release into a folder, which is made anew.
///
/// # Errors
/// One cannot be had here.
pub fn unpack(
    shop: &Shop,
    arch: &'static str,
    suite: &'static [&'static str],
    names: &[&str],
    root: &Path,
) -> Result<()> {
    shop.sh.remove_path(root)?;
    let fetch = || -> Result<(), ArchiveError> {
        let cache = Cache::at(shop.target.join("archive"))?;
        let selection = Selection {
            folder: format!("{arch}-{}", suite.join("-")),
            arch,
            suites: suite,
            sources: false,
        };
        let tree = AptTree::open(&cache, selection)?;
        tree.refresh(false, &Aloud)?;
        for name in names {
            tree.fetch(name, root, &|_| true, &Aloud)?;
        }
        Ok(())
    };
    fetch().map_err(|error| missing(format!("packages of Debian for {arch}: {error}")))
}

/// Where libelf.a, libz.a and their headers for arm64 are.
///
/// # Errors
/// They cannot be had here.
pub fn arm64_libraries(shop: &Shop) -> Result<std::path::PathBuf> {
    let root = shop.target.join("lab/sysroot-arm64");
    let has = |name: &str| root.join("usr/lib/aarch64-linux-gnu").join(name).exists();
    if !has("libelf.a") || !has("libz.a") {
        // One suite for all hosts: its libelf needs no zstd and no newer glibc than a host's cross
        // packages.
        unpack(
            shop,
            "arm64",
            &["bookworm"],
            &["libelf-dev", "zlib1g-dev"],
            &root,
        )?;
    }
    has("libelf.a")
        .then_some(root)
        .context("libelf-dev for arm64 has no libelf.a")
}
