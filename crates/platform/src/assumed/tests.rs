//! What a platform assumes, and other values for it (docs/guide/platforms.md, "What is assumed
//! everywhere, and how").
//!
//! What must stay: one figure changes and nothing else does; every built-in platform stays valid
//! with any factor.
//! Tests by part (in crates/platform/src): assumed.rs:
//! `an_assumed_table_is_its_figures_and_published_ones_are_none` (`assumed_costs`, `fields`,
//! `cost`), `one_figure_changes_and_nothing_else` (`with_assumed`, `Factor::of`),
//! `states_of_one_name_are_one_and_stay_in_order` (`by_name`, `add_idle`, `change_latency`),
//! `powers_and_transitions_of_a_table_are_one` (`add_clocks`, `assumed_tables`),
//! `every_built_in_platform_stays_valid_in_its_order` (`change`); assumed/moves.rs:
//! `every_built_in_platform_stays_valid_in_its_order` (`lines`, `add_moves`, `change_line`).
//! Helpers, and who fails with them: `tc2`
//! (`an_assumed_table_is_its_figures_and_published_ones_are_none`,
//! `one_figure_changes_and_nothing_else`); `named`
//! (`an_assumed_table_is_its_figures_and_published_ones_are_none`,
//! `one_figure_changes_and_nothing_else`, `states_of_one_name_are_one_and_stay_in_order`,
//! `powers_and_transitions_of_a_table_are_one`); `changed`
//! (`an_assumed_table_is_its_figures_and_published_ones_are_none`,
//! `states_of_one_name_are_one_and_stay_in_order`, `powers_and_transitions_of_a_table_are_one`).

use super::Factor::{Double, Half};
use super::{AssumedCost, Factor};
use crate::{Platform, builtin_names};

fn tc2() -> Platform {
    Platform::builtin("tc2").unwrap()
}

fn named(platform: &Platform, name: &str) -> AssumedCost {
    let all = platform.assumed_costs();
    let names: Vec<_> = all.iter().map(|cost| cost.name.clone()).collect();
    let found = all.into_iter().find(|cost| cost.name == name);
    found.unwrap_or_else(|| panic!("{name}: {names:?}"))
}

