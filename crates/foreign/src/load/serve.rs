//! Answers calls of the loader that do not wait (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a call of `trapped.rs` has its answer here or in `waits.rs`; errno are the
//! kernel's. Free: how calls are divided; a further one with its errno.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`answer`, `begins`: the clock is virtual),
//! schedulers.rs::`what_is_not_offered_is_refused_by_name` (bpf(2)),
//! interception.rs::`a_loader_may_close_all_descriptors` (`object`: descriptors that stand for
//! ours). `no_signal_timer` and `perf_event` have no test of their own.
//!
//! Callers: load/waits.rs (`answer`, for calls that do not wait); load/bpf.rs, load/program.rs
//! (`object`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/schedulers.rs::what_a_loader_must_not_do_is_named

use super::calls::{Answer, Call, Calls};
pub(super) use super::known::{Known, Object};
use crate::kernel::State;
use wakeplace_bpf_vm::Vm;
use wakeplace_sched_ext::Kernel;

/// While calls of the loader are answered.
pub(super) struct Session<'a> {
    pub(super) vm: &'a mut Vm,
    pub(super) state: &'a mut State,
    pub(super) known: &'a mut Known,
    pub(super) calls: &'a Calls,
    /// The simulated kernel; none before a scheduler is attached.
    pub(super) sim: Option<&'a mut (dyn Kernel + 'a)>,
}

impl Session<'_> {
    /// The answer to a call that needs no waiting.
    pub(super) fn answer(&mut self, call: &Call) -> Answer {
        match call.number {
            libc::SYS_bpf => self.bpf(call),
            libc::SYS_perf_event_open => self.perf_event(call),
            libc::SYS_uname => self.uname(call),
            libc::SYS_sched_getaffinity => self.affinity(call),
            libc::SYS_sched_setaffinity => self.set_affinity(call),
            libc::SYS_getpid | libc::SYS_gettid => self.pid(call),
            libc::SYS_kill | libc::SYS_tgkill => self.signal(call),
            libc::SYS_getrandom => self.random(call),
            // Who left the group would not end with it.
            libc::SYS_setsid | libc::SYS_setpgid => Answer::error(libc::EPERM),
            libc::SYS_epoll_ctl => match self.object(call, call.args[2] as u32) {
                Some(Object::Map(number)) => {
                    let number = *number;
                    self.watch_ring(call, number)
                }
                Some(_) => Answer::Value(0),
                None => Answer::Host,
            },
            libc::SYS_ioctl => match self.object(call, call.args[0] as u32) {
                Some(_) => Answer::Value(0),
                None => Answer::Host,
            },
            libc::SYS_prlimit64 => match (call.args[1], call.args[2]) {
                (resource, new) if resource == u64::from(libc::RLIMIT_MEMLOCK) && new != 0 => {
                    Answer::Value(0)
                }
                _ => Answer::Host,
            },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_setrlimit => match call.args[0] {
                resource if resource == u64::from(libc::RLIMIT_MEMLOCK) => Answer::Value(0),
                _ => Answer::Host,
            },
            libc::SYS_set_tid_address => self.begins(call),
            libc::SYS_set_robust_list | libc::SYS_rt_sigprocmask => Answer::Host,
            libc::SYS_clock_gettime | libc::SYS_clock_getres | libc::SYS_gettimeofday => {
                self.clock(call)
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_time => self.clock(call),
            libc::SYS_timerfd_create => self.timer_create(call),
            libc::SYS_timerfd_settime | libc::SYS_timerfd_gettime => self.timer_set(call),
            libc::SYS_timer_create | libc::SYS_setitimer => self.no_signal_timer(),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_alarm => self.no_signal_timer(),
            // Libraries ask whether they are there.
            libc::SYS_futex_waitv | libc::SYS_io_uring_setup => Answer::error(libc::ENOSYS),
            // `MEMBARRIER_CMD_GLOBAL`: one thread runs at a time, so all others are past it.
            libc::SYS_membarrier if call.args[0] == 1 => Answer::Value(0),
            libc::SYS_membarrier => Answer::Host,
            libc::SYS_bind | libc::SYS_connect if call.of_tree => Answer::Tree,
            libc::SYS_bind | libc::SYS_connect => Answer::Host,
            _ => self.path_call(call),
        }
    }

    /// A program begins: from now on its clocks are ours.
    fn begins(&mut self, call: &Call) -> Answer {
        match self.calls.replace_clocks(call) {
            Ok(()) => Answer::Host,
            Err(error) => self.refuse(format!("its clocks cannot be replaced: {error}")),
        }
    }

    /// Refused by name: a signal would come by the host's clock.
    fn no_signal_timer(&mut self) -> Answer {
        self.refuse("timers that send signals (timer_create, setitimer, alarm) are not offered");
        Answer::error(libc::ENOSYS)
    }

    /// Tracepoints can be opened, none is hit; there are no counters.
    fn perf_event(&mut self, call: &Call) -> Answer {
        const TRACEPOINT: u32 = 2;
        let kind = call
            .read(call.args[0], 4)
            .and_then(|kind| kind.first_chunk().copied());
        match kind.map(u32::from_le_bytes) {
            Some(TRACEPOINT) => self.give(Object::Link, 4096),
            _ => Answer::error(libc::ENOENT),
        }
    }

    /// What a descriptor of the loader's stands for, if it is one of ours.
    pub(super) fn object(&self, call: &Call, fd: u32) -> Option<&Object> {
        let id = self.calls.file_id(call, fd)?;
        self.known.objects.get(&id).map(|(object, _)| object)
    }
}
