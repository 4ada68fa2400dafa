//! The governor of thermal zones (docs/guide/model.md), look by look by hand, and its pressure.
//!
//! What must stay: steps and delays are those of the page's rule, look by look. It covers
//! policy/src/frequency/thermal.c and crates/policy-sys/src/thermal.rs. Free: how a look is
//! written.
//! Tests by part: `looks_one_after_the_other` (`wp_thermal_look`, `wp_thermal_delay_ms`);
//! `a_cap_for_heat_is_thermal_pressure` (`wp_thermal_pressure`).
//! Helpers, and who fails with them: `governor` (`looks_one_after_the_other`).

use crate::common;

use common::{core, hikey960, machine};
use wakeplace_policy_sys::{ThermalFacts, ThermalGovernor};

fn governor() -> ThermalGovernor {
    ThermalGovernor::new(ThermalFacts {
        trip_millic: 75_000,
        hysteresis_millic: 1_000,
        polling_ms: 1_000,
        passive_ms: 100,
        max_steps: 3,
        start_millic: 25_000,
    })
}

/// Goal: each row of the rule. Method: temperature looked at, steps and delay after it.
#[test]
fn looks_one_after_the_other() {
    let mut governor = governor();
    for (millic, steps, delay) in [
        (74_999, 0, 1_000), // below the trip point
        (75_000, 1, 100),   // at it, and warmer: one step
        (75_000, 1, 100),   // no warmer: none
        (75_500, 2, 100),
        (75_400, 2, 100), // above, but colder: none
        (75_600, 3, 100),
        (76_000, 3, 100), // there are no more
        (74_500, 3, 100), // colder, but within the hysteresis
        (74_000, 3, 100), // 74000 is not below 75000 - 1000
        (73_999, 2, 100), // below and colder: one step back
        (74_100, 2, 100), // warmer: none
        (73_000, 1, 100),
        (72_000, 0, 1_000), // nothing is capped and it is not above: the long delay
        (71_000, 0, 1_000),
    ] {
        let before = governor.steps();
        let changed = governor.look(millic);
        assert_eq!(governor.steps(), steps, "{millic}");
        assert_eq!(changed, steps != before, "{millic}");
        assert_eq!(governor.delay_ms(), delay, "{millic}");
    }
}

/// Goal: what heat takes away is the thermal pressure of 5.7 to 6.9. Source:
/// docs/rules/capacity.md#capacity-of: 1805 of 2362 MHz leave 1024 * 1805 / 2362 = 782.
#[test]
fn a_cap_for_heat_is_thermal_pressure() {
    let mut core = core(&machine(&hikey960()), "linux-6.2", &[]);
    let opps = &core.state().opp_khz[core.state().freq_doms[1].first_opp as usize..];
    let limit = opps.iter().position(|khz| *khz == 1_805_000).unwrap() as u32;
    core.thermal_pressure(1, limit);
    assert_eq!(core.cpu(4).load.thermal_pressure, 1024 - 782);
    assert_eq!(core.cpu(0).load.thermal_pressure, 0);
    core.thermal_pressure(1, 99);
    assert_eq!(core.cpu(7).load.thermal_pressure, 0);
}
