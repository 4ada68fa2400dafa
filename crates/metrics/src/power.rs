//! The platform's power model as the meter's source (docs/guide/model.md, "Energy"). `power` has
//! the figures; a policy's estimate is not asked.
//!
//! Called by `meter.rs` and its books at every change. Figures are in the platform's unit (`unit`),
//! µW where it has watts; indices are those of the platform. What a figure means is
//! `crates/power`'s; nothing is computed here.
//!
//! What must stay: a cluster state's figure is only for a cluster that is in it; until then the
//! cluster is on. A board of 0 is a figure, none is none: only with one has a result a total.
//! `model.work_power=off` takes away `work` alone (docs/decisions/055). Free: what leaves every
//! figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `figures_come_from_the_platform` (`cpu_busy`, `cluster_all_idle`), `a_board_of_0_is_a_figure`
//! (`board`), meter/tests.rs::`threads_of_a_core_share_power` (`cpu_busy_beside`, `work`),
//! meter/tests.rs::`clock_gated_power_goes_with_the_clock` (`cpu_idle`),
//! meter/tests.rs::`measured_powers_follow_the_other_clock` (`of_platform`),
//! crates/cli/tests/all/report.rs::`what_the_page_is_made_of_is_in_the_json` (`has_work`),
//! `figures_come_from_the_platform` (`new`, `cpu_id`, `cpu_transition`, `cluster_on`,
//! `cluster_idle`), collector/tests.rs::`a_report_of_another_run_is_refused` (`of_run`). No test of
//! its own: `without_work`.
//!
//! Tests: below, crates/metrics/src/meter/tests.rs

use crate::meter::{EnergyMeter, PowerSource};
use wakeplace_engine::Options;
use wakeplace_platform::{CpuId, IdleScope, Platform, PowerUnit};
use wakeplace_power::PowerModel;

/// The powers of a platform, and whether it has figures for the board and for what grows with work.
#[derive(Clone, Debug)]
pub struct PlatformPower {
    model: PowerModel,
    /// Scope of each idle state.
    scopes: Vec<IdleScope>,
    has_board: bool,
    has_work: bool,
}

impl PlatformPower {
    /// None for a platform without power figures.
    pub(crate) fn new(platform: &Platform) -> Option<PlatformPower> {
        let model = PowerModel::new(platform)?;
        let scopes = platform.idle_states.iter().map(|s| s.scope).collect();
        Some(PlatformPower {
            scopes,
            has_board: platform.board.is_some(),
            has_work: model.has_work(),
            model,
        })
    }

    /// The same, without what grows with work (`model.work_power=off`).
    #[must_use]
    pub(crate) fn without_work(mut self) -> Self {
        self.has_work = false;
        self
    }
}

impl EnergyMeter<PlatformPower> {
    /// The meter of a run on a platform; None: it has no power figures.
    #[must_use]
    pub fn of_platform(platform: &Platform) -> Option<Self> {
        PlatformPower::new(platform).map(|power| Self::new(platform, power))
    }

    /// The same for a run with options: they can take power away.
    pub(crate) fn of_run(platform: &Platform, options: &Options) -> Option<Self> {
        let power = PlatformPower::new(platform)?;
        let power = match options.work_power {
            true => power,
            false => power.without_work(),
        };
        Some(Self::new(platform, power))
    }
}

/// A CPU by its number.
fn cpu_id(index: usize) -> CpuId {
    CpuId(u32::try_from(index).expect("CPU numbers are 32 bits"))
}

impl PowerSource for PlatformPower {
    /// A busy CPU alone on its core.
    fn cpu_busy(&self, cpu: usize, opp: usize) -> u64 {
        self.model.cpu_busy(cpu_id(cpu), opp)
    }
    /// The same while `others` more threads of its core are busy.
    fn cpu_busy_beside(&self, cpu: usize, others: usize, opp: usize) -> u64 {
        self.model.cpu_busy_beside(cpu_id(cpu), others, opp)
    }
    /// A CPU in an idle state.
    fn cpu_idle(&self, cpu: usize, state: usize, opp: usize) -> u64 {
        self.model.cpu_idle(cpu_id(cpu), state, opp)
    }
    /// A CPU on its way into or out of a state.
    fn cpu_transition(&self, cpu: usize, state: usize, opp: usize) -> u64 {
        self.model.cpu_transition(cpu_id(cpu), state, opp)
    }
    /// A powered cluster with a CPU that works.
    fn cluster_on(&self, cluster: usize, opp: usize) -> u64 {
        self.model.cluster_on(cluster, opp)
    }
    /// A powered cluster whose CPUs are all idle: the figure is that of the shallowest of their
    /// states, or of the cluster on, if that state is a cluster's.
    fn cluster_all_idle(&self, cluster: usize, shallowest: usize, opp: usize) -> u64 {
        // The model's figure of a cluster state is that of a cluster that is in it.
        match self.scopes[shallowest] {
            IdleScope::Cpu => self.model.cluster_idle(cluster, shallowest, opp),
            IdleScope::Cluster => self.model.cluster_on(cluster, opp),
        }
    }
    /// A cluster in a state of its own.
    fn cluster_idle(&self, cluster: usize, state: usize, opp: usize) -> u64 {
        self.model.cluster_idle(cluster, state, opp)
    }
    /// The rest of the board, µW; `None`: no figure, so there is no total.
    fn board(&self) -> Option<u64> {
        self.has_board.then(|| self.model.board())
    }
    /// The board has a figure for what it draws more while CPUs work.
    fn has_work(&self) -> bool {
        self.has_work
    }
    /// That figure for one CPU; 0 without one.
    fn work(&self, cpu: usize, others: usize, opp: usize) -> u64 {
        match self.has_work {
            true => self.model.work(cpu_id(cpu), others, opp),
            false => 0,
        }
    }
    /// The unit of all of these.
    fn unit(&self) -> PowerUnit {
        self.model.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::PlatformPower;
    use crate::meter::PowerSource;
    use crate::testbed::two_clusters;
    use wakeplace_platform::{Board, PowerUnit, Source, Standing};

    #[test]
    fn figures_come_from_the_platform() {
        let mut platform = two_clusters();
        platform.idle_states[0].cluster_power = Some(7);
        platform.idle_states[1].cluster_power = None;
        let power = PlatformPower::new(&platform).unwrap();
        assert_eq!((power.cpu_busy(1, 2), power.cpu_idle(2, 0, 0)), (1500, 1));
        assert_eq!(
            (power.cluster_on(0, 0), power.cluster_idle(0, 2, 0)),
            (10, 1)
        );
        assert_eq!(power.cluster_all_idle(0, 0, 0), 7);
        assert_eq!(
            power.cluster_all_idle(0, 1, 0),
            10,
            "no figure: as at the operating point"
        );
        assert_eq!(
            power.cluster_all_idle(0, 2, 0),
            10,
            "asked for, but not in it: powered"
        );
        assert_eq!((power.board(), power.unit()), (None, PowerUnit::Microwatt));
    }

    #[test]
    fn a_board_of_0_is_a_figure() {
        let mut platform = two_clusters();
        let source = Source {
            standing: Standing::Assumed,
            text: "test".to_owned(),
        };
        platform.board = Some(Board {
            power_uw: 0,
            source,
            calibrated_on: None,
        });
        assert_eq!(PlatformPower::new(&platform).unwrap().board(), Some(0));
    }
}
