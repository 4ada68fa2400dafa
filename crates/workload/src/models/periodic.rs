//! `periodic`: n tasks that each run a little every period, as rt-app's periodic files do.
use super::class::Class;
use super::groups::{self, Groups};
use super::{ModelInfo, ParameterInfo, fault, settings, value};
use crate::error::WorkloadError;
use crate::script::{
    Calibration, Event, FairPolicy, Loops, Phase, TaskScript, Timer, TimerMode, Workload,
};
use crate::{Attributes, MachineFacts, Stream};

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "periodic",
    summary: "n tasks that run for a share of every period and sleep the rest",
    parameters: &[
        parameter("n", "1..=100000", "10", "number of tasks"),
        parameter(
            "period",
            "time (ns, us, ms, s)",
            "16ms",
            "time from one start to the next",
        ),
        parameter(
            "duty",
            "percent",
            "5%",
            "CPU work per period, of the CPU `cal` at full speed",
        ),
        parameter(
            "run",
            "time (ns, us, ms, s)",
            "",
            "CPU work per period, instead of `duty`",
        ),
        parameter(
            "cal",
            "biggest or cpuN",
            "biggest",
            "the CPU whose full speed work refers to",
        ),
        parameter("nice", "-20..=19", "0", "nice value of every task"),
        parameter(
            "policy",
            "other, batch, idle, fifo, rr or deadline",
            "other",
            "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE",
        ),
        parameter(
            "priority",
            "1..=99",
            "",
            "priority under fifo and rr, 99 first; 10 if not given",
        ),
        parameter(
            "dl_runtime",
            "time from 1024ns to dl_period",
            "",
            "budget of each period under deadline; the work per period if not given",
        ),
        parameter(
            "dl_period",
            "time from 100us to 4194304us",
            "",
            "period under deadline; `period` if not given",
        ),
        parameter(
            "dl_deadline",
            "time from dl_runtime to dl_period",
            "",
            "deadline under deadline; `dl_period` if not given",
        ),
        parameter(
            "sleep",
            "timer or io",
            "timer",
            "io: the sleeps wait for I/O, so that schedutil helps the CPU",
        ),
        parameter(
            "wake",
            "free or here",
            "free",
            "here: whoever wakes a task asks for its own CPU (WF_CURRENT_CPU)",
        ),
        parameter(
            "slice",
            "time from 100us to 100ms",
            "",
            "a slice of each task's own (sched_attr's runtime, kernels from 6.12)",
        ),
        parameter(
            "cpus",
            "list such as 0-3+5",
            "",
            "CPUs the tasks may use; all if not given",
        ),
        groups::GROUPS,
        groups::SHARES,
        parameter(
            "phase",
            "random, aligned or a time",
            "random",
            "when each task starts first",
        ),
    ],
    metric: "energy_j",
    source: "rt-app 55cb0c0 doc/tutorial.txt; 10 to 50 tasks, 16 ms, 5 % as in the energy-aware \
             scheduling series v3 (2018)",
};

pub(super) const fn parameter(
    name: &'static str,
    unit: &'static str,
    default: &'static str,
    doc: &'static str,
) -> ParameterInfo {
    ParameterInfo {
        name,
        unit,
        default,
        doc,
    }
}

pub(super) const MAX_TASKS: u32 = 100_000;

/// A bound on periods, work and phases: 1000 s, far above any, and no sum of these overflows.
const MAX_TIME_NS: u64 = 1_000_000_000_000;

/// 100 % in millionths of a percent.
const WHOLE_E6: u64 = 100_000_000;

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
    class: Class,
    attributes: Attributes,
    slice_ns: Option<u64>,
    cpus: Option<Vec<u32>>,
    groups: Groups,
    offset: Offset,
}

