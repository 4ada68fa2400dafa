//! Periodic, new-idle and nohz balancing: docs/rules/balancing.md#load-balancing,
//! docs/rules/capacity.md#capacity-of; docs/rules/energy-aware.md#overutilized.
//!
//! What must stay: the era is 4.17, so the forms `_5_4` of policy/src/balance are what runs; its
//! later form is in balance_7_3.rs. Intervals, margins and counts are those of the page each test
//! names: change them only with it. Free: how helpers build a machine, and state that the rule does
//! not read.
//! Tests by part: `capacity_of_878` (policy/src/load_tracking/capacity.c and who refreshes it);
//! `intervals`, `interval_doubles_and_resets` (`wp_get_sd_balance_interval`, `wp_balance_due`);
//! `one_cpu_balances_for_a_group` (`wp_should_we_balance`); `which_tasks_move`,
//! `pinned_tasks_end_the_search` (`wp_can_migrate_task`, `wp_balance_next`);
//! `failures_lead_to_a_push` (`wp_balance_failed`, `wp_need_active_balance`);
//! `balance_is_silent_below_the_tipping_point`, `tick_sets_overutilized` (`wp_below_tipping_point`,
//! `wp_cpu_overutilized`); `newidle_gates`, `average_idle_time` (`wp_newidle_begin`,
//! `wp_newidle_level`); `nohz_kick_rule`, `nohz_statistics_every_32_ms`, `nohz_off`
//! (`wp_nohz_balancer_kick`, `wp_nohz_next`, `wp_nohz_pass_end`).
//! Helpers, and who fails with them: `load`, `begin` (7 tests, `interval_doubles_and_resets` among
//! them); `flat` (most tests, `capacity_of_878` among them); `queued`
//! (`interval_doubles_and_resets`, `which_tasks_move`, `failures_lead_to_a_push`); `pull_one`
//! (`which_tasks_move`, `failures_lead_to_a_push`); `nohz` (`nohz_kick_rule`,
//! `nohz_statistics_every_32_ms`); `kicks` (`nohz_kick_rule`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, cluster, core, freeze, hikey960, machine, make_busy, sleeper};
use wakeplace_policy_sys::{Balance, Core, IdleKind, MachineFacts, Offer, Step, Task, sys};

const MS: u64 = 1_000_000;

/// `n` CPUs under one cache, 1 ms ticks.
fn flat(n: usize) -> MachineFacts {
    let mut facts = machine(&[cluster(n, 1024)]);
    facts.tick_ns = 1_000_000;
    facts
}

/// CPU `cpu` has `tasks` queued nice-0 tasks, all of them busy.
fn load(core: &mut Core, cpu: u32, tasks: u32) {
    make_busy(core, cpu);
    let c = core.cpu_mut(cpu);
    c.queue.nr_running = tasks;
    c.queue.nr_fair = tasks;
    c.load.load_weight = 1024 * tasks;
    c.load.avg.load_avg = 1024 * tasks;
    c.load.avg.runnable_avg = 1024 * tasks;
    c.load.avg.util_avg = c.load.capacity_orig;
}

fn begin(core: &mut Core, dst: u32, level: u32, idle: IdleKind) -> (Step, Balance) {
    let mut bal = Balance::default();
    bal.prepare(NOW, dst, level, idle);
    let step = core.balance_begin(&mut bal);
    (step, bal)
}

// ------------------------------------------------------------------------------- capacity_of

