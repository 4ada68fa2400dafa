//! `schbench`: message threads that wake workers, and how late the workers are, as schbench does
//! before and since March 2023 (docs/rules/workloads.md#schbench).
//!
//! Called by `models/mod.rs` for its name. Both versions stay as the benchmark had them. The order
//! of draws stays. Times are ns; percentiles are thousandths of all samples.
//!
//! What must stay: both versions' order of wake, spin and record; percentiles and floor of each;
//! sleeps of the old version are drawn per message thread. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `old_schbench_wakes_all_workers_at_once` (`old_group`, `series`, `sampled`),
//! `old_schbench_sleeps_are_drawn` (draws), `current_schbench_does_requests_under_a_lock_per_cpu`
//! (`current_group`, `add_workers`), benchmark_arguments.rs::`the_others_say_what_is_expected`
//! (`parse`), models.rs::`old_schbench_rounds_are_two_spins_and_a_sleep` and
//! models.rs::`current_schbench_requests_are_a_sleep_and_work` (a run), all (`load`, `expand`).
//!
//! Tests: crates/workload/tests/all/schbench_tbench.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::measures::{per_second, record, series};
use super::parse::MAX_TIME_NS;
use super::tasks::{endless, locked, phase, run, task, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, fault, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Pick, Series, Since, Statistic, TaskScript, TimeUnit, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "schbench",
    also: &["schbench-old"],
    summary: "message threads that wake workers, and how late the workers are",
    parameters: parameters! {
        "version", "old or current", "old",
            "old: before March 2023, spinning workers; current: requests of matrix work";
        "messages", "1..=1000", "",
            "message threads (-m); 2 for old and 1 for current if not given";
        "workers", "1..=100000", "",
            "workers per message thread (-t); 16 for old and one per CPU for current if not given";
        "time", "time (ns, us, ms, s)", "30s", "length of the test, warm-up included (-r)";
        "warmup", "time (ns, us, ms, s)", "5s", "measured from then on (-w)";
        "cputime", "time from 100us", "30ms",
            "old: a worker spins so long by the clock after each wake-up (-c)";
        "message", "time (ns, us, ms, s)", "30ms",
            "old: a message thread spins so long by the clock when it is woken";
        "sleep", "time (ns, us, ms, s)", "30ms",
            "old: then it sleeps so long and up to a quarter more (-s)";
        "think", "time (ns, us, ms, s)", "",
            "current: a worker sleeps so long when it is woken; 100us if not given";
        "work", "time (ns, us, ms, s)", "",
            "current: CPU work of a request on the biggest CPU; 5624320ns if not given, 5 products \
             of 104 x 104 matrices at 1 ns per step (assumed)";
        GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "latency_p99_us",
    source: "schbench 2eef447 (the last before March 2023) and its current version",
};

/// Keys that only one of the versions has.
const OLD_KEYS: [&str; 3] = ["cputime", "message", "sleep"];
const CURRENT_KEYS: [&str; 2] = ["think", "work"];

/// The most sleeps of a message thread that differ; then they repeat.
const MAX_ROUNDS: u64 = 2_000;

/// What the current version does if `think` and `work` are not given. They have no default in the
/// catalogue: who gives them asks for that version.
const THINK_NS: u64 = 100_000;
const WORK_NS: u64 = 5_624_320;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schbench {
    old: bool,
    messages: u64,
    /// None: one for each CPU.
    workers: Option<u64>,
    time_ns: u64,
    warm_up_ns: u64,
    cpu_ns: u64,
    message_ns: u64,
    sleep_ns: u64,
    think_ns: u64,
    work_ns: u64,
}

/// Reads `schbench:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let model = Schbench::parse(argument)?;
    let values = Values::read(argument, &INFO)?;
    grouped(argument, &values, model, |name| name.contains("-worker-"))
}

