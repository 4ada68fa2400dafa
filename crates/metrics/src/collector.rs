//! Everything that is measured of a run, in one observer (docs/guide/results.md, "What a result
//! holds"). What it hears it passes to each observer of this crate; none changes another.
//!
//! One for each run, made by `crates/study/src/pool.rs`. Listening changes no run. Names and units
//! of metrics are `metric/table.rs`'.
//!
//! What must stay: what is hashed and in which order (`add_figures`): results have the hash, and
//! scripts/same-runs.txt records it. Runs of equal hashes are one run (`independent`;
//! docs/guide/results.md, "Intervals"). What a run did not measure is absent, not 0. Free: what
//! leaves every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `every_observer_reports` (`finish`, `effects`, `work_done`, `seconds`, `value_of`, `happened`),
//! `every_plain_metric_is_reported_or_excluded_by_the_platform` (`finish`),
//! `unknown_wakeups_have_no_latency` and `no_power_figures_no_energy` (`collector`),
//! `a_report_of_another_run_is_refused` (the check of the end), `series_and_pairs_run_by_run`
//! (`series`, `paired`), `equal_runs_are_one` (`independent`). No test of its own: `budgets`;
//! `add_figures`, whose hashes `cargo xtask same-runs` compares. `kept` by
//! crates/report/src/diff/tests.rs::`runs_of_one_seed_are_a_pair`.
//!
//! Callers: crates/report/src/json.rs (`independent`), crates/study/src/comparison.rs
//! (`independent`), crates/study/src/rows.rs (`independent`), many files (`paired`).
//!
//! Tests: crates/metrics/src/collector/tests.rs

use crate::energy::EnergyReport;
use crate::frames::Frames;
use crate::idle_choices::IdleChoices;
use crate::late_frames::LateChain;
use crate::latency::{Latency, LatencyBucket, TaskLatency};
use crate::measured::Measured;
use crate::meter::EnergyMeter;
use crate::metric::Values;
use crate::placements::Placements;
use crate::power::PlatformPower;
use crate::residency::{ClusterResidency, DomainResidency, Residency};
use crate::shares;
use crate::stats::PairedDelta;
use crate::thermal::Thermal;
use crate::wakeup_cases::WakeupCases;
use crate::where_ran::{Ran, WhereRan};
use std::collections::BTreeMap;
use wakeplace_engine::{
    BehaviourHash, Counted, Ended, GroupTotals, Happening, Observer, Options, RunReport, TaskTotals,
};
use wakeplace_outcome::Method;
use wakeplace_platform::Platform;
use wakeplace_workload::{Count, FigureOf, Workload};

/// Nanoseconds in a second.
const NS_PER_SECOND: f64 = 1e9;

/// What a run's observers found.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMetrics {
    /// The metrics by name.
    pub values: Values,
    /// Energy by cluster and state; None on a platform without power figures.
    pub energy: Option<EnergyReport>,
    /// Busy and idle times per cluster.
    pub clusters: Vec<ClusterResidency>,
    /// The same per kind of CPU, where a cluster holds several.
    pub kinds: Vec<ClusterResidency>,
    /// Times at operating points per frequency domain.
    pub domains: Vec<DomainResidency>,
    /// Latency and slack per task, in the order of the workload; empty if the workload does not say
    /// when its tasks are due.
    pub tasks: Vec<TaskLatency>,
    /// Histogram of all wake-up latencies; empty likewise.
    pub wake_latency: Vec<LatencyBucket>,
    /// Names of the platform's idle states, which the energy's parts number.
    pub idle_states: Vec<String>,
    /// Placements by sizes of task and CPUs; all 0 unless `Options::wakeup_cases`.
    pub wakeup_cases: WakeupCases,
    /// What late and dropped frames took their time for, per chain in the order of the workload.
    pub late_frames: Vec<LateChain>,
    /// How long each task ran on each cluster, or kind of CPU where a cluster holds several.
    pub ran: Ran,
    /// Hash of what happened: choices, stretches, times and energy (`BehaviourHash`).
    pub behaviour_hash: u64,
}

