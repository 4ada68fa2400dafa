//! The ondemand governor of Linux 3.1 to 3.8, by hand from its rule
//! (docs/rules/ondemand.md#ondemand): threshold 95 %, differential 3 %, on the clock of the u8500
//! (docs/rules/sched-mc.md#u8500).
//!
//! What must stay: thresholds and frequencies are those of the page; the clock is that of the
//! u8500. It covers policy/src/frequency/ondemand.c and crates/policy-sys/src/ondemand.rs. Free:
//! how helpers step through looks.
//! Tests by part: `next_frequency`, `thresholds_can_be_set`,
//! `one_request_at_a_time_and_only_under_this_governor` (`wp_ondemand_sample`); `sampling_time`
//! (`wp_ondemand_period_us`); `load_is_the_busy_part` (`wp_ondemand_load`);
//! `the_live_build_does_not_hold_it` (`not_in_live_build`).
//! Helpers, and who fails with them: `u8500`, `asked` (`next_frequency`, `thresholds_can_be_set`,
//! `sampling_time`, `one_request_at_a_time_and_only_under_this_governor`).

use crate::common;

use common::{NOW, RunsAt as _, cluster, core, machine};
use wakeplace_policy_sys::{Core, Policy, busy_percent};

const MHZ: [u32; 4] = [200, 400, 800, 1000];

fn u8500(latency_us: u32, settings: &[(&str, &str)]) -> Core {
    let mut facts = machine(&[cluster(2, 1024)]);
    facts.perf_domains.clear();
    facts.freq_domains[0].opp_khz = MHZ.map(|mhz| mhz * 1000).into();
    facts.freq_domains[0].transition_latency_us = latency_us;
    core(
        &facts,
        "linux-4.17",
        &[&[("governor", "ondemand")], settings].concat(),
    )
}

/// MHz asked for at a load, from a frequency; None: nothing.
fn asked(core: &mut Core, from_mhz: u32, load: u32) -> Option<u32> {
    let from = MHZ.iter().position(|mhz| *mhz == from_mhz).unwrap();
    core.runs_at(0, from as u32);
    let result = core.sample_load(0, load, NOW);
    result.freq().then(|| MHZ[core.freq_request(0) as usize])
}

/// Source: load > 95 %: the top. Load < 92 %: at least load x current / 92.
#[test]
fn next_frequency() {
    let mut core = u8500(20, &[]);
    for (from, load, to) in [
        (200, 96, Some(1000)),
        (200, 95, None), // not more than the threshold
        (400, 100, Some(1000)),
        (1000, 100, None),     // there already
        (400, 92, None),       // between the two nothing changes
        (400, 91, None),       // 395.7 MHz: 400
        (400, 46, Some(200)),  // 200.0 MHz
        (400, 47, None),       // 204.3 MHz
        (800, 46, Some(400)),  // 400.0 MHz
        (800, 47, None),       // 408.7 MHz
        (1000, 73, Some(800)), // 793.5 MHz
        (1000, 74, None),      // 804.3 MHz
        (1000, 36, Some(400)), // 391.3 MHz
        (1000, 18, Some(200)), // 195.7 MHz
        (1000, 0, Some(200)),
        (200, 0, None), // the lowest
    ] {
        assert_eq!(asked(&mut core, from, load), to, "{load} % at {from} MHz");
    }
}

/// The values of kernels that count idle time in ticks: 80 % and 10 %.
#[test]
fn thresholds_can_be_set() {
    let settings = [("up_threshold", "80"), ("down_differential", "10")];
    let mut core = u8500(20, &settings);
    assert_eq!(asked(&mut core, 400, 81), Some(1000));
    assert_eq!(asked(&mut core, 400, 80), None);
    assert_eq!(asked(&mut core, 800, 35), Some(400)); // 800 x 35 / 70 = 400
    assert_eq!(asked(&mut core, 800, 36), None); // 411.4
}

/// Source: transition latency x 1000, at least 10 ms; five times as long at the top.
#[test]
fn sampling_time() {
    for (latency_us, period_us) in [(0, 10_000), (5, 10_000), (20, 20_000), (200, 200_000)] {
        assert_eq!(u8500(latency_us, &[]).sample_period_us(0), period_us);
    }
    let settings = [("sampling_rate_us", "30000"), ("sampling_down_factor", "5")];
    let mut core = u8500(200, &settings);
    assert_eq!(core.sample_period_us(0), 30_000);
    assert_eq!(asked(&mut core, 400, 100), Some(1000));
    assert_eq!(core.sample_period_us(0), 150_000);
    assert_eq!(asked(&mut core, 1000, 93), None, "not below 92 %");
    assert_eq!(core.sample_period_us(0), 150_000);
    assert_eq!(asked(&mut core, 1000, 91), None, "989 MHz are 1000");
    assert_eq!(core.sample_period_us(0), 30_000, "but no longer fully busy");
}

/// Source: 100 x (wall - idle) / wall in integers.
#[test]
fn load_is_the_busy_part() {
    for (wall, idle, load) in [
        (20_000, 5_000, 75),
        (3, 1, 66),
        (10, 10, 0),
        (10, 0, 100),
        (10, 11, 0),
        (0, 0, 0),
    ] {
        assert_eq!(busy_percent(wall, idle), load, "{idle} of {wall} us");
    }
}

#[test]
fn one_request_at_a_time_and_only_under_this_governor() {
    let mut core = u8500(20, &[]);
    assert_eq!(asked(&mut core, 200, 100), Some(1000));
    assert!(!core.sample_load(0, 0, NOW).freq(), "it is on its way");
    let mut other = u8500(20, &[("governor", "schedutil")]);
    assert_eq!(asked(&mut other, 200, 100), None);
}

#[test]
fn the_live_build_does_not_hold_it() {
    let mut policy = Policy::parse("wakeplace").unwrap();
    assert_eq!(policy.not_in_live_build(), None);
    policy.set("governor", "ondemand").unwrap();
    assert!(policy.not_in_live_build().unwrap().contains("ondemand"));
    for (key, value) in [
        ("up_threshold", "10"),
        ("up_threshold", "101"),
        ("down_differential", "11"),
    ] {
        assert!(policy.set(key, value).is_err(), "{key}={value}");
    }
}
