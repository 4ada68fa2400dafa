//! Buddies, preemption by wake-ups and the pick. On 8 CPUs the granularity is 4 ms, and a preempted
//! task is remembered from 8 tasks on (24 ms / 3 ms).
//!
//! What must stay: figures (4 ms, 24 ms / 3) follow from the page for 8 CPUs. Rule:
//! docs/rules/queues.md#cfs. Free: numbers of tasks, and how a helper fills the queue.
//! Tests by part (in crates/kernel-queues/src): cfs/buddies.rs:
//! `a_wakeup_preempts_beyond_the_granularity_only`, `preemption_by_policy_names_nobody`
//! (`wakeup_preempts`), `next_goes_before_last_and_none_beyond_the_granularity` (`preempted`),
//! `who_yielded_is_passed_over_once`, `a_yield_needs_another_task` (`pass_over`);
//! `a_preempted_task_goes_on_when_the_wakee_sleeps`, `a_wakee_runs_before_who_waited_longer`,
//! `who_leaves_the_queue_is_no_buddy`, `a_second_wakeup_before_the_switch_names_nobody`
//! (`wakeup_preempt`, `forget`, by cfs/class.rs); cfs.rs: `a_running_buddy_goes_on_once`
//! (`tick_preempts`); weight.rs: `policies_decide_before_times_do` (`of_task`); cfs/buddies.rs
//! (`pick`, `first_two`, `name`): `the_running_task_has_its_place_in_the_order`,
//! `a_wakeup_after_the_slice_names_nobody`.
//! Helpers, and who fails with them: `class_of`, `switch` (6 tests,
//! `a_preempted_task_goes_on_when_the_wakee_sleeps` among them); `params` (all tests,
//! `a_wakeup_preempts_beyond_the_granularity_only` among them); `at` (most tests,
//! `a_wakeup_preempts_beyond_the_granularity_only` among them); `queue_of`
//! (`next_goes_before_last_and_none_beyond_the_granularity`, `a_running_buddy_goes_on_once`,
//! `the_running_task_has_its_place_in_the_order`, `a_yield_needs_another_task`).

use super::{CfsParams, CfsQueue, Entity, Roles};
use crate::cfs::Cfs;
use crate::fair_class::FairClass;
use crate::weight::{Weight, virtual_time};
use crate::{CpuId, TaskId};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::FairPolicy;

const CPU: CpuId = CpuId(0);

fn params() -> CfsParams {
    CfsParams::new(Policy::parse("linux-4.17").unwrap().core_params(), 8)
}

/// Gives a task of nice 0 at a virtual time.
fn at(vruntime: i64) -> Entity {
    Entity {
        vruntime,
        ..Entity::new(0, FairPolicy::Other)
    }
}

/// A queue in which tasks of nice 0 wait, at these times in units of 0.1 ms; task 0 runs.
fn queue_of(times: &[i64]) -> (CfsQueue, Vec<Entity>) {
    let entities: Vec<Entity> = times.iter().map(|tenths| at(tenths * 100_000)).collect();
    let mut queue = CfsQueue::default();
    for (task, entity) in (0..).zip(&entities) {
        queue.enqueue(task, entity);
    }
    queue.remove(0);
    (queue, entities)
}

/// Gives such a queue as a class of one CPU.
fn class_of(times: &[i64]) -> Cfs {
    let mut cfs = Cfs::new(params(), 1);
    for tenths in times {
        let task = cfs.add_task(0, FairPolicy::Other, None);
        cfs.set_vruntime(task, tenths * 100_000);
        cfs.enqueue_task(task, CPU);
    }
    assert_eq!(cfs.pick_next_task(CPU), Some(TaskId(0)));
    cfs
}

/// The CPU looks at its queue.
fn switch(cfs: &mut Cfs, from: u32) -> Option<TaskId> {
    assert!(!cfs.keeps(TaskId(from), CPU));
    cfs.put_prev_task(TaskId(from), CPU);
    cfs.pick_next_task(CPU)
}

