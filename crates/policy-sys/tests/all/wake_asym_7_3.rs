//! The wake-up fast path of Linux 7.3 on machines with CPUs of different capacity. Source:
//! docs/rules/wake-ups.md#idle-sibling, docs/rules/wake-ups.md#idle-capacity;
//! docs/rules/capacity-aware.md#asym-fast-path.
//!
//! What must stay: what fits is decided by capacity.c, not here; capacities are 462 and 1024 of
//! HiKey960. It covers policy/src/placement/idle_capacity.c and idle_sibling.c. Free: how helpers
//! build a state.
//! Tests by part: `asym_example`, `asym_nearest`, `asym_depth`, `asym_smt_ranks`
//! (`wp_select_idle_capacity`, `wp_capacity_offer`); `asym_candidates_fit` (`wp_near_enough`,
//! `wp_asym_search`).
//! Helpers, and who fails with them: `demand` (all tests, `asym_example` among them); `hikey`
//! (`asym_example`, `asym_candidates_fit`, `asym_nearest`, `asym_depth`); `demand_of`
//! (`asym_example`).

use crate::common;

use common::wake::{wake, wake_sync};
use common::{ask, cluster, core, freeze, hikey960, labels, machine, make_busy, sleeper};
use wakeplace_policy_sys::{Core, LevelFacts, PlaceKind, Reason, Request, Task, Waker};

/// HiKey960 beyond the tipping point, all idle: 0-3 of 462, 4-7 of 1024.
fn hikey(overrides: &[(&str, &str)]) -> Core {
    let mut core = core(&machine(&hikey960()), "linux-7.3", overrides);
    freeze(&mut core);
    core.state_mut().overutilized = 1;
    core.sis_update(0, 1);
    core
}

fn demand(core: &mut Core, prev: u32, util: u32) -> Task {
    let mut task = sleeper(core, 1, prev, util, util);
    task.raw_mut().waker.recent_used_cpu = prev;
    task
}

/// Goal: util 600 on an idle machine goes to the first big CPU after the target, util 100 stays.
/// Source: docs/rules/wake-ups.md#idle-capacity-numbers.
#[test]
fn asym_example() {
    let mut core = hikey(&[]);
    let heavy = demand(&mut core, 2, 600);
    assert_eq!(wake(&mut core, &heavy, 2), (4, Reason::IdleCapacity));
    let light = demand(&mut core, 2, 100);
    assert_eq!(wake(&mut core, &light, 2), (2, Reason::IdleTarget));
    make_busy(&mut core, 4);
    assert_eq!(wake(&mut core, &heavy, 2), (5, Reason::IdleCapacity));
    let big = demand(&mut core, 7, 600);
    make_busy(&mut core, 7);
    assert_eq!(wake(&mut core, &big, 7), (5, Reason::IdleCapacity), "wraps");
    assert_eq!(
        wake(&mut core, &demand_of(&light, 4), 4),
        (5, Reason::IdleCapacity),
        "first fitting, not smallest fitting"
    );
}

fn demand_of(task: &Task, prev: u32) -> Task {
    let mut task = task.clone();
    task.raw_mut().cpu = prev;
    task.raw_mut().waker.recent_used_cpu = prev;
    task
}

/// Goal: prev, the recently used CPU and a kernel thread's CPU must fit, too. Source:
/// docs/rules/wake-ups.md#idle-sibling.
#[test]
fn asym_candidates_fit() {
    for (util, prev_reason, recent_reason) in [
        (100, Reason::IdlePrev, Reason::IdleRecent),
        (600, Reason::IdleCapacity, Reason::IdleCapacity),
    ] {
        let mut core = hikey(&[]);
        make_busy(&mut core, 0);
        let task = demand(&mut core, 1, util);
        assert_eq!(wake_sync(&mut core, &task, 0).1, prev_reason, "{util}");
        make_busy(&mut core, 1);
        let mut task = demand(&mut core, 1, util);
        task.raw_mut().waker.recent_used_cpu = 3;
        assert_eq!(wake_sync(&mut core, &task, 0).1, recent_reason, "{util}");
    }
    let mut core = hikey(&[]);
    make_busy(&mut core, 1);
    let waker = sleeper(&mut core, 2, 1, 0, 0);
    let request = Request {
        waker: Waker::Kthread(1),
        ..ask(PlaceKind::Wake, 1, 1)
    };
    for (util, reason) in [
        (369, Reason::KthreadPrev),
        // docs/rules/capacity-aware.md#fit-thresholds: 462 holds up to 369
        (370, Reason::IdleCapacity),
    ] {
        let task = demand(&mut core, 1, util);
        let got = core.select_cpu(&mut [task, waker.clone()], 0, &request);
        assert_eq!(got.reason, reason, "{util}");
    }
}

