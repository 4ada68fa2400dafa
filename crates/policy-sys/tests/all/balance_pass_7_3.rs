//! The balancing pass as 7.3 has it: which tasks move, pushes, intervals, who balances:
//! docs/rules/balancing.md#periodic-balancing, docs/rules/balancing.md#detach,
//! docs/rules/balancing.md#active-balance.
//!
//! What must stay: limits (32 tasks, 500 us, 512 ms, 47.5 ms) are the kernel's; a test changes only
//! with the page that it names. One pass is begin, offers, end: no test may offer without a begin.
//! Free: how helpers build a pass, and state that the rule does not read.
//! Tests by part: `which_tasks_move`, `how_many_tasks`, `what_suits_the_imbalance`,
//! `waiting_misfit_task_is_detached` (`wp_can_migrate_task`, `wp_take_by_kind`,
//! `wp_balance_offer`); `misfit_task_is_pushed_to_a_big_cpu`, `failures_lead_to_a_push`,
//! `squeezed_task_is_pushed` (`wp_need_active_balance`, `wp_balance_failed`,
//! `wp_active_balance_end`); `small_cpu_leaves_big_ones_alone` (`wp_update_sd_pick_busiest`);
//! `intervals`, `interval_doubles_and_resets` (`wp_get_sd_balance_interval`, `wp_balance_due`);
//! `who_balances` (`wp_should_we_balance`); `one_at_a_time_between_nodes` (`wp_serial_enter`);
//! `search_depth_is_written` (`wp_update_idle_cpu_scan`).
//! Helpers, and who fails with them: `pull_one` (`which_tasks_move`, `failures_lead_to_a_push`);
//! `attempt_at` (`misfit_task_is_pushed_to_a_big_cpu`); `attempt_at_busy`
//! (`one_at_a_time_between_nodes`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{
    NOW, attempt, cluster, core, flat, hikey960, level, machine, put, queued, still, tc2,
};
use wakeplace_policy_sys::{Balance, Core, IdleKind, LevelFacts, Offer, Step, Task, sys};

const ERA: &str = "linux-7.3";
const MS: u64 = 1_000_000;

/// CPU 0 idle, CPU 1 with three tasks; the attempt that CPU 0 makes.
fn pull_one() -> (Core, Balance) {
    let mut core = flat(4);
    put(&mut core, 1, 3, 3072, 900, 1000);
    let (step, bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!((step, bal.src_cpu(), bal.dst_cpu()), (Step::Detach, 1, 0));
    assert_eq!(bal.raw().migration_type, sys::WP_MIGRATE_TASK);
    (core, bal)
}

// ------------------------------------------------------------------------------- detaching

/// Goal: not the running task, not one that may not come here, not one that ran within 500 us
/// unless failures exceed cache_nice_tries (1); between threads of a core heat counts nothing.
/// Source: docs/rules/balancing.md#detach.
#[test]
fn which_tasks_move() {
    let offer = |change: fn(&mut Task), failures: u32| {
        let (mut core, mut bal) = pull_one();
        let mut task = queued(&mut core, 7, 1, 100);
        change(&mut task);
        core.cpu_mut(0).balance.lb[0].nr_balance_failed = failures;
        core.balance_offer(&mut bal, &task)
    };
    assert_eq!(offer(|_| (), 0), Offer::Take);
    assert_eq!(offer(|t| t.raw_mut().running = 1, 9), Offer::Skip);
    assert_eq!(offer(|t| t.set_allowed(Some(&[1]), 4), 9), Offer::Skip);
    assert_eq!(
        offer(|t| t.raw_mut().exec_start_ns = NOW - 499_999, 0),
        Offer::Skip
    );
    assert_eq!(
        offer(|t| t.raw_mut().exec_start_ns = NOW - 500_000, 0),
        Offer::Take
    );
    assert_eq!(offer(|t| t.raw_mut().exec_start_ns = NOW, 1), Offer::Skip);
    assert_eq!(offer(|t| t.raw_mut().exec_start_ns = NOW, 2), Offer::Take);
    // Two threads of a core, two tasks on one of them.
    let mut facts = machine(&[cluster(2, 1024)]);
    facts.levels = vec![LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        ..level(&[2])
    }];
    let mut core = still(&facts);
    put(&mut core, 1, 2, 2048, 900, 1000);
    let (step, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!(step, Step::Detach);
    let mut hot = queued(&mut core, 7, 1, 100);
    hot.raw_mut().exec_start_ns = NOW;
    assert_eq!(core.balance_offer(&mut bal, &hot), Offer::Take);
}

/// Goal: at most min(32, running) tasks are looked at; a new-idle CPU takes one; an idle one leaves
/// the last. Source: docs/rules/balancing.md#detach.
#[test]
fn how_many_tasks() {
    let tries = |running: u32| {
        let mut core = flat(4);
        put(&mut core, 1, running, 1024 * running, 900, 1000);
        let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
        let mut hot = queued(&mut core, 7, 1, 100);
        hot.raw_mut().exec_start_ns = NOW;
        (0..100)
            .take_while(|_| core.balance_offer(&mut bal, &hot) == Offer::Skip)
            .count()
    };
    assert_eq!(tries(40), 32);
    assert_eq!(tries(5), 5);
    let mut core = flat(4);
    put(&mut core, 1, 9, 9216, 900, 1000);
    let task = queued(&mut core, 7, 1, 100);
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(bal.raw().imbalance, 4, "(9 - 0) >> 1");
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Take);
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Stop);
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    core.cpu_mut(1).queue.nr_running = 1;
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Stop);
}

