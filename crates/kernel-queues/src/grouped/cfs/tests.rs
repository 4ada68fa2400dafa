//! Buddies on two levels. On 8 CPUs the granularity is 4 ms; a group weighs 1024 as a task of nice
//! 0 does.
//! Rule: docs/rules/queues.md#cfs (buddies, tick, yield).
//!
//! What must stay: each rule holds on both levels; figures follow from 8 CPUs and the groups'
//! weight. Free: numbers of tasks and groups, and how a helper fills the tree.
//! Tests by part (in crates/kernel-queues/src): grouped/cfs.rs:
//! `a_group_goes_on_when_one_of_its_tasks_sleeps` (`remove`), `the_group_of_a_buddy_is_one_too`
//! (`preempts`, `keeps`), `a_yield_holds_on_both_levels` (`yields`),
//! `a_group_that_used_its_slice_is_no_buddy` (`tick`), `a_preempted_task_of_a_group_goes_on`
//! (`pick`); cfs/buddies.rs: `a_running_buddy_goes_on_once` (`goes_on`),
//! `a_second_wakeup_before_the_switch_names_nobody` (`name`), `a_task_that_moves_leaves_no_buddy`,
//! `a_group_loses_the_role_of_its_task`, `the_group_of_who_yields_or_used_its_slice_is_no_buddy`,
//! `a_preempted_group_is_no_last_buddy` (`forget`); grouped/nest.rs:
//! `a_wakee_of_another_group_names_its_group` (`common`).
//! Helpers, and who fails with them: `params`, `tree_of` (all tests,
//! `a_group_goes_on_when_one_of_its_tasks_sleeps` among them).

use super::CfsTree;
use crate::cfs::{CfsParams, Entity, Roles};
use crate::grouped::{GroupShape, entity_of};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::FairPolicy;

const MS: i64 = 1_000_000;

fn params() -> CfsParams {
    CfsParams::new(Policy::parse("linux-4.17").unwrap().core_params(), 8)
}

/// Waiting tasks of nice 0, with their groups and virtual run times in ms. All groups are at 0.
fn tree_of(tasks: &[(Option<usize>, i64)]) -> (CfsTree, Vec<Entity>) {
    let mut tree = CfsTree::new(params(), &[GroupShape::of(1024); 2]);
    let at = |(_, ms): &(Option<usize>, i64)| {
        let mut entity = Entity::new(0, FairPolicy::Other);
        entity.vruntime = ms * MS;
        entity
    };
    let entities: Vec<Entity> = tasks.iter().map(at).collect();
    for (task, (group, _)) in (0..).zip(tasks) {
        tree.insert(task, &entities[task as usize], *group);
    }
    (tree, entities)
}

/// Source: docs/rules/queues.md#cfs, buddies. Task 0 runs in a group for 2 ms and sleeps: the group
/// goes on with task 1 though task 2, outside, is at 0, since 2 ms are no more than 4 ms. After 5
/// ms they would be.
#[test]
fn a_group_goes_on_when_one_of_its_tasks_sleeps() {
    for (ran_ms, picked) in [(2, 1), (4, 1), (5, 2)] {
        let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 1), (None, 0)]);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], Some(0), ran_ms * 1_000_000);
        tree.leave(0, &tasks[0], Some(0));
        assert_eq!(tree.pick(&tasks), Some(picked), "after {ran_ms} ms");
    }
}

/// Source: as above: no such thing if the task leaves for another CPU, or if it was the only one.
#[test]
fn a_task_that_moves_leaves_no_buddy() {
    let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 1), (None, 0)]);
    assert_eq!(tree.pick(&tasks), Some(0));
    tree.charge(&mut tasks[0], Some(0), 2_000_000);
    tree.remove(0, &tasks[0], Some(0), false);
    assert_eq!(tree.pick(&tasks), Some(2));
}

/// Source: as above: in a group a wakee (task 1, at 0) that preempts task 0 (at 6 ms) makes itself
/// and the group next buddies. The group, 6 ms ahead, has to let task 2 go first; 3 ms ahead it
/// goes on. It goes on itself if the wake-up was outside: task 2 is the next buddy at 0.
#[test]
fn the_group_of_a_buddy_is_one_too() {
    for (ahead_ms, picked) in [(3, 1), (6, 2)] {
        let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 0), (None, 0)]);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], Some(0), 6_000_000);
        tree.groups[0].entity.vruntime = ahead_ms * MS;
        assert!(tree.preempts((1, &tasks[1], Some(0)), (0, &tasks[0], Some(0))));
        assert!(!tree.keeps(0, &tasks, Some(0)));
        tree.requeue(0, &tasks[0], Some(0));
        assert_eq!(tree.pick(&tasks), Some(picked), "{ahead_ms} ms ahead");
    }
}

