//! What a guest's memory holds when it starts: programs from packages (the base, kept in the cache)
//! and what one run adds (docs/guide/lab.md).
//!
//! What must stay: equal runs have equal archives, so names are added in order. The base is kept
//! under a sum of what is in it. Free: how the base is kept in the cache.
//!
//! Tests by part: `an_x86_guest_runs_a_command_and_brings_back_what_it_did` (`get`, `build`,
//! `with`, `add_scripts`, `add`), boot.rs::`a_guest_has_packages_and_systemd` (`add_service`).
//! Without guests that boot nothing tries them.
//!
//! Callers: run.rs; `add` also packages.rs and scheduler.rs.
//!
//! Tests: crates/lab/tests/boot.rs::an_x86_guest_runs_a_command_and_brings_back_what_it_did

use crate::cpio::Archive;
use crate::{Arch, Cache, LabError, Watch, apt, elf};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::apt::{Extracted, files_by_name, read_record, write_record};
use wakeplace_archive::install;

/// Packages of programs for the guest, and the programs taken from them.
const PACKAGES: [&str; 3] = ["busybox-static", "rt-tests", "stress-ng"];
const PROGRAMS: [&str; 3] = ["hackbench", "cyclictest", "stress-ng"];
/// Raised when the base is made differently, so that an old one is not used.
const LAYOUT: u32 = 2;

const INIT: &str = include_str!("guest/init.sh");
const WORK: &str = include_str!("guest/work.sh");
const RUN: &str = include_str!("guest/run.sh");
const SERVICE: &str = include_str!("guest/lab.service");
/// Where systemd looks for units of the machine's own.
const UNITS: &str = "etc/systemd/system";

/// The cached base of one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    archive: PathBuf,
}

impl Base {
    /// Makes it, or finds it.
    ///
    /// # Errors
    /// When a package cannot be had.
    pub(crate) fn get(cache: &Cache, arch: Arch, watch: &dyn Watch) -> Result<Self, LabError> {
        let at = cache.path(&format!("base/{}-{LAYOUT}", arch.debian()));
        let archive = at.join("base.cpio");
        if read_record(&at).is_none() {
            let programs = apt(cache, arch)?.closure(&PACKAGES, watch)?;
            watch.step(&format!("programs for {arch} guests"));
            let scratch = cache.scratch()?;
            let root = scratch.path().join("base");
            write_record(&root, &programs.packages)?;
            let file = root.join("base.cpio");
            fs::write(&file, build(arch, &programs)?).map_err(LabError::writing(&file))?;
            install(&root, &at, &scratch)?;
            // All that is needed of the packages is in the archive now.
            let _ = fs::remove_dir_all(&programs.root);
        }
        Ok(Self { archive })
    }

    /// The run's own files in front of the base: the kernel takes one archive after the other, and
    /// an archive that is not packed may only stand in front. Packages come last: where one has a
    /// library of the base too, it is the one that the package was fetched with.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(crate) fn with(&self, run: Archive, packages: &[u8], to: &Path) -> Result<(), LabError> {
        let mut bytes = run.finish();
        let base = fs::read(&self.archive).map_err(LabError::reading(&self.archive))?;
        bytes.extend(base);
        bytes.extend(packages);
        fs::write(to, bytes).map_err(LabError::writing(to))
    }
}

/// The base: busybox, the programs, the libraries they need.
fn build(arch: Arch, programs: &Extracted) -> Result<Vec<u8>, LabError> {
    let files = files_by_name(&programs.root.join("usr/bin"));
    let find = |name: &str| {
        let path = files.get(name).filter(|path| path.is_file());
        path.ok_or_else(|| LabError::damaged(name, "not in the packages that should have it"))
    };
    let mut archive = Archive::default();
    for folder in [
        "dev", "proc", "sys", "tmp", "run", "root", "out", "etc", "usr/sbin",
    ] {
        archive.folder(folder);
    }
    archive.device("dev/console", 5, 1);
    for (link, target) in [("bin", "usr/bin"), ("sbin", "usr/sbin"), ("lib", "usr/lib")] {
        archive.link(link, target);
    }
    add(&mut archive, "usr/bin/busybox", find("busybox")?)?;
    let mut paths = Vec::new();
    for name in PROGRAMS {
        let path = find(name)?;
        add(&mut archive, &format!("usr/bin/{name}"), path)?;
        paths.push(path.as_path());
    }
    let folder = programs.root.join("usr/lib").join(arch.triplet());
    let needed = {
        let files = files_by_name(&folder);
        let find = |name: &str, _: &Path, _: &elf::Needs| files.get(name).cloned();
        elf::libraries(&paths, &find, "which no package brought")?
    };
    for (name, path) in &needed.by_name {
        add(
            &mut archive,
            &format!("usr/lib/{}/{name}", arch.triplet()),
            path,
        )?;
    }
    for interpreter in &needed.interpreters {
        // `/lib64/ld-...` or `/lib/ld-...`; the library of that name is the loader.
        let (place, name) = interpreter.rsplit_once('/').unwrap_or(("", interpreter));
        if place != "/lib" {
            archive.link(place, &format!("usr{place}"));
        }
        let path = folder.join(name);
        add(&mut archive, &format!("usr{place}/{name}"), &path)?;
    }
    Ok(archive.finish())
}

/// Adds the guest's first process and what it runs. They come with each run, not with the base:
/// they belong to this program's version.
pub(crate) fn add_scripts(archive: &mut Archive) {
    archive.file("init", INIT.as_bytes(), true);
    archive.file("lab/work.sh", WORK.as_bytes(), true);
    archive.file("lab/run.sh", RUN.as_bytes(), true);
}

/// Adds what makes the job a service of systemd. Nobody logs in: without udev the terminals' units
/// would wait for their devices, and what is after `multi-user.target` with them.
pub(crate) fn add_service(archive: &mut Archive) {
    archive.file(&format!("{UNITS}/lab.service"), SERVICE.as_bytes(), false);
    let wanted = format!("{UNITS}/multi-user.target.wants/lab.service");
    archive.link(&wanted, "../lab.service");
    archive.link(&format!("{UNITS}/getty.target"), "/dev/null");
}

/// Adds a program or a library under a name.
pub(crate) fn add(archive: &mut Archive, name: &str, file: &Path) -> Result<(), LabError> {
    let contents = fs::read(file).map_err(LabError::reading(file))?;
    archive.file(name, &contents, true);
    Ok(())
}
