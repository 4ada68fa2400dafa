//! The wall around schedulers of others: what ends a run, and what is left of it then.
//! Page: docs/guide/schedulers.md, "How it ends".
//!
//! What must stay: nothing of a loader outlives the run, and nothing that was there before is
//! touched: processes are looked for by a word of this test's own.
//! Tests by part (in crates/cli/src): interrupt.rs: `nothing_of_a_loader_outlives_the_run` (signals
//! while a worker runs); wall.rs: `nothing_of_a_loader_outlives_the_run` (signals),
//! `a_guard_that_is_killed_ends_the_run` (`Ended`), `a_broken_run_is_an_outcome` (`Broken`),
//! `results_and_traces_are_written_through_the_wall` (`behind`, `Written`); failure.rs:
//! `a_broken_run_is_an_outcome` (`NoResult`, `OfWorker`); crates/files/src/elsewhere.rs:
//! `results_and_traces_are_written_through_the_wall` (`ask`, `Handle`); crates/foreign/src/guard:
//! all others.
//! Helpers, and who fails with them: `until`, `children`, `worker`
//! (`nothing_of_a_loader_outlives_the_run`, `a_guard_that_is_killed_ends_the_run`,
//! `a_broken_run_is_an_outcome`); `processes_with` (`nothing_of_a_loader_outlives_the_run`,
//! `a_guard_that_is_killed_ends_the_run`, `a_child_of_before_is_left_alone`); `endless`
//! (`nothing_of_a_loader_outlives_the_run`, `a_guard_that_is_killed_ends_the_run`); `kill`
//! (`nothing_of_a_loader_outlives_the_run`, `a_guard_that_is_killed_ends_the_run`,
//! `a_child_of_before_is_left_alone`, `a_broken_run_is_an_outcome`); `trees`
//! (`nothing_of_a_loader_outlives_the_run`); `guard` (`a_guard_that_is_killed_ends_the_run`).

use crate::common::{assert_code, assert_refused, shared_folder, stderr};
use crate::schedulers::{loader, made, prepared};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

const WAYS: [&str; 2] = ["notification", "ptrace"];
/// Looked so often, for so long in all.
const NAP: Duration = Duration::from_millis(20);
const LOOKS: usize = 1000;

/// Processes whose command line has this word, but for those that only pass it on.
fn processes_with(word: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let found = pids.filter(|pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\0") && String::from_utf8_lossy(&line).contains(word)
    });
    found.collect()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..LOOKS {
        if let Some(found) = look() {
            return found;
        }
        sleep(NAP);
    }
    panic!("{what} does not come");
}

/// A run without end. It ends with its test, whatever the test finds.
struct Endless(Child);

