//! The recorded runs: read from their file and checked (docs/results/fidelity.md).
//!
//! What must stay: names of keys in crates/fidelity/data; a file that breaks a rule is refused.
//! Free: what leaves the tables of pages as they are. Tests by part:
//! `a_file_that_breaks_a_rule_is_refused` (`parse`, the three `check`, `place`, `is`),
//! `a_single_run_is_no_repeat` (`check`: two runs at least),
//! `the_ramp_steps_by_the_time_of_release` (`first_job`, both `to_simulate`, `recorded`),
//! traced.rs::`shares_of_the_traces_are_the_recorded_ones` (`percent`, `job_ns`, `repeats`),
//! tests/all/recorded.rs::`the_page_says_what_the_program_says` (`name`, `policy`); `refused` is
//! the tests' own.
//!
//! Callers: placement/recorded.rs (`job_ns`), traced.rs (`job_ns`).
//!
//! Tests: below

use super::super::sets::{Set, Step, TaskSpec, WARM_UP_NS};
use crate::Error;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_platform::Platform;
use wakeplace_text::{did_you_mean, split_toml_message, whereabouts};

/// Measured window of every run, ns.
pub(crate) const WINDOW_NS: u64 = 10_000_000_000;
/// The file within the repository, and its text.
const FILE: (&str, &str) = (
    "crates/fidelity/data/recorded_runs.toml",
    include_str!("../../../data/recorded_runs.toml"),
);
/// Shares have four decimals, so those of a task add up to 1 within this.
const SUM_ERROR_MAX: f64 = 0.000_2;

/// All runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    /// Name of the machine.
    pub(crate) platform: String,
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// How and where it was recorded.
    pub(crate) source: String,
    /// How the figures are known.
    pub(crate) standing: String,
    /// In the order of the page.
    #[serde(rename = "set")]
    pub(crate) sets: Vec<RecordedSet>,
    #[serde(rename = "run")]
    runs: Vec<Run>,
}

/// Tasks that ran together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedSet {
    pub(crate) name: String,
    /// What the tasks are.
    pub(crate) what: String,
    #[serde(rename = "task")]
    pub(crate) tasks: Vec<RecordedTask>,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedTask {
    pub(crate) name: String,
    pub(crate) period_us: u64,
    /// Of a job, in time of a CPU of capacity 1024.
    work_us: u64,
    /// First release after the start.
    phase_us: u64,
    /// Other work from a time in the window on.
    #[serde(default)]
    steps: Vec<WorkStep>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkStep {
    window_ms: u64,
    work_us: u64,
}

/// Which rules the kernel placed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rules {
    /// Energy-aware.
    Eas,
    /// Capacity-aware only: without an energy model.
    Cas,
}

impl Rules {
    /// In the order of the page.
    pub(crate) const ALL: [Self; 2] = [Self::Eas, Self::Cas];

    /// Name in the data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eas => "eas",
            Self::Cas => "cas",
        }
    }

    /// The same rules in the simulator.
    pub(crate) fn policy(self) -> &'static str {
        match self {
            Self::Eas => super::super::KERNEL_POLICY,
            Self::Cas => "linux-7.3-energy-aware",
        }
    }
}

/// One run of a set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    rules: Rules,
    set: String,
    repeat: u32,
    /// Start of the tasks after a tick.
    pub(crate) start_offset_us: u64,
    /// In the set's order.
    pub(crate) tasks: Vec<TaskShares>,
}

/// What was measured of a task.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskShares {
    /// Measured size of its jobs as a share of the period.
    pub(crate) scaled_duty: f64,
    /// Of its run time, by cluster.
    share: BTreeMap<String, f64>,
}

impl TaskShares {
    /// Share on each of these clusters, percent.
    pub(crate) fn percent(&self, clusters: &[String]) -> Vec<f64> {
        let of = |name: &String| self.share.get(name).copied().unwrap_or(0.0) * 100.0;
        clusters.iter().map(of).collect()
    }
}

impl RecordedTask {
    /// Number of the first job that is released at or after a time since the start.
    fn first_job(&self, since_start_ns: u64) -> u64 {
        let phase_ns = self.phase_us * 1000;
        let later_ns = since_start_ns.saturating_sub(phase_ns);
        later_ns.div_ceil(self.period_us * 1000)
    }

    /// The task with the job sizes that were measured.
    fn to_simulate(&self) -> TaskSpec {
        let mut steps = Vec::new();
        let mut work_ns = self.work_us * 1000;
        let mut done = 0;
        for step in &self.steps {
            let job = self.first_job(WARM_UP_NS + step.window_ms * 1_000_000);
            steps.push(Step {
                jobs: Some(job - done),
                work_ns,
            });
            done = job;
            work_ns = step.work_us * 1000;
        }
        steps.push(Step {
            jobs: None,
            work_ns,
        });
        TaskSpec {
            name: self.name.clone(),
            period_ns: self.period_us * 1000,
            delay_ns: self.phase_us * 1000,
            steps,
        }
    }
}

