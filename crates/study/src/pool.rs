//! Runs on several threads, with results in the order in which they were asked for
//! (docs/guide/results.md, "What a result holds"). The order of results is that of the questions,
//! whichever thread was first.
//!
//! What must stay: results stand in the order of the questions; runs share nothing that changes;
//! nothing runs if one of them cannot; runs that only the collector watches have a simulator of
//! their own. In which order threads take runs (long ones first) and what progress says may change.
//! `matrix.rs`, `study.rs` and the store call it. Tests by part:
//! `the_number_of_threads_changes_nothing` (`execute`, `on_threads`),
//! `every_run_is_announced_once_after_how_many_there_are` (progress),
//! `energy_for_work_is_the_sum_over_the_trace` (`execute_watched`, `measured`),
//! sweep/tests.rs::`a_cell_is_the_run_of_a_comparison` (`one`, `shrink`),
//! experiment/tests.rs::`a_scheduler_takes_part` (`run`).
//!
//! Tests: crates/study/src/pool/tests.rs, crates/study/src/experiment/tests.rs,
//! crates/study/src/sweep/tests.rs::a_cell_is_the_run_of_a_comparison

use crate::StudyError;
use crate::oracle::{Demand, Judged, judge};
use crate::scheduler::Scheduler;
use crate::tree::{self, runs_of};
use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use wakeplace_engine::observe::{Both, NoObserver};
use wakeplace_engine::{Observer, Options, RunReport, run, run_sched_ext};
use wakeplace_metrics::{Collector, RunMetrics, TimelineRecorder, Window};
use wakeplace_optimum::Machine;
use wakeplace_outcome::Timeline;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

/// How far runs are: before the first, and after each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs finished so far.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// The run that has just finished: case, policy and seed. Empty before the first.
    pub label: String,
}

impl Progress {
    /// Nothing is done yet.
    fn none_of(total: usize) -> Self {
        Self {
            done: 0,
            total,
            label: String::new(),
        }
    }
}

/// Called before the first run with how many there are, and after each, from any of the threads.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// One run.
pub(crate) struct Run<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) policy: &'a Policy,
    /// The scheduler in its place; the policy is the kernel beneath.
    pub(crate) scheduler: Option<&'a Scheduler>,
    pub(crate) workload: &'a Workload,
    pub(crate) options: &'a Options,
    /// Judge the run's energy on this machine.
    pub(crate) oracle: Option<&'a Machine>,
    /// Take down what runs where in this part of it.
    pub(crate) timeline: Option<Window>,
    pub(crate) label: String,
    /// Only its metrics' values are kept: for runs of which there are many.
    pub(crate) values_only: bool,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finished {
    pub(crate) metrics: RunMetrics,
    pub(crate) report: RunReport,
    /// What the oracle said, if it was asked.
    pub(crate) judged: Option<Judged>,
    /// The part that was asked for.
    pub(crate) timeline: Option<Timeline>,
}

impl Run<'_> {
    /// Whether it can be run.
    fn check(&self) -> Result<(), StudyError> {
        wakeplace_engine::check(self.platform, self.policy, self.workload, self.options)?;
        if self.scheduler.is_some() {
            wakeplace_engine::check_sched_ext(self.workload)?;
        }
        tree::check(self.policy, self.workload, self.options)
    }

    /// The run while nobody but the meters watches.
    fn execute(&self) -> Result<Finished, StudyError> {
        self.execute_watched(None)
    }

    /// The run, while somebody else watches it too.
    pub(crate) fn execute_watched(
        &self,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Finished, StudyError> {
        let Some(window) = self.timeline else {
            return self.measured(observer);
        };
        let mut recorder = TimelineRecorder::new(self.platform, window);
        let mut finished = match observer {
            None => self.measured(Some(&mut recorder)),
            Some(observer) => self.measured(Some(&mut Both(&mut recorder, observer))),
        }?;
        finished.timeline = Some(recorder.taken(|task| {
            let thread = finished.report.threads.get(task as usize);
            thread.map_or_else(String::new, |thread| thread.name.clone())
        }));
        Ok(finished)
    }

    /// One run with all that is measured of it; an observer of the caller's hears it, too.
    fn measured(&self, observer: Option<&mut dyn Observer>) -> Result<Finished, StudyError> {
        let mut collector = RunMetrics::collector(self.platform, self.workload, self.options);
        let mut demand = self.oracle.map(|_| Demand::new(self.platform));
        let report = match (&mut demand, observer) {
            (None, None) => self.run(&mut collector, None),
            (None, Some(observer)) => self.run(&mut collector, Some(observer)),
            (Some(demand), None) => self.run(&mut collector, Some(demand)),
            (Some(demand), Some(observer)) => {
                self.run(&mut collector, Some(&mut Both(demand, observer)))
            }
        }?;
        let mut metrics = collector.finish(&report);
        let judged = self
            .oracle
            .zip(demand)
            .map(|(machine, demand)| judge(machine, &demand, &report, self.workload, &mut metrics));
        let mut finished = Finished {
            metrics,
            report,
            judged,
            timeline: None,
        };
        if self.values_only {
            finished.shrink();
        }
        Ok(finished)
    }

    /// Runs that only the collector watches are most of all: they have a simulator of their own.
    fn run(
        &self,
        collector: &mut Collector,
        observer: Option<&mut dyn Observer>,
    ) -> Result<RunReport, StudyError> {
        let (platform, policy, workload) = (self.platform, self.policy, self.workload);
        let mut nobody = NoObserver;
        if let Some(scheduler) = self.scheduler {
            let both = &mut Both(collector, observer.unwrap_or(&mut nobody));
            let (options, mut ops) = (self.options, scheduler.load()?);
            let ops = &mut *ops;
            return Ok(run_sched_ext(
                platform, policy, workload, options, ops, both,
            ));
        }
        if let Some(tree) = runs_of(policy) {
            let both = &mut Both(collector, observer.unwrap_or(&mut nobody));
            let ran = tree?.run(platform, workload, self.options, both);
            return ran.map_err(|reason| StudyError::Tree {
                name: policy.name().to_owned(),
                reason,
            });
        }
        Ok(match observer {
            None => run(platform, policy, workload, self.options, collector),
            Some(observer) => {
                let both = &mut Both(collector, observer);
                run(platform, policy, workload, self.options, both)
            }
        })
    }

    /// About how long it takes, in no unit: longer runs begin first.
    fn weight(&self) -> u64 {
        let busy = self.workload.tasks.len() + self.platform.cpus.len();
        self.options.duration_ns.saturating_mul(busy as u64)
    }
}

