//! What an experiment found.

use wakeplace_engine::{Ended, RunReport};
use wakeplace_metrics::RunMetrics;

/// The runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the platform.
    pub platform: String,
    /// The workload as typed.
    pub workload: String,
    /// Simulated time asked for, ns.
    pub duration_ns: u64,
    /// Seeds, in the order of the runs.
    pub seeds: Vec<u64>,
    /// Switches of the machine's model that are not at their default, key and value.
    pub settings: Vec<(String, String)>,
    /// All switches of the machine's model, key and value.
    pub options: Vec<(String, String)>,
    /// Per policy, the base first.
    pub runs: Vec<PolicyRuns>,
    /// What a reader should know before believing the figures: a sentence each, with a remedy.
    pub warnings: Vec<String>,
}

/// The runs of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRuns {
    /// Its name as typed.
    pub policy: String,
    /// Parameters changed from what the name gives, key and value.
    pub overrides: Vec<(String, String)>,
    /// Metrics, one per seed.
    pub metrics: Vec<RunMetrics>,
    /// Facts, one per seed.
    pub reports: Vec<RunReport>,
}

/// What a reader should know of these runs.
pub(crate) fn warnings(runs: &[PolicyRuns], seeds: &[u64]) -> Vec<String> {
    let mut all = Vec::new();
    if runs.len() > 1 {
        all.extend(one_seed(seeds));
    }
    all.extend(oddities(runs));
    all.extend(unmeasured(runs));
    all
}

/// One seed tells nothing about chance.
pub(crate) fn one_seed(seeds: &[u64]) -> Option<String> {
    let [seed] = seeds else { return None };
    Some(format!(
        "one seed ({seed}) shows no spread, so no difference can be told from chance; \
         use `--seeds 10`"
    ))
}

/// What is odd about the runs themselves.
pub(crate) fn oddities(runs: &[PolicyRuns]) -> Vec<String> {
    let of_one = |run| stuck(run).into_iter().chain(missed(run));
    runs.iter().flat_map(of_one).chain(same(runs)).collect()
}

/// A task that never lets time pass ends the run.
fn stuck(run: &PolicyRuns) -> Option<String> {
    let stuck = run.reports.iter().find_map(|report| match report.ended {
        Ended::ZeroTimeLoop { task } => Some((task, report.end_ns)),
        _ => None,
    });
    stuck.map(|(task, end_ns)| {
        format!(
            "{}: the run ended at {end_ns} ns since task {task} repeats steps that take no time; \
             give it something that does (`run`, `sleep` or a timer)",
            run.policy
        )
    })
}

/// Periods missed: the machine is too small for the workload under this policy.
fn missed(run: &PolicyRuns) -> Option<String> {
    let total = |metric: &str| {
        run.metrics
            .iter()
            .filter_map(|m| m.values.get(metric))
            .fold(0.0, |sum, value| sum + value)
    };
    let (missed, periods) = (total("missed_periods_total"), total("periods_total"));
    (missed > 0.0 && missed * 100.0 > periods).then(|| {
        format!(
            "{}: {:.1} % of all periods were missed; less work was done than asked for, so look \
             at the latencies before the energy, or lighten the workload",
            run.policy,
            missed / periods * 100.0
        )
    })
}

fn unmeasured(runs: &[PolicyRuns]) -> Option<String> {
    let none = runs.iter().flat_map(|r| &r.metrics).all(|m| {
        let has = |metric: &str| m.values.get(metric).is_some();
        !has("energy_j") && !has("cpu_energy_j") && !has("cpu_energy_bogo")
    });
    none.then(|| {
        "the platform file has no power figures, so there is no energy; `wakeplace platform list` \
         shows those that have"
            .to_owned()
    })
}

/// Policies whose runs are the same event by event.
fn same(runs: &[PolicyRuns]) -> Option<String> {
    let (base, others) = runs.split_first()?;
    let hashes = |run: &PolicyRuns| -> Vec<u64> {
        run.reports.iter().map(|report| report.event_hash).collect()
    };
    let same: Vec<&str> = others
        .iter()
        .filter(|other| hashes(other) == hashes(base))
        .map(|other| other.policy.as_str())
        .collect();
    (!same.is_empty()).then(|| {
        format!(
            "{} made the same decisions as {} in every run; the workload gives them nothing to \
             decide differently",
            same.join(" and "),
            base.policy
        )
    })
}