impl RecordedSet {
    /// The same as the simulator takes it.
    pub(crate) fn to_simulate(&self) -> Set {
        Set {
            name: self.name.clone(),
            what: self.what.clone(),
            window_ns: WINDOW_NS,
            tasks: self.tasks.iter().map(RecordedTask::to_simulate).collect(),
        }
    }

    /// A set's periods, phases and sizes are possible ones.
    fn check(&self) -> Result<(), String> {
        let expect = |holds: bool, task: &RecordedTask, what: &str| {
            let place = || format!("set {}, task {}: {what}", self.name, task.name);
            holds.then_some(()).ok_or_else(place)
        };
        for task in &self.tasks {
            expect(task.period_us > 0, task, "period_us is 0; expected more")?;
            let within = task.phase_us < task.period_us;
            expect(within, task, "phase_us; expected less than period_us")?;
            let works = std::iter::once(task.work_us).chain(task.steps.iter().map(|s| s.work_us));
            let fits = works
                .into_iter()
                .all(|us| (1..=task.period_us).contains(&us));
            expect(fits, task, "work_us; expected 1 to period_us")?;
            let rises = task
                .steps
                .windows(2)
                .all(|pair| pair[0].window_ms < pair[1].window_ms);
            let last_ms = task.steps.last().map_or(0, |step| step.window_ms);
            let in_window = rises && last_ms < WINDOW_NS / 1_000_000;
            expect(
                in_window,
                task,
                "steps; expected later and later ones in the window",
            )?;
        }
        let names: BTreeSet<&String> = self.tasks.iter().map(|task| &task.name).collect();
        if self.tasks.is_empty() || names.len() < self.tasks.len() {
            return Err(format!(
                "set {}: expected tasks, each named once",
                self.name
            ));
        }
        Ok(())
    }
}

