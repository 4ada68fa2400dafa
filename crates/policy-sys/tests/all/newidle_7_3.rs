//! New-idle balancing, nohz kicks and the domains of 7.3: docs/rules/domains.md#domains,
//! docs/rules/balancing.md#newidle, docs/rules/balancing.md#nohz.
//!
//! What must stay: ratios, costs and flags are those of the pages, era 7.3. It covers
//! policy/src/balance/newidle.c, newidle_ratio.c and nohz.c, and policy/src/topology/topology.c.
//! Free: how helpers build a machine, and state that the rule does not read.
//! Tests by part: `newidle_gates` (`wp_newidle_begin`, `wp_newidle_level`); `newidle_by_chance`
//! (`wp_newidle_dice`); `newidle_ratio_follows_success` (`wp_newidle_rate`,
//! `wp_update_newidle_stats`); `newidle_cost_fades` (`wp_update_newidle_cost`);
//! `waiting_is_part_of_the_first_levels_cost`, `a_level_left_out_hands_the_wait_on`
//! (`wp_newidle_at`, `wp_newidle_done`); `nohz_kick_on_asymmetric_machines`
//! (`wp_nohz_balancer_kick`, `wp_misfit_kicks`); `domain_flags` (`wp_sd_init`,
//! `wp_level_prefers_sibling`); `numa_limits` (`wp_numa_limits`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, attempt, cluster, flat, hikey960, labels, level, machine, put, queued, still};
use wakeplace_policy_sys::{Balance, Core, IdleKind, LevelFacts, Offer, Step, Task, sys};

const ERA: &str = "linux-7.3";
const MS: u64 = 1_000_000;

// ------------------------------------------------------------------------------- newidle

/// Goal: an attempt is worth it if the expected idle time exceeds what the first level cost at
/// most, and only if the root domain is overloaded; a misfit mark goes. Source:
/// docs/rules/balancing.md#newidle.
#[test]
fn newidle_gates() {
    let try_with = |change: fn(&mut Core)| {
        let mut core = flat(2);
        core.state_mut().overload = 1;
        core.cpu_mut(0).idle.avg_idle_ns = 300_000;
        core.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 300_000;
        core.cpu_mut(0).queue.misfit_task_load = 5;
        change(&mut core);
        let search = core.newidle_begin(0, NOW);
        assert_eq!(core.cpu(0).queue.misfit_task_load, 0);
        (search, core.cpu(0).idle.wake_idle_stamp_ns != 0)
    };
    assert_eq!(try_with(|_| ()), (true, true));
    assert_eq!(
        try_with(|c| c.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 300_001),
        (false, true)
    );
    assert_eq!(try_with(|c| c.state_mut().overload = 0), (false, true));
    assert_eq!(try_with(|c| c.cpu_mut(0).queue.pending = 1), (false, false));
    // A second task on some queue is reason enough, without waiting for a full pass.
    let mut core = flat(2);
    let mut tasks: Vec<Task> = (1..=2).map(|id| Task::new(id, 1024, 1, None, 2)).collect();
    for (n, task) in tasks.iter_mut().enumerate() {
        core.task_init(task);
        core.enqueue_new(task, 1, NOW);
        assert_eq!(core.state().overload, n as u32);
    }
}

/// Goal: with ratio 0 two of 1024 attempts run, with 512 about half. Source:
/// docs/rules/balancing.md#newidle.
#[test]
fn newidle_by_chance() {
    let runs = |ratio: u32| {
        let mut core = flat(4);
        put(&mut core, 1, 3, 3072, 900, 1000);
        (0..1024)
            .filter(|random| {
                core.cpu_mut(0).balance.lb[0].newidle_ratio = ratio;
                core.cpu_mut(0).balance.lb[0].newidle_calls = 0;
                let mut bal = Balance::default();
                bal.prepare(NOW, 0, 0, IdleKind::NewlyIdle);
                bal.set_random(*random);
                let step = core.balance_begin(&mut bal);
                let skipped = core.cpu(0).balance.lb[0].newidle_skipped != 0;
                assert_eq!(step == Step::Done, skipped);
                let cost = core.newidle_done(0, 0);
                assert_eq!(cost == 0, skipped, "what was not searched costs nothing");
                !skipped
            })
            .count()
    };
    assert_eq!(runs(0), 2);
    assert_eq!(runs(512), 514, "r <= 1 + 512");
    assert_eq!(runs(1024), 1024);
}

