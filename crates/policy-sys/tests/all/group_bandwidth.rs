//! Budgets of groups, and their hints (docs/rules/group-bandwidth.md): the core by itself, with the
//! times of the page.
//!
//! What must stay: times and slices are those of the page's worked numbers; a period's grid never
//! moves. It covers policy/src/runqueue/group_bandwidth.c and group_throttle.c. Free: how helpers
//! build a group, and numbers of tasks that the quota does not see.
//! Tests by part: `the_first_period_ends_at_a_random_moment` (`wp_start_cfs_bandwidth`);
//! `a_running_cpu_takes_slices`, `a_cpu_that_runs_nothing_takes_as_little_as_it_can`
//! (`wp_assign_cfs_rq_runtime`, `wp_tg_account_runtime`, `wp_tg_check_runtime`);
//! `slack_goes_to_throttled_cpus` (`wp_tg_return_runtime`, `wp_tg_slack_timer`,
//! `wp_tg_distribute`); `the_timer_of_an_idle_group_stops`, `a_burst_keeps_what_was_not_used`
//! (`wp_tg_period_timer`, `wp_refill_cfs_bandwidth_runtime`);
//! `a_throttled_group_keeps_its_averages` (`wp_cfs_rq_clock_pelt`, `wp_tg_throttle_entity`);
//! `nothing_is_pulled_to_where_its_group_is_throttled` (`wp_tg_may_pull`);
//! `hints_are_kept_within_those_around` (`wp_tg_set_uclamp`).
//! Helpers, and who fails with them: `scene` (all tests, `the_first_period_ends_at_a_random_moment`
//! among them); `budget` (most tests, `a_running_cpu_takes_slices` among them); `runs`
//! (`a_running_cpu_takes_slices`, `the_timer_of_an_idle_group_stops`); `remaining`
//! (`a_running_cpu_takes_slices`, `a_cpu_that_runs_nothing_takes_as_little_as_it_can`,
//! `slack_goes_to_throttled_cpus`).

use crate::common;
use common::{cluster, core, machine};
use wakeplace_policy_sys::{Core, Task};

const MS: u64 = 1_000_000;

fn scene(era: &str) -> Core {
    let mut facts = machine(&[cluster(2, 1024)]);
    facts.perf_domains.clear();
    core(&facts, era, &[("governor", "performance")])
}

fn budget(core: &mut Core, quota_ms: u64, burst_ms: u64) -> usize {
    let group = core.add_group(1024);
    core.set_group_bandwidth(group, [quota_ms * MS, 100 * MS, burst_ms * MS], 0);
    group
}

fn runs(core: &mut Core, group: usize, running: u32) {
    core.group_mut(group).queue[0].running = running;
    core.group_mut(group).queue[0].nr = 1;
}

fn remaining(core: &Core, group: usize) -> i64 {
    core.group_queue(group, 0).runtime.remaining_ns
}

/// Source: init_cfs_bandwidth() and start_cfs_bandwidth() of 6.6.63: the timer's first time is
/// random below 100 ms, and hrtimer_forward_now() moves it on by whole periods of the group's own
/// until it is ahead. Before 41abdba93747 (6.4) it is 0.
#[test]
fn the_first_period_ends_at_a_random_moment() {
    for (era, period_ms, first_ns) in [
        ("linux-6.6", 100, 35_928_559),
        ("linux-7.3", 100, 35_928_559),
        ("linux-7.3", 20, 15_928_559),
        ("linux-7.3", 500, 35_928_559),
        ("linux-6.2", 100, 100 * MS),
        ("linux-6.2", 20, 20 * MS),
    ] {
        let mut core = scene(era);
        let group = core.add_group(1024);
        core.set_group_bandwidth(group, [10 * MS, period_ms * MS, 0], 3_735_928_559);
        assert_eq!(core.group_period_end(group), Some(first_ns), "{era}");
        assert!(!core.period_timer(group, first_ns).distribute());
        let next = core.group_period_end(group);
        assert_eq!(next, Some(first_ns + period_ms * MS), "{era}");
    }
}