/// Source: as above: between groups the groups are compared, and the wakee's is the next buddy.
/// Group 1 at 1 ms runs before task 2 at 0 when one of its tasks preempts group 0 at 6 ms.
#[test]
fn a_wakee_of_another_group_names_its_group() {
    let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(1), 0), (None, 0)]);
    assert_eq!(tree.pick(&tasks), Some(0));
    tree.charge(&mut tasks[0], Some(0), 6_000_000);
    tree.root.remove(entity_of(1));
    tree.groups[1].entity.vruntime = MS;
    tree.root.insert(entity_of(1), MS);
    assert!(tree.preempts((1, &tasks[1], Some(1)), (0, &tasks[0], Some(0))));
    tree.requeue(0, &tasks[0], Some(0));
    assert_eq!(tree.pick(&tasks), Some(1));
}

/// Source: as above, last buddy: 8 tasks of a group. Task 1 preempts task 0 (at 6 ms) and sleeps:
/// task 0 goes on though task 2 is at 3 ms.
#[test]
fn a_preempted_task_of_a_group_goes_on() {
    let mut at = vec![(Some(0), 0), (Some(0), 0), (Some(0), 3)];
    at.extend([(Some(0), 30); 5]);
    let (mut tree, mut tasks) = tree_of(&at);
    assert_eq!(tree.pick(&tasks), Some(0));
    tree.charge(&mut tasks[0], Some(0), 6_000_000);
    assert!(tree.preempts((1, &tasks[1], Some(0)), (0, &tasks[0], Some(0))));
    tree.requeue(0, &tasks[0], Some(0));
    assert_eq!(tree.pick(&tasks), Some(1));
    tree.leave(1, &tasks[1], Some(0));
    assert_eq!(tree.pick(&tasks), Some(0));
}

/// Source: as above: a group loses the role that its task lost. The wakee of a group leaves before
/// the CPU looks: task 2, at 0, runs before the group at 2 ms.
#[test]
fn a_group_loses_the_role_of_its_task() {
    let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 0), (None, 0)]);
    assert_eq!(tree.pick(&tasks), Some(0));
    tree.charge(&mut tasks[0], Some(0), 6_000_000);
    tree.groups[0].entity.vruntime = 2 * MS;
    assert!(tree.preempts((1, &tasks[1], Some(0)), (0, &tasks[0], Some(0))));
    tree.remove(1, &tasks[1], Some(0), true);
    tree.requeue(0, &tasks[0], Some(0));
    assert_eq!(tree.pick(&tasks), Some(2));
}

/// Source: as above and yield: the task is passed over in its group, and the group for task 2, 1 ms
/// ahead. A task alone on its CPU is not.
#[test]
fn a_yield_holds_on_both_levels() {
    let (mut tree, tasks) = tree_of(&[(Some(0), 0), (Some(0), 1), (None, 1)]);
    assert_eq!(tree.pick(&tasks), Some(0));
    assert!(tree.yields(0, Some(0)));
    assert!(!tree.keeps(0, &tasks, Some(0)));
    tree.requeue(0, &tasks[0], Some(0));
    assert_eq!(tree.pick(&tasks), Some(2));
    // Task 2 goes on waiting at 1 ms: the group is picked, and in it task 1.
    tree.remove(2, &tasks[2], None, false);
    assert_eq!(tree.pick(&tasks), Some(1));
    let (mut alone, tasks) = tree_of(&[(Some(0), 0)]);
    assert_eq!(alone.pick(&tasks), Some(0));
    assert!(!alone.yields(0, Some(0)));
    assert!(alone.keeps(0, &tasks, Some(0)));
}

/// Source: as above: between queues a running task outside is a last buddy, a group is none. Beside
/// two groups and 7 tasks, the wakee of group 1 preempts who is at 6 ms. When it sleeps, task 2 at
/// 3 ms runs, or, as it is no more than 4 ms behind, the last buddy.
#[test]
fn a_preempted_group_is_no_last_buddy() {
    for (group, picked) in [(Some(0), 2), (None, 0)] {
        let mut at = vec![(group, 0), (Some(1), 0), (None, 3)];
        at.extend([(None, 30); 6]);
        let (mut tree, mut tasks) = tree_of(&at);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], group, 6_000_000);
        assert!(tree.preempts((1, &tasks[1], Some(1)), (0, &tasks[0], group)));
        tree.requeue(0, &tasks[0], group);
        assert_eq!(tree.pick(&tasks), Some(1));
        tree.leave(1, &tasks[1], Some(1));
        assert_eq!(tree.pick(&tasks), Some(picked), "{group:?}");
    }
}

