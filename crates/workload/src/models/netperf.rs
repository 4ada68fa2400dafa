//! `netperf-tcp-rr` and `netperf-udp-rr`: pairs of a client and a server that send each other one
//! byte in turn over the loopback device (docs/rules/workloads.md#netperf).
//!
//! Called by `models/mod.rs` for its names. The order of draws stays. Work is ns at full speed,
//! sender's and receiver's apart. Who wakes whom, and sync, is part of the model.
//!
//! What must stay: one transaction is under way per pair, both wake-ups are sync, a client counts a
//! transaction when the answer is there. Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `netperf_pairs_take_turns` (`pair`, `for_ever`, `ready`, `load_tcp`, `load_udp`),
//! `the_others_say_what_is_expected` (`parse`), models.rs::`netperf_on_one_cpu_is_the_work_of_both`
//! and models.rs::`netperf_pairs_scale_while_cpus_are_free` (a run). No test of its own: `launched`
//! and `forked` (`start=shell`). `expand` by the first of these.
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::measures::per_second;
use super::tasks::{DONE, endless, once, phase, post, run, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, ParameterInfo, parameter, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Phase, TaskScript, Workload};
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

const START: ParameterInfo = parameter(
    "start",
    "shell or ready",
    "shell",
    "shell: a script launches one netperf after the other, netserver forks a process for each, and \
     each pair begins at once; ready: all are there and begin together",
);
const SHELL: ParameterInfo = parameter(
    "shell",
    "time from 1us to 1s",
    "200us",
    "CPU time of the script for each netperf, of netserver for each process, and of a netperf \
     before it begins; assumed",
);

