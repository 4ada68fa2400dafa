//! Files of a process that may open none: another process writes them for it.
//!
//! Each [`Place`] and [`FileSet`] of such a process is a number, and one of the same kind at a
//! [`Desk`] in the other process. Open files come from there; what has been written is moved there
//! (docs/guide/traces.md, "What is promised of files"). The other process writes places that were
//! named to it at the start, no others.
//!
//! Called by `place.rs` and `set.rs` behind the wall, and by `crates/cli/src/wall.rs` in front of
//! it. The other process is not trusted: a desk checks each path, name and number.
//!
//! What must stay: the other process is not trusted, so a desk checks each path, name and number,
//! and opens at most `MOST_OPENED`. Both ends are of one program: the form of requests is free. Who
//! drops an unpublished handle gives its draft up. Free: the form of requests and the numbers of
//! handles. Tests by part: `only_outputs_of_the_command_are_written` (`Desk`, `check`),
//! crates/cli/tests/all/wall.rs::`results_and_traces_are_written_through_the_wall` (`ask`,
//! `Handle`), wall.rs::`a_broken_run_is_an_outcome` (drafts of a process that is gone). The way of
//! a request, `write_elsewhere`, `is_elsewhere`, `place`, `set`, `of`, `file`, `rename`, `seal`,
//! `publish` and at the desk `carry_out`, `done`, `hold`, `unknown`: the same test of wall.rs,
//! which finds no file where one of them fails.
//!
//! Tests: below, crates/cli/tests/all/wall.rs

use crate::error::Told;
use crate::{FileSet, Names, Place, WriteError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What is asked of a desk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A place, and the file that is written until it is there.
    Place(PathBuf),
    /// A set of files of these names.
    Set(PathBuf, Names),
    /// A new file in a set.
    Create(u64, String),
    /// A file in a set, new or not, to be written at its end.
    Append(u64, String),
    /// A file in a set gets another name.
    Rename(u64, String, String),
    /// All of it was written.
    Seal(u64),
    /// It goes to its place.
    Publish(u64),
    /// Nothing is left of it.
    GiveUp(u64),
}

/// What a desk answers; an open file may go along.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// Its number.
    Opened(u64),
    /// It is done.
    Done,
    /// Why not.
    Failed(Told),
}

/// How a desk is asked.
type Ask = dyn Fn(&Request) -> io::Result<(Reply, Option<OwnedFd>)> + Send + Sync;

static ELSEWHERE: OnceLock<Box<Ask>> = OnceLock::new();

/// Has files written from now on by the process that this asks.
pub fn write_elsewhere(
    ask: impl Fn(&Request) -> io::Result<(Reply, Option<OwnedFd>)> + Send + Sync + 'static,
) {
    // The first one decides: a process has one desk.
    let _ = ELSEWHERE.set(Box::new(ask));
}

/// Whether files are written by another process.
pub(crate) fn is_elsewhere() -> bool {
    ELSEWHERE.get().is_some()
}

/// Asks the other process, and waits for its answer.
fn ask(path: &Path, what: &Request) -> Result<(Option<u64>, Option<File>), WriteError> {
    let failed = |error| WriteError::new(path, error);
    let ask = ELSEWHERE
        .get()
        .ok_or_else(|| failed(io::ErrorKind::Unsupported.into()))?;
    match ask(what).map_err(failed)? {
        (Reply::Opened(number), file) => Ok((Some(number), file.map(File::from))),
        (Reply::Done, file) => Ok((None, file.map(File::from))),
        (Reply::Failed(told), _) => Err(WriteError::told(path, told)),
    }
}

/// One place or set at the desk.
#[derive(Debug)]
pub(crate) struct Handle {
    path: PathBuf,
    number: u64,
    /// It is where it was to be.
    published: bool,
}

impl Handle {
    /// Opens a place there, and its file.
    pub(crate) fn place(path: &Path) -> Result<(Self, File), WriteError> {
        let opened = ask(path, &Request::Place(path.to_owned()))?;
        match opened {
            (Some(number), Some(file)) => Ok((Self::of(path, number), file)),
            _ => Err(WriteError::new(path, io::ErrorKind::InvalidData.into())),
        }
    }

