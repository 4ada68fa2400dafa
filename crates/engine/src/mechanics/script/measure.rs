//! Steps that count, measure, or end the thread. None of them takes time (docs/guide/workloads.md,
//! "Work").
//!
//! What must stay: values are ns, counted from the workload's time zero and its warm-up. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `samples_are_exact`, `one_signal_has_one_stamp`,
//! `frames_begin_when_due_and_end_with_the_last_task` (frames), `passes_are_told`,
//! forking.rs::`a_counter_ends_its_threads` (`claim`),
//! channels.rs::`nothing_is_counted_within_the_warm_up`. By function: `samples_are_exact`
//! (`measure`, `sample_time`, `zero_ns`), channels.rs::`nothing_is_counted_within_the_warm_up`
//! (`count_units`, `counts_from_ns`), `frames_begin_when_due_and_end_with_the_last_task`
//! (`begin_frame`, `end_frame`), every run (`new`, `work_per_ns`).
//!
//! Callers: mechanics/report.rs (`counts_from_ns`).
//!
//! Tests: crates/engine/tests/behaviour/measures.rs

use super::steps::Flow;
use super::timers::{PrivateTimers, TimerState};
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::machine::{FULL_SPEED, Machine};
use crate::mechanics::Mechanics;
use crate::observe::{Happening, Observer};
use wakeplace_workload::{Calibration, Event, Series, Since, Workload, Zero};

/// What the threads of the workload share, beside what they wait for, and what they are measured
/// by.
pub(in crate::mechanics) struct Program<'a> {
    pub(super) timers: Vec<TimerState>,
    pub(super) private: PrivateTimers,
    /// Of each counter the next number, and where it ends.
    counters: Vec<(u64, Option<u64>)>,
    series: &'a [Series],
    /// What the workload is measured by counts so long after all tasks exist; None: nothing does.
    warm_up_ns: Option<u64>,
    /// Work units of one ns of the workload's `Run` times.
    pub(super) work_per_ns: u64,
    /// When all tasks exist.
    pub(in crate::mechanics) t_zero_ns: Option<u64>,
}

impl<'a> Program<'a> {
    /// What the workload measures, before the run.
    pub(in crate::mechanics) fn new(workload: &'a Workload, machine: &Machine) -> Self {
        let counters = workload.shared.counters.iter();
        Self {
            timers: workload.timers.iter().map(TimerState::new).collect(),
            private: PrivateTimers::new(workload),
            counters: counters.map(|counter| (0, counter.limit)).collect(),
            series: &workload.series,
            warm_up_ns: workload.count.as_ref().map(|count| count.warm_up_ns),
            work_per_ns: work_per_ns(machine, workload.calibration),
            t_zero_ns: None,
        }
    }

    /// When counting begins, if the workload counts and all its tasks exist.
    pub(in crate::mechanics) fn counts_from_ns(&self) -> Option<u64> {
        Some(self.t_zero_ns? + self.warm_up_ns?)
    }
}

/// Work units of one nanosecond on the calibration CPU at its highest frequency.
fn work_per_ns(machine: &Machine, calibration: Calibration) -> u64 {
    match calibration {
        Calibration::Biggest => FULL_SPEED,
        Calibration::Cpu(cpu) => {
            let speeds = machine.speed.get(cpu as usize);
            speeds
                .and_then(|row| row.last())
                .map_or(FULL_SPEED, |top| *top)
        }
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// Carries out a step that takes no time.
    pub(super) fn measure<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        event: Event,
    ) -> Flow {
        let now = self.clock.now;
        match event {
            Event::Claim { counter } => return self.claim(k, cpu, task, counter),
            Event::ExitAfter { since_start_ns } => {
                let zero = self.zero_ns(task).unwrap_or(0);
                if now >= zero.saturating_add(since_start_ns) {
                    self.exit(k, cpu, task);
                    return Flow::Held;
                }
            }
            Event::Mark => self.threads[task].mark_ns = now,
            Event::Sample { series, since } => self.sample_time(task, series, since),
            Event::FrameBegin { chain } => self.begin_frame(task, chain),
            Event::FrameEnd { chain } => self.end_frame(task, chain),
            Event::Count { units } => self.count_units(task, units),
            _ => unreachable!("`carry_out` hands over no other"),
        }
        Flow::Go
    }

    /// A frame of a chain begins, at the time at which it was due.
    fn begin_frame(&mut self, task: TaskId, chain: u32) {
        let Some(begin_ns) = self.threads[task].frame_due_ns.take() else {
            return;
        };
        self.tell(Happening::FrameBegin {
            task: self.threads.shown(task),
            chain,
            begin_ns,
        });
    }

    /// The task has done its part of a frame.
    fn end_frame(&mut self, task: TaskId, chain: u32) {
        // As many chains as bits: `wakeplace_workload::Deadlines` takes no more.
        let of_chain = 1_u64 << (chain % u64::BITS);
        let thread = &mut self.threads[task];
        if thread.worked_for & of_chain != 0 {
            thread.worked_for &= !of_chain;
            let task = self.threads.shown(task);
            self.tell(Happening::FrameEnd { task, chain });
        }
    }

    /// Where the task's own times begin; None: that is still to come.
    pub(super) fn zero_ns(&self, task: TaskId) -> Option<u64> {
        let thread = &self.threads[task];
        match self.threads.scripts[thread.script as usize].zero {
            Zero::AllStarted => self.program.t_zero_ns,
            Zero::OwnStart => Some(thread.born_ns),
        }
    }

    /// The next number of a counter; without one the thread ends.
    fn claim<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, counter: u32) -> Flow {
        let (next, limit) = &mut self.program.counters[counter as usize];
        if limit.is_some_and(|limit| *next >= limit) {
            self.exit(k, cpu, task);
            return Flow::Held;
        }
        self.threads[task].claimed = *next;
        *next += 1;
        Flow::Go
    }

    /// One value of a series, if its warm-up is over.
    fn sample_time(&mut self, task: TaskId, series: u32, since: Since) {
        let rules = &self.program.series[series as usize];
        let zero = self.program.t_zero_ns.unwrap_or(0);
        if self.clock.now < zero.saturating_add(rules.warm_up_ns) {
            return;
        }
        let thread = &self.threads[task];
        let from_ns = match since {
            Since::Mark => thread.mark_ns,
            Since::Wake => thread.stamp_ns,
        };
        let value = self.clock.now.saturating_sub(from_ns);
        let value = value.saturating_sub(rules.less_ns).max(rules.floor_ns);
        self.tell(Happening::Sample {
            task: self.threads.shown(task),
            series,
            value_ns: value,
        });
    }

    /// Units of what the workload is measured by, if its warm-up is over.
    fn count_units(&mut self, task: TaskId, units: u64) {
        if self
            .program
            .counts_from_ns()
            .is_some_and(|from| self.clock.now >= from)
        {
            self.threads[task].totals.counted += units;
        }
    }
}
