//! A run in a process of its own: a copy of this one, which has the tree's code in its memory and
//! has not run any of it. So each run begins with the same memory, and what goes wrong in a tree
//! ends one run (docs/guide/kernel.md, "In a run").
//!
//! What must stay: what is told arrives in order, and an end without a last word is an error of
//! that run alone. Free: how processes are started and waited for.
//!
//! Tests by part: `a_comparison_does_not_depend_on_threads` (`apart`, `tell`, `end`, `hear`,
//! `take`, `pipe`, `waited`), `the_boot_is_forgotten` (each run has its own process). `ends_with`
//! and `how` have no test of its own.
//!
//! Callers: runs.rs (`apart`), faults.rs and entered.rs (`Said`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_comparison_does_not_depend_on_threads,
//! crates/cli/tests/all/kernel_runs.rs::the_boot_is_forgotten

use crate::stream::{Message, Sender, receive};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use wakeplace_engine::{Ended, Happening, Observer, RunReport, Telling};

/// What the process of a run has: it says what happens, and how the run ended.
pub(crate) struct Said {
    sender: Sender<File>,
    /// What the other end answers to a state.
    answers: File,
}

impl Said {
    /// Says that something happened at a time, ns; after a state, when the next one is wanted.
    pub(crate) fn tell(&mut self, time_ns: u64, what: Telling) -> io::Result<Option<u64>> {
        let asks = matches!(what, Telling::State(_));
        self.sender.tell(time_ns, what)?;
        if !asks {
            return Ok(None);
        }
        self.sender.flush()?;
        let mut answer = [0; 8];
        self.answers.read_exact(&mut answer)?;
        Ok(Some(u64::from_le_bytes(answer)).filter(|next_ns| *next_ns != NEVER))
    }

    /// Says the last that there is to say.
    pub(crate) fn end(&mut self, last: &Message) -> io::Result<()> {
        self.sender.send(last)?;
        self.sender.flush()
    }
}

/// The answer if no state is wanted any more.
const NEVER: u64 = u64::MAX;

/// Runs `body` in a process of its own, where the observer is a copy, and tells `observer` what it
/// says. Err: why there is no run.
pub(crate) fn apart(
    body: impl FnOnce(Said, &mut dyn Observer),
    observer: &mut dyn Observer,
) -> Result<RunReport, String> {
    let cannot = |error: io::Error| format!("a process for the run: {error}");
    let (ours, theirs) = pipe().map_err(cannot)?;
    // Batches fit, so that both ends work at a time; in a smaller pipe they wait.
    // SAFETY: a plain system call.
    unsafe { libc::fcntl(theirs.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_BYTES) };
    let (their_answers, our_answers) = pipe().map_err(cannot)?;
    let parent = std::process::id();
    // SAFETY: glibc's fork leaves the allocator and the loader in order in the child. The child
    // runs `body`, which takes no lock that another thread may hold, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(cannot(io::Error::last_os_error()));
    }
    if child == 0 {
        drop((ours, our_answers));
        ends_with(parent);
        let said = Said {
            sender: Sender::new(File::from(theirs)),
            answers: File::from(their_answers),
        };
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(said, observer)));
        // SAFETY: it ends this process without what its parent has yet to do at its end.
        unsafe { libc::_exit(i32::from(ran.is_err())) }
    }
    drop((theirs, their_answers));
    let listener = Listener {
        child,
        answers: File::from(our_answers),
        now_ns: 0,
        finished: false,
        is_enough: false,
        outcome: None,
    };
    listener.hear(File::from(ours), observer)
}

/// The process that waits for a run.
struct Listener {
    child: libc::pid_t,
    answers: File,
    /// Of what was told last.
    now_ns: u64,
    /// The run has said that it is over.
    finished: bool,
    /// The observer has seen what it wanted.
    is_enough: bool,
    outcome: Option<Result<RunReport, String>>,
}

impl Listener {
    /// Tells the observer what the run says, until its end.
    fn hear(mut self, from: File, observer: &mut dyn Observer) -> Result<RunReport, String> {
        let heard = receive(from, |message| self.take(message, observer));
        if heard.is_err() || self.outcome.is_none() {
            // SAFETY: our child, which has not been waited for.
            unsafe { libc::kill(self.child, libc::SIGKILL) };
        }
        let status = waited(self.child);
        let outcome = self.outcome.unwrap_or_else(|| {
            if self.is_enough {
                return Ok(RunReport::default());
            }
            let said = match heard {
                Err(error) => format!("what its process said cannot be read: {error}"),
                Ok(()) => how(status),
            };
            Ok(RunReport {
                ended: Ended::Kernel { said },
                ..RunReport::default()
            })
        });
        // A run that was broken off has not said that it is over.
        outcome.map(|report| {
            if self.finished {
                return report;
            }
            let end_ns = report.end_ns.max(self.now_ns);
            observer.happened(end_ns, &Happening::Finish);
            RunReport { end_ns, ..report }
        })
    }

    /// Returns true if more is to come.
    fn take(&mut self, message: Message, observer: &mut dyn Observer) -> bool {
        match message {
            Message::Told(since_ns, told) => {
                self.now_ns += since_ns;
                self.finished = told == Telling::Happened(Happening::Finish);
                told.tell(self.now_ns, observer);
                if let Telling::State(_) = told {
                    let next_ns = observer.next_state_ns().unwrap_or(NEVER);
                    // A process that is gone has said its last.
                    let _ = self.answers.write_all(&next_ns.to_le_bytes());
                }
                self.is_enough = observer.is_done();
            }
            Message::Ended(report) => self.outcome = Some(Ok(*report)),
            Message::Failed(why) => self.outcome = Some(Err(why)),
        }
        self.outcome.is_none() && !self.is_enough
    }
}

/// What an unprivileged process may have (`/proc/sys/fs/pipe-max-size`).
const PIPE_BYTES: libc::c_int = 1 << 20;

/// Closed by exec, so that nothing else holds an end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which nobody else has.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// This process ends with its parent, and leaves nothing in a file if it ends badly.
fn ends_with(parent: u32) {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: plain system calls.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        if libc::getppid().cast_unsigned() != parent {
            libc::_exit(1);
        }
    }
}

/// The child's status, whatever signals come meanwhile.
fn waited(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the status is a number of ours.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    status
}

/// For the message of a run whose process said nothing.
fn how(status: libc::c_int) -> String {
    match libc::WIFSIGNALED(status) {
        true => format!("its process was ended by signal {}", libc::WTERMSIG(status)),
        false => format!("its process ended with code {}", libc::WEXITSTATUS(status)),
    }
}
