//! `workload record`: a program's scheduling, by perf or by the kernel's own trace. The kernel's
//! tracing is as it was, whatever ends the recording (docs/guide/traces-in.md).
//!
//! Needs root or perf's rights. The recording is read later by `wakeplace_trace`.
//!
//! What must stay: the kernel's tracing is as it was: the recording has an instance of its own,
//! which goes away with it. The text is the kernel's or perf's own, and nothing of it is changed
//! here. In the kernel's trace the first `NEEDED` events must be there; others may be missing. A
//! program that does not end with 0 is exit code 1; its recording is kept. Tests by part:
//! crates/cli/tests/all/interrupt.rs::`an_ended_recording_leaves_the_kernel_as_it_was` (`Instance`,
//! `UntilTheEnd`; needs root and a kernel that can trace). No test of its own: `perf`, `is_program`
//! and the text that is recorded.
//!
//! Tests: crates/cli/tests/all/interrupt.rs::an_ended_recording_leaves_the_kernel_as_it_was

use crate::args::WorkloadRecordArgs;
use crate::failure::{Failure, Outcome, Verdict};
use crate::interrupt::{self, KernelFolder};
use crate::output::A_FILE;
use crate::terminal::Terminal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wakeplace_files::{Place, Scratch, WriteError};

/// Events a workload is made of; the first two must be there.
const EVENTS: [&str; 12] = [
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "task:task_newtask",
    "task:task_rename",
    "power:cpu_frequency",
    "power:cpu_idle",
    // When timers were due, and the work of interrupts on idle CPUs.
    "timer:hrtimer_start",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "irq:softirq_entry",
];
const NEEDED: usize = 2;
/// Where the kernel's trace is mounted.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Buffer of each CPU, KiB.
const BUFFER_KIB: &str = "16384";

/// How a program ended that was recorded, or why it could not be.
type Recorded = Result<Option<i32>, Unrecorded>;

/// Why there is no recording.
enum Unrecorded {
    /// This way of recording is not possible here.
    Tool(String),
    /// The text cannot be written.
    Text(io::Error),
}

impl From<String> for Unrecorded {
    fn from(why: String) -> Self {
        Self::Tool(why)
    }
}

/// `workload record`.
pub(super) fn run(args: &WorkloadRecordArgs, terminal: Terminal) -> Outcome {
    let writing = |error: WriteError| Failure::writing("recording", &error, A_FILE);
    if !is_program(&args.command[0]) {
        return Err(Failure::Input(format!(
            "{}: no such program",
            args.command[0].display()
        )));
    }
    // Ctrl-C is for the program that is recorded. It ends the recording, which is kept; the
    // kernel's trace must not go on.
    for signal in [SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(|error| Failure::Environment(format!("Ctrl-C cannot be watched: {error}")))?;
    }
    interrupt::watch_for(&[SIGTERM])?;
    let (place, text) = Place::open(&args.output).map_err(writing)?;
    let failed = |error| writing(WriteError::new(&args.output, error));
    let folder = args.output.parent().filter(|folder| *folder != "");
    let folder = Scratch::folder_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let ended = match tracefs(&args.command, &text) {
        Ok(ended) => ended,
        Err(Unrecorded::Text(error)) => return Err(failed(error)),
        Err(Unrecorded::Tool(trace)) => match perf(&args.command, folder.path(), &text) {
            Ok(ended) => ended,
            Err(Unrecorded::Text(error)) => return Err(failed(error)),
            Err(Unrecorded::Tool(perf)) => {
                return Err(Failure::Environment(format!(
                    "nothing can record here: the kernel's trace: {trace}; perf: {perf}; expected \
                     root with tracefs mounted (mount -t tracefs nodev /sys/kernel/tracing), or \
                     perf that may trace (sysctl kernel.perf_event_paranoid=-1)"
                )));
            }
        },
    };
    place.publish().map_err(writing)?;
    let shown = args.output.display();
    terminal.eprint(&format!("recorded: --workload trace:{shown}\n"));
    match ended {
        Some(0) => Ok(Verdict::Ok),
        Some(code) => Err(Failure::NoResult(format!("the program ended with {code}"))),
        None => Err(Failure::NoResult("the program was killed".to_owned())),
    }
}

