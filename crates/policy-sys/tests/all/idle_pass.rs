//! The live scheduler's timer stands for the ticks of idle CPUs: which of them look for work
//! (policy/src/live_queue/live.c, docs/rules/live-queue.md#vq-timer), worked out here. Two caches
//! of two cores with two threads each: CPUs 0 to 3 and 4 to 7.
//!
//! What must stay: who looks and when is worked out by hand for the two caches; a tick is 4 ms
//! here. Between two questions nothing may change the core. Free: how helpers build the machine.
//! Tests by part: `one_idle_core_of_each_cache_looks`, `who_has_just_gone_idle_does_not_look`,
//! `packing_wakes_the_thread_beside_a_busy_one` (`wp_is_llc_ilb_cpu`, `wp_rests`);
//! `packing_opens_an_empty_cache_in_its_turn`, `a_crowd_opens_an_empty_cache_at_once`,
//! `a_lone_cpu_is_a_crowd` (`wp_idle_llc_balance_due`); `all_look_while_a_task_waits`,
//! `nobody_is_woken_below_the_tipping_point_but_for_misfits` (`wp_idle_work`,
//! `wp_idle_kick_needed`); `a_wish_that_is_not_met_is_noted_at_the_tick` (`wp_tick_marks`);
//! `the_timer_rests_longer_the_longer_all_are_idle`,
//! `a_turn_counts_once_all_cpus_have_had_their_part` (`wp_idle_timer_ns`, `wp_idle_turn_begin`,
//! `wp_idle_turn_end`); `a_task_to_give_ends_the_rest`, `one_task_that_fits_is_no_surplus`
//! (`wp_note_uneven`); `tasks_with_room_are_no_surplus` (`wp_surplus`);
//! `signals_of_idle_cpus_fade_at_every_turn`, `what_fades_lets_the_clock_down` (`wp_idle_decay`);
//! `who_was_idle_before_has_made_its_pass` (`wp_newidle_begin`).
//! Helpers, and who fails with them: `two_caches`, `ticks` (most tests,
//! `one_idle_core_of_each_cache_looks` among them); `looking` (8 tests,
//! `one_idle_core_of_each_cache_looks` among them); `a_full_cache`
//! (`packing_opens_an_empty_cache_in_its_turn`, `a_crowd_opens_an_empty_cache_at_once`);
//! `with_tasks` (`packing_opens_an_empty_cache_in_its_turn`,
//! `a_crowd_opens_an_empty_cache_at_once`, `a_lone_cpu_is_a_crowd`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{Cluster, RunsAt as _, cluster, core, freeze, level, machine, put, queued};
use wakeplace_policy_sys::sys::{WP_BUSY_NOW, WP_BUSY_SINCE};
use wakeplace_policy_sys::{Core, IdleTurn, LevelFacts, Task};

const MS: u64 = 1_000_000;
const TICK: u64 = 4 * MS;

fn two_caches(overrides: &[(&str, &str)]) -> Core {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
    let threads = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        ..level(&[2, 2, 2, 2])
    };
    facts.levels.insert(0, threads);
    let mut core = core(&facts, "wakeplace", overrides);
    assert!(core.state().energy_active == 0 && u64::from(core.state().tick_ns) == TICK);
    freeze(&mut core);
    core
}

/// A task runs on each of these CPUs and takes its tick at `at`. CPUs of theirs are due at once.
fn ticks(core: &mut Core, cpus: &[u32], at: u64) -> Vec<Task> {
    for cpu in 0..core.state().nr_cpus {
        core.cpu_mut(cpu).balance.next_balance_tick = 0;
    }
    let tasks = cpus.iter().map(|cpu| {
        let mut task = queued(core, cpu + 1, *cpu, 100);
        core.cpu_mut(*cpu).queue.curr_idle = 0;
        core.cpu_mut(*cpu).queue.nr_running = 1;
        let _ = core.set_current(&mut task, at);
        let _ = core.tick(&mut task, at);
        task
    });
    tasks.collect()
}

fn looking(core: &Core, at: u64) -> Vec<u32> {
    (0..core.state().nr_cpus)
        .filter(|cpu| core.cpu(*cpu).queue.curr_idle != 0 && core.idle_pass_wanted(*cpu, at))
        .collect()
}

