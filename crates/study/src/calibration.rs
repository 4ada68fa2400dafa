//! What was calibrated on published cells: the board's constant power, and arguments of workloads
//! (studies/README.md).
//!
//! What must stay: no run changes: a platform's file has the figure, and a person writes it there.
//! Powers are uW, energies J, over the seconds of the cell's run; another length gives nothing.
//! Tests by part: `the_rest_as_a_power` (`board_power_uw`),
//! `a_board_power_is_recomputed_from_its_cell` (`calibration`),
//! `the_platform_file_agrees_with_the_recomputation` (platforms/hikey960.toml).
//! `calibrated_arguments` has no test of its own;
//! file/tests.rs::`a_figure_may_calibrate_an_argument_that_the_workload_gives` tries what it reads.
//!
//! Tests: below, crates/study/src/study/tests.rs::a_board_power_is_recomputed_from_its_cell,
//! crates/study/src/study/tests.rs::the_platform_file_agrees_with_the_recomputation

use crate::Study;
use crate::file::{CPU_ENERGY, Cell, Figure, StudyFile, WORK_ENERGY};
use crate::sensitivity::argument;
use wakeplace_outcome::{Row, Study as StudyResult};

/// Nanoseconds in a second.
const NS_PER_SECOND: f64 = 1e9;
/// Microwatts in a watt.
const UW_PER_W: f64 = 1e6;

/// The board power at which one cell meets its published mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// `STUDY/CASE/POLICY`, as `calibrated_on` in the platform file.
    pub cell: String,
    /// Published total of the cell, J.
    pub published_j: f64,
    /// Simulated energy of CPUs and clusters in it, and of the board for their work, J.
    pub simulated_j: f64,
    /// The rest as a constant power, microwatts.
    pub board_power_uw: u64,
    /// The figure in the platform file, microwatts.
    pub platform_power_uw: Option<u64>,
    /// Published total less what the platform file's figure gives, J.
    pub residual_j: Option<f64>,
}

impl Study {
    /// Which arguments of workloads were set by which of the shown figures.
    pub(crate) fn calibrated_arguments(&self, rows: &[Row]) -> Vec<String> {
        let file = &self.file;
        let shown = |cell: &Cell| {
            rows.iter().any(|row| {
                let (case, column) = (&file.cases[cell.case], &file.columns[cell.policy]);
                row.calibrated
                    && (row.token(), &row.policy) == (case.token.as_str(), &column.name)
                    && row.metric == cell.metric
            })
        };
        let figures = file.published.iter().filter(|figure| shown(&figure.cell));
        let note = |figure: &Figure| {
            let (cell, name) = (&figure.cell, figure.calibrates.as_ref()?);
            let workload = &file.cases[cell.case].workload.name;
            let value = argument(workload, name).unwrap_or_default();
            Some(format!(
                "{name}={value} of the workload is calibrated on {} of case {}, {}",
                cell.metric, file.cases[cell.case].token, file.columns[cell.policy].name
            ))
        };
        figures.filter_map(note).collect()
    }

    /// The board power recomputed from a result of this study.
    ///
    /// None if the study has no cell for it, the result lacks the cell's CPU energy (or that for
    /// work, where the platform states it) or was made with another duration, or these alone are
    /// more than was published.
    #[must_use]
    pub fn calibration(&self, result: &StudyResult) -> Option<Calibration> {
        let file: &StudyFile = &self.file;
        let cell = file.calibration.as_ref()?;
        let (case, policy) = (
            &file.cases[cell.case].token,
            &file.columns[cell.policy].name,
        );
        let duration_ns = file.cases[cell.case].duration_ns;
        let ran = result.cases.iter().find(|ran| ran.case == *case)?;
        if ran.duration_ns != duration_ns {
            return None;
        }
        let mean = |metric: &str| {
            let row = result.rows.iter().find(|row| {
                row.metric == metric
                    && row.case == *case
                    && row.policy == *policy
                    && row.experiment().is_none()
            });
            row.map(|row| row.simulated.mean)
        };
        let published_j = file.published(cell)?.mean;
        let work_j = match file.platform_of(cell.case).has_work_power() {
            true => mean(WORK_ENERGY)?,
            false => 0.0,
        };
        let simulated_j = mean(CPU_ENERGY)? + work_j;
        let seconds = duration_ns as f64 / NS_PER_SECOND;
        let board_uw = board_power_uw(published_j, simulated_j, seconds)?;
        let board = file.platform_of(cell.case).board.as_ref();
        let in_file = board.map(|board| board.power_uw);
        let residual = |uw: u64| published_j - simulated_j - uw as f64 / UW_PER_W * seconds;
        Some(Calibration {
            cell: file.cell_name(cell),
            published_j,
            simulated_j,
            board_power_uw: board_uw,
            platform_power_uw: in_file,
            residual_j: in_file.map(residual),
        })
    }
}

/// What is left of the published energy as a power, rounded to a microwatt.
fn board_power_uw(published_j: f64, simulated_j: f64, seconds: f64) -> Option<u64> {
    let uw = ((published_j - simulated_j) / seconds * UW_PER_W).round();
    (0.0..1e15).contains(&uw).then_some(uw as u64)
}

#[cfg(test)]
mod tests {
    use super::board_power_uw;

    #[test]
    fn the_rest_as_a_power() {
        // 33.45 J - 3.45 J over 30 s are 1 W.
        assert_eq!(board_power_uw(33.45, 3.45, 30.0), Some(1_000_000));
        assert_eq!(board_power_uw(3.0, 3.5, 30.0), None);
        assert_eq!(board_power_uw(3.0, f64::NAN, 30.0), None);
    }
}