    /// A set.
    pub(crate) fn set(path: &Path, names: &Names) -> Result<Self, WriteError> {
        let opened = ask(path, &Request::Set(path.to_owned(), names.clone()))?;
        let number = opened
            .0
            .ok_or_else(|| WriteError::new(path, io::ErrorKind::InvalidData.into()))?;
        Ok(Self::of(path, number))
    }

    /// An open place or set of that number.
    fn of(path: &Path, number: u64) -> Self {
        Self {
            path: path.to_owned(),
            number,
            published: false,
        }
    }

    /// A file of the set.
    pub(crate) fn file(&self, name: &str, append: bool) -> Result<File, WriteError> {
        let name = name.to_owned();
        let opened = match append {
            true => ask(&self.path, &Request::Append(self.number, name)),
            false => ask(&self.path, &Request::Create(self.number, name)),
        }?;
        let missing = || WriteError::new(&self.path, io::ErrorKind::InvalidData.into());
        opened.1.ok_or_else(missing)
    }

    /// Gives a file of the set another name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), WriteError> {
        let what = Request::Rename(self.number, from.to_owned(), to.to_owned());
        ask(&self.path, &what).map(drop)
    }

    /// Brings everything to the disk.
    pub(crate) fn seal(&self) -> Result<(), WriteError> {
        ask(&self.path, &Request::Seal(self.number)).map(drop)
    }

    /// Moves it to its place; from then on dropping gives up nothing.
    pub(crate) fn publish(mut self) -> Result<(), WriteError> {
        self.published = true;
        ask(&self.path, &Request::Publish(self.number)).map(drop)
    }
}

impl Drop for Handle {
    /// Gives it up, if it was not published.
    fn drop(&mut self) {
        if !self.published {
            // A desk that is gone has given it up.
            let _ = ask(&self.path, &Request::GiveUp(self.number));
        }
    }
}

#[derive(Debug)]
enum Held {
    Place(Place),
    Set(FileSet),
}

/// Writes files for another process: those that it may write, and no other.
#[derive(Debug)]
pub struct Desk {
    allowed: Vec<PathBuf>,
    held: BTreeMap<u64, Held>,
    opened: u64,
}

/// So many places and sets are opened at most: a command has a few.
const MOST_OPENED: u64 = 1 << 10;

impl Desk {
    /// A desk with the places that may be written.
    #[must_use]
    pub fn new(allowed: Vec<PathBuf>) -> Self {
        Self {
            allowed,
            held: BTreeMap::new(),
            opened: 0,
        }
    }

    /// Does what is asked.
    pub fn carry_out(&mut self, what: Request) -> (Reply, Option<File>) {
        match self.done(what) {
            Ok(done) => done,
            Err(error) => (Reply::Failed(error.into_told()), None),
        }
    }

    /// Does for the other process what it asks, for places that it may write.
    fn done(&mut self, what: Request) -> Result<(Reply, Option<File>), WriteError> {
        match what {
            Request::Place(path) => {
                self.check(&path)?;
                let (place, file) = Place::open(&path)?;
                Ok((self.hold(Held::Place(place)), Some(file)))
            }
            Request::Set(path, names) => {
                self.check(&path)?;
                if !names.are_simple() {
                    return Err(WriteError::refused(
                        &path,
                        "the names of its files have too many parts",
                    ));
                }
                let set = FileSet::open(&path, names)?;
                Ok((self.hold(Held::Set(set)), None))
            }
            Request::Create(number, name) => {
                Ok((Reply::Done, Some(self.set(number)?.create(&name)?)))
            }
            Request::Append(number, name) => {
                Ok((Reply::Done, Some(self.set(number)?.append(&name)?)))
            }
            Request::Rename(number, from, to) => {
                self.set(number)?.rename(&from, &to)?;
                Ok((Reply::Done, None))
            }
            Request::Seal(number) => {
                match self.held.get_mut(&number) {
                    Some(Held::Place(place)) => place.seal()?,
                    Some(Held::Set(set)) => set.seal()?,
                    None => return Err(unknown()),
                }
                Ok((Reply::Done, None))
            }
            Request::Publish(number) => {
                match self.held.remove(&number) {
                    Some(Held::Place(place)) => place.publish()?,
                    Some(Held::Set(set)) => set.publish()?,
                    None => return Err(unknown()),
                }
                Ok((Reply::Done, None))
            }
            Request::GiveUp(number) => {
                self.held.remove(&number);
                Ok((Reply::Done, None))
            }
        }
    }

