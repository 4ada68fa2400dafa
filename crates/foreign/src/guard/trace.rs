//! Calls by ptrace(2), for where filters are refused or another filter answers first: a container's
//! profile, for example. A traced thread stops before any filter sees its call, and once more with
//! the result. A call that is answered here becomes one that does nothing, and its result the
//! answer. A descriptor goes to the loader, or comes from it, by a call that is made in the place
//! of its own, over a socket that it has from its start. What a call is answered must not depend on
//! the way: `notify` does the same by notification (docs/guide/schedulers.md, "What the loader
//! sees").
//!
//! What must stay: a thread that is stopped goes on exactly once per stop. Free: how stops are kept
//! and looked up.
//!
//! Tests by part: `results_do_not_depend_on_the_way` (`of`, `ask`, `wait`, `stop_of`, `look`,
//! `look_at_call`, `respond`, `answer`, `release`, `give`, `instead`, `to_next_stop`,
//! `over_socket`, `go_on`), interception.rs::`virtual_time_does_not_depend_on_the_way` (`take`,
//! `all`: threads, descriptors), `a_loader_may_close_all_descriptors` (`keep_socket`,
//! `close_around_socket`), wall.rs::`nothing_of_a_loader_outlives_the_run`,
//! interception.rs::`what_goes_wrong_is_named_by_ptrace_too` (`end`, `kill`).
//!
//! Callers: guard/process.rs, which chooses between this and `notify`; guard/spawn.rs (`ask`,
//! `of`).
//!
//! Tests: crates/cli/tests/all/interception.rs::results_do_not_depend_on_the_way,
//! crates/cli/tests/all/interception.rs::a_loader_may_close_all_descriptors

