//! The same tasks under the kernel's own energy-aware scheduling, under the live scheduler and in
//! the simulator; on which cluster each job began, and how often two agree
//! (docs/results/fidelity.md).
//!
//! What must stay: the guest's and the simulator's runs are counted alike, over the window alone;
//! figures of docs/results/fidelity.md are these. Shares are percent of run time. Free: what leaves
//! the tables of pages as they are. Tests by part: `shares_are_of_the_tasks_own_run_time`
//! (`shares`), `the_simulators_jobs_are_as_long_as_the_measured_ones` (`work_more_ns`),
//! placement/page.rs::`tables_say_what_was_measured` (`task`, `all`, `wakeups_on`, `big`,
//! `biggest`, `markdown`), plan.rs::`light_sets_and_first_starts_come_first` (`of`). `simulated`,
//! `plan`, `run`, `object`, `measure` have no test of their own: they need guests, which `cargo
//! xtask fidelity` boots.
//!
//! Callers: placement/page.rs (`wakeups_on`), placement/truth.rs (`work_more_ns`).
//!
//! Tests: below

mod agree;
mod guest;
mod inside;
mod page;
mod plan;
mod record;
mod recorded;
mod rest;
mod script;
mod sets;
mod sim;
mod starts;
mod trace;
mod truth;

use crate::{Error, Watch};
use agree::{Agreement, Clusters, Wakeups};
use inside::Inside;
use plan::Plan;
use record::{Boot, Recording, Side};
pub use recorded::traced::traced_run;
pub use recorded::{Comparison, compare};
use serde_json::Value;
use sets::Set;
use starts::Start;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
pub use truth::{TreeNames, Truth};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_price::cost::Cost;

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Names of platforms that an arm64 guest can have; none: two that differ most.
    pub platforms: Vec<String>,
    /// Names of sets; none: all of them.
    pub sets: Vec<String>,
    /// One platform and two sets, where none are named.
    pub quick: bool,
    /// Starts of each set under the kernel.
    pub starts: usize,
    /// Measure the kernel without energy-aware scheduling, too.
    pub capacity_aware: bool,
    /// Beginning of the kernel's release; none: the newest.
    pub kernel: Option<String>,
    /// Within so many microseconds each CPU of a guest has its turn; none: as the emulator does.
    pub round_us: Option<u32>,
    /// Boot nothing, and read what an earlier measurement kept here.
    pub from: Option<PathBuf>,
    /// Keep what guests sent here, and boot none that is whole there.
    pub keep: Option<PathBuf>,
    /// A guest that takes longer is ended.
    pub timeout: Duration,
    /// Guests at a time.
    pub jobs: usize,
}

/// The live scheduler's policy, and the simulator's when it is compared with it.
const LIVE_POLICY: &str = "wakeplace";
/// The simulator's policy when it is compared with the kernel.
const KERNEL_POLICY: &str = "linux-7.3+energy-aware";
/// The same when the kernel's energy-aware scheduling is off.
const CAPACITY_POLICY: &str = "linux-7.3-energy-aware";

/// The runs of each set, in the order of [`SetResult::runs`].
const RUNS: [&str; 5] = [
    "kernel",
    "live",
    "simulator 7.3",
    "simulator live",
    "simulator shifted",
];
/// Compared runs, and what the pair is called. The last says how far any two runs of these tasks
/// can agree: the simulator with itself, the tasks started a little later after a tick.
const PAIRS: [(usize, usize, &str); 4] =
    [(0, 1, "a-b"), (0, 2, "a-c"), (1, 3, "b-c"), (2, 4, "c-c'")];
/// Start after a tick in that other run, ns.
const OTHER_OFFSET_NS: u64 = 2 * sets::START_OFFSET_NS;

/// What a set did in one run.
#[derive(Clone, Debug, Default, PartialEq)]
struct SetRun {
    /// In the set's order.
    tasks: Vec<TaskRun>,
    /// Placements by reason, where they were counted for this set.
    reasons: Vec<(String, u64)>,
    /// Energy and waits in the window.
    cost: Cost,
    /// What else happened.
    inside: Inside,
}

/// What a task did.
#[derive(Clone, Debug, Default, PartialEq)]
struct TaskRun {
    /// Where each job began.
    wakeups: Wakeups,
    /// Run time in the window by CPU, ns.
    run_ns: BTreeMap<u32, u64>,
    /// Measured size of a job, in time of a CPU of capacity 1024; none where it was not measured.
    job_ns: Option<u64>,
    /// Where it first ran of what was recorded since the start; None: that was not noted.
    first_cpu: Option<u32>,
}

