//! How much a worker may take (docs/guide/schedulers.md, "How it ends").
//!
//! What must stay: limits follow from the length and size of what is run, never from the host.
//! Free: how generous a limit is.
//!
//! Tests by part: `longer_runs_may_take_more` (`and_run`),
//! wall/main_process.rs::`memory_is_bounded`, `processor_time_is_bounded` (what the limits end;
//! `limit`). `set` and `memory_bytes` have no test of their own.
//!
//! Callers: crates/cli/src/commands/schedulers.rs (`and_run`), wall/mod.rs (`set`),
//! wall/main_process.rs (`memory_bytes`).
//!
//! Tests: below

use crate::guard::checked;
use std::io;
use std::time::Duration;

/// Processor time that each run may take, and each simulated second of it on each CPU. The slowest
/// measured load takes 24 s for a simulated second on 224 CPUs (docs/internals/performance.md).
const PER_RUN_S: u64 = 600;
const PER_CPU_SECOND_S: u64 = 30;
/// Memory that a worker may take, and each run that goes on at the same time.
const BYTES: u64 = 4 << 30;
/// A run's programs have 1 GiB and an arena of up to 4 GiB (docs/decisions/058).
const BYTES_PER_RUN: u64 = 6 << 30;

/// How much a worker may take. A run that is within these does not depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    cpu_s: u64,
}

impl Limits {
    /// For one run more: of so long a simulated time, on so many CPUs.
    #[must_use]
    pub fn and_run(self, simulated: Duration, nr_cpus: usize) -> Self {
        let seconds = simulated.as_secs().saturating_add(1);
        let of_run = seconds.saturating_mul(nr_cpus as u64);
        let of_run = of_run.saturating_mul(PER_CPU_SECOND_S);
        Self {
            cpu_s: self.cpu_s.saturating_add(of_run).saturating_add(PER_RUN_S),
        }
    }

    /// For this process; a worker's limits grow with its runs.
    pub(super) fn set(self) -> io::Result<()> {
        limit(libc::RLIMIT_CPU, self.cpu_s.max(PER_RUN_S))?;
        // What a failing compiler leaves in memory is nobody's to read.
        limit(libc::RLIMIT_CORE, 0)
    }
}

/// What a worker may have in memory while so many runs go on, bytes.
pub(super) fn memory_bytes(runs: usize) -> u64 {
    BYTES.saturating_add(BYTES_PER_RUN.saturating_mul(runs as u64))
}

/// Bounds a resource of this process for good.
pub(super) fn limit(what: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is as large as the call fills.
    checked(unsafe { libc::getrlimit(what, &raw mut now) }.into())?;
    let most = most.min(now.rlim_cur);
    // The soft one ends it with a signal that says why.
    now = libc::rlimit {
        rlim_cur: most,
        rlim_max: most.saturating_add(10).min(now.rlim_max),
    };
    // SAFETY: a plain system call.
    checked(unsafe { libc::setrlimit(what, &raw const now) }.into()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::Limits;
    use std::time::Duration;

    /// Goal: the limits grow with what is asked for, and never turn round.
    #[test]
    fn longer_runs_may_take_more() {
        let one = Limits::default().and_run(Duration::from_secs(9), 8);
        // 600 s, and 30 s for each of 10 s on each of 8 CPUs.
        assert_eq!(one.cpu_s, 600 + 30 * 10 * 8);
        assert_eq!(one.and_run(Duration::from_secs(9), 8).cpu_s, 2 * one.cpu_s);
        assert_eq!(one.and_run(Duration::MAX, usize::MAX).cpu_s, u64::MAX);
    }
}