/// Source: as above: a second wake-up before the CPU looks names nobody. Task 2, outside, would be
/// the next buddy at 1 ms, and so would task 3 in the group: task 1 came first.
#[test]
fn a_second_wakeup_before_the_switch_names_nobody() {
    for other in [(2, None), (3, Some(0))] {
        let at = [(Some(0), 0), (Some(0), 0), (None, 1), (Some(0), 1)];
        let (mut tree, mut tasks) = tree_of(&at);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], Some(0), 6_000_000);
        let running = (0, &tasks[0], Some(0));
        assert!(tree.preempts((1, &tasks[1], Some(0)), running));
        assert!(tree.preempts((other.0, &tasks[other.0 as usize], other.1), running));
        tree.groups[0].entity.vruntime = 3 * MS;
        tree.requeue(0, &tasks[0], Some(0));
        assert_eq!(tree.pick(&tasks), Some(1), "{other:?}");
    }
}

/// Source: as above: the buddy that runs goes on though task 1 of its group and task 2 outside are
/// 1 ms behind, but once only.
#[test]
fn a_running_buddy_goes_on_once() {
    let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 0), (None, 0)]);
    assert_eq!(tree.pick(&tasks), Some(0));
    tree.charge(&mut tasks[0], Some(0), 1_000_000);
    let name = |tree: &mut CfsTree| {
        tree.groups[0].queue.name(Roles::NEXT, 0);
        tree.root.name(Roles::NEXT, entity_of(0));
    };
    name(&mut tree);
    assert!(tree.keeps(0, &tasks, Some(0)));
    assert!(!tree.keeps(0, &tasks, Some(0)));
    // Named in one of the two queues only, it has to give way.
    tree.root.name(Roles::NEXT, entity_of(0));
    assert!(!tree.keeps(0, &tasks, Some(0)));
    name(&mut tree);
    assert!(tree.keeps(0, &tasks, Some(0)));
    tree.groups[0].queue.name(Roles::NEXT, 0);
    assert!(!tree.keeps(0, &tasks, Some(0)));
}

/// Source: as above: by a yield, or by the end of its slice, a task loses its role in both queues.
/// It has 24 ms / 2 in its group, and that half of the CPU: 6 ms. The group is 4 ms ahead of task
/// 2.
#[test]
fn the_group_of_who_yields_or_used_its_slice_is_no_buddy() {
    let lose: [fn(&mut CfsTree, &mut [Entity]); 2] = [
        |tree, _| assert!(tree.yields(0, Some(0))),
        |tree, tasks| {
            tasks[0].slice_used_ns = 6_000_001;
            assert!(tree.tick(0, &tasks[0], Some(0)));
        },
    ];
    for lose in lose {
        let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(0), 0), (None, 0)]);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], Some(0), 4_000_000);
        tree.groups[0].queue.name(Roles::NEXT, 0);
        tree.root.name(Roles::NEXT, entity_of(0));
        lose(&mut tree, &mut tasks);
        tree.requeue(0, &tasks[0], Some(0));
        assert_eq!(tree.pick(&tasks), Some(2));
    }
}

/// Source: docs/rules/queues.md#cfs, tick: the slice of a group ends its turn and its role, whether
/// that of its task (12 of 24 ms in the group, and that half of the CPU) goes on or not. Group 0
/// beside group 1 has 12 ms of 24.
#[test]
fn a_group_that_used_its_slice_is_no_buddy() {
    for own_ns in [0, 12_000_001] {
        let (mut tree, mut tasks) = tree_of(&[(Some(0), 0), (Some(1), 0), (Some(0), 9)]);
        assert_eq!(tree.pick(&tasks), Some(0));
        tree.charge(&mut tasks[0], Some(0), 1_000_000);
        tree.groups[0].entity.slice_used_ns = 12_000_001;
        tasks[0].slice_used_ns = own_ns;
        tree.root.name(Roles::NEXT, entity_of(0));
        assert!(tree.tick(0, &tasks[0], Some(0)));
        assert!(!tree.keeps(0, &tasks, Some(0)));
    }
}