/// Goal: if no idle CPU fits, all-but-the-wish before not at all, then more capacity; the wish is
/// measured against what limits leave of a CPU. None idle: the target. Source:
/// docs/rules/wake-ups.md#idle-capacity.
#[test]
fn asym_nearest() {
    let mut core = hikey(&[]);
    let huge = demand(&mut core, 1, 900);
    core.cpu_mut(6).load.capacity = 1000;
    for cpu in [4, 5, 7] {
        core.cpu_mut(cpu).load.capacity = 900;
    }
    assert_eq!(wake(&mut core, &huge, 1), (6, Reason::IdleCapacityBest));
    let mut wish = demand(&mut core, 1, 100);
    wish.raw_mut().uclamp_min = 600;
    (4..8).for_each(|cpu| core.cpu_mut(cpu).load.capacity = 100);
    core.cpu_mut(1).load.pressure = 50;
    core.cpu_mut(2).load.pressure = 40;
    core.cpu_mut(0).load.pressure = 30;
    core.cpu_mut(3).load.pressure = 60;
    assert_eq!(wake(&mut core, &wish, 1), (0, Reason::IdleCapacityBest));
    (0..8).for_each(|cpu| make_busy(&mut core, cpu));
    assert_eq!(wake(&mut core, &wish, 1), (1, Reason::TargetBusy));
}

/// Goal: in 7.3 the depth limits the search, before not. Source:
/// docs/rules/wake-ups.md#idle-capacity.
#[test]
fn asym_depth() {
    let run = |depth: u32, form: &str| {
        let mut core = hikey(&[("sis_asym", form)]);
        core.cpu_mut(0).idle.nr_idle_scan = depth;
        let task = demand(&mut core, 1, 600);
        let got = wake(&mut core, &task, 1);
        (got.0, got.1, core.scanned())
    };
    assert_eq!(run(8, "limited"), (4, Reason::IdleCapacity, 4));
    assert_eq!(run(4, "limited"), (4, Reason::IdleCapacity, 4));
    assert_eq!(run(3, "limited"), (1, Reason::IdleCapacityBest, 3));
    assert_eq!(run(0, "limited"), (1, Reason::TargetNoScan, 0));
    assert_eq!(run(0, "all"), (4, Reason::IdleCapacity, 4));
    assert_eq!(run(8, "off").1, Reason::IdleTarget, "size does not matter");
}

/// Goal: with SMT a fitting CPU on a wholly idle core ends the search; else the ranks decide: an
/// idle core before any thread of a busy one. Source: docs/rules/wake-ups.md#idle-capacity (7.3,
/// ranks -4..0).
#[test]
fn asym_smt_ranks() {
    // Little cores 0-1, 2-3 of 462; big cores 4-5, 6-7.
    let mut facts = machine(&[cluster(4, 462), cluster(4, 1024)]);
    facts.perf_domains.clear();
    facts.levels.insert(
        0,
        LevelFacts {
            shares_capacity: true,
            shares_cache: true,
            group_of: labels([2, 2, 2, 2]),
            ..LevelFacts::default()
        },
    );
    let limited = |busy: &[u32], has_idle_cores: u32, depth: u32| {
        let mut core = core(&facts, "linux-7.3", &[]);
        freeze(&mut core);
        core.cpu_mut(0).idle.nr_idle_scan = depth;
        core.cpu_mut(0).idle.has_idle_cores = has_idle_cores;
        busy.iter().for_each(|cpu| make_busy(&mut core, *cpu));
        let task = demand(&mut core, 0, 600);
        let got = wake(&mut core, &task, 0);
        (got.0, got.1, core.cpu(0).idle.has_idle_cores)
    };
    let run = |busy: &[u32], has_idle_cores: u32| limited(busy, has_idle_cores, 8);
    assert_eq!(
        limited(&[4], 1, 1),
        (6, Reason::IdleCapacity, 1),
        "no limit"
    );
    assert_eq!(run(&[4], 1), (6, Reason::IdleCapacity, 1));
    assert_eq!(run(&[4], 0), (5, Reason::IdleCapacity, 0), "no core sought");
    assert_eq!(
        run(&[4, 6], 1),
        (0, Reason::IdleCapacityBest, 1),
        "rank -3 before -2"
    );
    assert_eq!(run(&[0, 2, 4, 6], 1), (5, Reason::IdleCapacityBest, 0));
}
