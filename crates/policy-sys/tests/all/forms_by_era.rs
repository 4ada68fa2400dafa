//! Rules whose form changed between two releases, each in both forms: what the estimate of a task
//! that leaves or execs counts for, new tasks, boosts and hints of the frequency.
//! Rules: docs/rules/signals.md#new-task, docs/rules/energy-aware.md#overutilized,
//! docs/rules/capacity.md#schedutil, docs/rules/capacity-aware.md#util-without-task.
//!
//! What must stay: each test has both forms, before and after the release that its comment names; a
//! new era takes the newer one. Free: names of helpers, and how they build a state.
//! Tests by part: `a_new_task_by_the_scaled_weight` (`wp_post_init_entity_util_avg`);
//! `new_tasks_and_the_tipping_point` (`wp_cpu_overutilized`,
//! `wp_check_update_overutilized_status`); `a_capped_cpu_slows_down` (`wp_uclamp_rq_is_capped`,
//! `wp_sugov_hold_freq`); `hints_bound_the_boost` (`wp_sugov_iowait_apply`);
//! `the_boost_of_5_0_begins_anew` (`wp_sugov_iowait_reset`); `an_exec_leaves_its_estimate_out`
//! (`wp_cpu_util_without`).
//! Helpers, and who fails with them: `lone_a73` (`a_capped_cpu_slows_down`,
//! `hints_bound_the_boost`, `the_boost_of_5_0_begins_anew`); `mhz` (`a_capped_cpu_slows_down`,
//! `hints_bound_the_boost`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{
    Cluster, NOW, RunsAt as _, core, freeze, hikey960, hold_governor, lone_cpu, machine, make_busy,
    sleeper,
};
use wakeplace_policy_sys::{Core, PlaceKind, Task};

const MS: u64 = 1_000_000;

/// Goal: to 6.9 the weight is 1024 times as large on 64 bits, so a queue's use makes a new task
/// take half of what is left; on 32 bits it does not. Source: docs/rules/signals.md#new-task. Half
/// of what 300 leaves of 1024 is 362, by the weight 300 * 1024 / 1025 = 299. Likewise 487 and 49,
/// 221 and 19.
#[test]
fn a_new_task_by_the_scaled_weight() {
    for (era, narrow, scaled) in [
        ("linux-5.0", false, true),
        ("linux-5.0", true, false),
        ("linux-6.2", false, true),
        ("linux-6.12", false, false),
    ] {
        for (capacity, util, high, low) in [
            (1024, 300, 362, 299),
            (1024, 50, 487, 49),
            (462, 20, 221, 19),
        ] {
            let mut facts = lone_cpu(capacity);
            facts.is_32bit = narrow;
            let mut core = core(&facts, era, &[]);
            freeze(&mut core);
            core.cpu_mut(0).load.avg.util_avg = util;
            core.cpu_mut(0).load.avg.load_avg = 1024;
            let mut task = Task::new(1, 1024, 0, None, 1);
            core.task_init(&mut task);
            core.task_new(&mut task, 0, NOW);
            let expected = if scaled { high } else { low };
            assert_eq!(task.util_avg(), expected, "{era} {narrow} {capacity}");
        }
    }
}

/// Goal: in 5.0 new tasks set the flag when they are queued. Source:
/// docs/rules/energy-aware.md#overutilized: three forks piled on 462: 231 + 115 + 58 = 404 > 369.
#[test]
fn new_tasks_and_the_tipping_point() {
    for (era, flag) in [("linux-5.0", true), ("linux-4.17+energy-aware", false)] {
        let mut core = core(&machine(&hikey960()), era, &[("post_init_capacity", "on")]);
        freeze(&mut core);
        for id in 1..=3 {
            let mut task = Task::new(id, 1024, 0, None, 8);
            core.task_init(&mut task);
            core.task_new(&mut task, 0, NOW);
            core.enqueue_new(&mut task, 0, NOW);
        }
        assert_eq!(core.cpu(0).load.avg.util_avg, 404, "{era}");
        assert_eq!(core.overutilized(), flag, "{era}");
    }
}

/// One CPU with a frequency domain of its own, as an A73 of HiKey960.
fn lone_a73(era: &str) -> Core {
    let clusters = [Cluster {
        cpus: 1,
        ..hikey960()[1].clone()
    }];
    let mut core = core(&machine(&clusters), era, &[("rate_limit_us", "1")]);
    freeze(&mut core);
    core
}

/// The frequency asked for, in MHz, once a CPU's signals have changed.
fn mhz(core: &mut Core, now_ns: u64) -> u32 {
    core.cpu_mut(0).load.nr_removed = 1;
    if core.update_blocked(0, now_ns).freq() {
        core.runs_at(0, core.freq_request(0));
    }
    core.state().opp_khz[core.freq_request(0) as usize] / 1000
}

