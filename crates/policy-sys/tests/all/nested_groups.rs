//! Groups in groups (docs/rules/group-bandwidth.md#nesting): what joins and leaves is counted on
//! all levels, and a task weighs the product of its parts.
//!
//! What must stay: every event counts on all levels of a group's path, and leaves from all of them.
//! Free: how helpers build a nest of groups.
//! It covers policy/src/runqueue/task_group.c.
//! Tests by part: `levels_count_what_is_below` (`wp_tg_entity_queued`, `wp_tg_enqueue`,
//! `wp_tg_dequeue`); `what_moves_leaves_all_levels` (`wp_tg_migrate_queued`,
//! `wp_propagate_entity_load_avg`); `a_task_weighs_its_part_of_each_level` (`wp_tg_h_load`,
//! `wp_update_cfs_groups`).
//! Helpers, and who fails with them: `scene` (all tests, `levels_count_what_is_below` among them).

use crate::common;
use common::{cluster, core, machine};
use wakeplace_policy_sys::{Core, Task};

const MS: u64 = 1_000_000;

fn scene(era: &str) -> (Core, usize, usize, Vec<Task>) {
    let mut facts = machine(&[cluster(2, 1024)]);
    facts.perf_domains.clear();
    let mut core = core(&facts, era, &[("governor", "performance")]);
    let outer = core.add_group(1024);
    let inner = core.add_group_in(Some(outer), 1024);
    // Tasks 0 and 1 in the inner group, 2 in the outer one, 3 in none.
    let groups = [Some(inner), Some(inner), Some(outer), None];
    let mut tasks: Vec<Task> = (1..)
        .zip(groups)
        .map(|(id, group)| {
            let mut task = Task::new(id, 1024, 0, None, 2);
            task.set_group(group);
            core.task_init(&mut task);
            core.task_new(&mut task, 0, 0);
            task
        })
        .collect();
    for task in &mut tasks {
        let _ = core.enqueue_new(task, 0, 0);
    }
    (core, outer, inner, tasks)
}

/// Goal: the outer group's queue holds its task and one entity, the CPU's one task and one entity;
/// all tasks below count as runnable on each level, and are gone when they leave.
#[test]
fn levels_count_what_is_below() {
    for era in ["linux-4.17", "linux-6.2", "linux-7.3"] {
        let (mut core, outer, inner, mut tasks) = scene(era);
        let weight = |core: &Core, group| core.group_queue(group, 0).weight;
        assert_eq!(core.group_queue(inner, 0).nr, 2, "{era}");
        assert_eq!(core.group_queue(inner, 0).load_weight, 2048, "{era}");
        assert_eq!(core.group_queue(outer, 0).nr, 3, "{era}");
        let of_outer = 1024 + weight(&core, inner);
        assert_eq!(core.group_queue(outer, 0).load_weight, of_outer, "{era}");
        assert_eq!(
            core.cpu(0).load.load_weight,
            1024 + weight(&core, outer),
            "{era}"
        );
        assert_eq!(core.cpu(0).queue.nr_fair, 4, "{era}");
        for (at, task) in tasks.iter_mut().enumerate().take(2) {
            let _ = core.dequeue_sleep(task, (at as u64 + 1) * MS);
        }
        assert_eq!(core.group_queue(inner, 0).nr, 0, "{era}");
        assert_eq!(core.group_queue(outer, 0).nr, 1, "{era}");
        assert_eq!(core.group_queue(outer, 0).load_weight, 1024, "{era}");
        let _ = core.dequeue_sleep(&mut tasks[2], 3 * MS);
        assert_eq!(core.cpu(0).load.load_weight, 1024, "{era}: the root's task");
    }
}

/// Goal: utilisation that moves away with a task leaves all levels: after 320 ms of running a task
/// of the inner group takes nearly all of 1024 along, and what stays on each level is little.
#[test]
fn what_moves_leaves_all_levels() {
    for era in ["linux-4.17", "linux-7.3"] {
        let (mut core, outer, inner, mut tasks) = scene(era);
        for task in &mut tasks[1..] {
            let _ = core.dequeue_sleep(task, 0);
        }
        let _ = core.set_current(&mut tasks[0], 0);
        let _ = core.tick(&mut tasks[0], 320 * MS);
        for (what, util) in [
            ("inner", core.group_queue(inner, 0).avg.util_avg),
            ("outer", core.group_queue(outer, 0).avg.util_avg),
            ("CPU", core.cpu(0).load.avg.util_avg),
        ] {
            assert!(util > 1000, "{era}, {what}: {util}");
        }
        let _ = core.dequeue_move(&mut tasks[0], 320 * MS);
        let _ = core.migrate_queued(&mut tasks[0], 1, 320 * MS);
        let _ = core.enqueue_moved(&mut tasks[0], 1, 320 * MS);
        for cpu in 0..2 {
            let expected = if cpu == 1 { 1000..=1024 } else { 0..=24 };
            for (what, util) in [
                ("inner", core.group_queue(inner, cpu).avg.util_avg),
                ("outer", core.group_queue(outer, cpu).avg.util_avg),
                ("CPU", core.cpu(cpu).load.avg.util_avg),
            ] {
                assert!(
                    expected.contains(&util),
                    "{era}, {what} of CPU {cpu}: {util}"
                );
            }
        }
    }
}

/// Goal: h_load is the product over the levels. All averages set by hand: the outer entity has 512
/// of the CPU's 1536, the inner 256 of the outer queue's 1024, the task 1024 of the inner one's
/// 2048: 1536 * 512 / 1537 = 511; 511 * 256 / 1025 = 127; 127 * 1024 / 2049 = 63.
#[test]
fn a_task_weighs_its_part_of_each_level() {
    let (mut core, outer, inner, mut tasks) = scene("linux-7.3");
    core.cpu_mut(0).load.avg.load_avg = 1536;
    core.group_mut(outer).queue[0].entity.load_avg = 512;
    core.group_mut(outer).queue[0].avg.load_avg = 1024;
    core.group_mut(inner).queue[0].entity.load_avg = 256;
    core.group_mut(inner).queue[0].avg.load_avg = 2048;
    tasks[0].raw_mut().avg.load_avg = 1024;
    assert_eq!(core.h_load(&tasks[0]), Some(63));
}