#[test]
fn a_wakeup_preempts_beyond_the_granularity_only() {
    let queue = CfsQueue::default();
    let preempts = |ns| queue.wakeup_preempts(&params(), &at(ns), &at(0));
    assert_eq!(preempts(4_000_000), None);
    assert_eq!(preempts(4_000_001), Some(Roles::NEXT));
}

/// Source: docs/rules/queues.md#cfs, buddies. Task 1 (at 0) preempts task 0 (at 10 ms) and runs.
/// When it sleeps, task 0 goes on though task 2 is at 8 ms: it is 10 - 8 = 2 ms ahead, no more than
/// 4 ms. Were task 2 at 5.9 ms, 4.1 ms would be too much. Seven tasks remember nobody.
#[test]
fn a_preempted_task_goes_on_when_the_wakee_sleeps() {
    let far = 300;
    for (others, goes_on) in [
        (&[80, far, far, far, far, far][..], 0),
        (&[60, far, far, far, far, far], 0),
        (&[59, far, far, far, far, far], 2),
        (&[80, far, far, far, far], 2),
    ] {
        let mut cfs = class_of(&[0, 0]);
        cfs.set_vruntime(TaskId(0), 10_000_000);
        for tenths in others {
            let task = cfs.add_task(0, FairPolicy::Other, None);
            cfs.set_vruntime(task, tenths * 100_000);
            cfs.enqueue_task(task, CPU);
        }
        assert!(cfs.wakeup_preempt(TaskId(1), TaskId(0), CPU, false));
        assert_eq!(switch(&mut cfs, 0), Some(TaskId(1)));
        cfs.dequeue_sleep(TaskId(1), CPU, false);
        assert_eq!(cfs.pick_next_task(CPU), Some(TaskId(goes_on)), "{others:?}");
    }
}

/// Source: as above: the wakee itself is the next buddy, and runs before task 2, from which it is
/// 1.9 - 0 = 1.9 ms ahead. It goes on until it gives way: task 2 at 0 is less than itself at 1.9
/// ms, and it has lost its role when it was picked.
#[test]
fn a_wakee_runs_before_who_waited_longer() {
    let mut cfs = class_of(&[0, 19, 0]);
    cfs.set_vruntime(TaskId(0), 6_000_000);
    assert!(cfs.wakeup_preempt(TaskId(1), TaskId(0), CPU, false));
    assert_eq!(switch(&mut cfs, 0), Some(TaskId(1)));
    assert_eq!(switch(&mut cfs, 1), Some(TaskId(2)));
}

/// Source: as above: next before last, each if it is at most 4 ms ahead of the leftmost, and with
/// the running one as leftmost, too.
#[test]
fn next_goes_before_last_and_none_beyond_the_granularity() {
    let params = params();
    for (next, last, picked) in [(40, 10, 1), (41, 40, 2), (41, 41, 0), (10, 41, 1)] {
        let (mut queue, entities) = queue_of(&[0, next, last]);
        queue.preempted(Roles::ALL, 2, 1);
        let entity = |task| &entities[task as usize];
        assert_eq!(queue.choose(&params, Some(0), entity), Some(picked));
        queue.insert(0, 0);
        assert_eq!(queue.pick(&params, entity), Some(picked));
        let left = |who| (picked != who).then_some(who);
        assert_eq!(queue.buddies.next, left(1), "{next}, {last}");
        assert_eq!(queue.buddies.last, left(2), "{next}, {last}");
    }
}

