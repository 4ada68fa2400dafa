//! The system calls that std has no name for, each as a safe function (docs/guide/lab.md).
//!
//! What must stay: each is one call; errors are the kernel's; times are ns. Free: further calls,
//! one function each.
//!
//! Tests by part: load/tests.rs::`phases_bind_a_task_to_their_cpus` (`set_affinity`, `affinity`,
//! `checked`), load/tests.rs::`a_periodic_task_has_a_job_in_every_period` (`now_ns`, `clock_ns`,
//! `thread_cpu_ns`, `sleep_until_ns`, `current_cpu`),
//! programs.rs::`affinity_storm_changes_and_all_get_on` (`set_nice`, `set_policy`, `set_fifo`,
//! `set_scheduler`, `sleep_ns`, `thread_id`),
//! programs.rs::`fork_storm_counts_every_process_of_every_chain` (`fork`, `wait_ended`),
//! programs.rs::`inside_storm_says_how_long_an_outsider_waits` (`read_entries`, `wait_for_rcu`,
//! `PiLock`, `kill`). `set_timer_slack_min` has no test of its own.
//!
//! Callers: load/, steady.rs, the storms, ping_pong.rs, until_placed.rs.
//!
//! Tests: crates/guest/tests/programs.rs, crates/guest/src/load/tests.rs

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::job::{CPUS_MAX, Policy};

/// A process of the kernel's table.
pub(crate) type Pid = libc::pid_t;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// Panics only where a clock is missing.
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec that the call fills.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(failed, 0, "clock {clock}: {}", io::Error::last_os_error());
    // Both clocks in use count up from 0, and 2^64 ns are 584 years.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// CLOCK_MONOTONIC, ns.
pub(crate) fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread, ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Sleeps until CLOCK_MONOTONIC shows this, whatever signals come.
pub(crate) fn sleep_until_ns(time_ns: u64) {
    let until = libc::timespec {
        tv_sec: (time_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (time_ns % 1_000_000_000).cast_signed(),
    };
    loop {
        // SAFETY: `until` is a valid timespec; with TIMER_ABSTIME the remainder is not written.
        let error = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const until,
                std::ptr::null_mut(),
            )
        };
        if error != libc::EINTR {
            assert_eq!(error, 0, "clock_nanosleep: error {error}");
            return;
        }
    }
}

/// Sleeps this long, ns.
pub(crate) fn sleep_ns(duration_ns: u64) {
    sleep_until_ns(now_ns() + duration_ns);
}

/// The CPU that executes the caller; it may be another by the time of the answer.
pub(crate) fn current_cpu() -> u32 {
    // SAFETY: takes nothing and touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).unwrap_or(0)
}

/// The calling thread's id.
pub(crate) fn thread_id() -> Pid {
    // SAFETY: takes nothing and touches no memory of ours.
    unsafe { libc::gettid() }
}

/// Timers of the calling thread expire on time, not up to 50 us late.
pub(crate) fn set_timer_slack_min() {
    // SAFETY: PR_SET_TIMERSLACK takes a number; 1 ns is the least, 0 means the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// errno of a call that failed.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Binds a thread (0 = the caller) to CPUs.
pub(crate) fn set_affinity(thread: Pid, cpus: &[u32]) -> io::Result<()> {
    // SAFETY: a cpu_set_t is plain bits, and all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        assert!(cpu < CPUS_MAX, "CPU {cpu} is outside of cpu_set_t");
        // SAFETY: the index is below the number of bits.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    // SAFETY: the size is that of the set, which lives through the call.
    checked(unsafe { libc::sched_setaffinity(thread, size_of_val(&set), &raw const set) }).map(drop)
}

/// CPUs the calling thread may run on, ascending.
pub(crate) fn affinity() -> io::Result<Vec<u32>> {
    // SAFETY: as in `set_affinity`.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the size is that of the set, which the call fills.
    checked(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) })?;
    // SAFETY: the index is below the number of bits.
    Ok((0..CPUS_MAX)
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu as usize, &set) })
        .collect())
}

/// Nice value of a thread (0 = the caller): on Linux it is the thread's own.
pub(crate) fn set_nice(thread: Pid, nice: i8) -> io::Result<()> {
    let who = thread.unsigned_abs();
    // SAFETY: plain numbers.
    checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, who, nice.into()) }).map(drop)
}

/// Sets policy and priority of a thread; 0: the caller.
fn set_scheduler(thread: Pid, policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: a sched_param is plain numbers; musl has more of them than glibc.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = priority;
    // SAFETY: `param` lives through the call.
    checked(unsafe { libc::sched_setscheduler(thread, policy, &raw const param) }).map(drop)
}

