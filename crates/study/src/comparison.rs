//! What an experiment found (docs/guide/results.md, "What a result holds"). All forms of a result
//! are made of this.
//!
//! What must stay: policies stand as asked for (the base first), seeds within them, since pairs and
//! all forms of a result rely on it; warnings are a part of the JSON, each with a remedy. The words
//! of warnings may change. Tests by part: `a_run_within_the_warm_up_says_why_it_has_no_throughput`
//! (`uncounted`), `who_waits_for_what_is_named` (`is_stuck`),
//! compared.rs::`seeds_that_vary_nothing_are_one_run` (`seeds_vary_nothing`),
//! crates/report/src/comparison/tests.rs::`compare_has_the_shape_of_the_contract` (`Comparison`),
//! schema.rs::`results_are_what_the_schema_says` (`seed_runs`),
//! results.rs::`a_run_says_how_it_ended` (`all_tasks_ended`),
//! study/tests.rs::`variants_have_no_published_figures` (`one_seed`),
//! `missed_frames_are_said_of_all_that_miss_as_many` (`total`). `idle`, `untimed`, `missed`,
//! `unmeasured` and `same` have no test of their own.
//!
//! Tests: crates/study/src/comparison/tests.rs, crates/study/src/comparison/cautions.rs,
//! crates/report/src/comparison/tests.rs::compare_has_the_shape_of_the_contract,
//! crates/cli/tests/all/compared.rs::seeds_that_vary_nothing_are_one_run

mod cautions;
mod endings;
mod frames;
mod ignored;
mod recorded;
mod stuck;
#[cfg(test)]
mod tests;

pub(crate) use cautions::{hardware_clocks, modelled_power, together};
pub(crate) use endings::endings;
use endings::time;
pub use frames::{DROPPED_FRAMES, of_frames};
pub(crate) use frames::{FRAME_METRICS, given_deadlines, has_dropped, has_frames, own_deadlines};
use ignored::ignored;
pub(crate) use ignored::{drawn_anyway, no_watts_anyway};
pub use stuck::Stuck;
use stuck::causes;
pub(crate) use stuck::stuck;
use wakeplace_engine::{Ended, MachineState, RunReport};
use wakeplace_metrics::{RunMetrics, independent};
use wakeplace_outcome::{Check, Details, SeedRun, Timeline, hash};
use wakeplace_workload::Workload;

/// The runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the platform.
    pub platform: String,
    /// Hash of all that the platform consists of.
    pub platform_hash: String,
    /// The workload as typed.
    pub workload: String,
    /// Hash of all that the workload consists of, before a seed and a machine are known.
    pub workload_hash: String,
    /// What was drawn beside what the workload draws; None: nothing.
    pub jitter: Option<String>,
    /// Simulated time asked for, ns.
    pub duration_ns: u64,
    /// Seeds, in the order of the runs.
    pub seeds: Vec<u64>,
    /// Switches of the machine's model that are not at their default, key and value.
    pub settings: Vec<(String, String)>,
    /// All switches of the machine's model, key and value.
    pub options: Vec<(String, String)>,
    /// Metrics that the workload is measured by, the one it is read by first.
    pub measured_by: Vec<String>,
    /// Nobody measured the power that joules are made of ([`Platform::modelled_power`]).
    ///
    /// [`Platform::modelled_power`]: wakeplace_platform::Platform::modelled_power
    pub modelled_power: bool,
    /// The runs of two policies are not as long: what grows with the length is not judged.
    pub unlike_lengths: bool,
    /// Per policy, the base first.
    pub runs: Vec<PolicyRuns>,
    /// Below this a difference does not matter, percent.
    pub margin_pct: f64,
    /// Metrics that tables for people show instead of the key ones; empty: those.
    pub shown: Vec<String>,
    /// What everything was at the times asked for; of one run only.
    pub states: Vec<MachineState>,
    /// How to repeat it; filled in by who ran it.
    pub origin: Origin,
    /// How runs ended that did not simply fill their time: a line each.
    pub notes: Vec<String>,
    /// What a reader should know before believing the figures: a sentence each, with a remedy.
    pub warnings: Vec<String>,
    /// The runs that could go no further, the base's first, seed by seed.
    pub stuck: Vec<Stuck>,
    /// Conditions, filled in by who judged them.
    pub checks: Vec<Check>,
}