/// A cache with two busy CPUs: of each cache the first idle core looks, for two ticks; where the
/// busy ones are of two caches, nobody does.
#[test]
fn one_idle_core_of_each_cache_looks() {
    let at = common::NOW + TICK;
    for (busy, expected) in [
        (vec![0], vec![]),
        (vec![0, 4], vec![]),
        (vec![0, 1], vec![2, 4]),
        (vec![0, 5, 7], vec![2]), // no core of the second cache is idle
        (vec![2, 3], vec![0, 4]),
    ] {
        let mut core = two_caches(&[]);
        ticks(&mut core, &busy, at);
        assert_eq!(looking(&core, at + MS), expected, "{busy:?}");
        assert_eq!(looking(&core, at + 2 * TICK), expected, "{busy:?}");
        assert_eq!(looking(&core, at + 3 * TICK), [], "{busy:?}: that was");
    }
}

/// Who has idled for less than a tick may be back in a moment: the next of an idle core looks, or
/// nobody.
#[test]
fn who_has_just_gone_idle_does_not_look() {
    let at = common::NOW + TICK;
    let mut core = two_caches(&[]);
    let _tasks = ticks(&mut core, &[0, 1], at);
    core.cpu_mut(4).idle.idle_stamp_ns = at - TICK + 1;
    assert_eq!(looking(&core, at), [2, 5]);
    core.cpu_mut(4).idle.idle_stamp_ns = at - TICK;
    assert_eq!(looking(&core, at), [2, 4]);
    core.cpu_mut(2).idle.idle_stamp_ns = at;
    core.cpu_mut(3).idle.idle_stamp_ns = at;
    assert_eq!(looking(&core, at), [4], "no core of the first cache rests");
}

/// Where groups are filled one after the other it is the thread beside a busy one, or else the
/// first; a cache without a busy CPU is left alone.
#[test]
fn packing_wakes_the_thread_beside_a_busy_one() {
    let at = common::NOW + TICK;
    for (busy, expected) in [
        (vec![2, 3], vec![0]),
        (vec![0, 2], vec![1]),
        (vec![5, 7], vec![4]),
    ] {
        let mut core = two_caches(&[("mode", "balanced")]);
        ticks(&mut core, &busy, at);
        assert_eq!(looking(&core, at + MS), expected, "{busy:?}");
    }
}

/// The first CPUs of eight have so many `tasks`. Each idle CPU's last pass over both caches was
/// `since` ticks ago, of 8 (32 ms) between two; the timer's last turn was `turn` ticks ago.
fn a_full_cache(mode: &str, tasks: &[u32], since: u64, turn: u64) -> (Core, u64) {
    let core = two_caches(&[("mode", mode)]);
    with_tasks(core, tasks, since, turn)
}

fn with_tasks(mut core: Core, tasks: &[u32], since: u64, turn: u64) -> (Core, u64) {
    let at = common::NOW + 30 * TICK;
    for (cpu, nr) in tasks.iter().enumerate() {
        core.cpu_mut(cpu as u32).queue.nr_fair = *nr;
    }
    let cpus: Vec<u32> = (0..tasks.len() as u32).collect();
    let _tasks = ticks(&mut core, &cpus, at);
    for cpu in 0..core.state().nr_cpus {
        let widest = core.levels(cpu) as usize - 1;
        let lb = &mut core.cpu_mut(cpu).balance.lb[widest];
        (lb.balance_interval_ms, lb.last_balance_tick) = (32, at / TICK - since);
    }
    core.state_mut().idle_turn_ns = at - turn * TICK;
    (core, at)
}

/// Goal: packing leaves a cache without a busy CPU alone unless a task waits when it is the cache's
/// turn, which is every 8 ticks here (docs/decisions/052), or the tick after if the timer had no
/// turn in that one, be it that it rested. A cache that is in use looks at once.
#[test]
fn packing_opens_an_empty_cache_in_its_turn() {
    for (since, turn, opens) in [
        (7, 1, false),
        (8, 0, true),
        (8, 1, true),
        (9, 0, false),
        (9, 1, false),
        (9, 2, true),
        (10, 2, false),
        (10, 16, false),
        (16, 1, true),
        (25, 16, true),
    ] {
        let (core, at) = a_full_cache("balanced", &[2], since, turn);
        let expected: &[u32] = if opens {
            &[1, 2, 3, 4, 5, 6, 7]
        } else {
            &[1, 2, 3]
        };
        assert_eq!(looking(&core, at), expected, "{since} {turn}");
    }
    let (spread, at) = a_full_cache("auto", &[2], 9, 1);
    assert_eq!(
        looking(&spread, at),
        [1, 2, 3, 4, 5, 6, 7],
        "auto packs nothing"
    );
    let (even, at) = a_full_cache("balanced", &[1, 1], 8, 1);
    assert_eq!(looking(&even, at), [2], "nobody waits");
}

