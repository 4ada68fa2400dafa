//! `cyclictest`: threads that each wake by a timer and measure how late they run
//! (docs/rules/workloads.md#cyclictest).
//!
//! Called by `models/mod.rs` for its name. Intervals are ns; names of metrics stay. Free: the work
//! between wake-ups, which is assumed.
//!
//! What must stay: thread k's interval, late expiries left out, one series `tK_latency` per thread
//! in µs, and that the device holds off deep idle states. Tests by part:
//! `cyclictest_threads_have_their_intervals` (`thread`, `expand`),
//! `the_others_say_what_is_expected` (`load`), models.rs::`cyclictest_wakes_once_per_interval` (a
//! run). No test of its own: `other` (the load beside the threads).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/benchmark_arguments.rs, crates/engine/tests/behaviour/models.rs
use super::builder::Builder;
use super::measures::series;
use super::tasks::{endless, run};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{
    Event, Since, StartLine, Statistic, TaskScript, TimeUnit, Timer, TimerMode, Workload,
};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "cyclictest",
    also: &["rt-tests", "latency"],
    summary: "threads that wake by timers and measure how late they run",
    parameters: parameters! {
        "threads", "1..=100000", "", "number of threads; one per configured CPU if not given (-t)";
        "interval", "time (ns, us, ms, s)", "1000us", "interval of thread 0 (-i)";
        "distance", "time (ns, us, ms, s)", "500us",
            "each thread's interval is so much longer than the one's before (-d)";
        "time", "time (ns, us, ms, s)", "20s", "a thread ends when it wakes later than this (-D)";
        "mode", "itimer or clock_nanosleep", "itimer",
            "itimer: signals of POSIX timers, the default of 0.83; clock_nanosleep: that of 2.x";
        "run", "time (ns, us, ms, s)", "",
            "CPU work of a cycle on the biggest CPU; 15us for itimer, 10us for clock_nanosleep if \
             not given (assumed)";
        "dma_latency", "held or free", "held",
            "held: /dev/cpu_dma_latency is held at 0, so that only idle states without exit \
             latency are used";
        "phase", "random or aligned", "random",
            "when within its first interval a thread's timer begins";
        "other", "time (ns, us, ms, s)", "",
            "CPU work that another task of the machine does every other_period; no such task if \
             not given";
        "other_period", "time (ns, us, ms, s)", "250ms", "... and how often";
    },
    metric: "t0_latency_max_us",
    source: "rt-tests 0.83 cyclictest -q -t -D 20",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cyclictest {
    threads: Option<u32>,
    interval_ns: u64,
    distance_ns: u64,
    time_ns: u64,
    signals: bool,
    run_ns: Option<u64>,
    held: bool,
    random: bool,
    other_ns: Option<u64>,
    other_period_ns: u64,
}

/// Reads `cyclictest:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    let threads = |values: &Values<'_>, key| values.number(key, 1..=MAX_TASKS);
    Ok(Arc::new(Cyclictest {
        threads: values.optional("threads", threads)?,
        interval_ns: values.time_above_zero_ns("interval")?,
        distance_ns: values.time_from_zero_ns("distance")?,
        time_ns: values.time_above_zero_ns("time")?,
        signals: values.word("mode", [("itimer", true), ("clock_nanosleep", false)])?,
        run_ns: values.optional("run", Values::time_above_zero_ns)?,
        held: values.word("dma_latency", [("held", true), ("free", false)])?,
        random: values.word("phase", [("random", true), ("aligned", false)])?,
        other_ns: values.optional("other", Values::time_above_zero_ns)?,
        other_period_ns: values.time_above_zero_ns("other_period")?,
    }))
}

impl Cyclictest {
    /// Thread k: interval + k * distance. Both modes keep the grid and leave out expiries that
    /// passed: the one by the overrun count, the other by going on from there.
    fn thread(&self, builder: &mut Builder, index: u32, seed: u64) {
        let name = format!("cyclictest-{index}");
        let period_ns = self.interval_ns + u64::from(index) * self.distance_ns;
        let bound_ns = if self.random { period_ns } else { 0 };
        let delay_ns = Stream::for_task(seed, &name).below(bound_ns);
        let timer = builder.timer(Timer {
            name: format!("{name}/interval"),
            mode: TimerMode::Overrun,
            start_delay_ns: delay_ns,
        });
        let latency = format!("t{index}_latency");
        let statistics = vec![Statistic::Minimum, Statistic::Mean, Statistic::Maximum];
        let series = builder.series(series(&latency, TimeUnit::Microseconds, statistics));
        let usual_ns = if self.signals { 15_000 } else { 10_000 };
        let events = [
            Event::Timer { timer, period_ns },
            Event::Sample {
                series,
                since: Since::Wake,
            },
            run(self.run_ns.unwrap_or(usual_ns)),
            Event::ExitAfter {
                since_start_ns: self.time_ns,
            },
        ];
        builder.task(TaskScript {
            delay_ns,
            ..endless(name, events)
        });
    }
}

/// Work of the machine that is not cyclictest's: an ordinary task that runs now and then.
fn other(builder: &mut Builder, work_ns: u64, period_ns: u64, seed: u64) {
    let name = "other".to_owned();
    let delay_ns = Stream::for_task(seed, &name).below(period_ns);
    let timer = builder.timer(Timer {
        name: format!("{name}/interval"),
        mode: TimerMode::Overrun,
        start_delay_ns: delay_ns,
    });
    let events = [Event::Timer { timer, period_ns }, run(work_ns)];
    builder.task(TaskScript {
        delay_ns,
        ..endless(name, events)
    });
}

impl Model for Cyclictest {
    /// The scripts. Without `threads`, one for each CPU that the machine has, also if some are
    /// unplugged.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        for index in 0..self.threads.unwrap_or(machine.nr_cpus()) {
            self.thread(&mut builder, index, seed);
        }
        if let Some(work_ns) = self.other_ns {
            other(&mut builder, work_ns, self.other_period_ns, seed);
        }
        builder.duration(self.time_ns);
        builder.start(0, StartLine::Each);
        let mut workload = builder.finish_as_process();
        workload.cpu_dma_latency_us = self.held.then_some(0);
        Ok(workload)
    }
}
