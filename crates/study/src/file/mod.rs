//! Study files: what they say, validated (studies/README.md).
//!
//! What must stay: positions of cases and columns are those of the file, and all lists are indexed
//! by them; a cell is a case, a column and a metric; what is calibrated is no check. Tests by part:
//! study/tests.rs::`published_figures_are_those_of_the_mail` (`published`, `figure`),
//! study/tests.rs::`the_cell_the_platform_names_is_marked` (`is_calibrated`, `cell_name`),
//! study/tests.rs::`a_change_published_without_means_stands_as_a_change` (`published_change`),
//! file/tests.rs::`a_figure_may_calibrate_an_argument_that_the_workload_gives`
//! (`calibrated_argument`), study/tests.rs::`sizes_leave_out_the_columns_that_cases_do`
//! (`columns`), wakeup_cases.rs::`the_tables_of_a_study_have_a_legend` (`counts_wakeup_cases`).
//!
//! Tests: crates/study/src/file/tests.rs, crates/study/src/study/tests.rs

mod arguments;
mod columns;
mod figures;
mod from;
mod promise;
mod random;
mod raw;
mod read;
mod sensitivity;
mod tradeoff;
mod values;
mod variations;

pub(crate) use arguments::split;
pub(crate) use read::with;
pub(crate) use values::{count, settings};

#[cfg(test)]
mod tests;

use crate::outcome::PublishedChange;
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_engine::{Hotplug, Options};
use wakeplace_metrics::{MetricDef, find_metric};
use wakeplace_outcome::{Figure as Published, Param};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Spec;

/// A study as its file says. Names in it are known, and positions are valid.
#[derive(Clone, Debug)]
pub(crate) struct StudyFile {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Each once; the study's own first.
    pub(crate) platforms: Vec<Arc<Platform>>,
    pub(crate) seeds: Vec<u64>,
    /// The base first; at least two.
    pub(crate) columns: Vec<Column>,
    /// Duration and CPUs that come and go; settings not yet applied.
    pub(crate) options: Options,
    pub(crate) set: Vec<(String, String)>,
    /// Seeds of the reduced size.
    pub(crate) quick_seeds: usize,
    /// Cases of the reduced size.
    pub(crate) quick_cases: Vec<usize>,
    /// In the order of importance.
    pub(crate) metrics: Vec<Shown>,
    pub(crate) cases: Vec<Case>,
    pub(crate) variants: Vec<Variation>,
    pub(crate) experiments: Vec<Variation>,
    pub(crate) published: Vec<Figure>,
    /// Where the published figures come from, each once.
    pub(crate) sources: Vec<String>,
    /// The cell the platform's board power is calibrated on.
    pub(crate) calibration: Option<Cell>,
    pub(crate) sensitivity: Option<Sensitivity>,
    pub(crate) promise: Option<Promise>,
    pub(crate) tradeoff: Option<Tradeoff>,
    /// Runs are compared with the best static placement of their load.
    pub(crate) oracle: bool,
}

/// A policy as it is compared; settings not yet applied.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What it is shown as.
    pub(crate) name: String,
    pub(crate) policy: Policy,
    pub(crate) set: Vec<(String, String)>,
    /// Instead of the study's CPUs that come and go.
    pub(crate) hotplug: Option<Vec<Hotplug>>,
    /// Values of keys in each case's workload argument that count here alone.
    pub(crate) workload: Option<String>,
}

/// A metric that is shown.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) verdict: Option<String>,
}

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) token: String,
    pub(crate) workload: Spec,
    pub(crate) params: BTreeMap<String, Param>,
    /// By position.
    pub(crate) platform: usize,
    pub(crate) duration_ns: u64,
    /// In the full size; absent: the study's.
    pub(crate) seeds: Option<usize>,
    /// After the study's.
    pub(crate) set: Vec<(String, String)>,
    /// Instead of the study's.
    pub(crate) hotplug: Option<Vec<Hotplug>>,
    /// Columns that are left out, by position.
    pub(crate) without: Vec<usize>,
    /// What is to be gained, for the promise.
    pub(crate) goals: Vec<String>,
}

/// What is to be kept and what may be lost; columns by position.
#[derive(Clone, Debug)]
pub(crate) struct Promise {
    pub(crate) keep_pct: f64,
    pub(crate) lose_pct: f64,
    pub(crate) bounded: Vec<usize>,
    /// Metrics.
    pub(crate) cost: Vec<String>,
    pub(crate) features: Vec<Feature>,
}

/// A column whose gain is to be kept by another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    pub(crate) column: usize,
    pub(crate) ours: usize,
    /// The base has it: the column is without it.
    pub(crate) without: bool,
}