/// Goal: load and utilisation: skip what exceeds the amount, less strictly after failures; misfit:
/// skip what fits the source. Source: docs/rules/balancing.md#detach.
#[test]
fn what_suits_the_imbalance() {
    let offer = |kind: u32, failures: u32, util: u32| {
        let two = machine(&[cluster(4, 1024), cluster(4, 1024)]);
        let mut core = still(&two);
        for cpu in 0..8 {
            put(&mut core, cpu, 2, 500, 1000, 2000);
        }
        let idle = if kind == sys::WP_MIGRATE_UTIL {
            put(&mut core, 0, 0, 0, 0, 0);
            put(&mut core, 1, 1, 500, 896, 900);
            put(&mut core, 2, 1, 500, 1000, 1000);
            put(&mut core, 3, 1, 500, 1000, 1000);
            IdleKind::Idle
        } else {
            (4..8).for_each(|c| core.cpu_mut(c).load.avg.load_avg = 1500);
            IdleKind::Busy
        };
        let (_, mut bal) = attempt(&mut core, 0, 1, idle);
        assert_eq!(bal.raw().migration_type, kind);
        core.cpu_mut(0).balance.lb[1].nr_balance_failed = failures;
        let mut task = queued(&mut core, 7, bal.src_cpu(), util);
        task.raw_mut().avg.load_avg = 6000;
        (core.balance_offer(&mut bal, &task), bal.raw().imbalance)
    };
    // util: 4096 - 2896 = 1200. load: averages 500 and 1500, domain 1000: 500 * 4096 / 1024 = 2000;
    // task_h_load is 6000 * 1500 / 1501 = 5996.
    assert_eq!(offer(sys::WP_MIGRATE_UTIL, 0, 1024), (Offer::Take, 176));
    assert_eq!(offer(sys::WP_MIGRATE_UTIL, 0, 1201), (Offer::Skip, 1200));
    assert_eq!(
        offer(sys::WP_MIGRATE_UTIL, 1, 2401),
        (Offer::Take, 1200 - 2401)
    );
    assert_eq!(offer(sys::WP_MIGRATE_LOAD, 0, 0), (Offer::Skip, 2000));
    assert_eq!(
        offer(sys::WP_MIGRATE_LOAD, 1, 0),
        (Offer::Skip, 2000),
        "2998 > 2000"
    );
    assert_eq!(
        offer(sys::WP_MIGRATE_LOAD, 2, 0),
        (Offer::Take, 2000 - 5996)
    );
}

// ------------------------------------------------------------------------------- misfit

