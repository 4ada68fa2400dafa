//! Drafts of processes that were killed, and of processes that still run.
//! Page: docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: only what the program itself made, and whose process is gone, is removed.
//! Tests by part (in crates/cli/src): crates/files/src/draft.rs: `only_the_drafts_of_the_dead_go`
//! (`sweep`, `is_draft`, `open_to_lock`); export.rs: `a_folder_with_other_files_is_refused`
//! (`A_FOLDER`); crates/files: `a_file_that_comes_during_the_run_is_kept`.
//! Helpers, and who fails with them: `names`, `drafts` (`only_the_drafts_of_the_dead_go`,
//! `a_file_that_comes_during_the_run_is_kept`); `long_run` (`only_the_drafts_of_the_dead_go`).

use crate::common::{assert_code, assert_refused, file, folder, program, run_in, stderr};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

const RUN: [&str; 5] = [
    "sim",
    "--platform=tc2",
    "--workload=periodic:n=2",
    "--policy=linux-6.2",
    "--quiet",
];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn drafts(folder: &Path) -> usize {
    let names = names(folder);
    names
        .iter()
        .filter(|name| name.starts_with(".wakeplace-"))
        .count()
}

/// A process that is killed when dropped: also when a test fails it must not go on to write.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// A run that takes long, with a file and a folder in the making.
fn long_run(folder: &Path) -> Running {
    let mut command = program(folder);
    command
        .args(RUN)
        .args(["--duration=3000s", "--export-ftrace=long.txt"]);
    command
        .arg("--export-parquet=long")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let before = names(folder);
    let child = Running(command.spawn().expect("it starts"));
    for _ in 0..12_000 {
        let new = names(folder)
            .into_iter()
            .filter(|name| !before.contains(name));
        if new.count() == 2 {
            return child;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("no drafts within a minute");
}

/// Goal: what a killed process left goes with the next run in that folder, what a running one
/// writes stays, and so does whatever only has such a name.
#[test]
fn only_the_drafts_of_the_dead_go() {
    let folder = folder();
    drop(long_run(folder.path()));
    assert_eq!(drafts(folder.path()), 2, "kill -9 leaves them");
    let mut alive = long_run(folder.path());
    // The second run has removed what the first one left.
    assert_eq!(drafts(folder.path()), 2);
    let link = folder.path().join(".wakeplace-link.tmp");
    file(&folder, "target", "precious");
    std::os::unix::fs::symlink("target", &link).expect("a link");
    let output = run_in(
        folder.path(),
        &[&RUN[..], &["--duration=10ms", "-o", "r.json"]].concat(),
    );
    assert_code(&output, 0);
    assert!(link.is_symlink() && drafts(folder.path()) == 3);
    assert_eq!(alive.0.try_wait().expect("asked"), None, "it goes on");
    drop(alive);
    let output = run_in(
        folder.path(),
        &[&RUN[..], &["--duration=10ms", "-o", "r.json"]].concat(),
    );
    assert_code(&output, 0);
    assert_eq!(
        names(folder.path()),
        [".wakeplace-link.tmp", "r.json", "target"]
    );
}

/// Goal: a folder that holds anything else is refused before the run, and stays as it is.
#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = folder();
    let tables = folder.path().join("tables");
    fs::create_dir(&tables).expect("a folder");
    file(&folder, "tables/metrics.parquet", "old");
    file(&folder, "tables/notes.txt", "precious");
    let run = |place: &str| {
        let place = format!("--export-parquet={place}");
        run_in(
            folder.path(),
            &[&RUN[..], &["--duration=5s", &place]].concat(),
        )
    };
    assert_refused(
        &run("tables"),
        &["--export-parquet tables", "`notes.txt`", "expected a new"],
    );
    fs::remove_file(tables.join("notes.txt")).expect("removed");
    fs::create_dir(tables.join("decisions.parquet")).expect("a folder");
    assert_refused(&run("tables"), &["`decisions.parquet`"]);
    let kept = fs::read_to_string(tables.join("metrics.parquet")).expect("there");
    assert_eq!(kept, "old");
    file(&folder, "taken", "precious");
    assert_refused(&run("taken"), &["--export-parquet taken", "it is a file"]);
    assert_refused(&run("."), &["--export-parquet .", "expected a new"]);
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let here = run_in(&empty, &[&RUN[..], &["--export-parquet=."]].concat());
    assert_refused(&here, &["the folder in which the command runs"]);
}

/// Goal: what comes into the folder while the run goes on is not lost either.
#[test]
fn a_file_that_comes_during_the_run_is_kept() {
    let folder = folder();
    let tables = folder.path().join("tables");
    fs::create_dir(&tables).expect("a folder");
    let mut command = program(folder.path());
    command
        .args(RUN)
        .args(["--duration=3s", "--export-parquet=tables"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    while drafts(folder.path()) == 0 {
        sleep(Duration::from_millis(1));
    }
    file(&folder, "tables/notes.txt", "precious");
    let output = child.wait_with_output().expect("it ends");
    assert_code(&output, 2);
    assert!(
        stderr(&output).contains("`notes.txt`"),
        "{}",
        stderr(&output)
    );
    assert_eq!(names(&tables), ["notes.txt"]);
    assert_eq!(names(folder.path()), ["tables"]);
}