impl Comparison {
    /// Why a side's run with a seed could go no further, both by their places; None: it could.
    #[must_use]
    pub fn why_stuck(&self, side: usize, at: usize) -> Option<&str> {
        let mut all = self.stuck.iter();
        let own = all.find(|stuck| (stuck.side, stuck.at) == (side, at));
        own.map(|stuck| stuck.why.as_str())
    }

    /// Why the first of a side's runs that could go no further could not; None: all could.
    #[must_use]
    pub fn why_side_stuck(&self, side: usize) -> Option<&str> {
        let own = self.stuck.iter().find(|stuck| stuck.side == side);
        own.map(|stuck| stuck.why.as_str())
    }
}

/// Where a result comes from. Empty: nobody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// A command that gives it again.
    pub command: String,
    /// Commit of the program that ran it.
    pub commit: String,
}

impl Origin {
    /// What is known: commit and command.
    #[must_use]
    pub fn known(&self) -> [Option<String>; 2] {
        let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        [known(&self.commit), known(&self.command)]
    }

    /// Writes what is known on the result of a study.
    pub fn put_on(&self, result: &mut wakeplace_outcome::Study) {
        [result.commit, result.command] = self.known();
    }
}

/// The runs of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRuns {
    /// Its name as typed.
    pub policy: String,
    /// Parameters changed from what the name gives, key and value.
    pub overrides: Vec<(String, String)>,
    /// All parameters in force, key and value.
    pub settings: Vec<(String, String)>,
    /// Metrics, one per seed.
    pub metrics: Vec<RunMetrics>,
    /// Facts, one per seed.
    pub reports: Vec<RunReport>,
    /// What ran where in a part of the first seed's run, if it was asked for.
    pub timeline: Option<Timeline>,
    /// What runs of a kept result spent time and energy on; None: `metrics` say it.
    pub details: Option<Details>,
}

