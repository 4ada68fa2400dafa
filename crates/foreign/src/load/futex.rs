//! Futexes: threads of the loader wake each other here, not in the host's kernel. A thread that
//! waits must be in virtual time, or the run would wait for the host (docs/guide/schedulers.md,
//! "What the loader sees").
//!
//! What must stay: waiters of an address are woken in the order in which they came. Free: how
//! waiters are kept.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`futex`, `futex_wait`, `word`, `answered`:
//! channels, a condition variable, joined threads). Requeueing and operations that are not offered
//! have no test.
//!
//! Callers: load/waits.rs (`futex`). Woken threads are load/threads.rs'.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time

use super::calls::{Answer, Call};
use super::serve::Session;
use super::threads::Threads;
use super::waits::{Reply, Waiting, What};

const WAIT: u64 = 0;
const WAKE: u64 = 1;
const REQUEUE: u64 = 3;
const CMP_REQUEUE: u64 = 4;
const WAIT_BITSET: u64 = 9;
const WAKE_BITSET: u64 = 10;
/// `FUTEX_PRIVATE_FLAG`, `FUTEX_CLOCK_REALTIME`.
const PRIVATE: u64 = 128;
const REALTIME: u64 = 256;

/// The word at an address of the caller's. None: it cannot be read.
pub(super) fn word(call: &Call, addr: u64) -> Option<u32> {
    let bytes = call.read(addr, 4)?;
    bytes.first_chunk().map(|word| u32::from_le_bytes(*word))
}

impl Session<'_> {
    /// `futex(address, operation, value, timeout, second address, third value)`.
    pub(super) fn futex(&mut self, call: &Call, threads: &mut Threads) -> Result<Reply, Answer> {
        let [addr, operation, value, fourth, second, third] = call.args;
        let count = |value: u64| usize::try_from((value as u32).cast_signed()).unwrap_or(0);
        match operation & !(PRIVATE | REALTIME) {
            WAIT => self.futex_wait(call, u32::MAX, false),
            WAIT_BITSET => self.futex_wait(call, third as u32, true),
            WAKE => Ok(answered(threads.wake(addr, count(value), u32::MAX))),
            WAKE_BITSET => Ok(answered(threads.wake(addr, count(value), third as u32))),
            operation @ (REQUEUE | CMP_REQUEUE) => {
                if operation == CMP_REQUEUE {
                    let found = word(call, addr).ok_or(Answer::error(libc::EFAULT))?;
                    if found != third as u32 {
                        return Err(Answer::error(libc::EAGAIN));
                    }
                }
                let woken = threads.wake(addr, count(value), u32::MAX);
                let moved = threads.requeue(addr, second, count(fourth));
                Ok(answered(woken + moved))
            }
            other => {
                self.refuse(format!("futex(2) operation {other} is not offered"));
                Err(Answer::error(libc::ENOSYS))
            }
        }
    }

    /// FUTEX_WAIT: the thread waits if the word still has the value.
    fn futex_wait(&self, call: &Call, bits: u32, absolute: bool) -> Result<Reply, Answer> {
        let [addr, operation, value, timeout, ..] = call.args;
        let value = value as u32;
        let until_ns = match timeout {
            0 => None,
            at => {
                let clock = match operation & REALTIME {
                    0 => libc::CLOCK_MONOTONIC,
                    _ => libc::CLOCK_REALTIME,
                };
                Some(self.until(clock as u64, absolute, self.time_at(call, at)?))
            }
        };
        let found = word(call, addr).ok_or(Answer::error(libc::EFAULT))?;
        if found != value {
            return Err(Answer::error(libc::EAGAIN));
        }
        if until_ns.is_some_and(|until| until <= self.known.clock_ns) {
            return Err(Answer::error(libc::ETIMEDOUT));
        }
        let what = What::Futex { addr, value, bits };
        let late = -i64::from(libc::ETIMEDOUT);
        Ok(Reply::Waits(Box::new(Waiting::of(
            call, what, until_ns, late,
        ))))
    }
}

/// So many were woken or moved.
fn answered(count: usize) -> Reply {
    Reply::Now(Answer::Value(count as i64))
}
