//! Sources of a kernel out of what was fetched, only as far as the build reads them
//! (docs/guide/kernel.md, "What is kept").
//!
//! What must stay: nothing is written outside the folder, whatever an archive names (`below`).
//! Free: how an archive is read.
//!
//! Tests by part: `only_what_is_read_is_unpacked_without_the_folder_in_front` (`tar`, `below`,
//! `put`), `a_broken_archive_is_an_error` (`archive`, `packed`, `piped`, `pipes`),
//! crates/kernel-tree/tests/all/real_tree.rs::`a_kernel_of_the_archive_boots` (`package`).
//!
//! Callers: kept.rs (`package`, `archive`), git.rs (`tar`).
//!
//! Tests: below

use crate::TreeError;
use crate::wanted::Wanted;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tar::{Archive, Entry, EntryType};
use wakeplace_archive::ArchiveError;

/// Unpacks Debian's package of a kernel's sources: an archive, packed by xz, in the package.
pub(crate) fn package(file: &Path, wanted: &Wanted, to: &Path) -> Result<(), TreeError> {
    let mut opened = piped(Command::new("dpkg-deb").arg("--fsys-tarfile").arg(file))?;
    let (_, stream) = pipes(&mut opened)?;
    let mut archive = Archive::new(stream);
    let damaged = |why: String| ArchiveError::damaged(file.display().to_string(), why);
    let unread = |error: io::Error| damaged(error.to_string());
    for entry in archive.entries().map_err(unread)? {
        let mut entry = entry.map_err(unread)?;
        let path = entry.path().map_err(unread)?.into_owned();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("linux-source-") && name.ends_with(".tar.xz")) {
            let unpacked = packed(&mut entry, wanted, to);
            // Nothing of what follows is needed: it may fail to write the rest.
            drop(entry);
            drop(archive);
            let _ = opened.kill();
            let _ = opened.wait();
            return unpacked;
        }
    }
    let _ = opened.wait();
    Err(damaged("no sources of a kernel in it".to_owned()).into())
}

/// Unpacks an archive that is packed by xz.
pub(crate) fn archive(file: &Path, wanted: &Wanted, to: &Path) -> Result<(), TreeError> {
    packed(
        &mut fs::File::open(file).map_err(TreeError::reading(file))?,
        wanted,
        to,
    )
}

/// Through `xz`, on as many threads as there are blocks.
fn packed(from: &mut dyn Read, wanted: &Wanted, to: &Path) -> Result<(), TreeError> {
    let mut xz = piped(Command::new("xz").args(["-dc", "-T0"]))?;
    let (mut into, out) = pipes(&mut xz)?;
    let unpacked = std::thread::scope(|threads| {
        let unpacking = threads.spawn(|| tar(out, wanted, 1, to));
        // Fails if the other end does: what it says is the reason.
        let fed = io::copy(from, &mut into);
        drop(into);
        let unpacked = unpacking.join().unwrap_or(Ok(()));
        unpacked.and_then(|()| fed.map(drop).map_err(TreeError::writing("xz")))
    });
    let status = xz.wait().map_err(TreeError::reading("xz"))?;
    match status.success() {
        true => unpacked,
        false => Err(ArchiveError::damaged("xz", "the archive cannot be unpacked").into()),
    }
}

/// A program between two pipes of ours.
fn piped(command: &mut Command) -> Result<Child, TreeError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    spawned.map_err(|error| {
        let why = format!("cannot be started: {error}");
        ArchiveError::Program { program, why }.into()
    })
}

/// Both ends, which are there since `piped` asked for them.
fn pipes(child: &mut Child) -> Result<(ChildStdin, ChildStdout), TreeError> {
    match (child.stdin.take(), child.stdout.take()) {
        (Some(into), Some(out)) => Ok((into, out)),
        _ => Err(ArchiveError::damaged("a pipe", "it is not there").into()),
    }
}

/// Unpacks a plain archive whose paths have `strip` folders in front.
pub(crate) fn tar(
    from: impl Read,
    wanted: &Wanted,
    strip: usize,
    to: &Path,
) -> Result<(), TreeError> {
    let mut archive = Archive::new(from);
    let damaged = |error: io::Error| ArchiveError::damaged("archive of sources", error.to_string());
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let Some(below) = below(&entry, strip) else {
            continue;
        };
        if wanted.has(&below) {
            put(&mut entry, &to.join(below))?;
        }
    }
    // Whoever writes it can end.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(damaged)?;
    Ok(())
}

/// Gives where an entry belongs; none if that is outside, or no file.
fn below(entry: &Entry<'_, impl Read>, strip: usize) -> Option<String> {
    let kinds = [EntryType::Regular, EntryType::Symlink];
    if !kinds.contains(&entry.header().entry_type()) {
        return None;
    }
    let path = entry.path().ok()?;
    let names: Option<Vec<&str>> = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .skip(strip)
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    names
        .filter(|names| !names.is_empty())
        .map(|names| names.join("/"))
}

/// A file with the folders above it.
fn put(entry: &mut Entry<'_, impl Read>, to: &Path) -> Result<(), TreeError> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(TreeError::writing(parent))?;
    }
    entry.unpack(to).map_err(TreeError::writing(to))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed_tree() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut add = |path: &str, text: &str| {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(1_000_000_000);
            let added = builder.append_data(&mut header, path, text.as_bytes());
            added.expect("added");
        };
        add("linux-7.3/Makefile", "VERSION = 7\n");
        add("linux-7.3/kernel/sched/fair.c", "int x;\n");
        add("linux-7.3/drivers/gpu/huge.c", "int y;\n");
        builder.into_inner().expect("whole")
    }

    #[test]
    fn only_what_is_read_is_unpacked_without_the_folder_in_front() {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = Wanted::parse("Makefile\nkernel/\n");
        tar(&packed_tree()[..], &wanted, 1, folder.path()).expect("unpacked");
        let there = |path: &str| folder.path().join(path).is_file();
        assert!(there("Makefile") && there("kernel/sched/fair.c"));
        assert!(!folder.path().join("drivers").exists());
    }

    #[test]
    fn a_broken_archive_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.tar.xz");
        fs::write(&file, "no archive").expect("written");
        let wanted = Wanted::parse("*\n");
        let error = archive(&file, &wanted, folder.path()).expect_err("broken");
        assert!(error.to_string().contains("cannot be unpacked"), "{error}");
    }
}
