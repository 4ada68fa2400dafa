//! Starts the loader as a process of its own whose system calls are answered by us.
//!
//! The filter (seccomp, with user notification) needs neither root nor a namespace. The calls that
//! it hands over are listed in `TRAPPED`; all others go to the host as they are.

use super::notify::checked;
use crate::ForeignError;
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;

/// System calls that are answered here.
const TRAPPED: &[libc::c_long] = &[
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_epoll_ctl,
    libc::SYS_uname,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_prlimit64,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrandom,
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_bind,
    libc::SYS_connect,
    // Threads begin and end.
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rt_sigprocmask,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_exit,
    // Time.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_timer_create,
    libc::SYS_setitimer,
    // Waiting.
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sched_yield,
    libc::SYS_io_uring_setup,
    libc::SYS_membarrier,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_setrlimit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pause,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// The second byte of requests to a perf event (`_IOC_TYPE`, '$').
const PERF_REQUESTS: u32 = 0x2400;

/// Offsets in `struct seccomp_data`.
const NR: u32 = 0;
const ARCH: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;

fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

fn if_equal(k: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k,
    }
}

/// The filter: notify for what is trapped, allow the rest, kill calls of another architecture.
fn filter() -> Vec<libc::sock_filter> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let give = libc::BPF_RET | libc::BPF_K;
    let mut filter = vec![
        statement(load, ARCH),
        if_equal(AUDIT_ARCH, 1, 0),
        statement(give, libc::SECCOMP_RET_KILL_PROCESS),
        statement(load, NR),
    ];
    for number in TRAPPED {
        filter.push(if_equal(*number as u32, 0, 1));
        filter.push(statement(give, libc::SECCOMP_RET_USER_NOTIF));
    }
    filter.extend([
        if_equal(libc::SYS_ioctl as u32, 0, 4),
        statement(load, SECOND_ARGUMENT),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xff00),
        if_equal(PERF_REQUESTS, 0, 1),
        statement(give, libc::SECCOMP_RET_USER_NOTIF),
        statement(give, libc::SECCOMP_RET_ALLOW),
    ]);
    filter
}

/// The process and the other end of its filter.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) listener: OwnedFd,
}

/// Starts a program. What it prints goes to `output`.
pub(super) fn spawn(
    program: &Path,
    args: &[String],
    output: &File,
) -> Result<Spawned, ForeignError> {
    let cannot = |error: io::Error| ForeignError::Start {
        program: program.display().to_string(),
        error,
    };
    let (ours, theirs) = UnixStream::pair().map_err(cannot)?;
    let filter = filter();
    let socket = theirs.as_raw_fd();
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(cannot)?)
        .stderr(output.try_clone().map_err(cannot)?)
        .env("RUST_BACKTRACE", "0")
        .env_remove("LD_PRELOAD");
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || install(&filter, socket));
    }
    let child = command.spawn().map_err(cannot)?;
    drop(theirs);
    let listener = receive(&ours).map_err(cannot)?;
    Ok(Spawned { child, listener })
}

/// In the new process: a group of its own, addresses that do not vary, and the filter.
fn install(filter: &[libc::sock_filter], socket: RawFd) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: plain system calls; `program` and `filter` live until they return.
    unsafe {
        checked(libc::setpgid(0, 0).into())?;
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        // Containers may refuse that. Then an arena's address differs from load to load.
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        let listener = checked(libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        ))?;
        send(socket, listener as RawFd)?;
        libc::close(listener as RawFd);
    }
    Ok(())
}

/// Room for one descriptor in a control message, aligned.
#[repr(align(8))]
struct Control([u8; 64]);

fn message(byte: &mut u8, part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    *part = libc::iovec {
        iov_base: (&raw mut *byte).cast::<c_void>(),
        iov_len: 1,
    };
    // SAFETY: all fields are numbers or pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = size_of::<libc::cmsghdr>() + 8;
    message
}

fn empty_part() -> libc::iovec {
    libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    }
}

fn send(socket: RawFd, fd: RawFd) -> io::Result<()> {
    let (mut byte, mut part, mut control) = (0, empty_part(), Control([0; 64]));
    let message = message(&mut byte, &mut part, &mut control);
    // SAFETY: the message points to locals that live until it is sent.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        checked(libc::sendmsg(socket, &raw const message, 0) as libc::c_long)?;
    }
    Ok(())
}

fn receive(socket: &UnixStream) -> io::Result<OwnedFd> {
    let (mut byte, mut part, mut control) = (0, empty_part(), Control([0; 64]));
    let mut message = message(&mut byte, &mut part, &mut control);
    // SAFETY: as in `send`; the descriptor is ours once it has arrived.
    unsafe {
        let flags = libc::MSG_CMSG_CLOEXEC;
        checked(libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) as libc::c_long)?;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(io::Error::other("the filter's descriptor did not arrive"));
        }
        let fd = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Ends the process and all that it has started, and says how it ended; a process that has ended
/// already keeps its exit code. The group is ended first: once the leader is waited for, its number
/// may be another's.
pub(super) fn end(child: &mut Child) -> io::Result<ExitStatus> {
    // SAFETY: the group was made by `install`; a signal touches no memory of ours.
    unsafe {
        libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL);
    }
    child.wait()
}
