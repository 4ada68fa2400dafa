//! What a group's entity weighs where groups are nested, and what of its load a CPU keeps when its
//! tasks leave (docs/rules/signals.md#load-for-balancing, docs/rules/signals.md#attach-detach).
//!
//! What must stay: weights are exact integers that follow from the page. It covers
//! policy/src/load_tracking/task_group_load.c and task_group_signals.c. Free: how helpers build a
//! nest of groups.
//! Tests by part: `a_nested_group_that_wakes_weighs_all_of_its_shares` (`wp_calc_group_shares`,
//! `wp_update_cfs_groups`); `no_more_groups_around_a_group_than_there_is_room_for` (`wp_tg_nest`,
//! `WP_MAX_TG_OUTER`); `load_that_leaves_with_a_task_does_not_come_back` (`wp_tg_load_sum`,
//! `wp_tg_queue_update`).
//! Helpers, and who fails with them: `lone` (`a_nested_group_that_wakes_weighs_all_of_its_shares`,
//! `load_that_leaves_with_a_task_does_not_come_back`).

use crate::common;

use common::{cluster, core, machine};
use wakeplace_policy_sys::{Core, Task};

const MS: u64 = 1_000_000;
/// The smallest divisor of a sum: less than that is less than one of an average.
const ONE: u64 = 46_718;

/// A group with those around it, of which one task of nice 0 has run for a second on CPU 0.
fn lone(era: &str, outer: &[u32]) -> (Core, Task) {
    let mut facts = machine(&[cluster(2, 1024)]);
    facts.perf_domains.clear();
    let mut core = core(&facts, era, &[("governor", "performance")]);
    let group = core.add_group(1024);
    outer
        .iter()
        .for_each(|shares| core.nest_group(group, *shares));
    let mut task = Task::new(1, 1024, 0, None, 2);
    task.set_group(Some(group));
    core.task_init(&mut task);
    core.task_new(&mut task, 0, 0);
    let _ = core.enqueue_new(&mut task, 0, 0);
    let _ = core.set_current(&mut task, 0);
    for ms in 1..=1_000 {
        let _ = core.tick(&mut task, ms * MS);
    }
    (core, task)
}

/// Goal: a queued entity counts in the group around it with its weight at least, as a queued task
/// does (docs/rules/signals.md#load-for-balancing: max(local weight, local load_avg)). The task
/// slept for two seconds: no average is left, and the groups have no other load. So each level is
/// all of its group and weighs all of its shares: 1024, 512 and 2048.
#[test]
fn a_nested_group_that_wakes_weighs_all_of_its_shares() {
    for era in ["linux-4.17", "linux-6.2", "linux-7.3"] {
        let (mut core, mut task) = lone(era, &[512, 2048]);
        let _ = core.dequeue_sleep(&mut task, 1_000 * MS);
        let _ = core.update_blocked(0, 3_000 * MS);
        assert_eq!(core.group_queue(0, 0).entity.load_avg, 0, "{era}");
        let _ = core.enqueue_woken(&mut task, 0, 3_000 * MS);
        let q = core.group_queue(0, 0);
        let weights = [q.outer[0].weight, q.outer[1].weight, q.weight];
        assert_eq!(weights, [1024, 512, 2048], "{era}");
        assert_eq!(core.cpu(0).load.load_weight, 2048, "{era}");
    }
}

/// Goal: as many groups as there is room for are around a group, and no more.
#[test]
#[should_panic(expected = "too many groups around a group")]
fn no_more_groups_around_a_group_than_there_is_room_for() {
    let mut core = core(&machine(&[cluster(2, 1024)]), "linux-7.3", &[]);
    let group = core.add_group(1024);
    for _ in 0..Core::MAX_OUTER_GROUPS {
        core.nest_group(group, 1024);
    }
    let room = core.group(group).map(|group| group.nr_outer);
    assert_eq!(room, Some(Core::MAX_OUTER_GROUPS as u32));
    core.nest_group(group, 1024);
}

/// Goal: with the only task of a group that runs here its load leaves the CPU at once
/// (docs/rules/signals.md#attach-detach, docs/decisions/020): average and sum, but for what
/// rounding left, so that no later update brings it back. The other CPU has as much as was here.
#[test]
fn load_that_leaves_with_a_task_does_not_come_back() {
    for era in ["linux-4.17", "linux-7.3"] {
        let (mut core, mut task) = lone(era, &[]);
        let now = 1_000 * MS;
        assert!(core.cpu(0).load.avg.load_avg >= 1022, "{era}");
        let _ = core.dequeue_move(&mut task, now);
        let _ = core.migrate_queued(&mut task, 1, now);
        let avg = core.cpu(0).load.avg;
        assert!(
            avg.load_avg <= 1 && avg.load_sum < 2 * ONE,
            "{era}: {avg:?}"
        );
        let _ = core.enqueue_moved(&mut task, 1, now);
        for (cpu, expected) in [(0, 0), (1, 1024)] {
            let _ = core.update_blocked(cpu, now + 2 * MS);
            let load = core.cpu(cpu).load.avg.load_avg;
            assert!(load.abs_diff(expected) <= 2, "{era} CPU {cpu}: {load}");
        }
    }
}
