//! Several experiments as one: platforms by workloads, on one pool of threads
//! (docs/guide/results.md, "What a result holds").
//!
//! What must stay: comparisons stand by platforms, then workloads; threads take runs of all
//! experiments, and nothing of a result depends on which; a comparison of a matrix is the one that
//! it is alone. `sim`, `compare`, the Python module and the playground call it. Tests by part:
//! `a_matrix_is_its_comparisons` (`run`), `several_machines_and_loads_are_a_matrix` (by the
//! command). `len` has no test of its own.
//!
//! Tests: crates/cli/tests/all/compared.rs::several_machines_and_loads_are_a_matrix,
//! crates/study/src/request.rs::a_matrix_is_its_comparisons

use crate::pool::{Progress, execute};
use crate::{BatteryCell, Comparison, Experiment, StudyError};

/// Experiments that are run together; a comparison of one platform and workload is a matrix of one.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Platform by platform, workload by workload.
    pub experiments: Vec<Experiment>,
    /// Below this a difference does not matter, percent.
    pub margin_pct: f64,
}

impl Matrix {
    /// The cells of a battery, to be run together.
    #[must_use]
    pub fn of_cells(cells: &[BatteryCell], margin_pct: f64) -> Self {
        Self {
            experiments: cells.iter().map(|cell| cell.experiment.clone()).collect(),
            margin_pct,
        }
    }

    /// Runs all of them on `jobs` threads: a comparison of each, in their order. The result does
    /// not depend on `jobs`.
    ///
    /// # Errors
    /// As [`Experiment::run`]; nothing is run then.
    pub fn run(
        &self,
        jobs: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Comparison>, StudyError> {
        let prepared = self.experiments.iter().map(Experiment::prepare);
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        let all = self.experiments.iter().zip(&prepared);
        let several = self.experiments.len() > 1;
        let mut runs = Vec::new();
        for (experiment, prepared) in all {
            let mut own = experiment.runs(&prepared.workloads, prepared.oracle.as_ref());
            if several {
                let place = (&experiment.platform.name, &experiment.workload.name);
                own.iter_mut()
                    .for_each(|run| run.label = format!("{} {} {}", place.0, place.1, run.label));
            }
            runs.extend(own);
        }
        let mut finished = execute(&runs, jobs, progress)?.into_iter();
        let all = self.experiments.iter().zip(&prepared);
        let one = |(experiment, prepared): (&Experiment, &crate::experiment::Prepared)| {
            let n = experiment.nr_runs();
            let own = finished.by_ref().take(n).collect();
            let mut comparison = experiment.comparison(&prepared.workloads, own);
            comparison.margin_pct = self.margin_pct;
            comparison
        };
        Ok(all.map(one).collect())
    }

    /// Runs of all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.experiments.iter().map(Experiment::nr_runs).sum()
    }

    /// Nothing to run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
