//! A job for `wakeplace-guest load`: threads with scripts, a warm-up and a measured window
//! (docs/guide/lab.md).
//!
//! It can say all that the workload scripts of the simulator say (`Run`, `Runtime`, `Sleep`,
//! `Timer`, phases, loops, affinity and nice value per phase), and besides: waiting for and
//! signalling events, starting further tasks, and other scheduling policies. What an op names, it
//! names by index.
//!
//! What must stay: the form of job files: crates/lab writes and this program reads them; both are
//! of one build. Times are ns. Free: words of refusals; a further op, with load/task.rs.
//!
//! Tests by part: `a_job_is_read_whole_and_written_as_it_was_read` (`parse`, all types),
//! `what_cannot_be_run_is_refused_with_its_place` (`check`, `check_task`, `check_phase`,
//! `check_op`, `check_time`, `check_nice`, `check_affinity`),
//! `a_job_in_which_nothing_starts_is_refused` (`check`).
//!
//! Callers: lib.rs (`parse`); crates/lab/src/workload.rs and crates/fidelity write jobs.
//!
//! Tests: below

use serde::{Deserialize, Serialize};

use crate::error::GuestError;

/// CPUs that an affinity can name: bits of glibc's `cpu_set_t`.
pub const CPUS_MAX: u32 = 1024;
/// Larger job files are refused, bytes.
pub const JOB_BYTES_MAX: u64 = 64 << 20;
/// Longer times are refused, so that no sum of times overflows: one day, ns.
const TIME_NS_MAX: u64 = 86_400_000_000_000;

/// A whole run.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// From the start of the tasks to the measured window, ns.
    pub warm_up_ns: u64,
    /// Measured window, ns.
    pub window_ns: u64,
    /// Work goes slower at a lower frequency, as it does on hardware.
    pub frequency_invariant: bool,
    /// By CPU number: what a CPU gets done at its top frequency, of 1024, where that is not the
    /// capacity that the kernel has for it. Empty: it is.
    #[serde(default)]
    pub speeds: Vec<u32>,
    /// Start of the tasks after a multiple of 100 ms of CLOCK_MONOTONIC: shifts their releases
    /// against the scheduler's tick, ns.
    #[serde(default)]
    pub start_offset_ns: u64,
    /// Writes 1 to tracefs' `tracing_on` as the window begins and 0 as it ends.
    #[serde(default)]
    pub trace: bool,
    /// Timers, by index.
    #[serde(default)]
    pub timers: Vec<Timer>,
    /// Number of events that tasks wait for and signal; each counts its signals from 0.
    #[serde(default)]
    pub events: u32,
    /// Tasks, in the order of their creation.
    pub tasks: Vec<Task>,
}

/// One thread, or the pattern of those that `Op::Fork` starts.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Name in the result; the kernel keeps its first 15 bytes.
    pub name: String,
    /// Nice value, -20..=19.
    #[serde(default)]
    pub nice: i8,
    /// Scheduling policy.
    #[serde(default)]
    pub policy: Policy,
    /// CPUs it may run on; null = as it was created.
    #[serde(default)]
    pub affinity: Option<Vec<u32>>,
    /// Sleeps this long after the common start before its first step, ns.
    #[serde(default)]
    pub delay_ns: u64,
    /// Not started with the others, only by `Op::Fork`.
    #[serde(default)]
    pub forked: bool,
    /// Passes over all phases.
    pub loops: Loops,
    /// Phases, in order.
    pub phases: Vec<Phase>,
}

/// Steps repeated as a unit.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Repetitions.
    pub loops: Loops,
    /// Affinity during the phase; null = the task's.
    #[serde(default)]
    pub affinity: Option<Vec<u32>>,
    /// Nice value from here on; null = unchanged.
    #[serde(default)]
    pub nice: Option<i8>,
    /// Steps, in order.
    pub ops: Vec<Op>,
}

/// How often something is repeated.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Loops {
    /// Until the run ends.
    Forever,
    /// This many times.
    Times(u64),
}

/// Scheduling policies of normal tasks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// SCHED_OTHER.
    #[default]
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
}

/// One step of a task.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// CPU work: the time it takes a CPU of capacity 1024 at its top frequency, ns.
    Run {
        /// Work, ns.
        work_ns: u64,
    },
    /// Run until this much wall time has passed, ns.
    Runtime {
        /// Wall time, ns.
        wall_ns: u64,
    },
    /// Run until the run ends.
    Busy,
    /// Sleep from now, ns.
    Sleep {
        /// Duration, ns.
        duration_ns: u64,
    },
    /// Sleep until the next expiry of a timer.
    Timer {
        /// Index into [`Job::timers`].
        timer: u32,
        /// Expiry = previous expiry + this, ns.
        period_ns: u64,
    },
    /// Let the others of this CPU run first (sched_yield).
    Yield,
    /// Wait for a signal of an event and take it.
    Wait {
        /// Index below [`Job::events`].
        event: u32,
    },
    /// Signal an event once: one waiter goes on, now or when it comes.
    Signal {
        /// Index below [`Job::events`].
        event: u32,
    },
    /// Start a new thread of a task.
    Fork {
        /// Index into [`Job::tasks`].
        task: u32,
    },
}

