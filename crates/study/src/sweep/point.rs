//! A point of a sweep: what it consists of, and its runs. A cell is what `compare` runs with the
//! same arguments, to the byte (docs/guide/results.md, "Sweeps").
//!
//! What must stay: the key is a hash of everything that decides a run, and of the program: equal
//! keys, equal records. The store's threads and the Python module rely on it. A run that fails or
//! panics is a record with an error. Tests by part: `a_cell_is_the_run_of_a_comparison` (`of`,
//! `simulate`), `cells_are_points_by_seeds` (`key`), `what_cannot_run_is_a_record_with_its_reason`
//! (`run`), `options_that_fit_no_point_are_refused` (`check`),
//! `values_that_go_together_sometimes_are_records` (`get`).
//!
//! Tests: crates/study/src/sweep/tests.rs

use super::Sweep;
use crate::experiment::expand;
use crate::identity::hash_of;
use crate::pool::Run;
use crate::run_table::{STUCK, json_object, metrics_of};
use crate::{Experiment, PolicyRuns, Request, RunRecord, StudyError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A point of a sweep, ready to run with any seed.
#[derive(Clone, Debug)]
pub struct Point {
    /// What distinguishes it, key and value.
    pub labels: Vec<(String, String)>,
    pub(super) experiment: Experiment,
    /// All but seed, hashes and metrics.
    record: RunRecord,
    /// Hash of all that decides its runs but the seed.
    decided: String,
}

impl Point {
    /// What a request comes to; it has one platform, one workload and one policy.
    pub(super) fn of(request: &Request, labels: Vec<(String, String)>) -> Result<Self, StudyError> {
        let comparison = request.resolve()?.experiments.swap_remove(0);
        let [policy] = comparison.policies.as_slice() else {
            return Err(StudyError::Empty("no policy given; expected at least one"));
        };
        let options = crate::experiment::all_options(&comparison.options);
        let settings = crate::experiment::settings(policy);
        let (platform_hash, workload_hash) =
            (hash_of(&comparison.platform), hash_of(&comparison.workload));
        let decided = hash_of(&(&platform_hash, &workload_hash, policy, &comparison.options));
        let jitter = comparison.workload.jitter();
        let record = RunRecord {
            labels: labels.clone(),
            platform: comparison.platform.name.clone(),
            platform_hash,
            workload: comparison.workload.name.clone(),
            workload_hash,
            policy: policy.name().to_owned(),
            settings: json_object(&settings),
            options: json_object(&options),
            jitter: jitter.map_or_else(String::new, |jitter| jitter.to_string()),
            duration_ns: comparison.options.duration_ns,
            ..RunRecord::default()
        };
        Ok(Self {
            labels,
            experiment: comparison,
            record,
            decided,
        })
    }

    /// The key of its run with a seed: a hash of all that decides it.
    #[must_use]
    pub fn key(&self, seed: u64, program: &str) -> String {
        hash_of(&(&self.decided, seed, program))
    }

    /// What every run of it has: all but seed, hashes, metrics and error.
    #[must_use]
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Can it run with the base's first seed? As before every run.
    pub(super) fn check(&self, base: &Request) -> Result<(), StudyError> {
        let seed = base.seeds.first().copied().unwrap_or(1);
        let Experiment {
            platform,
            workload,
            policies,
            options,
            ..
        } = &self.experiment;
        let workload = expand(workload, platform, &[seed])?.swap_remove(0);
        Ok(wakeplace_engine::check(
            platform,
            &policies[0],
            &workload,
            options,
        )?)
    }

    /// Runs it with a seed. What cannot be run, or gets stuck, is a record with an error.
    #[must_use]
    pub fn run(&self, seed: u64) -> RunRecord {
        let ran = catch_unwind(AssertUnwindSafe(|| self.simulate(seed)));
        let error = match ran {
            Ok(Ok(record)) => return record,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the simulator failed; please report this".to_owned(),
        };
        RunRecord {
            seed,
            error,
            ..self.record.clone()
        }
    }

    /// One run of this point.
    fn simulate(&self, seed: u64) -> Result<RunRecord, StudyError> {
        let experiment = &self.experiment;
        let workloads = expand(&experiment.workload, &experiment.platform, &[seed])?;
        let run = Run {
            platform: &experiment.platform,
            policy: &experiment.policies[0],
            scheduler: None,
            workload: &workloads[0],
            options: &experiment.options,
            oracle: None,
            timeline: None,
            label: String::new(),
            values_only: true,
        };
        let finished = crate::pool::one(&run)?;
        let stuck = PolicyRuns::stuck(&finished.report);
        Ok(RunRecord {
            seed,
            event_hash: format!("{:016x}", finished.report.event_hash),
            behaviour_hash: format!("{:016x}", finished.metrics.behaviour_hash),
            error: if stuck {
                STUCK.to_owned()
            } else {
                String::new()
            },
            metrics: metrics_of(&finished.metrics),
            ..self.record.clone()
        })
    }
}

/// Points that were made lately, so that cells of one point share it.
#[derive(Debug, Default)]
pub struct Points(BTreeMap<usize, Arc<MadePoint>>);

/// A point, or what stands for each of its runs: it cannot be made, and why.
pub type MadePoint = Result<Point, RunRecord>;

/// So many are kept.
const KEPT: usize = 64;

impl Points {
    /// The point of that number.
    pub fn get(&mut self, sweep: &Sweep, index: usize) -> Arc<MadePoint> {
        if let Some(known) = self.0.get(&index) {
            return known.clone();
        }
        if self.0.len() >= KEPT {
            self.0.pop_first();
        }
        let made = sweep.point(index);
        let made = Arc::new(made.map_err(|error| sweep.failed(index, &error)));
        self.0.insert(index, made.clone());
        made
    }
}
