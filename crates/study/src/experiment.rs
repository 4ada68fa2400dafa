//! One platform, one workload, several policies, several seeds (docs/guide/results.md, "What a
//! result holds"). Results do not depend on how many threads run it.
//!
//! What must stay: results stand by policies, then seeds; all policies of a seed have the same
//! workload, drawn before the runs, since pairs rely on it; an error comes before the first run.
//! Tests by part: `the_number_of_threads_changes_nothing` (`run`, `runs`),
//! `runs_stand_by_policy_then_seed` (`group`), `the_same_inputs_give_the_same_runs`
//! (`verify_determinism`), `the_first_difference_is_named_by_its_cause` (`difference`),
//! `nothing_to_run_is_an_error` (`expand`), `what_a_workload_is_measured_by_has_each_name_once`
//! (`measured_by`), `loads_with_deadlines_are_read_by_their_frames` (`read_by`),
//! `a_scheduler_takes_part` (`comparison`, `contenders`),
//! `every_run_is_announced_once_after_how_many_there_are` (progress),
//! cli/tests/all/report.rs::`a_window_changes_no_run` (`timeline`),
//! compared.rs::`what_an_era_ignores_is_said` (`settings`). `cut_timeline` has no test of its own.
//!
//! Tests: crates/study/src/experiment/tests.rs,
//! crates/cli/tests/all/report.rs::a_window_changes_no_run

use crate::comparison::{
    Comparison, DROPPED_FRAMES, FRAME_METRICS, Origin, PolicyRuns, drawn_anyway, endings,
    given_deadlines, hardware_clocks, has_dropped, has_frames, modelled_power, no_watts_anyway,
    own_deadlines, stuck, together, warnings,
};
use crate::hotplug::shown;
use crate::identity::hash_of;
use crate::oracle::{machine, note};
use crate::pool::{Finished, Progress, Run, execute, watch};
use crate::scheduler::Scheduler;
use crate::settings::{changed_options, hints_of};
use crate::{DEFAULT_MARGIN_PCT, StudyError};
use std::collections::BTreeSet;
use wakeplace_engine::{Observer, Options};
use wakeplace_metrics::Window;
use wakeplace_optimum::Machine;
use wakeplace_outcome::Timeline;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{MachineFacts, Spec, Workload};

/// A comparison to be made; with one policy, a plain simulation.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The machine.
    pub platform: Platform,
    /// What its tasks do.
    pub workload: Spec,
    /// Policies, the base first; at least one, or a scheduler.
    pub policies: Vec<Policy>,
    /// sched_ext schedulers, which take part after the policies.
    pub schedulers: Vec<Scheduler>,
    /// Length and model of the runs.
    pub options: Options,
    /// Seeds; every policy runs with each. At least one.
    pub seeds: Vec<u64>,
    /// Also find how little energy the load could have taken.
    pub oracle: bool,
    /// Take down what runs where in this part of the first seed's runs.
    pub timeline: Option<Window>,
}

/// What an experiment needs before it can run.
pub(crate) struct Prepared {
    /// One per seed.
    pub(crate) workloads: Vec<Workload>,
    pub(crate) oracle: Option<Machine>,
}

impl Experiment {
    /// All that is made of the inputs before the first run.
    pub(crate) fn prepare(&self) -> Result<Prepared, StudyError> {
        Ok(Prepared {
            workloads: self.expand()?,
            oracle: self.oracle()?,
        })
    }

