//! Which calls a worker may make once its rights are gone. All others fail with EPERM, so that a
//! library that asks for more than it needs goes on without.
//!
//! It computes, has memory and threads, writes to what it has open, and talks over sockets that it
//! has. It opens nothing, makes no socket but a pair of its own, starts no process, and reaches no
//! other one (docs/guide/schedulers.md, "How it ends").
//!
//! What must stay: a call is allowed only if it is listed. A new need of a worker is a new row with
//! its reason. Free: the order of rows.
//!
//! Tests by part: `nothing_can_be_reached` (`filter`, `install`: what is refused is listed in
//! `attempts`, what goes on is tried there),
//! crates/cli/tests/all/wall.rs::`results_and_traces_are_written_through_the_wall` (a whole run
//! behind it). `nr_threads` has no test of its own.
//!
//! Callers: wall/mod.rs (`install`, from `lock_down`).
//!
//! Tests: below

use crate::guard::checked;
use crate::guard::trapped::{AUDIT_ARCH, GIVE, LOAD, NR, argument, if_equal, statement};
use std::io;

/// Allowed with any argument.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_ppoll,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_getsockopt,
    libc::SYS_shutdown,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_memfd_create,
    libc::SYS_pipe2,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_membarrier,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getcwd,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
];

/// Allowed where an argument is this: (call, argument, value).
const ALLOWED_WITH: &[(libc::c_long, u32, u32)] = &[
    // The size of a terminal, and what it can do.
    (libc::SYS_ioctl, 1, libc::TIOCGWINSZ as u32),
    (libc::SYS_ioctl, 1, libc::TCGETS as u32),
    // Flags of descriptors, and seals: what it has open stays what it is.
    (libc::SYS_fcntl, 1, libc::F_DUPFD_CLOEXEC as u32),
    (libc::SYS_fcntl, 1, libc::F_GETFD as u32),
    (libc::SYS_fcntl, 1, libc::F_SETFD as u32),
    (libc::SYS_fcntl, 1, libc::F_GETFL as u32),
    (libc::SYS_fcntl, 1, libc::F_ADD_SEALS as u32),
    (libc::SYS_fcntl, 1, libc::F_GET_SEALS as u32),
    (libc::SYS_socketpair, 0, libc::AF_UNIX as u32),
    // How long it waits for its guard.
    (libc::SYS_setsockopt, 2, libc::SO_RCVTIMEO as u32),
    (libc::SYS_prctl, 0, libc::PR_SET_NAME as u32),
    // The name of a mapping.
    (libc::SYS_prctl, 0, 0x5356_4d41),
    // Limits are read, and not changed.
    (libc::SYS_prlimit64, 2, 0),
];

/// `EPERM`, `ENOSYS` as answers.
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The program. A signal may go to the process itself alone.
fn filter(own: u32) -> Vec<libc::sock_filter> {
    let allow = statement(GIVE, libc::SECCOMP_RET_ALLOW);
    let mut filter = vec![
        statement(LOAD, crate::guard::trapped::ARCH),
        if_equal(AUDIT_ARCH, 1, 0),
        statement(GIVE, libc::SECCOMP_RET_KILL_PROCESS),
        statement(LOAD, NR),
    ];
    for number in ALLOWED {
        filter.extend([if_equal(*number as u32, 0, 1), allow]);
    }
    let own = [
        (libc::SYS_kill, 0, own),
        (libc::SYS_tgkill, 0, own),
        (libc::SYS_rt_tgsigqueueinfo, 0, own),
    ];
    for (number, at, value) in ALLOWED_WITH.iter().chain(&own) {
        filter.extend([
            if_equal(*number as u32, 0, 4),
            // The upper half of an argument of 32 bits says nothing.
            statement(LOAD, argument(*at)),
            if_equal(*value, 0, 1),
            allow,
            statement(LOAD, NR),
        ]);
    }
    // Threads; the C library takes this way where the newer call is unknown, whose flags no filter
    // sees.
    let thread = (libc::CLONE_THREAD | libc::CLONE_VM) as u32;
    filter.extend([
        if_equal(libc::SYS_clone3 as u32, 0, 1),
        statement(GIVE, UNKNOWN),
        if_equal(libc::SYS_clone as u32, 0, 4),
        statement(LOAD, argument(0)),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, thread),
        if_equal(thread, 0, 1),
        allow,
        statement(GIVE, REFUSE),
    ]);
    filter
}