/// What a reader should know of these runs.
pub(crate) fn warnings(runs: &[PolicyRuns], workloads: &[Workload], seeds: &[u64]) -> Vec<String> {
    let mut all = Vec::new();
    if runs.len() > 1 {
        all.extend(one_seed(seeds));
    }
    all.extend(seeds_vary_nothing(runs, workloads));
    all.extend(oddities(runs, workloads));
    all.extend(recorded::run_time(runs, workloads));
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

/// Every seed gave the same run: there is no chance to speak of.
pub(crate) fn seeds_vary_nothing(runs: &[PolicyRuns], workloads: &[Workload]) -> Option<String> {
    let same = |run: &PolicyRuns| run.metrics.len() > 1 && independent(&run.metrics).len() == 1;
    if runs.is_empty() || !runs.iter().all(same) {
        return None;
    }
    let same_scripts = workloads.windows(2).all(|pair| pair[0] == pair[1]);
    let remedy = match same_scripts {
        true => {
            "to vary it, `--jitter start=5ms,run=5%` draws starts and run times of recordings \
                 and rt-app files from the seed"
        }
        false => "what the seeds draw makes no difference here",
    };
    Some(format!(
        "the {} seeds give the same run, event by event: it counts as one, without an interval; \
         {remedy}",
        runs[0].metrics.len()
    ))
}

/// What is odd about the runs themselves.
pub(crate) fn oddities(runs: &[PolicyRuns], workloads: &[Workload]) -> Vec<String> {
    let of_one = |run| {
        causes(run, workloads)
            .chain(idle(run))
            .chain(missed(run))
            .chain(frames::unmet(run, workloads))
            .chain(uncounted(run, workloads))
            .chain(untimed(run, workloads))
            .chain(ignored(run, workloads))
    };
    let of_each = runs.iter().flat_map(of_one);
    of_each
        .chain(frames::missed(runs))
        .chain(same(runs))
        .collect()
}

/// No task of a run ever ran, though one could have: its figures are those of an idle machine.
fn idle(run: &PolicyRuns) -> Option<String> {
    let idle = |report: &&RunReport| {
        report.ended == Ended::Duration && report.tasks.iter().all(|task| task.run_ns == 0)
    };
    let mut waits = run.reports.iter().filter(idle).filter_map(|report| {
        let ext = report.sched_ext.as_ref()?;
        ext.longest_wait.as_ref().map(|_| (report, &ext.name))
    });
    waits.next().map(|(report, name)| {
        format!(
            "{}: no task ever ran in {}: the scheduler `{name}` let all of them wait; the figures \
             are those of an idle machine",
            run.policy,
            time(report.end_ns)
        )
    })
}

/// A run that its workload's warm-up outlasts counts nothing.
fn uncounted(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let mut counts = both.filter_map(|(report, workload)| {
        let none = report.counted.is_none() && report.ended == Ended::Duration;
        workload.count.as_ref().filter(|_| none)
    });
    counts.next().map(|count| {
        if count.warm_up_ns == 0 {
            return format!(
                "{}: nothing was counted: the run ended before its tasks had begun; use a longer \
                 `--duration`",
                run.policy
            );
        }
        format!(
            "{}: no throughput: the run ends within the warm-up of {}; use a longer `--duration` \
             or a shorter `warmup`",
            run.policy,
            time(count.warm_up_ns)
        )
    })
}

/// A time that the workload is to measure has no value.
fn untimed(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.metrics.iter().zip(workloads);
    let mut missing = both.filter_map(|(metrics, workload)| {
        let has = |name: &str| metrics.values.get(name).is_some();
        let mut empty = workload.series.iter().filter(|series| {
            let mut names = series.metrics();
            names.next().is_some_and(|(name, _)| !has(&name))
        });
        empty.next().map(|series| &series.name)
    });
    missing.next().map(|name| {
        format!(
            "{}: no `{name}` was measured: the run was over before; use a longer `--duration`",
            run.policy
        )
    })
}

impl PolicyRuns {
    /// All tasks came to their end, in every run.
    #[must_use]
    pub fn all_tasks_ended(&self) -> bool {
        let ended = |report: &RunReport| report.ended == Ended::AllTasksExited;
        !self.reports.is_empty() && self.reports.iter().all(ended)
    }

    /// Each run: what it was drawn by, what happened, what was measured.
    #[must_use]
    pub fn seed_runs(&self, seeds: &[u64]) -> Vec<SeedRun> {
        let event_hashes = self.reports.iter().map(|report| hash(report.event_hash));
        let event_hashes = event_hashes.chain(std::iter::repeat(String::new()));
        let one = |((seed, run), event_hash): ((&u64, &RunMetrics), String)| SeedRun {
            seed: *seed,
            workload_hash: None,
            event_hash,
            behaviour_hash: hash(run.behaviour_hash),
            metrics: { run.values.iter() }
                .map(|(name, value)| (name.to_owned(), Some(value.value)))
                .collect(),
        };
        let runs = seeds.iter().zip(&self.metrics).zip(event_hashes);
        runs.map(one).collect()
    }

    /// A run ended because a task repeats steps that take no time, because all wait for ever, or
    /// because a sched_ext scheduler ended or a tree's kernel failed.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.reports.iter().any(Self::stuck)
    }

    /// A run could go no further.
    pub(crate) fn stuck(report: &RunReport) -> bool {
        matches!(
            report.ended,
            Ended::ZeroTimeLoop { .. }
                | Ended::Deadlock { .. }
                | Ended::ForkLimit { .. }
                | Ended::Scheduler { .. }
                | Ended::Kernel { .. }
        )
    }
}

/// A count of all of a policy's runs.
fn total(run: &PolicyRuns, metric: &str) -> f64 {
    let values = run.metrics.iter().filter_map(|m| m.values.get(metric));
    values.fold(0.0, |sum, value| sum + value)
}

/// Periods missed: the machine is too small for the workload under this policy.
fn missed(run: &PolicyRuns) -> Option<String> {
    let missed = total(run, "missed_periods_total");
    let periods = total(run, "periods_total");
    (missed > 0.0 && missed * 100.0 > periods).then(|| {
        format!(
            "{}: {:.1} % of all periods were missed; less work was done than asked for, so look \
             at the latencies before the energy, or lighten the workload",
            run.policy,
            missed / periods * 100.0
        )
    })
}

/// Why the workload's own metric was not measured.
pub(crate) fn unmeasured(runs: &[PolicyRuns]) -> Option<String> {
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
            "{} made the same decisions as {} in every run: under these settings nothing led them \
             to decide differently",
            same.join(" and "),
            base.policy
        )
    })
}