/// Makes a thread (0 = the caller) a normal task of that policy.
pub(crate) fn set_policy(thread: Pid, policy: Policy) -> io::Result<()> {
    let number = match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Batch => libc::SCHED_BATCH,
        Policy::Idle => libc::SCHED_IDLE,
    };
    set_scheduler(thread, number, 0)
}

/// Makes a thread (0 = the caller) a real-time task; 1 is the lowest priority.
pub(crate) fn set_fifo(thread: Pid, priority: i32) -> io::Result<()> {
    set_scheduler(thread, libc::SCHED_FIFO, priority)
}

/// Runs `child` in a copy of this process, which ends with the code it returns.
///
/// Only for programs with one thread: another's locks would stay locked in the copy.
pub(crate) fn fork(child: impl FnOnce() -> u8) -> io::Result<Pid> {
    // SAFETY: the copy has the only thread of this process and goes on as a normal program.
    let pid = checked(unsafe { libc::fork() })?;
    if pid == 0 {
        let code = child();
        // SAFETY: ends the copy at once; its parent's exit handlers and buffers are not its own.
        unsafe { libc::_exit(code.into()) }
    }
    Ok(pid)
}

/// How a child ended, or None where it has not within this time.
pub(crate) fn wait_ended(child: Pid, within_ns: u64) -> io::Result<Option<Ended>> {
    // SAFETY: plain numbers; the answer is a new descriptor or -1.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
    let raw = checked(i32::try_from(opened).unwrap_or(-1))?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let pidfd = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut poll = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let timeout_ms = i32::try_from(within_ns / 1_000_000).unwrap_or(i32::MAX);
    // SAFETY: one valid pollfd. An interrupted wait is a short one.
    unsafe { libc::poll(&raw mut poll, 1, timeout_ms) };
    let mut status = 0;
    // SAFETY: `status` is written by the call.
    if checked(unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) })? == 0 {
        return Ok(None);
    }
    Ok(Some(if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Exit(libc::WEXITSTATUS(status))
    }))
}

/// Reads all entries of a directory from its beginning, under the lock of its position.
pub(crate) fn read_entries(directory: &File) -> io::Result<()> {
    let descriptor = directory.as_raw_fd();
    let mut entries = [0_u8; 16_384];
    // SAFETY: plain numbers.
    if unsafe { libc::lseek(descriptor, 0, libc::SEEK_SET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    loop {
        let (buffer, size) = (entries.as_mut_ptr(), entries.len());
        // SAFETY: the kernel writes `size` bytes at most into `entries`, which lives here.
        let read = unsafe { libc::syscall(libc::SYS_getdents64, descriptor, buffer, size) };
        match read {
            0 => return Ok(()),
            1.. => {}
            _ => return Err(io::Error::last_os_error()),
        }
    }
}

/// Waits until all that were reading under RCU have ended that (`synchronize_rcu()`).
pub(crate) fn wait_for_rcu() -> io::Result<()> {
    /// `enum membarrier_cmd`, linux/membarrier.h.
    const MEMBARRIER_CMD_GLOBAL: libc::c_int = 1;
    // SAFETY: plain numbers.
    let done = unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A lock with priority inheritance that forked processes share: a futex that holds the thread id
/// of its holder. Its memory is given back as the process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PiLock(&'static AtomicU32);

impl PiLock {
    /// An open one.
    pub(crate) fn new() -> io::Result<Self> {
        let (size, access) = (size_of::<AtomicU32>(), libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: new memory of its own, filled with 0.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a page of 0 is a valid atomic, aligned, and is never given back.
        Ok(Self(unsafe { &*memory.cast::<AtomicU32>() }))
    }

    /// Runs `work` with the lock held.
    pub(crate) fn held(self, work: impl FnOnce()) -> io::Result<()> {
        let own = thread_id().unsigned_abs();
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        if self.0.compare_exchange(0, own, success, failure).is_err() {
            self.futex(libc::FUTEX_LOCK_PI)?;
        }
        work();
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        if self.0.compare_exchange(own, 0, success, failure).is_err() {
            self.futex(libc::FUTEX_UNLOCK_PI)?;
        }
        Ok(())
    }

    /// One call on it, without a time limit.
    fn futex(self, operation: libc::c_int) -> io::Result<()> {
        let word = self.0.as_ptr();
        let never = std::ptr::null::<libc::timespec>();
        // SAFETY: the word lives as long as the process.
        let done = unsafe { libc::syscall(libc::SYS_futex, word, operation, 0, never) };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Kills a child that does not end by itself.
pub(crate) fn kill(child: Pid) {
    // SAFETY: plain numbers; that it is gone already is no harm.
    unsafe { libc::kill(child, libc::SIGKILL) };
}
