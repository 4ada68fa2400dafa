//! Thermal zones (`model.thermal`): what clusters draw warms them, and a governor caps the
//! frequencies of one that is too warm (docs/guide/model.md). The governor is the platform's, no
//! part of a scheduler, so it is here; a kernel hears of the limit. Its rule is in the core, the
//! one thing that the mechanics have from there.
//!
//! What must stay: temperatures are integers, steps come at equal times. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `eight_busy_loops_are_too_much_for_the_a73` (governor), `threads_of_a_core_share_its_power`
//! (powers), `off_by_default_and_harmless_while_cool`. By function:
//! `eight_busy_loops_are_too_much_for_the_a73` (`new`, `leaves`, `arm_thermal`, `thermal_step`,
//! `draws`, `zone_draws`), `threads_of_a_core_share_its_power` (`cluster_power_uw`, `busy_beside`).
//!
//! Callers: sim.rs (`arm_thermal`, `thermal_step`), clocks.rs (`draws`), hardware.rs (`leaves`),
//! power.rs (`draws`), power_limit.rs (`cluster_power_uw`).
//!
//! Tests: crates/engine/tests/behaviour/thermal.rs

use super::Mechanics;
use super::power::Drawn;
use super::queue::Event;
use crate::kernel::Kernel;
use crate::observe::{CpuPower, Happening, Observer};
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::{ThermalFacts, ThermalGovernor};
use wakeplace_power::{PowerModel, ThermalRc};

/// From one step of the temperature to the next; governors look at such a moment.
const STEP_NS: u64 = 10_000_000;

/// A zone: one cluster.
#[derive(Debug)]
struct Zone {
    cluster: u32,
    /// Frequency domains of its CPUs.
    domains: Vec<u32>,
    rc: ThermalRc,
    governor: ThermalGovernor,
    next_look_ns: u64,
    /// Since the last step.
    drawn: Drawn,
}

/// All zones of a machine.
#[derive(Debug)]
pub(super) struct Thermal {
    power: PowerModel,
    zones: Vec<Zone>,
    stepped_ns: u64,
}

impl Thermal {
    /// None: not asked for, or the machine says nothing of its heat.
    pub(super) fn new(platform: &Platform, asked: bool) -> Option<Self> {
        let power = PowerModel::new(platform).filter(|_| asked)?;
        let zone = |zone: &wakeplace_platform::ThermalZone| {
            let cpus = platform.clusters[zone.cluster].cpus.clone();
            let domain = |cpu: &CpuId| platform.freq_domain_of(*cpu) as u32;
            let mut domains: Vec<u32> = cpus.iter().map(domain).collect();
            domains.sort_unstable();
            domains.dedup();
            let opps = |d: &u32| platform.freq_domains[*d as usize].opps.len();
            let most = domains.iter().map(opps).max().unwrap_or(1);
            Zone {
                cluster: zone.cluster as u32,
                rc: ThermalRc::new(zone),
                governor: ThermalGovernor::new(ThermalFacts {
                    trip_millic: zone.trip_millic as i32,
                    hysteresis_millic: zone.hysteresis_millic as i32,
                    polling_ms: zone.polling_ms,
                    passive_ms: zone.passive_ms,
                    max_steps: most as u32 - 1,
                    start_millic: zone.ambient_millic as i32,
                }),
                next_look_ns: u64::from(zone.polling_ms) * 1_000_000,
                drawn: Drawn::default(),
                domains,
            }
        };
        let zones: Vec<Zone> = platform.thermal.iter().map(zone).collect();
        (!zones.is_empty()).then_some(Self {
            power,
            zones,
            stepped_ns: 0,
        })
    }