/// A timer. Tasks may share one.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// What a late use does.
    pub mode: TimerMode,
    /// The grid begins this long after the common start, ns.
    #[serde(default)]
    pub start_delay_ns: u64,
}

/// rt-app's two kinds of timer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TimerMode {
    /// A late use moves the grid to now.
    Relative,
    /// A late use keeps the grid: the backlog is worked off without a pause.
    Absolute,
}

impl Job {
    /// Reads and checks a job file's text; `place` names it in messages.
    ///
    /// # Errors
    /// [`GuestError::Input`] with the place, what was found, and what was expected.
    pub fn parse(place: &str, text: &str) -> Result<Self, GuestError> {
        let job: Self = serde_json::from_str(text)
            .map_err(|error| GuestError::Input(format!("{place}: {error}")))?;
        job.check()
            .map_err(|what| GuestError::Input(format!("{place}: {what}")))?;
        Ok(job)
    }

    /// What the types cannot keep out.
    fn check(&self) -> Result<(), String> {
        let times = [
            ("warm_up_ns", self.warm_up_ns),
            ("window_ns", self.window_ns),
            ("start_offset_ns", self.start_offset_ns),
        ];
        for (name, time_ns) in times {
            check_time(name, time_ns)?;
        }
        if let Some(wrong) = self.speeds.iter().find(|s| !(1..=1024).contains(*s)) {
            return Err(format!("speeds: {wrong}, expected 1 to 1024"));
        }
        if self.window_ns == 0 {
            return Err("window_ns: 0, expected at least 1".to_owned());
        }
        if self.tasks.iter().all(|task| task.forked) {
            return Err("tasks: expected at least one that is not `forked`".to_owned());
        }
        for (index, timer) in self.timers.iter().enumerate() {
            let name = format!("timers[{index}].start_delay_ns");
            check_time(&name, timer.start_delay_ns)?;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            self.check_task(task)
                .map_err(|what| format!("tasks[{index}] ({}): {what}", task.name))?;
        }
        Ok(())
    }

    /// A task has a name, and its phases are ones that it can do.
    fn check_task(&self, task: &Task) -> Result<(), String> {
        if task.name.is_empty() || task.name.contains('\0') {
            return Err("name: expected at least one character and no NUL".to_owned());
        }
        check_nice(task.nice)?;
        check_affinity(task.affinity.as_deref())?;
        check_time("delay_ns", task.delay_ns)?;
        if task.phases.is_empty() {
            return Err("phases: expected at least one".to_owned());
        }
        for (index, phase) in task.phases.iter().enumerate() {
            self.check_phase(phase)
                .map_err(|what| format!("phases[{index}]: {what}"))?;
        }
        Ok(())
    }

    /// A phase has steps that can be done.
    fn check_phase(&self, phase: &Phase) -> Result<(), String> {
        check_nice(phase.nice.unwrap_or(0))?;
        check_affinity(phase.affinity.as_deref())?;
        if phase.ops.is_empty() {
            return Err("ops: expected at least one".to_owned());
        }
        for (index, op) in phase.ops.iter().enumerate() {
            self.check_op(*op)
                .map_err(|what| format!("ops[{index}]: {what}"))?;
        }
        Ok(())
    }

    /// What a step names is there.
    fn check_op(&self, op: Op) -> Result<(), String> {
        let below = |name: &str, index: u32, count: usize| {
            if (index as usize) < count {
                Ok(())
            } else {
                Err(format!("{name} {index}: there are {count}"))
            }
        };
        match op {
            Op::Run { work_ns: time_ns }
            | Op::Runtime { wall_ns: time_ns }
            | Op::Sleep {
                duration_ns: time_ns,
            } => check_time("time", time_ns),
            Op::Busy | Op::Yield => Ok(()),
            Op::Timer { timer, period_ns } => {
                below("timer", timer, self.timers.len())?;
                check_time("period_ns", period_ns)
            }
            Op::Wait { event } | Op::Signal { event } => {
                below("event", event, self.events as usize)
            }
            Op::Fork { task } => below("task", task, self.tasks.len()),
        }
    }
}

