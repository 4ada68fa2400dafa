//! `context-switch`: pairs of tasks that wake each other, as will-it-scale's context_switch1.
use super::parts::{Channels, endless, expectation, fill};
use super::periodic::{count, parameter, positive_time, time};
use super::{ModelInfo, fault, settings};
use crate::error::WorkloadError;
use crate::script::{Count, Event, TaskScript, Workload};
use crate::{MachineFacts, Stream};

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "context-switch",
    summary: "pairs of tasks that wake each other through two pipes and sleep",
    parameters: &[
        parameter("pairs", "1..=50000", "1", "number of pairs"),
        parameter(
            "tasks",
            "an even number, 2..=100000",
            "",
            "number of tasks, two per pair, instead of `pairs`",
        ),
        parameter(
            "run",
            "time (ns, us, ms, s)",
            "1500ns",
            "CPU work of a task between its wake-up and its sleep, on the biggest CPU",
        ),
        parameter(
            "sync",
            "on or off",
            "on",
            "the waker says that it will sleep, as writers of pipes do",
        ),
        parameter(
            "pin",
            "none or cpu",
            "none",
            "cpu: both tasks of pair i on CPU i, as the benchmark does by default",
        ),
        parameter(
            "warmup",
            "time (ns, us, ms, s)",
            "500ms",
            "round trips count from then on (the benchmark: 5 s)",
        ),
    ],
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
    warm_up_ns: u64,
}

impl ContextSwitch {
    /// Reads `context-switch:key=value,...`.
    pub(crate) fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let mut model = Self {
            pairs: 1,
            run_ns: 1_500,
            sync: true,
            pinned: false,
            warm_up_ns: 500_000_000,
        };
        let given = settings(argument, &INFO)?;
        for setting in &given {
            model
                .set(setting.key, setting.value)
                .map_err(|expected| expectation(argument, setting, expected))?;
        }
        let has = |key| given.iter().any(|setting| setting.key == key);
        if has("pairs") && has("tasks") {
            let message = "`pairs` and `tasks` both say how many there are";
            return Err(fault(argument, message).expected("one of them").into());
        }
        Ok(model)
    }

    /// Sets one key; the error is what was expected.
    fn set(&mut self, key: &str, text: &str) -> Result<(), &'static str> {
        match key {
            "pairs" => {
                let pairs = count(text).filter(|n| *n <= 50_000);
                self.pairs = pairs.ok_or("a number of pairs, 1..=50000")?;
            }
            "tasks" => {
                let tasks = count(text).filter(|n| n % 2 == 0);
                self.pairs = tasks.ok_or("an even number of tasks, 2..=100000")? / 2;
            }
            "run" => self.run_ns = positive_time(text)?,
            "sync" => {
                self.sync = match text {
                    "on" => true,
                    "off" => false,
                    _ => return Err("on or off"),
                }
            }
            "pin" => {
                self.pinned = match text {
                    "cpu" => true,
                    "none" => false,
                    _ => return Err("none or cpu"),
                }
            }
            _ => self.warm_up_ns = time(text).ok_or("a time of at most 1000s, such as 500ms")?,
        }
        Ok(())
    }

    /// The scripts. Where within its work the first task of a pair begins is drawn from its own
    /// stream: copies of the benchmark do not run in step.
    pub(crate) fn expand(&self, argument: &str, seed: u64, machine: MachineFacts) -> Workload {
        let mut channels = Channels::default();
        let mut tasks = Vec::with_capacity(2 * self.pairs as usize);
        for pair in 0..self.pairs {
            let there = channels.add(format!("pair {pair} to child"));
            let back = channels.add(format!("pair {pair} to parent"));
            let post = |channel| Event::Post {
                channel,
                sync: self.sync,
            };
            let run = Event::Run {
                work_ns: self.run_ns,
            };
            let parent = [
                run,
                post(there),
                Event::Wait { channel: back },
                Event::Count {
                    units: ROUND_TRIP_UNITS,
                },
            ];
            let child = [Event::Wait { channel: there }, run, post(back)];
            let name = format!("parent-{pair}");
            let delay_ns = Stream::for_task(seed, &name).below(2 * self.run_ns);
            tasks.push(TaskScript {
                delay_ns,
                ..self.task(name, pair, machine, &parent)
            });
            tasks.push(self.task(format!("child-{pair}"), pair, machine, &child));
        }
        Workload {
            count: Some(Count {
                warm_up_ns: self.warm_up_ns,
            }),
            groups: Vec::new(),
            ..fill(argument, tasks, channels)
        }
    }

    fn task(&self, name: String, pair: u32, machine: MachineFacts, events: &[Event]) -> TaskScript {
        TaskScript {
            cpus: self.pinned.then(|| vec![pair % machine.nr_cpus.max(1)]),
            ..endless(name, events)
        }
    }
}
