//! `context-switch`: pairs of tasks that wake each other, as will-it-scale's context_switch1
//! (docs/rules/workloads.md#context-switch).
//!
//! Called by `models/mod.rs` for its name. The order of draws stays. Work is ns at full speed.
//! Which of a pair runs first is part of the model.
//!
//! What must stay: a pair has two channels of its own and passes one unit on; the first of a pair
//! posts first. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"),
//! and words of messages that no test quotes. Tests by part:
//! `a_pair_wakes_each_other_through_two_channels` (`task`, `expand`), `tasks_pins_and_seeds`
//! (`parse`, pins, draws), `wrong_values_say_what_is_expected` (`parse`, `even`), the last one also
//! `load`.
//!
//! Tests: crates/workload/tests/all/context_switch.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::measures::per_second;
use super::tasks::{endless, phase, run, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, parameters, parse};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "context-switch",
    also: &[
        "context_switch1",
        "will-it-scale",
        "sched-pipe",
        "ping-pong",
        "pipe",
        "lat_ctx",
    ],
    summary: "pairs of tasks that wake each other through two pipes and sleep",
    parameters: parameters! {
        "pairs", "1..=50000", "1", "number of pairs";
        "tasks", "an even number, 2..=100000", "",
            "number of tasks, two per pair, instead of `pairs`";
        "run", "time (ns, us, ms, s)", "1500ns",
            "CPU work of a task between its wake-up and its sleep, on the biggest CPU";
        "sync", "on or off", "on", "the waker says that it will sleep, as writers of pipes do";
        "pin", "none or cpu", "none",
            "cpu: both tasks of pair i on CPU i, as the benchmark does by default";
        "warmup", "time (ns, us, ms, s)", "500ms",
            "round trips count from then on (the benchmark: 5 s)";
        "start", "fork or ready", "fork",
            "fork: when all are released, each parent forks its child, as the benchmark does; \
             ready: all are there before";
        GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "throughput_per_s",
    source: "will-it-scale tests/context_switch1.c: a round trip counts 2",
};

/// A round trip in the benchmark's own count.
const ROUND_TRIP_UNITS: u64 = 2;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextSwitch {
    pairs: u32,
    run_ns: u64,
    sync: bool,
    pinned: bool,
    forks: bool,
    warm_up_ns: u64,
}

/// Reads `context-switch:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let model = ContextSwitch::parse(argument)?;
    let values = Values::read(argument, &INFO)?;
    grouped(argument, &values, model, |name| name.starts_with("child"))
}

impl ContextSwitch {
    /// The model from its argument.
    fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let values = Values::read(argument, &INFO)?;
        values.not_both("pairs", "tasks", "how many there are")?;
        let tasks = values.optional("tasks", |values, key| values.text(key, even))?;
        Ok(Self {
            pairs: match tasks {
                Some(tasks) => tasks / 2,
                None => values.number("pairs", 1..=MAX_TASKS / 2)?,
            },
            run_ns: values.time_above_zero_ns("run")?,
            sync: values.word("sync", [("on", true), ("off", false)])?,
            pinned: values.word("pin", [("none", false), ("cpu", true)])?,
            forks: values.word("start", [("fork", true), ("ready", false)])?,
            warm_up_ns: values.time_from_zero_ns("warmup")?,
        })
    }

    /// A task of a pair.
    fn task(
        &self,
        name: String,
        pair: u32,
        machine: MachineFacts<'_>,
        events: impl Into<Vec<Event>>,
    ) -> TaskScript {
        TaskScript {
            cpus: self.pinned.then(|| vec![pair % machine.nr_cpus().max(1)]),
            ..endless(name, events)
        }
    }
}

/// A number of tasks that are pairs.
fn even(text: &str) -> Result<u32, &'static str> {
    let tasks = parse::number(text).filter(|n| n % 2 == 0 && (2..=MAX_TASKS).contains(n));
    tasks.ok_or("an even number from 2 to 100000")
}

impl Model for ContextSwitch {
    /// The scripts. Where within its work the first task of a pair begins is drawn from its own
    /// stream: copies of the benchmark do not run in step.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        for pair in 0..self.pairs {
            let there = builder.channel(format!("pair {pair} to child"), Carrier::Pipe);
            let back = builder.channel(format!("pair {pair} to parent"), Carrier::Pipe);
            let post = |channel| Event::Post {
                channel,
                sync: self.sync,
            };
            let units = ROUND_TRIP_UNITS;
            let parent = [
                run(self.run_ns),
                post(there),
                wait(back),
                Event::Count { units },
            ];
            let child = [wait(there), run(self.run_ns), post(back)];
            let name = format!("parent-{pair}");
            let delay_ns = Stream::for_task(seed, &name).below(2 * self.run_ns);
            let mut parent = TaskScript {
                delay_ns,
                ..self.task(name, pair, machine, parent)
            };
            let mut child = self.task(format!("child-{pair}"), pair, machine, child);
            if self.forks {
                child.forks = Some(1);
                let task = 2 * pair + 1;
                let fork = phase("fork", 1, [Event::Fork { task }]);
                parent.loops = Loops::Times(1);
                parent.phases.insert(0, fork);
                parent.phases[1].loops = Loops::Forever;
            }
            builder.task(parent);
            builder.task(child);
        }
        builder.count(self.warm_up_ns, [per_second()]);
        Ok(builder.finish())
    }
}
