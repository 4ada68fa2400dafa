//! Sched domains of known machines: docs/rules/domains.md#domains,
//! docs/rules/domains.md#known-machines, docs/rules/capacity-aware.md#asym-flag,
//! docs/rules/capacity-aware.md#balance-wake, docs/rules/capacity-aware.md#rdmax,
//! docs/rules/capacity-aware.md#group-extremes.
//!
//! What must stay: spans, flags and tunables are those of the pages, era 4.17; real machines are
//! described as the page has them. It covers policy/src/topology/topology.c. Free: how helpers
//! describe a machine.
//! Tests by part: `levels_of_server_machines`, `levels_of_big_little_machines`,
//! `single_cpu_levels_vanish` (`wp_build_sched_domains`, `wp_sd_parent_degenerate`);
//! `partial_asymmetry` (`wp_asym_full`, `wp_capacity_is_new`); `balance_wake_only_where_it_helps`
//! (`wp_set_balance_wake`); `tunables` (`wp_sd_init`); `groups_of_tc2` (`wp_build_sched_groups`,
//! `wp_update_group_capacity`); `a_cpu_that_is_offline_is_in_no_domain` (`wp_collect_span`).
//! Helpers, and who fails with them: `doms` (most tests, `levels_of_big_little_machines` among
//! them); `symmetric`, `spr` (`levels_of_server_machines`, `tunables`); `spans`
//! (`levels_of_server_machines`, `levels_of_big_little_machines`, `single_cpu_levels_vanish`,
//! `a_cpu_that_is_offline_is_in_no_domain`).

use crate::common;

use common::{cluster, core, hikey960, labels, machine, tc2};
use wakeplace_policy_sys::{Core, FreqFacts, LevelFacts, MachineFacts, sys};

/// A symmetric machine of (span, shares capacity, shares cache) levels.
fn symmetric(cpus: usize, levels: &[(usize, bool, bool)]) -> MachineFacts {
    let level = |(span, shares_capacity, shares_cache): &(usize, bool, bool)| LevelFacts {
        shares_capacity: *shares_capacity,
        shares_cache: *shares_cache,
        group_of: labels(std::iter::repeat_n(*span, cpus / span)),
        ..LevelFacts::default()
    };
    MachineFacts {
        tick_ns: 4_000_000,
        scan_cpu_ns: 50,
        capacity: vec![1024; cpus],
        online: Vec::new(),
        levels: levels.iter().map(level).collect(),
        freq_domains: vec![FreqFacts {
            cpus: (0..cpus as u16).collect(),
            opp_khz: vec![1_000_000],
            transition_latency_us: 0,
        }],
        perf_domains: Vec::new(),
        ..MachineFacts::default()
    }
}

fn doms(core: &Core, cpu: u32) -> Vec<&sys::wp_sched_domain> {
    let c = core.cpu(cpu);
    let levels = c.topo.dom[..c.topo.nr_levels as usize].iter();
    levels.map(|d| &core.state().doms[*d as usize]).collect()
}

fn spans(core: &Core, cpu: u32) -> Vec<u32> {
    doms(core, cpu).iter().map(|d| d.nr_cpus).collect()
}

/// CPUs in the order SMT siblings adjacent: 2 threads per core.
fn spr() -> MachineFacts {
    let levels = [
        (2, true, true),
        (112, false, true),
        (112, false, false),
        (224, false, false),
    ];
    symmetric(224, &levels)
}

/// Goal: levels by span and size of the last-level cache. Source:
/// docs/rules/domains.md#known-machines. A level that equals the one below disappears
/// (docs/rules/domains.md#degenerate-levels), here the package of the SPR.
#[test]
fn levels_of_server_machines() {
    let ivb = symmetric(
        40,
        &[(2, true, true), (20, false, true), (40, false, false)],
    );
    let zen3 = symmetric(
        256,
        &[
            (2, true, true),
            (16, false, true),
            (128, false, false),
            (256, false, false),
        ],
    );
    for (name, facts, expected, llc) in [
        ("SPR", spr(), vec![2, 112, 224], 112),
        ("IVB-EP", ivb, vec![2, 20, 40], 20),
        ("Zen3", zen3, vec![2, 16, 128, 256], 16),
    ] {
        let core = core(&facts, "linux-4.17", &[]);
        for cpu in 0..facts.capacity.len() as u32 {
            assert_eq!(spans(&core, cpu), expected, "{name} CPU {cpu}");
            let c = core.cpu(cpu);
            assert_eq!(
                (c.topo.llc_size, c.topo.llc_level),
                (llc, 1),
                "{name} CPU {cpu}"
            );
            assert_eq!(
                c.topo.llc_id,
                cpu - cpu % llc,
                "{name}: first CPU of the cache"
            );
        }
        assert_eq!(core.state().asym, 0, "{name}");
        assert_eq!(core.state().smt, 1, "{name}");
    }
}