/// Goal: successes of 1024 calls become the ratio, counters are halved then; a success counts for
/// the attempts that were not made. Source: docs/rules/balancing.md#newidle,
/// docs/rules/domains.md#domain-constants (start 512 of 1024).
#[test]
fn newidle_ratio_follows_success() {
    let mut core = flat(4);
    core.cpu_mut(0).balance.lb[0].newidle_stamp_ns = NOW; // no time passes (NI_RATE)
    let lb = |core: &Core| {
        let lb = &core.cpu(0).balance.lb[0];
        (lb.newidle_calls, lb.newidle_success, lb.newidle_ratio)
    };
    assert_eq!(lb(&core), (512, 256, 512));
    for _ in 0..511 {
        attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    }
    assert_eq!(lb(&core), (1023, 256, 512));
    attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(lb(&core), (512, 128, 256));
    put(&mut core, 1, 3, 3072, 900, 1000);
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    let task = queued(&mut core, 7, 1, 100);
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Take);
    core.balance_end(&mut bal, true);
    // (1024 + 257 / 2) / 257 = 4
    assert_eq!(lb(&core), (513, 132, 256));
}

/// Goal: a level's cost rises at once and fades by 253/256 per second. Source:
/// docs/rules/balancing.md#newidle Cost.
#[test]
fn newidle_cost_fades() {
    let mut core = flat(4); // scan_cpu_ns 50: a search costs 200 ns
    core.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 100;
    core.newidle_done(0, 0);
    assert_eq!(core.cpu(0).balance.lb[0].max_newidle_cost_ns, 200);
    core.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 25_600;
    core.newidle_done(0, 0);
    assert_eq!(
        core.cpu(0).balance.lb[0].max_newidle_cost_ns,
        25_600,
        "within the second"
    );
    core.cpu_mut(0).load.clock_ns += 1_001 * MS;
    core.newidle_done(0, 0);
    assert_eq!(core.cpu(0).balance.lb[0].max_newidle_cost_ns, 25_300);
}

/// Goal: what the pass waited for while it brought the signals up to date is part of the first
/// level's cost, and of no other's; passes of before 5.16 do not count it and leave it to the home.
/// Source: the order of newidle_balance in 6.2, whose clock starts before update_blocked_averages.
#[test]
fn waiting_is_part_of_the_first_levels_cost() {
    let mut core = flat(4); // a search costs 200 ns
    core.cpu_mut(0).balance.newidle_waited_ns = 7_000;
    assert_eq!(core.newidle_done(0, 0), 7_200);
    assert_eq!(core.cpu(0).balance.lb[0].max_newidle_cost_ns, 7_200);
    assert_eq!(core.newidle_done(0, 0), 200);
    assert_eq!(core.cpu(0).balance.newidle_waited_ns, 0);
    core.state_mut().params.newidle_first_cost = 0;
    core.cpu_mut(0).balance.newidle_waited_ns = 7_000;
    assert_eq!(core.newidle_done(0, 0), 200);
    assert_eq!(core.cpu(0).balance.newidle_waited_ns, 7_000);
}

/// Goal: a level that is left out by chance counts nothing of it; the next one that is searched
/// does. Source: the `continue` of sched_balance_newidle in 7.3, before `t0 = t1`.
#[test]
fn a_level_left_out_hands_the_wait_on() {
    let mut core = still(&machine(&hikey960()));
    let alone = core.newidle_done(0, 1);
    core.cpu_mut(0).balance.newidle_waited_ns = 7_000;
    core.cpu_mut(0).balance.lb[0].newidle_skipped = 1;
    assert_eq!(core.newidle_done(0, 0), 0);
    assert_eq!(core.cpu(0).balance.newidle_waited_ns, 7_000);
    assert_eq!(core.newidle_done(0, 1), alone + 7_000);
    assert_eq!(core.cpu(0).balance.newidle_waited_ns, 0);
}

