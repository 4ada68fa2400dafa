//! `tbench`: clients that replay file server operations over loopback TCP, each with a server
//! process of its own (docs/rules/workloads.md#tbench-dbench).
//!
//! Called by `models/mod.rs` for its name. Who waits for whom is the benchmark's. Work follows from
//! bytes, ns at full speed.
//!
//! What must stay: a client waits for each answer before it asks again, and counts bytes of reads
//! and writes behind the answer; all clients replay the same operations. Free: what leaves scripts
//! as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `tbench_clients_are_in_lock_step_with_their_servers` (`pair`),
//! `tbench_costs_follow_the_bytes` (`work`, `expand`, metrics),
//! benchmark_arguments.rs::`the_others_say_what_is_expected` (`load`),
//! models.rs::`tbench_on_one_cpu_is_the_work_of_both` (a run).
//!
//! Tests: crates/workload/tests/all/schbench_tbench.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::measures::mb_per_second;
use super::tasks::{endless, post, run, wait};
use super::tbench_load::{Operation, operations};
use super::values::Values;
use super::{Model, ModelInfo, parameters};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::{Event, StartLine, Workload};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "tbench",
    also: &["tbench4"],
    summary: "clients that each replay file server operations against a process over loopback TCP",
    parameters: parameters! {
        "clients", "1..=2000", "1", "number of clients";
        "run", "time (ns, us, ms, s)", "5us",
            "CPU work of either side per operation, on the biggest CPU (assumed)";
        "per_kib", "time (ns, us, ms, s)", "156ns",
            "more of it per KiB of request and reply (assumed)";
        "time", "time (ns, us, ms, s)", "10s", "length of the test (-t; the benchmark: 600 s)";
        "warmup", "time (ns, us, ms, s)", "",
            "counted from then on; a fifth of `time` if not given";
        GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "throughput_mb_per_s",
    source: "tbench of dbench 4: reads and writes count, 10^6 bytes a MB; the mix as dbench \
             counted it (linux-raid, 2020-05-27)",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tbench {
    clients: u32,
    run_ns: u64,
    per_kib_ns: u64,
    time_ns: u64,
    warm_up_ns: u64,
}

/// Reads `tbench:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    let time_ns = values.time_above_zero_ns("time")?;
    let model = Tbench {
        clients: values.number("clients", 1..=2_000)?,
        run_ns: values.time_above_zero_ns("run")?,
        per_kib_ns: values.time_ns("per_kib", 0..=1_000_000_000)?,
        time_ns,
        warm_up_ns: values
            .optional("warmup", Values::time_from_zero_ns)?
            .unwrap_or(time_ns / 5),
    };
    values.check_warm_up(model.warm_up_ns, time_ns)?;
    grouped(argument, &values, model, |name| {
        name.starts_with("tbench-srv")
    })
}

impl Tbench {
    /// Either side copies both messages once, into or out of the kernel.
    fn work(&self, operation: &Operation) -> Event {
        let bytes = operation.request + operation.reply;
        run(self.run_ns + bytes * self.per_kib_ns / 1_024)
    }

    /// A client and its server, in lock step.
    fn pair(&self, builder: &mut Builder, client: u32, operations: &[Operation]) {
        let request = builder.channel(format!("client {client} to server"), Carrier::Tcp);
        let reply = builder.channel(format!("server to client {client}"), Carrier::Tcp);
        let (mut asks, mut answers) = (Vec::new(), Vec::new());
        for operation in operations {
            let work = self.work(operation);
            asks.extend([work, post(request), wait(reply)]);
            let units = operation.payload;
            asks.extend((units > 0).then_some(Event::Count { units }));
            answers.extend([wait(request), work, post(reply)]);
        }
        builder.task(endless(format!("tbench-{client}"), asks));
        builder.task(endless(format!("tbench-srv-{client}"), answers));
    }
}

impl Model for Tbench {
    /// The scripts. All clients begin at the start of the same list, as the benchmark's begin at
    /// that of the same file.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let operations = operations(seed);
        let mut builder = Builder::new(argument);
        for client in 0..self.clients {
            self.pair(&mut builder, client, &operations);
        }
        builder.count(self.warm_up_ns, [mb_per_second()]);
        builder.duration(self.time_ns);
        builder.start(0, StartLine::Creator { sync: false });
        Ok(builder.finish())
    }
}