/// Goal: big.LITTLE machines: spans, cache size per cluster, asymmetric at the top only. Source:
/// docs/rules/domains.md#known-machines; docs/rules/capacity-aware.md#asym-flag.
#[test]
fn levels_of_big_little_machines() {
    let juno = vec![cluster(4, 446), cluster(2, 1024)];
    for (name, clusters) in [("HiKey960", hikey960()), ("Juno r0", juno), ("TC2", tc2())] {
        let core = core(&machine(&clusters), "linux-4.17", &[]);
        let sizes = labels(clusters.iter().map(|c| c.cpus));
        let total = sizes.len() as u32;
        for (cpu, cluster) in sizes.iter().enumerate() {
            let size = clusters[*cluster as usize].cpus as u32;
            let cpu = cpu as u32;
            assert_eq!(spans(&core, cpu), [size, total], "{name} CPU {cpu}");
            assert_eq!(
                (core.cpu(cpu).topo.llc_size, core.cpu(cpu).topo.asym_level),
                (size, 1),
                "{name}"
            );
            let asym: Vec<_> = doms(&core, cpu)
                .iter()
                .map(|d| d.flags & (sys::WP_SD_ASYM_CPUCAPACITY | sys::WP_SD_ASYM_CPUCAPACITY_FULL))
                .collect();
            let full = sys::WP_SD_ASYM_CPUCAPACITY | sys::WP_SD_ASYM_CPUCAPACITY_FULL;
            assert_eq!(asym, [0, full], "{name} CPU {cpu}");
        }
        assert_eq!((core.state().asym, core.state().smt), (1, 0), "{name}");
        assert_eq!(core.state().max_capacity_orig, 1024, "{name}: rdmax (2.5)");
    }
    let a7_only = core(&machine(&[cluster(3, 430)]), "linux-4.17", &[]);
    assert_eq!(
        a7_only.state().max_capacity_orig,
        430,
        "rdmax of an A7-only set (docs/rules/capacity-aware.md#rdmax)"
    );
}

/// Goal: three capacity classes with two of them in one MC: ASYM without FULL there, both above; a
/// machine with two classes, mixed in one MC: ASYM and FULL on both. Source:
/// docs/rules/capacity-aware.md#asym-flag.
#[test]
fn partial_asymmetry() {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 300)]);
    facts.capacity = vec![1024, 1024, 700, 700, 300, 300, 300, 300];
    facts.perf_domains.clear();
    let three = core(&facts, "linux-4.17", &[]);
    let flags = |core: &Core, cpu| -> Vec<(bool, bool)> {
        let has = |d: &&sys::wp_sched_domain, flag| d.flags & flag != 0;
        let both = |d| {
            (
                has(&d, sys::WP_SD_ASYM_CPUCAPACITY),
                has(&d, sys::WP_SD_ASYM_CPUCAPACITY_FULL),
            )
        };
        doms(core, cpu).into_iter().map(both).collect()
    };
    assert_eq!(flags(&three, 0), [(true, false), (true, true)]);
    assert_eq!(flags(&three, 4), [(false, false), (true, true)]);
    facts.capacity = vec![1024, 1024, 700, 700, 700, 700, 700, 700];
    let two = core(&facts, "linux-4.17", &[]);
    assert_eq!(flags(&two, 0), [(true, true), (true, true)]);
    assert_eq!(flags(&two, 4), [(false, false), (true, true)]);
}

