//! CPUs that leave and come back: what the core finds anew, keeps and forgets
//! (docs/rules/domains.md#domain-groups; docs/rules/hotplug.md#hotplug).
//!
//! What must stay: signals of a CPU survive a rebuild, what balancing learnt does not; domains are
//! of the CPUs that are there. It covers policy/src/topology/hotplug.c and
//! crates/policy-sys/src/hotplug.rs. Free: which CPU goes, if its cache is the same.
//! Tests by part: `domains_are_of_the_cpus_that_are_there` (`wp_build_sched_domains`, `hotplug`);
//! `without_the_big_cpus_there_is_nothing_to_choose` (`wp_energy_condition`);
//! `clocks_follow_who_is_there` (the CPUs of a clock); `signals_stay_and_lessons_go`
//! (`wp_forget_balancing`, `wp_domains_rebuilt`); `nobody_owns_balancing_after_a_rebuild`
//! (`wp_find_new_ilb_3_1`, `wp_domains_rebuilt`); `a_task_stays_in_its_node_if_it_can`
//! (`wp_select_fallback_rq`).
//! Helpers, and who fails with them: `without` (most tests,
//! `domains_are_of_the_cpus_that_are_there` among them); `spans`
//! (`domains_are_of_the_cpus_that_are_there`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, RunsAt as _, cluster, core, freeze, hikey960, labels, machine};
use wakeplace_policy_sys::sys::WP_ILB_KICKED;
use wakeplace_policy_sys::{Core, LevelFacts, MachineFacts, Task};

fn without(facts: &MachineFacts, gone: &[usize]) -> MachineFacts {
    let mut facts = facts.clone();
    facts.online = (0..facts.capacity.len())
        .map(|cpu| !gone.contains(&cpu))
        .collect();
    facts
}

fn spans(core: &Core, cpu: u32) -> Vec<u32> {
    let c = core.cpu(cpu);
    let levels = c.topo.dom[..c.topo.nr_levels as usize].iter();
    levels
        .map(|dom| core.state().doms[*dom as usize].nr_cpus)
        .collect()
}

/// Goal: domains hold the CPUs that are there. Method: two clusters of 4 below a package; CPUs 1,
/// 4, 5 and 6 leave: 3 and 1 CPUs, so CPU 7 has the package of 4 alone, with a group of its own.
#[test]
fn domains_are_of_the_cpus_that_are_there() {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-4.17", &[]);
    assert_eq!(spans(&core, 0), [4, 8]);
    core.hotplug(&without(&facts, &[1, 4, 5, 6]), NOW).unwrap();
    assert_eq!(spans(&core, 0), [3, 4]);
    assert_eq!(spans(&core, 7), [4]);
    assert_eq!(spans(&core, 1), [0; 0]);
    assert_eq!(core.cpu(7).topo.llc_size, 1);
    core.hotplug(&facts, NOW).unwrap();
    assert_eq!(spans(&core, 1), [4, 8]);
    assert_eq!(core.cpu(7).topo.llc_size, 4);
}

/// Goal: the energy model's conditions are looked at again
/// (docs/rules/energy-aware.md#energy-conditions: CPUs of different capacity are one), and the
/// biggest capacity with them.
#[test]
fn without_the_big_cpus_there_is_nothing_to_choose() {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-4.17+energy-aware", &[]);
    assert_eq!(core.energy_inactive(), None);
    core.state_mut().overutilized = 1;
    core.hotplug(&without(&facts, &[4, 5, 6, 7]), NOW).unwrap();
    assert_eq!(
        core.energy_inactive(),
        Some("all CPUs have the same capacity")
    );
    assert_eq!(core.state().max_capacity_orig, 462);
    assert!(!core.overutilized());
    core.hotplug(&facts, NOW).unwrap();
    assert_eq!(core.energy_inactive(), None);
    assert_eq!(core.state().max_capacity_orig, 1024);
}

/// Goal: a CPU that is gone does not hold its clock up, and one that comes back finds it as it is.
/// Source: docs/rules/energy-aware.md#util-to-freq, table: big cluster, util 200 asks for 903 MHz,
/// 733 for 2362.
#[test]
fn clocks_follow_who_is_there() {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-4.17", &[]);
    freeze(&mut core);
    for (cpu, util) in [(4, 200), (5, 733)] {
        core.cpu_mut(cpu).queue.nr_fair = 1;
        core.cpu_mut(cpu).load.avg.util_avg = util;
    }
    let khz = |core: &Core| facts.freq_domains[1].opp_khz[core.freq_request(1) as usize];
    core.cpu_mut(4).load.nr_removed = 1;
    core.update_blocked(4, NOW);
    assert_eq!(khz(&core), 2_362_000);
    core.runs_at(1, core.freq_request(1));
    core.hotplug(&without(&facts, &[5]), NOW).unwrap();
    core.cpu_mut(4).load.nr_removed = 1;
    core.update_blocked(4, NOW); // no rate limit: the governor starts anew
    assert_eq!(khz(&core), 903_000);
    core.runs_at(1, core.freq_request(1));
    assert_eq!(core.cpu(5).load.freq_scale, 1024, "it was away");
    core.hotplug(&facts, NOW).unwrap();
    assert_eq!(core.cpu(5).load.freq_scale, 903 * 1024 / 2362);
    assert_eq!(core.cpu(4).load.freq_scale, 903 * 1024 / 2362);
}

