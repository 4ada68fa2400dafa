//! A file that is there whole or not at all. A device or a pipe is written in place
//! (docs/guide/traces.md, "What is promised of files"). Nobody sees a file that is half written.
//!
//! Callers: crates/cli/src/output.rs, crates/trace/src/export/sink.rs, crates/lab/src/guest.rs
//! (`Place`).
//!
//! What must stay: the order of the steps: draft, write, rights, sync, rename, sync of the folder.
//! What was there stays as it is until the rename. Links are followed, rights are kept, devices and
//! pipes are written in place. Free: how calls are made, as long as their order and what is synced
//! stay. Tests by part: `links_stay_links` (`Place::open`),
//! crates/cli/tests/all/output.rs::`links_and_rights_stay` (`keep_rights`),
//! output.rs::`an_unwritable_place_is_found_before_anything_runs` and
//! output.rs::`a_device_is_written_to_and_not_replaced` (`Place::open`),
//! crates/cli/tests/all/faults/mod.rs::`files_of_a_run` (each call fails once),
//! faults/mod.rs::`synced_before_and_after` (`seal`, `publish`, `sync_folder`). `write` and
//! `folder_of` are of `files_of_a_run`, too.
//!
//! Tests: below, crates/cli/tests/all/output.rs, crates/cli/tests/all/faults/mod.rs

use crate::draft::Draft;
use crate::drafts;
use crate::elsewhere::{self, Handle};
use crate::error::WriteError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where a file will be.
#[derive(Debug)]
pub struct Place {
    /// As it was asked for.
    path: PathBuf,
    /// The file that is written meanwhile, and where it goes; None: written in place.
    draft: Option<(Draft, PathBuf)>,
    sealed: bool,
    /// Another process has it.
    elsewhere: Option<Handle>,
}

impl Place {
    /// Finds out whether a file can be there, and opens what is written until it is. What is there
    /// already stays as it is; symbolic links are followed, and one to nothing is refused.
    ///
    /// # Errors
    /// It cannot be there.
    pub fn open(path: &Path) -> Result<(Self, File), WriteError> {
        let failed = |error: io::Error| WriteError::new(path, error);
        let place = |draft| {
            let path = path.to_owned();
            let sealed = false;
            Self {
                path,
                draft,
                sealed,
                elsewhere: None,
            }
        };
        if elsewhere::is_elsewhere() {
            let (handle, file) = Handle::place(path)?;
            let mut place = place(None);
            place.elsewhere = Some(handle);
            return Ok((place, file));
        }
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(WriteError::refused(path, "it is a folder")),
            Ok(found) => {
                // Not truncated: only the right to write is asked for.
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                if !found.is_file() {
                    return Ok((place(None), file));
                }
                fs::canonicalize(path).map_err(failed)?
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                return Err(WriteError::refused(path, "it is a link to nothing"));
            }
            Err(_) => path.to_owned(),
        };
        let draft = Draft::file_in(folder_of(&target)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => WriteError::refused(path, "its folder does not exist"),
            _ => failed(error),
        })?;
        let file = draft.file().try_clone().map_err(failed)?;
        Ok((place(Some((draft, target))), file))
    }

    /// Syncs the file, all of which was written.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn seal(&mut self) -> Result<(), WriteError> {
        if let (Some(handle), false) = (&self.elsewhere, self.sealed) {
            handle.seal()?;
        }
        if let (Some((draft, target)), false) = (&self.draft, self.sealed) {
            let synced = keep_rights(target, draft.path()).and_then(|()| draft.file().sync_all());
            synced.map_err(|error| WriteError::new(&self.path, error))?;
        }
        self.sealed = true;
        Ok(())
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// When it cannot be moved, or its folder cannot be synced.
    pub fn publish(mut self) -> Result<(), WriteError> {
        self.seal()?;
        if let Some(handle) = self.elsewhere.take() {
            return handle.publish();
        }
        let Some((draft, target)) = &self.draft else {
            return Ok(());
        };
        drafts::moving(|_| fs::rename(draft.path(), target))
            .map_err(|error| WriteError::new(&self.path, error))?;
        sync_folder(folder_of(target)).map_err(|error| WriteError::unsynced(&self.path, error))
    }
}

/// Writes a whole file.
///
/// # Errors
/// It cannot be written; what was there before is still there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let (place, mut file) = Place::open(path)?;
    file.write_all(bytes)
        .map_err(|error| WriteError::new(path, error))?;
    place.publish()
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = (path.parent()).filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Gives the new file the rights of what was there.
pub(crate) fn keep_rights(old: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(old) => fs::set_permissions(new, old.permissions()),
        Err(_) => Ok(()),
    }
}

/// Syncs a folder, so that the names in it survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let open = match File::open(folder) {
        // Files can be made in a folder that may not be read; there is no way to sync it.
        Err(error) if error.kind() == PermissionDenied => return Ok(()),
        open => open?,
    };
    match open.sync_all() {
        // Some file systems cannot sync a folder.
        Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Goal: a link to a file stays a link, and so does one to nothing, which is refused.
    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).expect("a link");
        let error = write(&link, b"new").expect_err("a link to nothing");
        assert!(error.to_string().contains("a link to nothing"), "{error}");
        assert!(link.is_symlink() && !file.exists());
        fs::write(&file, "old").expect("written");
        write(&link, b"new").expect("written");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        assert!(link.is_symlink());
    }
}
