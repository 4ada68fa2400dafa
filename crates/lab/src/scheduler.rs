//! Anybody's scheduler for a guest: its program, and the shared libraries of this machine that it
//! needs (docs/guide/lab.md).
//!
//! What must stay: the program and its libraries go in unchanged, under the paths that its dynamic
//! linker looks at. Free: words of refusals, but for those that tests quote.
//!
//! Tests by part: `a_program_of_this_machine_comes_with_its_libraries_and_its_linker` (`carry`,
//! `folders`), `another_architecture_and_a_script_are_refused` (`check`, `carry`),
//! crates/lab/tests/boot.rs::`a_guest_runs_anybodys_scheduler` (`add`). `file_name` has no test of
//! its own.
//!
//! Callers: run.rs (`carry`, `add`), crates/cli/src/commands/lab.rs (`check`).
//!
//! Tests: below

use crate::cpio::Archive;
use crate::elf::{self, Needs};
use crate::{Arch, LabError, initramfs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where it is in the guest. It has its libraries there, with their own dynamic linker: those of
/// this machine need not be those of the guest.
const FOLDER: &str = "lab/scheduler";
/// Lists of folders with libraries (ld.so.conf(5)).
const LISTS: [&str; 2] = ["/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/// A sched_ext scheduler's own loader, as the user called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loader {
    /// As it was given.
    pub text: String,
    /// The program.
    pub program: PathBuf,
    /// The object file that it loads, if it has none of its own.
    pub object: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
}

/// What goes into the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The command that starts it there.
    pub(crate) words: Vec<String>,
    /// Paths in the guest, with the files of this machine.
    files: BTreeMap<String, PathBuf>,
    /// How large these are together.
    pub(crate) bytes: u64,
}

impl Carried {
    /// Puts the files into the archive of a run.
    pub(crate) fn add(&self, archive: &mut Archive) -> Result<(), LabError> {
        let mut all = self.files.iter();
        all.try_for_each(|(name, file)| initramfs::add(archive, name, file))
    }
}

impl Loader {
    /// Collects it.
    ///
    /// # Errors
    /// When it is no program for `arch`, or one of its libraries is not on this machine.
    pub(crate) fn carry(&self, arch: Arch) -> Result<Carried, LabError> {
        self.check(arch)?;
        let name = file_name(&self.program)?;
        let folders = folders(arch);
        let find = |library: &str, by: &Path, needs: &Needs| {
            let own = needs.folders(by);
            let mut all = own
                .iter()
                .chain(&folders)
                .map(|folder| folder.join(library));
            all.find(|file| elf::machine(file) == Some(arch.elf_machine()))
        };
        let needed = elf::libraries(&[&self.program], &find, "which is not on this machine")?;
        let mut carried = Carried::default();
        let mut put = |name: &str, file: &Path| {
            let at = format!("{FOLDER}/{name}");
            carried.files.insert(at.clone(), file.to_owned());
            format!("/{at}")
        };
        let at = put(&format!("bin/{name}"), &self.program);
        for (library, file) in &needed.by_name {
            put(&format!("lib/{library}"), file);
        }
        let mut words = Vec::new();
        if let Some(interpreter) = needed.interpreters.first() {
            let file = Path::new(interpreter);
            words.push(put(&format!("lib/{}", file_name(file)?), file));
            words.extend(["--argv0".to_owned(), name.to_owned()]);
            words.extend(["--library-path".to_owned(), format!("/{FOLDER}/lib")]);
        }
        words.push(at);
        if let Some(object) = &self.object {
            words.push(put(file_name(object)?, object));
        }
        words.extend(self.args.iter().cloned());
        for file in carried.files.values() {
            carried.bytes += fs::metadata(file).map_err(LabError::reading(file))?.len();
        }
        carried.words = words;
        Ok(carried)
    }

    /// Is it a program for the guest?
    ///
    /// # Errors
    /// It is none.
    pub fn check(&self, arch: Arch) -> Result<(), LabError> {
        let found = match elf::machine(&self.program) {
            Some(machine) if machine == arch.elf_machine() => return Ok(()),
            Some(machine) => format!("a program for another architecture (ELF machine {machine})"),
            None => "no ELF program".to_owned(),
        };
        let program = self.program.display();
        Err(LabError::Request(format!(
            "scheduler {program}: {found}; expected a program for {arch}"
        )))
    }
}

/// Paths in a guest are text.
fn file_name(path: &Path) -> Result<&str, LabError> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.ok_or_else(|| {
        let path = path.display();
        LabError::Request(format!("{path}: expected a file with a name in UTF-8"))
    })
}

/// Folders of libraries, in the order in which a dynamic linker looks.
fn folders(arch: Arch) -> Vec<PathBuf> {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&named).collect();
    let [list, more] = LISTS.map(Path::new);
    let mut lists: Vec<PathBuf> = fs::read_dir(more)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    lists.sort();
    lists.push(list.to_owned());
    for list in lists {
        let text = fs::read_to_string(list).unwrap_or_default();
        let lines = text.lines().map(str::trim);
        folders.extend(
            lines
                .filter(|line| line.starts_with('/'))
                .map(PathBuf::from),
        );
    }
    let triplet = arch.triplet();
    for folder in [&format!("/lib/{triplet}"), &format!("/usr/lib/{triplet}")] {
        folders.push(PathBuf::from(folder));
    }
    folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loader(program: &Path) -> Loader {
        Loader {
            text: "x".to_owned(),
            program: program.to_owned(),
            object: None,
            args: vec!["-m".to_owned()],
        }
    }

    #[test]
    fn a_program_of_this_machine_comes_with_its_libraries_and_its_linker() {
        let own = env::current_exe().expect("a path");
        let arch = Arch::host().expect("known");
        let carried = loader(&own).carry(arch).expect("all is here");
        assert!(carried.files.contains_key("lab/scheduler/lib/libc.so.6"));
        assert!(carried.words[0].starts_with("/lab/scheduler/lib/ld-linux"));
        assert_eq!(carried.words.last().map(String::as_str), Some("-m"));
        assert!(carried.bytes > fs::metadata(&own).expect("there").len());
    }

    #[test]
    fn another_architecture_and_a_script_are_refused() {
        let own = env::current_exe().expect("a path");
        let mut others = Arch::ALL.into_iter();
        let other = others.find(|arch| Some(*arch) != Arch::host().ok());
        let error = loader(&own)
            .carry(other.expect("another"))
            .expect_err("wrong");
        assert!(
            error.to_string().contains("another architecture"),
            "{error}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("x.sh");
        fs::write(&script, "#!/bin/sh\n").expect("written");
        let error = loader(&script).carry(Arch::X86_64).expect_err("no program");
        assert!(error.to_string().contains("no ELF program"), "{error}");
        assert_eq!(error.class(), crate::Class::Input);
    }
}
