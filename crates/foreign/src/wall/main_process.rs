//! The process that the user has started: it makes the others, and outlives them
//! (docs/guide/schedulers.md, "How it ends"). It runs no foreign code, and no thread before the
//! others are made.
//!
//! What must stay: exit codes and signals are the worker's own, as if there were one process. Free:
//! how processes are waited for.
//!
//! Tests by part: `memory_is_bounded` (`attend`, `resident_bytes`), `processor_time_is_bounded`
//! (`outcome`, `ended`), wall.rs::`a_broken_run_is_an_outcome` (`outcome`),
//! wall.rs::`nothing_of_a_loader_outlives_the_run` (`run`, `fork`, `end_with`, `end_by`),
//! wall.rs::`results_and_traces_are_written_through_the_wall` (`Files::serve`),
//! crates/cli/tests/all/schedulers.rs::`policies_and_schedulers_are_compared` (`most_guards`:
//! several runs at a time). `now` reads the clock for limits only.
//!
//! Callers: crates/cli/src/wall.rs (`run`; it implements `Files`).
//!
//! Tests: below, crates/cli/tests/all/wall.rs

use super::keeper;
use super::limits::memory_bytes;
use crate::guard::{self, Kin, Rights, adopt_orphans, allow_descriptors, checked, polled};
use crate::wire::Wire;
use crate::{ForeignError, Image};
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long guards may take to end their loaders, and how often it is looked.
const GUARDS_END: Duration = Duration::from_secs(20);
const NAP: Duration = Duration::from_millis(1);
/// How long a message may take.
const MESSAGE: Duration = Duration::from_secs(5);
/// So often it looks at the worker's memory, ms.
const LOOK_MS: libc::c_int = 50;

/// Writes files for a worker.
pub trait Files {
    /// Carries one message of the worker's out, and answers it. Err: the conversation is over.
    ///
    /// # Errors
    /// The other end is gone, or says what it may not.
    fn serve(&mut self, wire: &mut Wire) -> io::Result<()>;
}

/// What became of the command.
#[derive(Debug)]
pub enum Outcome {
    /// This process is the worker: it goes on with the command. Its files are written at the other
    /// end of this.
    Worker(Wire),
    /// The worker has ended with this exit code.
    Ended(u8),
    /// The worker did not end by itself.
    Broken(String),
}

/// Makes a worker, its keeper and this process of one process, which must have one thread. `images`
/// are what may be started; `jobs` runs go on at the same time.
///
/// # Errors
/// A process cannot be made, or calls of loaders cannot be answered here.
pub fn run(
    images: &[Image],
    jobs: usize,
    files: &mut dyn Files,
    ready: impl FnOnce(),
) -> Result<Outcome, ForeignError> {
    let host = ForeignError::host("a process for schedulers");
    allow_descriptors();
    guard::chosen()?;
    let (keeper_ours, keeper_theirs) = UnixStream::pair().map_err(&host)?;
    let (files_ours, files_theirs) = UnixStream::pair().map_err(&host)?;
    // Where it is refused, a guard that is killed leaves orphans to the system.
    let _ = adopt_orphans();
    let rights = Rights::These(images.iter().map(Image::started).collect());
    let main = std::process::id();
    // Children that this process was started with are none of a run's.
    let before = Kin::children(main);
    let keeper = fork().map_err(&host)?;
    if keeper == 0 {
        drop((keeper_ours, files_ours, files_theirs));
        keeper::keep(keeper_theirs, &rights, most_guards(jobs, images.len()));
        // SAFETY: it ends this process, without what main has in its buffers.
        unsafe { libc::_exit(0) }
    }
    drop(keeper_theirs);
    let worker = fork().map_err(&host)?;
    if worker == 0 {
        drop(files_ours);
        end_with(main).map_err(&host)?;
        // With it the compiler would write a file for perf.
        // SAFETY: this process has one thread.
        unsafe { std::env::remove_var("PERF_BUILDID_DIR") };
        // The first and only one: this process was made just now.
        let _ = super::KEEPER.set(Mutex::new(Some(keeper_ours)));
        return Ok(Outcome::Worker(Wire::new(files_theirs)));
    }
    drop((keeper_ours, files_theirs));
    ready();
    let memory = memory_bytes(jobs);
    // Who begins a message ends it soon, or it is looked at no more.
    let patience = files_ours.set_read_timeout(Some(MESSAGE));
    patience.map_err(&host)?;
    let status = attend(worker, Wire::new(files_ours), memory, files).map_err(&host)?;
    // Guards hear that it is gone, end their loaders, and the keeper ends after them.
    let began = now();
    while ended(keeper).map_err(&host)?.is_none() && began.elapsed() < GUARDS_END {
        std::thread::sleep(NAP);
    }
    keeper::end_children_but(&before);
    Ok(match status {
        Ok(status) => outcome(status),
        Err(why) => Outcome::Broken(why),
    })
}

/// One for each run that goes on, for each that has just ended, and for those that are loaded.
fn most_guards(jobs: usize, nr_images: usize) -> usize {
    2 * (jobs + nr_images) + 8
}