impl Schbench {
    /// The model from its argument; each version has keys of its own.
    fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let values = Values::read(argument, &INFO)?;
        let old = values.word("version", [("old", true), ("current", false)])?;
        let (other, version) = match old {
            true => (&CURRENT_KEYS[..], "version=current"),
            false => (&OLD_KEYS[..], "version=old"),
        };
        if let Some(key) = other.iter().find(|key| values.has(key)) {
            let message = format!("this version has no `{key}`");
            return Err(fault(argument, message).expected(version).into());
        }
        let (messages, workers) = if old { (2, Some(16)) } else { (1, None) };
        let message_threads = |values: &Values<'_>, key| values.number(key, 1..=1_000);
        let worker_threads = |values: &Values<'_>, key| values.number(key, 1..=100_000);
        let model = Self {
            old,
            messages: values
                .optional("messages", message_threads)?
                .unwrap_or(messages),
            workers: values.optional("workers", worker_threads)?.or(workers),
            time_ns: values.time_above_zero_ns("time")?,
            warm_up_ns: values.time_from_zero_ns("warmup")?,
            cpu_ns: values.time_ns("cputime", 100_000..=MAX_TIME_NS)?,
            message_ns: values.time_above_zero_ns("message")?,
            sleep_ns: values.time_above_zero_ns("sleep")?,
            think_ns: values
                .optional("think", Values::time_above_zero_ns)?
                .unwrap_or(THINK_NS),
            work_ns: values
                .optional("work", Values::time_above_zero_ns)?
                .unwrap_or(WORK_NS),
        };
        values.check_warm_up(model.warm_up_ns, model.time_ns)?;
        Ok(model)
    }

    /// A series of this name with these percentiles; `less_ns` is taken off each sample.
    fn series(&self, name: &str, permille: &[u16], less_ns: u64) -> Series {
        let statistics = permille.iter().copied().map(Statistic::Permille).collect();
        Series {
            warm_up_ns: self.warm_up_ns,
            less_ns,
            // Before March 2023 what is less than the spin counts as 1 us.
            floor_ns: less_ns.min(1_000),
            ..series(name, TimeUnit::Microseconds, statistics)
        }
    }

    /// A message thread and its workers before March 2023. It wakes all that have queued, with one
    /// time stamp, waits for a message, spins and sleeps. A message that comes meanwhile only puts
    /// its worker into the queue.
    fn old_group(&self, builder: &mut Builder, series: u32, group: &Group) {
        let queue = builder.condition(format!("workers of {}", group.name));
        let message = builder.condition(format!("messages to {}", group.name));
        let signal = |condition, all| Event::Signal { condition, all };
        let sleep_until = |condition| Event::Await {
            condition,
            mutex: None,
        };
        let spin = |wall_ns| Event::Runtime { wall_ns };
        let mut jitter = Stream::for_task(group.seed, &group.name);
        let round_ns = self.message_ns + self.sleep_ns;
        let rounds = (self.time_ns / round_ns + 1).min(MAX_ROUNDS);
        let mut steps = Vec::new();
        for _ in 0..rounds {
            let duration_ns = self.sleep_ns + jitter.below(self.sleep_ns / 4);
            steps.extend([
                signal(queue, true),
                sleep_until(message),
                spin(self.message_ns),
                Event::Sleep { duration_ns },
            ]);
        }
        builder.task(endless(group.name.clone(), steps));
        let steps = [
            signal(message, false),
            sleep_until(queue),
            spin(self.cpu_ns),
            Event::Sample {
                series,
                since: Since::Wake,
            },
        ];
        group.add_workers(builder, &|name| endless(name, steps));
    }

    /// The same since then: the message thread only passes wake-ups on. It does so with a channel
    /// each way, so that no message is lost between a worker's and its wait.
    fn current_group(&self, builder: &mut Builder, sampled: Sampled, group: &Group) {
        let message = builder.channel(format!("messages to {}", group.name), Carrier::Word);
        let answer = builder.channel(format!("answers of {}", group.name), Carrier::Word);
        let post = |channel| Event::Post {
            channel,
            sync: false,
        };
        let passes_on = [wait(message), post(answer)];
        builder.task(endless(group.name.clone(), passes_on));
        let mut steps = vec![
            post(message),
            wait(answer),
            Event::Sample {
                series: sampled.wake,
                since: Since::Wake,
            },
            Event::Mark,
            Event::Sleep {
                duration_ns: self.think_ns,
            },
        ];
        let pick = Pick::Cpu { of: sampled.cpus };
        steps.extend(locked(sampled.mutex, pick, [run(self.work_ns)]));
        steps.extend(record(sampled.request));
        group.add_workers(builder, &|name| {
            let request = phase("request", 1, &steps[..]);
            task(name, Loops::Forever, vec![request])
        });
    }
}

/// A message thread's name, how many workers it has, and the seed of its sleeps.
#[derive(Debug)]
struct Group {
    name: String,
    workers: u64,
    seed: u64,
}

impl Group {
    /// Creates its workers; `make` makes one of its name.
    fn add_workers(&self, builder: &mut Builder, make: &dyn Fn(String) -> TaskScript) {
        for worker in 0..self.workers {
            builder.task(make(format!("{}-worker-{worker}", self.name)));
        }
    }
}

/// What the workers of the current version share: series and the first of the CPUs' mutexes.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    wake: u32,
    request: u32,
    mutex: u32,
    cpus: u32,
}

impl Model for Schbench {
    /// The scripts: message threads, each with its workers; a worker per CPU if nobody says how
    /// many.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let messages = self.messages;
        let cpus = machine.nr_cpus().max(1);
        let workers = self.workers.unwrap_or(u64::from(cpus));
        let tasks = messages * (workers + 1);
        if tasks > u64::from(MAX_TASKS) {
            let message = format!("`messages` and `workers` make {tasks} threads");
            let expected = format!("at most {MAX_TASKS}");
            return Err(fault(argument, message).expected(expected).into());
        }
        let mut builder = Builder::new(argument);
        let group = |index: u64| Group {
            name: format!("message-{index}"),
            workers,
            seed,
        };
        if self.old {
            let permille = [500, 750, 900, 950, 990, 995, 999];
            let series = builder.series(self.series("latency", &permille, self.cpu_ns));
            (0..messages).for_each(|index| self.old_group(&mut builder, series, &group(index)));
        } else {
            let sampled = self.sampled(&mut builder, cpus);
            let mut add = |index| self.current_group(&mut builder, sampled, &group(index));
            (0..messages).for_each(&mut add);
            builder.count(self.warm_up_ns, [per_second()]);
        }
        builder.duration(self.time_ns);
        Ok(builder.finish_as_process())
    }
}

impl Schbench {
    /// Two series and a mutex for each CPU.
    fn sampled(&self, builder: &mut Builder, cpus: u32) -> Sampled {
        let permille = [200, 500, 900, 990, 999];
        let wake = builder.series(self.series("latency", &permille, 0));
        let request = builder.series(self.series("request_latency", &permille, 0));
        let mutex = builder.mutexes(cpus, |cpu| format!("CPU {cpu}"));
        Sampled {
            wake,
            request,
            mutex,
            cpus,
        }
    }
}