impl Finished {
    /// Leaves the values of the metrics.
    fn shrink(&mut self) {
        let metrics = &mut self.metrics;
        metrics.energy = None;
        metrics.clusters = Vec::new();
        metrics.kinds = Vec::new();
        metrics.domains = Vec::new();
        metrics.tasks = Vec::new();
        metrics.wake_latency = Vec::new();
        self.report.tasks = Vec::new();
        self.report.threads = Vec::new();
        self.report.reasons = Vec::new();
    }
}

/// Executes one run on this thread.
pub(crate) fn one(run: &Run<'_>) -> Result<Finished, StudyError> {
    run.check()?;
    run.execute()
}

/// Executes one run that `observer` watches too.
pub(crate) fn watch(
    run: &Run<'_>,
    observer: &mut dyn Observer,
    progress: OnProgress<'_>,
) -> Result<Finished, StudyError> {
    run.check()?;
    progress(Progress::none_of(1));
    let finished = run.execute_watched(Some(observer))?;
    progress(Progress {
        done: 1,
        total: 1,
        label: run.label.clone(),
    });
    Ok(finished)
}

/// Executes all runs on `jobs` threads (0 counts as 1); result `i` is that of run `i`. Nothing runs
/// if one of them cannot.
pub(crate) fn execute(
    runs: &[Run<'_>],
    jobs: usize,
    progress: OnProgress<'_>,
) -> Result<Vec<Finished>, StudyError> {
    check(runs)?;
    progress(Progress::none_of(runs.len()));
    let done = AtomicUsize::new(0);
    let one = |index: usize| {
        let run = &runs[index];
        let finished = run.execute();
        progress(Progress {
            done: done.fetch_add(1, Ordering::Relaxed) + 1,
            total: runs.len(),
            label: run.label.clone(),
        });
        (index, finished)
    };
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|index| (Reverse(runs[*index].weight()), *index));
    let mut all = on_threads(order, jobs.clamp(1, runs.len().max(1)), one)?;
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, finished)| finished).collect()
}

/// The work for each of `order`, on so many threads. Who is free takes the next.
#[cfg(not(target_family = "wasm"))]
fn on_threads<T: Send>(
    order: Vec<usize>,
    jobs: usize,
    one: impl Fn(usize) -> T + Sync + Send,
) -> Result<Vec<T>, StudyError> {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| StudyError::Threads {
            jobs,
            reason: error.to_string(),
        })?;
    // The bridge hands them out one by one.
    Ok(pool.install(|| order.into_iter().par_bridge().map(one).collect()))
}

/// A browser's module has one thread.
#[cfg(target_family = "wasm")]
fn on_threads<T>(
    order: Vec<usize>,
    _jobs: usize,
    one: impl Fn(usize) -> T,
) -> Result<Vec<T>, StudyError> {
    Ok(order.into_iter().map(one).collect())
}

/// Whether all of them can be run.
pub(crate) fn check(runs: &[Run<'_>]) -> Result<(), StudyError> {
    runs.iter().try_for_each(Run::check)
}

#[cfg(test)]
mod tests;
