//! What CPUs draw power for.

use super::Mechanics;
use crate::ids::CpuId;
use crate::observe::{CpuPower, Observer};

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
            self.told.observer.cluster_power(0, cluster, None);
        }
        for (domain, opp) in self.hardware.opp.iter().enumerate() {
            self.told.observer.frequency(0, domain as u32, *opp);
        }
        for cpu in machine.cpus() {
            self.cpus[cpu].speed = self.speed_alone(cpu);
        }
    }

    /// What the CPU draws power for from now on; observers hear of changes.
    pub(super) fn power(&mut self, cpu: CpuId, power: CpuPower) {
        if self.cpus[cpu].power.replace(power) != Some(power) {
            self.told.observer.cpu_power(self.clock.now, cpu.0, power);
            self.draws(self.machine.cluster_of[cpu.index()]);
            self.clocks_hear(cpu, power);
        }
    }

    /// What each CPU draws power for.
    pub(crate) fn powers(&self) -> Vec<Option<CpuPower>> {
        self.cpus.iter().map(|c| c.power).collect()
    }
}
