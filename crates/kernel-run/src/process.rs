//! A run in a process of its own: a copy of this one, which has the tree's code in its memory and
//! has not run any of it. So each run begins with the same memory, and what goes wrong in a tree
//! ends one run.

use crate::stream::{Message, Sender, receive};
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use wakeplace_engine::{Ended, Happening, Observer, RunReport};

/// What the process of a run has: it says what happens, and how the run ended.
pub(crate) type Said = Sender<File>;

/// Runs `body` in a process of its own and tells `observer` what it says. Err: why there is no run.
pub(crate) fn apart(
    body: impl FnOnce(Said),
    observer: &mut dyn Observer,
) -> Result<RunReport, String> {
    let cannot = |error: io::Error| format!("a process for the run: {error}");
    let (ours, theirs) = pipe().map_err(cannot)?;
    let parent = std::process::id();
    // SAFETY: glibc's fork leaves the allocator and the loader in order in the child. The child
    // runs `body`, which takes no lock that another thread may hold, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(cannot(io::Error::last_os_error()));
    }
    if child == 0 {
        drop(ours);
        ends_with(parent);
        let said = Sender::new(File::from(theirs));
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(said)));
        // SAFETY: it ends this process without what its parent has yet to do at its end.
        unsafe { libc::_exit(i32::from(ran.is_err())) }
    }
    drop(theirs);
    let mut outcome = None;
    let (mut now_ns, mut finished) = (0, false);
    let heard = receive(File::from(ours), |message| {
        match message {
            Message::Told(time_ns, told) => {
                now_ns = time_ns;
                finished = told == Happening::Finish;
                told.tell(time_ns, observer);
            }
            Message::Ended(report) => outcome = Some(Ok(*report)),
            Message::Failed(why) => outcome = Some(Err(why)),
        }
        outcome.is_none()
    });
    if heard.is_err() || outcome.is_none() {
        // SAFETY: our child, which has not been waited for.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    let status = waited(child);
    let outcome = outcome.unwrap_or_else(|| {
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
        if finished {
            return report;
        }
        let end_ns = report.end_ns.max(now_ns);
        observer.finish(end_ns);
        RunReport { end_ns, ..report }
    })
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which nobody else has.
    unsafe {
        match libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) {
            0 => Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))),
            _ => Err(io::Error::last_os_error()),
        }
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

fn how(status: libc::c_int) -> String {
    match libc::WIFSIGNALED(status) {
        true => format!("its process was ended by signal {}", libc::WTERMSIG(status)),
        false => format!("its process ended with code {}", libc::WEXITSTATUS(status)),
    }
}
