//! Runs on several threads, with results in the order in which they were asked for.

use crate::StudyError;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use wakeplace_engine::observe::{Both, NoObserver};
use wakeplace_engine::{Observer, Options, RunReport};
use wakeplace_metrics::RunMetrics;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

/// A run has finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs finished so far.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// The run that has just finished: case, policy and seed.
    pub label: String,
}

/// Called after each finished run, from any of the threads.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// One run.
pub(crate) struct Run<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) policy: &'a Policy,
    pub(crate) workload: &'a Workload,
    pub(crate) options: &'a Options,
    pub(crate) label: String,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finished {
    pub(crate) metrics: RunMetrics,
    pub(crate) report: RunReport,
}

impl Run<'_> {
    fn execute(&self) -> Finished {
        self.execute_watched(&mut NoObserver)
    }

    /// The run, while somebody else watches it too.
    pub(crate) fn execute_watched<O: Observer>(&self, observer: &mut O) -> Finished {
        let mut collector = RunMetrics::collector(self.platform, self.workload);
        let report = wakeplace_engine::run(
            self.platform,
            self.policy,
            self.workload,
            self.options,
            &mut Both(&mut collector, observer),
        );
        Finished {
            metrics: collector.finish(&report),
            report,
        }
    }
}

/// Executes one run that `observer` watches too.
pub(crate) fn watch<O: Observer>(
    run: &Run<'_>,
    observer: &mut O,
    progress: OnProgress<'_>,
) -> Result<Finished, StudyError> {
    wakeplace_engine::check(run.platform, run.policy, run.workload, run.options)?;
    let finished = run.execute_watched(observer);
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
    for run in runs {
        wakeplace_engine::check(run.platform, run.policy, run.workload, run.options)?;
    }
    let jobs = jobs.clamp(1, runs.len().max(1));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| StudyError::Threads {
            jobs,
            reason: error.to_string(),
        })?;
    let done = AtomicUsize::new(0);
    let one = |run: &Run<'_>| {
        let finished = run.execute();
        progress(Progress {
            done: done.fetch_add(1, Ordering::Relaxed) + 1,
            total: runs.len(),
            label: run.label.clone(),
        });
        finished
    };
    Ok(pool.install(|| runs.par_iter().map(one).collect()))
}
