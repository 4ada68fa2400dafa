//! Tasks that no longer wake: who looks for a better CPU, and which one it is
//! (docs/rules/energy-push.md). The choice at a wake-up is in fixtures/energy-push.
//!
//! What must stay: values are worked at the test from the page and from
//! docs/rules/energy-numbers.md#em-numbers. It covers policy/src/energy/energy_rework.c. Free: how
//! helpers build a machine.
//! Tests by part: `who_is_stuck` (`wp_task_stuck_on_cpu`); `who_may_be_pushed`
//! (`wp_sched_energy_push_task`); `a_stuck_task_finds_a_smaller_cpu` (`wp_push_fair_task`);
//! `its_own_estimate_counts_where_it_is_queued` (`wp_rework_util`); `a_tick_pushes_a_task_alone`
//! (`wp_check_pushable_task`, `wp_tick_fits`, `wp_common_level`).
//! Helpers, and who fails with them: `board` (all); `queued` (all).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, core, freeze, hikey960, machine, make_busy, sleeper};
use wakeplace_policy_sys::{Core, Task};

/// A HiKey960 under a form of the rework: CPUs 0 to 3 have 462, 4 to 7 have 1024.
fn board(rework: &str) -> Core {
    let mut core = core(
        &machine(&hikey960()),
        "linux-7.3",
        &[("energy_rework", rework)],
    );
    freeze(&mut core);
    core
}

/// A queued task of a CPU that counts its utilisation.
fn queued(core: &mut Core, cpu: u32, util: u32, est: u32, uclamp_max: u32) -> Task {
    let mut task = sleeper(core, 1, cpu, util, est);
    core.task_set_uclamp(&mut task, 0, uclamp_max);
    task.raw_mut().on_rq = 1;
    make_busy(core, cpu);
    let load = &mut core.cpu_mut(cpu).load;
    load.avg.util_avg = util;
    load.util_est = est;
    task
}

/// Goal: a task is stuck if it asks for more than its CPU, or its bound, has. Source:
/// docs/rules/energy-push.md#stuck.
#[test]
fn who_is_stuck() {
    for (cpu, util, est, runnable, uclamp_max, stuck) in [
        (0, 463, 0, 0, 1024, true),
        (0, 462, 0, 0, 1024, false),
        (0, 100, 463, 0, 1024, true),
        (0, 100, 0, 463, 1024, true),
        (4, 463, 0, 463, 1024, false),
        (4, 201, 0, 0, 200, true),
        (4, 200, 0, 0, 200, false),
    ] {
        let mut core = board("push");
        let mut task = queued(&mut core, cpu, util, est, uclamp_max);
        task.raw_mut().avg.runnable_avg = runnable;
        let got = core.may_push(&task);
        assert_eq!(got, stuck, "{cpu} {util} {est} {runnable} {uclamp_max}");
    }
}

/// Goal: who is asked at all. Beyond the tipping point only a task that does not fit is, and only
/// with `misfit`: 369 of 462 fits, 370 does not. Source: docs/rules/energy-push.md#stuck.
#[test]
fn who_may_be_pushed() {
    for (rework, util, beyond, pushed) in [
        ("off", 463, false, false),
        ("cost", 463, false, false),
        ("push", 463, false, true),
        ("push", 463, true, false),
        ("push", 370, false, false),
        ("misfit", 369, false, false),
        ("misfit", 370, false, true),
        ("misfit", 370, true, true),
    ] {
        let mut core = board(rework);
        let task = queued(&mut core, 0, util, 0, 1024);
        core.state_mut().overutilized = u32::from(beyond);
        assert_eq!(core.may_push(&task), pushed, "{rework} {util} {beyond}");
    }
    let mut core = board("push");
    let mut task = queued(&mut core, 0, 463, 0, 1024);
    task.raw_mut().nr_allowed = 1;
    assert!(!core.may_push(&task), "it has one CPU");
    task.raw_mut().nr_allowed = 8;
    task.raw_mut().on_rq = 0;
    assert!(!core.may_push(&task), "it sleeps");
}

/// Goal: a task of 600 that is bounded to 200 costs 600 x 6223 on an A73 and 600 x 2813 on an A53:
/// both run at what 200 needs, the states of 391 and 250. Source:
/// docs/rules/energy-push.md#stuck-numbers.
#[test]
fn a_stuck_task_finds_a_smaller_cpu() {
    let mut core = board("push");
    let mut task = queued(&mut core, 4, 600, 0, 200);
    assert!(core.may_push(&task));
    assert_eq!(core.push_target(&mut task), 0);
    // Nobody else may take it: it stays.
    task.raw_mut().allowed[0] = 1 << 4;
    assert_eq!(core.push_target(&mut task), 4);
}

/// Goal: as posted, a queued task's estimate counts once more on its own CPU. 100 is there already:
/// 200 needs 250, the state of 250 (cost 2813). CPU 1 needs 125, the state of 133 (2160). So a task
/// that would cost the same on both moves. Source: docs/rules/energy-push.md#push-util.
#[test]
fn its_own_estimate_counts_where_it_is_queued() {
    let mut core = board("push");
    let mut task = queued(&mut core, 0, 50, 100, 1024);
    assert_eq!(core.push_target(&mut task), 1);
}

/// Goal: at the tick of a task that is alone it is pushed, once, by way of an active balance at the
/// level that spans both CPUs. Source: docs/rules/energy-push.md#stuck.
#[test]
fn a_tick_pushes_a_task_alone() {
    let mut core = board("push");
    let mut task = queued(&mut core, 4, 600, 0, 200);
    task.raw_mut().running = 1;
    assert!(core.tick(&mut task, NOW).push());
    let of = &core.cpu(4).balance;
    assert_eq!((of.push_cpu, of.push_level, of.active_balance), (0, 1, 1));
    assert!(!core.tick(&mut task, NOW).push(), "one is under way");
    core.active_balance_end(4, 0, 1, false);
    assert!(core.tick(&mut task, NOW).push(), "it is tried again");
    core.active_balance_end(4, 0, 1, false);
    core.cpu_mut(4).queue.nr_running = 2;
    assert!(
        !core.tick(&mut task, NOW).push(),
        "it is put back in its turn"
    );
}