    /// Runs every policy with every seed on `jobs` threads. The result does not depend on `jobs`.
    ///
    /// # Errors
    /// No policy or seed, a workload that does not fit the platform, or no threads.
    pub fn run(
        &self,
        jobs: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Comparison, StudyError> {
        let workloads = self.expand()?;
        let oracle = self.oracle()?;
        let finished = execute(&self.runs(&workloads, oracle.as_ref()), jobs, progress)?;
        Ok(self.comparison(&workloads, finished))
    }

    /// Runs the only policy with the only seed while `observer` watches.
    ///
    /// # Errors
    /// As [`Experiment::run`]; several policies or seeds.
    pub fn run_watched(
        &self,
        observer: &mut dyn Observer,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Comparison, StudyError> {
        let workloads = self.expand()?;
        let oracle = self.oracle()?;
        let runs = self.runs(&workloads, oracle.as_ref());
        let [run] = runs.as_slice() else {
            return Err(StudyError::Empty(
                "several runs; expected one policy and one seed",
            ));
        };
        let finished = watch(run, observer, progress)?;
        Ok(self.comparison(&workloads, vec![finished]))
    }

    /// Runs everything twice and names the first difference; None if there is none.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn verify_determinism(
        &self,
        jobs: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Option<String>, StudyError> {
        let workloads = self.expand()?;
        let oracle = self.oracle()?;
        let runs = self.runs(&workloads, oracle.as_ref());
        let twice = |offset: usize| {
            move |p: Progress| {
                if p.done == 0 && offset > 0 {
                    return;
                }
                progress(Progress {
                    done: p.done + offset,
                    total: 2 * p.total,
                    label: p.label,
                });
            }
        };
        let first = execute(&runs, jobs, &twice(0))?;
        let second = execute(&runs, jobs, &twice(runs.len()))?;
        Ok(first_difference(&runs, &first, &second))
    }

    /// The workload of the first seed, which can be run.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn first_workload(&self) -> Result<Workload, StudyError> {
        let workload = self.expand()?.swap_remove(0);
        for (_, policy, _) in self.contenders() {
            wakeplace_engine::check(&self.platform, policy, &workload, &self.options)?;
        }
        Ok(workload)
    }

    /// The workload of each seed; the same for all policies, so that results can be paired.
    pub(crate) fn expand(&self) -> Result<Vec<Workload>, StudyError> {
        if self.policies.is_empty() && self.schedulers.is_empty() {
            return Err(StudyError::Empty("no policy given; expected at least one"));
        }
        expand(&self.workload, &self.platform, &self.seeds)
    }

    /// The machine as the oracle sees it, if it is asked.
    fn oracle(&self) -> Result<Option<Machine>, StudyError> {
        self.oracle.then(|| machine(&self.platform)).transpose()
    }

    /// What is compared: by which name, under which kernel, by whom if not by that.
    fn contenders(&self) -> impl Iterator<Item = (&str, &Policy, Option<&Scheduler>)> {
        let policies = self.policies.iter().map(|p| (p.name(), p, None));
        let schedulers = self.schedulers.iter();
        policies.chain(schedulers.map(|s| (s.name.as_str(), &s.kernel, Some(s))))
    }

    /// Names of all that is compared, the base first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.contenders()
            .map(|(name, ..)| name.to_owned())
            .collect()
    }

    /// One of the contenders alone, counted as `names` has them, with one seed.
    #[must_use]
    pub fn alone(&self, contender: usize, seed: u64) -> Self {
        let policy = self.policies.get(contender);
        let scheduler = contender.checked_sub(self.policies.len());
        let scheduler = scheduler.and_then(|at| self.schedulers.get(at));
        Self {
            policies: policy.cloned().into_iter().collect(),
            schedulers: scheduler.cloned().into_iter().collect(),
            seeds: vec![seed],
            ..self.clone()
        }
    }

    /// How many runs it takes.
    pub(crate) fn nr_runs(&self) -> usize {
        (self.policies.len() + self.schedulers.len()) * self.seeds.len()
    }