/// From now on, for all threads of this process and all that they make.
pub(super) fn install() -> io::Result<()> {
    let filter = filter(std::process::id());
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: plain system calls; `program` and `filter` live until they return.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        let done = checked(libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        ));
        match done {
            Ok(0) => Ok(()),
            // The number of a thread that could not be bound.
            Ok(_) => Err(io::Error::other("a thread has another filter")),
            // Some profiles refuse this call and not the older one, which binds this thread alone.
            Err(_) if nr_threads()? == 1 => {
                let mode = libc::SECCOMP_MODE_FILTER;
                let done = libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program);
                checked(done.into()).map(drop)
            }
            Err(error) => Err(error),
        }
    }
}

/// Of this process, from /proc.
fn nr_threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

#[cfg(test)]
mod tests {
    use super::install;
    use crate::guard::checked;

    /// What a compiler's fault might do next: a name, a call and its arguments. One that is not
    /// refused succeeds, or fails for another reason than that it is not allowed.
    fn attempts() -> Vec<(&'static str, libc::c_long, [usize; 3])> {
        let path = c"/etc/passwd".as_ptr().addr();
        let new = c"/tmp/wakeplace-nothing".as_ptr().addr();
        let inet = [libc::AF_INET as usize, libc::SOCK_STREAM as usize, 0];
        let unix = [libc::AF_UNIX as usize, libc::SOCK_STREAM as usize, 0];
        // SAFETY: a plain call.
        let parent = unsafe { libc::getppid() } as usize;
        let here = libc::AT_FDCWD as usize;
        vec![
            ("open", libc::SYS_openat, [here, path, 0]),
            ("socket", libc::SYS_socket, inet),
            ("unix socket", libc::SYS_socket, unix),
            ("fork", libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0]),
            ("execve", libc::SYS_execve, [path, 0, 0]),
            ("kill", libc::SYS_kill, [parent, libc::SIGCONT as usize, 0]),
            (
                "ptrace",
                libc::SYS_ptrace,
                [libc::PTRACE_ATTACH as usize, parent, 0],
            ),
            ("memory", libc::SYS_process_vm_readv, [parent, 0, 0]),
            ("unlink", libc::SYS_unlinkat, [here, new, 0]),
            ("mkdir", libc::SYS_mkdirat, [here, new, 0o700]),
            (
                "limit",
                libc::SYS_prlimit64,
                [0, libc::RLIMIT_CPU as usize, path],
            ),
            ("writes memory", libc::SYS_process_vm_writev, [parent, 0, 0]),
            ("process", libc::SYS_pidfd_open, [parent, 0, 0]),
            ("descriptor", libc::SYS_pidfd_getfd, [0, 0, 0]),
            ("connect", libc::SYS_connect, [0, path, 16]),
            ("kill all", libc::SYS_kill, [usize::MAX, 0, 0]),
            ("flags", libc::SYS_fcntl, [0, libc::F_SETFL as usize, 0]),
            (
                "shared memory",
                libc::SYS_clone,
                [libc::CLONE_VM as usize, 0, 0],
            ),
            ("bpf", libc::SYS_bpf, [0, 0, 0]),
            ("io_uring", libc::SYS_io_uring_setup, [1, path, 0]),
            ("setsid", libc::SYS_setsid, [0, 0, 0]),
            (
                "parent's end",
                libc::SYS_prctl,
                [libc::PR_SET_PDEATHSIG as usize, 0, 0],
            ),
        ]
    }

    /// Does the filter refuse it?
    fn is_refused(number: libc::c_long, [a, b, c]: [usize; 3]) -> bool {
        // SAFETY: it is refused, or the test fails in this child.
        let result = unsafe { libc::syscall(number, a, b, c, 0, 0) };
        let error = std::io::Error::last_os_error();
        result == -1 && error.raw_os_error() == Some(libc::EPERM)
    }

    /// Goal: behind the filter nothing of the machine can be reached, and threads and memory can be
    /// had as before. A child tries it: filters stay.
    #[test]
    fn nothing_can_be_reached() {
        // SAFETY: the child makes system calls, a thread and memory, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let bound = install().is_ok();
            let attempts = attempts();
            let mut attempts = attempts.iter();
            let reached = attempts.position(|(_, call, args)| !is_refused(*call, *args));
            let computes = std::thread::spawn(|| vec![1_u8; 1 << 20].len()).join();
            let code = match (bound, reached, computes) {
                (true, None, Ok(_)) => 0,
                (true, Some(at), _) => 10 + at as i32,
                (false, ..) => 1,
                (.., Err(_)) => 2,
            };
            // SAFETY: it ends the child only.
            unsafe { libc::_exit(code) }
        }
        let mut status = 0;
        // SAFETY: our child; the status is a number of ours.
        let done = unsafe { libc::waitpid(child, &raw mut status, 0) };
        checked(done.into()).expect("waited for");
        assert!(libc::WIFEXITED(status), "ended by {status}");
        assert_eq!(libc::WEXITSTATUS(status), 0, "see `attempts`, from 10");
    }
}