// ------------------------------------------------------------------------------- NOHZ, domains

/// Goal: on a machine with CPUs of different size a busy CPU kicks for a misfit task, not because
/// its cache has two busy CPUs. Source: docs/rules/balancing.md#nohz.
#[test]
fn nohz_kick_on_asymmetric_machines() {
    let kick = |misfit: bool| {
        let mut core = still(&machine(&hikey960()));
        put(&mut core, 0, 1, 1024, 100, 100);
        core.nohz_enter(7);
        core.state_mut().nohz_next_blocked_ns = u64::MAX;
        let util = if misfit { 400 } else { 100 };
        let mut task = queued(&mut core, 1, 0, util);
        core.tick(&mut task, NOW).kick()
    };
    assert!(!kick(false), "four busy CPUs share the cache");
    assert!(kick(true));
}

/// Goal: PREFER_SIBLING on all levels but NUMA; to 6.12 not below an asymmetric domain.
/// imbalance_pct 117 and 110, cache_nice_tries 0, 1, 1, 2. Source: docs/rules/domains.md#domains
/// (the table), docs/rules/domains.md#degenerate-levels.
#[test]
fn domain_flags() {
    let mut facts = machine(&[cluster(8, 1024), cluster(8, 1024)]);
    let smt = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        ..level(&[2; 8])
    };
    facts.levels = vec![smt, facts.levels[0].clone(), level(&[16])];
    facts.levels[1].group_of = labels([4; 4]);
    facts.levels[2].group_of = labels([8; 2]);
    facts.levels.push(LevelFacts {
        numa: true,
        ..level(&[16])
    });
    let core = still(&facts);
    let doms = |core: &Core| -> Vec<(u32, u32, bool)> {
        let c = core.cpu(0);
        let doms = c.topo.dom[..c.topo.nr_levels as usize].iter();
        doms.map(|d| &core.state().doms[*d as usize])
            .map(|d| {
                let sibling = d.flags & sys::WP_SD_PREFER_SIBLING != 0;
                (d.imbalance_pct, d.cache_nice_tries, sibling)
            })
            .collect()
    };
    let expected = [
        (110, 0, true),
        (117, 1, true),
        (117, 1, true),
        (117, 2, false),
    ];
    assert_eq!(doms(&core), expected);
    let asym = machine(&hikey960());
    assert_eq!(doms(&still(&asym)), [(117, 1, true), (117, 1, true)]);
    let older = common::core(&asym, ERA, &[("prefer_sibling", "not-asym")]);
    assert_eq!(doms(&older), [(117, 1, false), (117, 1, true)]);
}

/// Goal: 2 x 112 CPUs with one cache per node: 14; 2 x 128 with 8 caches of 16 per node: 8. Source:
/// docs/rules/domains.md#imb-numa.
#[test]
fn numa_limits() {
    let limit = |levels: Vec<LevelFacts>, cpus: usize| {
        let mut facts = machine(&[cluster(cpus, 1024)]);
        facts.levels = levels;
        let core = still(&facts);
        let c = core.cpu(0);
        core.state().doms[c.topo.dom[c.topo.nr_levels as usize - 1] as usize].imb_numa_nr
    };
    let cache = |sizes: &[usize]| LevelFacts {
        shares_cache: true,
        ..level(sizes)
    };
    let numa = |cpus: usize| LevelFacts {
        numa: true,
        ..level(&[cpus])
    };
    let spr = vec![cache(&[112, 112]), level(&[112, 112]), numa(224)];
    assert_eq!(limit(spr, 224), 14);
    let zen3 = vec![cache(&[16; 16]), level(&[128, 128]), numa(256)];
    assert_eq!(limit(zen3, 256), 8);
}
