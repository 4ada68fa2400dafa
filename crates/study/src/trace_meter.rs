//! The energy meter of all runs, as traces ask it.

use wakeplace_engine::Observer;
use wakeplace_engine::observe::CpuPower;
use wakeplace_metrics::{EnergyMeter, PlatformPower, scaled, scaled_unit};
use wakeplace_platform::Platform;
use wakeplace_trace::EnergySource;

/// What gives a trace the energy of each cluster; none where the platform's power is not known.
#[must_use]
pub fn trace_meter(platform: &Platform) -> Option<Box<dyn EnergySource>> {
    EnergyMeter::of_platform(platform).map(|meter| Box::new(Meter(meter)) as Box<_>)
}

struct Meter(EnergyMeter<PlatformPower>);

impl Observer for Meter {
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        self.0.cpu_power(time_ns, cpu, power);
    }

    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        self.0.cluster_power(time_ns, cluster, state);
    }

    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        self.0.frequency(time_ns, domain, opp);
    }
}

impl EnergySource for Meter {
    fn read(&mut self, time_ns: u64, by_cluster: &mut [f64]) {
        let unit = self.0.unit();
        for (to, energy) in by_cluster.iter_mut().zip(self.0.clusters(time_ns)) {
            *to = scaled(unit, energy).unwrap_or(0.0);
        }
    }

    fn unit(&self) -> &'static str {
        scaled_unit(self.0.unit())
    }
}
