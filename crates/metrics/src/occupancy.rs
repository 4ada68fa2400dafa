//! What a cluster does, from what the engine announces of it and of its CPUs (docs/guide/model.md,
//! "Energy").
//!
//! Called by `meter.rs` only. Numbers of states are the platform's, shallow ones first.
//!
//! What must stay: an announced state of the cluster wins over what its CPUs do. A CPU on its way
//! into or out of a state keeps its cluster on, and so does one that was not announced yet. Free:
//! what leaves every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `quiet_means_powered_without_a_busy_cpu` (`of`, `place`),
//! meter/tests.rs::`transitions_are_drawn_and_named` (CPUs on their way),
//! meter/tests.rs::`energy_by_hand` (`cluster`), all (`new`, `cpu`).
//!
//! Tests: below, crates/metrics/src/meter/tests.rs

use wakeplace_engine::observe::CpuPower;

/// What a cluster draws power for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterUse {
    /// Powered, with a CPU that is busy or in transition.
    On,
    /// Powered, with all CPUs idle; the shallowest of their states.
    Quiet(usize),
    /// In a cluster idle state.
    Idle(usize),
}

#[derive(Clone, Debug)]
struct Cluster {
    /// None until announced; `Some(None)` while powered.
    announced: Option<Option<u16>>,
    /// CPUs of the cluster that are busy, in transition, or not announced yet.
    awake: usize,
    /// CPUs by idle state.
    idle: Vec<usize>,
}

/// Counts the CPUs of every cluster by what they do.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    cpus: Vec<CpuPower>,
    clusters: Vec<Cluster>,
}

impl Occupancy {
    /// For clusters of `sizes` CPUs and `states` idle states.
    pub(crate) fn new(sizes: &[usize], states: usize) -> Occupancy {
        let cluster = |&awake: &usize| Cluster {
            announced: None,
            awake,
            idle: vec![0; states],
        };
        Occupancy {
            cpus: vec![CpuPower::Busy; sizes.iter().sum()],
            clusters: sizes.iter().map(cluster).collect(),
        }
    }

    /// A CPU of `cluster` does `power` now.
    pub(crate) fn cpu(&mut self, cpu: usize, cluster: usize, power: CpuPower) {
        let old = std::mem::replace(&mut self.cpus[cpu], power);
        *self.clusters[cluster].place(old) -= 1;
        *self.clusters[cluster].place(power) += 1;
    }

    /// A cluster was announced.
    pub(crate) fn cluster(&mut self, cluster: usize, announced: Option<u16>) {
        self.clusters[cluster].announced = Some(announced);
    }

    /// What the cluster does; None before it is announced. Looks at the idle states, not at CPUs.
    pub(crate) fn of(&self, cluster: usize) -> Option<ClusterUse> {
        let cluster = &self.clusters[cluster];
        let powered = || match cluster.idle.iter().position(|&n| n > 0) {
            Some(shallowest) if cluster.awake == 0 => ClusterUse::Quiet(shallowest),
            _ => ClusterUse::On,
        };
        let state = cluster.announced?;
        Some(state.map_or_else(powered, |state| ClusterUse::Idle(state.into())))
    }
}

impl Cluster {
    /// The count that holds CPUs that do this.
    fn place(&mut self, power: CpuPower) -> &mut usize {
        match power {
            CpuPower::Busy | CpuPower::Transition { .. } => &mut self.awake,
            CpuPower::Idle { state } => &mut self.idle[usize::from(state)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClusterUse, Occupancy};
    use wakeplace_engine::observe::CpuPower::{Busy, Idle, Transition};

    #[test]
    fn quiet_means_powered_without_a_busy_cpu() {
        let mut o = Occupancy::new(&[2, 1], 3);
        assert_eq!(o.of(0), None);
        o.cluster(0, None);
        assert_eq!(o.of(0), Some(ClusterUse::On));
        o.cpu(0, 0, Idle { state: 2 });
        assert_eq!(o.of(0), Some(ClusterUse::On), "CPU 1 is busy");
        o.cpu(1, 0, Idle { state: 1 });
        assert_eq!(o.of(0), Some(ClusterUse::Quiet(1)), "the shallower of two");
        o.cpu(1, 0, Idle { state: 2 });
        assert_eq!(o.of(0), Some(ClusterUse::Quiet(2)));
        o.cpu(1, 0, Transition { state: 2 });
        assert_eq!(o.of(0), Some(ClusterUse::On), "CPU 1 is on its way");
        o.cpu(1, 0, Idle { state: 2 });
        o.cluster(0, Some(2));
        assert_eq!(o.of(0), Some(ClusterUse::Idle(2)));
        o.cluster(0, None);
        o.cpu(0, 0, Busy);
        assert_eq!(o.of(0), Some(ClusterUse::On));
    }
}