impl Periodic {
    /// Reads `periodic:key=value,...`.
    pub(crate) fn parse(argument: &str) -> Result<Self, WorkloadError> {
        let mut model = Self {
            n: 10,
            period_ns: 16_000_000,
            work_ns: 0,
            calibration: Calibration::Biggest,
            nice: 0,
            policy: FairPolicy::Other,
            class: Class::default(),
            attributes: Attributes::default(),
            slice_ns: None,
            cpus: None,
            groups: Groups::default(),
            offset: Offset::Random,
        };
        let (mut duty_e6, mut run_ns) = (None, None);
        for setting in settings(argument, &INFO)? {
            let read = match setting.key {
                "duty" => percent(setting.value).map(|duty| duty_e6 = Some(duty)),
                "run" => positive_time(setting.value).map(|run| run_ns = Some(run)),
                "groups" => model.groups.set_names(setting.value),
                "shares" => model.groups.set_shares(setting.value),
                key => model.set(key, setting.value),
            };
            read.map_err(|expected| {
                let message = format!("`{}={}` is not possible", setting.key, setting.value);
                let message = match (setting.key, setting.value) {
                    ("n", "0") => "`n=0` makes 0 tasks".to_owned(),
                    _ => message,
                };
                WorkloadError::from(fault(argument, message).expected(expected))
            })?;
        }
        model.work_ns = match (duty_e6, run_ns) {
            (Some(_), Some(_)) => {
                let message = "`duty` and `run` both say how much each task runs";
                return Err(fault(argument, message).expected("one of them").into());
            }
            (_, Some(run_ns)) => run_ns,
            (duty, None) => share(model.period_ns, duty.unwrap_or(5_000_000)),
        };
        if let Err((message, expected)) = model.groups.check() {
            return Err(fault(argument, message).expected(expected).into());
        }
        if model.work_ns == 0 {
            let message = "`duty` of `period` is less than 1 ns of work";
            return Err(fault(argument, message)
                .expected("a longer period or more duty")
                .into());
        }
        let realtime = model.class.realtime(model.work_ns, model.period_ns);
        model.attributes.realtime =
            realtime.map_err(|(message, expected)| fault(argument, message).expected(expected))?;
        Ok(model)
    }

    /// Sets one key; the error is what was expected.
    fn set(&mut self, key: &str, text: &str) -> Result<(), &'static str> {
        match key {
            "n" => self.n = count(text).ok_or("a number of tasks, 1..=100000")?,
            "period" => self.period_ns = positive_time(text)?,
            "cal" => self.calibration = calibration(text).ok_or("biggest, or cpuN such as cpu0")?,
            "nice" => self.nice = nice(text).ok_or("a nice value, -20..=19")?,
            "policy" => match policy(text) {
                Some(policy) => self.policy = policy,
                None => self.class.set_policy(text)?,
            },
            "sleep" => self.attributes.io_wait = one_of(text, ["timer", "io"])?,
            "wake" => self.attributes.wake_here = one_of(text, ["free", "here"])?,
            "priority" | "dl_runtime" | "dl_period" | "dl_deadline" => self.class.set(key, text)?,
            "slice" => self.slice_ns = Some(slice(text).ok_or("a time from 100us to 100ms")?),
            "cpus" => {
                let cpus = value::cpu_list(text).ok_or("CPU numbers such as 0-3+5")?;
                self.cpus = Some(cpus);
            }
            _ => {
                self.offset = match text {
                    "random" => Offset::Random,
                    "aligned" => Offset::Fixed(0),
                    _ => Offset::Fixed(time(text).ok_or("random, aligned, or a time (5ms)")?),
                }
            }
        }
        Ok(())
    }

    /// Work per period beyond the period cannot be done even alone on the calibration CPU.
    pub(crate) fn warning(&self, argument: &str) -> Option<String> {
        (self.work_ns > self.period_ns).then(|| {
            let (work, period) = (self.work_ns, self.period_ns);
            format!("workload `{argument}`: {work} ns of work in every period of {period} ns")
        })
    }

    /// The scripts. The random streams are split by task name: more tasks shift none.
    pub(crate) fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts,
    ) -> Result<Workload, WorkloadError> {
        self.check_cpus(argument, machine.nr_cpus)?;
        let mut tasks = Vec::with_capacity(self.n as usize);
        let mut timers = Vec::with_capacity(self.n as usize);
        for index in 0..self.n {
            let name = format!("periodic-{index}");
            let delay_ns = match self.offset {
                Offset::Random => Stream::for_task(seed, &name).below(self.period_ns),
                Offset::Fixed(ns) => ns,
            };
            timers.push(Timer {
                name: format!("{name}/unique"),
                mode: TimerMode::Relative,
                start_delay_ns: delay_ns,
            });
            tasks.push(self.task(name, index, delay_ns));
        }
        Ok(Workload {
            name: argument.to_owned(),
            calibration: self.calibration,
            tasks,
            timers,
            channels: Vec::new(),
            count: None,
            groups: self.groups.expand(self.n),
            duration_ns: None,
            unmodelled: Vec::new(),
        })
    }

    fn task(&self, name: String, timer: u32, delay_ns: u64) -> TaskScript {
        let events = vec![
            Event::Run {
                work_ns: self.work_ns,
            },
            Event::Timer {
                timer,
                period_ns: self.period_ns,
            },
        ];
        let phase = Phase {
            name: "periodic".to_owned(),
            loops: Loops::Times(1),
            cpus: None,
            nice: None,
            events,
        };
        TaskScript {
            name,
            nice: self.nice,
            policy: self.policy,
            attributes: self.attributes,
            cpus: self.cpus.clone(),
            slice_ns: self.slice_ns,
            delay_ns,
            loops: Loops::Forever,
            phases: vec![phase],
        }
    }

    fn check_cpus(&self, argument: &str, nr_cpus: u32) -> Result<(), WorkloadError> {
        let calibration = match self.calibration {
            Calibration::Cpu(cpu) => Some(cpu),
            Calibration::Biggest => None,
        };
        let highest = self.cpus.iter().flatten().copied().chain(calibration).max();
        match highest {
            Some(cpu) if cpu >= nr_cpus => Err(fault(argument, format!("there is no CPU {cpu}"))
                .expected(format!("CPUs 0 to {}", nr_cpus.saturating_sub(1)))
                .into()),
            _ => Ok(()),
        }
    }
}