/// Source: docs/rules/group-bandwidth.md#numbers, 20 of 100 ms: what is taken at each tick.
#[test]
fn a_running_cpu_takes_slices() {
    let mut core = scene("linux-6.12");
    let group = budget(&mut core, 20, 0);
    runs(&mut core, group, 1);
    for (tick, left_ms, part_ns) in [(1, 11, 5 * MS), (2, 11, MS), (3, 3, 5 * MS), (4, 3, MS)] {
        core.account_runtime(group, 0, 4 * MS);
        assert!(!core.check_runtime(group, 0, tick * 4 * MS), "tick {tick}");
        let left = core.group(group).unwrap().bandwidth.runtime_ns;
        assert_eq!((left - 1) / MS as i64, left_ms, "tick {tick}");
        assert_eq!(
            remaining(&core, group).unsigned_abs(),
            part_ns,
            "tick {tick}"
        );
    }
    core.account_runtime(group, 0, 4 * MS);
    assert!(!core.check_runtime(group, 0, 20 * MS), "3 ms pay for 3");
    core.account_runtime(group, 0, 4 * MS);
    assert!(core.check_runtime(group, 0, 24 * MS), "nothing is left");
    let asks = core.period_timer(group, 100 * MS);
    assert!(asks.restart() && asks.distribute());
    assert_eq!(core.distribute(group), Some(0));
    assert_eq!(core.distribute(group), None);
    assert_eq!(remaining(&core, group), 1);
    assert!(core.unthrottle(group, 0, 100 * MS));
    let bandwidth = core.group(group).unwrap().bandwidth;
    assert_eq!(bandwidth.throttled_ns, 76 * MS);
    assert_eq!((bandwidth.nr_periods, bandwidth.nr_throttled), (1, 1));
}

/// Source: docs/rules/group-bandwidth.md#quota: without a running task 1 ns is asked for.
#[test]
fn a_cpu_that_runs_nothing_takes_as_little_as_it_can() {
    let mut core = scene("linux-6.12");
    let group = budget(&mut core, 20, 0);
    core.account_runtime(group, 0, 4 * MS);
    assert!(!core.check_runtime(group, 0, 4 * MS));
    assert_eq!(remaining(&core, group), 1);
}

/// Source: docs/rules/group-bandwidth.md#period: a CPU keeps a millisecond. What it gives back is
/// handed out after 5 ms if it is more than a slice, a CPU waits for it, and 7 ms are left.
#[test]
fn slack_goes_to_throttled_cpus() {
    for (now_ms, armed) in [(90, true), (94, false)] {
        let mut core = scene("linux-6.12");
        let group = budget(&mut core, 20, 0);
        core.group_mut(group).bandwidth.runtime_ns = 0;
        core.account_runtime(group, 1, MS);
        assert!(core.check_runtime(group, 1, 10 * MS));
        core.group_mut(group).queue[0].runtime.remaining_ns = 7 * MS as i64 + 1;
        let asks = core.return_runtime(group, 0, now_ms * MS);
        assert_eq!(asks.slack(), armed, "at {now_ms} ms");
        assert_eq!(remaining(&core, group), MS as i64);
        assert_eq!(
            core.group(group).unwrap().bandwidth.runtime_ns,
            6 * MS as i64 + 1
        );
        if armed {
            assert!(core.slack_timer(group, 95 * MS).distribute());
            assert_eq!(core.distribute(group), Some(1));
            assert!(core.unthrottle(group, 1, 95 * MS));
        }
    }
}

/// Source: docs/rules/group-bandwidth.md#period: the timer stops after a period in which nobody
/// asked and is armed again on the same grid.
#[test]
fn the_timer_of_an_idle_group_stops() {
    let mut core = scene("linux-7.3");
    let group = budget(&mut core, 20, 0);
    assert!(core.period_timer(group, 100 * MS).restart());
    assert!(!core.period_timer(group, 200 * MS).restart());
    assert_eq!(core.group_period_end(group), None);
    runs(&mut core, group, 1);
    core.account_runtime(group, 0, 4 * MS);
    assert!(!core.check_runtime(group, 0, 437 * MS));
    assert_eq!(core.group_period_end(group), Some(500 * MS));
}