impl TaskRun {
    /// Share of the run time on each cluster, percent.
    fn shares(&self, clusters: &Clusters) -> Vec<f64> {
        let mut by_cluster = vec![0_u64; clusters.names.len()];
        for (cpu, ran_ns) in &self.run_ns {
            if let Some(sum) = clusters.of_cpu(*cpu).and_then(|at| by_cluster.get_mut(at)) {
                *sum += ran_ns;
            }
        }
        let all = by_cluster.iter().sum::<u64>().max(1);
        by_cluster
            .iter()
            .map(|own| *own as f64 * 100.0 / all as f64)
            .collect()
    }
}

/// A set and its runs.
#[derive(Clone, Debug, PartialEq)]
struct SetResult {
    set: Set,
    /// Of the first start.
    runs: [SetRun; RUNS.len()],
    /// Under the kernel's own scheduler, every start.
    energy_aware: Vec<Start>,
    /// The same with energy-aware scheduling off; empty if that was not measured.
    capacity_aware: Vec<Start>,
}

impl SetResult {
    /// Agreement of a pair, for one task.
    fn task(&self, pair: usize, task: usize, clusters: &Clusters) -> Agreement {
        let (first, second, _) = PAIRS[pair];
        let of = |run: usize| &self.runs[run].tasks[task].wakeups;
        Agreement::of(of(first), of(second), clusters)
    }

    /// Share of a run's wake-ups that began on a cluster, percent.
    fn wakeups_on(&self, run: usize, cluster: usize, clusters: &Clusters) -> f64 {
        let tasks = self.runs[run].tasks.iter();
        let cpus: Vec<u32> = tasks
            .flat_map(|task| task.wakeups.values().copied())
            .collect();
        let there = cpus
            .iter()
            .filter(|cpu| clusters.of_cpu(**cpu) == Some(cluster));
        there.count() as f64 * 100.0 / cpus.len().max(1) as f64
    }

    /// And for all of them.
    fn all(&self, pair: usize, clusters: &Clusters) -> Agreement {
        let mut sum = Agreement::default();
        for task in 0..self.set.tasks.len() {
            sum.add(self.task(pair, task, clusters));
        }
        sum
    }
}

/// All sets of a machine.
#[derive(Clone, Debug, PartialEq)]
struct MachineResult {
    platform: Platform,
    clusters: Clusters,
    /// Release of the guests' kernel.
    kernel: String,
    sets: Vec<SetResult>,
}

impl MachineResult {
    /// The cluster of a CPU of the highest capacity.
    fn big(&self) -> usize {
        biggest(&self.platform)
    }
}

/// The cluster of a CPU of the highest capacity.
fn biggest(platform: &Platform) -> usize {
    let biggest = platform.cpus.iter().max_by_key(|cpu| cpu.capacity);
    biggest.map_or(0, |cpu| cpu.cluster as usize)
}

/// A measurement that can be made: its machines and sets are there.
pub struct Measurement {
    request: Request,
    plans: Vec<Plan>,
}

impl Measurement {
    /// Finds machines and sets.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn plan(request: Request) -> Result<Self, Error> {
        let plans = plan::plans(&request)?;
        Ok(Self { request, plans })
    }

    /// Runs the guests and the simulator.
    ///
    /// # Errors
    /// A guest cannot be booted, or what it sent is no recording.
    pub fn run(&self, watch: &dyn Watch) -> Result<Measured, Error> {
        let boots = plan::boots(&self.plans, &self.request);
        let recorded = record::all(&self.request, &boots, watch)?;
        let plans = self.plans.iter();
        let results = plans.map(|plan| measure(plan, &recorded, watch));
        Ok(Measured {
            machines: results.collect::<Result<_, _>>()?,
            round_us: self.request.round_us,
        })
    }
}

/// What was measured.
pub struct Measured {
    machines: Vec<MachineResult>,
    /// As in [`Request`].
    round_us: Option<u32>,
}

impl Measured {
    /// Tables in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        page::markdown(&self.machines)
    }

    /// One object.
    #[must_use]
    pub fn object(&self) -> Value {
        page::object(&self.machines, self.round_us)
    }
}

