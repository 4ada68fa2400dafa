//! `periodic`: n tasks that each run a little every period, as rt-app's periodic files do
//! (docs/rules/workloads.md#periodic).
//!
//! Called by `models/mod.rs` for its name. Draws are by the task's name: more tasks shift none.
//! Work is ns at full speed, `duty` of the period on the calibration's CPU.
//!
//! What must stay: ten tasks of 5 % of 16 ms without keys; a task's offset is drawn by its name;
//! `start=together` is rt-app's barrier (docs/rules/rt-app.md#rt-app-events). Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `the_defaults_are_ten_tasks_of_five_percent` (`parse`, `task`),
//! `every_key_is_obeyed` (`nice`, `calibration`, `cpus`, `duty`, `offset`),
//! `the_seed_decides_and_more_tasks_shift_none` (`expand`, `spread`), `performance_hints`
//! (`uclamp`), `classes_above_the_fair_one` (classes), `wrong_arguments_say_what_was_expected`
//! (`parse`, `check_cpus`), `more_work_than_period_is_a_warning` (`warnings`),
//! group_limits.rs::`models_have_keys` (`groups`), all (`load`).
//!
//! Tests: crates/workload/tests/all/periodic.rs, crates/workload/tests/all/group_limits.rs
use super::builder::Builder;
use super::class::Class;
use super::draw::begin_ns;
use super::groups::{GROUPS, Groups, SHARES};
use super::limits::{
    CPU_BURST, CPU_IDLE, CPU_MAX, CPU_UCLAMP_MAX, CPU_UCLAMP_MIN, GROUP_CPUS, Limits,
};
use super::tasks::{phase, run, task};
use super::values::Values;
use super::work::Share;
use super::{MAX_TASKS, Model, ModelInfo, fault, parameters, parse};
use crate::error::WorkloadError;
use crate::script::{
    Calibration, Event, FairPolicy, Loops, StartLine, TaskScript, Timer, TimerMode, Workload,
};
use crate::{Attributes, MachineFacts, Stream};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "periodic",
    also: &["rt-app", "rtapp", "mostly-idle"],
    summary: "n tasks that run for a share of every period and sleep the rest",
    parameters: parameters! {
        "n" also ["tasks", "threads", "instances", "count", "nr"], "1..=100000", "10",
            "number of tasks";
        "period", "time (ns, us, ms, s)", "16ms", "time from one start to the next";
        "duty" also ["util", "load", "utilisation", "utilization", "share"], "percent", "5%",
            "CPU work per period, of the CPU `cal` at full speed";
        "run" also ["runtime", "work"], "time (ns, us, ms, s)", "",
            "CPU work per period, instead of `duty`";
        "cal", "biggest or cpuN", "biggest", "the CPU whose full speed work refers to";
        "nice", "-20..=19", "0", "nice value of every task";
        "policy" also ["class", "sched"], "other, batch, idle, fifo, rr or deadline", "other",
            "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE";
        "priority" also ["prio", "rt_priority"], "1..=99", "",
            "priority under fifo and rr, 99 first; 10 if not given";
        "dl_runtime", "time from 1024ns to dl_period", "",
            "budget of each period under deadline; the work per period if not given";
        "dl_period", "time from 100us to 4194304us", "",
            "period under deadline; `period` if not given";
        "dl_deadline", "time from dl_runtime to dl_period", "",
            "deadline under deadline; `dl_period` if not given";
        "sleep", "timer or io", "timer",
            "io: the sleeps wait for I/O, so that schedutil helps the CPU";
        "wake", "free or here", "free",
            "here: whoever wakes a task asks for its own CPU (WF_CURRENT_CPU)";
        "slice", "time from 100us to 100ms", "",
            "a slice of each task's own (sched_attr's runtime, kernels from 6.12)";
        "uclamp_min" also ["util_min", "clamp_min"], "0..=1024 or percent", "",
            "least performance to run the tasks at (util_clamp, kernels from 5.3); 0 if not given";
        "uclamp_max" also ["util_max", "clamp_max"], "0..=1024 or percent", "",
            "the most performance they are worth; 1024 if not given";
        "cpus" also ["pin", "pinned", "affinity", "cpu", "cpuset", "taskset"],
            "list such as 0-3+5", "",
            "CPUs the tasks may use; all if not given";
        GROUPS; SHARES;
        CPU_MAX; CPU_BURST; CPU_IDLE; CPU_UCLAMP_MIN; CPU_UCLAMP_MAX; GROUP_CPUS;
        "start" also ["release", "spread"], "together or spread", "",
            "together: as rt-app's threads, when the last one of them exists; the seed says when \
             within a tick they are created; spread: each at its `phase`; together if no phase is \
             given";
        "phase" also ["offset"], "random, aligned or a time", "",
            "spread: when each task starts first, random if not given";
    },
    metric: "energy_j",
    source: "rt-app 55cb0c0 doc/tutorial.txt; 10 to 50 tasks, 16 ms, 5 % as in the energy-aware \
             scheduling series v3 (2018)",
};

