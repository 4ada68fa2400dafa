//! A set in the simulator.

use super::agree::Wakeups;
use super::rest::Rest;
use super::sets::{Set, Step, TaskSpec, WARM_UP_NS};
use super::{SetRun, TaskRun};
use crate::Error;
use crate::cost::{Cost, WindowMeter};
use std::collections::BTreeMap;
use std::ops::Range;
use wakeplace_engine::observe::{Both, Stop};
use wakeplace_engine::{CpuIdle, Observer, Options};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{
    Calibration, Change, Event, Loops, Phase, Shared, Start, StartLine, TaskScript, Timer,
    TimerMode, Workload,
};

/// Work of a task that never sleeps: more than any run is long, ns.
const ENDLESS_NS: u64 = 1_000_000_000_000;

/// The tasks of the guest exist, asleep, for two to three tenths of a second before they start:
/// what a new task is taken to need is forgotten by then, ns.
const ASLEEP_NS: u64 = 300_000_000;

/// What a run is to repeat of the guest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// Start after a tick, ns.
    pub(crate) start_offset_ns: u64,
    /// What chooses the states of idle CPUs.
    pub(crate) cpuidle: CpuIdle,
}

/// Runs a set. `work_more_ns`: by how much each task's jobs are longer than the set says.
pub(crate) fn run(
    platform: &Platform,
    policy: &Policy,
    set: &Set,
    work_more_ns: &[i64],
    conditions: Conditions,
) -> Result<SetRun, Error> {
    let start_ns = ASLEEP_NS + conditions.start_offset_ns;
    let workload = workload(set, work_more_ns, start_ns);
    let rest = Rest::read()?;
    let platform = &rest.guest(platform);
    let options = Options {
        duration_ns: start_ns + WARM_UP_NS + set.window_ns,
        // The guest changes frequencies at once, and its kernel's own time is in the measured sizes
        // of the jobs already.
        transition_latency: false,
        kernel_costs: false,
        cpuidle: conditions.cpuidle,
        fork_ns: Some(rest.fork_ns),
        ..Options::default()
    };
    wakeplace_engine::check(platform, policy, &workload, &options).map_err(Error::input)?;
    let mut recorder = Recorder::new(set, start_ns);
    let mut meter = WindowMeter::new(platform, &recorder.window());
    let report = match &mut meter {
        None => wakeplace_engine::run_watched(platform, policy, &workload, &options, &mut recorder),
        Some(meter) => wakeplace_engine::run_watched(
            platform,
            policy,
            &workload,
            &options,
            &mut Both(&mut recorder, meter),
        ),
    };
    let cpu_energy_j = meter.and_then(|meter| meter.cpu_energy_j());
    let reasons = report
        .reasons
        .iter()
        .map(|(reason, count)| (format!("{reason:?}"), *count));
    Ok(SetRun {
        tasks: recorder.tasks,
        reasons: reasons.collect(),
        cost: Cost::new(cpu_energy_j, recorder.waits_ns),
    })
}

fn workload(set: &Set, work_more_ns: &[i64], start_ns: u64) -> Workload {
    let timer = |task: &TaskSpec| Timer {
        name: task.name.clone(),
        mode: TimerMode::Absolute,
        start_delay_ns: start_ns + task.delay_ns,
    };
    let more = work_more_ns.iter().copied().chain(std::iter::repeat(0));
    Workload {
        name: set.name.clone(),
        calibration: Calibration::Biggest,
        tasks: (0..)
            .zip(&set.tasks)
            .zip(more)
            .map(|((at, t), more)| script(at, t, more, start_ns))
            .collect(),
        // The load program's gate: its first thread opens it when all have come.
        start: Start {
            at_ns: 0,
            line: StartLine::Creator { sync: false },
        },
        timers: set.tasks.iter().map(timer).collect(),
        shared: Shared::default(),
        series: Vec::new(),
        count: None,
        groups: Vec::new(),
        duration_ns: None,
        cpu_dma_latency_us: None,
        wakeups_unknown: false,
        unmodelled: Vec::new(),
    }
}