impl Drop for Endless {
    fn drop(&mut self) {
        // One that has ended has no process.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run without end whose loader has started a process, which waits so many seconds.
fn endless(way: &str, mark: &str, temporary: &Path) -> Endless {
    let loader = loader("for-ever");
    let shell = format!("/bin/sh -c 'sleep {mark} & exec {loader}'");
    let mut command = prepared("periodic:n=2", "sim", &shell, &["--duration", "100000s"]);
    command.env("WAKEPLACE_INTERCEPTION", way);
    command.env("TMPDIR", temporary).process_group(0);
    // A test that was started in the background has been told to ignore Ctrl-C; the program is not.
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    Endless(child.expect("the program starts"))
}

fn kill(pid: i32, signal: libc::c_int) {
    // SAFETY: a process of this test's; a signal touches no memory of ours.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

fn children(parent: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let text = text.unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// The child that has given its rights up (proc(5): `Seccomp: 2`, a filter). The keeper is there
/// before it. A child that tries out how calls can be answered has a filter, too, and is alone.
fn worker(main: u32) -> Option<u32> {
    let all = children(main);
    let mut all = all.iter().copied().filter(|_| all.len() > 1);
    all.find(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.unwrap_or_default().contains("Seccomp:\t2")
    })
}

/// Folders of loaders that are there now.
fn trees(temporary: &Path) -> usize {
    let names = fs::read_dir(temporary).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with("wakeplace-tree-"))
        .count()
}

/// Goal: no process of a loader outlives the run, and no folder of its, whatever ends the command:
/// a signal that it can heed, one that it cannot, or Ctrl-C, which all of its group get.
#[test]
fn nothing_of_a_loader_outlives_the_run() {
    let temporary = shared_folder("outlives");
    let ends = [
        (libc::SIGTERM, false),
        (libc::SIGKILL, false),
        (libc::SIGINT, true),
        (libc::SIGTERM, true),
    ];
    let all = WAYS.iter().flat_map(|way| ends.map(|end| (way, end)));
    for (number, (way, (signal, to_group))) in all.enumerate() {
        // So long nobody else's `sleep` takes.
        let mark = format!("9876541{number}");
        let mut command = endless(way, &mark, &temporary);
        until("the loader's process", || {
            let there = !processes_with(&mark).is_empty() && worker(command.0.id()).is_some();
            there.then_some(())
        });
        let main = command.0.id().cast_signed();
        kill(if to_group { -main } else { main }, signal);
        command.0.wait().expect("it ends");
        until("the end", || processes_with(&mark).is_empty().then_some(()));
        until("the end", || (trees(&temporary) == 0).then_some(()));
    }
}

/// The guard that has a loader now. The keeper is the child of the command that is not its worker;
/// guards are the keeper's children.
fn guard(command: &Child) -> Option<u32> {
    worker(command.id())?;
    let guards = children(command.id()).into_iter().flat_map(children);
    let mut guards = guards.filter(|guard| !children(*guard).is_empty());
    guards.next()
}

/// What is seen after a guard was killed.
enum After {
    Ended(ExitStatus),
    Another(u32),
}

/// Goal: a guard that is killed takes its loader with it, and the run ends without a result. A run
/// loads its scheduler twice: once to see whether it can be loaded, once to run it. A guard that is
/// killed when its loader has done its work may be followed by another one, the second by none.
#[test]
fn a_guard_that_is_killed_ends_the_run() {
    let temporary = shared_folder("guards");
    for (way, mark) in WAYS.into_iter().zip(["98765430", "98765431"]) {
        let mut command = endless(way, mark, &temporary);
        let first = until("the guard", || {
            guard(&command.0).filter(|_| !processes_with(mark).is_empty())
        });
        let mut killed = vec![first];
        let status = loop {
            let last = killed[killed.len() - 1];
            kill(last.cast_signed(), libc::SIGKILL);
            let after = until("the end", || {
                let ended = command.0.try_wait().expect("a child").map(After::Ended);
                let another = || guard(&command.0).filter(|guard| !killed.contains(guard));
                ended.or_else(|| another().map(After::Another))
            });
            match after {
                After::Ended(status) => break status,
                After::Another(guard) => killed.push(guard),
            }
        };
        assert!(killed.len() <= 2, "{way}: {killed:?}");
        // Of the run, or while the scheduler was loaded.
        assert!(matches!(status.code(), Some(1 | 2)), "{way}: {status}");
        until("the end", || processes_with(mark).is_empty().then_some(()));
    }
}

/// Goal: a process that was there before, a child of the command as a shell makes it, is nobody's
/// to end.
#[test]
fn a_child_of_before_is_left_alone() {
    let mark = "98765440";
    let object = made().object("fifo.bpf.o");
    let command = prepared("periodic:n=2", "sim", &object, &[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("sleep {mark} & exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(key, value),
            None => shell.env_remove(key),
        };
    }
    let output = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let left = processes_with(mark);
    for pid in &left {
        kill(pid.cast_signed(), libc::SIGKILL);
    }
    assert!(output.expect("the program starts").success());
    assert_eq!(left.len(), 1);
}

/// Goal: when the process that runs the programs is broken, as by a fault of a compiler, the
/// command says so, has exit code 1, and writes nothing.
#[test]
fn a_broken_run_is_an_outcome() {
    let folder = shared_folder("broken");
    let result = folder.join("result.json");
    let place = result.to_str().expect("UTF-8");
    let object = made().object("fifo.bpf.o");
    let more = ["--duration", "100000s", "-o", place, "--format", "json"];
    let mut command = prepared("periodic:n=2", "sim", &object, &more);
    let command = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let worker = until("the worker", || worker(command.id()));
    // SIGSEGV has a handler in programs of Rust.
    kill(worker.cast_signed(), libc::SIGILL);
    let output = command.wait_with_output().expect("it ends");
    assert_code(&output, 1);
    let said = stderr(&output);
    assert!(
        said.contains("has no result: its process was ended by signal 4"),
        "{said}"
    );
    let left = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(left, 0, "nothing is written");
}

/// Goal: what a command with a scheduler writes is what one without a wall would: whole files, each
/// in its place, and a device.
#[test]
fn results_and_traces_are_written_through_the_wall() {
    let folder = shared_folder("through");
    let at = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let object = made().object("fifo.bpf.o");
    let [result, page, tables, ftrace] = ["r.json", "r.html", "tables", "t.txt"].map(at);
    let more = ["--format", "json", "-o", &result, "--export-html", &page];
    let more = [
        &more[..],
        &["--export-parquet", &tables, "--export-ftrace", &ftrace],
    ]
    .concat();
    let output = prepared("periodic:n=2", "sim", &object, &more).output();
    assert_code(&output.expect("the program starts"), 0);
    let json = fs::read(&result).expect("there");
    serde_json::from_slice::<serde_json::Value>(&json).expect("whole");
    assert!(
        fs::read_to_string(&page)
            .expect("there")
            .ends_with("</html>\n")
    );
    assert!(Path::new(&tables).join("metrics.parquet").is_file());
    assert!(fs::metadata(&ftrace).expect("there").len() > 0);
    assert_eq!(
        fs::read_dir(&folder).expect("a folder").count(),
        4,
        "no drafts"
    );
    let device = prepared("periodic:n=2", "sim", &object, &["-o", "/dev/null"]).output();
    assert_code(&device.expect("the program starts"), 0);
}

/// Goal: what another user puts into the folder for temporary files stops nobody: a pipe with the
/// name of a leftover is not opened and stays.
#[test]
fn a_pipe_among_temporary_files_is_not_waited_for() {
    let folder = shared_folder("pipes");
    let pipe = folder.join("wakeplace-tree-x");
    let name = CString::new(pipe.as_os_str().as_bytes()).expect("a name");
    // SAFETY: the name lives.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o666) }, 0);
    let object = made().object("fifo.bpf.o");
    let mut command: Command = prepared("periodic:n=2", "sim", &object, &[]);
    let output = command.env("TMPDIR", &folder).output();
    assert_code(&output.expect("the program starts"), 0);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
}

/// Goal: a process that the loader has started and that can write the scheduler's maps at any time
/// is no part of the run's order: the run is refused. One that cannot is left alone
/// (`nothing_of_a_loader_outlives_the_run`).
#[test]
fn a_process_that_shares_maps_is_refused() {
    for way in WAYS {
        let shares = loader("shares");
        let mut command = prepared("periodic:n=2", "sim", &shares, &[]);
        command.env("WAKEPLACE_INTERCEPTION", way);
        let output = command.output().expect("the program starts");
        assert_refused(
            &output,
            &["`goes_on` shares maps with the running scheduler"],
        );
    }
}
