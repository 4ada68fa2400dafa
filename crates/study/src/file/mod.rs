//! Study files: what they say, validated.

mod figures;
mod raw;
mod read;
mod values;

#[cfg(test)]
mod tests;

use crate::{Param, Published};
use std::collections::BTreeMap;
use wakeplace_engine::{Hotplug, Options};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Spec;

/// A study as its file says. Names in it are known, and positions are valid.
#[derive(Clone, Debug)]
pub(crate) struct StudyFile {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) platform: Platform,
    pub(crate) seeds: Vec<u64>,
    /// The base first; at least two; settings not yet applied.
    pub(crate) policies: Vec<Policy>,
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
}

/// The study's cases with something changed.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    pub(crate) name: String,
    pub(crate) why: String,
    pub(crate) set: Vec<(String, String)>,
    pub(crate) hotplug: Vec<Hotplug>,
    /// As many as the study's, in the same roles.
    pub(crate) policies: Vec<Policy>,
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
    pub(crate) value: Published,
}

impl StudyFile {
    /// The published figure of a cell.
    pub(crate) fn published(&self, cell: &Cell) -> Option<Published> {
        let figure = self.published.iter().find(|f| f.cell == *cell);
        figure.map(|f| f.value)
    }

    /// `STUDY/CASE/POLICY`, as a platform file names the cell it is calibrated on.
    pub(crate) fn cell_name(&self, cell: &Cell) -> String {
        let case = &self.cases[cell.case].token;
        format!("{}/{case}/{}", self.name, self.policies[cell.policy].name())
    }

    /// The platform is calibrated on this cell: only the board's power is, so only the total.
    pub(crate) fn is_calibrated(&self, cell: &Cell) -> bool {
        let board = self.platform.board.as_ref();
        let on = board.and_then(|board| board.calibrated_on.as_ref());
        cell.metric == TOTAL_ENERGY && on == Some(&self.cell_name(cell))
    }
}

/// The metric that includes the board's constant power.
pub(crate) const TOTAL_ENERGY: &str = "energy_j";
/// The same without it.
pub(crate) const CPU_ENERGY: &str = "cpu_energy_j";
