//! What something took: processor time, which other programs on the machine do not add to, and wall
//! time. Both clocks count nanoseconds; the kernel's per-thread statistics, which count ticks, are
//! not used.
//!
//! What must stay: processor time is what results are judged by, the least of several rounds; at
//! least 1 ns. No test: a benchmark.

use rustix::time::{ClockId, clock_gettime};

fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What something took, ns.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    /// Of all threads of this process.
    pub(crate) processor_ns: u64,
    pub(crate) wall_ns: u64,
}

impl Spent {
    pub(crate) const MOST: Self = Self {
        processor_ns: u64::MAX,
        wall_ns: u64::MAX,
    };

    /// The less of each: what disturbs a run only adds.
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            processor_ns: self.processor_ns.min(other.processor_ns),
            wall_ns: self.wall_ns.min(other.wall_ns),
        }
    }
}

/// A beginning.
pub(crate) struct Stopwatch(Spent);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Spent {
            processor_ns: now_ns(ClockId::ProcessCPUTime),
            wall_ns: now_ns(ClockId::Monotonic),
        })
    }

    /// Since then; at least 1 ns, to divide by.
    pub(crate) fn spent(&self) -> Spent {
        let now = Self::start().0;
        Spent {
            processor_ns: (now.processor_ns - self.0.processor_ns).max(1),
            wall_ns: (now.wall_ns - self.0.wall_ns).max(1),
        }
    }
}
