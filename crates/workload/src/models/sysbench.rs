//! What sysbench's tests have in common: threads that take requests until a number or a time is
//! reached, and the latency of each (docs/rules/workloads.md#sysbench).
//!
//! Called by the models of sysbench's tests. Keys and names of metrics stay. Order within an event
//! (time, claim, work, record) is sysbench's.
//!
//! What must stay: the order of an event's steps, and each version's own limits (0.4: 10,000
//! requests; 1.0: 10 s); all threads begin together and the time counts from there. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `a_sysbench_cpu_event_is_claimed_timed_and_counted`
//! (`frame`, `claim`), `sysbench_versions_have_their_own_limits` (`read`),
//! `sysbench_threads_begin_together_at_a_drawn_time` (`finish`),
//! `messaging_and_sysbench_say_what_is_expected` (`read`),
//! models.rs::`sysbench_requests_end_the_threads` and
//! models.rs::`sysbench_cpu_counts_every_event_that_began_in_time` (a run).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::measures::{events_total, record, series};
use super::tasks::{lock, run, unlock};
use super::values::Values;
use super::{MAX_TASKS, ParameterInfo, parameter};
use crate::Stream;
use crate::error::WorkloadError;
use crate::script::{Event, StartLine, Statistic, SysbenchBins, TaskScript, TimeUnit, Workload};

pub(super) const THREADS: ParameterInfo =
    parameter("threads", "1..=100000", "1", "number of threads");
pub(super) const REQUESTS: ParameterInfo = parameter(
    "requests",
    "0..=1000000000000",
    "",
    "events of all threads together, 0: no limit; 10000 for 0.4 and 0 for 1.0 if not given",
);
pub(super) const TIME: ParameterInfo = parameter(
    "time",
    "time (ns, us, ms, s), at most 1000s",
    "",
    "no event begins later than this, 0s: no limit; 0s for 0.4 and 10s for 1.0 if not given",
);
pub(super) const VERSION: ParameterInfo = parameter(
    "version",
    "0.4 or 1.0",
    "0.4",
    "0.4: requests are counted under a mutex; 1.0: without",
);
pub(super) const CLAIM: ParameterInfo = parameter(
    "claim",
    "time (ns, us, ms, s)",
    "100ns",
    "CPU work to take a request, under the mutex in 0.4 (assumed)",
);
pub(super) const START: ParameterInfo = parameter(
    "start",
    "time (ns, us, ms, s)",
    "10ms",
    "sysbench begins at a random time below this (assumed); its threads wait for each other, and \
     `time` counts from the first one's beginning",
);

/// What all sysbench tests can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Common {
    threads: u32,
    requests: Option<u64>,
    time_ns: Option<u64>,
    /// 0.4: a mutex around the count of requests.
    locked: bool,
    claim_ns: u64,
    start_ns: u64,
}

/// A workload of one test, still without its threads.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) builder: Builder,
    /// Steps before an event: may a thread begin one, and which is it.
    pub(super) before: Vec<Event>,
    /// Steps after an event.
    pub(super) after: Vec<Event>,
    threads: u32,
}

impl Common {
    /// Reads the keys above.
    pub(super) fn read(values: &Values<'_>) -> Result<Self, WorkloadError> {
        const MOST_REQUESTS: u64 = 1_000_000_000_000;
        let requests = |values: &Values<'_>, key| values.number(key, 0..=MOST_REQUESTS);
        Ok(Self {
            threads: values.number("threads", 1..=MAX_TASKS)?,
            requests: values.optional("requests", requests)?,
            time_ns: values.optional("time", Values::time_from_zero_ns)?,
            locked: values.word("version", [("0.4", true), ("1.0", false)])?,
            claim_ns: values.time_from_zero_ns("claim")?,
            start_ns: values.time_from_zero_ns("start")?,
        })
    }

    /// Begins a workload. Threads check the time first, then take a request; a running event is
    /// never cut, so the run goes on until the last one is done.
    pub(super) fn frame(&self, argument: &str, seed: u64) -> Frame {
        let mut builder = Builder::new(argument);
        let limit = |given: Option<u64>, old, new| {
            let usual = if self.locked { old } else { new };
            Some(given.unwrap_or(usual)).filter(|limit| *limit > 0)
        };
        let requests = limit(self.requests, 10_000, 0);
        let time_ns = limit(self.time_ns, 0, 10_000_000_000);
        let begin_ns = Stream::for_task(seed, "sysbench").below(self.start_ns);
        builder.start(begin_ns, StartLine::Barrier);
        let counter = builder.counter("requests".to_owned(), requests);
        let bins = match self.locked {
            true => SysbenchBins::V0_4,
            false => SysbenchBins::V1_0,
        };
        let statistics = vec![
            Statistic::Minimum,
            Statistic::Mean,
            Statistic::Maximum,
            Statistic::Sysbench95(bins),
        ];
        let series = builder.series(series("latency", TimeUnit::Milliseconds, statistics));
        builder.count(0, [events_total()]);
        let mut before = Vec::new();
        before.extend(time_ns.map(|ns| Event::ExitAfter { since_start_ns: ns }));
        before.extend(self.claim(&mut builder, counter));
        before.push(Event::Mark);
        Frame {
            builder,
            before,
            after: record(series).to_vec(),
            threads: self.threads,
        }
    }

    /// Takes a request. The claim itself comes after the mutex is free again: a thread that finds
    /// no more requests ends there, and must not end with the mutex in its hands.
    fn claim(&self, builder: &mut Builder, counter: u32) -> Vec<Event> {
        let mut steps = Vec::new();
        steps.extend((self.claim_ns > 0).then_some(run(self.claim_ns)));
        if self.locked {
            let mutex = builder.mutex("request counter".to_owned());
            steps.insert(0, lock(mutex));
            steps.push(unlock(mutex));
        }
        steps.push(Event::Claim { counter });
        steps
    }
}

impl Frame {
    /// The workload of these threads; `task` makes one of its name.
    pub(super) fn finish(mut self, task: impl Fn(String, &Self) -> TaskScript) -> Workload {
        for index in 0..self.threads {
            let task = task(format!("sysbench-{index}"), &self);
            self.builder.task(task);
        }
        self.builder.duration(TO_ITS_END_NS);
        self.builder.finish_as_process()
    }
}