/// Slices as the kernel takes them, ns; it clamps to these bounds, here others are refused.
const SLICES_NS: RangeInclusive<u64> = 100_000..=100_000_000;

/// When the first period of each task begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    /// Uniform in one period, from the task's random stream.
    Random,
    /// The same for all tasks, ns.
    Fixed(u64),
}

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Periodic {
    n: u32,
    period_ns: u64,
    work_ns: u64,
    calibration: Calibration,
    nice: i8,
    policy: FairPolicy,
    attributes: Attributes,
    slice_ns: Option<u64>,
    uclamp: [Option<u16>; 2],
    cpus: Option<Vec<u32>>,
    groups: Groups,
    /// None: all together.
    offset: Option<Offset>,
}

/// Reads `periodic:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    Ok(Arc::new(Periodic::parse(argument)?))
}

impl Periodic {
    /// The model from its argument.
    fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let values = Values::read(argument, &INFO)?;
        values.not_both("duty", "run", "how much each task runs")?;
        let slice = |values: &Values<'_>, key| values.time_ns(key, SLICES_NS);
        let cpus = |values: &Values<'_>, key| values.text(key, cpus);
        let period_ns = values.time_above_zero_ns("period")?;
        let work_ns = match values.optional("run", Values::time_above_zero_ns)? {
            Some(run_ns) => run_ns,
            None => values.text("duty", duty)?.of(period_ns),
        };
        if work_ns == 0 {
            let message = "`duty` of `period` is less than 1 ns of work";
            let expected = "a longer period or more duty";
            return Err(fault(argument, message).expected(expected).into());
        }
        let (policy, class) = Class::read(&values)?;
        let realtime = class.realtime(work_ns, period_ns);
        let realtime =
            realtime.map_err(|(message, expected)| fault(argument, message).expected(expected))?;
        Ok(Self {
            n: values.number("n", 1..=MAX_TASKS)?,
            period_ns,
            work_ns,
            calibration: values.text("cal", calibration)?,
            nice: values.text("nice", nice)?,
            policy,
            attributes: Attributes {
                realtime,
                io_wait: values.word("sleep", [("timer", false), ("io", true)])?,
                wake_here: values.word("wake", [("free", false), ("here", true)])?,
                ..Attributes::default()
            },
            slice_ns: values.optional("slice", slice)?,
            uclamp: uclamp(argument, &values)?,
            cpus: values.optional("cpus", cpus)?,
            groups: groups(argument, &values)?,
            offset: spread(argument, &values)?,
        })
    }

    /// A task of this name with its own timer, `delay_ns` after the start.
    fn task(&self, name: String, timer: u32, delay_ns: u64) -> TaskScript {
        let period_ns = self.period_ns;
        let events = [run(self.work_ns), Event::Timer { timer, period_ns }];
        TaskScript {
            nice: self.nice,
            policy: self.policy,
            attributes: self.attributes,
            cpus: self.cpus.clone(),
            slice_ns: self.slice_ns,
            uclamp_min: self.uclamp[0],
            uclamp_max: self.uclamp[1],
            delay_ns,
            ..task(name, Loops::Forever, vec![phase("periodic", 1, events)])
        }
    }

    /// The machine has every CPU that the argument names.
    fn check_cpus(&self, argument: &str, nr_cpus: u32) -> Result<(), WorkloadError> {
        let calibration = match self.calibration {
            Calibration::Cpu(cpu) => Some(cpu),
            Calibration::Biggest => None,
        };
        let own = self.cpus.iter().flatten().copied();
        let of_groups = self.groups.limits.missing_cpu(nr_cpus);
        let highest = own.chain(calibration).chain(of_groups).max();
        match highest {
            Some(cpu) if cpu >= nr_cpus => Err(fault(argument, format!("there is no CPU {cpu}"))
                .expected(format!("CPUs 0 to {}", nr_cpus.saturating_sub(1)))
                .into()),
            _ => Ok(()),
        }
    }
}

impl Model for Periodic {
    /// Work per period beyond the period cannot be done even alone on the calibration CPU.
    fn warnings(&self, argument: &str) -> Vec<String> {
        if self.work_ns <= self.period_ns {
            return Vec::new();
        }
        let (work, period) = (self.work_ns, self.period_ns);
        vec![format!(
            "workload `{argument}`: {work} ns of work in every period of {period} ns"
        )]
    }

