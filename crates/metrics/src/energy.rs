//! Energy of a finished run (docs/guide/model.md, "Energy").
//!
//! Energies are power unit x ns, exact in integers, until they become joules for people. Called by
//! `collector.rs` and `profile.rs`; `scaled` also by traces (`crates/study/src/trace_meter.rs`) and
//! prices (`crates/price/src/cost.rs`).
//!
//! What must stay: labels of parts are keys of the JSON's energy lists (docs/guide/report.md, "In
//! the JSON"). Joules are there only for powers in watts, and a total only with a figure for the
//! board. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `joules_only_from_watts` (`report`, `scaled`), meter/tests.rs::`energy_by_hand`
//! (`label`, `cluster_energy`), meter/tests.rs::`transitions_are_drawn_and_named` and
//! meter/tests.rs::`threads_of_a_core_share_power` (`label`), the first also `values` and
//! `with_work`, its own. No test of its own: `scaled_unit`.
//!
//! Tests: below, crates/metrics/src/meter/tests.rs

use crate::metric::Values;
use wakeplace_platform::PowerUnit;

/// One joule in microwatts x ns.
const UW_NS_PER_JOULE: f64 = 1e15;
/// One second in ns.
const NS_PER_SECOND: f64 = 1e9;

/// What drew the energy. Numbers index the platform's idle states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Busy CPUs.
    Busy,
    /// CPUs that are busy beside so many other threads of their core.
    BusyBeside(usize),
    /// CPUs in an idle state.
    CpuIdle(usize),
    /// CPUs that enter or leave an idle state.
    CpuTransition(usize),
    /// The cluster itself, powered, with a CPU that is busy or in transition.
    ClusterOn,
    /// The cluster itself, powered, all its CPUs idle; the shallowest of their states.
    ClusterQuiet(usize),
    /// The cluster itself, in an idle state.
    ClusterIdle(usize),
}

/// Energy of one cluster in one kind of state, operating points summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergyPart {
    /// Index into the platform's clusters.
    pub cluster: usize,
    /// What drew it.
    pub kind: PartKind,
    /// Time in it, ns; for CPU states summed over the cluster's CPUs.
    pub time_ns: u64,
    /// Power unit x ns.
    pub energy: u128,
}

impl EnergyPart {
    /// What drew it, for display: `busy`, `busy beside N threads`, `idle STATE`,
    /// `into/out of STATE`, `cluster on`, `cluster on, CPUs in STATE`, `cluster idle STATE`.
    /// `idle_states`: the names of the platform's.
    #[must_use]
    pub fn label(&self, idle_states: &[String]) -> String {
        let name = |state: usize| idle_states[state].as_str();
        match self.kind {
            PartKind::Busy => "busy".to_owned(),
            PartKind::BusyBeside(1) => "busy beside a thread".to_owned(),
            PartKind::BusyBeside(others) => format!("busy beside {others} threads"),
            PartKind::CpuIdle(state) => format!("idle {}", name(state)),
            PartKind::CpuTransition(state) => format!("into/out of {}", name(state)),
            PartKind::ClusterOn => "cluster on".to_owned(),
            PartKind::ClusterQuiet(state) => format!("cluster on, CPUs in {}", name(state)),
            PartKind::ClusterIdle(state) => format!("cluster idle {}", name(state)),
        }
    }
}

/// Energy of one CPU, power unit x ns; what its cluster draws is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuEnergy {
    /// While it was busy.
    pub busy: u128,
    /// In idle states.
    pub idle: u128,
    /// While it entered or left them.
    pub transition: u128,
}

/// An energy (power unit x ns) for display: J, or bogo·s; None without a power unit.
#[must_use]
pub fn scaled(unit: PowerUnit, energy: u128) -> Option<f64> {
    match unit {
        PowerUnit::Microwatt => Some(energy as f64 / UW_NS_PER_JOULE),
        PowerUnit::Bogo => Some(energy as f64 / NS_PER_SECOND),
        PowerUnit::None => None,
    }
}

/// Unit of [`scaled`].
#[must_use]
pub fn scaled_unit(unit: PowerUnit) -> &'static str {
    match unit {
        PowerUnit::Microwatt => "J",
        PowerUnit::Bogo => "bogo·s",
        PowerUnit::None => "",
    }
}

