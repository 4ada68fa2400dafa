//! A set in the simulator (docs/results/fidelity.md).
//!
//! What must stay: the beginning and the window are the guest's; stretches are cut at the window's
//! ends. Free: what leaves the tables of pages as they are. Tests by part:
//! `a_run_says_where_each_job_began_and_ran` (`guest`, `run`, `watched`, `counts`, `happened`,
//! `wakeup`, `run_start`), `a_mark_of_the_first_moments_is_cleared` (the set's beginning),
//! `run_time_is_counted_within_the_window` (`new`, both `window`, `run_stop`). `frequency` has no
//! test of its own: inside.rs has a test of what it counts.
//!
//! Callers: placement.rs (`run`), recorded.rs (`run`), truth.rs (`run`).
//!
//! Tests: below

use super::inside::{Counter, Counts, Inside};
use super::rest::Rest;
use super::script::workload;
use super::sets::{Set, WARM_UP_NS};
use super::{SetRun, TaskRun};
use crate::Error;
use std::ops::Range;
use wakeplace_engine::observe::{Both, NoObserver, Stop};
use wakeplace_engine::{CpuIdle, Ended, Happening, Observer, Options, RunReport};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_price::cost::{Cost, WindowMeter};
use wakeplace_study::runs_of;
use wakeplace_workload::Workload;

/// The tasks of the guest exist, asleep, for two to three tenths of a second before they start:
/// what a new task is taken to need is forgotten by then, ns.
const ASLEEP_NS: u64 = 300_000_000;

/// What a run is to repeat of the guest's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// Start after a tick, ns.
    pub(crate) start_offset_ns: u64,
    /// What chooses the states of idle CPUs.
    pub(crate) cpuidle: CpuIdle,
    /// The CPU that each task begins on; where there is none, the one that it is given.
    pub(crate) begin: Vec<Option<u32>>,
    /// The CPU on which their creator begins; None: the one that it is given.
    pub(crate) creator: Option<u32>,
    /// What a creation takes, ns; None: as measured in a guest at rest.
    pub(crate) fork_ns: Option<u64>,
}

impl Conditions {
    /// As guests have it: no cpuidle driver, and tasks that begin where they are put.
    pub(crate) fn guest(start_offset_ns: u64) -> Self {
        Self {
            start_offset_ns,
            cpuidle: CpuIdle::None,
            begin: Vec::new(),
            creator: None,
            fork_ns: None,
        }
    }
}

/// Runs a set. `work_more_ns`: by how much each task's jobs are longer than the set says.
pub(crate) fn run(
    platform: &Platform,
    policy: &Policy,
    set: &Set,
    work_more_ns: &[i64],
    conditions: &Conditions,
) -> Result<SetRun, Error> {
    let start_ns = ASLEEP_NS + conditions.start_offset_ns;
    let all_cpus: Vec<u32> = (0..).take(platform.cpus.len()).collect();
    let workload = workload(set, work_more_ns, conditions, start_ns, &all_cpus);
    let rest = Rest::read()?;
    let platform = &rest.guest(platform);
    let options = Options {
        duration_ns: start_ns + WARM_UP_NS + set.window_ns,
        // The guest changes frequencies at once, and its kernel's own time is in the measured sizes
        // of the jobs already.
        transition_latency: false,
        kernel_costs: false,
        cpuidle: conditions.cpuidle,
        fork_ns: conditions.fork_ns.or(Some(rest.fork_ns)),
        parent_cpu: conditions.creator,
        ..Options::default()
    };
    wakeplace_engine::check(platform, policy, &workload, &options).map_err(Error::input)?;
    let mut recorder = Recorder::new(platform, set, start_ns);
    let mut meter = WindowMeter::new(platform, &recorder.window());
    let mut nobody = NoObserver;
    let second: &mut dyn Observer = match &mut meter {
        Some(meter) => meter,
        None => &mut nobody,
    };
    let mut both = Both(&mut recorder, second);
    let report = watched(platform, policy, &workload, &options, &mut both)?;
    let cpu_energy_j = meter.and_then(|meter| meter.cpu_energy_j());
    let reasons = report
        .reasons
        .iter()
        .map(|(reason, count)| (format!("{reason:?}"), *count));
    Ok(SetRun {
        tasks: recorder.tasks,
        reasons: reasons.collect(),
        cost: Cost::new(cpu_energy_j, recorder.waits_ns),
        inside: Inside {
            counts: counts(&report),
            ..recorder.counter.inside()
        },
    })
}

