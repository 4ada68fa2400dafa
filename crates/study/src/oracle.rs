//! `--oracle`: how far a run's energy is from that of the best static placement of its load
//! (docs/decisions/036). The load is what the run's tasks did; the optimum knows no policy.
//!
//! What must stay: the observer only listens and changes no run; work is speed (1024 the fastest
//! CPU at its highest clock) times ns, exact in integers; metrics are added, and all others keep
//! their values. Tests by part: `work_follows_capacity_and_frequency` (`Demand`, `count`),
//! `a_task_may_use_what_any_phase_may` (`affinity`), `the_note_is_on_what_is_known_least` (`note`),
//! `the_oracle_wants_a_machine_that_stays_as_it_is` (`check_fixed`),
//! study/column_tests.rs::`an_oracle_may_be_asked` (`judge`, `machine`),
//! crates/optimum/tests/brute_force.rs (the search).
//!
//! Tests: below, crates/optimum/tests/brute_force.rs,
//! crates/cli/tests/all/bad_input.rs::the_oracle_wants_a_machine_that_stays_as_it_is,
//! crates/study/src/study/column_tests.rs

use crate::StudyError;
use wakeplace_engine::{Happening, Observer, Options, RunReport};
use wakeplace_metrics::RunMetrics;
use wakeplace_optimum::{DEMAND_SCALE, Limits, Load, Machine, POWER_SCALE, Verdict, search};
use wakeplace_platform::{CpuId, Platform, PowerUnit};
use wakeplace_workload::{TaskScript, Workload};

/// Demand is rounded down to 1/16 of a capacity unit, so that tasks which do the same are the same.
const GRAIN: u64 = DEMAND_SCALE / 16;

/// The machine as the optimum sees it.
pub(crate) fn machine(platform: &Platform) -> Result<Machine, StudyError> {
    Machine::new(platform).map_err(|refusal| StudyError::NoOracle {
        platform: platform.name.clone(),
        refusal,
    })
}

/// The best placement is that of a machine that stays as it is.
pub(crate) fn check_fixed(options: &Options) -> Result<(), StudyError> {
    let fixed = options.hotplug.is_empty() && options.freq_cap.is_empty() && !options.thermal;
    match fixed {
        true => Ok(()),
        false => Err(StudyError::Empty(
            "`--oracle` places tasks on a machine that stays as it is; expected no \
             `--hotplug`, no `model.freq_cap` and no `model.thermal`",
        )),
    }
}

/// Measures what each task gets done: capacity by frequency by time.
#[derive(Debug)]
pub(crate) struct Demand {
    /// Per CPU and operating point, `DEMAND_SCALE` per capacity unit.
    speed: Vec<Vec<u64>>,
    domain_of: Vec<usize>,
    opp: Vec<usize>,
    /// Task that runs on each CPU, and since when its work is not counted.
    running: Vec<Option<(usize, u64)>>,
    /// Per task, speed x ns.
    work: Vec<u128>,
}

impl Demand {
    /// The platform's speeds by operating point, on the search's scale.
    pub(crate) fn new(platform: &Platform) -> Self {
        let ids = || (0..).take(platform.cpus.len()).map(CpuId);
        let speed = |cpu: CpuId| {
            let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
            let top = opps.last().map_or(1, |opp| u64::from(opp.khz));
            let full = u64::from(platform.cpus[cpu.index()].speed) * DEMAND_SCALE;
            opps.iter()
                .map(|opp| full * u64::from(opp.khz) / top)
                .collect()
        };
        Self {
            speed: ids().map(speed).collect(),
            domain_of: ids().map(|cpu| platform.freq_domain_of(cpu)).collect(),
            opp: vec![0; platform.freq_domains.len()],
            running: vec![None; platform.cpus.len()],
            work: Vec::new(),
        }
    }

    /// Adds the work that the CPU's task did since it was last counted, at the clock of that time.
    /// Called before the clock or the task changes.
    fn count(&mut self, cpu: usize, time_ns: u64) {
        let speed = self.speed[cpu][self.opp[self.domain_of[cpu]]];
        if let Some((task, since_ns)) = &mut self.running[cpu] {
            self.work[*task] += u128::from(speed) * u128::from(time_ns - *since_ns);
            *since_ns = time_ns;
        }
    }