fn script(timer: u32, task: &TaskSpec, more_ns: i64, start_ns: u64) -> TaskScript {
    let phase = |loops, events| Phase {
        name: task.name.clone(),
        loops,
        cpus: None,
        change: Change::default(),
        memory_nodes: None,
        events,
    };
    let period_ns = task.period_ns;
    let periodic = |step: &Step| {
        let work_ns = step.work_ns.saturating_add_signed(more_ns);
        let loops = step.jobs.map_or(Loops::Forever, Loops::Times);
        phase(
            loops,
            vec![Event::Run { work_ns }, Event::Timer { timer, period_ns }],
        )
    };
    let phases = match task.steps.is_empty() {
        true => vec![phase(
            Loops::Forever,
            vec![Event::Run {
                work_ns: ENDLESS_NS,
            }],
        )],
        false => task.steps.iter().map(periodic).collect(),
    };
    TaskScript {
        delay_ns: start_ns + task.delay_ns,
        ..TaskScript::new(&task.name, Loops::Times(1), phases)
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
}

impl<'a> Recorder<'a> {
    fn new(set: &'a Set, start_ns: u64) -> Self {
        let empty = TaskRun {
            wakeups: Wakeups::new(),
            run_ns: BTreeMap::new(),
            job_ns: None,
        };
        let count = set.tasks.len();
        Self {
            set,
            start_ns,
            tasks: vec![empty; count],
            woken: vec![None; count],
            waits_ns: Vec::new(),
        }
    }
}

impl Recorder<'_> {
    /// The measured window.
    fn window(&self) -> Range<u64> {
        let begin_ns = self.start_ns + WARM_UP_NS;
        begin_ns..begin_ns + self.set.window_ns
    }
}

impl Observer for Recorder<'_> {
    fn wakeup(&mut self, time_ns: u64, task: u32, _cpu: u32, due_ns: u64) {
        let spec = &self.set.tasks[task as usize];
        let release = due_ns
            .checked_sub(self.start_ns)
            .and_then(|due| spec.release(due));
        self.woken[task as usize] = release.filter(|_| self.window().contains(&time_ns));
    }

    fn run_start(&mut self, _time_ns: u64, cpu: u32, task: u32, latency_ns: Option<u64>) {
        if let Some(release) = self.woken[task as usize].take() {
            self.waits_ns.extend(latency_ns);
            self.tasks[task as usize].wakeups.insert(release, cpu);
        }
    }

    fn run_stop(&mut self, time_ns: u64, cpu: u32, task: u32, ran_ns: u64, _stop: Stop) {
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

    #[test]
    fn a_run_says_where_each_job_began_and_ran() {
        let platform = Platform::load("hikey960").expect("built in");
        let policy = Policy::parse("linux-7.3+energy-aware").expect("known");
        let all = sets::all(&platform);
        let set = all.iter().find(|set| set.name == "B").expect("there");
        let conditions = Conditions {
            start_offset_ns: 1_370_000,
            cpuidle: CpuIdle::Menu,
        };
        let outcome = run(&platform, &policy, set, &[], conditions).expect("runs");
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
            let conditions = Conditions {
                start_offset_ns,
                cpuidle: CpuIdle::None,
            };
            let outcome = run(&platform, &policy, set, &[], conditions).expect("runs");
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
        let mut recorder = Recorder::new(&all[0], 7);
        let begin_ns = 7 + WARM_UP_NS;
        let end_ns = begin_ns + all[0].window_ns;
        recorder.run_stop(begin_ns + 10, 1, 0, 50, Stop::Preempted);
        recorder.run_stop(begin_ns + 90, 1, 0, 30, Stop::Preempted);
        recorder.run_stop(end_ns + 70, 2, 0, 100, Stop::Sleeps);
        assert_eq!(recorder.tasks[0].run_ns, BTreeMap::from([(1, 40), (2, 30)]));
    }
}