/// A platform's text with some words replaced.
fn changed(from: &[(&str, &str)]) -> Platform {
    let mut text = include_str!("../../platforms/tc2.toml").to_owned();
    for (from, to) in from {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    Platform::from_toml(&text, "t.toml").unwrap()
}

#[test]
fn an_assumed_table_is_its_figures_and_published_ones_are_none() {
    // platforms/tc2.toml: of what costs something, only [costs] is assumed; its eight figures.
    let names: Vec<_> = tc2().assumed_costs().into_iter().map(|c| c.name).collect();
    let expected = [
        "context_switch_ns",
        "wakeup_ns",
        "ipi_ns",
        "tick_ns",
        "fork_ns",
        "migrate_shared_cache_ns",
        "migrate_other_cache_ns",
        "scan_cpu_ns",
    ];
    assert_eq!(names, expected);
    assert_eq!(named(&tc2(), "ipi_ns").value, "1000 ns");
    let published = changed(&[(
        "class at 1 to 2.5 GHz, from the work each step does (see the comments in the file)\"\"\"\n\
         standing = \"assumed\"",
        "\"\"\"\nstanding = \"published\"",
    )]);
    assert!(published.assumed_costs().is_empty());
}

#[test]
fn one_figure_changes_and_nothing_else() {
    let platform = tc2();
    let mut half = platform.with_assumed(&named(&platform, "wakeup_ns"), Half);
    assert_eq!(half.costs.wakeup_ns, 1500);
    half.costs.wakeup_ns = 3000;
    assert_eq!(half, platform);
    let double = platform.with_assumed(&named(&platform, "wakeup_ns"), Double);
    assert_eq!(double.costs.wakeup_ns, 6000);
    assert_eq!((Half.of(1), Half.of(0), Double.of(3)), (1, 0, 6));
}

#[test]
fn states_of_one_name_are_one_and_stay_in_order() {
    // Both WFI: residency 1 us, latency 1 us; below them the cluster's sleep.
    let wfi = "drivers/cpuidle/cpuidle-arm.c, state 0\"\nstanding = \"published\"";
    let other = wfi.replace("published", "assumed");
    let platform = changed(&[(wfi, &other), (wfi, &other)]);
    let cost = named(&platform, "idle state WFI latency");
    let double = platform.with_assumed(&cost, Double);
    for index in [0, 1] {
        assert_eq!(double.idle_states[index].exit_latency_ns, 2000);
    }
    assert_eq!(double.idle_states[2], platform.idle_states[2]);

    // A residency of 1500 us doubles to 3000; the big cluster's sleep has 2000, the little's 2500.
    let platform = changed(&[
        (wfi, &other),
        (wfi, &other),
        ("min_residency_us = 1\n", "min_residency_us = 1500\n"),
        ("min_residency_us = 1\n", "min_residency_us = 1500\n"),
    ]);
    let cost = named(&platform, "idle state WFI residency");
    let double = platform.with_assumed(&cost, Double);
    assert_eq!(double.idle_states[0].min_residency_ns, 1_999_999);
    assert_eq!(double.idle_states[1].min_residency_ns, 2_499_999);
}

#[test]
fn powers_and_transitions_of_a_table_are_one() {
    let power = "energy_core_a7\"\nstanding = \"published\"\n\n[frequency_domain.cluster_power]";
    let platform = changed(&[(power, &power.replace("published", "assumed"))]);
    let cost = named(&platform, "cpu power of CPUs little");
    assert_eq!(cost.value, "187 to 1024");
    let double = platform.with_assumed(&cost, Double);
    assert_eq!(double.freq_domains[1].opps[0].power, Some(374));
    assert_eq!(double.freq_domains[1].opps[7].power, Some(2048));
    assert_eq!(double.freq_domains[0], platform.freq_domains[0]);
    let hikey = include_str!("../../platforms/hikey960.toml");
    let before = "that they are mJ, of 2 s, is assumed (docs/decisions/055)\"\"\"\nstanding = ";
    let text = hikey.replace(
        &format!("{before}\"derived\""),
        &format!("{before}\"assumed\""),
    );
    let platform = Platform::from_toml(&text, "p.toml").unwrap();
    let cost = named(&platform, "work power of CPUs big");
    assert_eq!(cost.value, "165532 to 1618956 uW");
    let half = platform.with_assumed(&cost, Half);
    assert_eq!(half.freq_domains[1].opps[0].work_power, Some(82_766));
    assert_eq!(half.freq_domains[0], platform.freq_domains[0]);
    let latency = "transition_latency = 1000000 ns\"\nstanding = \"published\"";
    let platform = changed(&[(latency, &latency.replace("published", "assumed"))]);
    let cost = named(&platform, "frequency transition of CPUs big");
    let half = platform.with_assumed(&cost, Half);
    assert_eq!(half.freq_domains[0].transition_latency_ns, 500_000);
    assert_eq!(half.freq_domains[1].transition_latency_ns, 1_000_000);
}

#[test]
fn every_built_in_platform_stays_valid_in_its_order() {
    for name in builtin_names() {
        let platform = Platform::builtin(name).unwrap();
        for cost in platform.assumed_costs() {
            for factor in Factor::ALL {
                let changed = platform.with_assumed(&cost, factor);
                assert_ne!(changed, platform, "{name}: {} {}", cost.name, factor.word());
                for cpu in 0..changed.cpus.len() {
                    let cpu = crate::CpuId(u32::try_from(cpu).unwrap());
                    let states: Vec<_> = changed.idle_states_of(cpu).map(|(_, s)| s).collect();
                    for pair in states.windows(2) {
                        let place = format!("{name}: {} {}", cost.name, pair[1].name);
                        assert!(
                            pair[0].wake_latency_ns() < pair[1].wake_latency_ns(),
                            "{place}"
                        );
                        assert!(
                            pair[0].min_residency_ns < pair[1].min_residency_ns,
                            "{place}"
                        );
                    }
                }
            }
        }
    }
}
