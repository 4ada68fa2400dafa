//! Steps that count, measure, or end the thread. None of them takes time (docs/guide/workloads.md,
//! "Work").
//!
//! What must stay: values are ns, counted from the workload's time zero and its warm-up. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `samples_are_exact`, `one_signal_has_one_stamp`,
//! `frames_begin_when_due_and_end_with_the_last_task` and
//! `frames_of_recordings_count_from_the_wake_up` (frames), `passes_are_told`,
//! forking.rs::`a_counter_ends_its_threads` (`claim`),
//! channels.rs::`nothing_is_counted_within_the_warm_up`. By function: `samples_are_exact`
//! (`measure`, `sample_time`, `zero_ns`), channels.rs::`nothing_is_counted_within_the_warm_up`
//! (`count_units`, `counts_from_ns`), `frames_begin_when_due_and_end_with_the_last_task`
//! (`begin_frame`, `end_frame`), `a_frame_is_of_a_whole_chain` (`is_whole`),
//! crates/cli/tests/all/round_trip.rs::`frames_come_back` (`sleeps_by_timer`), every run (`new`,
//! `work_per_ns`).
//!
//! Callers: mechanics/report.rs (`counts_from_ns`).
//!
//! Tests: crates/engine/tests/behaviour/measures.rs,
//! crates/cli/tests/all/round_trip.rs::frames_come_back

use super::steps::Flow;
use super::timers::{PrivateTimers, TimerState};
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::machine::{FULL_SPEED, Machine};
use crate::mechanics::Mechanics;
use crate::observe::{Happening, Observer};
use std::collections::BTreeMap;
use wakeplace_workload::{
    Calibration, ChainTasks, Event, Series, Since, Workload, Zero, chain_tasks,
};

/// A recorded task that has worked so much has begun, ns of the fastest CPU. Assumed: starting up
/// and waiting for the others takes less (docs/guide/traces-in.md#frames).
const BIRTH_NS: u64 = 100_000;

/// What the threads of the workload share, beside what they wait for, and what they are measured
/// by.
pub(in crate::mechanics) struct Program<'a> {
    pub(super) timers: Vec<TimerState>,
    pub(super) private: PrivateTimers,
    /// Of each counter the next number, and where it ends.
    counters: Vec<(u64, Option<u64>)>,
    series: &'a [Series],
    /// By script that begins frames when they are due: the tasks that take part in them.
    chains: BTreeMap<u32, ChainTasks>,
    /// It is a recording.
    recorded: bool,
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
            chains: chain_tasks(workload),
            recorded: workload.no_periods,
            warm_up_ns: workload.count.as_ref().map(|count| count.warm_up_ns),
            work_per_ns: work_per_ns(machine, workload.calibration),
            t_zero_ns: None,
        }
    }

    /// The time at which counting begins, if the workload counts and all its tasks exist.
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
            Event::FrameBegin { chain, woken } => self.begin_frame(task, chain, woken),
            Event::FrameEnd { chain, frame } => self.end_frame(task, chain, frame),
            Event::Count { units } => self.count_units(task, units),
            _ => unreachable!("`carry_out` hands over no other"),
        }
        Flow::Go
    }

    /// Begins a frame of a chain: at the time at which it was due, if the whole chain takes part;
    /// or so long after the task was woken.
    fn begin_frame(&mut self, task: TaskId, chain: u32, woken: Option<i32>) {
        let thread = &mut self.threads[task];
        let begin_ns = match woken {
            Some(after_ns) => Some(thread.stamp_ns.saturating_add_signed(after_ns.into())),
            None => {
                let due_ns = thread.frame_due_ns.take();
                due_ns.filter(|_| self.is_whole(task))
            }
        };
        let Some(begin_ns) = begin_ns else {
            return;
        };
        self.tell(Happening::FrameBegin {
            task: self.threads.shown(task),
            chain,
            begin_ns,
        });
    }

    /// Every task of the chain whose frames this one begins has begun and has not ended, and is in
    /// no sleep as long as the deadline: that is a rest, and no frame of the chain could be in time
    /// with it.
    fn is_whole(&self, first: TaskId) -> bool {
        let Some(chain) = self.program.chains.get(&self.threads[first].script) else {
            return true;
        };
        let now = self.clock.now;
        chain.scripts.iter().all(|script| {
            if self.threads.scripts[*script as usize].forks.is_some() {
                return self.threads.made[*script as usize] > 0;
            }
            let thread = &self.threads[TaskId(*script)];
            let rests = now < thread.rest_end_ns && thread.rest_ns >= chain.deadline_ns;
            thread.started && thread.is_there() && !rests
        })
    }

    /// Notes that the task waits for a timer, which in a recording stands for a sleep. One that has
    /// hardly worked before has not begun: it waited with others for the start, and then for its
    /// time.
    pub(super) fn sleeps_by_timer(&mut self, task: TaskId, due_ns: u64) {
        if !self.program.recorded {
            return;
        }
        let asleep_ns = due_ns.saturating_sub(self.clock.now);
        let thread = &mut self.threads[task];
        let has_begun = thread.work > u128::from(BIRTH_NS * FULL_SPEED);
        let rest_ns = if has_begun { asleep_ns } else { u64::MAX };
        (thread.rest_ns, thread.rest_end_ns) = (rest_ns, due_ns);
    }

    /// Notes that the task has done its part of a frame.
    fn end_frame(&mut self, task: TaskId, chain: u32, frame: Option<u32>) {
        // As many chains as bits: `wakeplace_workload::Deadlines` takes no more.
        let of_chain = 1_u64 << (chain % u64::BITS);
        let thread = &mut self.threads[task];
        if frame.is_some() || thread.worked_for & of_chain != 0 {
            thread.worked_for &= !of_chain;
            let task = self.threads.shown(task);
            self.tell(Happening::FrameEnd { task, chain, frame });
        }
    }

    /// The time from which the task's own times count; None: that is still to come.
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
