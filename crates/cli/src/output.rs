//! Where a result goes: standard output, or a file that is complete or not there at all.

use crate::failure::Failure;
use crate::terminal::Terminal;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A place that was found to be writable.
#[derive(Debug)]
pub(crate) enum Output {
    /// Standard output.
    Stdout,
    /// A regular file, there already or not; symbolic links are followed.
    File(PathBuf),
    /// A device or a pipe: written in place, since replacing it by a file would destroy it.
    Special(PathBuf),
}

impl Output {
    /// Finds out, before anything is simulated, whether the result could be written. Nothing stays
    /// behind, whatever happens afterwards.
    pub(crate) fn prepare(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != "-") else {
            return Ok(Self::Stdout);
        };
        let failed = |error: io::Error| cannot_write(path, &error.to_string());
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(cannot_write(path, "it is a folder")),
            Ok(found) if !found.is_file() => Ok(Self::Special(path.to_owned())),
            Ok(_) => {
                // Opened without truncating: only the right to write is asked for.
                OpenOptions::new().write(true).open(path).map_err(failed)?;
                let real = fs::canonicalize(path).map_err(failed)?;
                temporary_beside(&real).map_err(failed)?;
                Ok(Self::File(real))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let what = |error: io::Error| match error.kind() {
                    io::ErrorKind::NotFound => cannot_write(path, "its folder does not exist"),
                    _ => failed(error),
                };
                temporary_beside(path).map_err(what)?;
                Ok(Self::File(path.to_owned()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// It is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes a whole result.
    pub(crate) fn write(&self, text: &str, terminal: Terminal) -> Result<(), Failure> {
        match self {
            Self::Stdout => terminal.print(text),
            Self::Special(path) => OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| cannot_write(path, &error.to_string())),
            Self::File(path) => {
                replace(path, text).map_err(|error| cannot_write(path, &error.to_string()))
            }
        }
    }
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::Input(format!(
        "output {path}: cannot be written: {why}; expected a file in a folder \
        that exists and may be written to"
    ))
}

/// Writes beside the file and renames: a reader sees the old or the new text, never a part.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = temporary_beside(path)?;
    temporary.write_all(text.as_bytes())?;
    keep_permissions(path, temporary.as_file())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(())
}

/// A new file in the same folder, with the rights a new file gets; gone when dropped.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wakeplace-").suffix(".tmp");
    if let Some(permissions) = for_everyone() {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
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
fn keep_permissions(path: &Path, new: &File) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) => new.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}
