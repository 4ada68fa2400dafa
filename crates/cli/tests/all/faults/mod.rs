//! Files on a faulty disk (docs/guide/traces.md, "What is promised of files"): each write, sync and
//! rename of each command fails once, and the process is killed at each once.
//!
//! A library that is preloaded counts the calls and makes one of them fail. By default each call
//! gets one errno; `WAKEPLACE_FAULTS=all` gives it each.
//!
//! What must stay: after each fault every output is the old one or the new one, whole, and nothing
//! else has changed (`is_whole`); no call is left out. A new command that writes joins cases.rs.
//! Tests by part (in crates/cli/src): failure.rs: `files_of_a_run` (`writing`);
//! crates/files/src/drafts.rs: `files_of_a_run` (`drop_draft`, `moving`); crates/files/src/swap.rs:
//! `tables_change_as_one` (`put`), `tables_without_exchange` (`move_aside`, `put_back`);
//! crates/files/src/place.rs: `synced_before_and_after` (`seal`, `publish`, `sync_folder`);
//! crates/trace/src/rtapp_log/files.rs: `logs_change_as_one` (a faulty disk); commands/report.rs:
//! `a_report` (each call fails once); commands/platform_import.rs: `a_capture` (each call fails
//! once); commands/platform_import.rs: `an_import`.
//! Helpers, and who fails with them: `all`, `tree`, `add`, `of_output`, `drafts`, `of`, `is_whole`,
//! `at`, `at_each`, `says_why`, `try_case` (most tests).
#![cfg(target_os = "linux")]

mod cases;
mod disk;
mod leftovers;
mod tmpfs;

use cases::Case;
use disk::{Disk, How};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;

/// No command of these makes as many calls.
const MANY_CALLS: u32 = 3000;
/// Errors of a disk, with the exit codes that each may give: ENOSPC, EIO, EROFS, EDQUOT, and
/// EACCES, which is the user's concern where a name is opened, made or moved.
const ERRORS: [(i32, &[i32]); 5] = [
    (28, &[3]),
    (5, &[3]),
    (30, &[3]),
    (122, &[3]),
    (13, &[2, 3]),
];
/// The calls around the exchange of two folders: they are the last ones, but for the removal of the
/// old one.
const LAST_CALLS: u32 = 40;

/// Each error at each call, and a polite end at each.
fn all() -> bool {
    std::env::var_os("WAKEPLACE_FAULTS").is_some_and(|value| value == "all")
}

/// What is in a folder, by path: the bytes of files, nothing for folders.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    add(folder, "", &mut all);
    all
}

fn add(folder: &Path, below: &str, all: &mut Tree) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a kind").is_dir() {
            add(&entry.path(), &format!("{name}/"), all);
            all.insert(name, None);
        } else {
            all.insert(name, Some(fs::read(entry.path()).expect("bytes")));
        }
    }
}

/// The files of a tree that belong to one output: a file, or a folder with what is in it.
fn of_output(tree: &Tree, output: &str) -> Tree {
    let within = format!("{output}/");
    let of = |path: &&String| *path == output || path.starts_with(&within);
    let files = tree.iter().filter(|(path, _)| of(path));
    files
        .map(|(path, file)| (path.clone(), file.clone()))
        .collect()
}

fn drafts(tree: &Tree) -> Vec<&String> {
    tree.keys()
        .filter(|path| path.contains(".wakeplace-"))
        .collect()
}

/// A case with what was there before it and what it makes.
struct Trial<'a> {
    case: &'a Case,
    old: Tree,
    new: Tree,
    /// How many calls there are if nothing fails.
    calls: u32,
}

impl<'a> Trial<'a> {
    fn of(case: &'a Case, disk: &Disk) -> Self {
        let folder = case.folder();
        let old = tree(folder.path());
        let ran = disk.run(case, folder.path(), None);
        assert_eq!(ran.output.status.code(), Some(0), "{ran:?}");
        let new = tree(folder.path());
        for output in case.outputs {
            let (old, new) = (of_output(&old, output), of_output(&new, output));
            assert!(old != new && !new.is_empty(), "{output} is written");
        }
        let calls = disk.calls(case);
        let calls = calls.iter().filter(|(call, _)| call != "from").count() as u32;
        Self {
            case,
            old,
            new,
            calls,
        }
    }

    /// Every output is the old one or the new one, whole, and nothing else has changed.
    fn is_whole(&self, found: &Tree, what: &str) {
        for output in self.case.outputs {
            let there = of_output(found, output);
            let is_old = there == of_output(&self.old, output);
            let is_new = self
                .case
                .is_new(output, &there, &of_output(&self.new, output));
            let names: Vec<_> = there.keys().collect();
            assert!(
                is_old || is_new,
                "{what}: {output} is mixed or a part: {names:?}"
            );
        }
        let of_any = |path: &str| {
            let mut outputs = self.case.outputs.iter();
            outputs.any(|output| path == *output || path.starts_with(&format!("{output}/")))
        };
        let others = |tree: &Tree| -> Tree {
            let others = tree.iter().filter(|(path, _)| !of_any(path));
            let others = others.filter(|(path, _)| !path.starts_with(".wakeplace-"));
            others
                .map(|(path, file)| (path.clone(), file.clone()))
                .collect()
        };
        assert_eq!(others(found), others(&self.old), "{what}: other files");
    }