/// It opens at once where two CPUs of a cache have three tasks to give each, or a task is a misfit.
#[test]
fn a_crowd_opens_an_empty_cache_at_once() {
    let all = [2, 3, 4, 5, 6, 7];
    for (tasks, opens) in [([4, 4], true), ([4, 3], false), ([9, 1], false)] {
        let (core, at) = a_full_cache("balanced", &tasks, 9, 1);
        assert_eq!(looking(&core, at) == all, opens, "{tasks:?}");
    }
    let (mut core, at) = a_full_cache("balanced", &[4], 9, 1);
    ticks(&mut core, &[0], at);
    assert_eq!(looking(&core, at), [1, 2, 3], "one CPU, twice");
    let (mut core, at) = a_full_cache("balanced", &[4, 4], 9, 1);
    core.cpu_mut(0).queue.nr_fair = 2;
    ticks(&mut core, &[0], at + 3 * TICK);
    let looks = looking(&core, at + 3 * TICK);
    assert_eq!(looks, [2, 3], "crowded three ticks ago");
    let (mut core, at) = a_full_cache("balanced", &[2, 1], 9, 1);
    assert_eq!(looking(&core, at), [2, 3]);
    core.state_mut().misfit_tick = at / TICK;
    assert_eq!(looking(&core, at), all);
}

/// Goal: a crowd opens an empty cache at once, and a CPU that shares its cache with none, and has
/// three to give, is a crowd.
#[test]
fn a_lone_cpu_is_a_crowd() {
    for (tasks, opens) in [(3, false), (4, true)] {
        let facts = machine(&[cluster(1, 1024), cluster(4, 1024)]);
        let mut core = core(&facts, "wakeplace", &[("mode", "balanced")]);
        freeze(&mut core);
        let (core, at) = with_tasks(core, &[tasks], 9, 1);
        let expected: &[u32] = if opens { &[1, 2, 3, 4] } else { &[] };
        assert_eq!(looking(&core, at), expected, "{tasks} tasks");
    }
}

/// Where some CPU has a task to give, all that are due look; one that is not due never does.
#[test]
fn all_look_while_a_task_waits() {
    let at = common::NOW + TICK;
    let mut core = two_caches(&[]);
    core.cpu_mut(0).queue.nr_fair = 2;
    ticks(&mut core, &[0], at);
    core.cpu_mut(6).balance.next_balance_tick = at / TICK + 1000;
    assert_eq!(looking(&core, at + MS), [1, 2, 3, 4, 5, 7]);
}

/// Below the tipping point a balancing pass moves misfits alone
/// (docs/rules/energy-aware.md#overutilized-6-12, docs/rules/balancing.md#busiest-group): nobody is
/// woken for it who has only a task to give; beyond it, and where a task did not fit its CPU at one
/// of the last two ticks, all that are due look.
#[test]
fn nobody_is_woken_below_the_tipping_point_but_for_misfits() {
    let at = common::NOW + TICK;
    let mut core = two_caches(&[]);
    core.cpu_mut(0).queue.nr_fair = 2;
    ticks(&mut core, &[0], at);
    core.state_mut().energy_active = 1;
    let others = [1, 2, 3, 4, 5, 6, 7];
    assert_eq!(looking(&core, at + MS), []);
    core.state_mut().overutilized = 1;
    assert_eq!(looking(&core, at + MS), others);
    core.state_mut().overutilized = 0;
    core.state_mut().misfit_tick = at / TICK;
    assert_eq!(looking(&core, at + 2 * TICK), others);
    assert_eq!(looking(&core, at + 3 * TICK), [], "that was");
}

/// A task that fits by its utilisation and not by its wish (uclamp_min) is a misfit, which does not
/// tip the machine (docs/rules/energy-aware.md#overutilized-6-12): its tick says so.
#[test]
fn a_wish_that_is_not_met_is_noted_at_the_tick() {
    let at = common::NOW + TICK;
    for (wish, noted) in [(900, true), (0, false)] {
        let mut core = core(&machine(&common::hikey960()), "wakeplace", &[]);
        freeze(&mut core);
        let mut task = queued(&mut core, 1, 0, 100);
        core.task_set_uclamp(&mut task, wish, 1024);
        core.cpu_mut(0).queue.curr_idle = 0;
        core.cpu_mut(0).queue.nr_running = 1;
        let _ = core.set_current(&mut task, at);
        let _ = core.tick(&mut task, at);
        assert_eq!(core.state().misfit_tick == at / TICK, noted, "{wish}");
        assert_eq!(core.state().overutilized, 0, "{wish}");
    }
}