/// Source: docs/rules/group-bandwidth.md#burst: what was not used stays up to the burst.
#[test]
fn a_burst_keeps_what_was_not_used() {
    let mut core = scene("linux-7.3");
    let group = budget(&mut core, 20, 15);
    let runtime = |core: &Core| core.group(group).unwrap().bandwidth.runtime_ns;
    let _ = core.period_timer(group, 100 * MS);
    assert_eq!(runtime(&core), 35 * MS as i64, "20 and a burst of 15");
    core.group_mut(group).bandwidth.runtime_ns -= 32 * MS as i64;
    let _ = core.period_timer(group, 200 * MS);
    let bandwidth = core.group(group).unwrap().bandwidth;
    assert_eq!((bandwidth.nr_bursts, bandwidth.burst_time_ns), (1, 12 * MS));
    assert_eq!(runtime(&core), 23 * MS as i64);
}

/// Source: docs/rules/group-bandwidth.md#throttled-clock: to 6.17 a throttled group's averages
/// stand still with its clock, while its entity's fade: 32 ms are 31 whole periods of 1024 us,
/// which leave 2^(-31/32) = 523/1024. Its tasks leave the CPU's counts.
#[test]
fn a_throttled_group_keeps_its_averages() {
    let mut core = scene("linux-6.12");
    let group = core.add_group(1024);
    let mut task = Task::new(1, 1024, 0, None, 2);
    task.set_group(Some(group));
    core.task_init(&mut task);
    core.task_new(&mut task, 0, 0);
    let _ = core.enqueue_new(&mut task, 0, 0);
    let _ = core.set_current(&mut task, 0);
    let _ = core.tick(&mut task, 320 * MS);
    let _ = core.put_current(&mut task, 320 * MS);
    let before = core.group_queue(group, 0).avg.util_avg;
    assert!(before > 1000, "it ran for 320 ms: {before}");
    assert_eq!(core.cpu(0).queue.nr_fair, 1);
    core.throttle_down(group, 0, 320 * MS);
    let _ = core.throttle_entity(group, 0, 320 * MS);
    assert_eq!(
        (core.cpu(0).queue.nr_fair, core.cpu(0).load.load_weight),
        (0, 0)
    );
    let _ = core.update_blocked(0, 352 * MS);
    let queue = core.group_queue(group, 0);
    assert_eq!(queue.avg.util_avg, before);
    let faded = before * 523 / 1024;
    assert!(
        queue.entity.util_avg.abs_diff(faded) <= 12,
        "{}",
        queue.entity.util_avg
    );
    assert!(core.unthrottle_up(group, 0, 352 * MS));
    let _ = core.unthrottle_entity(group, 0, 352 * MS);
    assert_eq!(core.cpu(0).queue.nr_fair, 1);
    assert_eq!(
        core.cpu(0).load.load_weight,
        core.group_queue(group, 0).weight
    );
    assert_eq!(core.group_queue(group, 0).avg.util_avg, before);
}

/// Source: docs/rules/group-bandwidth.md#balancing.
#[test]
fn nothing_is_pulled_to_where_its_group_is_throttled() {
    for (era, from_there) in [("linux-6.12", false), ("linux-7.3", true)] {
        let mut core = scene(era);
        let group = core.add_group(1024);
        assert!(core.may_pull(group, 0, 1));
        core.throttle_down(group, 1, 0);
        assert!(!core.may_pull(group, 0, 1), "{era}");
        assert_eq!(core.may_pull(group, 1, 0), from_there, "{era}");
    }
}

/// Source: docs/rules/group-bandwidth.md#cpu-uclamp, the worked numbers, and a task of 0 and 1024.
#[test]
fn hints_are_kept_within_those_around() {
    let mut core = scene("linux-7.3");
    let outer = core.add_group(1024);
    let inner = core.add_group_in(Some(outer), 1024);
    core.set_group_uclamp(outer, 300, 600);
    core.set_group_uclamp(inner, 400, 800);
    assert_eq!(core.restrict_uclamp(Some(inner), [0, 1024]), [300, 600]);
    core.set_group_uclamp(outer, 700, 500);
    assert_eq!(core.restrict_uclamp(Some(outer), [0, 1024]), [500, 500]);
    assert_eq!(core.restrict_uclamp(None, [0, 1024]), [0, 1024]);
}
