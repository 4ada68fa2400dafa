//! What differs between two loads on the host and must not in results: numbers of processes, and
//! random bytes. (A C library that takes random bytes from the kernel's vDSO makes no call for
//! them.) What a loader sees is in docs/guide/schedulers.md.
//!
//! What must stay: the numbers: another one is another run of a loader that prints or hashes it.
//! Free: how the bytes are made, if they stay the same.
//!
//! Tests by part: schedulers.rs::`a_loader_sees_the_modelled_machine` (`pid`: a shell's `$$` is
//! 999), interception.rs::`what_goes_wrong_is_named_by_ptrace_too` (`signal`),
//! `runs_with_a_loader_beside_them_are_the_same` (`random`, as far as the loader uses it).
//!
//! Callers: load/serve.rs.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_with_a_loader_beside_them_are_the_same

use super::calls::{Answer, Call};
use super::serve::Session;

/// The loader's process: no number of a modelled task, which begin at 1000.
pub(super) const PID: i64 = 999;
/// Most bytes that one call gets; callers ask again for the rest.
const MAX_RANDOM: u64 = 4096;

impl Session<'_> {
    /// `getpid`, `gettid`: of the loader itself. Its children and other threads keep theirs.
    pub(super) fn pid(&self, call: &Call) -> Answer {
        let leads = call.pid == self.known.loader;
        match leads || call.number == libc::SYS_getpid && call.of_loader {
            true => Answer::Value(PID),
            false => Answer::Host,
        }
    }

    /// Signals to that number must not reach the host's process that has it. One that ends the
    /// loader (`abort`) does so.
    pub(super) fn signal(&self, call: &Call) -> Answer {
        if i64::from(call.args[0] as i32).abs() != PID {
            return Answer::Host;
        }
        let signal = match call.number {
            libc::SYS_tgkill => call.args[2],
            _ => call.args[1],
        } as i32;
        if !matches!(signal, 0 | libc::SIGABRT | libc::SIGKILL) {
            return Answer::error(libc::ESRCH);
        }
        self.calls.signal(call, signal);
        Answer::Value(0)
    }

    /// `getrandom`: a fixed sequence (PCG's multiplier and increment).
    pub(super) fn random(&mut self, call: &Call) -> Answer {
        let count = call.args[1].min(MAX_RANDOM);
        let bytes: Vec<u8> = (0..count)
            .map(|_| {
                self.known.random = self
                    .known
                    .random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (self.known.random >> 56) as u8
            })
            .collect();
        match call.write(call.args[0], &bytes) {
            true => Answer::Value(count.cast_signed()),
            false => Answer::error(libc::EFAULT),
        }
    }
}