/// The timer (docs/guide/model.md): a tick while some CPU is busy at its turn, then twice as long
/// each time, up to 32 ms if some CPU was busy since the last one, else up to 64 ms. Who ran for
/// another class alone was not.
#[test]
fn the_timer_rests_longer_the_longer_all_are_idle() {
    let mut core = two_caches(&[]);
    let at = common::NOW + TICK;
    assert_eq!(core.idle_timer_ns(WP_BUSY_NOW, at), TICK);
    core.cpu_mut(3).idle.idle_stamp_ns = at + MS; // it ran for a moment, between two turns
    assert_eq!(core.was_busy(3), 0, "for another class");
    core.cpu_mut(3).load.avg.util_avg = 1;
    assert_eq!((core.was_busy(3), core.was_busy(2)), (WP_BUSY_SINCE, 0));
    assert_eq!(
        core.idle_timer_ns(WP_BUSY_SINCE | WP_BUSY_NOW, at + TICK),
        TICK
    );
    assert_eq!(core.was_busy(3), 0, "that was before this turn");
    core.cpu_mut(3).queue.curr_idle = 0;
    assert_eq!(core.was_busy(3), WP_BUSY_NOW);
    let mut rests = |busy| [(); 5].map(|()| core.idle_timer_ns(busy, at) / MS);
    assert_eq!(rests(WP_BUSY_SINCE), [8, 16, 32, 32, 32]);
    assert_eq!(rests(0), [64; 5]);
    assert_eq!(rests(WP_BUSY_SINCE), [32; 5], "there is something to fade");
    assert_eq!(rests(WP_BUSY_NOW), [4; 5]);
    assert_eq!(rests(0), [8, 16, 32, 64, 64]);
}

/// A turn is over when all CPUs have had their part: until then the turn before counts. Two CPUs
/// are busy; of each cache the first idle core is kicked. CPUs that are gone have no part.
#[test]
fn a_turn_counts_once_all_cpus_have_had_their_part() {
    let mut core = two_caches(&[]);
    let at = common::NOW + TICK;
    let _tasks = ticks(&mut core, &[0, 1], at);
    let _ = core.idle_timer_ns(WP_BUSY_NOW, at - TICK);
    let mut turn = IdleTurn::begin(at);
    let kicked = (0..8).filter(|cpu| core.idle_turn_offer(&mut turn, *cpu).balance());
    assert_eq!(kicked.collect::<Vec<_>>(), [2, 4]);
    assert_eq!(core.state().idle_turn_ns, at - TICK);
    assert_eq!(core.idle_turn_end(&turn), TICK);
    assert_eq!(core.state().idle_turn_ns, at);
    for cpu in [0, 1, 2] {
        core.cpu_mut(cpu).queue.online = 0;
    }
    let mut turn = IdleTurn::begin(at);
    let kicked = (0..8).filter(|cpu| core.idle_turn_offer(&mut turn, *cpu).balance());
    assert!(!kicked.collect::<Vec<_>>().contains(&2));
    assert_eq!(core.idle_turn_end(&turn), 2 * TICK, "nobody is busy");
}

/// The tick of a busy CPU ends the timer's rest if there is something for idle CPUs, once: a second
/// task (docs/guide/model.md).
#[test]
fn a_task_to_give_ends_the_rest() {
    for (tasks, ends) in [(1, false), (2, true)] {
        let mut core = two_caches(&[]);
        freeze(&mut core);
        let at = common::NOW + 100 * TICK;
        let mut task = queued(&mut core, 1, 0, 100);
        core.cpu_mut(0).queue.curr_idle = 0;
        core.cpu_mut(0).queue.nr_fair = tasks;
        let _ = core.set_current(&mut task, at);
        assert_eq!(core.idle_timer_ns(WP_BUSY_NOW, at), TICK);
        assert!(!core.tick(&mut task, at).ends_rest(), "it does not rest");
        assert_eq!(core.idle_timer_ns(0, at), 2 * TICK);
        assert_eq!(core.tick(&mut task, at).ends_rest(), ends, "{tasks} tasks");
        assert!(!core.tick(&mut task, at).ends_rest(), "once");
    }
}

/// An idle CPU that a turn wakes makes its periodic pass. It does not run out of work then, so it
/// makes no pass for that. The kernel's fair class makes one.
#[test]
fn who_was_idle_before_has_made_its_pass() {
    for (queue, searches) in [("dsq", false), ("eevdf", true)] {
        let mut core = two_caches(&[("queue", queue)]);
        core.state_mut().overload = 1;
        core.cpu_mut(0).idle.avg_idle_ns = MS;
        core.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 0;
        assert_eq!(core.newidle_begin(0, common::NOW), searches, "{queue}");
        core.cpu_mut(0).queue.curr_idle = 0;
        assert!(core.newidle_begin(0, common::NOW), "{queue}");
    }
}