/// Can it be started, as far as can be seen before?
fn is_program(name: &OsStr) -> bool {
    let path = Path::new(name);
    if path.components().count() > 1 || path.is_absolute() {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}

/// Runs the program to its end; its exit code, or `None` if a signal ended it.
fn start(command: &[OsString]) -> io::Result<Option<i32>> {
    let mut program = Command::new(&command[0]);
    Ok(program.args(&command[1..]).status()?.code())
}

/// An instance of the kernel's trace of its own, so that no other user of it is disturbed.
struct Instance(KernelFolder);

impl Instance {
    /// An instance of the kernel's trace that is this recording's alone.
    fn new() -> Result<Self, String> {
        let mounted = TRACEFS
            .map(Path::new)
            .into_iter()
            .find(|path| path.join("events").is_dir());
        let Some(root) = mounted else {
            return Err("it is not mounted, or this user may not see it".to_owned());
        };
        let path = root.join(format!("instances/wakeplace-{}", std::process::id()));
        let shown = path.display().to_string();
        let made = KernelFolder::make(path);
        made.map(Self).map_err(|error| format!("{shown}: {error}"))
    }

    /// Writes one file of the trace instance; the error names the file.
    fn set(&self, file: &str, value: &str) -> Result<(), String> {
        let path = self.0.path().join(file);
        fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// A file of the instance, which cannot be removed while it is open: a signal ends its reading.
struct UntilTheEnd(File);

impl Read for UntilTheEnd {
    /// Reads on until a signal ends the program: then an error, so that the folder can be removed.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match interrupt::is_ending() {
            true => Err(io::Error::other("a signal ended it")),
            false => self.0.read(into),
        }
    }
}

/// Records by the kernel's own trace, in an instance that is removed afterwards.
fn tracefs(command: &[OsString], mut text: &File) -> Recorded {
    let instance = Instance::new()?;
    instance.set("tracing_on", "0")?;
    instance.set("buffer_size_kb", BUFFER_KIB)?;
    // One clock for all CPUs.
    instance.set("trace_clock", "mono")?;
    for (at, event) in EVENTS.iter().enumerate() {
        let enabled = instance.set(&format!("events/{}/enable", event.replace(':', "/")), "1");
        if at < NEEDED {
            enabled?;
        }
    }
    instance.set("tracing_on", "1")?;
    let ended = start(command).map_err(|error| error.to_string());
    instance.set("tracing_on", "0")?;
    let ended = ended?;
    let failed = |error: io::Error| error.to_string();
    let trace = File::open(instance.0.path().join("trace")).map_err(failed)?;
    let mut from = UntilTheEnd(trace);
    // The program has run: whatever fails now is not tried in another way.
    io::copy(&mut from, &mut text).map_err(Unrecorded::Text)?;
    Ok(ended)
}

/// Records by perf, where the kernel's trace cannot be used.
fn perf(command: &[OsString], folder: &Path, text: &File) -> Recorded {
    let data = folder.join("perf.data");
    let missing = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "it is not installed".to_owned(),
        _ => error.to_string(),
    };
    // perf refuses all events if one is not there: first whether it may record at all.
    let tried = Command::new("perf")
        .args(["record", "-q", "-a", "-e", EVENTS[0], "-o"])
        .arg(&data)
        .args(["--", "true"])
        .output()
        .map_err(missing)?;
    if !tried.status.success() {
        return Err(first_words(&tried.stderr).into());
    }
    let status = Command::new("perf")
        .args(["record", "-q", "-a", "-e", &EVENTS.join(","), "-o"])
        .arg(&data)
        .arg("--")
        .args(command)
        .status()
        .map_err(missing)?;
    let to = text.try_clone().map_err(Unrecorded::Text)?;
    let script = Command::new("perf")
        .args([
            "script",
            "--ns",
            "-F",
            "comm,pid,tid,cpu,time,event,trace",
            "-i",
        ])
        .arg(&data)
        .stdout(Stdio::from(to))
        .stderr(Stdio::piped())
        .output()
        .map_err(missing)?;
    match script.status.success() {
        true => Ok(status.code()),
        false => Err(first_words(&script.stderr).into()),
    }
}

/// The first line of what a program complained.
fn first_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or("it failed without a word").to_owned()
}