use super::memory::memory_of;
use super::process::Beside;
use super::registers::Registers;
use super::trapped::{self, AUDIT_ARCH};
use super::{Answer, Event, checked, passing};
use crate::wire::RawCall;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The stop at a call (`PTRACE_O_TRACESYSGOOD`).
const AT_CALL: libc::c_int = libc::SIGTRAP | 0x80;
/// Signals that would stop a thread, with nobody to let it go on. A new thread begins with one.
const STOPS: [libc::c_int; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
/// So often a thread's stop is asked for without a pause: most calls come after some microseconds.
const ASKED_AT_ONCE: u32 = 100;
/// Pauses after that: the first ones, and all others.
const SHORT: Duration = Duration::from_micros(20);
const LONG: Duration = Duration::from_millis(1);

/// The loader's tracer. Only the thread that has started it may ask for its stops.
#[derive(Debug)]
pub(super) struct Tracer {
    /// The loader's process, and its group's number.
    leader: u32,
    socket: UnixStream,
    /// The socket's other end, in the loader.
    theirs: RawFd,
    /// How the loader has ended.
    how: Cell<Option<libc::c_int>>,
    /// Signals that came in between.
    held: RefCell<BTreeMap<u32, libc::c_int>>,
    of_this_thread: PhantomData<*const ()>,
}

/// `struct ptrace_syscall_info`, as far as a call's beginning goes.
#[repr(C)]
struct Info {
    kind: u8,
    arch: u32,
    ip: u64,
    sp: u64,
    number: u64,
    args: [u64; 6],
}

/// `PTRACE_GET_SYSCALL_INFO`, `PTRACE_SYSCALL_INFO_ENTRY`.
const GET_INFO: libc::c_uint = 0x420e;
const ENTRY: u8 = 1;

/// The call that stands for one which is answered: it does nothing, and no profile refuses it.
const NOTHING: libc::c_long = libc::SYS_getpid;

/// What a call on a descriptor that is not open returns.
const EBADF: i64 = -(libc::EBADF as i64);

impl Tracer {
    /// Of a process that has been started with `ask`, and stops at its first instruction.
    pub(super) fn of(leader: u32, socket: UnixStream, theirs: RawFd) -> io::Result<Self> {
        let tracer = Self {
            leader,
            socket,
            theirs,
            how: Cell::new(None),
            held: RefCell::default(),
            of_this_thread: PhantomData,
        };
        tracer.stop_of(leader.cast_signed(), 0)?;
        let options = libc::PTRACE_O_TRACESYSGOOD
            | libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACEEXEC;
        // SAFETY: a stopped child of ours; no memory is touched.
        let set = unsafe {
            libc::ptrace(
                libc::PTRACE_SETOPTIONS,
                leader as libc::pid_t,
                0_usize,
                options as usize,
            )
        };
        checked(set)?;
        go_on(leader, 0);
        Ok(tracer)
    }

    /// In the new process: it asks to be traced, and gets its end of the socket, where no program
    /// looks for one. Returns the number that it has there.
    pub(super) fn ask(socket: RawFd, number: RawFd) -> io::Result<()> {
        // SAFETY: plain system calls.
        unsafe {
            checked(libc::dup2(socket, number).into())?;
            checked(libc::ptrace(libc::PTRACE_TRACEME, 0, 0_usize, 0_usize)).map(drop)
        }
    }

    /// The next stop of a thread; None: there is none now, or nobody any more.
    fn stop_of(
        &self,
        whose: libc::pid_t,
        flags: libc::c_int,
    ) -> io::Result<Option<(u32, libc::c_int)>> {
        let mut status = 0;
        let flags = flags | libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: the status is a number of ours.
        let tid = unsafe { libc::waitpid(whose, &raw mut status, flags) };
        let tid = checked(tid.into())? as u32;
        if tid == 0 {
            return Ok(None);
        }
        if !libc::WIFSTOPPED(status) && tid == self.leader {
            self.how.set(Some(status));
        }
        Ok(Some((tid, status)))
    }

    /// All threads that are traced by this one, and are the loader's.
    fn all(&self) -> libc::pid_t {
        -self.leader.cast_signed()
    }

    /// Waits for a call of some thread, for the end, or until patience ends.
    pub(super) fn wait(&self, patience: Duration, beside: &mut Beside<'_>) -> io::Result<Event> {
        #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
        let began = Instant::now();
        let mut asked = 0;
        while began.elapsed() < patience {
            match self.stop_of(self.all(), libc::WNOHANG) {
                Ok(Some((tid, status))) => {
                    asked = 0;
                    if let Some(call) = self.look(tid, status) {
                        return Ok(Event::Call(call));
                    }
                }
                Ok(None) => {
                    match asked {
                        0..ASKED_AT_ONCE => std::thread::yield_now(),
                        _ => {
                            beside.look()?;
                            let short = asked < 2 * ASKED_AT_ONCE;
                            std::thread::sleep(if short { SHORT } else { LONG });
                        }
                    }
                    asked += 1;
                }
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => {
                    return Ok(Event::Ended);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Event::Silence)
    }

    /// A thread has stopped: with a call that is answered here, or it goes on. None: there is no
    /// call for the run.
    fn look(&self, tid: u32, status: libc::c_int) -> Option<RawCall> {
        if !libc::WIFSTOPPED(status) {
            return None;
        }
        let signal = libc::WSTOPSIG(status);
        match signal {
            AT_CALL => return self.look_at_call(tid),
            // It has made a thread or a process, or is another program now.
            _ if status >> 16 != 0 => go_on(tid, 0),
            signal if STOPS.contains(&signal) => go_on(tid, 0),
            signal => go_on(tid, signal),
        }
        None
    }

    /// The call at which a thread has stopped; None: it stopped for another reason.
    fn look_at_call(&self, tid: u32) -> Option<RawCall> {
        // SAFETY: numbers only.
        let mut info: Info = unsafe { std::mem::zeroed() };
        // SAFETY: the structure has the size that is said.
        let read = unsafe {
            libc::ptrace(
                GET_INFO as _,
                tid as libc::pid_t,
                size_of::<Info>(),
                &raw mut info,
            )
        };
        if read > 0 && info.kind == ENTRY {
            if info.arch != AUDIT_ARCH || info.number >= trapped::X32.into() {
                // As a filter does: its calls have other numbers.
                self.kill();
                return None;
            }
            let call = RawCall {
                id: 0,
                pid: tid,
                number: info.number.cast_signed(),
                args: info.args,
            };
            if trapped::is_trapped(&call) {
                return Some(call);
            }
            // Who is gone meanwhile needs no answer.
            let _ = self.keep_socket(&call);
        }
        self.release(tid);
        None
    }

    /// Calls that would close the socket's other end, or put another file in its place, leave it:
    /// for the loader there is none.
    fn keep_socket(&self, call: &RawCall) -> io::Result<()> {
        let theirs = self.theirs as u64;
        let [first, second, flags, ..] = call.args;
        match call.number {
            libc::SYS_close if first == theirs => self.answer(call.pid, EBADF),
            libc::SYS_dup3 if second == theirs => self.answer(call.pid, EBADF),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_dup2 if second == theirs => self.answer(call.pid, EBADF),
            // The numbers are of 32 bits.
            libc::SYS_close_range => {
                let (first, last) = (u64::from(first as u32), u64::from(second as u32));
                match (first..=last).contains(&theirs) {
                    true => self.close_around_socket(call.pid, first, last, flags),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// `close_range` in two parts, below and above the socket.
    fn close_around_socket(&self, tid: u32, first: u64, last: u64, flags: u64) -> io::Result<()> {
        let theirs = self.theirs as u64;
        let parts = [(first, theirs.wrapping_sub(1)), (theirs + 1, last)];
        let mut parts = parts.into_iter().filter(|(first, last)| first <= last);
        let mut result = 0;
        let mut left = parts.clone().count();
        if left == 0 {
            return self.answer(tid, 0);
        }
        while let Some((first, last)) = parts.next().filter(|_| result == 0) {
            let args = [first, last, flags];
            let (before, done) = self.instead(tid, libc::SYS_close_range, args)?;
            (result, left) = (done, left - 1);
            if left > 0 && result == 0 {
                before.before_call().set(tid)?;
                self.to_next_stop(tid)?;
            } else {
                before.returning(result).set(tid)?;
            }
        }
        Ok(())
    }

    /// The answer goes to the thread that has stopped.
    pub(super) fn respond(&self, call: &RawCall, answer: &Answer) {
        let tid = call.pid;
        let answered = match answer {
            Answer::Host => Ok(()),
            Answer::Value(value) => self.answer(tid, *value),
            Answer::File(file) => self.give(call, file),
        };
        // Who is gone meanwhile needs no answer.
        if answered.is_ok() {
            self.release(tid);
        }
    }

    /// Lets a thread go on, with what it has missed.
    fn release(&self, tid: u32) {
        let signal = self.held.borrow_mut().remove(&tid);
        go_on(tid, signal.unwrap_or(0));
    }

    /// The call does nothing, and returns this value.
    fn answer(&self, tid: u32, value: i64) -> io::Result<()> {
        let (before, _) = self.instead(tid, NOTHING, [0; 3])?;
        before.returning(value).set(tid)
    }

    /// A call in the place of the one that is about to be made, and its result. The thread stands
    /// behind it then.
    fn instead(
        &self,
        tid: u32,
        number: libc::c_long,
        args: [u64; 3],
    ) -> io::Result<(Registers, i64)> {
        let before = Registers::of(tid)?;
        before.set_call(tid, number, args)?;
        self.to_next_stop(tid)?;
        Ok((before, Registers::of(tid)?.result()))
    }

    /// Lets a thread go on to the next end or beginning of a call, which comes at once.
    fn to_next_stop(&self, tid: u32) -> io::Result<()> {
        go_on(tid, 0);
        loop {
            let stop = self.stop_of(tid.cast_signed(), 0)?;
            let status = stop.map_or(0, |(_, status)| status);
            if !libc::WIFSTOPPED(status) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            match libc::WSTOPSIG(status) {
                AT_CALL => return Ok(()),
                signal if status >> 16 == 0 && !STOPS.contains(&signal) => {
                    self.held.borrow_mut().insert(tid, signal);
                }
                _ => {}
            }
            go_on(tid, 0);
        }
    }

    /// The call returns a descriptor of this file.
    fn give(&self, call: &RawCall, file: &OwnedFd) -> io::Result<()> {
        let sent = passing::send(self.socket.as_raw_fd(), file.as_raw_fd());
        let flags = (libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT) as u64;
        let given = sent.and_then(|()| self.over_socket(call, libc::SYS_recvmsg, flags, 0));
        let (before, fd) = match given {
            Ok(given) => given,
            Err(_) => return self.answer(call.pid, -i64::from(libc::ENOMEM)),
        };
        let fd = fd.map_or(-i64::from(libc::ENOMEM), i64::from);
        before.returning(fd).set(call.pid)
    }

    /// A copy of a descriptor of the caller's. It stands before its call again then. None: it has
    /// none of this number.
    pub(super) fn take(&self, call: &RawCall, fd: u32) -> Option<OwnedFd> {
        let flags = (libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) as u64;
        let (before, sent) = self.over_socket(call, libc::SYS_sendmsg, flags, fd).ok()?;
        let back = before.before_call().set(call.pid);
        back.and_then(|()| self.to_next_stop(call.pid)).ok()?;
        sent.and_then(|_| passing::receive(self.socket.as_fd()).ok())
    }

    /// Has the caller send or receive a message with a descriptor. What it has in the place of the
    /// message, below its stack, is put back. None: it could not.
    fn over_socket(
        &self,
        call: &RawCall,
        number: libc::c_long,
        flags: u64,
        fd: u32,
    ) -> io::Result<(Registers, Option<u32>)> {
        use std::os::unix::fs::FileExt as _;
        // Beyond what a function may use without saying so (128 bytes on x86-64).
        let at = (Registers::of(call.pid)?.stack() - 1024) & !15;
        let message = passing::message_at(at, fd);
        let memory = memory_of(call.pid)?;
        let mut kept = vec![0; message.len()];
        memory.read_exact_at(&mut kept, at)?;
        memory.write_all_at(&message, at)?;
        let made = self.instead(call.pid, number, [self.theirs as u64, at, flags]);
        let mut after = vec![0; message.len()];
        memory.read_exact_at(&mut after, at)?;
        memory.write_all_at(&kept, at)?;
        let (before, result) = made?;
        let fd = Some(after)
            .filter(|_| result > 0)
            .and_then(|after| passing::descriptor_in(&after));
        Ok((before, fd))
    }

    /// All threads at once; they are waited for in `end`.
    fn kill(&self) {
        // SAFETY: the group was made by `spawn`; a signal touches no memory of ours.
        unsafe {
            libc::kill(self.all(), libc::SIGKILL);
        }
    }

    /// Ends all threads and waits until none is left.
    pub(super) fn end(&self) -> io::Result<ExitStatus> {
        let mut flags = libc::WNOHANG;
        loop {
            // As long as one has not been waited for, the group's number is nobody else's.
            match self.stop_of(self.all(), flags) {
                Ok(Some(_) | None) if flags != 0 => {
                    self.kill();
                    flags = 0;
                }
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => return Err(error),
            }
        }
        let how = self
            .how
            .get()
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD));
        how.map(ExitStatus::from_raw)
    }
}

/// Lets a thread go on to its next call, or the end of this one.
fn go_on(tid: u32, signal: libc::c_int) {
    // SAFETY: a thread that we trace; no memory is touched. One that is gone needs nothing.
    unsafe {
        libc::ptrace(
            libc::PTRACE_SYSCALL,
            tid as libc::pid_t,
            0_usize,
            signal as usize,
        );
    }
}
