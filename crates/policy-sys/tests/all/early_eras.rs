//! The eras before 4.9 as sets of rules and constants, and the worked numbers of their capacities
//! (docs/rules/linux-3-8.md#groups-and-capacity and docs/rules/linux-3-8.md#linux-3-8,
//! docs/rules/sched-mc.md#linux-3-1 and docs/rules/sched-mc.md#sched-mc-patches,
//! docs/rules/capacity-aware.md#capacity-aware-switches).
//!
//! What must stay: sets of rules and constants of an era are those of its page: a new parameter
//! gets its value of that time here. It covers crates/policy-sys/src/eras/early.rs. Free: how the
//! lists are written.
//! Tests by part: `asym_capacity_is_added_to_4_7`, `constants_are_those_of_the_time`
//! (eras/early.rs); `the_live_build_refuses_them` (`not_in_live_build`); `capacities_in_tasks`
//! (`wp_capacity_tasks`); `the_cpu_level_needs_room` (`wp_cpu_level_missing`).
//! Helpers, and who fails with them: `value` (`asym_capacity_is_added_to_4_7`,
//! `constants_are_those_of_the_time`, `the_live_build_refuses_them`); `era`
//! (`asym_capacity_is_added_to_4_7`, `constants_are_those_of_the_time`,
//! `the_live_build_refuses_them`, `the_cpu_level_needs_room`).
#![allow(missing_docs, reason = "not a library")]

use crate::common::{cluster, labels, machine};
use wakeplace_policy_sys::{Core, LevelFacts, Policy};

const EARLY: [&str; 3] = ["linux-3.1", "linux-3.8", "linux-4.7"];

fn value(policy: &Policy, key: &str) -> String {
    let params = policy.params();
    let found = params.iter().find(|p| p.key == key);
    found.expect("known key").value.clone()
}

fn era(name: &str) -> Policy {
    Policy::parse(name).expect("an era")
}

/// The four switches of the series of 2016 (docs/rules/capacity-aware.md#capacity-aware-switches).
const SWITCHES: [&str; 4] = [
    "asym_balance_wake",
    "wake_cap",
    "idlest_spare",
    "asym_no_pull",
];

/// Goal: the feature is what 4.7 lacks, and can be added and taken off; the fix of 2014 stays a
/// parameter of its own.
#[test]
fn asym_capacity_is_added_to_4_7() {
    let (plain, with) = (era("linux-4.7"), era("linux-4.7+asym-capacity"));
    for key in SWITCHES {
        assert_eq!(value(&plain, key), "off", "{key}");
        assert_eq!(value(&with, key), "on", "{key}");
    }
    assert_eq!(value(&with, "wakee_flips_fix"), "off");
    let again = era("linux-4.7+asym-capacity-asym-capacity");
    assert_eq!(again.core_params(), plain.core_params());
    let state = |p: &Policy| {
        p.features()
            .iter()
            .find(|f| f.name == "asym-capacity")
            .unwrap()
            .state
    };
    assert_eq!((state(&plain), state(&with)), (None, Some("on")));
    let mut fixed = era("linux-4.7+asym-capacity");
    fixed.set("wakee_flips_fix", "on").expect("a parameter");
    assert_eq!(value(&fixed, "wakee_flips_fix"), "on");
}

/// Goal: the fair class's constants of those kernels (docs/rules/power-policy.md#power-parameters;
/// docs/rules/queues.md#cfs) and the busy factors (docs/rules/linux-3-8.md#domains-3-8;
/// docs/rules/domains.md#domain-constants).
#[test]
fn constants_are_those_of_the_time() {
    for name in EARLY {
        let p = era(name);
        for (key, expected) in [
            ("sched_latency_ns", "6000000"),
            ("min_granularity_ns", "750000"),
            ("wakeup_granularity_ns", "1000000"),
            ("tunable_scaling", "log"),
            ("migration_cost_ns", "500000"),
            ("nr_migrate", "32"),
            ("imbalance_pct", "125"),
            ("queue", "cfs"),
            ("util_est", "off"),
            ("energy_aware", "off"),
            ("misfit", "off"),
        ] {
            assert_eq!(value(&p, key), expected, "{name} {key}");
        }
        let factor = if name == "linux-4.7" { "32" } else { "64" };
        assert_eq!(value(&p, "busy_factor"), factor, "{name}");
    }
}

