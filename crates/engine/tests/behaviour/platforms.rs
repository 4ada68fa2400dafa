//! Every built-in machine as the core builds its sched domains (docs/rules/domains.md#domains;
//! docs/rules/domains.md#numa-nodes).
//!
//! What must stay: `expected` derives the domains from the platform file by the pages' rules and
//! calls nothing of the core; a new built-in machine is tested by itself.
//! Tests by part (in crates/engine/src): machine.rs: `domains_of_every_machine` (`core_facts`,
//! `numa_levels`), `machines_that_differ` (`core_facts`); domains.rs:
//! `machines_with_overlapping_nodes_run` (overlapping groups).
//! Helpers, and who fails with them: `expected` (`domains_of_every_machine`); `built`
//! (`domains_of_every_machine`, `machines_that_differ`).

use crate::common::*;
use wakeplace_engine::core_facts;
use wakeplace_platform::{Platform, builtin_names, numa};
use wakeplace_policy_sys::{Core, sys};
use wakeplace_workload::Loops;

/// A domain of one CPU: its level (the NUMA distance where it is one), its CPUs, its flags.
#[derive(Debug, PartialEq, Eq)]
struct Domain {
    level: String,
    cpus: Vec<u32>,
    flags: u32,
}

/// Flags the test computes.
const FLAGS: u32 = sys::WP_SD_SHARE_CPUCAPACITY
    | sys::WP_SD_SHARE_LLC
    | sys::WP_SD_CLUSTER
    | sys::WP_SD_NUMA
    | sys::WP_SD_ASYM_PACKING
    | ASYM;

const ASYM: u32 = sys::WP_SD_ASYM_CPUCAPACITY | sys::WP_SD_ASYM_CPUCAPACITY_FULL;