/// Energy against latency over all cases; columns by position.
#[derive(Clone, Debug)]
pub(crate) struct Tradeoff {
    pub(crate) ours: usize,
    pub(crate) rivals: Vec<usize>,
    /// Metric.
    pub(crate) energy: String,
    /// Metric.
    pub(crate) latency: String,
    /// Metrics, to be added up.
    pub(crate) time: Vec<String>,
    pub(crate) energy_pct: f64,
    pub(crate) latency_pct: f64,
    /// Parameters of cases by which means are shown as well.
    pub(crate) groups: Vec<String>,
}

/// The study's cases with something changed.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    pub(crate) name: String,
    pub(crate) why: String,
    pub(crate) set: Vec<(String, String)>,
    pub(crate) hotplug: Vec<Hotplug>,
    /// Instead of the cases'.
    pub(crate) duration_ns: Option<u64>,
    /// As many as the study's, in the same roles.
    pub(crate) columns: Vec<Column>,
    /// Instead of the cases'.
    pub(crate) platform: Option<usize>,
    /// The cases with their changed workloads, by position.
    pub(crate) cases: Vec<(usize, Spec)>,
    pub(crate) seeds: usize,
}

/// One metric of a case under a policy; positions in the study's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) case: usize,
    pub(crate) policy: usize,
    pub(crate) metric: String,
}

/// A published figure.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) cell: Cell,
    pub(crate) value: FigureValue,
    /// The argument of the workload that it set: the figure is no check.
    pub(crate) calibrates: Option<String>,
}

/// What was published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FigureValue {
    Mean(Published),
    /// From the base, without means.
    Change(PublishedChange),
}

/// Which conclusions are tried with assumed costs halved and doubled, one at a time.
#[derive(Clone, Debug)]
pub(crate) struct Sensitivity {
    /// Not part of the full size.
    pub(crate) on_request: bool,
    /// By position.
    pub(crate) cases: Vec<usize>,
    pub(crate) seeds: usize,
    /// Assumed arguments of the workload models.
    pub(crate) workload: Vec<String>,
    /// Costs that are not tried, with the reason.
    pub(crate) except: Vec<(String, String)>,
}

impl Sensitivity {
    /// Seeds where the study says nothing: the fewest of which an interval says something.
    pub(crate) const SEEDS: usize = 3;
}

impl StudyFile {
    /// What was published for a cell.
    pub(crate) fn figure(&self, cell: &Cell) -> Option<FigureValue> {
        let figure = self.published.iter().find(|f| f.cell == *cell);
        figure.map(|f| f.value)
    }

    /// The published mean of a cell.
    pub(crate) fn published(&self, cell: &Cell) -> Option<Published> {
        match self.figure(cell)? {
            FigureValue::Mean(published) => Some(published),
            FigureValue::Change(_) => None,
        }
    }

    /// The change published for a cell without means.
    pub(crate) fn published_change(&self, cell: &Cell) -> Option<PublishedChange> {
        match self.figure(cell)? {
            FigureValue::Mean(_) => None,
            FigureValue::Change(change) => Some(change),
        }
    }

    /// The argument of the workload that a cell's figure set.
    pub(crate) fn calibrated_argument(&self, cell: &Cell) -> Option<&str> {
        let figure = self.published.iter().find(|f| f.cell == *cell)?;
        figure.calibrates.as_deref()
    }

    /// The machine a case runs on.
    pub(crate) fn platform_of(&self, case: usize) -> &Arc<Platform> {
        &self.platforms[self.cases[case].platform]
    }

    /// It shows counts of wake-up cases, which runs have only if they are asked for.
    pub(crate) fn counts_wakeup_cases(&self) -> bool {
        let mut names = self.metrics.iter().map(|metric| metric.name.as_str());
        names.any(|name| find_metric(name).is_ok_and(MetricDef::is_of_cases))
    }

    /// `STUDY/CASE/POLICY`, as a platform file names the cell it is calibrated on.
    pub(crate) fn cell_name(&self, cell: &Cell) -> String {
        let case = &self.cases[cell.case].token;
        format!("{}/{case}/{}", self.name, self.columns[cell.policy].name)
    }

    /// The platform or the workload is calibrated on this cell. Of a platform only the board's
    /// power is, so only the total.
    pub(crate) fn is_calibrated(&self, cell: &Cell) -> bool {
        if self.calibrated_argument(cell).is_some() {
            return true;
        }
        let board = self.platform_of(cell.case).board.as_ref();
        let on = board.and_then(|board| board.calibrated_on.as_ref());
        cell.metric == TOTAL_ENERGY && on == Some(&self.cell_name(cell))
    }
}

impl Case {
    /// The columns that are run, by position.
    pub(crate) fn columns(&self, all: usize) -> impl Iterator<Item = usize> + '_ {
        (0..all).filter(|column| !self.without.contains(column))
    }
}

/// The metric that includes the board's constant power.
pub(crate) const TOTAL_ENERGY: &str = "energy_j";
/// CPUs and clusters alone.
pub(crate) const CPU_ENERGY: &str = "cpu_energy_j";
/// The part of the first that grows with work.
pub(crate) const WORK_ENERGY: &str = "work_energy_j";
