//! What the search knows of a machine: rooms and powers per operating point (docs/decisions/036).
//!
//! Called by `crates/study/src/oracle.rs`. Rooms are demands (`DEMAND_SCALE`); powers are in the
//! platform's unit.
//!
//! What must stay: rooms are rounded up, so that the optimum is not missed. A CPU idles in the
//! state that draws least. A machine whose cores have threads, or whose powers depend on the clocks
//! of others, is refused. Free: how tables are kept, and words of refusals. Tests by part:
//! `one_small_task_by_hand` (`cpu_row`, `cluster_rows`, `room`, `nr_cpus`),
//! `agrees_with_every_placement_looked_at` (`Machine::new`). No test of its own: `Refusal`.
//!
//! Tests: crates/optimum/tests/brute_force.rs

use crate::DEMAND_SCALE;
use std::fmt;
use wakeplace_platform::{CpuId, Platform};
use wakeplace_power::{PowerModel, Rows};

/// Why a platform has no optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Without power there is no energy.
    NoPower,
    /// What a thread gets done depends on its siblings: a demand has no fixed time.
    Threads,
    /// What a CPU draws depends on what others do: a placement of one task changes others' cost.
    SharedClock,
}

impl fmt::Display for Refusal {
    /// Why there is no optimum, as a half sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPower => "its file has no power figures",
            Self::Threads => "its cores have several threads, which share what a core can do",
            Self::SharedClock => "its powers depend on the clocks of other clusters",
        })
    }
}

/// A CPU at one operating point of its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    /// Demand it can serve, `DEMAND_SCALE`.
    pub(crate) room: u64,
    /// Power while it runs.
    pub(crate) busy: u64,
    /// Power in its best idle state.
    pub(crate) idle: u64,
}

/// A cluster at one operating point of its first CPU's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterPoint {
    pub(crate) on: u64,
    /// In its best state.
    pub(crate) idle: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) cpus: Vec<usize>,
    pub(crate) points: Vec<ClusterPoint>,
}

#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) cpus: Vec<usize>,
    /// Clusters whose power follows this domain.
    pub(crate) clusters: Vec<usize>,
    pub(crate) nr_points: usize,
}

/// A platform as the search sees it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Per CPU and operating point.
    pub(crate) points: Vec<Vec<Point>>,
    pub(crate) domain_of: Vec<usize>,
    pub(crate) cluster_of: Vec<usize>,
    pub(crate) domains: Vec<Domain>,
    pub(crate) clusters: Vec<Cluster>,
}

impl Machine {
    /// Reads a validated platform.
    ///
    /// # Errors
    /// If it has no power figures, cores with several threads, or powers that depend on the clock
    /// of another cluster.
    pub fn new(platform: &Platform) -> Result<Self, Refusal> {
        let power = PowerModel::new(platform).ok_or(Refusal::NoPower)?;
        if platform.smt.is_some() || platform.topology.iter().any(|level| level.shares_capacity) {
            return Err(Refusal::Threads);
        }
        if Rows::new(platform).is_some() {
            return Err(Refusal::SharedClock);
        }
        let ids = || (0..).take(platform.cpus.len()).map(CpuId);
        let domain_of: Vec<usize> = ids().map(|cpu| platform.freq_domain_of(cpu)).collect();
        let clusters = cluster_rows(platform, &power);
        let owner = |cluster: &Cluster| domain_of[cluster.cpus[0]];
        let domains = (0..).zip(&platform.freq_domains).map(|(index, domain)| {
            let own = |(_, cluster): &(usize, &Cluster)| owner(cluster) == index;
            Domain {
                cpus: domain.cpus.iter().map(|cpu| cpu.index()).collect(),
                clusters: (0..).zip(&clusters).filter(own).map(|(at, _)| at).collect(),
                nr_points: domain.opps.len(),
            }
        });
        Ok(Self {
            points: ids().map(|cpu| cpu_row(platform, &power, cpu)).collect(),
            domains: domains.collect(),
            cluster_of: platform
                .cpus
                .iter()
                .map(|cpu| cpu.cluster as usize)
                .collect(),
            domain_of,
            clusters,
        })
    }

    /// Number of CPUs.
    #[must_use]
    pub fn nr_cpus(&self) -> usize {
        self.points.len()
    }

    /// What a CPU can do at its highest frequency.
    pub(crate) fn room(&self, cpu: usize) -> u64 {
        self.points[cpu].last().map_or(0, |point| point.room)
    }
}

/// What a CPU does and draws at each operating point.
fn cpu_row(platform: &Platform, power: &PowerModel, cpu: CpuId) -> Vec<Point> {
    let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
    let top = opps.last().map_or(1, |opp| u64::from(opp.khz));
    let full = u64::from(platform.cpus[cpu.index()].speed) * DEMAND_SCALE;
    let one = |(at, opp): (usize, &wakeplace_platform::Opp)| {
        let idle = platform.idle_states_of(cpu);
        let idle = idle.map(|(state, _)| power.cpu_idle(cpu, state, at)).min();
        let busy = power.cpu_busy(cpu, at);
        Point {
            // Rounded up: the optimum must not be missed for it.
            room: (full * u64::from(opp.khz)).div_ceil(top),
            busy,
            idle: idle.unwrap_or(busy),
        }
    };
    opps.iter().enumerate().map(one).collect()
}

/// What each cluster draws beside its CPUs, by operating point.
fn cluster_rows(platform: &Platform, power: &PowerModel) -> Vec<Cluster> {
    let row = |(index, cluster): (usize, &wakeplace_platform::Cluster)| {
        let first = cluster.cpus[0];
        let has = |cpus: &[CpuId]| cluster.cpus.iter().any(|cpu| cpus.contains(cpu));
        let states = || {
            let all = platform.idle_states.iter().enumerate();
            all.filter(|(_, state)| has(&state.cpus)).map(|(at, _)| at)
        };
        let opps = platform.freq_domains[platform.freq_domain_of(first)]
            .opps
            .len();
        let point = |opp: usize| {
            let on = power.cluster_on(index, opp);
            let idle = states()
                .map(|state| power.cluster_idle(index, state, opp))
                .min();
            ClusterPoint {
                on,
                idle: idle.unwrap_or(on).min(on),
            }
        };
        Cluster {
            cpus: cluster.cpus.iter().map(|cpu| cpu.index()).collect(),
            points: (0..opps).map(point).collect(),
        }
    };
    platform.clusters.iter().enumerate().map(row).collect()
}
