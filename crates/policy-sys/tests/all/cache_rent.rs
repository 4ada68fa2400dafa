//! A task whose wakers are in another cache pays rent, and moves once it has paid as much as a move
//! costs. Source: docs/rules/cache-rent.md#rent, docs/rules/cache-rent.md#rent-numbers.
//!
//! What must stay: prices are those of zen4-7950x and zen4-2s-genoa, sums are worked out beside
//! them. It covers policy/src/placement/cache_rent.c. Free: which CPUs wake whom.
//! Tests by part: `five_far_wakeups_pay_a_move` (`wp_count_rent`, `wp_far_line_ns`,
//! `wp_rent_paid`); `wakeups_from_within_pay_back`, `rent_is_of_one_cache` (`wp_count_rent`);
//! `another_node_is_dearer` (`wp_other_node`, `wp_move_ns`); `nobody_waits_for_its_cache`
//! (`wp_select_near_waker`); `nobody_gives_a_core_up` (`wp_loses_core`);
//! `the_waker_that_sleeps_does_not_pull` (`wp_rent_keeps`); `without_prices_nothing_changes`
//! (`wp_rent_counts`).
//! Helpers, and who fails with them: `two_caches`, `on`, `wake` (all tests,
//! `wakeups_from_within_pay_back` among them); `moves_after` (`five_far_wakeups_pay_a_move`,
//! `another_node_is_dearer`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{ask, cluster, core, freeze, level, machine, make_busy, sleeper};
use wakeplace_policy_sys::{
    Core, LevelFacts, MachineFacts, PlaceKind, PriceFacts, Reason, Request, Task, Waker,
};

const LINES: &[(&str, &str)] = &[("cache_rent_lines", "60")];
/// The task goes on on its previous CPU.
const STAYS: (u32, Reason) = (5, Reason::IdleTarget);
/// The first CPU after the waker's.
const MOVES: (u32, Reason) = (1, Reason::IdleCpu);

/// CPUs 0 to 3 and 4 to 7 share a cache each. A line takes 16 ns within one, 73 ns from the other,
/// 196 ns from another node; a move 15 us, to another node 30 us.
fn two_caches() -> MachineFacts {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
    facts.perf_domains.clear();
    facts.prices = PriceFacts::new(
        [Some(16), Some(73), Some(196)],
        [Some(15_000), Some(30_000)],
    );
    facts
}

/// All CPUs idle but 0 and 4, whose tasks wake others; searches look at all CPUs.
fn on(facts: &MachineFacts, overrides: &[(&str, &str)]) -> Core {
    let mut core = core(facts, "linux-7.3", overrides);
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        core.cpu_mut(cpu).idle.nr_idle_scan = 1024;
    }
    make_busy(&mut core, 0);
    make_busy(&mut core, 4);
    core
}

/// A task wakes it from `this_cpu`: where it goes, and why. It stays where it was all the same.
fn wake(core: &mut Core, task: &mut Task, this_cpu: u32, sync: bool) -> (u32, Reason) {
    let waker = sleeper(core, 2, this_cpu, 0, 0);
    let request = Request {
        sync,
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, this_cpu, task.cpu())
    };
    let mut tasks = [task.clone(), waker];
    let choice = core.select_cpu(&mut tasks, 0, &request);
    let [asked, _] = tasks;
    *task = asked;
    (choice.cpu, choice.reason)
}

