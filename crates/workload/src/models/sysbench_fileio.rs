//! `sysbench-fileio`: threads that each wait for the disk and run a little, over and over
//! (docs/rules/workloads.md#sysbench).
//!
//! Called by `models/mod.rs` for its name. The order of draws stays. Times of the disk are assumed.
//!
//! What must stay: an event is a wait for the disk and then a run, and it counts at the run's end.
//! Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `fileio_threads_wait_and_run` (`thread`, `expand`),
//! `coarse_models_say_so_and_draw_by_the_seed` (draws), `wrong_values_say_their_range` (`load`),
//! played.rs::`the_other_models_take_their_costs` (requests and time as ends).
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::draw::Spread;
use super::measures::{events_total, per_second, record, sysbench_latency};
use super::parse::MAX_TIME_NS;
use super::tasks::endless;
use super::values::Values;
use super::work::{Share, work};
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "sysbench-fileio",
    also: &["fileio", "fio"],
    summary: "coarse: threads that wait for the disk and run a little; the disk serves all at once",
    parameters: parameters! {
        "threads", "1..=10000", "16", "number of threads";
        "io", "times, 1us to 10s", "5ms-10ms", "time a request waits for the disk, drawn";
        "run", "times, 1us to 1s", "10us-50us", "CPU time per request, drawn, on the biggest CPU";
        "requests", "1..=1000000000", "10000", "requests of all threads together";
        "time", "time from 1ms to 1000s", "1000s", "no request is begun after this time";
    },
    metric: "throughput_per_s",
    source: "sysbench 0.4 fileio, cfq; structure and ranges of \
             docs/rules/workloads.md#sysbench and docs/rules/workloads.md#other-benchmarks",
};

/// Requests that a thread draws; it repeats them over and over.
const CYCLE: usize = 64;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SysbenchFileio {
    threads: u32,
    io: Spread,
    run: Spread,
    requests: u32,
    time_ns: u64,
}

/// Reads `sysbench-fileio:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    Ok(Arc::new(SysbenchFileio {
        threads: values.number("threads", 1..=10_000)?,
        io: values.times("io", 1_000..=10_000_000_000)?,
        run: values.times("run", 1_000..=1_000_000_000)?,
        requests: values.number("requests", 1..=1_000_000_000)?,
        time_ns: values.time_ns("time", 1_000_000..=MAX_TIME_NS)?,
    }))
}

impl SysbenchFileio {
    /// sysbench's loop: is there time and a request left; do it; record its latency.
    fn thread(&self, name: String, seed: u64, counter: u32, series: u32) -> TaskScript {
        let mut stream = Stream::for_task(seed, &name);
        let mut events = Vec::new();
        for _ in 0..CYCLE {
            let since_start_ns = self.time_ns;
            events.push(Event::ExitAfter { since_start_ns });
            events.extend([Event::Claim { counter }, Event::Mark]);
            let duration_ns = self.io.draw(&mut stream);
            events.push(Event::Io { duration_ns });
            events.extend(work(self.run.draw(&mut stream), Share::NONE));
            events.extend(record(series));
        }
        endless(name, events)
    }
}

impl Model for SysbenchFileio {
    /// The scripts: threads that share one count of requests.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let requests = u64::from(self.requests);
        let counter = builder.counter("requests".to_owned(), Some(requests));
        let series = builder.series(sysbench_latency(0));
        for n in 0..self.threads {
            builder.task(self.thread(format!("fileio-{n}"), seed, counter, series));
        }
        builder.count(0, [events_total(), per_second()]);
        builder.duration(TO_ITS_END_NS);
        Ok(builder.finish_as_process())
    }
}