/// The catalogue entry of TCP_RR.
pub(crate) const TCP: ModelInfo = ModelInfo {
    name: "netperf-tcp-rr",
    also: &["netperf", "tcp-rr"],
    summary: "pairs of client and server, one request of a byte at a time over loopback TCP",
    parameters: parameters! {
        PAIRS; INSTANCES;
        "client", "time (ns, us, ms, s)", "6us",
            "CPU work of the client per transaction, on the biggest CPU (assumed)";
        "server", "time (ns, us, ms, s)", "6us",
            "CPU work of the server per transaction, on the biggest CPU (assumed)";
        TIME; WARM_UP; START; SHELL; GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "throughput_per_s",
    source: "netperf manual, TCP_RR: 1 byte each way, one transaction outstanding, 10 s",
};

/// The catalogue entry of UDP_RR.
pub(crate) const UDP: ModelInfo = ModelInfo {
    name: "netperf-udp-rr",
    also: &["udp-rr"],
    summary: "pairs of client and server, one request of a byte at a time over loopback UDP",
    parameters: parameters! {
        PAIRS; INSTANCES;
        "client", "time (ns, us, ms, s)", "5us",
            "CPU work of the client per transaction, on the biggest CPU (assumed)";
        "server", "time (ns, us, ms, s)", "5us",
            "CPU work of the server per transaction, on the biggest CPU (assumed)";
        TIME; WARM_UP; START; SHELL; GROUPING; CPU_MAX; CPU_BURST;
    },
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
    carrier: Carrier,
    /// CPU time of each step of the launch; None: all are there at the start.
    shell_ns: Option<u64>,
}

/// Reads `netperf-tcp-rr:key=value,...`.
pub(super) fn load_tcp(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Netperf::parse(argument, &TCP, Carrier::Tcp)
}

/// Reads `netperf-udp-rr:key=value,...`.
pub(super) fn load_udp(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Netperf::parse(argument, &UDP, Carrier::Udp)
}

impl Netperf {
    /// One of the two models from its argument.
    fn parse(
        argument: &str,
        info: &'static ModelInfo,
        carrier: Carrier,
    ) -> Result<Arc<dyn Model>, WorkloadError> {
        let values = Values::read(argument, info)?;
        values.not_both("pairs", "instances", "how many there are")?;
        let number = |values: &Values<'_>, key| values.number(key, 1..=MAX_TASKS / 2);
        let shell_ns = values.time_ns("shell", 1_000..=1_000_000_000)?;
        let model = Self {
            pairs: match values.optional("instances", number)? {
                Some(instances) => instances,
                None => number(&values, "pairs")?,
            },
            client_ns: values.time_above_zero_ns("client")?,
            server_ns: values.time_above_zero_ns("server")?,
            time_ns: values.time_above_zero_ns("time")?,
            warm_up_ns: values.time_from_zero_ns("warmup")?,
            carrier,
            shell_ns: values.word("start", [("shell", Some(shell_ns)), ("ready", None)])?,
        };
        values.check_warm_up(model.warm_up_ns, model.time_ns)?;
        grouped(argument, &values, model, |name| {
            name.starts_with("netserver")
        })
    }

    /// All pairs at the start. Where within a transaction a pair begins is drawn from its client's
    /// stream: instances do not run in step.
    fn ready(&self, builder: &mut Builder, seed: u64) {
        for pair in 0..self.pairs {
            let name = format!("netperf-{pair}");
            let delay_ns = Stream::for_task(seed, &name).below(self.client_ns + self.server_ns);
            let [client, server] = self.pair(builder, pair);
            builder.task(TaskScript {
                delay_ns,
                ..endless(name, client)
            });
            builder.task(endless(format!("netserver-{pair}"), server));
        }
    }

    /// A shell that forks the clients one after the other. Each runs its program (exec), connects,
    /// and begins; for the n-th connection netserver forks the n-th server. The shell's times are
    /// drawn between half of it and one and a half.
    fn launched(&self, builder: &mut Builder, seed: u64, step_ns: u64) {
        let connect = builder.channel("connections".to_owned(), Carrier::Word);
        let clients = 2..2 + self.pairs;
        let mut stream = Stream::for_task(seed, "shell");
        let launch = clients.clone().flat_map(|task| {
            let step = run(step_ns / 2 + stream.below(step_ns));
            [step, Event::Fork { task }]
        });
        let launch: Vec<Event> = launch.collect();
        builder.task(once("shell".to_owned(), vec![phase("launch", 1, launch)]));
        let serve = (clients.end..clients.end + self.pairs)
            .flat_map(|task| [wait(connect), run(step_ns), Event::Fork { task }]);
        let serve: Vec<Event> = serve.collect();
        builder.task(once(
            "netserver".to_owned(),
            vec![phase("accept", 1, serve)],
        ));
        let mut servers = Vec::new();
        for pair in 0..self.pairs {
            let [client, server] = self.pair(builder, pair);
            let begin = phase("begin", 1, [Event::Exec, run(step_ns), post(connect)]);
            let name = format!("netperf-{pair}");
            builder.task(forked(name, vec![begin, for_ever(client)]));
            servers.push(forked(format!("netserver-{pair}"), vec![for_ever(server)]));
        }
        for server in servers {
            builder.task(server);
        }
    }

    /// The steps of a client and of its server, over and over. Sending does all the work of both
    /// sides of the stack up to the wake-up, in the sender's context, and the wake-up is sync.
    fn pair(&self, builder: &mut Builder, pair: u32) -> [Vec<Event>; 2] {
        let request = builder.channel(format!("pair {pair} to server"), self.carrier);
        let reply = builder.channel(format!("pair {pair} to client"), self.carrier);
        let client = vec![run(self.client_ns), post(request), wait(reply), DONE];
        let server = vec![wait(request), run(self.server_ns), post(reply)];
        [client, server]
    }
}

/// A phase that is repeated without end.
fn for_ever(events: Vec<Event>) -> Phase {
    Phase {
        loops: Loops::Forever,
        ..phase("loop", 1, events)
    }
}

/// A task that its parent forks once.
fn forked(name: String, phases: Vec<Phase>) -> TaskScript {
    TaskScript {
        forks: Some(1),
        ..once(name, phases)
    }
}

impl Model for Netperf {
    /// The scripts.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        match self.shell_ns {
            Some(step_ns) => self.launched(&mut builder, seed, step_ns),
            None => self.ready(&mut builder, seed),
        }
        builder.count(self.warm_up_ns, [per_second()]);
        builder.duration(self.time_ns);
        Ok(builder.finish())
    }
}