/// Energy of a run, in whole units of power x ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergyReport {
    /// Unit of power.
    pub unit: PowerUnit,
    /// CPUs and clusters, power unit x ns.
    pub cpu_energy: u128,
    /// The board's constant power, uW x ns; None if the platform has no such figure.
    pub board_energy: Option<u128>,
    /// What the board drew more while CPUs worked, uW x ns; None if the platform has no figures.
    pub work_energy: Option<u128>,
    /// What `cpu_energy` consists of, by cluster, only states that were entered.
    pub parts: Vec<EnergyPart>,
    /// What the CPUs drew of it, by number.
    pub cpus: Vec<CpuEnergy>,
}

impl EnergyReport {
    /// An energy of this report for display: J, or bogo·s; None without a power unit.
    #[must_use]
    pub fn scaled(&self, energy: u128) -> Option<f64> {
        scaled(self.unit, energy)
    }

    /// Unit of [`EnergyReport::scaled`].
    #[must_use]
    pub fn scaled_unit(&self) -> &'static str {
        scaled_unit(self.unit)
    }

    /// Energy of CPUs and clusters of one cluster, power unit x ns.
    #[must_use]
    pub fn cluster_energy(&self, cluster: usize) -> u128 {
        self.parts
            .iter()
            .filter(|p| p.cluster == cluster)
            .map(|p| p.energy)
            .sum()
    }

    /// Enters the metrics: joules only for powers in watts, a total only with a board figure.
    pub(crate) fn report(&self, values: &mut Values) {
        let Some(cpu) = self.scaled(self.cpu_energy) else {
            return;
        };
        match self.unit {
            PowerUnit::Microwatt => values.set("cpu_energy_j", cpu),
            PowerUnit::Bogo => values.set("cpu_energy_bogo", cpu),
            PowerUnit::None => {}
        }
        if let Some(work) = self.work_energy.and_then(|work| self.scaled(work)) {
            values.set("work_energy_j", work);
        }
        let rest = |board| self.scaled(self.cpu_energy + board + self.work_energy.unwrap_or(0));
        if let Some(total) = self.board_energy.and_then(rest) {
            values.set("energy_j", total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EnergyReport;
    use crate::metric::Values;
    use wakeplace_platform::PowerUnit;

    fn values(unit: PowerUnit, board_energy: Option<u128>) -> Values {
        with_work(unit, board_energy, None)
    }

    fn with_work(unit: PowerUnit, board_energy: Option<u128>, work_energy: Option<u128>) -> Values {
        let cpu_energy = 2_500_000_000_000_000;
        let report = EnergyReport {
            unit,
            cpu_energy,
            board_energy,
            work_energy,
            parts: Vec::new(),
            cpus: Vec::new(),
        };
        let mut values = Values::default();
        report.report(&mut values);
        values
    }

    #[test]
    fn joules_only_from_watts() {
        // 2.5 W for a second = 2,500,000 uW x 1e9 ns.
        let watts = values(PowerUnit::Microwatt, None);
        assert_eq!(
            (watts.get("cpu_energy_j"), watts.get("energy_j")),
            (Some(2.5), None)
        );
        let board = values(PowerUnit::Microwatt, Some(1_500_000_000_000_000));
        assert_eq!(
            (board.get("cpu_energy_j"), board.get("energy_j")),
            (Some(2.5), Some(4.0))
        );
        let work = |board| with_work(PowerUnit::Microwatt, board, Some(250_000_000_000_000));
        let found = |values: &Values| (values.get("work_energy_j"), values.get("energy_j"));
        assert_eq!(
            found(&work(None)),
            (Some(0.25), None),
            "no total without a board"
        );
        let all = work(Some(1_500_000_000_000_000));
        assert_eq!(found(&all), (Some(0.25), Some(4.25)));
        assert_eq!(all.get("cpu_energy_j"), Some(2.5), "no part of it");
        let bogo = values(PowerUnit::Bogo, None);
        assert_eq!(bogo.iter().count(), 1);
        assert_eq!(bogo.get("cpu_energy_bogo"), Some(2_500_000.0));
        assert_eq!(values(PowerUnit::None, None).iter().count(), 0);
    }
}