/// Source: as above: the running task as a buddy goes on though the leftmost is 1 ms behind it, but
/// once only. Who has used its slice is no buddy any more: nice 0 beside one other has 12 ms of 24.
#[test]
fn a_running_buddy_goes_on_once() {
    let params = params();
    let (mut queue, mut entities) = queue_of(&[10, 0]);
    queue.name(Roles::NEXT, 0);
    assert!(queue.keeps(&params, 0, |task| &entities[task as usize]));
    assert!(!queue.keeps(&params, 0, |task| &entities[task as usize]));
    queue.name(Roles::NEXT, 0);
    entities[0].slice_used_ns = 12_000_001;
    assert!(queue.tick_preempts(&params, (0, &entities[0])));
    assert!(!queue.keeps(&params, 0, |task| &entities[task as usize]));
}

/// Source: docs/rules/queues.md#cfs, pick: the running task is the second if it comes after the
/// leftmost; of equals the waiting one goes first.
#[test]
fn the_running_task_has_its_place_in_the_order() {
    let params = params();
    let (mut queue, entities) = queue_of(&[10, 0, 20]);
    queue.name(Roles::SKIP, 1);
    let entity = |task| &entities[task as usize];
    assert_eq!(queue.choose(&params, Some(0), entity), Some(0));
    let (queue, entities) = queue_of(&[10, 10]);
    let entity = |task| &entities[task as usize];
    assert_eq!(queue.choose(&params, Some(0), entity), Some(1));
}

/// Source: as above: who leaves the queue is forgotten. Task 1 comes back at 3 ms and waits for its
/// turn.
#[test]
fn who_leaves_the_queue_is_no_buddy() {
    let mut cfs = class_of(&[0, 30, 20]);
    cfs.set_vruntime(TaskId(0), 8_000_000);
    assert!(cfs.wakeup_preempt(TaskId(1), TaskId(0), CPU, false));
    cfs.dequeue_task(TaskId(1), CPU, true);
    cfs.enqueue_task(TaskId(1), CPU);
    assert_eq!(switch(&mut cfs, 0), Some(TaskId(2)));
}

/// Source: as above: a running task that is to give way already makes nobody a buddy. Task 2 would
/// be the next buddy at 1 ms, but task 1 came before it. Once the CPU has looked, wake-ups count
/// again: task 3 preempts task 1.
#[test]
fn a_second_wakeup_before_the_switch_names_nobody() {
    let mut cfs = class_of(&[0, 5, 10]);
    cfs.set_vruntime(TaskId(0), 8_000_000);
    assert!(cfs.wakeup_preempt(TaskId(1), TaskId(0), CPU, false));
    assert!(cfs.wakeup_preempt(TaskId(2), TaskId(0), CPU, false));
    assert_eq!(switch(&mut cfs, 0), Some(TaskId(1)));
    cfs.set_vruntime(TaskId(1), 7_000_000);
    assert!(cfs.wakeup_preempt(TaskId(2), TaskId(1), CPU, false));
    let waker = cfs.add_task(0, FairPolicy::Other, None);
    cfs.enqueue_task(waker, CPU);
    // Leftmost at 0, but task 2 is the next buddy.
    assert_eq!(switch(&mut cfs, 1), Some(TaskId(2)));
}

/// Source: as above: so is one whose slice a tick ended, 24 ms / 3. Task 2 preempts it, but task 1
/// comes before.
#[test]
fn a_wakeup_after_the_slice_names_nobody() {
    let mut cfs = class_of(&[0, 5, 10]);
    cfs.update_curr(TaskId(0), CPU, 8_000_000);
    assert!(cfs.task_tick(TaskId(0), CPU));
    assert!(cfs.wakeup_preempt(TaskId(2), TaskId(0), CPU, false));
    assert_eq!(switch(&mut cfs, 0), Some(TaskId(1)));
}

/// Source: as above: a wakee that preempts a SCHED_IDLE task by its policy gets no role, and
/// neither does the other.
#[test]
fn preemption_by_policy_names_nobody() {
    let idle = Entity::new(0, FairPolicy::Idle);
    let queue = CfsQueue {
        nr: 8,
        ..Default::default()
    };
    let by_policy = queue.wakeup_preempts(&params(), &idle, &at(1 << 40));
    assert_eq!(by_policy, Some(Roles::default()));
    let by_time = queue.wakeup_preempts(&params(), &at(1 << 40), &at(0));
    let both = Roles {
        last: true,
        ..Roles::NEXT
    };
    assert_eq!(by_time, Some(both));
}