/// The wake-up from CPU 0 at which a task of CPU 5 moves.
fn moves_after(facts: &MachineFacts) -> Option<usize> {
    let mut core = on(facts, LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    (1..=20).find(|_| wake(&mut core, &mut task, 0, false) == MOVES)
}

/// Goal: 60 lines x (73 - 16) = 3,420 ns each time: four are 13,680 of 15,000, five 17,100.
#[test]
fn five_far_wakeups_pay_a_move() {
    assert_eq!(moves_after(&two_caches()), Some(5));
    let mut core = on(&two_caches(), LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    for paid in [3_420, 6_840, 10_260, 13_680] {
        assert_eq!(wake(&mut core, &mut task, 0, false), STAYS, "{paid} ns");
        assert_eq!(task.raw().rent_ns, paid);
    }
    assert_eq!(wake(&mut core, &mut task, 0, false), MOVES);
    assert_eq!(task.raw().rent_ns, 15_000, "no more is owed");
}

/// Goal: a wake-up from within the cache takes off what one from the other adds, down to nothing; a
/// timer's on an idle CPU, and one from its own CPU, count for neither.
#[test]
fn wakeups_from_within_pay_back() {
    let mut core = on(&two_caches(), LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    assert_eq!(wake(&mut core, &mut task, 4, false), STAYS);
    assert_eq!(task.raw().rent_ns, 0);
    for _ in 0..4 {
        wake(&mut core, &mut task, 0, false);
    }
    wake(&mut core, &mut task, 4, false);
    assert_eq!(task.raw().rent_ns, 10_260);
    wake(&mut core, &mut task, 5, false);
    let mut tasks = [task];
    let _ = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Wake, 0, 5));
    let [mut task] = tasks;
    assert_eq!(task.raw().rent_ns, 10_260);
    assert_eq!(wake(&mut core, &mut task, 0, false), STAYS, "13,680 ns");
    assert_eq!(wake(&mut core, &mut task, 0, false), MOVES);
}

/// Goal: what was paid in one cache does not count in another one, whoever moved the task.
#[test]
fn rent_is_of_one_cache() {
    let mut core = on(&two_caches(), LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    for _ in 0..4 {
        wake(&mut core, &mut task, 0, false);
    }
    task.raw_mut().cpu = 6;
    assert_eq!(
        wake(&mut core, &mut task, 0, false),
        MOVES,
        "the same cache"
    );
    task.raw_mut().cpu = 1;
    let back = wake(&mut core, &mut task, 4, false);
    assert_eq!((back, task.raw().rent_ns), ((1, Reason::IdleTarget), 3_420));
}

/// Goal: 60 lines x (196 - 16) = 10,800 ns from another node: two are 21,600 of 30,000, three
/// 32,400.
#[test]
fn another_node_is_dearer() {
    let mut facts = two_caches();
    facts.levels[1] = LevelFacts {
        numa: true,
        ..level(&[8])
    };
    assert_eq!(moves_after(&facts), Some(3));
    // One cache per node, as the file then says: a wake-up from within takes as much off.
    facts.prices.node_line_ns = 0;
    let mut core = on(&facts, LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    wake(&mut core, &mut task, 0, false);
    wake(&mut core, &mut task, 0, false);
    wake(&mut core, &mut task, 4, false);
    assert_eq!(task.raw().rent_ns, 10_800);
}

/// Goal: with no free CPU in the waker's cache the task stays, however much it has paid.
#[test]
fn nobody_waits_for_its_cache() {
    for sync in [false, true] {
        let mut core = on(&two_caches(), LINES);
        (1..4).for_each(|cpu| make_busy(&mut core, cpu));
        let mut task = sleeper(&mut core, 1, 5, 0, 0);
        for _ in 0..6 {
            assert_eq!(wake(&mut core, &mut task, 0, sync), STAYS, "sync: {sync}");
        }
        common::make_idle(&mut core, 3);
        let late = wake(&mut core, &mut task, 0, sync);
        assert_eq!(late, (3, Reason::IdleCpu), "sync: {sync}");
    }
}

/// Goal: a task that has a core to itself does not go to a core whose other thread is busy. Two
/// threads a core: CPUs 0 and 1, 2 and 3, ...; 0, 2 and 4 are busy, and the task was on CPU 6.
#[test]
fn nobody_gives_a_core_up() {
    let mut facts = two_caches();
    let cores = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        ..level(&[2, 2, 2, 2])
    };
    facts.levels.insert(0, cores);
    let mut core = on(&facts, LINES);
    make_busy(&mut core, 2);
    let mut task = sleeper(&mut core, 1, 6, 0, 0);
    for _ in 0..6 {
        let woken = wake(&mut core, &mut task, 0, false);
        assert_eq!(woken, (6, Reason::IdleTarget));
    }
    make_busy(&mut core, 7);
    assert_eq!(
        wake(&mut core, &mut task, 0, false),
        MOVES,
        "shared there, too"
    );
    common::make_idle(&mut core, 7);
    common::make_idle(&mut core, 2);
    core.cpu_mut(0).idle.has_idle_cores = 1;
    let woken = wake(&mut core, &mut task, 0, false);
    assert_eq!(woken, (2, Reason::IdleCore));
}

/// Goal: a waker that is about to sleep asks for its own CPU at once
/// (docs/rules/wake-ups.md#wake-affine, WA_IDLE, point 2); with the rule only once the price is
/// paid, or where the previous CPU is busy.
#[test]
fn the_waker_that_sleeps_does_not_pull() {
    let mut kernel = on(&two_caches(), &[]);
    let mut task = sleeper(&mut kernel, 1, 5, 0, 0);
    assert_eq!(wake(&mut kernel, &mut task, 0, true), MOVES);
    let mut core = on(&two_caches(), LINES);
    for _ in 0..4 {
        assert_eq!(wake(&mut core, &mut task, 0, true), STAYS);
    }
    assert_eq!(wake(&mut core, &mut task, 0, true), MOVES);
    let mut other = sleeper(&mut core, 3, 5, 0, 0);
    make_busy(&mut core, 5);
    assert_eq!(wake(&mut core, &mut other, 0, true), MOVES, "CPU 5 is busy");
}

/// Goal: on a machine that does not say what lines take all is as in the kernel.
#[test]
fn without_prices_nothing_changes() {
    let mut facts = two_caches();
    facts.prices = PriceFacts::default();
    let mut core = on(&facts, LINES);
    let mut task = sleeper(&mut core, 1, 5, 0, 0);
    for _ in 0..20 {
        assert_eq!(wake(&mut core, &mut task, 0, false), STAYS);
    }
    assert_eq!(task.raw().rent_ns, 0);
    assert_eq!(wake(&mut core, &mut task, 0, true), MOVES);
}
