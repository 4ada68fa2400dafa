//! `netperf-tcp-rr` and `netperf-udp-rr`: pairs of a client and a server that send each other one
//! byte in turn over the loopback device.
use super::builder::Builder;
use super::measures::per_second;
use super::tasks::{DONE, endless, post, run, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, ParameterInfo, parameter};
use crate::error::WorkloadError;
use crate::script::{TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

const PAIRS: ParameterInfo = parameter(
    "pairs",
    "1..=50000",
    "1",
    "number of independent pairs of a client and its server",
);
const INSTANCES: ParameterInfo = parameter(
    "instances",
    "1..=50000",
    "",
    "netperf processes that run at the same time: the same as `pairs`",
);
const TIME: ParameterInfo = parameter(
    "time",
    "time (ns, us, ms, s)",
    "10s",
    "length of the test (-l)",
);
const WARM_UP: ParameterInfo = parameter(
    "warmup",
    "time (ns, us, ms, s)",
    "0s",
    "transactions count from then on (the benchmark counts from the start)",
);

/// The catalogue entry of TCP_RR.
pub(crate) const TCP: ModelInfo = ModelInfo {
    name: "netperf-tcp-rr",
    summary: "pairs of client and server, one request of a byte at a time over loopback TCP",
    parameters: &[
        PAIRS,
        INSTANCES,
        parameter(
            "client",
            "time (ns, us, ms, s)",
            "6us",
            "CPU work of the client per transaction, on the biggest CPU (assumed)",
        ),
        parameter(
            "server",
            "time (ns, us, ms, s)",
            "6us",
            "CPU work of the server per transaction, on the biggest CPU (assumed)",
        ),
        TIME,
        WARM_UP,
    ],
    metric: "throughput_per_s",
    source: "netperf manual, TCP_RR: 1 byte each way, one transaction outstanding, 10 s",
};

/// The catalogue entry of UDP_RR.
pub(crate) const UDP: ModelInfo = ModelInfo {
    name: "netperf-udp-rr",
    summary: "pairs of client and server, one request of a byte at a time over loopback UDP",
    parameters: &[
        PAIRS,
        INSTANCES,
        parameter(
            "client",
            "time (ns, us, ms, s)",
            "5us",
            "CPU work of the client per transaction, on the biggest CPU (assumed)",
        ),
        parameter(
            "server",
            "time (ns, us, ms, s)",
            "5us",
            "CPU work of the server per transaction, on the biggest CPU (assumed)",
        ),
        TIME,
        WARM_UP,
    ],
    metric: "throughput_per_s",
    source: "netperf manual, UDP_RR: 1 byte each way, one transaction outstanding, 10 s",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Netperf {
    pairs: u32,
    client_ns: u64,
    server_ns: u64,
    time_ns: u64,
    warm_up_ns: u64,
}

/// Reads `netperf-tcp-rr:key=value,...`.
pub(super) fn load_tcp(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Netperf::parse(argument, &TCP)
}

/// Reads `netperf-udp-rr:key=value,...`.
pub(super) fn load_udp(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Netperf::parse(argument, &UDP)
}

impl Netperf {
    fn parse(argument: &str, info: &'static ModelInfo) -> Result<Arc<dyn Model>, WorkloadError> {
        let values = Values::read(argument, info)?;
        values.not_both("pairs", "instances", "how many there are")?;
        let number = |values: &Values<'_>, key| values.number(key, 1..=MAX_TASKS / 2);
        let model = Self {
            pairs: match values.optional("instances", number)? {
                Some(instances) => instances,
                None => number(&values, "pairs")?,
            },
            client_ns: values.time_above_zero_ns("client")?,
            server_ns: values.time_above_zero_ns("server")?,
            time_ns: values.time_above_zero_ns("time")?,
            warm_up_ns: values.time_from_zero_ns("warmup")?,
        };
        values.check_warm_up(model.warm_up_ns, model.time_ns)?;
        Ok(Arc::new(model))
    }

    fn pair(&self, builder: &mut Builder, pair: u32, seed: u64) {
        let request = builder.channel(format!("pair {pair} to server"));
        let reply = builder.channel(format!("pair {pair} to client"));
        let client = [run(self.client_ns), post(request), wait(reply), DONE];
        let server = [wait(request), run(self.server_ns), post(reply)];
        let name = format!("netperf-{pair}");
        let delay_ns = Stream::for_task(seed, &name).below(self.client_ns + self.server_ns);
        builder.task(TaskScript {
            delay_ns,
            ..endless(name, client)
        });
        builder.task(endless(format!("netserver-{pair}"), server));
    }
}

impl Model for Netperf {
    /// The scripts. Where within a transaction a pair begins is drawn from its client's stream:
    /// instances do not run in step. Sending does all the work of both sides of the stack up to the
    /// wake-up, in the sender's context, and the wake-up is sync.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        for pair in 0..self.pairs {
            self.pair(&mut builder, pair, seed);
        }
        builder.count(self.warm_up_ns, [per_second()]);
        builder.duration(self.time_ns);
        Ok(builder.finish())
    }
}