impl RunMetrics {
    /// A run of which a result keeps nothing but its values and its hash.
    ///
    /// # Panics
    /// If a name is no metric's, or stands twice.
    #[must_use]
    pub fn kept<'a>(values: impl Iterator<Item = (&'a str, f64)>, behaviour_hash: u64) -> Self {
        let mut all = Values::default();
        values.for_each(|(name, value)| all.set(name, value));
        Self {
            values: all,
            energy: None,
            clusters: Vec::new(),
            kinds: Vec::new(),
            domains: Vec::new(),
            tasks: Vec::new(),
            wake_latency: Vec::new(),
            idle_states: Vec::new(),
            wakeup_cases: WakeupCases::default(),
            late_frames: Vec::new(),
            ran: Ran::default(),
            behaviour_hash,
        }
    }

    /// The observer for one run of `workload` on `platform` with `options`.
    #[must_use]
    pub fn collector(platform: &Platform, workload: &Workload, options: &Options) -> Collector {
        Collector {
            measured: Measured::new(&workload.series),
            count: workload.count.clone(),
            ends: workload.comes_to_an_end(),
            frames: Frames::of_run(platform, workload),
            energy: EnergyMeter::of_run(platform, options),
            latency: (!workload.wakeups_unknown).then(|| match workload.no_periods {
                true => Latency::of_recording(workload.tasks.len()),
                false => Latency::new(workload.tasks.len(), true),
            }),
            residency: Residency::new(platform),
            idle_choices: IdleChoices::new(platform),
            placements: Placements::new(platform),
            wakeup_cases: WakeupCases::default(),
            thermal: Thermal::default(),
            where_ran: WhereRan::new(platform),
            behaviour: BehaviourHash::new(platform),
            idle_states: platform
                .idle_states
                .iter()
                .map(|s| s.name.clone())
                .collect(),
            n_cpus: platform.cpus.len(),
            end_ns: None,
        }
    }
}

/// All observers of this crate as one.
#[derive(Clone, Debug)]
pub struct Collector {
    measured: Measured,
    count: Option<Count>,
    /// The workload comes to an end by itself.
    ends: bool,
    energy: Option<EnergyMeter<PlatformPower>>,
    /// None: when tasks are due is not known.
    latency: Option<Latency>,
    frames: Frames,
    residency: Residency,
    idle_choices: IdleChoices,
    placements: Placements,
    wakeup_cases: WakeupCases,
    thermal: Thermal,
    where_ran: WhereRan,
    behaviour: BehaviourHash,
    idle_states: Vec<String>,
    n_cpus: usize,
    end_ns: Option<u64>,
}

impl Collector {
    /// The metrics of the finished run.
    ///
    /// # Panics
    /// If the engine did not announce the end that `report` names, or if the energy books do not
    /// close: errors of the program.
    #[must_use]
    pub fn finish(mut self, report: &RunReport) -> RunMetrics {
        assert_eq!(
            self.end_ns,
            Some(report.end_ns),
            "the announced and the reported end differ"
        );
        let mut values = Values::default();
        let energy = self.energy.as_ref().map(EnergyMeter::close);
        if let Some(energy) = &energy {
            energy.report(&mut values);
        }
        if let Some(latency) = &self.latency {
            latency.report(&mut values);
        }
        self.frames.report(report.end_ns, &mut values);
        self.residency.report(&mut values);
        self.idle_choices.report(&mut values);
        self.placements.report(&mut values);
        self.wakeup_cases.report(&mut values);
        self.thermal.report(&mut values);
        if report.energy_active {
            self.placements.report_overutilized(&mut values);
        }
        effects(report, self.n_cpus, &mut values);
        budgets(report, &mut values);
        self.measured.report(&mut values);
        let figures = self.count.iter().flat_map(|count| &count.figures);
        for (figure, counted) in figures.zip(report.counted.iter().cycle()) {
            values.set(figure.metric, value_of(figure.of, *counted));
        }
        // A run that is cut says nothing of the time that its tasks take.
        match (report.ended == Ended::AllTasksExited, self.ends) {
            (true, _) => {
                let length_ns = report.end_ns - report.start_ns.unwrap_or(0);
                values.set("runtime_s", seconds(length_ns.into()));
            }
            (false, true) => {}
            (false, false) => values.set("runtime_s", seconds(report.end_ns.into())),
        }
        work_done(report, &mut values);
        add_figures(&mut self.behaviour, energy.as_ref(), report);
        RunMetrics {
            values,
            energy,
            clusters: self.residency.clusters(),
            kinds: self.residency.kinds(),
            domains: self.residency.domains(),
            tasks: (self.latency.as_ref()).map_or(Vec::new(), |all| all.tasks().to_vec()),
            wake_latency: self.latency.as_ref().map_or(Vec::new(), Latency::buckets),
            idle_states: self.idle_states,
            wakeup_cases: self.wakeup_cases,
            late_frames: self.frames.late(report.end_ns),
            ran: self.where_ran.ran(),
            behaviour_hash: self.behaviour.value(),
        }
    }
}