/// Goal: no part of an early era reaches the live build, which does not hold it.
#[test]
fn the_live_build_refuses_them() {
    for name in EARLY {
        assert!(era(name).not_in_live_build().is_some(), "{name}");
    }
    let mut live = era("wakeplace");
    assert_eq!(live.not_in_live_build(), None);
    for (key, text) in [
        ("sis_form", "groups"),
        ("sis_always", "off"),
        ("wake_affine_form", "3.18"),
        ("pelt_scale", "ratio"),
        ("weight_is_load", "on"),
        ("domain_form", "3.8"),
        ("capacity_form", "power"),
    ] {
        let was = value(&live, key);
        live.set(key, text).expect("a parameter");
        assert!(live.not_in_live_build().is_some(), "{key}");
        live.set(key, &was).expect("a parameter");
    }
}

/// Goal: capacity rounds to the nearest number of tasks, halves up: 1178 1, a 4-core HT socket 5, 8
/// cores 9, 10 cores 12 (docs/rules/linux-3-8.md#groups-and-capacity); 4096 is 4, and 3 below 3584
/// (docs/rules/sched-mc.md#sched-mc-patches, docs/rules/sched-mc.md#mc-arch-hook).
#[test]
fn capacities_in_tasks() {
    for (capacity, tasks) in [
        (1178, 1),
        (4 * 1178, 5),
        (8 * 1178, 9),
        (10 * 1178, 12),
        (1024, 1),
        (4096, 4),
        (3584, 4),
        (3583, 3),
        (589, 1),
        (511, 0),
        (512, 1),
    ] {
        assert_eq!(Core::capacity_tasks(capacity), tasks, "{capacity}");
    }
}

/// Goal: the CPU level that those kernels built over a cache themselves is left out where the core
/// has no room for it: a level more than it can hold, or more domains. Source: the head of
/// `wp_cpu_level_missing`; a machine names 8 levels at most, and domains are as many as CPUs.
#[test]
fn the_cpu_level_needs_room() {
    let spans = |levels: &[(usize, bool)], cpus: usize| {
        let level = |(at, (size, cache)): (usize, &(usize, bool))| LevelFacts {
            shares_capacity: at == 0,
            shares_cache: *cache,
            numa: !cache,
            distance: if *cache { 0 } else { 11 + at as u32 },
            group_of: labels(std::iter::repeat_n(*size, cpus / size)),
            ..LevelFacts::default()
        };
        let mut facts = machine(&[cluster(cpus, 1024)]);
        facts.perf_domains.clear();
        facts.levels = levels.iter().enumerate().map(level).collect();
        let era = era("linux-3.8");
        let core = Core::new(&facts, era.core_params()).expect("a machine");
        let c = core.cpu(0);
        let doms = c.topo.dom[..c.topo.nr_levels as usize].iter();
        doms.map(|dom| core.state().doms[*dom as usize].nr_cpus)
            .collect::<Vec<_>>()
    };
    let nodes = |most: usize| {
        let sizes = [8, 16, 32, 64, 128, 256];
        let nodes = sizes.into_iter().filter(|size| *size <= most);
        let all = [(2, true), (4, true)].into_iter();
        all.chain(nodes.map(|size| (size, false)))
            .collect::<Vec<_>>()
    };
    assert_eq!(spans(&nodes(128), 128), [2, 4, 4, 8, 16, 32, 64, 128]);
    assert_eq!(spans(&nodes(256), 256), [2, 4, 8, 16, 32, 64, 128, 256]);
    // 256 cores and 8 caches, twice, are 528 domains of at most 1024; 512 and 16 would be 1056.
    let threads = |cpus| spans(&[(2, true), (64, true), (cpus, false)], cpus);
    assert_eq!(threads(512), [2, 64, 64, 512]);
    assert_eq!(threads(1024), [2, 64, 1024]);
}
