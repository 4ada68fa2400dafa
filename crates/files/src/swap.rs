//! Puts a finished folder where another one may be.

use crate::place::{folder_of, sync_folder};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// In a draft folder: the old folder, moved aside where the two cannot be exchanged.
const ASIDE: &str = "aside";
/// In a draft folder: the name that the old folder had, in the folder of the draft.
const ASIDE_NAME: &str = "aside-name";

/// Moves `new`, which is in the draft folder `draft`, to `target` on the same file system. Where
/// the old folder is by then.
pub(crate) fn put(new: &Path, target: &Path, draft: &Path) -> io::Result<Option<PathBuf>> {
    if fs::symlink_metadata(target).is_err() {
        return fs::rename(new, target).map(|()| None);
    }
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Some(new.to_owned())),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            move_aside(new, target, draft).map(Some)
        }
        Err(error) => Err(error.into()),
    }
}

/// For file systems without exchange. Between the two renames there is no folder in that place.
/// If the process ends there, whoever sweeps its draft puts back an old folder that was beside it.
fn move_aside(new: &Path, target: &Path, draft: &Path) -> io::Result<PathBuf> {
    if folder_of(target) == folder_of(draft) {
        let name = target.file_name().unwrap_or_default();
        let mut note = File::create_new(draft.join(ASIDE_NAME))?;
        note.write_all(name.as_bytes())?;
        note.sync_all()?;
        sync_folder(draft)?;
    }
    let aside = draft.join(ASIDE);
    fs::rename(target, &aside)?;
    match fs::rename(new, target) {
        Ok(()) => Ok(aside),
        Err(error) => {
            fs::rename(&aside, target)?;
            Err(error)
        }
    }
}

/// Of the draft folder of a process that has ended: an old folder that is aside and whose place is
/// empty goes back to it.
pub(crate) fn put_back(draft: &Path) -> io::Result<()> {
    let aside = draft.join(ASIDE);
    let name = match fs::read(draft.join(ASIDE_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        name => name?,
    };
    if !aside.is_dir() {
        return Ok(());
    }
    let name = Path::new(OsStr::from_bytes(&name)).file_name();
    let (Some(name), Some(folder)) = (name, draft.parent()) else {
        return Ok(());
    };
    let target = folder.join(name);
    match fs::symlink_metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(&aside, &target),
        _ => Ok(()),
    }
}