impl Recorded {
    /// Runs of a set under some rules.
    pub(crate) fn repeats<'a>(
        &'a self,
        rules: Rules,
        set: &'a str,
    ) -> impl Iterator<Item = &'a Run> {
        self.runs
            .iter()
            .filter(move |run| run.rules == rules && run.set == set)
    }

    /// A file's clusters, sets and runs belong together.
    fn check(&self) -> Result<(), String> {
        let platform = Platform::load(&self.platform).map_err(|error| error.to_string())?;
        let clusters: BTreeSet<&str> = platform.clusters.iter().map(|c| &*c.name).collect();
        self.sets.iter().try_for_each(RecordedSet::check)?;
        let mut seen = BTreeSet::new();
        for run in &self.runs {
            let place = format!("run {}", run.place());
            let Some(set) = self.sets.iter().find(|set| set.name == run.set) else {
                return Err(format!("{place}: there is no such set"));
            };
            if !seen.insert((run.rules, &run.set, run.repeat)) {
                return Err(format!("{place}: it is there twice"));
            }
            if run.tasks.len() != set.tasks.len() {
                return Err(format!(
                    "{place}: {} tasks, expected the set's {}",
                    run.tasks.len(),
                    set.tasks.len()
                ));
            }
            run.check(&clusters)
                .map_err(|error| format!("{place}: {error}"))?;
        }
        for set in &self.sets {
            for rules in Rules::ALL {
                if self.repeats(rules, &set.name).count() < 2 {
                    return Err(format!(
                        "set {}: fewer than two runs under {}; expected repeats to compare",
                        set.name,
                        rules.name()
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Run {
    /// Is it this one?
    pub(crate) fn is(&self, rules: Rules, set: &str, repeat: u32) -> bool {
        (self.rules, self.set.as_str(), self.repeat) == (rules, set, repeat)
    }

    /// As messages call it.
    pub(crate) fn place(&self) -> String {
        format!("{} {} {}", self.rules.name(), self.set, self.repeat)
    }

    /// The measured size of a task's jobs.
    pub(crate) fn job_ns(&self, set: &RecordedSet, task: usize) -> u64 {
        let period_ns = set.tasks[task].period_us as f64 * 1000.0;
        (period_ns * self.tasks[task].scaled_duty).round() as u64
    }

    /// A run's shares name each cluster and sum up to all.
    fn check(&self, clusters: &BTreeSet<&str>) -> Result<(), String> {
        for (at, task) in self.tasks.iter().enumerate() {
            let named: BTreeSet<&str> = task.share.keys().map(String::as_str).collect();
            if named != *clusters {
                return Err(format!(
                    "share {at}: expected one for each of the clusters {}",
                    Vec::from_iter(clusters.iter().copied()).join(", ")
                ));
            }
            let sum: f64 = task.share.values().sum();
            let in_range = task.share.values().all(|share| (0.0..=1.0).contains(share));
            if !in_range || (sum - 1.0).abs() > SUM_ERROR_MAX {
                return Err(format!("share {at}: the sum is {sum:.4}, expected 1"));
            }
            if !(task.scaled_duty > 0.0 && task.scaled_duty <= 1.0) {
                let duty = task.scaled_duty;
                return Err(format!("scaled_duty {at}: {duty}, expected 0 to 1, not 0"));
            }
        }
        Ok(())
    }
}

/// The recorded runs of this project.
pub(crate) fn recorded() -> Result<Recorded, Error> {
    let (file, text) = FILE;
    parse(file, text)
}

/// A message has file, line and column.
fn parse(file: &str, text: &str) -> Result<Recorded, Error> {
    let recorded: Recorded = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = whereabouts(text.as_bytes(), at);
        let (problem, expected, hint) = split_toml_message(error.message(), FILE.0);
        let hint = did_you_mean(hint.as_deref());
        Error::Input(format!(
            "{file}:{line}:{column}: {problem}; {expected}{hint}"
        ))
    })?;
    recorded
        .check()
        .map_err(|error| Error::Input(format!("{file}: {error}")))?;
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(old: &str, new: &str) -> String {
        let text = FILE.1.replacen(old, new, 1);
        assert_ne!(text, FILE.1, "{old} is not there");
        match parse("runs.toml", &text) {
            Err(Error::Input(message)) => message,
            other => panic!("{new}: {other:?}"),
        }
    }

    /// What is changed, to what, and words of the answer.
    const BROKEN: [(&str, &str, &str); 18] = [
        (
            "kernel = ",
            "kernle = ",
            "runs.toml:11:1: unknown key `kernle`",
        ),
        ("repeat = 1", "repeat = \"1\"", "runs.toml:"),
        (
            "platform = \"hikey960\"",
            "platform = \"hikey96\"",
            "did you mean `hikey960`",
        ),
        (
            "big = 0.0",
            "large = 0.0",
            "run eas A4 1: share 0: expected one for each",
        ),
        (
            "big = 0.0",
            "big = 0.1",
            "run eas A4 1: share 0: the sum is 1.1000",
        ),
        (
            "little = 1.0, big = 0.0",
            "little = 2.0, big = -1.0",
            "run eas A4 1: share 0",
        ),
        ("little = 1.0", "little = nan", "run eas A4 1: share 0"),
        (
            "scaled_duty = 0.0503",
            "scaled_duty = 0.0",
            "run eas A4 1: scaled_duty 0",
        ),
        (
            "repeat = 2",
            "repeat = 1",
            "run eas A4 1: it is there twice",
        ),
        (
            "rules = \"eas\"",
            "rules = \"easy\"",
            "unknown variant `easy`",
        ),
        (
            "set = \"A4\"",
            "set = \"A5\"",
            "run eas A5 1: there is no such set",
        ),
        (
            "set = \"A4\"",
            "set = \"B\"",
            "run eas B 1: 4 tasks, expected the set's 5",
        ),
        (
            "period_us = 16000",
            "period_us = 0",
            "set A4, task t0: period_us is 0",
        ),
        (
            "phase_us = 7265",
            "phase_us = 16000",
            "set A4, task t0: phase_us",
        ),
        (
            "work_us = 800",
            "work_us = 16001",
            "set A4, task t0: work_us",
        ),
        (
            "name = \"t1\"",
            "name = \"t0\"",
            "set A4: expected tasks, each named once",
        ),
        (
            "window_ms = 500,",
            "window_ms = 0,",
            "set D, task t0: steps",
        ),
        (
            "window_ms = 8000,",
            "window_ms = 10000,",
            "set D, task t0: steps",
        ),
    ];

    #[test]
    fn a_file_that_breaks_a_rule_is_refused() {
        for (old, new, expected) in BROKEN {
            let message = refused(old, new);
            assert!(message.contains(expected), "{new}: {message}");
        }
    }

    #[test]
    fn a_single_run_is_no_repeat() {
        let text = FILE.1.split_once("\n[[run]]").expect("there are runs").0;
        let run = |repeat| {
            format!(
                "[[run]]\nrules = \"eas\"\nset = \"D\"\nrepeat = {repeat}\nstart_offset_us = 1\n\
                 tasks = [{{ scaled_duty = 0.1, share = {{ little = 1.0, big = 0.0 }} }}]\n"
            )
        };
        let text = format!("{text}\n{}", run(1));
        let Err(Error::Input(message)) = parse("runs.toml", &text) else {
            panic!("one run was enough");
        };
        assert!(
            message.contains("fewer than two runs under eas"),
            "{message}"
        );
    }

    #[test]
    fn the_ramp_steps_by_the_time_of_release() {
        let recorded = recorded().expect("valid");
        let set = recorded.sets.iter().find(|set| set.name == "D");
        let task = &set.expect("there").to_simulate().tasks[0];
        // Released at 0.876 ms + k * 16 ms. The window begins at 5 s: k = 313, at 5.008876 s; half
        // a second later k = 344, at 5.504876 s; 8 s later, where 5 % begin again, k = 813.
        let starts: Vec<u64> = task
            .steps
            .iter()
            .scan(0, |done, step| {
                *done += step.jobs?;
                Some(*done)
            })
            .collect();
        assert_eq!(&starts[..3], &[313, 344, 375]);
        assert_eq!(starts.last(), Some(&813));
        let work: Vec<u64> = task
            .steps
            .iter()
            .map(|step| step.work_ns / 160_000)
            .collect();
        assert_eq!(work, [5, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 5]);
    }
}