/// A run under a policy, or under a tree's own kernel.
fn watched(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<RunReport, Error> {
    let Some(tree) = runs_of(policy) else {
        let report = wakeplace_engine::run_watched(platform, policy, workload, options, observer);
        return Ok(report);
    };
    let ran = tree
        .map_err(Error::input)?
        .run(platform, workload, options, observer);
    let failed = |said: &str| Error::NoResult(format!("{}: {said}", policy.name()));
    let report = ran.map_err(|why| failed(&why))?;
    match &report.ended {
        Ended::Kernel { said } => Err(failed(said)),
        _ => Ok(report),
    }
}

/// What the kernel counted, a second of the whole run.
fn counts(report: &RunReport) -> Counts {
    let rate = |number: u64| Some(number as f64 * 1e9 / report.end_ns.max(1) as f64);
    match &report.kernel_counts {
        Some(own) => Counts {
            switches: rate(own.switches),
            timers: rate(own.timer_interrupts),
            passes: rate(own.balance_passes),
        },
        None => Counts::default(),
    }
}

/// Notes where jobs begin, and how long tasks ran where.
struct Recorder<'a> {
    set: &'a Set,
    start_ns: u64,
    tasks: Vec<TaskRun>,
    /// Release for which a task was woken up and has not run yet.
    woken: Vec<Option<u64>>,
    /// From each wake-up in the window to the run after it, ns.
    waits_ns: Vec<u64>,
    /// Frequencies of each domain, kHz.
    khz: Vec<Vec<u32>>,
    counter: Counter,
}

impl<'a> Recorder<'a> {
    /// Nothing seen yet; the set's start is in ns of the run.
    fn new(platform: &Platform, set: &'a Set, start_ns: u64) -> Self {
        let count = set.tasks.len();
        let domains = platform.freq_domains.iter();
        Self {
            set,
            start_ns,
            tasks: vec![TaskRun::default(); count],
            woken: vec![None; count],
            waits_ns: Vec::new(),
            khz: domains
                .map(|domain| domain.opps.iter().map(|opp| opp.khz).collect())
                .collect(),
            counter: Counter::new(&window(set, start_ns), platform, count),
        }
    }

    /// The measured window.
    fn window(&self) -> Range<u64> {
        window(self.set, self.start_ns)
    }
}

/// What is counted: after the warm-up, ns.
fn window(set: &Set, start_ns: u64) -> Range<u64> {
    let begin_ns = start_ns + WARM_UP_NS;
    begin_ns..begin_ns + set.window_ns
}

impl Observer for Recorder<'_> {
    /// Counts by the same rules as a guest's trace is counted.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Wakeup { task, due_ns, .. } => self.wakeup(time_ns, task, due_ns),
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::RunStart {
                cpu,
                task,
                wake_latency_ns,
            } => self.run_start(time_ns, cpu, task, wake_latency_ns),
            Happening::RunStop {
                cpu,
                task,
                ran_ns,
                stop,
            } => self.run_stop(time_ns, cpu, task, ran_ns, stop),
            _ => {}
        }
    }
}