pub(super) fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|n| (1..=MAX_TASKS).contains(n))
}

fn nice(text: &str) -> Option<i8> {
    text.parse().ok().filter(|nice| (-20..=19).contains(nice))
}

fn policy(text: &str) -> Option<FairPolicy> {
    match text {
        "other" => Some(FairPolicy::Other),
        "batch" => Some(FairPolicy::Batch),
        "idle" => Some(FairPolicy::Idle),
        _ => None,
    }
}

/// Which of two words: false the first, true the second.
fn one_of(text: &str, words: [&str; 2]) -> Result<bool, &'static str> {
    match words.iter().position(|word| *word == text) {
        Some(at) => Ok(at == 1),
        None if words[0] == "timer" => Err("timer or io"),
        None => Err("free or here"),
    }
}

fn calibration(text: &str) -> Option<Calibration> {
    match text {
        "biggest" => Some(Calibration::Biggest),
        _ => value::cpu(text.strip_prefix("cpu")?).map(Calibration::Cpu),
    }
}

pub(super) fn time(text: &str) -> Option<u64> {
    wakeplace_text::parse_duration_or_zero_ns(text)
        .ok()
        .filter(|&ns| ns <= MAX_TIME_NS)
}

/// A slice as the kernel takes it; it clamps to these bounds, here others are refused.
fn slice(text: &str) -> Option<u64> {
    time(text).filter(|ns| (100_000..=100_000_000).contains(ns))
}

pub(super) fn positive_time(text: &str) -> Result<u64, &'static str> {
    time(text)
        .filter(|&ns| ns > 0)
        .ok_or("a time above 0, at most 1000s, such as 16ms or 800us")
}

fn percent(text: &str) -> Result<u64, &'static str> {
    let percent = value::percent_e6(text).filter(|&duty| duty > 0 && duty <= WHOLE_E6);
    percent.ok_or("a percentage above 0%, at most 100%, such as 5%")
}

/// A share of a time, rounded down to whole ns; no overflow: 1e12 * 1e8 needs 67 bits.
fn share(period_ns: u64, duty_e6: u64) -> u64 {
    let share = u128::from(period_ns) * u128::from(duty_e6) / u128::from(WHOLE_E6);
    u64::try_from(share).unwrap_or(period_ns)
}
