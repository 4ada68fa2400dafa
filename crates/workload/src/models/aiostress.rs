//! `aiostress`: one thread that submits batches of asynchronous requests and waits for them
//! (docs/rules/workloads.md#other-benchmarks).
//!
//! Called by `models/mod.rs` for its name. The order of draws stays. Times are ns; what a request
//! takes is assumed as the page says.
//!
//! What must stay: a batch is over when its slowest request is; each batch counts its bytes. Free:
//! what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `aiostress_waits_for_the_slowest_of_a_batch`
//! (`batch`, `expand`), `coarse_models_say_so_and_draw_by_the_seed` (draws),
//! `wrong_values_say_their_range` (`load`), played.rs::`the_other_models_take_their_costs` (a
//! batch's time).
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::Builder;
use super::draw::Spread;
use super::measures::mb_per_second;
use super::tasks::endless;
use super::values::Values;
use super::work::{Share, work};
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "aiostress",
    also: &["aio-stress"],
    summary: "coarse: one thread that submits batches of requests and sleeps until the last one of \
              a batch is done",
    parameters: parameters! {
        "batch", "1..=1024", "8", "requests of a batch; assumed";
        "io", "times, 1us to 10s", "5ms-10ms",
            "time a request takes the disk, drawn; assumed as of sysbench-fileio";
        "submit", "times, 1us to 1s", "5us-10us",
            "CPU time to submit a request, drawn, on the biggest CPU; assumed";
        "reap", "times, 1us to 1s", "2us-5us",
            "CPU time to take a completed request, drawn; assumed";
        "warmup", "time from 0ns to 1000s", "500ms", "data counts from then on; assumed";
    },
    metric: "throughput_mb_per_s",
    source: "aio-stress: structure of docs/rules/workloads.md#other-benchmarks; its unit, \
             MB of 10^6 bytes in requests of 64 KiB",
};

/// Batches that the thread draws; it repeats them over and over.
const CYCLE: usize = 64;

/// Bytes of a request (aio-stress's record size): assumed.
const REQUEST_BYTES: u64 = 65_536;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AioStress {
    batch: u32,
    io: Spread,
    submit: Spread,
    reap: Spread,
    warm_up_ns: u64,
}

/// Reads `aiostress:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    const RUN_NS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;
    let values = Values::read(argument, &INFO)?;
    Ok(Arc::new(AioStress {
        batch: values.number("batch", 1..=1_024)?,
        io: values.times("io", 1_000..=10_000_000_000)?,
        submit: values.times("submit", RUN_NS)?,
        reap: values.times("reap", RUN_NS)?,
        warm_up_ns: values.time_from_zero_ns("warmup")?,
    }))
}

impl AioStress {
    /// A batch: all are submitted, one interrupt for the slowest wakes the thread, all are taken.
    fn batch(&self, stream: &mut Stream) -> Vec<Event> {
        let mut total = |each: Spread| (0..self.batch).map(|_| each.draw(stream)).sum();
        let mut events = work(total(self.submit), Share::NONE);
        let reap = work(total(self.reap), Share::NONE);
        let slowest = (0..self.batch).map(|_| self.io.draw(stream)).max();
        let duration_ns = slowest.unwrap_or(0);
        events.push(Event::Io { duration_ns });
        events.extend(reap);
        let units = u64::from(self.batch) * REQUEST_BYTES;
        events.push(Event::Count { units });
        events
    }
}

impl Model for AioStress {
    /// The script. Batches are drawn for a cycle, which is then repeated.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let name = "aiostress".to_owned();
        let mut stream = Stream::for_task(seed, &name);
        let batches = (0..CYCLE).flat_map(|_| self.batch(&mut stream));
        let mut builder = Builder::new(argument);
        builder.task(endless(name, batches.collect::<Vec<_>>()));
        builder.count(self.warm_up_ns, [mb_per_second()]);
        Ok(builder.finish())
    }
}
