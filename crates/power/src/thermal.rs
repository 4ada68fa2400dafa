//! How warm a cluster gets by what it draws: one thermal resistance R to the air around and one
//! capacity C, `C dT/dt = P - (T - T_air) / R`, in integers (docs/guide/model.md, "Heat").
//!
//! Called by the engine (`mechanics/thermal.rs`) with `model.thermal=on`. Temperatures are
//! thousandths of a degree Celsius. Integers only: the same steps give the same temperature in
//! every build.
//!
//! What must stay: integers only, so that the same steps give the same temperature in every build.
//! Steps are short against R*C. No time changes nothing. Free: the scale of the integers, if
//! temperatures stay. Tests by part: `warms_and_cools_as_the_equation_says` (`pass`, `new`),
//! `power_is_what_flows_in_the_step` (`pass`, `millic`),
//! crates/engine/tests/behaviour/thermal.rs::`eight_busy_loops_are_too_much_for_the_a73` (a run).
//!
//! Tests: below, crates/engine/tests/behaviour/thermal.rs

use wakeplace_platform::ThermalZone;

/// A cluster's temperature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThermalRc {
    /// Millionths of a degree Celsius.
    microc: i64,
    ambient_microc: i64,
    resistance_mk_per_w: i64,
    /// R * C, ns.
    tau_ns: i64,
}

impl ThermalRc {
    /// As warm as the air.
    #[must_use]
    pub fn new(zone: &ThermalZone) -> Self {
        let ambient_microc = i64::from(zone.ambient_millic) * 1000;
        let resistance_mk_per_w = i64::from(zone.resistance_mk_per_w);
        Self {
            microc: ambient_microc,
            ambient_microc,
            resistance_mk_per_w,
            // mK/W * mJ/K = us.
            tau_ns: resistance_mk_per_w * i64::from(zone.capacity_mj_per_k) * 1000,
        }
    }

    /// Temperature, thousandths of a degree Celsius.
    #[must_use]
    pub fn millic(&self) -> i32 {
        i32::try_from(self.microc / 1000).unwrap_or(i32::MAX)
    }

    /// `time_ns` pass in which the cluster draws `energy` uW x ns. Steps must be short against R*C.
    pub fn pass(&mut self, energy: u128, time_ns: u64) {
        if time_ns == 0 {
            return;
        }
        let power_uw = i64::try_from(energy / u128::from(time_ns)).unwrap_or(i64::MAX / 1_000_000);
        // uW * mK/W = 10^-9 K.
        let target = self.ambient_microc + power_uw * self.resistance_mk_per_w / 1000;
        let time_ns = i64::try_from(time_ns).unwrap_or(i64::MAX).min(self.tau_ns);
        let change = i128::from(target - self.microc) * i128::from(time_ns);
        self.microc += (change / i128::from(self.tau_ns)) as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::ThermalRc;
    use wakeplace_platform::ThermalZone;

    /// 10 K/W and 0.5 J/K: a time constant of 5 s.
    fn zone() -> ThermalRc {
        ThermalRc::new(&ThermalZone {
            cluster: 0,
            trip_millic: 75_000,
            hysteresis_millic: 1_000,
            polling_ms: 1_000,
            passive_ms: 100,
            ambient_millic: 25_000,
            resistance_mk_per_w: 10_000,
            capacity_mj_per_k: 500,
        })
    }

    fn run(zone: &mut ThermalRc, power_uw: u128, seconds: u64) {
        const STEP_NS: u64 = 10_000_000;
        for _ in 0..seconds * 100 {
            zone.pass(power_uw * u128::from(STEP_NS), STEP_NS);
        }
    }

    /// The solution: T(t) = T_air + P R (1 - exp(-t / RC)). 4 W: 40 K above the air in the end;
    /// after one time constant 40 * (1 - 1/e) = 25.285 K, after two 34.587 K. A step is 1/500 of
    /// it, so the explicit integration is off by some 0.1 %.
    #[test]
    fn warms_and_cools_as_the_equation_says() {
        let mut zone = zone();
        assert_eq!(zone.millic(), 25_000);
        for (seconds, expected) in [(5, 50_285), (5, 59_587), (90, 65_000)] {
            run(&mut zone, 4_000_000, seconds);
            assert!((zone.millic() - expected).abs() < 60, "{zone:?} {expected}");
        }
        // Off: 40 / e = 14.715 K are left after 5 s.
        run(&mut zone, 0, 5);
        assert!((zone.millic() - 39_715).abs() < 60, "{zone:?}");
        run(&mut zone, 0, 200);
        assert!((25_000..25_010).contains(&zone.millic()), "{zone:?}");
    }

    #[test]
    fn power_is_what_flows_in_the_step() {
        // 100 mJ into 0.5 J/K: 0.2 K, less what flows off meanwhile.
        let mut zone = zone();
        zone.pass(10_000_000 * 10_000_000, 10_000_000);
        assert_eq!(zone.millic(), 25_200);
        zone.pass(0, 0);
        assert_eq!(zone.millic(), 25_200);
    }
}
