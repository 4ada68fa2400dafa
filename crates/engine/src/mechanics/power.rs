//! What CPUs draw power for. Every change goes through `power`: the energy meter, heat and limits
//! hear of CPUs' powers nowhere else (docs/guide/model.md, "Energy").
//!
//! What must stay: every change is told once, in the order of time: the meter's energy is the sum
//! of these. Powers are uW, energy uW x ns. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `eight_busy_loops_are_too_much_for_the_a73` (`Drawn`, `power`), `a_package_keeps_to_its_limit`
//! (`Drawn`, `take`), invariants.rs::`random_runs_obey_the_rules_1` (`announce`, and that only
//! changes are told). `change` and `powers`: all of these.
//!
//! Callers: sim.rs (`announce`).
//!
//! Tests: crates/engine/tests/behaviour/thermal.rs,
//! crates/engine/tests/behaviour/clocks.rs::a_package_keeps_to_its_limit,
//! crates/engine/tests/behaviour/invariants.rs

use super::Mechanics;
use crate::ids::CpuId;
use crate::observe::{CpuPower, Happening, Observer};

/// What a cluster draws, and how much that was since somebody last looked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drawn {
    power_uw: u64,
    /// uW x ns up to `since_ns`.
    energy: u128,
    since_ns: u64,
}

impl Drawn {
    /// It draws this from now on.
    pub(super) fn change(&mut self, now_ns: u64, power_uw: u64) {
        self.energy += u128::from(self.power_uw) * u128::from(now_ns - self.since_ns);
        self.since_ns = now_ns;
        self.power_uw = power_uw;
    }

    /// What it has drawn since the last look, uW x ns; the power goes on.
    pub(super) fn take(&mut self, now_ns: u64) -> u128 {
        self.change(now_ns, self.power_uw);
        std::mem::take(&mut self.energy)
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// The state of everything at time 0: all CPUs idle in the shallowest state that
    /// does not poll.
    pub(crate) fn announce(&mut self) {
        let machine = self.machine;
        for cpu in machine.cpus() {
            let state = self.idle_state(cpu).index;
            self.power(cpu, CpuPower::Idle { state });
        }
        for cluster in 0..self.hardware.clusters.len() as u32 {
            self.tell(Happening::ClusterPower {
                cluster,
                state: None,
            });
        }
        for (domain, opp) in self.hardware.opp.iter().enumerate() {
            self.told.observer.happened(
                0,
                &Happening::Frequency {
                    domain: domain as u32,
                    opp: *opp,
                },
            );
        }
        for cpu in machine.cpus() {
            self.cpus[cpu].speed = self.speed_alone(cpu);
        }
    }

    /// What the CPU draws power for from now on; observers hear of changes.
    pub(super) fn power(&mut self, cpu: CpuId, power: CpuPower) {
        if self.cpus[cpu].power.replace(power) != Some(power) {
            self.tell(Happening::CpuPower { cpu: cpu.0, power });
            self.draws(self.machine.cluster_of[cpu.index()]);
            self.clocks_hear(cpu, power);
        }
    }

    /// What each CPU draws power for.
    pub(crate) fn powers(&self) -> Vec<Option<CpuPower>> {
        self.cpus.iter().map(|c| c.power).collect()
    }
}