/// Simulates what was recorded of a machine.
fn measure(
    plan: &Plan,
    recorded: &[(Boot<'_>, Recording)],
    watch: &dyn Watch,
) -> Result<MachineResult, Error> {
    let platform = &plan.platform;
    let own = || {
        let all = recorded.iter();
        all.filter(|(boot, _)| std::ptr::eq(boot.plan, plan))
    };
    let mut results = Vec::new();
    for set in &plan.sets {
        watch.detail(&format!(
            "{}: set {} in the simulator",
            platform.name, set.name
        ));
        let of = |side| {
            let guests = own().filter(move |(boot, _)| boot.side == side);
            guests
                .filter_map(|(boot, recording)| Some((boot.start, recording.sets.get(&set.name)?)))
        };
        let over = |side, policy| {
            let starts = of(side).map(|(start, kernel)| {
                let kernel = kernel.clone();
                let offset_ns = sets::start_offset_ns(start);
                let simulated = simulated(platform, policy, set, &kernel, offset_ns)?;
                Ok(Start {
                    offset_ns,
                    kernel,
                    simulated,
                })
            });
            starts.collect::<Result<Vec<_>, Error>>()
        };
        let energy_aware = over(Side::EnergyAware, KERNEL_POLICY)?;
        let capacity_aware = over(Side::CapacityAware, CAPACITY_POLICY)?;
        let live = of(Side::Live).next();
        let (Some(first), Some((_, live))) = (energy_aware.first(), live) else {
            return Err(Error::NoResult(format!("{}: no guest", platform.name)));
        };
        let kernel = &first.kernel;
        let again = |policy, offset_ns| simulated(platform, policy, set, kernel, offset_ns);
        let runs = [
            kernel.clone(),
            live.clone(),
            first.simulated.clone(),
            again(LIVE_POLICY, sets::START_OFFSET_NS)?,
            again(KERNEL_POLICY, OTHER_OFFSET_NS)?,
        ];
        results.push(SetResult {
            set: set.clone(),
            runs,
            energy_aware,
            capacity_aware,
        });
    }
    // A folder may have guests of several.
    let releases: BTreeSet<&str> = own()
        .map(|(_, recording)| recording.release.as_str())
        .collect();
    Ok(MachineResult {
        platform: platform.clone(),
        clusters: Clusters::of(platform),
        kernel: Vec::from_iter(releases).join(", "),
        sets: results,
    })
}

/// A set in the simulator, its jobs as long as the kernel's run measured them.
fn simulated(
    platform: &Platform,
    policy: &str,
    set: &Set,
    kernel: &SetRun,
    start_offset_ns: u64,
) -> Result<SetRun, Error> {
    let policy = Policy::parse(policy).map_err(Error::input)?;
    let conditions = sim::Conditions::guest(start_offset_ns);
    let more = work_more_ns(set, kernel);
    sim::run(platform, &policy, set, &more, &conditions)
}

/// By how much the jobs that the guest measured are longer than the set says: the kernel's own time
/// is in them. The simulator's jobs get it too.
fn work_more_ns(set: &Set, measured: &SetRun) -> Vec<i64> {
    let pairs = set.tasks.iter().zip(&measured.tasks);
    pairs
        .map(|(task, ran)| match ran.job_ns {
            Some(job_ns) => {
                let difference = i128::from(job_ns) - i128::from(task.mean_work_ns(set.window_ns));
                i64::try_from(difference).unwrap_or(0)
            }
            None => 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Request {
        /// These machines and sets, ten starts.
        pub(super) fn of(platforms: &[&str], sets: &[&str]) -> Self {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Self {
                platforms: owned(platforms),
                sets: owned(sets),
                quick: false,
                starts: 10,
                capacity_aware: false,
                kernel: None,
                round_us: None,
                from: None,
                keep: None,
                timeout: Duration::from_secs(1800),
                jobs: 1,
            }
        }
    }

    #[test]
    fn shares_are_of_the_tasks_own_run_time() {
        let clusters = Clusters::of(&Platform::load("juno-r0").expect("built in"));
        let run_ns = BTreeMap::from([(0, 10), (1, 60), (5, 30)]);
        let task = TaskRun {
            run_ns,
            ..TaskRun::default()
        };
        assert_eq!(task.shares(&clusters), vec![40.0, 60.0]);
    }

    #[test]
    fn the_simulators_jobs_are_as_long_as_the_measured_ones() {
        let platform = Platform::load("hikey960").expect("built in");
        let set = sets::all(&platform)
            .into_iter()
            .find(|set| set.name == "B")
            .expect("there");
        let ran = |job_ns| TaskRun {
            job_ns,
            ..TaskRun::default()
        };
        // 5 % of 16 ms is 0.8 ms, 45 % is 7.2 ms.
        let jobs = [
            Some(810_000),
            Some(790_000),
            None,
            Some(7_200_000),
            Some(7_283_200),
        ];
        let run = SetRun {
            tasks: jobs.map(ran).to_vec(),
            ..SetRun::default()
        };
        assert_eq!(
            work_more_ns(&set, &run),
            vec![10_000, -10_000, 0, 0, 83_200]
        );
    }
}