    /// The scripts. The random streams are split by task name: more tasks shift none.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        self.check_cpus(argument, machine.nr_cpus())?;
        let mut builder = Builder::new(argument);
        for index in 0..self.n {
            let name = format!("periodic-{index}");
            let delay_ns = match self.offset {
                Some(Offset::Random) => Stream::for_task(seed, &name).below(self.period_ns),
                Some(Offset::Fixed(ns)) => ns,
                None => 0,
            };
            let timer = builder.timer(Timer {
                name: format!("{name}/unique"),
                mode: TimerMode::Relative,
                start_delay_ns: delay_ns,
            });
            builder.task(self.task(name, timer, delay_ns));
        }
        if self.offset.is_none() {
            builder.start(begin_ns(seed), StartLine::Barrier);
        }
        let mut workload = builder.finish_as_process();
        workload.calibration = self.calibration;
        workload.groups = self.groups.expand(self.n);
        Ok(workload)
    }
}

/// Reads `start` and `phase`; None: all together.
fn spread(argument: &str, values: &Values<'_>) -> Result<Option<Offset>, WorkloadError> {
    let start =
        |values: &Values<'_>, key| values.word(key, [("together", false), ("spread", true)]);
    let spread = values.optional("start", start)?;
    let given = values.has("phase");
    if spread == Some(false) && given {
        return Err(fault(argument, "`phase` is of tasks that start spread")
            .expected("`start=spread`, or no phase")
            .into());
    }
    match spread.unwrap_or(given) {
        false => Ok(None),
        true if given => values.text("phase", offset).map(Some),
        true => Ok(Some(Offset::Random)),
    }
}

/// Reads `uclamp_min` and `uclamp_max`. The kernel refuses a pair that is crossed (`EINVAL`).
fn uclamp(argument: &str, values: &Values<'_>) -> Result<[Option<u16>; 2], WorkloadError> {
    let hint = |key| values.optional(key, |values, key| values.text(key, parse::hint));
    let hints = [hint("uclamp_min")?, hint("uclamp_max")?];
    if hints != [None, None] && values.text("policy", |text| Ok(text == "deadline"))? {
        let message = "`uclamp_min` and `uclamp_max` say nothing to deadline tasks";
        return Err(fault(argument, message)
            .expected("another policy, or no hints")
            .into());
    }
    if let [least, Some(most)] = hints
        && least.unwrap_or(0) > most
    {
        let message = format!(
            "`uclamp_min` {} is above `uclamp_max` {most}",
            least.unwrap_or(0)
        );
        return Err(fault(argument, message)
            .expected("uclamp_min <= uclamp_max")
            .into());
    }
    Ok(hints)
}

/// Reads `groups` and `shares`.
fn groups(argument: &str, values: &Values<'_>) -> Result<Groups, WorkloadError> {
    let mut groups = Groups::default();
    values.optional("groups", |values, key| {
        values.text(key, |text| groups.set_names(text))
    })?;
    values.optional("shares", |values, key| {
        values.text(key, |text| groups.set_shares(text))
    })?;
    if let Err((message, expected)) = groups.check() {
        return Err(fault(argument, message).expected(expected).into());
    }
    groups.limits = Limits::read(argument, values, groups.nr())?;
    Ok(groups)
}

/// A nice value from -20 to 19.
fn nice(text: &str) -> Result<i8, &'static str> {
    let nice = text.parse().ok().filter(|nice| (-20..=19).contains(nice));
    nice.ok_or("a nice value, -20..=19")
}

/// On which CPU `duty` is measured.
fn calibration(text: &str) -> Result<Calibration, &'static str> {
    let cpu = |text: &str| parse::cpu(text.strip_prefix("cpu")?).map(Calibration::Cpu);
    match text {
        "biggest" => Ok(Calibration::Biggest),
        _ => cpu(text).ok_or("biggest, or cpuN such as cpu0"),
    }
}

/// CPUs that tasks may use, ascending.
fn cpus(text: &str) -> Result<Vec<u32>, &'static str> {
    parse::cpu_list(text).ok_or("CPU numbers such as 0-3+5")
}

/// A share above 0 % of the period.
fn duty(text: &str) -> Result<Share, &'static str> {
    let duty = parse::share(text).filter(|duty| *duty != Share::NONE);
    duty.ok_or("a percentage above 0%, at most 100%, such as 5%")
}

/// When tasks begin within their period.
fn offset(text: &str) -> Result<Offset, &'static str> {
    match text {
        "random" => Ok(Offset::Random),
        "aligned" => Ok(Offset::Fixed(0)),
        _ => {
            let time = parse::time(text).map(Offset::Fixed);
            time.ok_or("random, aligned, or a time from 0ns to 1000s (5ms)")
        }
    }
}
