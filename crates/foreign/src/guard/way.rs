//! The way that calls of loaders take here: tried out once (docs/guide/schedulers.md, "What the
//! loader sees").
//!
//! What must stay: the way is chosen once per process; `doctor` says which and why, in these words.
//! Free: how a way is tried out.
//!
//! Tests by part: `doctor_says_which_way_calls_take` (`chosen`, `try_notification`, `call`,
//! `answer`, `fmt`: it is tried behind a container's filter, and without filters),
//! `no_other_way_is_known` (WAKEPLACE_INTERCEPTION).
//!
//! Callers: guard/serve.rs (a loader's start), wall/main_process.rs (before there are threads),
//! load/mod.rs (`doctor`).
//!
//! Tests: crates/cli/tests/all/interception.rs::doctor_says_which_way_calls_take,
//! crates/cli/tests/all/interception.rs::no_other_way_is_known

use super::passing::receive;
use super::{Answer, Event, checked, notify, spawn, trapped, vdso};
use crate::ForeignError;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::Duration;

/// The variable that says which way is taken.
const VARIABLE: &str = "WAKEPLACE_INTERCEPTION";

/// How calls of loaders come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By seccomp user notification.
    Notification,
    /// By ptrace.
    Trace,
}

/// The way that calls take, and why.
#[derive(Clone, Debug)]
pub struct Interception {
    /// It.
    pub way: Way,
    /// Why it is not the first one.
    pub why: Option<String>,
}

impl fmt::Display for Interception {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self.way {
            Way::Notification => "by seccomp user notification",
            Way::Trace => "by ptrace",
        })?;
        match &self.why {
            Some(why) => write!(to, ", since {why}"),
            None => Ok(()),
        }
    }
}

/// The way that is taken here.
pub(crate) fn chosen() -> Result<&'static Interception, ForeignError> {
    static CHOSEN: OnceLock<Interception> = OnceLock::new();
    if let Some(chosen) = CHOSEN.get() {
        return Ok(chosen);
    }
    let said = std::env::var(VARIABLE).unwrap_or_default();
    let asked = |way| Interception {
        way,
        why: Some(format!("{VARIABLE} says so")),
    };
    let way = match said.as_str() {
        "notification" => asked(Way::Notification),
        "ptrace" => asked(Way::Trace),
        "" => match try_notification() {
            Ok(()) => Interception {
                way: Way::Notification,
                why: None,
            },
            Err(why) => Interception {
                way: Way::Trace,
                why: Some(why),
            },
        },
        other => {
            let wrong = format!("`{other}`; expected notification or ptrace");
            return Err(ForeignError::host(VARIABLE)(io::Error::other(wrong)));
        }
    };
    Ok(CHOSEN.get_or_init(|| way))
}

/// Calls that a container's profile answers itself, or ends a process for. A filter's "no" goes
/// before another filter's "ask".
const TRIED: [(libc::c_long, &str); 2] = [
    (libc::SYS_bpf, "bpf(2)"),
    (libc::SYS_perf_event_open, "perf_event_open(2)"),
];
/// What they are answered here; no errno.
const OURS: i64 = 4711;
/// The exit code of the process that has got something else for one of them: so much above 0 is
/// its place. Below it is an errno.
const OTHER: libc::c_int = 200;

/// Does a process's call arrive here, and our answer there, and can its clocks be replaced? Err:
/// why not.
fn try_notification() -> Result<(), String> {
    let here = |error: io::Error| error.to_string();
    let (ours, theirs) = UnixStream::pair().map_err(here)?;
    let filter = trapped::notify_of(&TRIED.map(|(number, _)| number));
    // SAFETY: the new process makes system calls only, then it ends.
    let child = unsafe {
        match libc::fork() {
            0 => libc::_exit(call(&filter, theirs.as_raw_fd())),
            child => checked(child.into()).map_err(here)? as libc::pid_t,
        }
    };
    drop(theirs);
    let mut clocks = Ok(());
    if let Ok(listener) = receive(ours.as_fd()) {
        answer(&listener, &mut clocks);
    }
    let mut status = 0;
    // SAFETY: a child of ours; the status is a number of ours. One that waits yet is ended.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
    }
    match ExitStatus::from_raw(status).code() {
        // As with the kernel's CONFIG_PROC_MEM_FORCE_PTRACE.
        Some(0) => clocks.map_err(|error| {
            format!("only who traces a process may replace its clocks here ({error})")
        }),
        Some(code) if code >= OTHER => {
            let (_, name) = TRIED[(code - OTHER) as usize % TRIED.len()];
            Err(format!("another filter here answers {name}"))
        }
        Some(errno) => {
            let error = io::Error::from_raw_os_error(errno);
            Err(format!("filters with notification are refused: {error}"))
        }
        None => Err("a process with such a filter is ended".to_owned()),
    }
}

/// In the new process: an exit code.
fn call(filter: &[libc::sock_filter], socket: RawFd) -> libc::c_int {
    if let Err(error) = spawn::install(filter, socket) {
        return error.raw_os_error().unwrap_or(libc::EIO);
    }
    for (at, (number, _)) in (0..).zip(TRIED) {
        // SAFETY: a command that no kernel has, with nothing that it could touch.
        let result = unsafe { libc::syscall(number, u64::MAX, 0_u64, 0_u64, 0_u64, 0_u64) };
        if result != OURS {
            return OTHER + at;
        }
    }
    0
}

/// Answers until the process has ended. The first call finds its clocks replaced, or why not.
fn answer(listener: &OwnedFd, clocks: &mut io::Result<()>) {
    let mut begun = false;
    loop {
        match notify::wait(listener, Duration::from_secs(5)) {
            Ok(Event::Call(call)) => {
                if !std::mem::replace(&mut begun, true) {
                    *clocks = vdso::replace(call.pid);
                }
                notify::respond(listener, &call, &Answer::Value(OURS));
            }
            Ok(Event::Nothing) => {}
            Ok(Event::Ended | Event::Silence) | Err(_) => return,
        }
    }
}
