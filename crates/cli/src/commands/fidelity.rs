//! `lab fidelity`: the same tasks under the kernel's own energy-aware scheduling, under the live
//! scheduler and in the simulator; on which cluster each job began, and how often two agree.

mod agree;
mod guest;
mod page;
mod recorded;
mod rest;
mod sets;
mod sim;
mod trace;

use super::lab::failure;
use super::lab_watch::Steps;
use super::marked_page;
use crate::args::{LabFidelityArgs, ReportFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::text::json;
use agree::{Agreement, Clusters, Wakeups};
use sets::Set;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use wakeplace_engine::CpuIdle;
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, Request, Work};
use wakeplace_lab::{Arch, Cache, Watch as _};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;

/// Machines if none are named: the two whose energy model is published and that differ most.
const PLATFORMS: [&str; 2] = ["hikey960", "juno-r0"];
/// Of a quick look.
const QUICK: (&str, [&str; 2]) = ("hikey960", ["L35", "B"]);
/// The live scheduler's policy, and the simulator's when it is compared with it.
const LIVE_POLICY: &str = "wakeplace";
/// The simulator's policy when it is compared with the kernel.
const KERNEL_POLICY: &str = "linux-7.3+energy-aware";

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
#[derive(Clone, Debug, PartialEq)]
struct SetRun {
    /// In the set's order.
    tasks: Vec<TaskRun>,
    /// Placements by reason, where they were counted for this set.
    reasons: Vec<(String, u64)>,
}