    /// The mean over the run, task by task.
    fn loads(&self, report: &RunReport, workload: &Workload) -> Vec<Load> {
        let load = |(task, thread): (usize, &wakeplace_engine::ThreadName)| {
            let work = self.work.get(task).copied().unwrap_or(0);
            let mean = work / u128::from(report.end_ns.max(1));
            Load {
                demand: u64::try_from(mean).unwrap_or(u64::MAX) / GRAIN * GRAIN,
                cpus: workload
                    .tasks
                    .get(thread.script as usize)
                    .and_then(affinity),
            }
        };
        report.threads.iter().enumerate().map(load).collect()
    }
}

/// CPUs that a task may use at one time or another; None: all. A phase without a set of its own has
/// the task's.
fn affinity(task: &TaskScript) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for phase in &task.phases {
        cpus.extend(phase.cpus.as_ref().or(task.cpus.as_ref())?);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

impl Observer for Demand {
    /// Clocks, begins and ends of running: all that work consists of.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::RunStart { cpu, task, .. } => self.run_start(time_ns, cpu, task),
            Happening::RunStop { cpu, .. } => self.run_stop(time_ns, cpu),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl Demand {
    /// Counts up to now at the old clock of the domain, then takes the new one.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        for cpu in 0..self.running.len() {
            if self.domain_of[cpu] == domain as usize {
                self.count(cpu, time_ns);
            }
        }
        self.opp[domain as usize] = opp.into();
    }

    /// A task begins to run on a CPU; its work counts from now.
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32) {
        let task = task as usize;
        if self.work.len() <= task {
            self.work.resize(task + 1, 0);
        }
        self.running[cpu as usize] = Some((task, time_ns));
    }

    /// A task leaves its CPU: its work is counted up to now.
    fn run_stop(&mut self, time_ns: u64, cpu: u32) {
        self.count(cpu as usize, time_ns);
        self.running[cpu as usize] = None;
    }

    /// The run is over: what still runs is counted up to its end.
    fn finish(&mut self, time_ns: u64) {
        for cpu in 0..self.running.len() {
            self.count(cpu, time_ns);
        }
    }
}

/// What the search said of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judged {
    /// Energies in the unit of the meter.
    Found {
        best: f64,
        bound: f64,
        unit: &'static str,
        nodes: u64,
        tasks: usize,
    },
    Impossible,
    Unknown,
}

/// Searches, and enters what was found into the run's metrics.
pub(crate) fn judge(
    machine: &Machine,
    demand: &Demand,
    report: &RunReport,
    workload: &Workload,
    metrics: &mut RunMetrics,
) -> Judged {
    let loads = demand.loads(report, workload);
    let found = match search(machine, &loads, Limits::default()) {
        Verdict::Found(found) => found,
        Verdict::Impossible => return Judged::Impossible,
        Verdict::Unknown => return Judged::Unknown,
    };
    let Some(energy) = metrics.energy.clone() else {
        return Judged::Unknown;
    };
    let whole =
        |power: u64| u128::from(power) * u128::from(report.end_ns) / u128::from(POWER_SCALE);
    let scaled = |power: u64| energy.scaled(whole(power)).unwrap_or(0.0);
    let (best, bound) = (scaled(found.power), scaled(found.bound));
    let measured = energy.scaled(energy.cpu_energy).unwrap_or(0.0);
    let values = &mut metrics.values;
    let name = match energy.unit {
        PowerUnit::Bogo => "optimal_cpu_energy_bogo",
        _ => "optimal_cpu_energy_j",
    };
    values.set(name, best);
    if best > 0.0 {
        values.set("energy_over_optimal_pct", (measured - best) / best * 100.0);
        values.set("optimal_unproven_pct", (best - bound) / best * 100.0);
    }
    Judged::Found {
        best,
        bound,
        unit: energy.scaled_unit(),
        nodes: found.nodes,
        tasks: loads.len(),
    }
}

