//! `dbench`: clients that replay a mix of operations on files
//! (docs/rules/workloads.md#tbench-dbench).
//!
//! Called by `models/mod.rs` for its name. The order of draws stays. Shares of operations are the
//! page's; times of the disk are assumed.
//!
//! What must stay: shares of operations are exact within a cycle; only data operations count, by
//! bytes. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `dbench_cycles_have_their_shares`
//! (`counts`, `client`), `coarse_models_say_so_and_draw_by_the_seed` (draws by the client's
//! stream), `wrong_values_say_their_range` (`load`), played.rs::`the_other_models_take_their_costs`
//! (a cycle's time). `expand` by the first of these.
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::Builder;
use super::draw::{Spread, shuffle};
use super::measures::mb_per_second;
use super::tasks::endless;
use super::values::Values;
use super::work::{Share, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{Model, ModelInfo, fault, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, StartLine, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "dbench",
    also: &["dbench4"],
    summary: "coarse: clients that each repeat a cycle of operations on files, some of which wait \
              for the disk",
    parameters: parameters! {
        "clients", "1..=10000", "8", "number of clients";
        "ops", "10..=10000", "100", "operations that a client draws and repeats; assumed";
        "data", "0%..=100%", "50%", "share of operations that read or write 64 KiB; assumed";
        "flush", "0%..=100%", "2%", "share of operations that wait for the disk; assumed";
        "meta_run", "times, 1us to 100ms", "5us-20us",
            "CPU time of an operation on names, and of a flush, drawn, on the biggest CPU; \
             assumed";
        "data_run", "times, 1us to 100ms", "20us-40us",
            "CPU time of an operation on 64 KiB, drawn; assumed";
        "io", "times, 1us to 10s", "5ms-10ms",
            "time a flush waits for the disk, drawn; assumed as of sysbench-fileio";
        "memory", "0%..=100%", "50%",
            "share of an operation's CPU time on 64 KiB that waits for memory; assumed";
        WORKING_SET;
        "warmup", "time from 0ns to 1000s", "500ms",
            "data counts from then on (the benchmark: a fifth of its time)";
    },
    metric: "throughput_mb_per_s",
    source: "dbench: operations of docs/rules/workloads.md#tbench-dbench; its unit, \
             MB of 10^6 bytes read or written",
};

/// Bytes of one operation on data (docs/rules/workloads.md#tbench-dbench).
const BLOCK_BYTES: u64 = 65_536;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dbench {
    clients: u32,
    ops: u32,
    data: Share,
    flush: Share,
    meta_run: Spread,
    data_run: Spread,
    io: Spread,
    memory: Share,
    warm_up_ns: u64,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Meta,
    Data,
    Flush,
}

/// Reads `dbench:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    const RUN_NS: std::ops::RangeInclusive<u64> = 1_000..=100_000_000;
    let values = Values::read(argument, &INFO)?;
    let model = Dbench {
        clients: values.number("clients", 1..=10_000)?,
        ops: values.number("ops", 10..=10_000)?,
        data: values.share("data")?,
        flush: values.share("flush")?,
        meta_run: values.times("meta_run", RUN_NS)?,
        data_run: values.times("data_run", RUN_NS)?,
        io: values.times("io", 1_000..=10_000_000_000)?,
        memory: values.share("memory")?,
        warm_up_ns: values.time_from_zero_ns("warmup")?,
    };
    let (data, flush) = model.counts();
    if data + flush > u64::from(model.ops) {
        let message = "`data` and `flush` are more than all operations";
        let expected = "at most 100% together";
        return Err(fault(argument, message).expected(expected).into());
    }
    if u64::from(model.clients) * u64::from(model.ops) > MAX_STEPS {
        let message = "`clients` times `ops` is too much to keep";
        let expected = format!("at most {MAX_STEPS}");
        return Err(fault(argument, message).expected(expected).into());
    }
    Ok(Arc::new(with_sets(&values, model)?))
}

/// Operations of all clients' cycles: a bound on memory.
const MAX_STEPS: u64 = 2_000_000;

impl Dbench {
    /// Operations of a cycle on data, and those that wait for the disk.
    fn counts(&self) -> (u64, u64) {
        let ops = u64::from(self.ops);
        (self.data.of(ops), self.flush.of(ops))
    }

    /// One client: its operations in an order of its own.
    fn client(&self, name: String, seed: u64) -> TaskScript {
        let (data, flush) = self.counts();
        let meta = u64::from(self.ops) - data - flush;
        let all = [(Op::Data, data), (Op::Flush, flush), (Op::Meta, meta)];
        let all = all
            .iter()
            .flat_map(|(op, n)| std::iter::repeat_n(*op, *n as usize));
        let mut ops: Vec<Op> = all.collect();
        let mut stream = Stream::for_task(seed, &name);
        shuffle(&mut ops, &mut stream);
        let mut events = Vec::new();
        for op in ops {
            if op == Op::Data {
                events.extend(work(self.data_run.draw(&mut stream), self.memory));
                events.push(Event::Count { units: BLOCK_BYTES });
                continue;
            }
            events.extend(work(self.meta_run.draw(&mut stream), Share::NONE));
            if op == Op::Flush {
                let duration_ns = self.io.draw(&mut stream);
                events.push(Event::Io { duration_ns });
            }
        }
        endless(name, events)
    }
}

impl Model for Dbench {
    /// The scripts: so many clients, released together by their creator.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        for n in 0..self.clients {
            builder.task(self.client(format!("dbench-{n}"), seed));
        }
        builder.count(self.warm_up_ns, [mb_per_second()]);
        builder.start(0, StartLine::Creator { sync: false });
        Ok(builder.finish())
    }
}
