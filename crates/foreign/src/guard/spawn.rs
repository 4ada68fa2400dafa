//! Starts the loader as a process of its own whose system calls are answered by us. Neither root
//! nor a namespace is needed (docs/guide/schedulers.md, "What the loader sees"). The loader has no
//! right that the user has not, and fewer.
//!
//! What must stay: between fork and exec nothing is called that may take a lock or memory.
//! Addresses of the loader do not vary, for equal runs. Free: the environment that a loader has, if
//! it is the same each time.
//!
//! Tests by part: `as_many_descriptors_as_there_can_be` (`descriptors`, `allow_descriptors`),
//! interception.rs::`results_do_not_depend_on_the_way` (`spawn`, `notified`, `traced`, `prepare`,
//! `install`), interception.rs::`a_loader_may_close_all_descriptors` (`highest_descriptor`),
//! schedulers.rs::`what_is_no_scheduler_is_refused` (`failed`: what may not be executed).
//!
//! Callers: guard/serve.rs (`spawn`), guard/way.rs (`install`), wall/main_process.rs and
//! load/mod.rs (`allow_descriptors`).
//!
//! Tests: below, crates/cli/tests/all/interception.rs

use super::notify::Listener;
use super::passing::{receive, send};
use super::process::Calls;
use super::trace::Tracer;
use super::way::Way;
use super::{checked, trapped};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`.
const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;
/// The number of its socket's end in a process that is traced: the highest that is usual.
const SOCKET: u64 = 1023;

/// Starts a program. What it prints goes to `output`. Returns its number, too.
pub(super) fn spawn(
    program: &Path,
    args: &[String],
    output: OwnedFd,
    way: Way,
) -> io::Result<(Calls, u32)> {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .env("RUST_BACKTRACE", "0")
        .env_remove("LD_PRELOAD");
    match way {
        Way::Notification => notified(&mut command),
        Way::Trace => traced(&mut command),
    }
}

/// Starts the loader so that its calls come by notification.
fn notified(command: &mut Command) -> io::Result<(Calls, u32)> {
    let (ours, theirs) = UnixStream::pair()?;
    let filter = trapped::filter();
    let socket = theirs.as_raw_fd();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            prepare()?;
            install(&filter, socket)
        });
    }
    let mut child = command.spawn()?;
    drop(theirs);
    let leader = child.id();
    match receive(ours.as_fd()) {
        Ok(fd) => Ok((Calls::Notified(Listener::new(fd, child)), leader)),
        Err(error) => failed(&mut child, error),
    }
}

/// Starts the loader so that its calls come by ptrace.
fn traced(command: &mut Command) -> io::Result<(Calls, u32)> {
    let (ours, theirs) = UnixStream::pair()?;
    let socket = theirs.as_raw_fd();
    let number = highest_descriptor();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            prepare()?;
            Tracer::ask(socket, number)
        });
    }
    let mut child = command.spawn()?;
    let leader = child.id();
    match Tracer::of(leader, ours, number) {
        Ok(tracer) => Ok((Calls::Traced(tracer), leader)),
        Err(error) => failed(&mut child, error),
    }
}

/// The child must not be left: it is ended and waited for, then the error is returned.
fn failed<T>(child: &mut Child, error: io::Error) -> io::Result<T> {
    child.kill()?;
    child.wait()?;
    Err(error)
}

/// How many descriptors may be open here: soft and hard limit.
fn descriptors() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is as large as the call fills.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    known.then_some(limit)
}

/// From now on this process may have as many open as it can, and so may loaders: each map and
/// program of a loader is a file here, and many loaders run side by side.
pub(crate) fn allow_descriptors() {
    static ALLOWED: Once = Once::new();
    ALLOWED.call_once(|| {
        let Some(mut limit) = descriptors() else {
            return;
        };
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: a plain system call. Where it is refused the limit stays.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    });
}

/// The highest number that a descriptor may have here, below the usual limit.
fn highest_descriptor() -> RawFd {
    let most = descriptors().map_or(u64::MAX, |limit| limit.rlim_cur);
    most.saturating_sub(1).min(SOCKET) as RawFd
}

/// In the new process: a group of its own, and addresses that do not vary.
fn prepare() -> io::Result<()> {
    // SAFETY: plain system calls.
    unsafe {
        checked(libc::setpgid(0, 0).into())?;
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        // Containers may refuse that. Then an arena's address differs from load to load.
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
    }
    Ok(())
}

/// In the new process: the filter, whose other end goes over the socket.
pub(super) fn install(filter: &[libc::sock_filter], socket: RawFd) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: plain system calls; `program` and `filter` live until they return.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        let set = |flags: libc::c_ulong| {
            let mode = libc::SECCOMP_SET_MODE_FILTER;
            let set = libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program);
            checked(set)
        };
        let new = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // A call that has been taken is not made again since a signal came meanwhile. Kernels
        // before 5.19 do not know that.
        let listener = set(new | WAIT_KILLABLE_RECV).or_else(|_| set(new))?;
        send(socket, listener as RawFd)?;
        libc::close(listener as RawFd);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{allow_descriptors, descriptors};

    /// Goal: the usual limit, 1024, ends no run with many loaders.
    #[test]
    fn as_many_descriptors_as_there_can_be() {
        allow_descriptors();
        let limit = descriptors().expect("a limit");
        assert_eq!(limit.rlim_cur, limit.rlim_max);
    }
}