    /// The call with this number fails; whether there was one.
    fn at(&self, call: u32, how: How, disk: &Disk) -> bool {
        let folder = self.case.folder();
        let ran = disk.run(self.case, folder.path(), Some((call, how)));
        let what = format!("{} {}, call {call}, {how:?}", self.case.name, disk.name());
        let status = ran.output.status;
        if !ran.reached {
            assert_eq!(status.code(), Some(0), "{what}: no fault: {ran:?}");
            self.is_whole(&tree(folder.path()), &what);
            return false;
        }
        let mut found = tree(folder.path());
        let killed = match how {
            How::Errno(_, codes) => {
                let code = status.code().unwrap_or(-1);
                assert!(codes.contains(&code), "{what}: {ran:?}");
                says_why(&ran.output, self.case, &what);
                false
            }
            // A child that is killed is an error of its parent.
            How::Kill => {
                let by_child = self.case.has_children && status.code() == Some(3);
                assert!(status.signal() == Some(9) || by_child, "{what}: {ran:?}");
                !by_child
            }
            How::Term => {
                // It may be over before the signal is heeded.
                let by_child = self.case.has_children && status.code() == Some(3);
                let is_over = status.code() == Some(0) || by_child;
                assert!(status.signal() == Some(15) || is_over, "{what}: {ran:?}");
                false
            }
        };
        if !killed {
            assert_eq!(drafts(&found), [""; 0], "{what}: leftovers");
        }
        if killed && disk.cannot_exchange() {
            // The folder may be aside: whoever writes here next puts it back.
            let other = disk.run_other(folder.path());
            assert_eq!(other.status.code(), Some(0), "{what}: {other:?}");
            fs::remove_file(folder.path().join("other.toml")).expect("written");
            found = tree(folder.path());
        }
        self.is_whole(&found, &what);
        // Every kind of leftover is among each few calls.
        if killed && (all() || call.is_multiple_of(4) || call + LAST_CALLS > self.calls) {
            let next = disk.run(self.case, folder.path(), None);
            assert_eq!(
                next.output.status.code(),
                Some(0),
                "{what}, next run: {next:?}"
            );
            let found = tree(folder.path());
            assert_eq!(
                drafts(&found),
                [""; 0],
                "{what}: leftovers after the next run"
            );
            self.is_whole(&found, &what);
        }
        true
    }

    /// Each call from the first one given, until there is none.
    fn at_each(&self, first: u32, disk: &Disk) {
        let mut ways: Vec<Box<dyn Fn(u32) -> How>> = vec![
            Box::new(|_| How::Kill),
            Box::new(|call| {
                let (errno, codes) = ERRORS[call as usize % ERRORS.len()];
                How::Errno(errno, codes)
            }),
        ];
        if all() {
            ways.pop();
            ways.push(Box::new(|_| How::Term));
            for (errno, codes) in ERRORS {
                ways.push(Box::new(move |_| How::Errno(errno, codes)));
            }
        }
        for how in ways {
            let calls = (first..MANY_CALLS).take_while(|call| self.at(*call, how(*call), disk));
            let calls = calls.count();
            assert!(calls > 3, "{}: {calls} calls are too few", self.case.name);
        }
    }
}

/// One sentence that names a place that was asked for.
fn says_why(output: &Output, case: &Case, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{what}: {said}");
    let named = case.outputs.iter().any(|output| errors[0].contains(output));
    assert!(named, "{what}: no place in: {said}");
    let expects = errors[0].contains("expected");
    assert_eq!(expects, output.status.code() == Some(2), "{what}: {said}");
}

fn try_case(case: &Case, disk: &Disk) {
    Trial::of(case, disk).at_each(1, disk);
}

#[test]
fn files_of_a_run() {
    try_case(&cases::FILES, &Disk::new());
}

#[test]
fn tables_change_as_one() {
    try_case(&cases::TABLES, &Disk::new());
}

/// What is before the exchange is the same as with it.
#[test]
fn tables_without_exchange() {
    let disk = Disk::without_exchange();
    let trial = Trial::of(&cases::TABLES, &disk);
    let first = if all() { 1 } else { trial.calls - LAST_CALLS };
    trial.at_each(first, &disk);
}

/// Goal: what takes the place of a result was synced after the last byte was written, with all that
/// is in it, and the folder is synced after that.
#[test]
fn synced_before_and_after() {
    for case in [
        &cases::FILES,
        &cases::TABLES,
        &cases::LOGS,
        &cases::IMPORT,
        &cases::CAPTURE,
    ] {
        let mut dirty = BTreeSet::new();
        let mut from = String::new();
        let mut moved = Vec::new();
        for (call, path) in Disk::new().calls(case) {
            match call.as_str() {
                "write" => _ = dirty.insert(path),
                "sync" if path.is_empty() => moved.clear(),
                "sync" => _ = dirty.remove(&path),
                "from" => from = path,
                "to" if case.outputs.contains(&path.as_str()) => {
                    let within = format!("{from}/");
                    let mut parts = dirty.iter();
                    let part = parts.find(|part| **part == from || part.starts_with(&within));
                    assert_eq!(part, None, "{path}: moved before it was synced");
                    moved.push(path);
                }
                "to" if dirty.remove(&from) => _ = dirty.insert(path),
                _ => {}
            }
        }
        assert_eq!(moved, [""; 0], "the folder is not synced after");
    }
}

#[test]
fn logs_change_as_one() {
    try_case(&cases::LOGS, &Disk::new());
}

#[test]
fn a_report() {
    try_case(&cases::REPORT, &Disk::new());
}

#[test]
fn an_import() {
    try_case(&cases::IMPORT, &Disk::new());
}

#[test]
fn a_capture() {
    try_case(&cases::CAPTURE, &Disk::new());
}