/// Signals of an idle CPU fade at every turn: half a tick old is old enough. A tick of 4 ms leaves
/// 2^(-4/32) of them (docs/rules/signals.md#pelt), in whole periods of 1.048 ms 3 of them: 0.937 to
/// 0.917.
#[test]
fn signals_of_idle_cpus_fade_at_every_turn() {
    let mut core = two_caches(&[]);
    put(&mut core, 5, 0, 400, 400, 400);
    // docs/rules/signals.md#pelt: the divider where a period begins
    core.cpu_mut(5).load.avg.util_sum = 400 * 46_718;
    let util_after = |core: &mut Core, age: u64| {
        let _ = core.idle_decay(5, common::NOW + age);
        core.cpu(5).load.avg.util_avg
    };
    assert_eq!(util_after(&mut core, TICK / 2 - 1), 400, "too young");
    let faded = util_after(&mut core, TICK);
    assert!((363..=378).contains(&faded), "{faded}");
}

/// A CPU has a task to give at its tick if one waits beside the one that runs, or if the one that
/// runs does not fit (docs/rules/balancing.md#nohz: 2+ tasks; misfit): one task that fits is none.
#[test]
fn one_task_that_fits_is_no_surplus() {
    let at = common::NOW + TICK;
    for (tasks, util, surplus) in [(1, 100, false), (2, 100, true), (1, 400, true)] {
        let mut facts = machine(&[cluster(2, 462), cluster(2, 1024)]);
        facts.perf_domains.clear();
        let mut core = core(&facts, "wakeplace", &[]);
        freeze(&mut core);
        put(&mut core, 0, tasks, 1024, util, util);
        let mut task = queued(&mut core, 1, 0, util);
        task.raw_mut().avg.last_update_ns = at;
        let _ = core.set_current(&mut task, at);
        let _ = core.tick(&mut task, at);
        let noted = core.state().surplus_tick == at / TICK;
        assert_eq!(noted, surplus, "{tasks} of {util}");
    }
}

/// A CPU that has room for all of its tasks has none to give, where sched-mc wakes by room
/// (docs/rules/sched-mc.md#mc-authors-list, useless starts): at 400 of 1000 MHz a CPU holds four
/// (P6, P7), so that of two or four none is too many, and of five one is.
#[test]
fn tasks_with_room_are_no_surplus() {
    let at = common::NOW + TICK;
    for (set, tasks, surplus) in [
        ("off", 2, true),
        ("on", 2, false),
        ("on", 4, false),
        ("on", 5, true),
    ] {
        let mut facts = machine(&[Cluster {
            cpus: 2,
            capacity: 1024,
            states: vec![(400_000, 100_000), (1_000_000, 500_000)],
        }]);
        facts.perf_domains.clear();
        let settings = [("mc_kick_by_room", set)];
        let mut core = core(&facts, "wakeplace+sched-mc=2", &settings);
        freeze(&mut core);
        core.runs_at(0, 0);
        put(&mut core, 0, tasks, 1024 * tasks, 100, 100);
        let mut task = queued(&mut core, 1, 0, 100);
        task.raw_mut().avg.last_update_ns = at;
        let _ = core.set_current(&mut task, at);
        let _ = core.tick(&mut task, at);
        let noted = core.state().surplus_tick == at / TICK;
        assert_eq!(noted, surplus, "{set}: {tasks}");
    }
}

/// What fades may let a clock down, and that is said: HiKey960's A73s run at 1805 MHz for 500 of a
/// CPU that has gone idle. A second later 500 is 500 / 2^31 = 0, and the lowest state does
/// (docs/rules/capacity.md#schedutil). A CPU that has nothing left asks for nothing.
#[test]
fn what_fades_lets_the_clock_down() {
    let mut core = core(&machine(&common::hikey960()), "wakeplace", &[]);
    freeze(&mut core);
    core.runs_at(1, 2);
    core.state_mut().freq_doms[1].next_opp = 2;
    let c = core.cpu_mut(5);
    (c.load.avg.util_avg, c.load.avg.util_sum) = (500, 500 * 47_742 * 1024 / 1024);
    assert!(core.idle_decay(5, common::NOW + 1000 * MS).freq());
    assert_eq!(core.freq_request(1), 0);
    core.runs_at(1, 0);
    assert!(!core.idle_decay(5, common::NOW + 2000 * MS).freq());
}
