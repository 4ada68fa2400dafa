//! Registers of a thread that has been stopped at a call (ptrace(2); docs/guide/schedulers.md,
//! "What the loader sees").
//!
//! What must stay: numbers of registers are the ABI's of x86-64 and arm64; nothing else of a thread
//! is changed. Free: a further architecture.
//!
//! Tests by part: `results_do_not_depend_on_the_way` with ptrace (`of`, `set`, `set_call`,
//! `result`, `returning`, `before_call`, `stack`, `transfer`). It runs for the architecture of the
//! test's machine; the other one is only compiled.
//!
//! Callers: guard/trace.rs.
//!
//! Tests: crates/cli/tests/all/interception.rs::results_do_not_depend_on_the_way

use super::checked;
use std::io;

/// `NT_PRSTATUS`: the registers that programs compute with.
const GENERAL: libc::c_long = 1;

/// All of them.
#[derive(Clone, Copy)]
pub(super) struct Registers(libc::user_regs_struct);

/// Reads or writes a set of registers.
fn transfer<T>(
    request: libc::c_uint,
    tid: u32,
    set: libc::c_long,
    value: *mut T,
) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: value.cast(),
        iov_len: size_of::<T>(),
    };
    // SAFETY: `value` is valid for as many bytes as are said.
    let done = unsafe { libc::ptrace(request as _, tid as libc::pid_t, set, &raw mut part) };
    checked(done).map(drop)
}

impl Registers {
    /// The registers of a stopped thread.
    pub(super) fn of(tid: u32) -> io::Result<Self> {
        // SAFETY: numbers only.
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        transfer(libc::PTRACE_GETREGSET, tid, GENERAL, &raw mut all)?;
        Ok(Self(all))
    }

    /// Writes them back; the thread must still be stopped.
    pub(super) fn set(mut self, tid: u32) -> io::Result<()> {
        transfer(libc::PTRACE_SETREGSET, tid, GENERAL, &raw mut self.0)
    }
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    /// Bytes of the instruction that calls (`syscall`).
    const CALL_BYTES: u64 = 2;

    /// Before the call is made: this one is made in its place.
    pub(super) fn set_call(
        mut self,
        tid: u32,
        number: libc::c_long,
        args: [u64; 3],
    ) -> io::Result<()> {
        self.0.orig_rax = number.cast_unsigned();
        [self.0.rdi, self.0.rsi, self.0.rdx] = args;
        self.set(tid)
    }

    /// What the call returns.
    pub(super) fn result(self) -> i64 {
        self.0.rax.cast_signed()
    }

    /// With the call's result in its place.
    pub(super) fn returning(mut self, value: i64) -> Self {
        self.0.rax = value.cast_unsigned();
        self
    }

    /// Where the call is about to be made.
    pub(super) fn before_call(mut self) -> Self {
        self.0.rip -= Self::CALL_BYTES;
        self.0.rax = self.0.orig_rax;
        self
    }

    /// The stack pointer: where a message can be put below.
    pub(super) fn stack(self) -> u64 {
        self.0.rsp
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    /// Bytes of the instruction that calls (`svc`).
    const CALL_BYTES: u64 = 4;

    /// Before the call is made: this one is made in its place.
    pub(super) fn set_call(
        mut self,
        tid: u32,
        number: libc::c_long,
        args: [u64; 3],
    ) -> io::Result<()> {
        /// `NT_ARM_SYSTEM_CALL`: the number; x8 has been read by now.
        const NUMBER: libc::c_long = 0x404;
        self.0.regs[..3].copy_from_slice(&args);
        self.set(tid)?;
        let mut number = number as libc::c_int;
        transfer(libc::PTRACE_SETREGSET, tid, NUMBER, &raw mut number)
    }

    /// What the call returns.
    pub(super) fn result(self) -> i64 {
        self.0.regs[0].cast_signed()
    }

    pub(super) fn returning(mut self, value: i64) -> Self {
        self.0.regs[0] = value.cast_unsigned();
        self
    }

    /// Where the call is about to be made. Number and arguments are still there.
    pub(super) fn before_call(mut self) -> Self {
        self.0.pc -= Self::CALL_BYTES;
        self
    }

    pub(super) fn stack(self) -> u64 {
        self.0.sp
    }
}
