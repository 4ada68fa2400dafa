//! A file that is there whole or not at all: written beside its place and moved at the end. A
//! device or a pipe is written in place.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {why}", path.display())]
pub struct ExportError {
    path: PathBuf,
    why: String,
}

impl ExportError {
    pub(super) fn new(path: &Path, why: impl ToString) -> Self {
        Self {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }
}

/// What stays behind if the process is ended before the files are in their places.
#[derive(Debug, Default)]
pub struct Drafts {
    /// Files, and folders with all that is in them.
    pub whole: Vec<PathBuf>,
    /// Folders that were made, for files of which none may have come.
    pub if_empty: Vec<PathBuf>,
}

/// A folder for files; gone at the end if it was made here and nothing came into it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    made: bool,
}

impl Folder {
    /// The folder itself is made, the one it is in must be there.
    pub(crate) fn open(path: &Path) -> Result<Self, ExportError> {
        let made = !path.is_dir();
        if made {
            fs::create_dir(path).map_err(|error| {
                let why = format!("it cannot be made a folder: {error}");
                ExportError::new(path, why)
            })?;
        }
        let path = path.to_owned();
        Ok(Self { path, made })
    }

    pub(super) fn made(&self) -> Option<&Path> {
        self.made.then_some(&self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Fails where there is something in it, as it should.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Where a file will be.
#[derive(Debug)]
pub(crate) struct Place {
    /// As it was asked for.
    path: PathBuf,
    /// The file that is written meanwhile, and where it goes; None: written in place.
    draft: Option<(TempPath, PathBuf)>,
}

impl Place {
    /// Finds out whether a file can be there, and opens what is written until it is. What is there
    /// already stays as it is.
    pub(crate) fn open(path: &Path) -> Result<(Self, File), ExportError> {
        let failed = |why: io::Error| ExportError::new(path, why);
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(ExportError::new(path, "it is a folder")),
            Ok(found) => {
                // Not truncated: only the right to write is asked for.
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                if !found.is_file() {
                    let (path, draft) = (path.to_owned(), None);
                    return Ok((Self { path, draft }, file));
                }
                fs::canonicalize(path).map_err(failed)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(failed(error)),
        };
        let (file, draft) = beside(&target).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ExportError::new(path, "its folder does not exist"),
            _ => failed(error),
        })?;
        let draft = Some((draft, target));
        let path = path.to_owned();
        Ok((Self { path, draft }, file))
    }

    pub(super) fn draft(&self) -> Option<&Path> {
        self.draft.as_ref().map(|(draft, _)| draft.as_ref())
    }

    /// Moves the file, all of which was written, to its place.
    pub(crate) fn publish(self) -> Result<(), ExportError> {
        let Some((draft, target)) = self.draft else {
            return Ok(());
        };
        let moved = keep_permissions(&target, &draft)
            .and_then(|()| draft.persist(&target).map_err(io::Error::from));
        moved.map_err(|why| ExportError::new(&self.path, why))
    }
}

/// A new file in the same folder with the rights a new file gets; gone when dropped.
fn beside(path: &Path) -> io::Result<(File, TempPath)> {
    let folder = (path.parent()).filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wakeplace-").suffix(".tmp");
    if let Some(permissions) = for_everyone() {
        builder.permissions(permissions);
    }
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    Ok(file.into_parts())
}

/// Read and write for all, less the process's mask.
#[cfg(unix)]
fn for_everyone() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn for_everyone() -> Option<Permissions> {
    None
}

/// A file that was there keeps its rights.
fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(old) => fs::set_permissions(new, old.permissions()),
        Err(_) => Ok(()),
    }
}