/// At most `TIME_NS_MAX`.
fn check_time(name: &str, time_ns: u64) -> Result<(), String> {
    if time_ns > TIME_NS_MAX {
        return Err(format!("{name}: {time_ns}, expected at most {TIME_NS_MAX}"));
    }
    Ok(())
}

/// Refuses a nice value outside of -20..=19.
fn check_nice(nice: i8) -> Result<(), String> {
    if !(-20..=19).contains(&nice) {
        return Err(format!("nice: {nice}, expected -20 to 19"));
    }
    Ok(())
}

/// Named CPUs are within what a mask holds.
fn check_affinity(cpus: Option<&[u32]>) -> Result<(), String> {
    let Some(cpus) = cpus else {
        return Ok(());
    };
    if cpus.is_empty() {
        return Err("affinity: empty; expected CPUs, or null for any".to_owned());
    }
    match cpus.iter().find(|&&cpu| cpu >= CPUS_MAX) {
        Some(cpu) => Err(format!(
            "affinity: CPU {cpu}, expected one below {CPUS_MAX}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIODIC: &str = r#"{
        "warm_up_ns": 5000000000, "window_ns": 10000000000, "frequency_invariant": true,
        "start_offset_ns": 1370000, "trace": true, "events": 1,
        "timers": [{"mode": "absolute", "start_delay_ns": 2000000}],
        "tasks": [
            {"name": "t0", "nice": -5, "policy": "batch", "affinity": [0, 3], "delay_ns": 2000000,
             "loops": "forever", "phases": [{"loops": {"times": 31}, "nice": 3, "ops": [
                {"run": {"work_ns": 800000}}, {"timer": {"timer": 0, "period_ns": 16000000}},
                {"signal": {"event": 0}}, {"fork": {"task": 1}}]}]},
            {"name": "child", "forked": true, "loops": {"times": 1},
             "phases": [{"loops": {"times": 1}, "ops": [{"wait": {"event": 0}}, "busy"]}]}]}"#;

    #[test]
    fn a_job_is_read_whole_and_written_as_it_was_read() {
        let job = Job::parse("job.json", PERIODIC).expect("a job");
        assert_eq!(job.tasks[0].affinity, Some(vec![0, 3]));
        assert_eq!(job.tasks[0].policy, Policy::Batch);
        assert_eq!(job.tasks[0].phases[0].loops, Loops::Times(31));
        let timer = Op::Timer {
            timer: 0,
            period_ns: 16_000_000,
        };
        assert_eq!(job.tasks[0].phases[0].ops[1], timer);
        assert!(job.tasks[1].forked && job.tasks[1].policy == Policy::Other);
        let text = serde_json::to_string(&job).expect("text");
        assert_eq!(Job::parse("again", &text).expect("a job"), job);
    }

    /// The message for the periodic job with one word replaced.
    fn refusal(from: &str, to: &str) -> String {
        assert!(PERIODIC.contains(from), "{from}");
        let refused = Job::parse("job.json", &PERIODIC.replacen(from, to, 1));
        refused.expect_err(to).to_string()
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_its_place() {
        for (from, to, what) in [
            (
                "\"timer\": 0",
                "\"timer\": 1",
                "tasks[0] (t0): phases[0]: ops[1]: timer 1: there are 1",
            ),
            (
                "{\"event\": 0}",
                "{\"event\": 4}",
                "ops[2]: event 4: there are 1",
            ),
            ("\"task\": 1", "\"task\": 2", "ops[3]: task 2: there are 2"),
            (
                "[0, 3]",
                "[0, 1024]",
                "affinity: CPU 1024, expected one below 1024",
            ),
            ("[0, 3]", "[]", "affinity: empty"),
            ("-5", "-21", "nice: -21, expected -20 to 19"),
            (
                "\"window_ns\": 10000000000",
                "\"window_ns\": 0",
                "window_ns: 0",
            ),
            (
                "800000}",
                "999999999999999}",
                "time: 999999999999999, expected at most",
            ),
            ("\"t0\"", "\"\"", "name: expected"),
            ("\"delay_ns\"", "\"delay\"", "unknown field `delay`"),
            (
                "{\"work_ns\": 800000}",
                "{\"work\": 800000}",
                "unknown field `work`",
            ),
            ("\"batch\"", "\"fifo\"", "unknown variant `fifo`"),
        ] {
            let message = refusal(from, to);
            assert!(
                message.starts_with("job.json: ") && message.contains(what),
                "{message}"
            );
        }
    }

    #[test]
    fn a_job_in_which_nothing_starts_is_refused() {
        let only_forked =
            PERIODIC.replacen("\"name\": \"t0\"", "\"name\": \"t0\", \"forked\": true", 1);
        let message = Job::parse("job.json", &only_forked).expect_err("refused");
        assert!(message.to_string().contains("not `forked`"), "{message}");
    }
}