/// Goal: BALANCE_WAKE on the asymmetric domain and all below, nowhere on symmetric machines,
/// nowhere without the switch. Source: docs/rules/capacity-aware.md#balance-wake.
#[test]
fn balance_wake_only_where_it_helps() {
    let any = |core: &Core| {
        let n = core.state().nr_doms as usize;
        let flagged = |d: &&sys::wp_sched_domain| d.flags & sys::WP_SD_BALANCE_WAKE != 0;
        (core.state().doms[..n].iter().filter(flagged).count(), n)
    };
    assert_eq!(any(&core(&machine(&tc2()), "linux-4.17", &[])), (3, 3));
    assert_eq!(
        any(&core(&machine(&tc2()), "linux-4.17-asym-capacity", &[])),
        (0, 3)
    );
    let same = [cluster(2, 1024), cluster(2, 1024)];
    assert_eq!(any(&core(&machine(&same), "linux-4.17", &[])), (0, 3));
}

/// Goal: tunables of the 2016/2018 kernels: imbalance 110 for threads, 117 for a shared cache, else
/// 125; first interval = weight; common flags. Source: docs/rules/domains.md#domain-constants,
/// docs/rules/domains.md#domains.
#[test]
fn tunables() {
    let core = core(&spr(), "linux-4.17", &[]);
    let list = doms(&core, 0);
    let pct: Vec<_> = list.iter().map(|d| d.imbalance_pct).collect();
    assert_eq!(pct, [110, 117, 125]);
    let tries: Vec<_> = list.iter().map(|d| d.cache_nice_tries).collect();
    assert_eq!(tries[..2], [0, 1]);
    let intervals: Vec<_> = core.cpu(0).balance.lb[..3]
        .iter()
        .map(|l| l.balance_interval_ms)
        .collect();
    assert_eq!(intervals, [2, 112, 224]);
    let common = sys::WP_SD_BALANCE_NEWIDLE
        | sys::WP_SD_BALANCE_EXEC
        | sys::WP_SD_BALANCE_FORK
        | sys::WP_SD_WAKE_AFFINE;
    for dom in &list {
        assert_eq!(dom.flags & common, common);
    }
    let p = common::policy("linux-4.17", &[]);
    assert_eq!(p.core_params().busy_factor, 32);
    let tops: Vec<_> = list.iter().map(|d| d.top).collect();
    assert_eq!(tops, [0, 0, 1]);
}

/// Goal: groups are the spans of the child's domains, with their CPUs' sum and least capacity.
/// Source: docs/rules/domains.md#domain-groups; docs/rules/capacity-aware.md#group-extremes: A15
/// (2048, 1024), A7 (1290, 430).
#[test]
fn groups_of_tc2() {
    let core = core(&machine(&tc2()), "linux-4.17", &[]);
    let top = doms(&core, 0)[1];
    let first = top.first_group as usize;
    let groups = &core.state().groups[first..first + top.nr_groups as usize];
    let got: Vec<_> = groups
        .iter()
        .map(|g| (g.nr_cpus, g.capacity, g.min_capacity))
        .collect();
    assert_eq!(got, [(2, 2048, 1024), (3, 1290, 430)]);
    let local = |cpu| core.cpu(cpu).topo.group[1];
    assert_eq!((local(1), local(4)), (0, 1));
}

/// Goal: a single-CPU level vanishes; a CPU without a shared cache is its own. Source:
/// docs/rules/domains.md#degenerate-levels.
#[test]
fn single_cpu_levels_vanish() {
    let core = core(
        &machine(&[cluster(1, 462), cluster(3, 1024)]),
        "linux-4.17",
        &[],
    );
    assert_eq!(spans(&core, 0), [4]);
    assert_eq!(spans(&core, 2), [3, 4]);
    assert_eq!((core.cpu(0).topo.llc_size, core.cpu(0).topo.llc_id), (1, 0));
    assert_eq!(core.cpu(0).topo.llc_level, sys::WP_NONE);
}

/// Goal: a CPU that does not run is in no domain, and no other domain has it. Source:
/// docs/rules/domains.md#domain-groups (domains are of the active CPUs).
#[test]
fn a_cpu_that_is_offline_is_in_no_domain() {
    let mut facts = machine(&hikey960());
    facts.online = vec![true; 8];
    facts.online[3] = false;
    let core = core(&facts, "linux-4.17", &[]);
    assert_eq!(spans(&core, 0), [3, 7]);
    assert_eq!(spans(&core, 4), [4, 7]);
    assert!(spans(&core, 3).is_empty());
}
