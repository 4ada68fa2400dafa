//! Files that change as one: a folder of them is filled beside its place and exchanged with the old
//! one (docs/guide/traces.md, "What is promised of files"). Readers see the old folder or the new
//! one, nothing between.
//!
//! Callers: crates/cli/src/runs_export.rs, crates/trace/src/export/parquet.rs,
//! crates/trace/src/rtapp_log/files.rs (`FileSet`); crates/archive/src/cache.rs (`install`).
//!
//! What must stay: the order of the steps: draft folder, files, sync, exchange, sync of the folder,
//! removal of the old one. No file of somebody else is ever removed: a folder with other names is
//! refused, and what comes in at the last moment moves on or is kept. Free: how folders are walked
//! and when a whole file system is synced. Tests by part:
//! crates/cli/tests/all/faults/mod.rs::`tables_change_as_one` (each call fails once),
//! faults/mod.rs::`synced_before_and_after` (`seal`, `publish`, `sync`),
//! faults/leftovers.rs::`a_folder_with_other_files_is_refused` (`old_folder`, `refuse_foreign`),
//! faults/leftovers.rs::`a_file_that_comes_during_the_run_is_kept` (`seal`),
//! `what_cannot_move_to_the_new_folder_is_kept` (`rescue`), `files_are_counted_in_all_folders`
//! (`has_more_files`), elsewhere.rs::`only_outputs_of_the_command_are_written` (`place`, `append`,
//! `rename`), crates/archive/src/cache.rs::`a_finished_folder_replaces_the_old_one` (`install`). No
//! test of its own: mounted folders (`old_folder`), `keep_all_rights`. `open`, `create`, `file`,
//! `foreign` and `sync_many` are of `tables_change_as_one`, too.
//!
//! Tests: below, crates/cli/tests/all/faults, crates/files/src/elsewhere.rs,
//! crates/archive/src/cache.rs::a_finished_folder_replaces_the_old_one

use crate::draft::{Draft, sweep};
use crate::drafts::{self, Held};
use crate::elsewhere::{self, Handle};
use crate::error::{Why, WriteError};
use crate::names::Names;
use crate::place::{folder_of, keep_rights, sync_folder};
use crate::swap;
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// So many files are synced one by one.
const MANY: usize = 200;
/// In the draft: the folder that is filled.
const NEW: &str = "new";

/// A folder of files in the making.
#[derive(Debug)]
pub struct FileSet {
    /// As it was asked for.
    path: PathBuf,
    at: At,
    sealed: bool,
}

#[derive(Debug)]
enum At {
    Here(Here),
    /// Another process has it.
    Elsewhere(Handle),
}

#[derive(Debug)]
struct Here {
    /// As it was asked for.
    path: PathBuf,
    /// Where it goes.
    target: PathBuf,
    /// Where it is until then.
    new: PathBuf,
    draft: Draft,
    names: Names,
}

impl FileSet {
    /// Finds out whether the folder can be there. It must be new, empty, or hold only files whose
    /// names are those of such a set: the old folder goes with all that is in it.
    ///
    /// # Errors
    /// It cannot be there.
    pub fn open(path: &Path, names: Names) -> Result<Self, WriteError> {
        let at = match elsewhere::is_elsewhere() {
            true => At::Elsewhere(Handle::set(path, &names)?),
            false => At::Here(Here::open(path, names)?),
        };
        Ok(Self {
            path: path.to_owned(),
            at,
            sealed: false,
        })
    }

    /// A new file of this name.
    ///
    /// # Errors
    /// It cannot be made, or the name leads elsewhere.
    pub fn create(&self, name: &str) -> Result<File, WriteError> {
        match &self.at {
            At::Elsewhere(handle) => handle.file(name, false),
            At::Here(here) => here.file(name, File::options().write(true).create_new(true)),
        }
    }

    /// A file of this name, new or not, that is written at its end.
    ///
    /// # Errors
    /// As for a new one.
    pub fn append(&self, name: &str) -> Result<File, WriteError> {
        match &self.at {
            At::Elsewhere(handle) => handle.file(name, true),
            At::Here(here) => here.file(name, File::options().append(true).create(true)),
        }
    }