/// A time in seconds.
fn seconds(ns: u128) -> f64 {
    ns as f64 / NS_PER_SECOND
}

/// What tasks ran, waited and got done, and the energy that it took.
fn work_done(report: &RunReport, values: &mut Values) {
    let sum = |of: fn(&TaskTotals) -> u64| -> u128 {
        report.tasks.iter().map(|task| u128::from(of(task))).sum()
    };
    let work = sum(|task| task.work_ns);
    if let Some(joules) = values.get("cpu_energy_j") {
        if report.end_ns > 0 {
            values.set("cpu_power_w", joules / seconds(report.end_ns.into()));
        }
        if work > 0 {
            values.set("cpu_energy_per_work_j", joules / seconds(work));
        }
    }
    values.set("task_work_s", seconds(work));
    values.set("task_run_s", seconds(sum(|task| task.run_ns)));
    values.set("task_wait_s", seconds(sum(|task| task.wait_ns)));
}

/// A figure made of what was counted.
fn value_of(of: FigureOf, counted: Counted) -> f64 {
    match of {
        FigureOf::Rate { units_each, per_ns } => {
            let windows = counted.window_ns as f64 / per_ns as f64;
            counted.units as f64 / units_each as f64 / windows
        }
        FigureOf::Total => counted.units as f64,
        FigureOf::Each { number } => counted.units as f64 / number as f64,
    }
}

/// What the run came to, into the hash of what happened: energy of clusters with their CPUs, of
/// CPUs, and of the board, each task's totals.
fn add_figures(hash: &mut BehaviourHash, energy: Option<&EnergyReport>, report: &RunReport) {
    if let Some(energy) = energy {
        hash.figure("energy of CPUs and clusters", 0, energy.cpu_energy);
        for (index, cpu) in energy.cpus.iter().enumerate() {
            hash.figure("energy of a busy CPU", index, cpu.busy);
            hash.figure("energy of an idle CPU", index, cpu.idle);
            hash.figure("energy of a CPU in transition", index, cpu.transition);
        }
        let clusters = energy.parts.iter().map(|part| part.cluster + 1).max();
        for cluster in 0..clusters.unwrap_or(0) {
            hash.figure(
                "energy of a cluster",
                cluster,
                energy.cluster_energy(cluster),
            );
        }
        let board = [
            ("energy of the board", energy.board_energy),
            ("energy of the board for work", energy.work_energy),
        ];
        for (name, energy) in board {
            if let Some(energy) = energy {
                hash.figure(name, 0, energy);
            }
        }
    }
    for (index, task) in report.tasks.iter().enumerate() {
        hash.figure("time that a task ran", index, task.run_ns.into());
        hash.figure("time that a task waited", index, task.wait_ns.into());
        hash.figure("activations of a task", index, task.activations.into());
        hash.figure("units that a task counted", index, task.counted.into());
    }
}

/// What budgets of run time did, as the groups' cpu.stat says it.
fn budgets(report: &RunReport, values: &mut Values) {
    let groups = &report.groups;
    if groups.is_empty() {
        return;
    }
    let sum = |of: fn(&GroupTotals) -> u64| groups.iter().map(of).sum::<u64>();
    values.count("group_periods_total", sum(|g| g.nr_periods));
    values.count("group_throttled_periods_total", sum(|g| g.nr_throttled));
    values.set("group_throttled_s", sum(|g| g.throttled_ns) as f64 / 1e9);
    values.count("group_bursts_total", sum(|g| g.nr_bursts));
    values.set("group_burst_s", sum(|g| g.burst_ns) as f64 / 1e9);
    if groups.len() > 1 {
        for group in groups {
            let name = group
                .name
                .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            values.count(&format!("periods_of_{name}_total"), group.nr_periods);
            let throttled = format!("throttled_periods_of_{name}_total");
            values.count(&throttled, group.nr_throttled);
        }
    }
}