/// Kernel rules by hand: a level that spans what the one below does, or one CPU, disappears
/// (docs/rules/domains.md#degenerate-levels); two capacities make a domain asymmetric, all the
/// machine has make it fully so (docs/rules/capacity-aware.md#asym-flag).
fn expected(platform: &Platform, cpu: u32) -> Vec<Domain> {
    let distinct = |cpus: &[u32]| {
        let mut all: Vec<u32> = (cpus.iter())
            .map(|cpu| platform.cpus[*cpu as usize].capacity)
            .collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    let every: Vec<u32> = (0..platform.cpus.len() as u32).collect();
    let mut domains: Vec<Domain> = Vec::new();
    let mut add = |level: String, cpus: Vec<u32>, mut flags: u32| {
        let below = domains.last().map_or(1, |below| below.cpus.len());
        if cpus.len() == below {
            return;
        }
        let kinds = distinct(&cpus);
        if kinds > 1 {
            flags |= sys::WP_SD_ASYM_CPUCAPACITY;
        }
        if kinds > 1 && kinds == distinct(&every) {
            flags |= sys::WP_SD_ASYM_CPUCAPACITY_FULL;
        }
        domains.push(Domain { level, cpus, flags });
    };
    for level in &platform.topology {
        let own = level.groups.iter().find(|g| g.iter().any(|c| c.0 == cpu));
        let cpus = own.expect("a partition").iter().map(|cpu| cpu.0).collect();
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let flags = flag(level.shares_cache, sys::WP_SD_SHARE_LLC)
            | flag(level.shares_capacity, sys::WP_SD_SHARE_CPUCAPACITY)
            | flag(level.cluster, sys::WP_SD_CLUSTER)
            | flag(level.asym_packing, sys::WP_SD_ASYM_PACKING);
        add(level.name.clone(), cpus, flags);
    }
    let distances = platform.numa.as_ref().map(|numa| &numa.distances[..]);
    let node = platform.cpus[cpu as usize].node as usize;
    for level in numa::levels(distances.unwrap_or_default()) {
        let within = |other: &&u32| {
            let other = platform.cpus[**other as usize].node as usize;
            other == node || distances.expect("nodes")[node][other] <= level.distance
        };
        let cpus: Vec<u32> = every.iter().filter(within).copied().collect();
        add(format!("NUMA {}", level.distance), cpus, sys::WP_SD_NUMA);
    }
    domains
}

fn built(platform: &Platform, core: &Core, cpu: u32) -> Vec<Domain> {
    let ctx = core.state();
    let c = core.cpu(cpu);
    let domain = |index: &u32| {
        let dom = &ctx.doms[*index as usize];
        let first = dom.first_cpu as usize;
        let list = &ctx.list[first..first + dom.nr_cpus as usize];
        let mut cpus: Vec<u32> = list.iter().map(|cpu| u32::from(*cpu)).collect();
        cpus.sort_unstable();
        let level = platform.topology.get(dom.topo_level as usize);
        let distance = ctx.topo[dom.topo_level as usize].distance;
        Domain {
            level: level.map_or(format!("NUMA {distance}"), |level| level.name.clone()),
            cpus,
            flags: dom.flags & FLAGS,
        }
    };
    c.topo.dom[..c.topo.nr_levels as usize]
        .iter()
        .map(domain)
        .collect()
}

/// Goal: levels, spans and flags of every CPU of every built-in machine.
#[test]
fn domains_of_every_machine() {
    for name in builtin_names() {
        let platform = builtin(name);
        let policy = policy("linux-7.3", &[]);
        let core = Core::new(&core_facts(&platform, &policy), policy.core_params());
        let core = core.unwrap_or_else(|error| panic!("{name}: {error}"));
        for cpu in 0..platform.cpus.len() as u32 {
            let (built, expected) = (built(&platform, &core, cpu), expected(&platform, cpu));
            assert_eq!(built, expected, "{name} CPU {cpu}");
        }
    }
}

/// Goal: the least common of them by name. GB10: two mixed clusters, neither has every capacity.
/// Kunpeng: clusters of 4, caches of 32, then nodes nearer and farther, overlapping. Alder Lake
/// without SMT: a P core has no cluster of its own.
#[test]
fn machines_that_differ() {
    let levels = |name: &str, cpu: u32| -> Vec<(String, usize, bool, bool)> {
        let platform = builtin(name);
        let policy = policy("linux-7.3", &[]);
        let core = Core::new(&core_facts(&platform, &policy), policy.core_params());
        let core = core.unwrap_or_else(|error| panic!("{name}: {error}"));
        let asym = |d: &Domain| d.flags & sys::WP_SD_ASYM_CPUCAPACITY != 0;
        let full = |d: &Domain| d.flags & sys::WP_SD_ASYM_CPUCAPACITY_FULL != 0;
        let domains = built(&platform, &core, cpu).into_iter();
        domains
            .map(|d| (d.level.clone(), d.cpus.len(), asym(&d), full(&d)))
            .collect()
    };
    let row = |level: &str, cpus, asym, full| (level.to_owned(), cpus, asym, full);
    let even = |level: &str, cpus| row(level, cpus, false, false);
    let gb10 = [row("MC", 10, true, false), row("PKG", 20, true, true)];
    assert_eq!(levels("gb10", 0), gb10);
    assert_eq!(levels("gb10", 19), gb10);
    let kunpeng = [
        even("CLS", 4),
        even("MC", 32),
        even("NUMA 16", 64),
        even("NUMA 32", 96),
        even("NUMA 33", 128),
    ];
    assert_eq!(levels("kunpeng920-2s", 0), kunpeng, "node 0: nobody at 25");
    let inner = [
        even("CLS", 4),
        even("MC", 32),
        even("NUMA 16", 64),
        even("NUMA 25", 96),
        even("NUMA 32", 128),
    ];
    assert_eq!(levels("kunpeng920-2s", 32), inner, "node 1 sees all at 32");
    let ring = [
        even("SMT", 2),
        even("MC", 16),
        even("NUMA 20", 48),
        even("NUMA 30", 64),
    ];
    assert_eq!(levels("snb-ep-4s", 0), ring);
    let performance = [row("MC", 16, true, true)];
    assert_eq!(levels("alder-lake-12900k-nosmt", 0), performance);
    let efficient = [even("CLS", 4), row("MC", 16, true, true)];
    assert_eq!(levels("alder-lake-12900k-nosmt", 15), efficient);
    assert_eq!(
        levels("alder-lake-12900k", 0),
        [even("SMT", 2), even("MC", 24)]
    );
}

/// Goal: groups that overlap pass the check at the end of a run, and a task ends as it does
/// anywhere: 10 ms of work.
#[test]
fn machines_with_overlapping_nodes_run() {
    for name in ["snb-ep-4s", "kunpeng920-2s"] {
        let once = script(Loops::Times(1), vec![phase(1, None, &[run_ms(10)])]);
        let load = workload(vec![once], vec![]);
        let platform = without_turbo(name);
        let (report, _) = simulate(&platform, &performance(), &load, &all_off(50 * MS));
        let found = report.tasks[0].run_ns;
        assert!(found.abs_diff(10 * MS) <= 5 * US, "{name}: {found} ns");
    }
}