    /// Gives a file another name.
    ///
    /// # Errors
    /// There is none, or one of the names leads elsewhere.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), WriteError> {
        match &self.at {
            At::Elsewhere(handle) => handle.rename(from, to),
            At::Here(here) => {
                let (from, to) = (here.place(from)?, here.place(to)?);
                fs::rename(from, to).map_err(|error| WriteError::new(&self.path, error))
            }
        }
    }

    /// Syncs the files, all of which were written.
    ///
    /// # Errors
    /// When the disk does not take them.
    pub fn seal(&mut self) -> Result<(), WriteError> {
        if !self.sealed {
            match &self.at {
                At::Elsewhere(handle) => handle.seal()?,
                At::Here(here) => here.seal()?,
            }
            self.sealed = true;
        }
        Ok(())
    }

    /// Moves the folder to its place.
    ///
    /// # Errors
    /// When it cannot be moved, or the folder that it is in cannot be synced. It is in its place
    /// when the message says so.
    pub fn publish(mut self) -> Result<(), WriteError> {
        self.seal()?;
        match self.at {
            At::Elsewhere(handle) => handle.publish(),
            At::Here(here) => here.publish(),
        }
    }
}

impl Here {
    /// A new folder beside the place; one there that has other files is refused.
    fn open(path: &Path, names: Names) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(path, error);
        let cannot = |why: &str| {
            let why = format!("it cannot be made a folder: {why}");
            WriteError::refused(path, why)
        };
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => old_folder(path, &names)?,
            Ok(_) => return Err(cannot("it is a file")),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                return Err(cannot("it is a link to nothing"));
            }
            Err(_) => path.to_owned(),
        };
        let draft = Draft::folder_in(folder_of(&target)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => cannot("its folder does not exist"),
            _ => failed(error),
        })?;
        let new = draft.path().join(NEW);
        fs::create_dir(&new).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            target,
            new,
            draft,
            names,
        })
    }

    /// Where a file of this name is.
    fn place(&self, name: &str) -> Result<PathBuf, WriteError> {
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(part)), None) if part == name => Ok(self.new.join(name)),
            _ => Err(WriteError::refused(
                &self.path,
                format!("`{name}` is no name of a file"),
            )),
        }
    }

    /// A file of the set, opened so.
    fn file(&self, name: &str, options: &OpenOptions) -> Result<File, WriteError> {
        let opened = options.open(self.place(name)?);
        opened.map_err(|error| WriteError::new(&self.path, error))
    }

    /// Checks that the folder may still be exchanged, keeps the rights, and brings all to the disk.
    fn seal(&self) -> Result<(), WriteError> {
        refuse_foreign(&self.path, &self.target, &self.names)?;
        let sealed = keep_all_rights(&self.target, &self.new).and_then(|()| sync(&self.new));
        sealed.map_err(|error| WriteError::new(&self.path, error))
    }

    /// Puts the new folder in the old one's place, and syncs both.
    fn publish(self) -> Result<(), WriteError> {
        let draft = self.draft.path();
        let because = |why| WriteError::because(&self.path, why);
        let rescued = drafts::moving(|held| {
            let old = swap::put(&self.new, &self.target, draft, held)?;
            Ok(old.map_or(Ok(()), |old| self.rescue(&old, held)))
        });
        let rescued = rescued.map_err(because)?;
        let synced = sync_folder(folder_of(&self.target));
        // The draft may have another name by now.
        rescued.map_err(because)?;
        synced
            .and_then(|()| sync_folder(draft))
            .map_err(|error| WriteError::unsynced(&self.path, error))
    }

    /// Saves what came into the old folder at the last moment: it moves to the new folder, or the
    /// draft that it is in is kept.
    fn rescue(&self, old: &Path, held: &mut Held) -> Result<(), Why> {
        let left: Vec<String> = match foreign(old, &self.names) {
            Err(error) => vec![format!("it cannot be listed ({error})")],
            Ok(names) => {
                let stays = |name: OsString| {
                    let moved = fs::rename(old.join(&name), self.target.join(&name));
                    let error = moved.err()?;
                    Some(format!("`{}` ({error})", name.to_string_lossy()))
                };
                names.into_iter().filter_map(stays).collect()
            }
        };
        if left.is_empty() {
            return Ok(());
        }
        let draft = self.draft.path();
        let within = old.strip_prefix(draft).unwrap_or(old);
        let at = held.keep(draft).join(within);
        let what = left.join(", ");
        Err(Why::Left { what, at })
    }
}

/// Puts a finished folder, with all that is in it, where another one may be. `scratch` is the draft
/// folder that it is in, on the same file system.
///
/// # Errors
/// When it cannot be moved; what was there before is still there, or the message says where it is.
pub fn install(finished: &Path, at: &Path, scratch: &crate::Scratch) -> Result<(), WriteError> {
    let failed = |error| WriteError::new(at, error);
    sync_many(finished).map_err(failed)?;
    drafts::moving(|held| swap::put(finished, at, scratch.path(), held))
        .map_err(|why| WriteError::because(at, why))?;
    sync_folder(folder_of(at)).map_err(|error| WriteError::unsynced(at, error))
}

