//! Which calls are answered here, and the filter that hands them over. A call that is not in the
//! list goes to the host's kernel (docs/rules/sched-ext.md#loader).
//!
//! What must stay: `is_trapped` and the filter say the same, for both architectures. A call that is
//! added here needs its answer in load/serve.rs. Free: the order of the list.
//!
//! Tests by part: interception.rs::`results_do_not_depend_on_the_way` (`is_trapped` beside
//! `filter`), interception.rs::`doctor_says_which_way_calls_take` (`notify_of`),
//! wall/filter.rs::`nothing_can_be_reached` (`argument`, `statement`, `if_equal`). `if_at_least`
//! has no test of its own.
//!
//! Callers: guard/spawn.rs (`filter`), guard/trace.rs (`is_trapped`), guard/way.rs (`notify_of`),
//! wall/filter.rs (the instructions).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_sees_the_modelled_machine,
//! crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time

use crate::wire::RawCall;

#[cfg(target_arch = "x86_64")]
pub(crate) const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const AUDIT_ARCH: u32 = 0xc000_00b7;

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

/// The first number of x32 (`__X32_SYSCALL_BIT`).
pub(super) const X32: u32 = 0x4000_0000;

/// The second byte of requests to a perf event (`_IOC_TYPE`, '$').
const PERF_REQUESTS: u32 = 0x2400;

/// Offsets in `struct seccomp_data`.
pub(crate) const NR: u32 = 0;
pub(crate) const ARCH: u32 = 4;

/// The lower half of an argument, from 0.
pub(crate) const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

pub(crate) const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
pub(crate) const GIVE: u32 = libc::BPF_RET | libc::BPF_K;

/// One instruction of classic BPF.
pub(crate) const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// A jump by the accumulator: `then` and `otherwise` count instructions to pass over.
pub(crate) const fn if_equal(k: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k,
    }
}

/// Makes the instruction that jumps where the value is at least `k`, as `if_equal` does for equal
/// ones.
fn if_at_least(k: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k,
    }
}

/// Is it answered here? What the filter says, in Rust.
pub(super) fn is_trapped(call: &RawCall) -> bool {
    let of_perf_event =
        call.number == libc::SYS_ioctl && call.args[1] as u32 & 0xff00 == PERF_REQUESTS;
    of_perf_event || TRAPPED.contains(&call.number)
}

/// The filter: notify for what is trapped, allow the rest, kill calls of another architecture.
pub(super) fn filter() -> Vec<libc::sock_filter> {
    let mut filter = notify_of(TRAPPED);
    let allow = filter.pop();
    filter.extend([
        if_equal(libc::SYS_ioctl as u32, 0, 4),
        statement(LOAD, argument(1)),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xff00),
        if_equal(PERF_REQUESTS, 0, 1),
        statement(GIVE, libc::SECCOMP_RET_USER_NOTIF),
    ]);
    filter.extend(allow);
    filter
}

/// A filter that notifies of some calls.
pub(super) fn notify_of(calls: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let mut filter = vec![
        statement(LOAD, ARCH),
        if_equal(AUDIT_ARCH, 1, 0),
        statement(GIVE, libc::SECCOMP_RET_KILL_PROCESS),
        statement(LOAD, NR),
        // The numbers of x32, which are other calls of the same architecture.
        if_at_least(X32, 0, 1),
        statement(GIVE, libc::SECCOMP_RET_KILL_PROCESS),
    ];
    for number in calls {
        filter.push(if_equal(*number as u32, 0, 1));
        filter.push(statement(GIVE, libc::SECCOMP_RET_USER_NOTIF));
    }
    filter.push(statement(GIVE, libc::SECCOMP_RET_ALLOW));
    filter
}
