//! A workload while it is put together. Numbers of what tasks share are given out here alone: a
//! step that names one comes after it (docs/guide/workloads.md).
//!
//! Called by all models. The order of calls is the order of indices and of creation: it stays
//! within a model, as results depend on it.
//!
//! What must stay: an index is given out once and in the order of calls; no list loses or reorders
//! its members, as steps name them by index. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `messaging_channels_are_as_large_as_the_kernels` (`limited_channel`),
//! `sysbench_threads_begin_together_at_a_drawn_time` (`start`),
//! `a_sysbench_cpu_event_is_claimed_timed_and_counted` (`mutex`, `counter`, `series`, `count`),
//! `cyclictest_threads_have_their_intervals` (`timer`, `duration`),
//! coarse_models.rs::`specjbb_stops_its_warehouses` (`handed_mutex`, `barrier`),
//! coarse_models.rs::`oltp_transactions_are_statements` (`mutexes`),
//! coarse_models.rs::`oltp_writers_of_the_log_release_all` (`condition`),
//! shell.rs::`programs_share_nothing_but_their_measures` (`adopt`, `counted`),
//! sysbench_memory.rs::`the_scope_says_whose_the_block_is` (`shared_set`). `new`, `channel`,
//! `task`, `finish` and `push`: all of these; `finish_as_process` has no test of its own.
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/shell.rs,
//! crates/workload/src/models/sysbench_memory.rs
use super::adopt::{Line, Program, adopt};
use super::carrier::Carrier;
use crate::script::{
    Barrier, Calibration, Channel, Condition, Count, Counter, Figure, Limit, Mutex, Series, Shared,
    SharedSet, Start, StartLine, TaskScript, Timer, Workload,
};

/// Length of a run that ends when its tasks do: an hour, which none of them comes near.
pub(crate) const TO_ITS_END_NS: u64 = 3_600_000_000_000;

/// A workload while it is put together. What tasks share is named by the index that `Event`s take.
#[derive(Debug)]
pub(crate) struct Builder(Workload);

impl Builder {
    /// A workload without anything.
    pub(crate) fn new(argument: &str) -> Self {
        Self(Workload {
            name: argument.to_owned(),
            calibration: Calibration::Biggest,
            tasks: Vec::new(),
            start: Start::default(),
            timers: Vec::new(),
            shared: Shared::default(),
            series: Vec::new(),
            count: None,
            groups: Vec::new(),
            duration_ns: None,
            cpu_dma_latency_us: None,
            wakeups_unknown: false,
            recorded_run_ns: None,
            chains: Vec::new(),
            seed: 0,
            no_periods: false,
            unmodelled: Vec::new(),
        })
    }

    /// A channel without a limit that holds nothing at the start.
    pub(crate) fn channel(&mut self, name: String, carrier: Carrier) -> u32 {
        let channel = Channel {
            name,
            lines: carrier.lines(),
            ..Channel::default()
        };
        push(&mut self.0.shared.channels, channel)
    }

    /// A channel that takes no more than this, and holds nothing at the start.
    pub(crate) fn limited_channel(&mut self, name: String, limit: Limit, carrier: Carrier) -> u32 {
        let channel = self.channel(name, carrier);
        self.0.shared.channels[channel as usize].limit = Some(limit);
        channel
    }

    /// An ordinary mutex.
    pub(crate) fn mutex(&mut self, name: String) -> u32 {
        let inherit = false;
        push(&mut self.0.shared.mutexes, Mutex { name, inherit })
    }

    /// So many ordinary mutexes one after the other; the first of them.
    pub(crate) fn mutexes(&mut self, number: u32, name: impl Fn(u32) -> String) -> u32 {
        let first = self.0.shared.mutexes.len() as u32;
        for index in 0..number {
            self.mutex(name(index));
        }
        first
    }

    /// A mutex that is handed over to who waits for it, in order.
    pub(crate) fn handed_mutex(&mut self, name: String) -> u32 {
        let inherit = true;
        push(&mut self.0.shared.mutexes, Mutex { name, inherit })
    }

    /// A condition that tasks wait for.
    pub(crate) fn condition(&mut self, name: String) -> u32 {
        push(&mut self.0.shared.conditions, Condition { name })
    }

    /// A rendezvous of so many.
    pub(crate) fn barrier(&mut self, name: String, parties: u64) -> u32 {
        push(&mut self.0.shared.barriers, Barrier { name, parties })
    }

    /// A counter; None: without an end.
    pub(crate) fn counter(&mut self, name: String, limit: Option<u64>) -> u32 {
        push(&mut self.0.shared.counters, Counter { name, limit })
    }

    /// Data that several threads go over.
    pub(crate) fn shared_set(&mut self, set: SharedSet) -> u32 {
        push(&mut self.0.shared.sets, set)
    }

    /// Times to measure.
    pub(crate) fn series(&mut self, series: Series) -> u32 {
        push(&mut self.0.series, series)
    }

    /// A timer.
    pub(crate) fn timer(&mut self, timer: Timer) -> u32 {
        push(&mut self.0.timers, timer)
    }

    /// The next thread in the order of creation.
    pub(crate) fn task(&mut self, task: TaskScript) -> u32 {
        push(&mut self.0.tasks, task)
    }

    /// A whole workload as a program of this one.
    pub(crate) fn adopt(
        &mut self,
        program: Workload,
        name: &str,
        joined: u32,
    ) -> Result<Program, &'static str> {
        let line = Line::of(&program, name, self);
        adopt(&mut self.0, program, line, name, joined)
    }

    /// What is counted so far.
    pub(crate) fn counted(&mut self) -> Option<&mut Count> {
        self.0.count.as_mut()
    }

    /// How the threads come into being.
    pub(crate) fn start(&mut self, at_ns: u64, line: StartLine) {
        self.0.start = Start { at_ns, line };
    }

    /// What `Event::Count` counts.
    pub(crate) fn count(&mut self, warm_up_ns: u64, figures: impl Into<Vec<Figure>>) {
        let figures = figures.into();
        self.0.count = Some(Count {
            warm_up_ns,
            figures,
        });
    }

    /// The length that the workload itself asks for.
    pub(crate) fn duration(&mut self, duration_ns: u64) {
        self.0.duration_ns = Some(duration_ns);
    }

    /// The workload; its tasks are threads of one process.
    pub(crate) fn finish_as_process(mut self) -> Workload {
        for task in &mut self.0.tasks {
            task.attributes.process = Some(0);
        }
        self.0
    }

    /// The workload.
    pub(crate) fn finish(self) -> Workload {
        self.0
    }
}

/// Appends; the index. Bounded by the arguments, all far below 2^32.
fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    (list.len() - 1) as u32
}