    /// Operating points of a domain that its zones leave; `most`: its last one.
    pub(super) fn leaves(&self, domain: u32, most: u32) -> u32 {
        let zones = self.zones.iter().filter(|z| z.domains.contains(&domain));
        let steps = zones.map(|z| z.governor.steps()).max().unwrap_or(0);
        most.saturating_sub(steps)
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// The first step; only where heat is modelled.
    pub(crate) fn arm_thermal(&mut self) {
        if self.hardware.thermal.is_some() {
            self.clock.push(STEP_NS, Event::Thermal);
        }
    }

    /// Something in a cluster draws another power from now on.
    #[inline]
    pub(super) fn draws(&mut self, cluster: u32) {
        if self.hardware.thermal.is_some() {
            self.zone_draws(cluster);
        }
        if self.hardware.clocks.limits.is_some() {
            self.limit_draws(cluster);
        }
    }

    /// A zone draws otherwise from now on.
    fn zone_draws(&mut self, cluster: u32) {
        let Some(mut thermal) = self.hardware.thermal.take() else {
            return;
        };
        let zone = thermal.zones.iter_mut().find(|z| z.cluster == cluster);
        if let Some(zone) = zone {
            let power_uw = self.cluster_power_uw(cluster, &thermal.power);
            zone.drawn.change(self.clock.now, power_uw);
        }
        self.hardware.thermal = Some(thermal);
    }

    /// CPUs and cluster as the energy meter has them: busy threads of a core share its power.
    pub(super) fn cluster_power_uw(&self, cluster: u32, power: &PowerModel) -> u64 {
        let members = &self.machine.cluster_cpus[cluster as usize];
        let opp_of = |cpu: CpuId| {
            let domain = self.machine.domain_of[cpu.index()] as usize;
            usize::from(self.hardware.opp[domain])
        };
        let draws = |cpu: &CpuId| {
            let (cpu, opp) = (*cpu, opp_of(*cpu));
            match self.cpus[cpu].power {
                None => 0,
                Some(CpuPower::Busy) => power.cpu_busy_beside(cpu, self.busy_beside(cpu), opp),
                Some(CpuPower::Transition { state }) => {
                    power.cpu_transition(cpu, state.into(), opp)
                }
                Some(CpuPower::Idle { state }) => power.cpu_idle(cpu, state.into(), opp),
            }
        };
        let cpus: u64 = members.iter().map(draws).sum();
        let cluster = cluster as usize;
        let opp = opp_of(members[0]);
        let own = match self.shallowest_idle(members) {
            Some(state) => power.cluster_idle(cluster, state.into(), opp),
            None => power.cluster_on(cluster, opp),
        };
        cpus + own
    }

    /// Other threads of the CPU's core that draw busy power.
    fn busy_beside(&self, cpu: CpuId) -> usize {
        let Some(smt) = &self.machine.smt else {
            return 0;
        };
        let busy = |other: &&CpuId| self.cpus[**other].power == Some(CpuPower::Busy);
        let others = smt.threads_of(cpu).iter().filter(|other| **other != cpu);
        others.filter(busy).count()
    }

    /// A step of all temperatures.
    pub(crate) fn thermal_step<K: Kernel>(&mut self, k: &mut K) {
        self.clock.push(self.clock.now + STEP_NS, Event::Thermal);
        let Some(mut thermal) = self.hardware.thermal.take() else {
            return;
        };
        let mut changed: Vec<u32> = Vec::new();
        for zone in &mut thermal.zones {
            let energy = zone.drawn.take(self.clock.now);
            zone.rc.pass(energy, self.clock.now - thermal.stepped_ns);
            let millic = zone.rc.millic();
            if self.clock.now >= zone.next_look_ns {
                if zone.governor.look(millic) {
                    changed.extend(&zone.domains);
                }
                zone.next_look_ns =
                    self.clock.now + u64::from(zone.governor.delay_ms()) * 1_000_000;
            }
            let steps = zone.governor.steps();
            let what = Happening::Thermal {
                cluster: zone.cluster,
                millic,
                steps,
            };
            self.told.observer.happened(self.clock.now, &what);
        }
        thermal.stepped_ns = self.clock.now;
        self.hardware.thermal = Some(thermal);
        changed.sort_unstable();
        changed.dedup();
        for domain in changed {
            self.limit_domain(k, domain);
        }
    }
}
