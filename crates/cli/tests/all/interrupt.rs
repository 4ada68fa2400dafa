//! Ctrl-C and polite ends while files are written (exit codes of `--help`): nothing is left.
//! Page: docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: a signal leaves nothing of a result, and what was there stays; ignored signals
//! stay ignored.
//! Tests by part (in crates/cli/src): interrupt.rs: `nothing_is_left_of_an_interrupted_run`
//! (`watch`, `start`), `ignored_signals_stay_ignored` (`ignored`); crates/files/src/drafts.rs:
//! `nothing_is_left_of_an_interrupted_run` (`abandon`, `add`); args/import.rs:
//! `an_ended_recording_leaves_the_kernel_as_it_was` (`WorkloadRecordArgs`); commands/record.rs:
//! `an_ended_recording_leaves_the_kernel_as_it_was` (`Instance`, `UntilTheEnd`).
//! Helpers, and who fails with them: `send`, `await_that` (all tests); `endless`, `drafts`
//! (`nothing_is_left_of_an_interrupted_run`, `ignored_signals_stay_ignored`); `everything`
//! (`nothing_is_left_of_an_interrupted_run`, `an_ended_recording_leaves_the_kernel_as_it_was`);
//! `ended` (`nothing_is_left_of_an_interrupted_run`); `instances`
//! (`an_ended_recording_leaves_the_kernel_as_it_was`).
#![cfg(target_os = "linux")]

use crate::common;

use common::{file, folder, program};
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// One thread whose passes are logged, for ever.
const LOGGED: &str = r#"{
    "tasks": { "t": { "loop": -1, "run": 1000, "sleep": 1000 } },
    "global": { "duration": -1, "calibration": 100, "logdir": ".", "log_basename": "x" }
}"#;

/// A run that goes on for seconds and writes whatever can be written, heedful of these signals
/// even where the tests are run by something that ignores them.
fn endless(folder: &Path, heeded: &str) -> Command {
    let program = program(folder).get_program().to_owned();
    let mut command = Command::new("env");
    command.current_dir(folder).stdin(Stdio::null());
    command
        .arg(format!("--default-signal={heeded}"))
        .arg(program);
    command.args(["sim", "--platform", "tc2", "--workload", "load.json"]);
    command.args(["--policy", "linux-6.2", "--duration", "3000s", "--quiet"]);
    command.args(["--export-perfetto", "run.pftrace", "--export-ftrace", "old"]);
    command.args(["--export-parquet", "tables", "--export-rtapp-log", "logs"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn everything(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(everything(&path));
        }
        all.push(path.file_name().expect("a name").to_string_lossy().into());
    }
    all.sort();
    all
}

/// The shell's own `kill`: not every machine has the program.
fn send(signal: &str, to: &Child) {
    let kill = format!("kill -s {signal} {}", to.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("sh").success(), "{kill}");
}

/// Of a program that goes on meanwhile; a minute at most.
fn await_that(holds: &dyn Fn() -> bool, child: &mut Child) {
    for _ in 0..12_000 {
        if holds() {
            return;
        }
        assert_eq!(child.try_wait().expect("asked"), None, "it ended");
        sleep(Duration::from_millis(5));
    }
    panic!("not within a minute");
}

/// Two traces, and a folder each of tables and of logs.
fn drafts(folder: &Path) -> usize {
    let all = fs::read_dir(folder).expect("a folder");
    let names = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(".wakeplace-")).count()
}

/// Starts it, waits until a trace, a table and a log are in the making, sends the signal.
fn ended(mut command: Command, folder: &Path, signal: &str) -> ExitStatus {
    let mut child = command.spawn().expect("it starts");
    await_that(&|| drafts(folder) == 4, &mut child);
    // The logs' folder is there for some moments before the run begins.
    sleep(Duration::from_millis(200));
    send(signal, &child);
    child.wait().expect("it ends")
}

/// Goal: the signal ends it as it ends any program, what was there is as it was, and no part of a
/// result is left.
#[test]
fn nothing_is_left_of_an_interrupted_run() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let folder = folder();
        file(&folder, "load.json", LOGGED);
        file(&folder, "old", "old");
        let status = ended(endless(folder.path(), signal), folder.path(), signal);
        assert_eq!(status.signal(), Some(number), "{signal}: {status}");
        let left = everything(folder.path());
        assert_eq!(left, ["load.json", "old"], "{signal}");
        let old = fs::read_to_string(folder.path().join("old")).expect("there");
        assert_eq!(old, "old");
    }
}

/// Goal: below `nohup` and behind `&` a run goes on.
#[test]
fn ignored_signals_stay_ignored() {
    let folder = folder();
    file(&folder, "load.json", LOGGED);
    let sim = endless(folder.path(), "TERM");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT HUP; exec \"$@\"", "sh"]);
    shell.arg(sim.get_program()).args(sim.get_args());
    shell.current_dir(folder.path()).stdin(Stdio::null());
    let mut child = shell.spawn().expect("it starts");
    await_that(&|| drafts(folder.path()) == 4, &mut child);
    for signal in ["INT", "HUP"] {
        send(signal, &child);
    }
    sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().expect("asked"), None, "it goes on");
    send("TERM", &child);
    let status = child.wait().expect("it ends");
    assert_eq!(status.signal(), Some(15));
}

/// Instances of the kernel's trace, by a mount of our own; none where it cannot be mounted.
fn instances() -> Option<String> {
    let list = format!("{MOUNT} && ls /sys/kernel/tracing/instances");
    let shell = ["--mount", "sh", "-c", &list];
    let output = Command::new("unshare").args(shell).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

/// In a shell that has mounts of its own.
const MOUNT: &str = "mount -t tracefs nodev /sys/kernel/tracing";

/// Goal: a recording that a signal ends leaves no instance of the kernel's trace, which would keep
/// its buffers and go on for ever. Needs root and a kernel that can trace.
#[test]
fn an_ended_recording_leaves_the_kernel_as_it_was() {
    if instances().is_none() {
        // Past the harness's capture: a test that checked nothing must not look like one that did.
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "interrupt: SKIPPED, no tracefs can be mounted here");
        return;
    }
    let folder = folder();
    let own = program(folder.path()).get_program().to_owned();
    let record = format!("{MOUNT} && exec \"$0\" workload record -o run.txt -- sleep 5");
    let mut command = Command::new("unshare");
    command.current_dir(folder.path()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.args(["--mount", "env", "--default-signal=TERM", "sh", "-c"]);
    let mut child = command.arg(record).arg(own).spawn().expect("it starts");
    // Neither `unshare` nor `exec` makes another process.
    let name = format!("wakeplace-{}", child.id());
    let is_there = || instances().is_some_and(|all| all.lines().any(|own| own == name));
    await_that(&is_there, &mut child);
    send("TERM", &child);
    let ended = child.wait().expect("it ends");
    assert_eq!(ended.signal(), Some(15));
    assert!(!is_there(), "{name}");
    assert_eq!(everything(folder.path()), [""; 0]);
}
