//! Work by the thread's own CPU time, and where that time was spent (docs/guide/lab.md).
//!
//! What must stay: work counts by CPU time and the CPU's rate, 2^-20 ns; it never books more than
//! the thread has had. Free: how long a slice of the loop is. Tests of whole jobs:
//! crates/guest/src/load/tests.rs.
//!
//! Tests by part: `the_last_slice_is_short` (`loops_for`),
//! load/tests.rs::`a_periodic_task_has_a_job_in_every_period` (`work`, `settle`, `slice`, `look`,
//! `cpu_ns`), crates/guest/tests/programs.rs::`load_runs_a_job_file_and_reports_each_task`
//! (`busy_slice`: the hog). `new` has no test of its own.
//!
//! Callers: load/task.rs.
//!
//! Tests: below

use std::collections::BTreeMap;

use super::shared::{Stage, StageCell};
use crate::cpus::{Cpus, RATE_BITS, Rate};
use crate::spin::{SLICE_LOOPS, spin};
use crate::sys;

/// The frequency is read again after so much CPU time, ns.
const RATE_READ_NS: u64 = 100_000;
/// Shorter slices would be mostly clock calls, iterations.
const LOOPS_MIN: u64 = 20;

/// Sums over the measured window.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// CPU time by CPU, ns.
    pub(super) cpu_run_ns: BTreeMap<u32, u64>,
    /// Scaled CPU time, 2^-20 ns.
    pub(super) scaled: u128,
    /// Times it was found on another CPU than before.
    pub(super) cpu_changes: u64,
}

/// Of one thread.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    cpus: &'a Cpus,
    stage: &'a StageCell,
    /// Last reading of the thread's CPU time, ns.
    cpu_ns: u64,
    cpu: u32,
    rate: Rate,
    rate_read_at_ns: u64,
    /// Fastest iteration seen, ns of CPU time for 1024 of them.
    loops_1024_ns: u64,
    /// Scaled CPU time since the thread began, 2^-20 ns.
    pub(super) scaled: u128,
    pub(super) window: Usage,
}

impl<'a> Meter<'a> {
    /// At the CPU and time of the call; speed of the loop is still to be learnt.
    pub(super) fn new(cpus: &'a Cpus, stage: &'a StageCell) -> Self {
        let (cpu, cpu_ns) = (sys::current_cpu(), sys::thread_cpu_ns());
        Self {
            cpus,
            stage,
            cpu_ns,
            cpu,
            rate: cpus.rate(cpu),
            rate_read_at_ns: cpu_ns,
            loops_1024_ns: u64::MAX,
            scaled: 0,
            window: Usage::default(),
        }
    }

    /// Books the CPU time since the last reading; what it amounts to, 2^-20 ns.
    pub(super) fn settle(&mut self) -> u128 {
        let now_ns = sys::thread_cpu_ns();
        let ran_ns = now_ns - self.cpu_ns;
        self.cpu_ns = now_ns;
        let scaled = self.rate.scaled(ran_ns);
        self.scaled += scaled;
        if self.stage.is(Stage::Window) {
            *self.window.cpu_run_ns.entry(self.cpu).or_default() += ran_ns;
            self.window.scaled += scaled;
        }
        scaled
    }

    /// CPU time of the thread as last read, ns.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }

    /// Sees on which CPU it is and how fast that is.
    pub(super) fn look(&mut self) {
        let cpu = sys::current_cpu();
        if cpu == self.cpu && self.cpu_ns - self.rate_read_at_ns < RATE_READ_NS {
            return;
        }
        if cpu != self.cpu && self.stage.is(Stage::Window) {
            self.window.cpu_changes += 1;
        }
        self.cpu = cpu;
        self.rate = self.cpus.rate(cpu);
        self.rate_read_at_ns = self.cpu_ns;
    }

    /// Makes this much progress, unless the run ends: CPU time of the biggest CPU at its top
    /// frequency, ns.
    pub(super) fn work(&mut self, work_ns: u64) {
        self.settle();
        let goal = u128::from(work_ns) << RATE_BITS;
        let mut done = 0;
        while done < goal && !self.stage.is(Stage::Stop) {
            self.look();
            let loops = loops_for(self.rate.cpu_ns(goal - done), self.loops_1024_ns);
            done += self.slice(loops);
        }
    }

    /// One full slice of work.
    pub(super) fn busy_slice(&mut self) {
        self.look();
        self.slice(SLICE_LOOPS);
    }

    /// One run of the loop; it also learns how long an iteration takes.
    fn slice(&mut self, loops: u64) -> u128 {
        let before_ns = self.cpu_ns;
        spin(loops);
        let scaled = self.settle();
        let took_ns = self.cpu_ns - before_ns;
        self.loops_1024_ns = self.loops_1024_ns.min((took_ns * 1024 / loops).max(1));
        scaled
    }
}

/// Iterations for what is left, at most a slice: the last slice of a job is as short as it can be.
fn loops_for(left_ns: u64, loops_1024_ns: u64) -> u64 {
    if loops_1024_ns == u64::MAX {
        return LOOPS_MIN;
    }
    (left_ns.saturating_mul(1024) / loops_1024_ns).clamp(LOOPS_MIN, SLICE_LOOPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slice_is_short() {
        // 10 ns an iteration.
        assert_eq!(loops_for(1_000_000, 10_240), SLICE_LOOPS);
        assert_eq!(loops_for(5_000, 10_240), 500);
        assert_eq!(loops_for(1, 10_240), LOOPS_MIN);
        assert_eq!(loops_for(1_000_000, u64::MAX), LOOPS_MIN, "nothing known");
    }
}