    /// Checks that the path is one of the command's outputs, and not too many were opened.
    fn check(&self, path: &Path) -> Result<(), WriteError> {
        match self.opened < MOST_OPENED && self.allowed.iter().any(|allowed| allowed == path) {
            true => Ok(()),
            false => Err(WriteError::refused(path, "it is no output of this command")),
        }
    }

    /// Keeps it under the next number.
    fn hold(&mut self, held: Held) -> Reply {
        self.opened += 1;
        self.held.insert(self.opened, held);
        Reply::Opened(self.opened)
    }

    /// The set of that number, if there is one.
    fn set(&mut self, number: u64) -> Result<&mut FileSet, WriteError> {
        match self.held.get_mut(&number) {
            Some(Held::Set(set)) => Ok(set),
            _ => Err(unknown()),
        }
    }
}

/// The refusal of a number that nothing has.
fn unknown() -> WriteError {
    WriteError::refused(Path::new("a file"), "it was not opened")
}

#[cfg(test)]
mod tests {
    use super::{Desk, Reply, Request};
    use crate::Names;
    use crate::names::Part;
    use std::fs;
    use std::io::Write as _;

    /// Goal: who asks gets the files that the command names, whole at the end, and no other.
    #[test]
    fn only_outputs_of_the_command_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let mut desk = Desk::new(vec![at("out"), at("set")]);
        let (reply, file) = desk.carry_out(Request::Place(at("out")));
        let Reply::Opened(place) = reply else {
            panic!("{reply:?}");
        };
        file.expect("open").write_all(b"result").expect("written");
        assert!(!at("out").exists());
        let (reply, _) = desk.carry_out(Request::Publish(place));
        assert!(matches!(reply, Reply::Done), "{reply:?}");
        assert_eq!(fs::read(at("out")).expect("there"), b"result");

        for foreign in [
            at("other"),
            folder.path().join("x/../out"),
            "/etc/passwd".into(),
        ] {
            let (reply, file) = desk.carry_out(Request::Place(foreign));
            assert!(
                matches!(reply, Reply::Failed(_)) && file.is_none(),
                "{reply:?}"
            );
        }
        let (reply, _) = desk.carry_out(Request::Set(at("set"), Names::ending(".x")));
        let Reply::Opened(set) = reply else {
            panic!("{reply:?}");
        };
        for name in ["../escaped", "/etc/escaped", "..", "", "a/b"] {
            let (reply, file) = desk.carry_out(Request::Create(set, name.to_owned()));
            assert!(
                matches!(reply, Reply::Failed(_)) && file.is_none(),
                "{name}: {reply:?}"
            );
        }
        let (_, file) = desk.carry_out(Request::Append(set, "0".to_owned()));
        file.expect("open").write_all(b"x").expect("written");
        let rename = Request::Rename(set, "0".to_owned(), "a.x".to_owned());
        assert!(matches!(desk.carry_out(rename).0, Reply::Done));
        assert!(matches!(
            desk.carry_out(Request::Publish(set)).0,
            Reply::Done
        ));
        assert_eq!(fs::read(at("set/a.x")).expect("there"), b"x");
        // A search of this row would never end: it is refused.
        let endless = Names(vec![vec![Part::Any; 40]]);
        let (reply, _) = desk.carry_out(Request::Set(at("set"), endless));
        assert!(matches!(reply, Reply::Failed(_)), "{reply:?}");
        // What is left open goes with the desk.
        desk.carry_out(Request::Place(at("out")));
        drop(desk);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2);
    }
}