/// Goal: an always-running task on a small CPU is marked once its utilisation passes 343 (47.5 ms
/// from 0), and an idle big CPU has it pushed, without counting a failure or changing the interval.
/// Source: docs/rules/balancing.md#whether-to-act, docs/rules/balancing.md#active-balance,
/// docs/rules/capacity.md#misfit.
#[test]
fn misfit_task_is_pushed_to_a_big_cpu() {
    let mut facts = machine(&tc2());
    facts.tick_ns = 500_000;
    let mut core = core(&facts, ERA, &[]);
    let start = 1_000_000_000;
    for cpu in 0..5 {
        core.update_blocked(cpu, start);
    }
    let mut task = Task::new(1, 1024, 2, None, 5);
    core.task_init(&mut task);
    task.raw_mut().avg.last_update_ns = 0;
    core.exit_idle(2, start);
    core.cpu_mut(2).queue.nr_running = 1;
    core.enqueue_woken(&mut task, 2, start);
    core.set_current(&mut task, start);
    let mut half_ms = 0;
    while core.cpu(2).queue.misfit_task_load == 0 && half_ms < 200 {
        assert!(task.util_avg() <= 343, "{} and no mark", task.util_avg());
        let (step, _) = attempt_at(&mut core, 0, 1, start + half_ms * MS / 2);
        assert_eq!(step, Step::Done, "util {}", task.util_avg());
        half_ms += 1;
        core.tick(&mut task, start + half_ms * MS / 2);
    }
    assert!(task.util_avg() > 343, "marked at {}", task.util_avg());
    // A period of 1024 us takes 2.44 ms there; averages are written at its end.
    let late_by = half_ms as f64 / 2.0 - 47.5;
    assert!(late_by.abs() <= 2.44, "{half_ms} / 2 ms");
    let before = (
        core.cpu(0).balance.lb[1].balance_interval_ms,
        core.cpu(0).balance.lb[1].nr_balance_failed,
    );
    let (step, mut bal) = attempt_at(&mut core, 0, 1, start + half_ms * MS / 2);
    assert_eq!(
        (step, bal.src_cpu(), bal.raw().migration_type),
        (Step::Detach, 2, sys::WP_MIGRATE_MISFIT)
    );
    assert_eq!(
        core.balance_offer(&mut bal, &task),
        Offer::Stop,
        "it runs, nothing else is there"
    );
    assert_eq!(core.balance_end(&mut bal, true), Step::Done);
    assert!(bal.push());
    assert_eq!(core.cpu(2).balance.active_balance, 1);
    let lb = &core.cpu(0).balance.lb[1];
    assert_eq!((lb.balance_interval_ms, lb.nr_balance_failed), before);
    core.active_balance_end(2, 0, 1, true);
    assert_eq!(core.cpu(2).balance.active_balance, 0);
    // Not by a CPU that is no bigger, and not while the bigger ones are busy.
    assert_eq!(
        attempt_at(&mut core, 3, 0, start + half_ms * MS / 2).0,
        Step::Done
    );
    put(&mut core, 0, 1, 1024, 1000, 1000);
    put(&mut core, 1, 1, 1024, 1000, 1000);
    assert_eq!(attempt(&mut core, 0, 1, IdleKind::Busy).0, Step::Done);
}

fn attempt_at(core: &mut Core, dst: u32, level: u32, now: u64) -> (Step, Balance) {
    let mut bal = Balance::default();
    bal.prepare(now, dst, level, IdleKind::Idle);
    let step = core.balance_begin(&mut bal);
    (step, bal)
}

/// Goal: a waiting misfit task is detached, one that fits the small CPU is not. Source:
/// docs/rules/balancing.md#detach.
#[test]
fn waiting_misfit_task_is_detached() {
    let mut core = still(&machine(&hikey960()));
    put(&mut core, 1, 3, 3072, 440, 440);
    core.cpu_mut(1).queue.misfit_task_load = 1023;
    core.state_mut().overutilized = 1;
    let (step, mut bal) = attempt(&mut core, 4, 1, IdleKind::Idle);
    assert_eq!(
        (step, bal.raw().migration_type),
        (Step::Detach, sys::WP_MIGRATE_MISFIT)
    );
    let small = queued(&mut core, 7, 1, 369);
    let large = queued(&mut core, 8, 1, 370);
    assert_eq!(
        core.balance_offer(&mut bal, &small),
        Offer::Skip,
        "369 * 1280 < 462 * 1024"
    );
    assert_eq!(core.balance_offer(&mut bal, &large), Offer::Take);
    assert_eq!(core.balance_offer(&mut bal, &large), Offer::Stop, "one");
    assert_eq!(core.balance_end(&mut bal, true), Step::Done);
    assert!(!bal.push());
}

/// Goal: a smaller CPU does not relieve bigger ones that have a CPU for each task; it does help
/// overloaded ones. Source: docs/rules/balancing.md#busiest-group.
#[test]
fn small_cpu_leaves_big_ones_alone() {
    let mut core = still(&machine(&hikey960()));
    core.state_mut().overutilized = 1;
    for cpu in 4..8 {
        put(&mut core, cpu, 1, 1024, 1000, 1000);
    }
    assert_eq!(attempt(&mut core, 0, 1, IdleKind::Idle).0, Step::Done);
    put(&mut core, 5, 2, 2048, 1024, 2000);
    assert_eq!(attempt(&mut core, 0, 1, IdleKind::Idle).0, Step::Detach);
}

