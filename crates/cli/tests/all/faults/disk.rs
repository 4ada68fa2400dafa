//! Runs commands on a faulty disk.
//! The library is faults/disk.c; page: docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: `run` fails exactly one call, `calls` lists those that change the folder,
//! `library` builds disk.c once per process, `without_exchange` is a file system without the
//! exchange of folders. Caller: faults/mod.rs. `new` and `cannot_exchange` say which disk it is,
//! `name` is for messages; `program` preloads the library; `run_other` writes beside a broken run.

use super::cases::Case;
use crate::common::{folder, program, shared_folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// It fails so; the exit codes that this may give.
    Errno(i32, &'static [i32]),
    /// The process is killed.
    Kill,
    /// It is asked to end.
    Term,
}

/// A command that has ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) output: Output,
    /// The chosen call was made.
    pub(super) reached: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Disk {
    exchanges: bool,
}

/// The library, built once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let path = shared_folder("disk").join("disk.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/faults/disk.c");
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o"]);
        let built = cc.arg(&path).args([source, "-ldl"]).output();
        let built = built.expect("a C compiler");
        assert!(built.status.success(), "{built:?}");
        path
    })
}

impl Disk {
    pub(super) fn new() -> Self {
        let exchanges = true;
        Self { exchanges }
    }

    /// A file system that cannot exchange two folders.
    pub(super) fn without_exchange() -> Self {
        let exchanges = false;
        Self { exchanges }
    }

    pub(super) fn cannot_exchange(self) -> bool {
        !self.exchanges
    }

    pub(super) fn name(self) -> &'static str {
        match self.exchanges {
            true => "on a disk",
            false => "on a disk without exchange",
        }
    }

    fn program(self, below: &Path) -> Command {
        let mut command = program(below);
        command.env("LD_PRELOAD", library());
        if !self.exchanges {
            command.env("FAULT_NO_SWAP", "1");
        }
        command
    }

    pub(super) fn run(self, case: &Case, below: &Path, fault: Option<(u32, How)>) -> Ran {
        let outside = folder();
        let reached = outside.path().join("reached");
        let mut command = self.program(below);
        command.args(case.args);
        if let Some((call, how)) = fault {
            let how = match how {
                How::Errno(errno, _) => errno.to_string(),
                How::Kill => "kill".to_owned(),
                How::Term => "term".to_owned(),
            };
            let below = fs::canonicalize(below).expect("a folder");
            command
                .env("FAULT_BELOW", below)
                .env("FAULT_AT", call.to_string());
            command.env("FAULT_HOW", how).env("FAULT_REACHED", &reached);
        }
        Ran {
            output: command.output().expect("it starts"),
            reached: reached.exists(),
        }
    }

    /// The calls of a run that change what is below its folder, in their order: what each is, and
    /// the path below that folder. A rename is two lines, `from` and `to`.
    pub(super) fn calls(self, case: &Case) -> Vec<(String, String)> {
        let (folder, outside) = (case.folder(), folder());
        let below = fs::canonicalize(folder.path()).expect("a folder");
        let log = outside.path().join("log");
        let mut command = self.program(folder.path());
        command
            .args(case.args)
            .env("FAULT_LOG", &log)
            .env("FAULT_BELOW", &below);
        // No call has this number; with an end to come removals count too.
        command.env("FAULT_AT", "0").env("FAULT_HOW", "kill");
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(log).expect("some calls");
        let call = |line: &str| {
            let (call, path) = line.split_once(' ').expect("two words");
            let path = Path::new(path).strip_prefix(&below).expect("below it");
            (call.to_owned(), path.to_string_lossy().into_owned())
        };
        text.lines().map(call).collect()
    }

    /// Writes another file in the same folder.
    pub(super) fn run_other(self, below: &Path) -> Output {
        let args = [
            "platform",
            "import",
            "--lisa",
            "board.yml",
            "-o",
            "other.toml",
        ];
        self.program(below).args(args).output().expect("it starts")
    }
}
