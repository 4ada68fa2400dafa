//! Which shared libraries a program needs, read from its own headers: no loader of the host is
//! asked (docs/guide/lab.md).
//!
//! What must stay: hostile headers are refused or read as nothing; only ELF of 64 bits,
//! little-endian. Free: how headers are walked.
//!
//! Tests by part: `this_test_program_needs_a_loader_and_libc` (`needs`, `folders`),
//! `a_missing_library_is_named` (`libraries`), `a_script_is_no_program` (`needs`: the error),
//! scheduler.rs::`another_architecture_and_a_script_are_refused` (`machine`).
//!
//! Callers: initramfs.rs, qemu.rs and scheduler.rs (`libraries`), scheduler.rs (`machine`).
//!
//! Tests: below

use crate::LabError;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::endian::LittleEndian;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What a program says it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The loader; none if it is static.
    pub(crate) interpreter: Option<String>,
    /// Names of libraries.
    pub(crate) libraries: Vec<String>,
    /// Folders in which they are looked for first, as it names them.
    run_path: Vec<String>,
}

impl Needs {
    /// The folders that the file at `path` names itself (`$ORIGIN` is its own).
    pub(crate) fn folders(&self, path: &Path) -> Vec<PathBuf> {
        let own = path.parent().unwrap_or(path).display().to_string();
        let named = self.run_path.iter().flat_map(|text| text.split(':'));
        let named = named.filter(|folder| !folder.is_empty());
        named
            .map(|folder| folder.replace("${ORIGIN}", &own).replace("$ORIGIN", &own))
            .map(PathBuf::from)
            .collect()
    }
}

/// `e_machine` of a 64-bit little-endian ELF file; none if it is no such file.
pub(crate) fn machine(path: &Path) -> Option<u16> {
    let mut start = [0; 20];
    let mut file = fs::File::open(path).ok()?;
    file.read_exact(&mut start).ok()?;
    // EI_CLASS and EI_DATA come after the mark.
    let fits = start.starts_with(b"\x7fELF\x02\x01");
    fits.then(|| u16::from_le_bytes([start[18], start[19]]))
}

/// Reads a program's needs.
///
/// # Errors
/// When it is no 64-bit little-endian ELF file.
pub(crate) fn needs(name: &str, bytes: &[u8]) -> Result<Needs, LabError> {
    let bad = |error: object::Error| LabError::damaged(name, format!("no ELF program: {error}"));
    let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(bad)?;
    let header: &FileHeader64<LittleEndian> = file.elf_header();
    let endian = LittleEndian;
    let mut needs = Needs::default();
    let mut dynamic = None;
    for segment in header.program_headers(endian, bytes).map_err(bad)? {
        if let Some(path) = segment.interpreter(endian, bytes).map_err(bad)? {
            needs.interpreter = Some(String::from_utf8_lossy(path).into_owned());
        }
        if let Some(entries) = segment.dynamic(endian, bytes).map_err(bad)? {
            dynamic = Some(entries);
        }
    }
    let sections = header.sections(endian, bytes).map_err(bad)?;
    let linked = sections.dynamic(endian, bytes).map_err(bad)?;
    let (Some(entries), Some((_, strings_at))) = (dynamic, linked) else {
        return Ok(needs);
    };
    let strings = sections.strings(endian, bytes, strings_at).map_err(bad)?;
    for entry in entries {
        let list = match entry.tag(endian) {
            DT_NEEDED => &mut needs.libraries,
            DT_RPATH | DT_RUNPATH => &mut needs.run_path,
            _ => continue,
        };
        let text = entry.string(endian, strings).map_err(bad)?;
        list.push(String::from_utf8_lossy(text).into_owned());
    }
    Ok(needs)
}

/// All libraries that programs need, directly or not, each with the file that has it; and loaders
/// by the path at which the kernel looks for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Libraries {
    pub(crate) by_name: BTreeMap<String, PathBuf>,
    pub(crate) interpreters: BTreeSet<String>,
}

/// Finds a library: its name, who needs it, what that one says.
pub(crate) type Find<'a> = &'a dyn Fn(&str, &Path, &Needs) -> Option<PathBuf>;

/// Collects the libraries of `programs`, and of these again.
///
/// # Errors
/// When one is missing: it is `lacking`, in words.
pub(crate) fn libraries(
    programs: &[&Path],
    find: Find<'_>,
    lacking: &str,
) -> Result<Libraries, LabError> {
    let mut all = Libraries::default();
    let mut queue: Vec<PathBuf> = programs.iter().map(|path| (*path).to_owned()).collect();
    while let Some(path) = queue.pop() {
        let bytes = fs::read(&path).map_err(LabError::reading(&path))?;
        let shown = path.display().to_string();
        let needs = needs(&shown, &bytes)?;
        all.interpreters.extend(needs.interpreter.clone());
        for library in &needs.libraries {
            if all.by_name.contains_key(library) {
                continue;
            }
            let file = find(library, &path, &needs)
                .ok_or_else(|| LabError::damaged(&shown, format!("needs {library}, {lacking}")))?;
            queue.push(file.clone());
            all.by_name.insert(library.clone(), file);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_program_needs_a_loader_and_libc() {
        let own = std::env::current_exe().expect("a path");
        let needs = needs("own", &fs::read(own).expect("read")).expect("an ELF file");
        assert!(
            needs
                .interpreter
                .is_some_and(|path| path.contains("ld-linux"))
        );
        assert!(
            needs.libraries.iter().any(|name| name == "libc.so.6"),
            "{:?}",
            needs.libraries
        );
    }

    #[test]
    fn a_missing_library_is_named() {
        let own = std::env::current_exe().expect("a path");
        let error = libraries(&[&own], &|_, _, _| None, "which is gone");
        let error = error.expect_err("nothing is there").to_string();
        assert!(error.ends_with(", which is gone"), "{error}");
    }

    #[test]
    fn a_script_is_no_program() {
        assert!(needs("a.sh", b"#!/bin/sh\n").is_err());
    }
}