impl Recorder<'_> {
    /// Kept until the task runs: its wait ends there.
    fn wakeup(&mut self, time_ns: u64, task: u32, due_ns: u64) {
        let spec = &self.set.tasks[task as usize];
        let release = due_ns
            .checked_sub(self.start_ns)
            .and_then(|due| spec.release(due));
        self.woken[task as usize] = release.filter(|_| self.window().contains(&time_ns));
    }

    /// By the platform's domains, kHz.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let khz = self.khz[domain as usize][usize::from(opp)];
        self.counter.frequency(time_ns, domain as usize, khz);
    }

    /// `latency_ns`: None, if it did not wake.
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32, latency_ns: Option<u64>) {
        self.counter.runs(time_ns, cpu, task as usize);
        if let Some(release) = self.woken[task as usize].take() {
            self.waits_ns.extend(latency_ns);
            self.tasks[task as usize].wakeups.insert(release, cpu);
        }
    }

    /// Run time counts as far as it lies in the window.
    fn run_stop(&mut self, time_ns: u64, cpu: u32, task: u32, ran_ns: u64, stop: Stop) {
        if stop.sleeps() {
            self.counter.sleeps(cpu);
        }
        let window = self.window();
        let end_ns = time_ns.min(window.end);
        let begin_ns = time_ns.saturating_sub(ran_ns).max(window.start);
        let in_window_ns = end_ns.saturating_sub(begin_ns);
        *self.tasks[task as usize].run_ns.entry(cpu).or_default() += in_window_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::sets;
    use std::collections::BTreeMap;

    #[test]
    fn a_run_says_where_each_job_began_and_ran() {
        let platform = Platform::load("hikey960").expect("built in");
        let policy = Policy::parse("linux-7.3+energy-aware").expect("known");
        let all = sets::all(&platform);
        let set = all.iter().find(|set| set.name == "B").expect("there");
        let conditions = Conditions {
            cpuidle: CpuIdle::Menu,
            ..Conditions::guest(1_370_000)
        };
        let outcome = run(&platform, &policy, set, &[], &conditions).expect("runs");
        // 5 s of 16 ms: 312 or 313 releases.
        for task in &outcome.tasks {
            assert!(
                (312..=313).contains(&task.wakeups.len()),
                "{}",
                task.wakeups.len()
            );
        }
        // 5 % of the biggest CPU cannot take less CPU time than 5 %, wherever it runs.
        let ran: u64 = outcome.tasks[0].run_ns.values().sum();
        assert!(ran >= set.window_ns / 20 - 800_000, "{ran}");
        // The recorded kernel has them there: small ones little, heavy ones big (CPUs 4 to 7).
        assert!(outcome.tasks[0].wakeups.values().all(|cpu| *cpu < 4));
        assert!(outcome.tasks[3].wakeups.values().all(|cpu| *cpu >= 4));
    }

    /// Goal: an overutilized mark of the first moments does not stay: idle CPUs keep their tick
    /// until one was taken, and its pass over the widest domain clears the mark. Method: six
    /// tasks of 10 % on Juno; a marked machine leaves them on big CPUs for good, an unmarked one
    /// has most of their wake-ups on little ones (the kernel 98 %).
    #[test]
    fn a_mark_of_the_first_moments_is_cleared() {
        let platform = Platform::load("juno-r0").expect("built in");
        let policy = Policy::parse("linux-7.3+energy-aware").expect("known");
        let all = sets::all(&platform);
        let set = all.iter().find(|set| set.name == "E").expect("there");
        for start_offset_ns in [1_370_000, 2_740_000, 4_110_000] {
            let conditions = Conditions::guest(start_offset_ns);
            let outcome = run(&platform, &policy, set, &[], &conditions).expect("runs");
            let wakeups = outcome
                .tasks
                .iter()
                .flat_map(|task| task.wakeups.values().copied());
            let (big, little): (Vec<u32>, Vec<u32>) = wakeups.partition(|cpu| [1, 2].contains(cpu));
            assert!(
                big.len() * 4 < little.len(),
                "{} {}",
                big.len(),
                little.len()
            );
        }
    }

    #[test]
    fn run_time_is_counted_within_the_window() {
        let platform = Platform::load("hikey960").expect("built in");
        let all = sets::all(&platform);
        let mut recorder = Recorder::new(&platform, &all[0], 7);
        let begin_ns = 7 + WARM_UP_NS;
        let end_ns = begin_ns + all[0].window_ns;
        recorder.run_stop(begin_ns + 10, 1, 0, 50, Stop::Preempted);
        recorder.run_stop(begin_ns + 90, 1, 0, 30, Stop::Preempted);
        recorder.run_stop(end_ns + 70, 2, 0, 100, Stop::Sleeps);
        assert_eq!(recorder.tasks[0].run_ns, BTreeMap::from([(1, 40), (2, 30)]));
    }
}