/// The folder that is there, by its own name, if it can be exchanged.
fn old_folder(path: &Path, names: &Names) -> Result<PathBuf, WriteError> {
    let failed = |error| WriteError::new(path, error);
    let real = fs::canonicalize(path).map_err(failed)?;
    if std::env::current_dir().is_ok_and(|here| here == real) {
        let why = "it is the folder in which the command runs, which cannot be exchanged";
        return Err(WriteError::refused(path, why));
    }
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev());
    if real.parent().is_none() || device(&real).ok() != device(folder_of(&real)).ok() {
        let why = "a file system is mounted there, which cannot be exchanged";
        return Err(WriteError::refused(path, why));
    }
    access(&real, Access::WRITE_OK).map_err(|error| failed(error.into()))?;
    sweep(&real);
    refuse_foreign(path, &real, names)?;
    Ok(real)
}

/// Refuses a folder with files of somebody else: it is not exchanged.
fn refuse_foreign(path: &Path, folder: &Path, names: &Names) -> Result<(), WriteError> {
    let names = foreign(folder, names).map_err(|error| WriteError::new(path, error))?;
    match names.first() {
        None => Ok(()),
        Some(name) => {
            let name = name.to_string_lossy();
            let why = format!("it holds `{name}`, which is not of such an export and would go");
            Err(WriteError::refused(path, why))
        }
    }
}

/// What in a folder is not of such a set, by name; nothing if there is no folder.
fn foreign(folder: &Path, ours: &Names) -> io::Result<Vec<OsString>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let (entry, name) = entry.map(|entry| (entry.file_type(), entry.file_name()))?;
        if !(entry?.is_file() && name.to_str().is_some_and(|name| ours.have(name))) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Gives the folder and its files the rights of those that are in their place.
fn keep_all_rights(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(new)? {
        let entry = entry?;
        keep_rights(&old.join(entry.file_name()), &entry.path())?;
    }
    keep_rights(old, new)
}

/// Syncs all that is below a folder. Of many files each would wait for the disk on its own, a
/// minute for the sources of a kernel: then the file system is synced, once.
fn sync_many(folder: &Path) -> io::Result<()> {
    match has_more_files(folder, &mut { MANY })? {
        true => Ok(rustix::fs::syncfs(File::open(folder)?)?),
        false => sync(folder),
    }
}

/// Whether there are more files below a folder than `left`, which are counted down.
fn has_more_files(folder: &Path, left: &mut usize) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            if has_more_files(&entry.path(), left)? {
                return Ok(true);
            }
        } else if *left == 0 {
            return Ok(true);
        } else {
            *left -= 1;
        }
    }
    Ok(false)
}

/// Syncs all that is below a folder; links have nothing to sync.
fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_in_all_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("a")).expect("made");
        for name in ["x", "a/y", "a/z"] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        let more = |mut than| has_more_files(folder.path(), &mut than).expect("counted");
        assert!(more(2) && !more(3));
    }

    /// Goal: when a file of somebody else's cannot move to the new folder, it is kept, and the
    /// message says that the set is written and where the file is.
    #[test]
    fn what_cannot_move_to_the_new_folder_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("set");
        fs::create_dir(&target).expect("made");
        fs::write(target.join("a.x"), "old").expect("written");
        let mut set = FileSet::open(&target, Names::ending(".x")).expect("a set");
        let mut file = set.create("a.x").expect("made");
        std::io::Write::write_all(&mut file, b"new").expect("written");
        set.seal().expect("sealed");
        // A folder cannot take the place of a file.
        fs::remove_file(target.join("a.x")).expect("removed");
        fs::create_dir(target.join("a.x")).expect("made");
        fs::write(target.join("a.x/precious"), "precious").expect("written");
        fs::write(target.join("notes"), "precious").expect("written");
        let error = set.publish().expect_err("something is left");
        let text = error.to_string();
        assert!(text.contains("it is written, but"), "{text}");
        assert!(text.contains("`a.x`") && !text.contains("notes"), "{text}");
        assert_eq!(fs::read(target.join("a.x")).expect("there"), b"new");
        assert_eq!(fs::read(target.join("notes")).expect("there"), b"precious");
        sweep(folder.path());
        let names = fs::read_dir(folder.path()).expect("a folder").flatten();
        let kept = names
            .map(|entry| entry.path())
            .find(|path| *path != target)
            .expect("kept");
        assert!(text.contains(&kept.display().to_string()), "{text}");
        let precious = fs::read(kept.join("new/a.x/precious")).expect("there");
        assert_eq!(precious, b"precious");
    }
}