    /// All runs, policy by policy and seed by seed: results stand in this order.
    pub(crate) fn runs<'a>(
        &'a self,
        workloads: &'a [Workload],
        oracle: Option<&'a Machine>,
    ) -> Vec<Run<'a>> {
        let per_seed: Vec<_> = self.seeds.iter().zip(workloads).collect();
        let mut runs = Vec::with_capacity(self.nr_runs());
        for (name, policy, scheduler) in self.contenders() {
            for (at, (seed, workload)) in per_seed.iter().enumerate() {
                runs.push(Run {
                    platform: &self.platform,
                    policy,
                    scheduler,
                    workload,
                    options: &self.options,
                    oracle,
                    timeline: self.timeline.filter(|_| at == 0),
                    label: format!("{name} seed {seed}"),
                    values_only: false,
                });
            }
        }
        runs
    }

    /// What finished runs come to; they stand in the order of `runs`.
    pub(crate) fn comparison(&self, workloads: &[Workload], finished: Vec<Finished>) -> Comparison {
        let judged: Vec<_> = finished.iter().filter_map(|f| f.judged.clone()).collect();
        let columns = self.contenders().map(|(name, policy, _)| (name, policy));
        let mut runs = group(columns, self.seeds.len(), finished);
        for ((_, policy, scheduler), runs) in self.contenders().zip(&mut runs) {
            let facts = scheduler.map(|scheduler| scheduler.facts.clone());
            let facts = facts.or_else(|| Some(policy.tree()?.facts()));
            runs.settings.splice(0..0, facts.unwrap_or_default());
        }
        let mut notes = endings(&runs, workloads, self.options.duration_ns);
        for (run, judged) in runs.iter().zip(judged.chunks(self.seeds.len())) {
            notes.extend(note(&run.policy, &judged.iter().collect::<Vec<_>>()));
        }
        notes.extend(modelled_power(&self.platform));
        notes.extend(self.platform.assumed_by_file());
        let policies = self.contenders().map(|(_, policy, _)| policy);
        notes.extend(hardware_clocks(&self.platform, policies));
        notes.extend(together(workloads, &self.platform));
        notes.extend(workloads.first().and_then(own_deadlines));
        notes.extend(workloads.first().and_then(given_deadlines));
        let mut all = self.workload.warnings.clone();
        if let Some(workload) = workloads.first() {
            let not_modelled = |what: &String| format!("{what} is not modelled: left out");
            all.extend(workload.unmodelled.iter().map(not_modelled));
        }
        all.extend(warnings(&runs, workloads, &self.seeds));
        all.extend(drawn_anyway(&runs, &self.platform));
        let named = self.contenders().map(|(name, policy, _)| (name, policy));
        all.extend(no_watts_anyway(named, &self.platform));
        all.extend(runs.iter().filter_map(cut_timeline));
        for (name, policy, scheduler) in self.contenders() {
            let notes = scheduler.map(|scheduler| scheduler.notes.clone());
            let notes = notes.or_else(|| Some(policy.tree()?.notes()));
            let notes = notes.unwrap_or_default().into_iter();
            all.extend(notes.map(|note| format!("{name}: {note}")));
        }
        Comparison {
            stuck: stuck(&runs, workloads),
            platform: self.platform.name.clone(),
            platform_hash: hash_of(&self.platform),
            workload: self.workload.name.clone(),
            workload_hash: hash_of(&self.workload),
            jitter: self.workload.jitter().map(|jitter| jitter.to_string()),
            margin_pct: DEFAULT_MARGIN_PCT,
            shown: Vec::new(),
            duration_ns: self.options.duration_ns,
            seeds: self.seeds.clone(),
            settings: { changed_options(&self.options).into_iter() }
                .chain(hints_of(&self.workload))
                .collect(),
            options: all_options(&self.options),
            measured_by: read_by(&self.workload, workloads, &runs),
            modelled_power: !self.platform.modelled_power().is_empty(),
            unlike_lengths: false,
            states: Vec::new(),
            origin: Origin::default(),
            notes,
            runs,
            warnings: all,
            checks: Vec::new(),
        }
    }
}

/// A timeline that is shorter than asked for.
fn cut_timeline(runs: &PolicyRuns) -> Option<String> {
    let line = runs.timeline.as_ref()?;
    if line.is_cut {
        return Some(format!(
            "{}: the timeline is full at {} and ends there; use a shorter window",
            runs.policy,
            wakeplace_text::time(line.until_ns)
        ));
    }
    (line.until_ns <= line.from_ns).then(|| {
        format!(
            "{}: the timeline is empty: the run was over before its window begins at {}",
            runs.policy,
            wakeplace_text::time(line.from_ns)
        )
    })
}

/// What runs are read by: frames where there are some, then what the workload measures.
fn read_by(spec: &Spec, workloads: &[Workload], runs: &[PolicyRuns]) -> Vec<String> {
    let own = measured_by(spec, workloads);
    if !has_frames(runs) {
        return own;
    }
    let dropped = has_dropped(runs);
    let frames = FRAME_METRICS.into_iter();
    let frames = frames.filter(|name| dropped || *name != DROPPED_FRAMES);
    frames.map(str::to_owned).chain(own).collect()
}

/// Names of the metrics that a workload measures, the one it is read by first.
pub(crate) fn measured_by(spec: &Spec, workloads: &[Workload]) -> Vec<String> {
    let first = spec.metric().map(str::to_owned).into_iter();
    let Some(workload) = workloads.first() else {
        return first.collect();
    };
    let figures = workload.count.iter().flat_map(|count| &count.figures);
    let figures = figures.map(|figure| figure.metric.to_owned());
    let times = workload.series.iter().flat_map(|series| series.metrics());
    // A workload may have a series for each of a hundred thousand threads.
    let mut named = BTreeSet::new();
    first
        .chain(figures)
        .chain(times.map(|(name, _)| name))
        .filter(|name| named.insert(name.clone()))
        .collect()
}