/// Goal: signals stay, what balancing learnt goes. Source: docs/rules/hotplug.md#hotplug.
#[test]
fn signals_stay_and_lessons_go() {
    let facts = machine(&[cluster(4, 1024)]);
    let mut core = core(&facts, "linux-7.3", &[]);
    freeze(&mut core);
    core.nohz_enter(3);
    let c = core.cpu_mut(2);
    (
        c.load.avg.util_avg,
        c.idle.avg_idle_ns,
        c.idle.nr_idle_scan,
        c.idle.has_idle_cores,
    ) = (300, 77_000, 3, 1);
    c.balance.lb[0].nr_balance_failed = 5;
    c.balance.lb[0].max_newidle_cost_ns = 9_000;
    core.state_mut().overload = 1;
    core.hotplug(&without(&facts, &[0]), NOW).unwrap();
    let c = core.cpu(2);
    assert_eq!((c.load.avg.util_avg, c.idle.avg_idle_ns), (300, 77_000));
    assert_eq!((c.idle.nr_idle_scan, c.idle.has_idle_cores), (0, 0));
    let lb = c.balance.lb[0];
    assert_eq!((lb.nr_balance_failed, lb.max_newidle_cost_ns), (0, 0));
    let tick = NOW / u64::from(facts.tick_ns);
    assert_eq!(
        (lb.last_balance_tick, lb.next_cost_decay_tick),
        (tick, tick)
    );
    assert_eq!(lb.balance_interval_ms, 3, "the domain's CPUs");
    assert_eq!(core.state().overload, 0);
    assert!(core.is_nohz(3));
    assert_eq!(
        core.cpu(1).idle.nr_busy_cpus,
        2,
        "three CPUs, one of them without a tick"
    );
}

/// Goal: 3.1's idle load balancer is found anew, as are those who kick it; a CPU that is away has
/// no kick to answer, the others keep theirs. Source: docs/rules/hotplug.md#hotplug;
/// docs/rules/domains.md#domain-groups.
#[test]
fn nobody_owns_balancing_after_a_rebuild() {
    let facts = machine(&[cluster(4, 1024)]);
    let mut core = core(&facts, "linux-3.1", &[]);
    freeze(&mut core);
    let ctx = core.state_mut();
    (ctx.nohz_owner, ctx.nohz_first_pick, ctx.nohz_second_pick) = (2, 3, 4);
    for cpu in 0..4 {
        core.cpu_mut(cpu).idle.ilb = WP_ILB_KICKED;
    }
    core.hotplug(&without(&facts, &[0]), NOW).unwrap();
    let ctx = core.state();
    let found = (ctx.nohz_owner, ctx.nohz_first_pick, ctx.nohz_second_pick);
    assert_eq!(found, (0, 0, 0));
    let kicked = (0..4).map(|cpu| core.cpu(cpu).idle.ilb == WP_ILB_KICKED);
    assert_eq!(kicked.collect::<Vec<_>>(), [false, true, true, true]);
}

/// Goal: the lowest CPU the task may use of the same node, else the lowest of all, else none.
/// Source: docs/rules/hotplug.md#hotplug (the kernels' `select_fallback_rq`). Method: nodes {0-3}
/// and {4-7}.
#[test]
fn a_task_stays_in_its_node_if_it_can() {
    let mut facts = machine(&[cluster(8, 1024)]);
    let level = |sizes: &[usize], numa: bool| LevelFacts {
        shares_cache: !numa,
        numa,
        group_of: labels(sizes.iter().copied()),
        ..LevelFacts::default()
    };
    let flat = core(&facts, "linux-7.3", &[]);
    facts.levels = vec![level(&[4, 4], false), level(&[8], true)];
    let mut nodes = core(&facts, "linux-7.3", &[]);
    let ask = |core: &mut Core, gone: &[u32], list: &[u32], cpu| {
        for other in 0..8 {
            core.cpu_mut(other).queue.online = u32::from(!gone.contains(&other));
        }
        core.fallback_cpu(&Task::new(1, 1024, cpu, Some(list), 8), cpu)
    };
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    assert_eq!(ask(&mut nodes, &[6], &all, 6), Some(4));
    assert_eq!(ask(&mut nodes, &[4, 6], &all, 6), Some(5));
    assert_eq!(ask(&mut nodes, &[6], &[1, 2, 6, 7], 6), Some(7));
    assert_eq!(ask(&mut nodes, &[6, 7], &[1, 2, 6, 7], 6), Some(1));
    assert_eq!(ask(&mut nodes, &[6], &[6], 6), None);
    // Each CPU is a node, two and two are near: no other CPU is of its node.
    facts.levels = vec![level(&[2, 2, 2, 2], true), level(&[8], true)];
    facts.levels[0].distance = 20;
    facts.levels[1].distance = 30;
    let mut single = core(&facts, "linux-7.3", &[]);
    assert_eq!(ask(&mut single, &[6], &all, 6), Some(0));
    let mut flat = flat;
    assert_eq!(ask(&mut flat, &[6], &all, 6), Some(0));
}
