//! The energy meter of all runs, as traces ask it (docs/guide/traces.md, "What no kernel records").
//!
//! What must stay: listening changes no run; energies are those of the run's own meter, by cluster,
//! and the end is left out, as the last reading comes before it. It has no test of its own;
//! crates/metrics/src/meter.rs tries the meter,
//! crates/trace/src/export/energy.rs::`power_is_that_since_the_reading_before` who reads it.
//!
//! Tests: none; the meter that it asks has them (crates/metrics/src/meter.rs).

use wakeplace_engine::{Happening, Observer};
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
    /// Passes on what the meter counts by; the end is left out, as the last reading comes before.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        // The last reading is taken before the end is told.
        if *what != Happening::Finish {
            self.0.happened(time_ns, what);
        }
    }
}

impl EnergySource for Meter {
    /// The energy of each cluster from the begin to `time_ns`, in `unit`; 0 where it is not known.
    fn read(&mut self, time_ns: u64, by_cluster: &mut [f64]) {
        let unit = self.0.unit();
        for (to, energy) in by_cluster.iter_mut().zip(self.0.clusters(time_ns)) {
            *to = scaled(unit, energy).unwrap_or(0.0);
        }
    }

    /// The unit of the readings, as the trace names it.
    fn unit(&self) -> &'static str {
        scaled_unit(self.0.unit())
    }
}