/// What a task did.
#[derive(Clone, Debug, PartialEq)]
struct TaskRun {
    /// Where each job began.
    wakeups: Wakeups,
    /// Run time in the window by CPU, ns.
    run_ns: BTreeMap<u32, u64>,
    /// Measured size of a job, in time of a CPU of capacity 1024; none where it was not measured.
    job_ns: Option<u64>,
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
    runs: [SetRun; RUNS.len()],
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

/// `lab fidelity`.
pub(crate) fn run(args: &LabFidelityArgs, terminal: Terminal) -> Outcome {
    if args.recorded {
        return recorded::run(args, terminal);
    }
    let plans = plans(args)?;
    let old = args
        .page
        .as_deref()
        .map(|path| marked_page::old_page(path, &page::MEASURED))
        .transpose()?;
    let output = Output::prepare(args.page.as_deref().or(args.output.as_deref()))?;
    let results: Result<Vec<MachineResult>, Failure> = plans
        .iter()
        .map(|plan| measure(args, plan, terminal))
        .collect();
    let results = results?;
    let text = match (old, args.format) {
        (Some(old), _) => marked_page::replace(&old, &page::MEASURED, &page::markdown(&results))?,
        (None, ReportFormat::Md) => page::markdown(&results),
        (None, ReportFormat::Json) => json(&page::object(&results)),
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

/// What is to be run on a machine.
struct Plan {
    machine: Machine,
    platform: Platform,
    sets: Vec<Set>,
}

/// Machines and sets that were asked for.
fn plans(args: &LabFidelityArgs) -> Result<Vec<Plan>, Failure> {
    let named: Vec<&str> = args.platform.iter().map(String::as_str).collect();
    let names = match (named.is_empty(), args.quick) {
        (false, _) => named,
        (true, true) => vec![QUICK.0],
        (true, false) => PLATFORMS.to_vec(),
    };
    let mut plans = Vec::new();
    for name in names {
        let machine = Machine::load(name, Arch::Arm64, None).map_err(|error| failure(&error))?;
        let Some(platform) = machine.platform.clone() else {
            return Err(Failure::Input(format!(
                "--platform {name}: it has no clusters; expected a name from \
                 `wakeplace platform list`"
            )));
        };
        let sets = chosen(sets::all(&platform), args)?;
        plans.push(Plan {
            machine,
            platform,
            sets,
        });
    }
    Ok(plans)
}

/// The sets that were asked for, in the order of the page.
fn chosen(all: Vec<Set>, args: &LabFidelityArgs) -> Result<Vec<Set>, Failure> {
    let wanted: Vec<String> = match (args.sets.is_empty(), args.quick) {
        (false, _) => args.sets.clone(),
        (true, true) => QUICK.1.map(str::to_owned).to_vec(),
        (true, false) => return Ok(all),
    };
    let names: Vec<&str> = all.iter().map(|set| set.name.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::Input(format!(
            "--sets: there is no set `{}`; expected of {}",
            wakeplace_text::shorten(unknown),
            names.join(", ")
        )));
    }
    Ok(all
        .into_iter()
        .filter(|set| wanted.contains(&set.name))
        .collect())
}

/// Runs the sets of a machine everywhere.
fn measure(
    args: &LabFidelityArgs,
    plan: &Plan,
    terminal: Terminal,
) -> Result<MachineResult, Failure> {
    let Plan {
        machine,
        platform,
        sets,
    } = plan;
    let kernel = guest_text(args, machine, sets, Scheduler::Kernel, terminal)?;
    let live = Scheduler::Wakeplace {
        policy: Some(LIVE_POLICY.to_owned()),
    };
    let live = guest_text(args, machine, sets, live, terminal)?;
    let release = guest::release(&kernel).unwrap_or_default().to_owned();
    let runs = guest::outcomes(&kernel, sets)?
        .into_iter()
        .zip(guest::outcomes(&live, sets)?);
    let mut results = Vec::new();
    for (set, (kernel, live)) in sets.iter().zip(runs) {
        terminal.detail(&format!(
            "{}: set {} in the simulator",
            platform.name, set.name
        ));
        let more = work_more_ns(set, &kernel);
        let simulated = |name: &str, start_offset_ns| {
            let policy = Policy::parse(name).map_err(Failure::input)?;
            let conditions = sim::Conditions {
                start_offset_ns,
                cpuidle: CpuIdle::None,
            };
            sim::run(platform, &policy, set, &more, conditions)
        };
        let as_kernel = simulated(KERNEL_POLICY, sets::START_OFFSET_NS)?;
        let as_live = simulated(LIVE_POLICY, sets::START_OFFSET_NS)?;
        let shifted = simulated(KERNEL_POLICY, OTHER_OFFSET_NS)?;
        let runs = [kernel, live, as_kernel, as_live, shifted];
        results.push(SetResult {
            set: set.clone(),
            runs,
        });
    }
    let clusters = Clusters::of(platform);
    Ok(MachineResult {
        platform: platform.clone(),
        clusters,
        kernel: release,
        sets: results,
    })
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

/// What the guest wrote: booted now, or kept from an earlier run.
fn guest_text(
    args: &LabFidelityArgs,
    machine: &Machine,
    sets: &[Set],
    scheduler: Scheduler,
    terminal: Terminal,
) -> Result<String, Failure> {
    let short = match scheduler {
        Scheduler::Kernel => "kernel",
        Scheduler::Wakeplace { .. } => "live",
    };
    let folder = |base: &Path| base.join(format!("{}-{short}", machine.name));
    if let Some(base) = &args.from {
        let path = folder(base).join("stdout");
        return std::fs::read_to_string(&path)
            .map_err(|error| Failure::Input(format!("--from: {}: {error}", path.display())));
    }
    let lab = |error| failure(&error);
    let cache = Cache::of_user().map_err(lab)?;
    let scratch = cache.scratch().map_err(lab)?;
    let request = Request {
        arch: Arch::Arm64,
        machine: machine.clone(),
        scheduler,
        kernel: args.kernel.clone(),
        icount: true,
        timeout: Duration::from_nanos(args.timeout),
        trace: false,
        work: Work::Command(guest::command()),
        files: guest::write_files(sets, scratch.path())?,
        packages: Vec::new(),
        systemd: false,
        keep: args.keep.as_deref().map(folder),
    };
    let steps = Steps::start(terminal);
    steps.step(&format!(
        "{}: {} sets, scheduler {}",
        machine.name,
        sets.len(),
        request.scheduler
    ));
    let result = run::run(&cache, &request, &steps);
    drop(steps);
    let result = result.map_err(lab)?;
    match result.exit_code {
        0 => Ok(result.stdout),
        code => Err(Failure::NoResult(format!(
            "the sets in the guest (scheduler {}) ended with exit code {code}: {}",
            request.scheduler,
            result.stderr.trim()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_tasks_own_run_time() {
        let clusters = Clusters::of(&Platform::load("juno-r0").expect("built in"));
        let run_ns = BTreeMap::from([(0, 10), (1, 60), (5, 30)]);
        let task = TaskRun {
            wakeups: Wakeups::new(),
            run_ns,
            job_ns: None,
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
            wakeups: Wakeups::new(),
            run_ns: BTreeMap::new(),
            job_ns,
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
            reasons: Vec::new(),
        };
        assert_eq!(
            work_more_ns(&set, &run),
            vec![10_000, -10_000, 0, 0, 83_200]
        );
    }
}