/// Goal: what RT and interrupts leave, refreshed by periodic balancing of the base domain and not
/// by new-idle balancing in the tick of a refresh. Source: docs/rules/capacity.md#capacity-of,
/// docs/rules/capacity.md#capacity-of-numbers (1024, used 100, irq 50 -> 878), edge.
#[test]
fn capacity_of_878() {
    let mut core = core(&flat(2), "linux-4.17", &[]);
    freeze(&mut core);
    begin(&mut core, 0, 0, IdleKind::Idle);
    let c = core.cpu_mut(0);
    (c.load.rt_util, c.load.dl_util, c.load.irq_util) = (60, 40, 50);
    begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(core.cpu(0).load.capacity, 1024, "new-idle leaves it stale");
    begin(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!(core.cpu(0).load.capacity, 878);
    for (used, irq) in [(1024, 0), (1000, 1024), (2000, 0), (1023, 1023)] {
        let c = core.cpu_mut(0);
        (c.load.rt_util, c.load.dl_util, c.load.irq_util) = (used, 0, irq);
        begin(&mut core, 0, 0, IdleKind::Idle);
        assert_eq!(
            core.cpu(0).load.capacity,
            1,
            "used {used} irq {irq}: at least 1"
        );
    }
}

// ------------------------------------------------------------------------------ periodic balancing

/// Goal: weight ms when idle, busy_factor 32 times that when busy, at most HZ * cpus / 10 jiffies.
/// Source: docs/rules/balancing.md#periodic-balancing, docs/rules/domains.md#domain-constants. 4
/// CPUs at HZ 1000: 4, 128 and the bound 400 ms.
#[test]
fn intervals() {
    let due = |idle, interval: u32, ms: u64| {
        let mut core = core(&flat(4), "linux-4.17", &[]);
        core.cpu_mut(0).balance.lb[0].balance_interval_ms = interval;
        assert!(core.balance_due(0, 0, 1000 * MS, idle));
        core.balance_due(0, 0, (1000 + ms) * MS, idle)
    };
    assert!(!due(IdleKind::Idle, 4, 3));
    assert!(due(IdleKind::Idle, 4, 4));
    assert!(!due(IdleKind::Busy, 4, 126));
    assert!(due(IdleKind::Busy, 4, 128));
    assert!(!due(IdleKind::Busy, 8, 254));
    assert!(due(IdleKind::Busy, 8, 256));
    assert!(
        !due(IdleKind::Busy, 16, 399),
        "16 * 32 = 512 is clamped to 400"
    );
    assert!(due(IdleKind::Busy, 16, 400));
}

/// Goal: balanced doubles the interval up to 2 * weight, for a new-idle CPU, too (until 5.0,
/// docs/rules/linux-4-17.md#balancing-4-17); a move resets it to weight, and a balanced pass
/// forgets failures and what affinity prevented. Source: docs/rules/balancing.md#balance-interval,
/// docs/rules/balancing.md#imbalanced-mark, docs/rules/domains.md#domain-constants (max_interval =
/// 2 * weight).
#[test]
fn interval_doubles_and_resets() {
    let mut core = core(&flat(4), "linux-4.17", &[]);
    freeze(&mut core);
    let interval = |core: &Core| core.cpu(0).balance.lb[0].balance_interval_ms;
    assert_eq!(interval(&core), 4);
    begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(interval(&core), 8);
    core.cpu_mut(0).balance.lb[0].nr_balance_failed = 7;
    for _ in 0..3 {
        assert_eq!(begin(&mut core, 0, 0, IdleKind::Idle).0, Step::Done);
        assert_eq!(interval(&core), 8);
        assert_eq!(core.cpu(0).balance.lb[0].nr_balance_failed, 0);
    }
    load(&mut core, 1, 2);
    let (step, mut bal) = begin(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!((step, bal.src_cpu()), (Step::Detach, 1));
    let task = queued(&mut core, 7, 1);
    assert_eq!(core.balance_offer(&mut bal, &task), Offer::Take);
    assert_eq!(core.balance_end(&mut bal, true), Step::Done);
    assert_eq!((bal.moved(), interval(&core)), (1, 4));
}

/// A queued task that is not cache-hot.
fn queued(core: &mut Core, id: u32, cpu: u32) -> Task {
    let mut task = sleeper(core, id, cpu, 100, 100);
    let raw = task.raw_mut();
    raw.on_rq = 1;
    raw.avg.load_avg = 1024;
    task
}

/// Goal: one CPU balances per group: its first idle one, else its first. Source:
/// docs/rules/balancing.md#who-balances.
#[test]
fn one_cpu_balances_for_a_group() {
    let clusters = [cluster(4, 1024), cluster(4, 1024)];
    let mut core = core(&machine(&clusters), "linux-4.17", &[]);
    freeze(&mut core);
    let who = |core: &mut Core| -> Vec<u32> {
        let all = 0..4;
        all.filter(|c| begin(core, *c, 1, IdleKind::Busy).0 != Step::Stop)
            .collect()
    };
    assert_eq!(who(&mut core), [0], "all idle");
    load(&mut core, 0, 1);
    load(&mut core, 1, 1);
    assert_eq!(who(&mut core), [2], "first idle");
    load(&mut core, 2, 1);
    load(&mut core, 3, 1);
    assert_eq!(who(&mut core), [0], "none idle: the first");
}

// ------------------------------------------------------------------------------- imbalance

/// CPU 0 idle, CPU 1 with two tasks; the balance that CPU 0 begins.
fn pull_one() -> (Core, Balance) {
    let mut core = core(&flat(4), "linux-4.17", &[]);
    freeze(&mut core);
    load(&mut core, 1, 2);
    let (step, bal) = begin(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!((step, bal.src_cpu(), bal.dst_cpu()), (Step::Detach, 1, 0));
    (core, bal)
}

/// Goal: not the running one, not a cache-hot one (until failures exceed cache_nice_tries = 1), not
/// one that may not run here; a source with one task left is left alone. Source:
/// docs/rules/balancing.md#detach.
#[test]
fn which_tasks_move() {
    let (mut core, mut bal) = pull_one();
    let cold = queued(&mut core, 1, 1);
    let mut running = cold.clone();
    running.raw_mut().running = 1;
    assert_eq!(core.balance_offer(&mut bal, &running), Offer::Skip);
    let mut hot = cold.clone();
    hot.raw_mut().exec_start_ns = NOW - 499_999;
    let (mut core, mut bal) = pull_one();
    assert_eq!(core.balance_offer(&mut bal, &hot), Offer::Skip);
    hot.raw_mut().exec_start_ns = NOW - 500_000;
    assert_eq!(
        core.balance_offer(&mut bal, &hot),
        Offer::Take,
        "500 us is not below 500 us"
    );
    hot.raw_mut().exec_start_ns = NOW;
    for (failures, answer) in [(1, Offer::Skip), (2, Offer::Take)] {
        let (mut core, mut bal) = pull_one();
        core.cpu_mut(0).balance.lb[0].nr_balance_failed = failures;
        assert_eq!(
            core.balance_offer(&mut bal, &hot),
            answer,
            "{failures} failures"
        );
    }
    let (mut core, mut bal) = pull_one();
    let mut pinned = cold.clone();
    pinned.set_allowed(Some(&[1, 2]), 4);
    assert_eq!(core.balance_offer(&mut bal, &pinned), Offer::Skip);
    let (mut core, mut bal) = pull_one();
    core.cpu_mut(1).queue.nr_running = 1;
    assert_eq!(core.balance_offer(&mut bal, &cold), Offer::Stop);
}

/// Goal: failures count for periodic tries only, and more than cache_nice_tries + 2 of them push
/// the running task; success sets them to 0. Source: docs/rules/balancing.md#active-balance.
#[test]
fn failures_lead_to_a_push() {
    let (mut core, _) = pull_one();
    for failures in 1..=4u32 {
        let (step, mut bal) = begin(&mut core, 0, 0, IdleKind::Idle);
        assert_eq!(step, Step::Detach);
        let mut task = queued(&mut core, 1, 1);
        task.raw_mut().running = 1;
        assert_eq!(core.balance_offer(&mut bal, &task), Offer::Skip);
        assert_eq!(core.balance_end(&mut bal, true), Step::Done);
        // cache_nice_tries is 1 in a shared cache: 4 > 3 is the first push.
        assert_eq!(bal.push(), failures == 4, "{failures} failures");
        assert_eq!(core.cpu(1).balance.active_balance, u32::from(failures == 4));
    }
    core.active_balance_end(1, 0, 0, true);
    assert_eq!(core.cpu(0).balance.lb[0].nr_balance_failed, 0);
    assert_eq!(core.cpu(1).balance.active_balance, 0);
    let (_, mut bal) = begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    core.balance_end(&mut bal, true);
    assert_eq!(
        core.cpu(0).balance.lb[0].nr_balance_failed,
        0,
        "new-idle failures do not count"
    );
}

// ------------------------------------------------------------------------------- tipping point

/// Goal: with the energy rule active and the flag clear balancing does nothing; set, it does; a
/// top-level pass overwrites the flag, a lower one can only set it. Source:
/// docs/rules/energy-aware.md#overutilized.
#[test]
fn balance_is_silent_below_the_tipping_point() {
    let mut core = core(&machine(&hikey960()), "linux-4.17+energy-aware", &[]);
    freeze(&mut core);
    load(&mut core, 1, 2);
    core.cpu_mut(1).load.avg.util_avg = 369; // not overutilized
    assert_eq!(begin(&mut core, 0, 0, IdleKind::NewlyIdle).0, Step::Done);
    core.state_mut().overutilized = 1;
    assert_eq!(begin(&mut core, 0, 0, IdleKind::NewlyIdle).0, Step::Detach);
    assert!(core.overutilized(), "a lower level does not clear the flag");
    assert_eq!(begin(&mut core, 0, 1, IdleKind::NewlyIdle).0, Step::Done);
    assert!(!core.overutilized(), "the top level does");
    core.cpu_mut(1).load.avg.util_avg = 370;
    begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert!(core.overutilized(), "a lower level sets it");
    core.state_mut().overutilized = 0;
    begin(&mut core, 0, 1, IdleKind::NewlyIdle);
    assert!(core.overutilized(), "the top level sets it");
}

/// Goal: the running CPU's tick sets the flag. Source: docs/rules/energy-aware.md#overutilized
/// "set".
#[test]
fn tick_sets_overutilized() {
    for (util, flag) in [(369, false), (370, true)] {
        let mut core = core(&machine(&hikey960()), "linux-4.17+energy-aware", &[]);
        freeze(&mut core);
        make_busy(&mut core, 0);
        core.cpu_mut(0).load.avg.util_avg = util;
        let mut task = sleeper(&mut core, 1, 0, util, 0);
        core.tick(&mut task, NOW);
        assert_eq!(core.overutilized(), flag, "{util}");
    }
}

// ------------------------------------------------------------------------------- newidle, NOHZ

/// Goal: search only if the root domain is overloaded, the expected idle time is worth it, and no
/// wake-up is pending. Source: docs/rules/balancing.md#newidle.
#[test]
fn newidle_gates() {
    let try_with = |change: fn(&mut Core)| {
        let mut core = core(&flat(2), "linux-4.17", &[]);
        core.state_mut().overload = 1;
        core.cpu_mut(0).idle.avg_idle_ns = 1_000_000;
        change(&mut core);
        core.newidle_begin(0, NOW)
    };
    assert!(try_with(|_| ()));
    assert!(!try_with(|c| c.state_mut().overload = 0));
    assert!(!try_with(|c| c.cpu_mut(0).queue.pending = 1));
    assert!(!try_with(|c| c.cpu_mut(0).idle.avg_idle_ns = 499_999));
    let mut core = core(&flat(2), "linux-4.17", &[]);
    core.cpu_mut(0).idle.avg_idle_ns = 600_000;
    core.cpu_mut(0).balance.lb[0].max_newidle_cost_ns = 400_000;
    assert!(core.newidle_level(0, 0, 200_000));
    assert!(
        !core.newidle_level(0, 0, 200_001),
        "cost so far + this level's worst"
    );
    assert!(!core.newidle_level(0, 1, 0), "no such level");
}

/// Goal: avg_idle follows idle periods by 1/8, capped at twice the balance cost. Source:
/// docs/rules/wake-ups.md#try-to-wake-up step 6.
#[test]
fn average_idle_time() {
    let mut core = core(&flat(2), "linux-4.17", &[]);
    core.cpu_mut(0).idle.avg_idle_ns = 800_000;
    core.newidle_begin(0, NOW);
    core.woken(0, NOW + 80_000);
    assert_eq!(core.cpu(0).idle.avg_idle_ns, 800_000 - 90_000);
    core.woken(0, NOW + 5_000_000);
    assert_eq!(
        core.cpu(0).idle.avg_idle_ns,
        710_000,
        "the stamp is cleared"
    );
    core.newidle_begin(0, NOW);
    core.woken(0, NOW + 1_000_000_000);
    assert_eq!(core.cpu(0).idle.avg_idle_ns, 1_000_000, "2 * 500 us");
}

/// One nohz-idle CPU (3) of `facts`; CPU 0 runs `running` tasks, of which one is fair.
fn nohz(facts: &MachineFacts, running: u32) -> Core {
    let mut core = core(facts, "linux-4.17", &[]);
    freeze(&mut core);
    make_busy(&mut core, 0);
    core.cpu_mut(0).queue.nr_running = running;
    core.nohz_enter(3);
    // Blocked load is not due, so that a kick is for balancing.
    core.state_mut().nohz_next_blocked_ns = u64::MAX;
    core
}

fn kicks(core: &mut Core) -> bool {
    let mut task = sleeper(core, 1, 0, 0, 0);
    core.tick(&mut task, NOW).kick()
}

/// Goal: when a busy CPU kicks an idle one, and which. Source: docs/rules/balancing.md#nohz.
#[test]
fn nohz_kick_rule() {
    // Four CPUs that share no cache, so that only the CPU's own state counts.
    let mut facts = machine(&[cluster(4, 1024)]);
    facts.levels[0].shares_cache = false;
    let mut one = nohz(&facts, 1);
    assert!(!kicks(&mut one), "one task");
    let mut two = nohz(&facts, 2);
    assert!(kicks(&mut two), "two tasks");
    assert_eq!(two.nohz_target(), Some(3));
    let mut early = nohz(&facts, 2);
    early.state_mut().nohz_next_balance_tick = NOW / 4_000_000 + 1;
    assert!(!kicks(&mut early), "not before next_balance");
    let mut nobody = nohz(&facts, 2);
    nobody.nohz_exit(3);
    assert!(!kicks(&mut nobody), "no idle CPU");
    // Reduced capacity: 125 % of what is left is below the full capacity.
    let mut reduced = nohz(&facts, 1);
    reduced.cpu_mut(0).load.capacity = 819;
    assert!(kicks(&mut reduced), "819 * 125 < 1024 * 100");
    reduced.cpu_mut(0).load.capacity = 820;
    assert!(!kicks(&mut reduced), "820 * 125 is not");
    // More than one busy CPU under the cache.
    let shared = machine(&[cluster(4, 1024)]);
    let mut busy_cache = nohz(&shared, 1);
    assert!(kicks(&mut busy_cache), "CPUs 0 to 2 have a running tick");
    busy_cache.nohz_enter(1);
    busy_cache.nohz_enter(2);
    assert!(!kicks(&mut busy_cache), "CPU 0 alone");
}

/// Goal: signals of idle CPUs are decayed every 32 ms by a kick for statistics only. Source:
/// docs/rules/balancing.md#nohz.
#[test]
fn nohz_statistics_every_32_ms() {
    let mut facts = machine(&[cluster(4, 1024)]);
    facts.levels[0].shares_cache = false;
    let mut core = nohz(&facts, 1);
    core.cpu_mut(3).load.avg.util_avg = 500;
    core.cpu_mut(3).load.avg.util_sum = 500 * 47742;
    core.state_mut().nohz_next_blocked_ns = 0;
    let mut task = sleeper(&mut core, 1, 0, 0, 0);
    let at = |core: &mut Core, task: &mut Task, ns| core.tick(task, ns);
    let first = at(&mut core, &mut task, NOW);
    assert!(first.stats() && !first.kick());
    assert_eq!(core.nohz_next(None), Some(3));
    assert_eq!(core.nohz_next(Some(3)), None);
    core.update_blocked(3, NOW);
    core.nohz_pass_end(NOW, false);
    assert!(!at(&mut core, &mut task, NOW + 32 * MS).stats(), "not yet");
    let again = at(&mut core, &mut task, NOW + 32 * MS + 1);
    assert!(again.stats() && !again.kick());
    core.update_blocked(3, NOW + 33_554_432);
    assert!(
        core.cpu(3).load.avg.util_avg.abs_diff(250) <= 8,
        "half after 32 periods"
    );
}

/// Goal: a policy without nohz balancing never kicks. Source: docs/rules/balancing.md#nohz.
#[test]
fn nohz_off() {
    let facts = machine(&[cluster(4, 1024)]);
    let mut core = core(&facts, "linux-4.17", &[("nohz_balance", "off")]);
    freeze(&mut core);
    load(&mut core, 0, 2);
    core.nohz_enter(3);
    let mut task = sleeper(&mut core, 1, 0, 0, 0);
    let result = core.tick(&mut task, NOW);
    assert!(!result.kick() && !result.stats());
    assert_ne!(sys::WP_DID_KICK, 0);
}

/// Goal: tasks with different affinities end a pass; the source's tasks are not handed back and
/// forth between two CPUs of the destination group. Method: CPU 2 holds two cache-hot tasks, one
/// allowed on 0 and 2, one on 1 and 2; CPU 0 is idle and balances with CPU 1 beside it.
#[test]
fn pinned_tasks_end_the_search() {
    let mut core = core(&flat(4), "linux-4.17", &[]);
    freeze(&mut core);
    load(&mut core, 2, 3);
    load(&mut core, 3, 1);
    let mut tasks = Vec::new();
    for (id, allowed) in [(1, &[0_u32, 2][..]), (2, &[1, 2]), (3, &[2])] {
        let mut task = Task::new(id, 1024, 2, Some(allowed), 4);
        core.task_init(&mut task);
        task.raw_mut().exec_start_ns = core.cpu(2).load.clock_task_ns;
        tasks.push(task);
    }
    let (mut step, mut bal) = begin(&mut core, 0, 0, IdleKind::Idle);
    let mut rounds = 0;
    while step == Step::Detach && rounds < 10 {
        for task in &tasks {
            if core.balance_offer(&mut bal, task) == Offer::Stop {
                break;
            }
        }
        step = core.balance_end(&mut bal, true);
        rounds += 1;
    }
    assert_ne!(step, Step::Detach, "still at it after {rounds} rounds");
}