/// Wall time, for limits of processes alone.
fn now() -> Instant {
    #[allow(clippy::disallowed_methods, reason = "processes are of the real world")]
    Instant::now()
}

/// In a process of one thread: the child's number; 0 in the child.
fn fork() -> io::Result<u32> {
    // SAFETY: this process has one thread.
    let pid = checked(unsafe { libc::fork() }.into())?;
    Ok(pid as u32)
}

/// This process ends with its parent.
fn end_with(parent: u32) -> io::Result<()> {
    // SAFETY: plain system calls.
    unsafe {
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        match libc::getppid().cast_unsigned() == parent {
            true => Ok(()),
            false => Err(io::Error::other("its parent is gone")),
        }
    }
}

/// Writes the worker's files until it has ended; Err: why it was ended.
fn attend(
    worker: u32,
    mut wire: Wire,
    memory: u64,
    files: &mut dyn Files,
) -> io::Result<Result<ExitStatus, String>> {
    let handle = guard::pidfd(worker)?;
    let mut talks = true;
    let mut why = None;
    loop {
        let mut all = [
            polled(handle.as_raw_fd(), libc::POLLIN),
            polled(wire.socket.as_raw_fd(), libc::POLLIN),
        ];
        // SAFETY: descriptors that live.
        unsafe { libc::poll(all.as_mut_ptr(), 1 + libc::nfds_t::from(talks), LOOK_MS) };
        if talks && all[1].revents != 0 {
            talks = files.serve(&mut wire).is_ok();
        }
        if let Some(status) = ended(worker)? {
            return Ok(why.map_or(Ok(status), Err));
        }
        if why.is_none() && resident_bytes(worker) > memory {
            why = Some(format!("it takes more than {} GiB of memory", memory >> 30));
            // SAFETY: our child, which has not been waited for.
            unsafe { libc::kill(worker.cast_signed(), libc::SIGKILL) };
        }
    }
}

/// How a child has ended, if it has.
fn ended(child: u32) -> io::Result<Option<ExitStatus>> {
    let mut status = 0;
    // SAFETY: the status is a number of ours.
    let found = unsafe { libc::waitpid(child.cast_signed(), &raw mut status, libc::WNOHANG) };
    match checked(found.into()) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(ExitStatus::from_raw(status))),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a process has in memory (proc(5), `/proc/PID/statm`).
fn resident_bytes(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    // SAFETY: a plain call.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page).unwrap_or(4096)
}

/// A signal that the user sent ends the command alike; others are named.
fn outcome(status: ExitStatus) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Ended(code as u8),
        (None, Some(signal @ (libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGPIPE))) => {
            end_by(signal)
        }
        (None, Some(libc::SIGXCPU)) => {
            Outcome::Broken("it takes more processor time than its length allows".to_owned())
        }
        (None, signal) => {
            let signal = signal.unwrap_or(0);
            Outcome::Broken(format!("its process was ended by signal {signal}"))
        }
    }
}

/// Who ended the worker wanted the command to end so.
fn end_by(signal: libc::c_int) -> Outcome {
    // SAFETY: the way in which this signal ends a process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    Outcome::Broken(format!("signal {signal}"))
}

#[cfg(test)]
mod tests {
    use super::super::limits::limit;
    use super::{Files, Outcome, attend, outcome};
    use crate::wire::Wire;
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    struct NoFiles;

    impl Files for NoFiles {
        fn serve(&mut self, _: &mut Wire) -> io::Result<()> {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// How a command ends as a worker that may take so much memory.
    #[allow(clippy::zombie_processes, reason = "attend waits for it")]
    fn attended(command: &mut Command, memory: u64) -> Outcome {
        let (ours, _theirs) = UnixStream::pair().expect("sockets");
        let child = command.spawn().expect("a shell");
        let ended = attend(child.id(), Wire::new(ours), memory, &mut NoFiles);
        match ended.expect("waited for") {
            Ok(status) => outcome(status),
            Err(why) => Outcome::Broken(why),
        }
    }

    /// Goal: a worker that takes more memory than its runs may take is ended, and it is said.
    #[test]
    fn memory_is_bounded() {
        // tail keeps a line until its end. The shell's limit is for a watcher that fails.
        let script = "ulimit -v 2000000; exec tail /dev/zero";
        let mut shell = Command::new("sh");
        let Outcome::Broken(why) = attended(shell.args(["-c", script]), 1 << 30) else {
            panic!("it was not ended");
        };
        assert!(why.contains("more than 1 GiB of memory"), "{why}");
    }

    /// Goal: a worker that computes for longer than its runs may is ended, and it is said.
    #[test]
    fn processor_time_is_bounded() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]);
        // SAFETY: between fork and exec it makes two plain system calls.
        unsafe { shell.pre_exec(|| limit(libc::RLIMIT_CPU, 1)) };
        let Outcome::Broken(why) = attended(&mut shell, u64::MAX) else {
            panic!("it was not ended");
        };
        assert!(why.contains("more processor time"), "{why}");
    }
}