// ------------------------------------------------------------------------------- active balance

/// Goal: more than cache_nice_tries + 2 failures push the running task if tasks are what is to
/// move, load does not; new-idle tries do not count. Source:
/// docs/rules/balancing.md#active-balance.
#[test]
fn failures_lead_to_a_push() {
    let (mut core, _) = pull_one();
    let mut running = queued(&mut core, 1, 1, 100);
    running.raw_mut().running = 1;
    for failures in 1..=4u32 {
        let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
        core.balance_offer(&mut bal, &running);
        assert_eq!(core.balance_end(&mut bal, true), Step::Done);
        assert_eq!(core.cpu(0).balance.lb[0].nr_balance_failed, failures);
        assert_eq!(bal.push(), failures == 4, "4 > 1 + 2");
        let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
        core.balance_offer(&mut bal, &running);
        core.cpu_mut(1).balance.active_balance = 0;
        core.balance_end(&mut bal, true);
        assert_eq!(
            core.cpu(0).balance.lb[0].nr_balance_failed,
            failures,
            "new-idle"
        );
    }
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    core.balance_offer(&mut bal, &running);
    core.balance_end(&mut bal, false);
    assert!(!bal.push(), "the running task may not come here");
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    let task = queued(&mut core, 7, 1, 100);
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Take);
    core.balance_end(&mut bal, true);
    assert_eq!(core.cpu(0).balance.lb[0].nr_balance_failed, 0, "success");
    // Load: never by failures.
    let mut core = still(&machine(&[cluster(4, 1024), cluster(4, 1024)]));
    for cpu in 0..8 {
        put(
            &mut core,
            cpu,
            2,
            if cpu < 4 { 500 } else { 1500 },
            1000,
            2000,
        );
    }
    core.cpu_mut(0).balance.lb[1].nr_balance_failed = 20;
    let (step, mut bal) = attempt(&mut core, 0, 1, IdleKind::Busy);
    assert_eq!(
        (step, bal.raw().migration_type),
        (Step::Detach, sys::WP_MIGRATE_LOAD)
    );
    core.balance_end(&mut bal, true);
    assert!(!bal.push());
}

/// Goal: the lone task of a CPU that others squeeze is pushed if more is left here: 117 % of the
/// source's capacity below this CPU's. Source: docs/rules/balancing.md#active-balance.
#[test]
fn squeezed_task_is_pushed() {
    for (dst_capacity, push) in [(1024, true), (937, true), (936, false)] {
        let mut core = flat(4);
        put(&mut core, 1, 1, 1024, 700, 700);
        core.cpu_mut(1).load.capacity = 800; // 800 * 117 = 93600
        core.cpu_mut(0).load.rt_util = 1024 - dst_capacity; // the pass finds what that leaves
        let (step, mut bal) = attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
        assert_eq!(
            (step, bal.raw().migration_type),
            (Step::Detach, sys::WP_MIGRATE_LOAD)
        );
        core.balance_end(&mut bal, true);
        assert_eq!(bal.push(), push, "{dst_capacity}");
    }
}

// ------------------------------------------------------------------------------ periodic balancing

/// Goal: weight ms; busy: 16 times that less a jiffy, at most HZ * cpus / 10. Source:
/// docs/rules/balancing.md#periodic-balancing (112 CPUs: 1792 ms),
/// docs/rules/domains.md#domain-constants.
#[test]
fn intervals() {
    let due = |cpus: usize, idle, interval: u32, ms: u64| {
        let mut core = flat(cpus);
        core.cpu_mut(0).balance.lb[0].balance_interval_ms = interval;
        assert!(core.balance_due(0, 0, 100_000 * MS, idle));
        core.balance_due(0, 0, (100_000 + ms) * MS, idle)
    };
    assert!(!due(112, IdleKind::Idle, 112, 111));
    assert!(due(112, IdleKind::Idle, 112, 112));
    assert!(!due(112, IdleKind::Busy, 112, 1790));
    assert!(due(112, IdleKind::Busy, 112, 1791));
    assert!(
        !due(4, IdleKind::Busy, 64, 399),
        "64 * 16 is bounded to 400"
    );
    assert!(due(4, IdleKind::Busy, 64, 400));
}

