//! `messaging`: groups in which every sender writes to every receiver, as hackbench and `perf bench
//! sched messaging` do (docs/rules/workloads.md#messaging).
//!
//! Called by `models/mod.rs` for its name. Order of creation is the benchmark's (receivers first),
//! and the order in which senders write is by number. Work per message is assumed and ns at full
//! speed.
//!
//! What must stay: as many senders as receivers per group, receivers created first, each sender
//! writes to all receivers in turn; channels are as large as the kernel's; wake-ups are sync. Free:
//! what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `messaging_has_the_benchmarks_totals` (`expand`),
//! `messaging_creates_receivers_first_and_writes_to_all_in_turn` (`group`, `task`),
//! `messaging_channels_are_as_large_as_the_kernels` (`limit`, `carrier`),
//! `messaging_costs_depend_on_channel_and_address_space` (`usual_work_ns`),
//! `messaging_and_sysbench_say_what_is_expected` (`parse`),
//! models.rs::`messaging_on_one_cpu_is_its_messages` and
//! models.rs::`messaging_on_more_cpus_is_the_same_work` (a run), all (`load`).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::carrier::Carrier;
use super::draw::begin_ns;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::tasks::{once, phase, post, run, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, fault, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Limit, StartLine, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "messaging",
    also: &["hackbench", "sched-messaging", "perf-bench-sched-messaging"],
    summary: "groups of senders and receivers, each sender writes to every receiver of its group",
    parameters: parameters! {
        "groups" also ["g"], "1..=2500", "10", "number of groups";
        "loops" also ["l"], "1..=1000000000", "100", "messages from each sender to each receiver";
        "fds" also ["f"], "1..=100", "20", "senders of a group, and as many receivers";
        "tasks" also ["threads", "T"], "process or thread", "process",
            "process: 250 ns more for each message at either end, if `send` and `receive` do not \
             say otherwise (assumed)";
        "via" also ["pipe", "p"], "socket or pipe", "socket",
            "a receiver's channel: a pair of unix sockets, 277 messages, or a pipe, 640 messages";
        "send", "time (ns, us, ms, s)", "",
            "CPU work to write a message, on the biggest CPU; 1us for a pipe, 1500ns for a socket \
             if not given (assumed)";
        "receive", "time (ns, us, ms, s)", "",
            "CPU work to read a message, on the biggest CPU; as `send` if not given";
        "writers", "all or first", "all",
            "who wakes when a full channel has room; pipes of Linux 5.6 and later: first";
        "release", "time (ns, us, ms, s)", "0us",
            "each task begins at a random time below this after it was released; the benchmark's \
             begin at once";
        GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "runtime_s",
    source: "perf sched-messaging.c and hackbench of rt-tests: 40 tasks and 400 messages x loops \
             per group of 20 fds",
};

/// Bytes of a message.
const MESSAGE_BYTES: u64 = 100;
/// A pipe has 16 pages of 4 KiB; a write that does not fit in the rest of a page takes a new one.
const PIPE_PAGES: u64 = 16;
const PIPE_PAGE_MESSAGES: u64 = 4096 / MESSAGE_BYTES;
/// A unix socket's send buffer, and what a message takes of it (buffer and its head).
const SOCKET_BYTES: u64 = 212_992;
const SOCKET_MESSAGE_BYTES: u64 = 768;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    Socket,
    Pipe,
}

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Messaging {
    groups: u64,
    loops: u64,
    fds: u64,
    processes: bool,
    via: Via,
    send_ns: Option<u64>,
    receive_ns: Option<u64>,
    all_writers: bool,
    release_ns: u64,
}

/// Reads `messaging:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let model = Messaging::parse(argument)?;
    let values = Values::read(argument, &INFO)?;
    grouped(argument, &values, model, |name| {
        name.starts_with("receiver")
    })
}

