//! Running the program and judging its answer.
//!
//! What must stay: `program` starts the built program without settings of the environment;
//! `assert_refused` and `assert_code` are the contract of exit codes (docs/guide/results.md,
//! "Gates"), so all files of this folder depend on them. Callers: all files of this folder;
//! `shared_folder`: schedulers.rs, wall.rs and faults/disk.rs; a fault here fails there. `run`,
//! `run_in`, `sim`, `compare` run it to its end; `stdout`, `stderr` read what it said; `file`,
//! `stuck_load`, `spinning_load` (gates, results, sweeps), `repository` give files.
#![allow(dead_code, reason = "every test program uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A small workload and a policy, for tests that need something valid.
pub(crate) const PERIODIC: &str = "periodic:n=4,period=16ms,duty=5%";

/// The program, as a user without settings in the environment starts it, in a folder.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wakeplace"));
    command.current_dir(folder).stdin(Stdio::null());
    // A panic or an error must not bring a backtrace even where it is asked for.
    command.env("RUST_BACKTRACE", "1").env_remove("NO_COLOR");
    command
}

/// Runs it to its end.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> Output {
    program(folder)
        .args(args)
        .output()
        .expect("the program starts")
}

/// Runs it where no file matters.
pub(crate) fn run(args: &[&str]) -> Output {
    run_in(Path::new("."), args)
}

/// `sim` with something valid, and more arguments.
pub(crate) fn sim(more: &[&str]) -> Output {
    let valid = [
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        PERIODIC,
        "--policy",
        "linux-4.17",
        "--duration",
        "50ms",
    ];
    run(&[&valid[..], more].concat())
}

/// `compare` with something valid, and more arguments.
pub(crate) fn compare(more: &[&str]) -> Output {
    let valid = [
        "compare",
        "--platform",
        "hikey960",
        "--workload",
        PERIODIC,
        "--policy",
        "linux-4.17",
        "--policy",
        "linux-4.17+energy-aware",
        "--duration",
        "200ms",
    ];
    run(&[&valid[..], more].concat())
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// It ended with this code, and without a trace of a panic.
#[track_caller]
pub(crate) fn assert_code(output: &Output, code: i32) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in ["panicked", "backtrace", "RUST_BACKTRACE"] {
        assert!(!text.contains(word), "{text}");
    }
}

/// It refused: exit code 2, nothing on standard output, one error with all these words.
#[track_caller]
pub(crate) fn assert_refused(output: &Output, words: &[&str]) {
    assert_code(output, 2);
    assert_eq!(stdout(output), "");
    let text = stderr(output);
    assert!(text.starts_with("error: "), "{text}");
    assert_eq!(text.matches("error: ").count(), 1, "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// A folder of its own for a test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A folder for what many tests of this process share. A static is never dropped, so those of
/// processes that are gone are removed here.
pub(crate) fn shared_folder(name: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let entries = std::fs::read_dir(&all).into_iter().flatten().flatten();
    for entry in entries {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let own = all.join(std::process::id().to_string());
    std::fs::create_dir_all(&own).expect("a folder");
    own
}

/// Writes a file into it.
pub(crate) fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// Writes `stuck.json`, whose one thread waits for a condition that nobody signals.
pub(crate) fn stuck_load(folder: &tempfile::TempDir) -> PathBuf {
    let text = r#"{"tasks": {"a": {"loop": 1, "wait": {"ref": "c", "mutex": "m"}}}}"#;
    file(folder, "stuck.json", text)
}

/// Writes `app.json`, whose second thread `spin` repeats a step that takes no time.
pub(crate) fn spinning_load(folder: &tempfile::TempDir) -> PathBuf {
    let text = r#"{"tasks": {"good": {"run": 10, "sleep": 990}, "spin": {"run": 0}}}"#;
    file(folder, "app.json", text)
}

/// A file of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}
