//! Tests of the program `wakeplace-fidelity`.
//!
//! What must stay: nothing is booted or fetched: the cache does not exist. `said`, `run_in`,
//! `assert_refused` and `part` are used by all files of this folder; a fault of theirs fails there.
//! `repository`, `stderr` and `assert_code` are theirs.

mod programs;
mod published;
mod recorded;
mod truth;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The program in a folder, with a cache that does not exist.
fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_wakeplace-fidelity"));
    program
        .current_dir(folder)
        .env("WAKEPLACE_LAB_CACHE", folder.join("cache"));
    program
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// What it says; it boots and fetches nothing.
fn said(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run_in(folder.path(), arguments);
    assert_code(&output, 0);
    let cache = folder.path().join("cache");
    assert!(!cache.exists(), "it made a cache");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

/// It refused, with these words and without a result.
#[track_caller]
fn assert_refused(output: &Output, words: &[&str]) {
    assert_code(output, 2);
    assert!(output.stdout.is_empty());
    let text = stderr(output);
    assert!(text.starts_with("error: "), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// What a page has of a command of `cargo xtask`.
fn part(page: &str, command: &str) -> String {
    let text = std::fs::read_to_string(repository(page)).expect("the page");
    let mark = format!("<!-- measured: {command} -->");
    let (_, rest) = text.split_once(&mark).expect("a mark");
    let (part, _) = rest.split_once("<!-- end -->").expect("an end");
    part.trim().to_owned()
}