/// Goal: balanced doubles up to 2 * weight, a move or a failure without a push resets; new-idle
/// changes nothing; all pinned doubles up to 512. Source: docs/rules/balancing.md#balance-interval.
#[test]
fn interval_doubles_and_resets() {
    let mut core = flat(4);
    let interval = |core: &Core| core.cpu(0).balance.lb[0].balance_interval_ms;
    attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(interval(&core), 4);
    for _ in 0..3 {
        attempt(&mut core, 0, 0, IdleKind::Idle);
        assert_eq!(interval(&core), 8);
    }
    put(&mut core, 1, 3, 3072, 900, 1000);
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    let mut pinned = queued(&mut core, 7, 1, 100);
    pinned.set_allowed(Some(&[1]), 4);
    core.balance_offer(&mut bal, &pinned);
    core.balance_end(&mut bal, false);
    assert_eq!(interval(&core), 16, "all pinned, no other source");
    let (_, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    let task = queued(&mut core, 7, 1, 100);
    core.balance_offer(&mut bal, &task);
    core.balance_end(&mut bal, true);
    assert_eq!((bal.moved(), interval(&core)), (1, 4));
}

/// Goal: a CPU of an idle core balances before an idle thread of a busy one, the group's first CPU
/// if none is idle. Source: docs/rules/balancing.md#who-balances.
#[test]
fn who_balances() {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
    let smt = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        ..level(&[2, 2, 2, 2])
    };
    facts.levels.insert(0, smt);
    let mut core = still(&facts);
    let who = |core: &mut Core| -> Vec<u32> {
        let step = |c: u32| attempt(core, c, 2, IdleKind::Busy).0;
        let steps: Vec<Step> = (0..4).map(step).collect();
        (0..4)
            .filter(|c| steps[*c as usize] != Step::Stop)
            .collect()
    };
    assert_eq!(who(&mut core), [0]);
    put(&mut core, 0, 1, 1024, 500, 500);
    assert_eq!(who(&mut core), [2], "CPU 1 is beside a busy thread");
    put(&mut core, 3, 1, 1024, 500, 500);
    assert_eq!(
        who(&mut core),
        [1],
        "no core is idle: the first idle thread"
    );
    put(&mut core, 1, 1, 1024, 500, 500);
    put(&mut core, 2, 1, 1024, 500, 500);
    assert_eq!(who(&mut core), [0]);
}

/// Goal: one CPU of the system balances between nodes at a time; an attempt that was never ended
/// does not block the others for ever. Source: docs/rules/balancing.md#serialize.
#[test]
fn one_at_a_time_between_nodes() {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
    facts.levels[1].numa = true;
    facts.tick_ns = 1_000_000;
    let busy = || {
        let mut core = still(&facts);
        (0..8).for_each(|c| put(&mut core, c, 2, 1024, 1000, 2000));
        core
    };
    let mut core = busy();
    (4..8).for_each(|c| put(&mut core, c, 4, 4096, 1000, 4000));
    let (step, mut bal) = attempt(&mut core, 0, 1, IdleKind::Busy);
    assert_eq!(step, Step::Detach);
    let sums = |core: &mut Core, now| attempt_at_busy(core, 4, now).1.raw().total_load;
    assert_eq!(sums(&mut core, NOW), 0, "did not look");
    let mut running = queued(&mut core, 1, bal.src_cpu(), 100);
    running.raw_mut().running = 1;
    core.balance_offer(&mut bal, &running);
    assert_eq!(core.balance_end(&mut bal, false), Step::Done);
    assert_ne!(sums(&mut core, NOW), 0);
    let (step, _) = attempt(&mut core, 0, 1, IdleKind::Busy);
    assert_eq!(step, Step::Detach);
    assert_eq!(sums(&mut core, NOW + MS), 0);
    assert_ne!(sums(&mut core, NOW + 2 * MS), 0, "abandoned");
}

fn attempt_at_busy(core: &mut Core, dst: u32, now: u64) -> (Step, Balance) {
    let mut bal = Balance::default();
    bal.prepare(now, dst, 1, IdleKind::Busy);
    let step = core.balance_begin(&mut bal);
    (step, bal)
}

/// Goal: a periodic pass over the cache's domain sets the depth of idle searches, a new-idle one
/// does not. Source: docs/rules/wake-ups.md#idle-scan (112 CPUs at 50 %: 73),
/// docs/rules/balancing.md#balance-flags.
#[test]
fn search_depth_is_written() {
    let mut core = flat(112);
    (1..112).for_each(|c| put(&mut core, c, 1, 1024, 512, 512));
    put(&mut core, 0, 0, 0, 512, 0);
    attempt(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(core.cpu(0).idle.nr_idle_scan, 0);
    attempt(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!(core.cpu(0).idle.nr_idle_scan, 73);
}