/// A line on the runs of one policy: of all its seeds the one that is known least.
pub(crate) fn note(policy: &str, judged: &[&Judged]) -> Option<String> {
    let gap = |judged: &Judged| match judged {
        Judged::Found { best, bound, .. } => (best - bound) / best.max(f64::MIN_POSITIVE),
        Judged::Impossible | Judged::Unknown => f64::INFINITY,
    };
    let worst = judged.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    Some(match worst {
        Judged::Found {
            best,
            bound,
            unit,
            nodes,
            tasks,
        } if bound < best => format!(
            "oracle, {policy}: the search stopped after {nodes} partial placements of {tasks} \
             tasks; its best takes {best:.4} {unit}, and it is proven that none takes less than \
             {bound:.4} {unit}"
        ),
        Judged::Found {
            best,
            unit,
            nodes,
            tasks,
            ..
        } => format!(
            "oracle, {policy}: the best static placement of {tasks} tasks takes {best:.4} {unit}, \
             proven with {nodes} partial placements"
        ),
        Judged::Impossible => format!(
            "oracle, {policy}: no static placement holds this load (proven), so there is no optimum"
        ),
        Judged::Unknown => {
            let Limits { nodes, tasks } = Limits::default();
            format!(
                "oracle, {policy}: no placement was found within the limits of the search, {tasks} \
                 tasks and {nodes} partial placements"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Demand, Judged, affinity, note};
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::Stop;
    use wakeplace_platform::Platform;
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    /// A phase without a set of its own has the task's: all CPUs, if that has none.
    #[test]
    fn a_task_may_use_what_any_phase_may() {
        let task = |second: &str, own: &str| {
            let text = format!(
                r#"{{"tasks": {{"t": {{{own} "phases": {{
                "a": {{"cpus": [4], "run": 1000}}, "b": {{{second} "run": 1000}}}}}}}},
                "global": {{"duration": 1}}}}"#
            );
            let spec = Spec::parse_rtapp(text.as_bytes(), "t.json", &LoadOptions::default());
            let workload = spec.unwrap().expand(1, MachineFacts::alike(8)).unwrap();
            affinity(&workload.tasks[0])
        };
        assert_eq!(task("", ""), None);
        assert_eq!(task(r#""cpus": [1, 2],"#, ""), Some(vec![1, 2, 4]));
        assert_eq!(task("", r#""cpus": [0, 1],"#), Some(vec![0, 1, 4]));
    }

    /// On hikey960, by hand: A53 462 at 1844 MHz, 133.54 at 533; A73 1024 at 2362 MHz.
    #[test]
    fn work_follows_capacity_and_frequency() {
        let platform = Platform::builtin("hikey960").unwrap();
        let mut demand = Demand::new(&platform);
        const MS: u64 = 1_000_000;
        for domain in 0..2 {
            happen!(demand, 0 => Frequency { domain, opp: 4 });
        }
        happen!(demand, 0 => RunStart { cpu: 0, task: 1, wake_latency_ns: None });
        happen!(demand, 5 * MS => RunStart { cpu: 7, task: 0, wake_latency_ns: None });
        happen!(demand, 10 * MS => Frequency { domain: 0, opp: 0 });
        happen!(demand, 20 * MS =>
            RunStop { cpu: 0, task: 1, ran_ns: 20 * MS, stop: Stop::Sleeps });
        happen!(demand, 25 * MS => Finish);
        let little = 462 * 1024;
        let slow = 462 * 1024 * 533 / 1844;
        assert_eq!(demand.work[1], (u128::from(MS)) * 10 * (little + slow));
        assert_eq!(demand.work[0], u128::from(MS) * 20 * 1024 * 1024);
    }

    #[test]
    fn the_note_is_on_what_is_known_least() {
        let found = |bound| Judged::Found {
            best: 2.0,
            bound,
            unit: "J",
            nodes: 7,
            tasks: 3,
        };
        let (proven, open) = (found(2.0), found(1.5));
        let text = note("p", &[&proven, &open]).unwrap();
        assert!(text.contains("none takes less than 1.5000 J"), "{text}");
        let text = note("p", &[&proven]).unwrap();
        assert!(text.contains("takes 2.0000 J, proven"), "{text}");
        let text = note("p", &[&open, &Judged::Impossible]).unwrap();
        assert!(text.contains("no static placement"), "{text}");
        assert_eq!(note("p", &[]), None);
    }
}