/// What the engine counts itself: how tasks shared the CPUs, and what wake-ups do to each other.
fn effects(report: &RunReport, n_cpus: usize, values: &mut Values) {
    shares::report(&report.tasks, values);
    if let Some(count) = report.double_placements {
        values.count("double_placements_total", count);
    }
    if let Some(wait_ns) = report.lock_wait_ns
        && report.end_ns > 0
    {
        let all_ns = report.end_ns as f64 * n_cpus as f64;
        values.set("queue_lock_wait_pct", wait_ns as f64 / all_ns * 100.0);
    }
    if let Some(wait_ns) = report.line_wait_ns
        && report.end_ns > 0
    {
        let all_ns = report.end_ns as f64 * n_cpus as f64;
        values.set("group_line_wait_pct", wait_ns as f64 / all_ns * 100.0);
    }
}

impl Observer for Collector {
    /// Passes what happened on to each meter. Called by the engine in the order of time (ns).
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Some(energy) = &mut self.energy {
            energy.happened(time_ns, what);
        }
        self.residency.happened(time_ns, what);
        self.idle_choices.happened(time_ns, what);
        self.placements.happened(time_ns, what);
        self.wakeup_cases.happened(time_ns, what);
        if let Some(latency) = &mut self.latency {
            latency.happened(time_ns, what);
        }
        self.frames.happened(time_ns, what);
        self.where_ran.happened(time_ns, what);
        self.behaviour.happened(time_ns, what);
        match *what {
            Happening::Sample {
                series, value_ns, ..
            } => self.measured.sample(series, value_ns),
            Happening::Forked { task, .. } => {
                if let Some(latency) = &mut self.latency {
                    latency.forked(task);
                }
            }
            Happening::Thermal {
                cluster,
                millic,
                steps,
            } => self.thermal.sample(time_ns, cluster, millic, steps),
            Happening::Finish => {
                self.thermal.finish(time_ns);
                self.end_ns = Some(time_ns);
            }
            _ => {}
        }
    }
}

/// One metric over the seeds of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Unit of the values.
    pub unit: &'static str,
    /// The values, in the order of the runs; runs without the metric are left out.
    pub values: Vec<f64>,
}

/// The runs that can differ by chance: the first alone if in all of them the same happened, since
/// then the seeds vary nothing.
#[must_use]
pub fn independent(runs: &[RunMetrics]) -> &[RunMetrics] {
    match runs {
        [first, rest @ ..]
            if rest
                .iter()
                .all(|run| run.behaviour_hash == first.behaviour_hash) =>
        {
            &runs[..1]
        }
        _ => runs,
    }
}

/// All metrics of a case's independent runs by name.
#[must_use]
pub fn series(runs: &[RunMetrics]) -> BTreeMap<String, Series> {
    let mut all: BTreeMap<String, Series> = BTreeMap::new();
    for run in independent(runs) {
        for (name, value) in run.values.iter() {
            let series = all.entry(name.to_owned()).or_insert_with(|| Series {
                unit: value.unit,
                values: Vec::new(),
            });
            series.values.push(value.value);
        }
    }
    all
}

/// Compares a metric of two cases, run by run (index = seed), over the runs where both have it.
/// Where the seeds vary neither case there is one pair, whose difference owes nothing to chance.
///
/// # Panics
/// If the cases have different numbers of runs.
#[must_use]
pub fn paired(base: &[RunMetrics], other: &[RunMetrics], metric: &str) -> Option<PairedDelta> {
    assert_eq!(
        base.len(),
        other.len(),
        "both cases are run with the same seeds"
    );
    let pairs = independent(base).len().max(independent(other).len());
    let same_runs = pairs < base.len();
    let pair =
        |(b, o): (&RunMetrics, &RunMetrics)| Some((b.values.get(metric)?, o.values.get(metric)?));
    let pairs = base.iter().zip(other).take(pairs);
    let (base, other): (Vec<f64>, Vec<f64>) = pairs.filter_map(pair).unzip();
    let mut delta = PairedDelta::of(&base, &other)?;
    if same_runs {
        delta.method = Method::SameRuns;
    }
    Some(delta)
}

#[cfg(test)]
mod tests;