/// The workload of each seed on this machine.
pub(crate) fn expand(
    spec: &Spec,
    platform: &Platform,
    seeds: &[u64],
) -> Result<Vec<Workload>, StudyError> {
    if seeds.is_empty() {
        return Err(StudyError::Empty("no seed given; expected at least one"));
    }
    let capacities = platform.capacities();
    let machine = MachineFacts {
        capacities: &capacities,
    };
    let one = |seed: &u64| Ok(spec.expand(*seed, machine)?);
    seeds.iter().map(one).collect()
}

/// All settings of the machine's model that are in force, and the CPUs that come and go, if any do.
pub(crate) fn all_options(options: &Options) -> Vec<(String, String)> {
    let pair = |(key, value, _): (&str, String, &str)| (key.to_owned(), value);
    let keys = options.in_force().into_iter().map(pair);
    keys.chain(shown(&options.hotplug))
        .chain(crate::policy_at::shown(&options.policy_at))
        .collect()
}

/// Finished runs, policy by policy, seed by seed, as one entry per policy
/// by the name it is shown as.
pub(crate) fn group<'a>(
    columns: impl Iterator<Item = (&'a str, &'a Policy)>,
    n_seeds: usize,
    finished: Vec<Finished>,
) -> Vec<PolicyRuns> {
    let mut finished = finished.into_iter();
    let one = |(name, policy): (&str, &Policy)| {
        let runs = finished.by_ref().take(n_seeds);
        let mut timeline: Option<Timeline> = None;
        let mut of_run = |run: Finished| {
            timeline = timeline.take().or(run.timeline);
            (run.metrics, run.report)
        };
        let (metrics, reports) = runs.map(&mut of_run).unzip();
        PolicyRuns {
            policy: name.to_owned(),
            overrides: overrides(policy),
            settings: settings(policy),
            metrics,
            reports,
            timeline,
            details: None,
        }
    };
    columns.map(one).collect()
}

/// Parameters of a policy that were changed.
pub(crate) fn overrides(policy: &Policy) -> Vec<(String, String)> {
    let pair = |(key, value): &(&'static str, String)| ((*key).to_owned(), value.clone());
    policy.overrides().iter().map(pair).collect()
}

/// All parameters of a policy.
pub(crate) fn settings(policy: &Policy) -> Vec<(String, String)> {
    let params = policy.params().into_iter();
    params
        .map(|param| (param.key.to_owned(), param.value))
        .collect()
}

/// Where the second pass first differs from the first, run by run; facts before metrics, since a
/// difference there is the cause.
fn first_difference(runs: &[Run<'_>], first: &[Finished], second: &[Finished]) -> Option<String> {
    let pairs = runs.iter().zip(first.iter().zip(second));
    pairs
        .filter(|(_, (a, b))| a != b)
        .map(|(run, (a, b))| format!("{}: {}", run.label, difference(a, b)))
        .next()
}

/// The first thing in which two runs of the same inputs differ.
fn difference(a: &Finished, b: &Finished) -> String {
    let (r, s) = (&a.report, &b.report);
    if r.events != s.events {
        return format!("{} events, then {}", r.events, s.events);
    }
    if r.event_hash != s.event_hash {
        return format!(
            "event hash {:016x}, then {:016x}",
            r.event_hash, s.event_hash
        );
    }
    if (r.end_ns, &r.ended) != (s.end_ns, &s.ended) {
        return format!(
            "end at {} ns ({:?}), then {} ({:?})",
            r.end_ns, r.ended, s.end_ns, s.ended
        );
    }
    let (x, y) = (&a.metrics.values, &b.metrics.values);
    let metric = x
        .iter()
        .find(|(name, value)| y.get(name) != Some(value.value));
    let [hash, again] = [a, b].map(|run| run.metrics.behaviour_hash);
    match metric {
        Some((name, value)) => format!("{name} {}, then {:?}", value.value, y.get(name)),
        None if hash != again => format!("behaviour hash {hash:016x}, then {again:016x}"),
        None => "details of equal events (tasks, reasons or histograms)".to_owned(),
    }
}

#[cfg(test)]
mod tests;