/// Source: docs/rules/queues.md#cfs, pick and yield: who yielded is passed over for the second
/// unless that is ahead by more than the granularity (4 ms on 8 CPUs); picked, it is no longer
/// passed over.
#[test]
fn who_yielded_is_passed_over_once() {
    for (second, picked) in [(4_000_000, 1), (4_000_001, 0)] {
        let params = params();
        let entities = [at(0), at(second)];
        let mut queue = CfsQueue::default();
        queue.enqueue(0, &entities[0]);
        queue.enqueue(1, &entities[1]);
        queue.remove(0);
        queue.pass_over(0);
        let entity = |task| &entities[task as usize];
        assert_eq!(queue.choose(&params, Some(0), entity), Some(picked));
        queue.insert(0, 0);
        assert_eq!(queue.pick(&params, entity), Some(picked));
        queue.insert(picked, entities[picked as usize].vruntime);
        // Still to be passed over if it was; else it was forgotten when it was picked.
        let skip = (picked == 1).then_some(0);
        assert_eq!(queue.buddies.skip, skip);
        assert_eq!(queue.pick(&params, entity), Some(picked));
    }
}

/// Source: as above: alone it is not marked, and it goes on. It is passed over for a buddy that is
/// no more ahead than the granularity, too.
#[test]
fn a_yield_needs_another_task() {
    let mut cfs = class_of(&[0]);
    assert!(!cfs.yield_task(TaskId(0), CPU));
    assert!(cfs.keeps(TaskId(0), CPU));
    let mut cfs = class_of(&[0, 39]);
    assert!(cfs.yield_task(TaskId(0), CPU));
    assert_eq!(switch(&mut cfs, 0), Some(TaskId(1)));
    // Its own roles are gone: else it would be picked as the next buddy.
    let (mut queue, _) = queue_of(&[0, 39]);
    queue.name(Roles::ALL, 0);
    assert_eq!(queue.pass_over(0), Roles::ALL);
    assert_eq!(queue.buddies.next, None);
    assert_eq!(queue.buddies.last, None);
    assert_eq!(queue.buddies.skip, Some(0));
}

/// Source: docs/rules/queues.md#cfs: a normal wakee preempts SCHED_IDLE; BATCH and IDLE wakees
/// preempt nobody else. SCHED_IDLE weighs 3.
#[test]
fn policies_decide_before_times_do() {
    use FairPolicy::{Batch, Idle, Other};
    let params = params();
    let queue = CfsQueue::default();
    let preempts = |running, woken| {
        let ahead = Entity {
            vruntime: 1 << 40,
            ..Entity::new(0, running)
        };
        let behind = (
            Entity::new(0, woken),
            Entity {
                vruntime: 1 << 41,
                ..Entity::new(0, woken)
            },
        );
        let roles =
            [behind.0, behind.1].map(|woken| queue.wakeup_preempts(&params, &ahead, &woken));
        roles.map(|roles| roles.is_some())
    };
    assert_eq!(preempts(Other, Other), [true, false]);
    assert_eq!(preempts(Batch, Other), [true, false]);
    for wakee in [Batch, Idle] {
        assert_eq!(preempts(Other, wakee), [false, false]);
    }
    assert_eq!(preempts(Idle, Other), [true, true]);
    assert_eq!(preempts(Idle, Batch), [true, true]);
    assert_eq!(preempts(Idle, Idle), [false, false]);
    assert_eq!(Weight::of_task(-20, Idle).weight, 3);
    assert_eq!(virtual_time(3_000, Weight::of_task(0, Idle)), 1_023_999);
}
