//! Puts a finished folder where another one may be (docs/guide/traces.md, "What is promised of
//! files").
//!
//! Called by `set.rs`, and by `draft.rs` for what others left.
//!
//! What must stay: at any moment the old or the new folder is whole somewhere. The note's name and
//! form, since later processes read it. A note of somebody else leads nowhere: it is not followed,
//! and its name has one part. Free: how the folder in the draft is called. Tests by part:
//! `an_old_folder_that_cannot_go_back_is_kept` (`move_aside`), `odd_notes_are_not_followed`
//! (`read_note`, `put_back`), crates/cli/tests/all/faults/mod.rs::`tables_without_exchange`
//! (`move_aside`, `put_back`), faults/mod.rs::`tables_change_as_one` (`put`).
//!
//! Tests: below, crates/cli/tests/all/faults/mod.rs

use crate::drafts::Held;
use crate::error::Why;
use crate::place::{folder_of, sync_folder};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// In a draft folder: the old folder, moved aside where the two cannot be exchanged.
const ASIDE: &str = "aside";
/// In a draft folder: the name that the old folder had, in the folder of the draft.
const ASIDE_NAME: &str = "aside-name";
/// Longest note that is read: no name is longer.
const NOTE_MAX_BYTES: u64 = 256;

/// Moves `new`, which is in the draft folder `draft`, to `target` on the same file system. Where
/// the old folder is by then.
pub(crate) fn put(
    new: &Path,
    target: &Path,
    draft: &Path,
    held: &mut Held,
) -> Result<Option<PathBuf>, Why> {
    if fs::symlink_metadata(target).is_err() {
        fs::rename(new, target)?;
        return Ok(None);
    }
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Some(new.to_owned())),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            move_aside(new, target, draft, held).map(Some)
        }
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// Moves the old folder aside and the new one in its place, for file systems without exchange.
/// Between the two renames there is no folder in that place. If the process ends there, whoever
/// sweeps its draft puts back an old folder that was beside it. If the old folder cannot be put
/// back after an error, its draft is kept.
fn move_aside(new: &Path, target: &Path, draft: &Path, held: &mut Held) -> Result<PathBuf, Why> {
    if folder_of(target) == folder_of(draft) {
        let name = target.file_name().unwrap_or_default();
        let mut note = File::create_new(draft.join(ASIDE_NAME))?;
        note.write_all(name.as_bytes())?;
        note.sync_all()?;
        sync_folder(draft)?;
    }
    let aside = draft.join(ASIDE);
    fs::rename(target, &aside)?;
    let Err(error) = fs::rename(new, target) else {
        return Ok(aside);
    };
    match fs::rename(&aside, target) {
        Ok(()) => Err(error.into()),
        Err(_) => {
            let at = held.keep(draft).join(ASIDE);
            Err(Why::Aside { error, at })
        }
    }
}

/// Puts an old folder back that a process which has ended had moved aside into its draft folder, if
/// its place is empty.
pub(crate) fn put_back(draft: &Path) -> io::Result<()> {
    let aside = draft.join(ASIDE);
    let name = match read_note(&draft.join(ASIDE_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        name => name?,
    };
    if !fs::symlink_metadata(&aside).is_ok_and(|aside| aside.is_dir()) {
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

/// Reads a note. One of ours is a small file; whatever else has that name is not read.
fn read_note(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let note = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let mut name = Vec::new();
    if note.metadata()?.is_file() {
        note.take(NOTE_MAX_BYTES + 1).read_to_end(&mut name)?;
    }
    match name.len() as u64 {
        1..=NOTE_MAX_BYTES => Ok(name),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;
    use crate::drafts;
    use std::os::unix::fs::symlink;

    /// Goal: when the new folder cannot take its place and the old one cannot go back to it, the
    /// old one is kept, and the message says where.
    #[test]
    fn an_old_folder_that_cannot_go_back_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = folder.path().join("old");
        fs::create_dir_all(old.join("sub")).expect("made");
        fs::write(old.join("precious"), "precious").expect("written");
        let scratch = Scratch::folder_in(folder.path()).expect("a scratch");
        let new = scratch.path().join("new");
        fs::create_dir(&new).expect("made");
        // This name leads through the folder itself: it is none once that is aside.
        let target = old.join("sub/../../old");
        let moved = drafts::moving(|held| move_aside(&new, &target, scratch.path(), held));
        let Err(Why::Aside { at, .. }) = moved else {
            panic!("{moved:?}");
        };
        drop(scratch);
        crate::draft::sweep(folder.path());
        assert!(!old.exists());
        assert_eq!(fs::read(at.join("precious")).expect("kept"), b"precious");
    }

    /// Goal: a leftover whose note is a link, too long or a folder moves nothing and stays.
    #[test]
    fn odd_notes_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let draft = folder.path().join(".wakeplace-odd.tmp");
        let (note, aside) = (draft.join(ASIDE_NAME), draft.join(ASIDE));
        fs::create_dir_all(&aside).expect("made");
        fs::write(folder.path().join("name"), "taken").expect("written");
        symlink("../name", &note).expect("a link");
        put_back(&draft).expect_err("a link");
        fs::remove_file(&note).expect("removed");
        fs::write(&note, [b'a'; 300]).expect("written");
        put_back(&draft).expect_err("too long");
        fs::remove_file(&note).expect("removed");
        fs::create_dir(&note).expect("made");
        put_back(&draft).expect_err("a folder");
        crate::draft::sweep(folder.path());
        assert!(aside.exists() && !folder.path().join("taken").exists());
        fs::remove_dir(&note).expect("removed");
        fs::write(&note, "taken").expect("written");
        put_back(&draft).expect("a note of ours");
        assert!(folder.path().join("taken").exists());
    }
}