impl Messaging {
    /// The model from its argument.
    fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let values = Values::read(argument, &INFO)?;
        let model = Self {
            groups: values.number("groups", 1..=2_500)?,
            loops: values.number("loops", 1..=1_000_000_000)?,
            fds: values.number("fds", 1..=100)?,
            processes: values.word("tasks", [("process", true), ("thread", false)])?,
            via: values.word("via", [("socket", Via::Socket), ("pipe", Via::Pipe)])?,
            send_ns: values.optional("send", Values::time_above_zero_ns)?,
            receive_ns: values.optional("receive", Values::time_above_zero_ns)?,
            all_writers: values.word("writers", [("all", true), ("first", false)])?,
            release_ns: values.time_from_zero_ns("release")?,
        };
        let tasks = 2 * model.groups * model.fds;
        if tasks > u64::from(MAX_TASKS) {
            let message = format!("`groups` and `fds` make {tasks} tasks");
            let expected = format!("at most {MAX_TASKS}");
            return Err(fault(argument, message).expected(expected).into());
        }
        Ok(model)
    }

    /// Work of one end for a message, if nobody said otherwise. Assumed; the decisions on benchmark
    /// models give the reasons.
    fn usual_work_ns(&self) -> u64 {
        let channel = match self.via {
            Via::Pipe => 1_000,
            Via::Socket => 1_500,
        };
        channel + if self.processes { 250 } else { 0 }
    }

    /// What a channel is made of in the kernel.
    fn carrier(&self) -> Carrier {
        match self.via {
            Via::Socket => Carrier::Unix,
            Via::Pipe => Carrier::Pipe,
        }
    }

    /// The most that a receiver's channel holds: a pipe has room again when a page is empty, a unix
    /// socket when at most a quarter of its buffer is in use.
    fn limit(&self) -> Limit {
        let (units, resume_units) = match self.via {
            Via::Pipe => (
                PIPE_PAGES * PIPE_PAGE_MESSAGES,
                (PIPE_PAGES - 1) * PIPE_PAGE_MESSAGES,
            ),
            Via::Socket => (
                SOCKET_BYTES / SOCKET_MESSAGE_BYTES,
                SOCKET_BYTES / 4 / SOCKET_MESSAGE_BYTES,
            ),
        };
        Limit {
            units,
            resume_units,
            resume_all: self.all_writers,
        }
    }

    /// A task that does so many messages; when it begins after the release is drawn.
    fn task(&self, name: String, loops: u64, events: Vec<Event>, seed: u64) -> TaskScript {
        TaskScript {
            delay_ns: Stream::for_task(seed, &name).below(self.release_ns),
            ..once(name, vec![phase("messages", loops, events)])
        }
    }

    /// One group: first its receivers, then its senders.
    fn group(&self, builder: &mut Builder, group: u64, seed: u64) {
        let send_ns = self.send_ns.unwrap_or(self.usual_work_ns());
        let receive_ns = self.receive_ns.or(self.send_ns);
        let receive_ns = receive_ns.unwrap_or(self.usual_work_ns());
        let mut writes = Vec::new();
        for index in 0..self.fds {
            let name = format!("receiver-{group}-{index}");
            let channel =
                builder.limited_channel(format!("to {name}"), self.limit(), self.carrier());
            let read = vec![wait(channel), run(receive_ns)];
            builder.task(self.task(name, self.fds * self.loops, read, seed));
            writes.extend([run(send_ns), post(channel)]);
        }
        for index in 0..self.fds {
            let name = format!("sender-{group}-{index}");
            builder.task(self.task(name, self.loops, writes.clone(), seed));
        }
    }
}

impl Model for Messaging {
    /// The scripts. The benchmark's tasks all tell their creator that they are ready, and it
    /// releases them with one write; its time is taken from there to the last exit. The seed says
    /// when after a tick it begins.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        for group in 0..self.groups {
            self.group(&mut builder, group, seed);
        }
        builder.duration(TO_ITS_END_NS);
        builder.start(begin_ns(seed), StartLine::Creator { sync: true });
        Ok(match self.processes {
            true => builder.finish(),
            false => builder.finish_as_process(),
        })
    }
}