/// Goal: a lone CPU that was never idle keeps its frequency, but not if its tasks use all that a
/// uclamp_max allows (docs/rules/capacity.md#schedutil): 800 asks for the top; then 120 of at most
/// 100, 100 x 1.25 = 125 or 120 bounded to 100: both below the lowest state.
#[test]
fn a_capped_cpu_slows_down() {
    for era in ["linux-6.2", "linux-6.12", "linux-7.3"] {
        for (max, expected) in [(1024, 2362), (100, 903)] {
            let mut core = lone_a73(era);
            let mut task = sleeper(&mut core, 1, 0, 0, 0);
            core.enqueue_woken(&mut task, 0, NOW);
            core.set_current(&mut task, NOW);
            core.cpu_mut(0).idle.idle_calls += 1;
            for (at, util, asked) in [(NOW + MS, 800, 2362), (NOW + 2 * MS, 120, expected)] {
                let avg = &mut core.cpu_mut(0).load.avg;
                (avg.util_avg, avg.last_update_ns) = (util, at);
                assert_eq!(mhz(&mut core, at), asked, "{era} {max} {util}");
                core.task_set_uclamp(&mut task, 0, max);
            }
        }
    }
}

/// Goal: in the form of 6.1 a uclamp_max bounds the boost for I/O (5.17;
/// docs/rules/capacity.md#schedutil): 1024 of boost and at most 100: 125 with the headroom.
#[test]
fn hints_bound_the_boost() {
    for (max, expected) in [(1024, 2362), (100, 903)] {
        let mut core = lone_a73("linux-6.2");
        let mut task = sleeper(&mut core, 1, 0, 10, 0);
        core.task_set_uclamp(&mut task, 0, max);
        core.cpu_mut(0).queue.classes.io_boost = 1024;
        core.cpu_mut(0).queue.classes.io_stamp_ns = NOW;
        core.enqueue_io(&mut task, 0, NOW);
        assert_eq!(mhz(&mut core, NOW + MS), expected, "{max}");
    }
}

/// Goal: the boost of 4.19 to 5.1 is a frequency, and more than a tick without an update starts it
/// anew (docs/rules/rt-and-deadline.md#rt-capacity-4-17). 903 MHz is the lowest.
#[test]
fn the_boost_of_5_0_begins_anew() {
    for (era, wait, expected) in [
        ("linux-4.17", 5 * MS, 1_806_000),
        ("linux-5.0", 5 * MS, 903_000),
        ("linux-5.0", 2 * MS, 1_806_000),
        ("linux-6.2", 5 * MS, 128),
    ] {
        let mut core = lone_a73(era);
        core.state_mut().tick_ns = 4_000_000;
        let mut task = sleeper(&mut core, 1, 0, 10, 0);
        let classes = &mut core.cpu_mut(0).queue.classes;
        (classes.io_boost, classes.io_stamp_ns) = (903_000, NOW);
        hold_governor(&mut core);
        core.enqueue_io(&mut task, 0, NOW + wait);
        assert_eq!(core.cpu(0).queue.classes.io_boost, expected, "{era} {wait}");
    }
}

/// Goal: a task that execs runs on its CPU, and from 4.20 on its estimate is no part of what is
/// used there (docs/rules/capacity-aware.md#util-without-task). CPU 0 has no use but its task's and
/// an estimate of 600; CPU 1 has used 300. Spare by 4.17 is 424 and 724, by 5.0 1024 and 724.
#[test]
fn an_exec_leaves_its_estimate_out() {
    for (set, expected) in [("off", 1), ("on", 0)] {
        let settings = [("idlest_without_running", set), ("idlest_spare", "on")];
        let facts = common::machine(&[common::cluster(1, 1024), common::cluster(1, 1024)]);
        let mut core = core(&facts, "linux-5.0", &settings);
        freeze(&mut core);
        (0..2).for_each(|cpu| make_busy(&mut core, cpu));
        let mut task = sleeper(&mut core, 1, 0, 500, 600);
        (
            core.cpu_mut(0).load.avg.util_avg,
            core.cpu_mut(0).load.util_est,
        ) = (500, 600);
        core.cpu_mut(1).load.avg.util_avg = 300;
        let raw = task.raw_mut();
        (raw.on_rq, raw.running, raw.util_est_queued) = (1, 1, 600);
        let request = common::ask(PlaceKind::Exec, 0, 0);
        let choice = core.select_cpu(&mut [task], 0, &request);
        assert_eq!(choice.cpu, expected, "{set}");
    }
}
